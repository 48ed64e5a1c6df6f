/* Jacobi's iteration by blocks, damped:
 *
 *     x += weight D^-1 (b - A x),   D = the 3x3 blocks on the diagonal of A
 *
 * Every vertex moves as if all others stood still, all at once. It converges if the eigenvalues of
 * D^-1 A lie below 2 / weight. A projected Hessian is a sum of positive semidefinite parts A_e of
 * masses, springs and faces, and a part over m vertices is at most m times its own block diagonal
 * (the Cauchy-Schwarz inequality): the eigenvalues lie below 2 with springs alone, where weight 1
 * converges already, and below 3 with the wind on faces. The default, 2/3, converges for both.
 *
 * The slowest error shrinks by 1 - weight / c in a sweep, where c is about the condition number of
 * D^-1 A: a solver to learn from, not for stiff systems.
 */
#include "linear/iterative.h"

typedef struct Jacobi {
  double tolerance;
  int iterations;
  double weight;
} Jacobi;
HK_BEGINS_AS_ITERATIVE(Jacobi);

static const HkParam params[] = {
    HK_ITERATIVE_PARAMS(Jacobi),
    HK_NUMBER(Jacobi, weight, "1", 2.0 / 3, 0.01, 2,
              "damping of each sweep; up to 2/3 it always converges with a projected Hessian"),
};

typedef struct Sweep {
  const double *inverse, *r;
  double weight, *x;
} Sweep;

static void sweep_range(void *user, int64_t begin, int64_t end) {
  const Sweep *a = user;
  for (int64_t i = begin; i < end; i++) {
    double d[3] = {0, 0, 0};
    hk_mat_add_product(a->inverse + 9 * i, a->r + 3 * i, d);
    hk_axpy(a->weight, d, a->x + 3 * i);
  }
}

static void sweep(const HkLinear *s, const double *b, double *x) {
  (void)b;
  const HkSweeps *w = s->data;
  Sweep a = {w->inverse, w->r, ((const Jacobi *)s->method.params)->weight, x};
  hk_parallel_for(s->space.threads, s->space.n, sweep_range, &a);
}

static HkStatus solve(HkLinear *s, const double *b, double *x, double tolerance,
                      HkLinearResult *result, HkError *error) {
  (void)error;
  /* A sweep needs b - A x anyway. */
  hk_sweeps_solve(s, sweep, 1, b, x, tolerance, result);
  return HK_OK;
}

const HkLinearType hk_linear_jacobi = {
    .schema = {.name = "jacobi",
               .summary = "every vertex alone, all at once; to learn from, slow where it is stiff",
               .formula = "x += weight D^-1 (b - A x)",
               HK_PARAMS(Jacobi, params)},
    .needs_matrix = hk_sweeps_need_matrix,
    .create = hk_sweeps_create,
    .destroy = hk_sweeps_destroy,
    .prepare = hk_sweeps_prepare,
    .solve = solve,
};
