/* Symmetric linear systems that need not be positive definite; see minres.c. */
#ifndef HK_ADJOINT_MINRES_H
#define HK_ADJOINT_MINRES_H

#include "minimize/problem.h"

/* Solves systems with the true Hessian of a problem. */
typedef struct HkMinres HkMinres;

HkStatus hk_minres_create(HkProblem *problem, HkMinres **minres, HkError *error);
void hk_minres_destroy(HkMinres **minres);
/* x = H(at)^-1 b to the relative residual `accuracy`, or as far as it comes; *residual is |b - H x|
 * / |b|. b is 0 at held vertices, and so is x. */
HkStatus hk_minres_solve(HkMinres *minres, const double *at, const double *b, double accuracy,
                         double *x, int *iterations, double *residual, HkError *error);

#endif
