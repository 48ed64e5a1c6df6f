/* The stepper of HK_PETSC: steps that all ranks make together. */
#ifndef HK_STEP_RANKS_H
#define HK_STEP_RANKS_H

#include "step/stepper.h"

extern const HkStepperType hk_stepper_ranks;

/* An error that names what parts do not support of a model and an integrator. */
HkStatus hk_ranks_check(const HkModel *model, const HkMethod *method, HkError *error);

#endif
