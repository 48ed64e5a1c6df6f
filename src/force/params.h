/* Parameters of the forces that devices compute, too (backend/). */
#ifndef HK_FORCE_PARAMS_H
#define HK_FORCE_PARAMS_H

#include "base/schema.h"

typedef struct HkWindParams {
  double velocity[3], gust, gust_period, drag, per_mass;
} HkWindParams;

typedef struct HkDragParams {
  double linear, per_mass, quadratic;
} HkDragParams;

typedef struct HkBuoyancyParams {
  double fluid_density, body_density, level, thickness, g;
} HkBuoyancyParams;

typedef struct HkFaceWindParams {
  double velocity[3], gust, gust_period, turbulence, wavelength, density, drag, lift;
} HkFaceWindParams;

typedef struct HkHandleParams {
  HkSelect select;
  double target[3];
  HkTable table;
  double k, damping;
} HkHandleParams;

typedef struct HkPointLoadParams {
  HkSelect select;
  double force[3];
  HkTable table;
} HkPointLoadParams;

/* Returns the parameters with values for those that are not given. */
HkWindParams hk_wind_given(const HkWindParams *p);
HkDragParams hk_drag_given(const HkDragParams *p);

#endif
