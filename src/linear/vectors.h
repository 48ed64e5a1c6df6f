/* Long vectors of 3 n coordinates: sums that do not depend on the number of threads. */
#ifndef HK_LINEAR_VECTORS_H
#define HK_LINEAR_VECTORS_H

#include "model/part.h"

/* Number of vertices, thread count and the partial sums of hk_parallel_sum. Vectors of a part have
 * values for its ghosts, too; sums leave them out and are those of all ranks. */
typedef struct HkVectors {
  const HkModel *model; /* whose vertices they are; NULL: of none that is made in parts */
  int64_t n;            /* vertices: vectors hold 3 n doubles */
  int threads;
  double *sums;
} HkVectors;

/* a . b */
double hk_vectors_dot(const HkVectors *space, const double *a, const double *b);
/* out = x + s d; out may be x or d. */
void hk_vectors_add(const HkVectors *space, double s, const double *d, const double *x,
                    double *out);
/* x += s p and r -= s Ap, a step of conjugate gradients; returns r . r. */
double hk_vectors_step(const HkVectors *space, double s, const double *p, const double *Ap,
                       double *x, double *r);
/* out = x - y; out may be either. */
void hk_vectors_subtract(const HkVectors *space, const double *x, const double *y, double *out);
/* x *= s */
void hk_vectors_scale(const HkVectors *space, double s, double *x);
/* out = x, which may be one. */
void hk_vectors_copy(const HkVectors *space, const double *x, double *out);
void hk_vectors_zero(const HkVectors *space, double *x);

#endif
