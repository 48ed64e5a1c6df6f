/* Lower bound of the memory of a simulation, before it is created. */
#ifndef HK_STEP_NEED_H
#define HK_STEP_NEED_H

#include "model/proportions.h"

/* Bytes of a simulation by an integrator, its minimizer and linear solver, picked or given. */
double hk_step_need(const HkProportions *p, const HkMethod *step);
/* Returns whether these bytes depend on core and width of the model: whether a matrix is
 * factorized.
 */
bool hk_step_factorizes(const HkProportions *p, const HkMethod *step);
/* Returns HK_ERROR_MEMORY if `bytes` plus those of hk_step_need are not available. */
HkStatus hk_step_check(const HkContext *context, const HkProportions *p, const HkMethod *step,
                       double bytes, HkError *error);

#endif
