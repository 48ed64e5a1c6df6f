/* The inner loops of multigrid, all over the rows begin .. end - 1 of a level. */
#ifndef HK_LINEAR_MULTIGRID_KERNELS_H
#define HK_LINEAR_MULTIGRID_KERNELS_H

#include "linear/multigrid.h"

/* Of fill. */
typedef struct HkFineValues {
  const HkMultigrid *multigrid;
  const float *records; /* of the springs by rows: spring_rows.h */
  const double *extra;  /* 9 a vertex, added to the diagonal, or NULL */
  const uint8_t *held;
} HkFineValues;

typedef struct HkMultigridKernels {
  /* Level 0: springs and diagonal blocks from the Hessian, without negative directions. */
  void (*fill)(const HkFineValues *values, int64_t begin, int64_t end);
  /* Rows of A P of level 0 and of the others. */
  void (*multiply_fine)(const HkMultigrid *m, int64_t begin, int64_t end);
  void (*multiply)(const HkLevel *level, int64_t begin, int64_t end);
  /* Rows of P^T (A P), where begin and end count those of the next level, and its D. */
  void (*project)(const HkLevel *level, const HkLevel *coarse, int64_t begin, int64_t end);
  /* D = D^-1 */
  void (*invert)(const HkLevel *level, int64_t begin, int64_t end);
  /* A sweep of Gauss-Seidel on A x = b from x = 0, in rising order: it needs the lower half of A
   * alone. fine: NULL but on level 0, here and below. */
  void (*sweep_first)(const HkLevel *level, const HkFine *fine, int64_t begin, int64_t end);
  /* One in falling order, from the x that there is; and one in rising order, not on level 0. */
  void (*sweep_back)(const HkLevel *level, const HkFine *fine, int64_t begin, int64_t end);
  void (*sweep_again)(const HkLevel *level, int64_t begin, int64_t end);
  /* r = b - A x after sweep_first: what the upper half of A does to x, since the rest is b. */
  void (*residual)(const HkLevel *level, const HkFine *fine, int64_t begin, int64_t end);
  /* r = b - A x of any x, not on level 0. */
  void (*residual_again)(const HkLevel *level, int64_t begin, int64_t end);
  /* coarse->b = P^T r, where begin and end count rows of the next level; x += P coarse->x. */
  void (*restrict_to)(const HkLevel *level, const HkLevel *coarse, int64_t begin, int64_t end);
  void (*prolong)(const HkLevel *level, const HkLevel *coarse, int64_t begin, int64_t end);
  /* A = A^-1 of a dense symmetric positive definite matrix, and out = A b with one in floats. */
  void (*invert_dense)(int n, double *A);
  void (*apply_dense)(int n, const float *A, const float *b, float *out);
  /* b = scale r in the order and precision of level 0; z = x / scale the other way round. */
  void (*take)(const HkMultigrid *m, const double *r, int64_t begin, int64_t end);
  void (*give)(const HkMultigrid *m, const double *r, double *z, int64_t begin, int64_t end);
} HkMultigridKernels;

const HkMultigridKernels *hk_multigrid_kernels(HkIsa isa);

#endif
