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

/* Of level 0. */
typedef struct HkFineKernels {
  /* Rows of springs and diagonal blocks from the Hessian, without negative directions. */
  void (*fill)(const HkFineValues *values, int64_t begin, int64_t end);
  /* Rows of A P. */
  void (*multiply)(const HkMultigrid *m, int64_t begin, int64_t end);
  /* D = D^-1, and by groups. From here on begin and end count groups. */
  void (*invert)(const HkMultigrid *m, int64_t begin, int64_t end);
  /* As those below of the same name. */
  void (*sweep_first)(const HkMultigrid *m, int64_t begin, int64_t end);
  void (*sweep_back)(const HkMultigrid *m, int64_t begin, int64_t end);
  void (*residual)(const HkMultigrid *m, int64_t begin, int64_t end);
  void (*prolong)(const HkMultigrid *m, int64_t begin, int64_t end);
  /* b = scale r in the order and precision of level 0, by its rows; and by the model's vertices
   * z = x / scale the other way round. */
  void (*take)(const HkMultigrid *m, const double *r, int64_t begin, int64_t end);
  void (*give)(const HkMultigrid *m, const double *r, double *z, int64_t begin, int64_t end);
} HkFineKernels;

/* Of the other levels, but for restrict_to. */
typedef struct HkMultigridKernels {
  /* Rows of A P. */
  void (*multiply)(const HkLevel *level, int64_t begin, int64_t end);
  /* Rows of P^T (A P), where begin and end count those of the next level, and its D. */
  void (*project)(const HkLevel *level, const HkLevel *coarse, int64_t begin, int64_t end);
  /* D = D^-1 */
  void (*invert)(const HkLevel *level, int64_t begin, int64_t end);
  /* A sweep of Gauss-Seidel on A x = b from x = 0, in rising order: it needs the lower half of A
   * alone. */
  void (*sweep_first)(const HkLevel *level, int64_t begin, int64_t end);
  /* From the x that there is, in rising order and in falling order. */
  void (*sweep_again)(const HkLevel *level, int64_t begin, int64_t end);
  void (*sweep_back)(const HkLevel *level, int64_t begin, int64_t end);
  /* r = b - A x after sweep_first: what the upper half of A does to x, since the rest is b. */
  void (*residual)(const HkLevel *level, int64_t begin, int64_t end);
  /* r = b - A x of any x. */
  void (*residual_again)(const HkLevel *level, int64_t begin, int64_t end);
  /* coarse->b = P^T r, where begin and end count rows of the next level; x += P coarse->x. */
  void (*restrict_to)(const HkLevel *level, const HkLevel *coarse, int64_t begin, int64_t end);
  void (*prolong)(const HkLevel *level, const HkLevel *coarse, int64_t begin, int64_t end);
  /* A = A^-1 of a dense symmetric positive definite matrix, and out = A b with one in floats. */
  void (*invert_dense)(int n, double *A);
  void (*apply_dense)(int n, const float *A, const float *b, float *out);
} HkMultigridKernels;

const HkFineKernels *hk_fine_kernels(HkIsa isa);
const HkMultigridKernels *hk_multigrid_kernels(HkIsa isa);

#endif
