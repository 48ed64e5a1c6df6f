/* How much memory a simulation takes at least, before it takes any. */
#ifndef HK_STEP_NEED_H
#define HK_STEP_NEED_H

#include "model/proportions.h"

/* Bytes of a simulation by an integrator, its minimizer and linear solver, picked or given. */
double hk_step_need(const HkProportions *p, const HkMethod *step);
/* Whether so many bytes can be had: those of hk_step_need, and what else comes with them. */
HkStatus hk_step_check(const HkContext *context, const HkProportions *p, const HkMethod *step,
                       double bytes, HkError *error);

#endif
