/* Direct solvers: what cholesky and ldlt have in common. */
#ifndef HK_LINEAR_DIRECT_H
#define HK_LINEAR_DIRECT_H

#include "linear/factor.h"
#include "linear/linear.h"

/* The functions of an HkLinearType, the first with the kind of factorization. */
HkStatus hk_direct_create(HkLinear *solver, HkFactorKind kind, HkError *error);
bool hk_direct_needs_matrix(const void *params);
void hk_direct_destroy(HkLinear *solver);
HkStatus hk_direct_prepare(HkLinear *solver, HkError *error);
HkStatus hk_direct_solve(HkLinear *solver, const double *b, double *x, double tolerance,
                         HkLinearResult *result, HkError *error);

#endif
