/* The 3x3 blocks on the diagonal of a matrix, D: what jacobi, gauss_seidel and most preconditioners
 * divide by. */
#ifndef HK_LINEAR_DIAGONAL_H
#define HK_LINEAR_DIAGONAL_H

#include "linear/linear.h"

/* Makes a block that is not positive definite one that is: its largest diagonal entry times I (I
 * where all are 0). False if it was one already. */
bool hk_diagonal_make_positive(double block[9]);

/* Inverts n blocks, mended where they are not positive definite; returns how many were not. */
int64_t hk_diagonal_invert(const HkVectors *space, double *blocks);

/* ---- Preconditioners whose data are 9 n doubles ---- */

HkStatus hk_diagonal_create(HkPrecondition *p, HkError *error);
void hk_diagonal_destroy(HkPrecondition *p);
/* The data become the inverses of the blocks, mended. */
HkStatus hk_diagonal_prepare(HkPrecondition *p, HkError *error);
/* z_i = the i-th block times r_i. */
HkStatus hk_diagonal_apply(HkPrecondition *p, const double *r, double *z, HkError *error);

#endif
