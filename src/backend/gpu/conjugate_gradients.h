/* When conjugate gradients end on a device: the rule of linear/krylov.c. CUDA and the tests without
 * a GPU compile the same code; it runs on the host, after each iteration.
 *
 *     z = P^-1 r,  p = z + beta p,  alpha = r.z / p.Ap,  x += alpha p,  r -= alpha A p
 *
 * The residual meets the tolerance, and the last iteration lowered 1/2 x.Ax - b.x by no more than
 * the tolerance, as a part of what all of them did; with by_decrease the latter decides alone.
 * Where p.Ap <= 0, x is the last iterate, or the first direction.
 */
#ifndef HK_BACKEND_GPU_CONJUGATE_GRADIENTS_H
#define HK_BACKEND_GPU_CONJUGATE_GRADIENTS_H

#include <math.h>
#include <stdbool.h>

#ifndef HK_GPU_METHOD
#define HK_GPU_METHOD static inline
#endif

/* How a linear system was solved. */
typedef struct HkGpuSolved {
  int iterations;
  bool indefinite; /* a direction of negative curvature was found */
  bool converged;  /* the residual meets the tolerance */
  double residual; /* relative */
  double slope;    /* p . dg/dx (kg m^2) of the solution p */
  double length;   /* |p|_M (kg^(1/2) m) */
} HkGpuSolved;

/* Sums of an iteration. */
typedef struct HkGpuPcgSums {
  double rz; /* r . z before the iteration */
  double pq; /* p . A p */
  double rr; /* r . r after it */
} HkGpuPcgSums;

typedef struct HkGpuPcg {
  double tolerance, size; /* relative residual, |b| */
  int iterations_max;
  bool by_decrease; /* as in linear.h; set after hk_gpu_pcg_begin */
  double lowered;   /* twice what all iterations lowered the quadratic by */
  double square;    /* r . r after the last iteration */
  HkGpuSolved solved;
} HkGpuPcg;

HK_GPU_METHOD HkGpuPcg hk_gpu_pcg_begin(double tolerance, double size, int iterations_max) {
  const double LEAST = 2.3e-16;
  HkGpuPcg s = {0};
  s.tolerance = tolerance > LEAST ? tolerance : LEAST;
  s.size = size;
  s.square = size * size;
  s.iterations_max = iterations_max;
  s.solved.residual = 1;
  return s;
}

/* Judges an iteration; returns whether it was the last one. The residual is then that of this
 * iteration, or of the one before where p.Ap <= 0. */
HK_GPU_METHOD bool hk_gpu_pcg_ends(HkGpuPcg *s, const HkGpuPcgSums *sums) {
  const double MIN_RELATIVE_DECREASE = 1e-10, SUFFICIENT_RESIDUAL_FACTOR = 1e-3;
  bool curved = sums->pq > 0, ends = true;
  if (curved) {
    double part = s->tolerance > MIN_RELATIVE_DECREASE ? s->tolerance : MIN_RELATIVE_DECREASE;
    double lower = sums->rz * (sums->rz / sums->pq), most = s->tolerance * s->size;
    s->lowered += lower;
    s->square = sums->rr;
    s->solved.iterations++;
    bool small = lower <= part * s->lowered;
    if (!small) most *= SUFFICIENT_RESIDUAL_FACTOR;
    ends = (small && s->by_decrease) || s->square <= most * most || !isfinite(s->square) ||
           s->solved.iterations >= s->iterations_max;
  }
  if (!ends) return false;
  s->solved.indefinite = sums->pq <= 0 && sums->rz > 0;
  s->solved.residual = sqrt(s->square) / s->size;
  s->solved.converged = s->solved.iterations > 0 && s->solved.residual <= s->tolerance;
  return true;
}

#endif
