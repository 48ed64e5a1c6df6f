/* Parameters of plasticity and tearing, which have to fit each other. */
#ifndef HK_FORCE_YIELDING_H
#define HK_FORCE_YIELDING_H

#include "force/force.h"

typedef struct HkPlasticityParams {
  HkSelect select;
  int springs;
  double yield_strain, hardening, cap;
} HkPlasticityParams;

typedef struct HkTearingParams {
  HkSelect select;
  int springs;
  double strain, force, noise;
  int seed;
} HkTearingParams;

extern const HkForceType hk_force_plasticity, hk_force_tearing;

/* An error if a force of the model and a new one of this type let springs break before they yield.
 */
HkStatus hk_yielding_check(const HkModel *model, const HkForceType *type, const void *params,
                           const void *data, HkError *error);

#endif
