/* What an implicit step is solved with where nobody has said it. */
#ifndef HK_MINIMIZE_PICK_H
#define HK_MINIMIZE_PICK_H

#include "model/model.h"

/* Chooses the minimizer and the linear solver in an integrator that were not given, by the model.
 */
HkStatus hk_pick_methods(const HkModel *model, HkMethod *method, HkError *error);
/* The linear solver for so many vertices of a model that multigrid is made for. */
HkStatus hk_pick_linear_for(int64_t n, HkMethod *method, HkError *error);

#endif
