/* Turbulence that the air carries along; not a force by itself. */
#ifndef HK_FORCE_TURBULENCE_H
#define HK_FORCE_TURBULENCE_H

#include "force/gust.h"

/* The waves at one time: wave vectors (1/m), velocities (m/s) and phases (rad). */
typedef struct HkTurbulence {
  int count; /* number of waves; 0: no turbulence */
  double wave[HK_GUST_WAVES][3], side[HK_GUST_WAVES][3], phase[HK_GUST_WAVES];
} HkTurbulence;

/* strength relative to the mean velocity (m/s), wavelength (m), up the axis that points up. */
HkTurbulence hk_turbulence(const double velocity[3], double strength, double wavelength, int up,
                           double t);

/* u += velocity of the turbulence at x (m/s); gradient = its du/dx (1/s, 9 numbers row by row)
 * unless that is NULL. */
void hk_turbulence_add(const HkTurbulence *turbulence, const double x[3], double u[3],
                       double *gradient);

#endif
