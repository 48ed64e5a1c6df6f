/* Default minimizer and linear solver of an implicit step. */
#ifndef HK_MINIMIZE_CHOOSE_METHODS_H
#define HK_MINIMIZE_CHOOSE_METHODS_H

#include "model/model.h"

/* Chooses the minimizer and the linear solver in an integrator that were not given, by the model.
 * multigrid: on a device, chooses multigrid for models of every size that it applies to. */
HkStatus hk_choose_methods(const HkModel *model, bool multigrid, HkMethod *method, HkError *error);
/* The default linear solver for n vertices of a model that multigrid supports. */
HkStatus hk_choose_linear_solver(int64_t n, HkMethod *method, HkError *error);

#endif
