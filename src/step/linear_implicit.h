/* One linear system a step; see beta.c. */
#ifndef HK_STEP_LINEAR_IMPLICIT_H
#define HK_STEP_LINEAR_IMPLICIT_H

#include "step/implicit.h"

/* [M - beta h^2 K+ - beta h D] v+ = M v + h (f - beta D v),  x+ = x + h v+ */
HkStatus hk_linear_implicit_step(HkSim *sim, HkState *state, double beta, HkError *error);

#endif
