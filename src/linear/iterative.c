/* When iterative solvers stop, and the frame of those that sweep; see iterative.h.
 *
 * The tolerance is the larger one of the parameters and the caller's, and never below the rounding
 * of a double: recursions may sink further, b - A x does not.
 *
 * A sweep of Gauss-Seidel lowers 1/2 x^T A x - b^T x whatever A is, as long as its diagonal blocks
 * are positive definite. If A is, there is a lowest point and x goes there; if not, x runs along a
 * direction of negative curvature, and x^T A x < 0 proves it. A residual that has grown beyond all
 * bounds means the same, or for Jacobi that 2 D / weight - A is not positive definite.
 */
#include "linear/iterative.h"

#include "linear/diagonal.h"

#include <float.h>

/* Relative residual of a diverged iteration: |r| <= sqrt(condition) |b| while it converges. */
static const double DIVERGED_RESIDUAL = 1e12;

/* Part of |x| (|b| + |r|) that rounding may take from x^T A x. */
static const double ROUNDING = 1e-12;

double hk_iterative_start(const HkLinear *solver, const double *b, double tolerance, double *x,
                          double *size, HkLinearResult *result) {
  const HkIterative *p = solver->method.params;
  *size = sqrt(hk_vectors_dot(&solver->space, b, b));
  hk_vectors_zero(&solver->space, x);
  result->reason = isfinite(*size) ? HK_STOP_CONVERGED : HK_STOP_STALLED;
  if (!isfinite(*size)) result->residual = NAN;
  if (!isfinite(*size) || *size == 0) return 0;
  result->residual = 1;
  return fmax(fmax(tolerance, p->tolerance), DBL_EPSILON);
}

HkStop hk_iterative_reason(const HkLinear *solver, double tolerance, const HkLinearResult *result) {
  const HkIterative *p = solver->method.params;
  if (result->residual <= tolerance) return HK_STOP_CONVERGED;
  return result->iterations >= p->iterations ? HK_STOP_ITERATIONS : HK_STOP_STALLED;
}

/* ---- Sweeps ---- */

bool hk_sweeps_need_matrix(const void *params) {
  (void)params;
  return true;
}

HkStatus hk_sweeps_create(HkLinear *s, HkError *error) {
  const HkContext *c = &s->setup.model->context;
  const char *name = s->type->schema.name;
  HkSweeps *w = NULL;
  HK_TRY(hk_alloc(c, &w, 1, sizeof *w, name, error));
  s->data = w;
  s->bytes = sizeof *w + (size_t)s->space.n * 12 * sizeof(double);
  HK_TRY(hk_alloc(c, &w->inverse, 9 * s->space.n, sizeof *w->inverse, name, error));
  return hk_alloc(c, &w->r, 3 * s->space.n, sizeof *w->r, name, error);
}

void hk_sweeps_destroy(HkLinear *s) {
  const HkContext *c = &s->setup.model->context;
  HkSweeps *w = s->data;
  hk_free(c, &w->inverse);
  hk_free(c, &w->r);
  hk_free(c, &s->data);
}

HkStatus hk_sweeps_prepare(HkLinear *s, HkError *error) {
  (void)error;
  HkSweeps *w = s->data;
  s->A.diagonal(s->A.user, w->inverse);
  s->indefinite = hk_diagonal_invert(&s->space, w->inverse) > 0;
  return HK_OK;
}

/* With r = b - A x and its size already in the result. */
static bool runs_away(const HkLinear *s, const double *b, const double *x,
                      const HkLinearResult *result) {
  const HkVectors *space = &s->space;
  const double *r = ((const HkSweeps *)s->data)->r;
  double size = sqrt(hk_vectors_dot(space, x, x) * hk_vectors_dot(space, b, b));
  double curvature = hk_vectors_dot(space, x, b) - hk_vectors_dot(space, x, r);
  return curvature < -ROUNDING * size * (1 + result->residual) ||
         result->residual > DIVERGED_RESIDUAL;
}

void hk_sweeps_solve(const HkLinear *s, HkSweepFn *sweep, int every, const double *b, double *x,
                     double tolerance, HkLinearResult *result) {
  const HkIterative *p = s->method.params;
  const HkSweeps *w = s->data;
  double size;
  tolerance = hk_iterative_start(s, b, tolerance, x, &size, result);
  result->indefinite = s->indefinite;
  if (tolerance == 0 || s->indefinite) return;
  hk_vectors_copy(&s->space, b, w->r);
  /* Said this way round, NaN ends it too. */
  while (result->residual > tolerance && result->iterations < p->iterations &&
         !hk_is_cancelled(s->setup.cancel)) {
    for (int k = 0; k < every && result->iterations < p->iterations; k++, result->iterations++)
      sweep(s, b, x);
    hk_linear_residual(s, b, x, w->r, result);
    result->reason = hk_iterative_reason(s, tolerance, result);
    result->indefinite = runs_away(s, b, x, result);
    if (!result->indefinite) continue;
    hk_vectors_zero(&s->space, x);
    result->residual = 1;
    return;
  }
}
