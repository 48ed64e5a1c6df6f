/* H(x) p = b with the Hessian of an implicit step, by a linear solver of choice. */
#ifndef HK_MINIMIZE_SOLVE_HESSIAN_H
#define HK_MINIMIZE_SOLVE_HESSIAN_H

#include "minimize/problem.h"

typedef struct HkSolveHessian HkSolveHessian;

/* linear without schema: the default solver. */
HkStatus hk_solve_hessian_create(HkProblem *problem, const HkMethod *linear, HkSolveHessian **solve,
                                 HkError *error);
void hk_solve_hessian_destroy(HkSolveHessian **solve);
size_t hk_solve_hessian_bytes(const HkSolveHessian *solve);

/* p = H(x)^-1 b to the relative residual accuracy: with the true Hessian, or projected if that is
 * not positive definite, or at once where x is far from the minimum and the solver iterates. p is d
 * at held vertices, which the others feel through H (d NULL: 0). Counts into the report, and says
 * there why the linear solver stopped. */
HkStatus hk_solve_hessian(HkSolveHessian *solve, const double *x, const double *b, const double *d,
                          double *p, double accuracy, bool far, HkStepReport *report,
                          HkError *error);
/* The same with the H of the last call, and with held vertices at rest. */
HkStatus hk_solve_hessian_again(HkSolveHessian *solve, const double *b, double *p, double accuracy,
                                HkStepReport *report, HkError *error);

#endif
