/* Default minimizer and linear solver of an implicit step. */
#ifndef HK_MINIMIZE_CHOOSE_METHODS_H
#define HK_MINIMIZE_CHOOSE_METHODS_H

#include "model/model.h"

/* Up to so many vertices a factorization may take the place of an iterative linear solver that does
 * not converge. */
enum { HK_FACTORIZE_MAX = 10000 };

/* What else the choice depends on. */
typedef struct HkChoice {
  HkDeviceKind device; /* that makes the steps */
  double h;            /* s, the step; 0: not known yet */
  bool multigrid;      /* on a device, multigrid for models of every size that it applies to */
} HkChoice;

/* Chooses the minimizer and the linear solver in an integrator that were not given, by the model.
 */
HkStatus hk_choose_methods(const HkModel *model, HkChoice choice, HkMethod *method, HkError *error);
/* The default linear solver for n vertices of a model that multigrid supports. */
HkStatus hk_choose_linear_solver(int64_t n, HkMethod *method, HkError *error);

#endif
