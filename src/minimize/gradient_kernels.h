/* The inner loop of hk_problem_gradient (problem.h): kernels/gradient.c. */
#ifndef HK_MINIMIZE_GRADIENT_KERNELS_H
#define HK_MINIMIZE_GRADIENT_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct HkGradientArgs {
  const double *x, *y;
  const double *f, *drag; /* N, as in problem.h; NULL: none */
  const double *mass;     /* kg */
  const double *inverse;  /* 1 / d_i, 0 for held vertices */
  double square;          /* tau^2 */
  double fall[3];         /* m, tau^2 a by what accelerates all masses alike */
  bool flat;              /* two dimensions */
  double *g;              /* holds -dE/dx at first, without that */
} HkGradientArgs;

typedef struct HkGradientKernels {
  /* g = M (x - y - fall) - tau^2 (g + f - drag) for the vertices begin .. end - 1, 0 for held ones
   * and for z in two dimensions; returns the sum of |g_i|^2 / m_i (kg m^2). */
  double (*gradient)(const HkGradientArgs *a, int64_t begin, int64_t end);
} HkGradientKernels;

#endif
