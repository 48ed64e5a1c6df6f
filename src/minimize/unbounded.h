/* Forces whose stiffness has no bound in a step (`unbounded` of HkForceType, contact above all),
 * for minimizers that have a constant matrix: their blocks are evaluated at each iterate,
 *
 *     (A + tau^2 B(x)) p = -g,   B = d2E/dx2 of these forces, positive semidefinite   (N/m)
 *
 * A = M + tau^2 (L + diag e) + tau C is the prefactor (prefactor.h). The system is solved by
 * conjugate gradients with A^-1 as the preconditioner: the eigenvalues of A^-1 (A + tau^2 B) are 1
 * but for as many as there are contacts. No product with A is formed: A z = r for z = A^-1 r, so
 * that A q follows by the recursion of q.
 */
#ifndef HK_MINIMIZE_UNBOUNDED_H
#define HK_MINIMIZE_UNBOUNDED_H

#include "minimize/problem.h"

typedef struct HkUnbounded {
  HkProblem *problem;   /* the caller's */
  HkForceBlocks blocks; /* -B: blocks of pairs of free vertices, and terms */
  /* 3 n each, of conjugate gradients: residual, A^-1 times it, direction, A and B times that; NULL
   * until the first system. */
  double *r, *z, *q, *Aq, *Bq;
} HkUnbounded;

/* Evaluates the blocks and terms at x; *any says whether there are some. */
HkStatus hk_unbounded_evaluate(HkUnbounded *u, const double *x, bool *any, HkError *error);
/* p = -(A + tau^2 B)^-1 g. *iterations grows by the solves with A. The prefactor is up to date. */
HkStatus hk_unbounded_solve(HkUnbounded *u, const double *g, double *p, int *iterations,
                            HkError *error);
/* D (9 n) += s D', blocks D'_i (kg) with sum p_i . D'_i p_i >= tau^2 p . B p for all p, where the
 * blocks of B are w_a w_b K each with a positive semidefinite K. */
void hk_unbounded_add_diagonal(const HkUnbounded *u, double s, double *D);
void hk_unbounded_destroy(HkUnbounded *u);
size_t hk_unbounded_bytes(const HkUnbounded *u);

#endif
