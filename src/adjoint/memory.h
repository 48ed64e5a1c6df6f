/* Steps that forces have a part in beyond f(x, v): what they remember in the state, and what
 * depends on the start of the step (contact with friction). */
#ifndef HK_ADJOINT_MEMORY_H
#define HK_ADJOINT_MEMORY_H

#include "adjoint/adjoint.h"

/* Whether a force of the model has a step_product. Only the simulation that has just made a step
 * knows it, so that such a step is made again before it is differentiated. */
bool hk_memory_is_needed(const HkModel *model);
/* Makes the step from `before` again, which has to lead to a->after, and stays within it. */
HkStatus hk_memory_make_step(HkAdjoint *a, const HkState *before, HkError *error);

/* x_end += what the gradient by the memory after the step gives to the positions at its end. */
HkStatus hk_memory_pull_end(HkAdjoint *a, double *x_end, HkError *error);
/* With l of the forces, whose scale is tau^2: gradients go to the positions at the start, to the
 * memory before the step and to all parameters. */
HkStatus hk_memory_pull_start(HkAdjoint *a, double scale, double *l, double *x_start,
                              HkError *error);
/* out += scale times what the forces change by the start, the memory and the parameters. */
HkStatus hk_memory_push_forces(HkAdjoint *a, double scale, double *x_start, double *out,
                               HkError *error);
/* The direction of the memory becomes that after the step. */
HkStatus hk_memory_push_end(HkAdjoint *a, double *x_start, double *x_end, HkError *error);

#endif
