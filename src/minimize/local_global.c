/* The local/global method of Liu et al. 2013, "Fast simulation of mass-spring systems".
 *
 * The energy of a spring is a minimum over vectors d_s of its rest length,
 *
 *     1/2 k (l - l0)^2 = min 1/2 k |x_i - x_j - d_s|^2 over |d_s| = l0
 *
 * so that g(x) is the minimum over all d of a function G(x, d) that is quadratic in x. Local step:
 * the best d at fixed x is d_s = l0 u_s, u_s = (x_i - x_j) / l. Global step: the best x+ at fixed d
 * has dG/dx(x+, d) = 0. The matrix of that quadratic is
 *
 *     A = M + tau^2 (L + diag e) + tau C,   L = sum k_s a_s a_s^T      (prefactor.h)
 *
 * so dG/dx(x+, d) = dG/dx(x, d) + A (x+ - x). At the best d, dG/dx(x, d) is dg/dx(x), because
 * k (x_i - x_j - l0 u_s) = k (l - l0) u_s is the pull of the spring. Both steps together are
 *
 *     x+ = x - A^-1 dg/dx(x)
 *
 * For springs, gravity and handles without damping that is the method to the letter (tension-only
 * springs: |d_s| <= l0; d_s = 0 where the ends meet). Damping of springs and the stiffness of other
 * forces enter A by their bounds. As long as A bounds the Hessian, g never rises, since each of the
 * two steps lowers G; then, even with half of A, nothing needs to be checked. Strong drag and wind
 * are not in A, and a force may grow stiffer on the way: if g would rise there, the line search
 * halves the step. Contact has a stiffness without a bound and is not in A either: where things
 * touch, the global step solves with A + tau^2 B(x) instead, B the Gauss-Newton blocks of contact
 * at the iterate, by conjugate gradients with A^-1 as the preconditioner (unbounded.h).
 *
 * A is constant: it is factorized once and then only solved with, three right-hand sides at a time.
 * The price is linear convergence, slow where springs are turned, which A takes for as stiff as
 * being stretched. Hence the acceleration: anderson.h, chebyshev.h. An accelerated iterate that
 * does not lower g by Armijo's rule is replaced by the plain one. With anderson and h = 1/30 s the
 * default tolerance takes 10 to 100 iterations a step on the built-in scenes, more while cloth
 * buckles.
 */
#include "minimize/anderson.h"
#include "minimize/chebyshev.h"
#include "minimize/minimize.h"

typedef enum Acceleration { NONE, ANDERSON, CHEBYSHEV } Acceleration;

typedef struct LocalGlobal {
  int iterations;
  double tolerance;
  int acceleration;
  int window;
  double rho;
  int factor;
  int precision;
} LocalGlobal;
HK_BEGINS_AS_STOPPING(LocalGlobal);

static const HkParam params[] = {
    HK_STOPPING_PARAMS(LocalGlobal, 200, 1e-3, 1),
    HK_CHOICE(LocalGlobal, acceleration, ANDERSON, "none|anderson|chebyshev",
              "how the iterations are made fewer"),
    HK_INTEGER(LocalGlobal, window, 5, 1, HK_ANDERSON_WINDOW_MAX,
               "past iterations that anderson combines"),
    HK_NUMBER(LocalGlobal, rho, "1", 0, 0, 0.999999,
              "spectral radius for chebyshev: how much of an error one plain iteration leaves at "
              "most; 0: measured"),
    HK_FACTOR_PARAMS(LocalGlobal),
};

typedef struct Data {
  HkAnderson *anderson;
  HkChebyshev *chebyshev;
} Data;

static HkStatus create(HkMinimizer *m, HkError *error) {
  const LocalGlobal *p = m->method.params;
  const HkModel *model = m->problem->model;
  const HkVectors *space = &m->problem->space;
  Data *data = NULL;
  HK_TRY(hk_alloc(&model->context, &data, 1, sizeof *data, "a minimizer", error));
  m->data = data;
  m->bytes += sizeof *data;
  if (p->acceleration == ANDERSON)
    HK_TRY(hk_anderson_create(model, space, p->window, &data->anderson, &m->bytes, error));
  if (p->acceleration == CHEBYSHEV)
    HK_TRY(hk_chebyshev_create(model, space, p->rho, &data->chebyshev, &m->bytes, error));
  return hk_minimizer_need_prefactor(m, p->factor, p->precision, error);
}

static void destroy(HkMinimizer *m) {
  Data *data = m->data;
  hk_anderson_destroy(&data->anderson);
  hk_chebyshev_destroy(&data->chebyshev);
  hk_free(&m->problem->model->context, &m->data);
}

static void begin(Data *data) {
  if (data->anderson) hk_anderson_restart(data->anderson);
  if (data->chebyshev) hk_chebyshev_begin(data->chebyshev);
}

static bool is_accelerated(const Data *data) {
  return data->anderson || data->chebyshev;
}

/* The accelerated iterate, if there is one. */
static bool accelerate(Data *data, const double *x, const double *f, double slope, double *x_new) {
  if (data->anderson) return hk_anderson_next(data->anderson, x, f, x_new);
  if (data->chebyshev) return hk_chebyshev_next(data->chebyshev, x, f, -slope, x_new);
  return false;
}

/* x_new with a lower g than x; false if there is none. The plain iterate is the first that the line
 * search tries. */
static bool advance(HkMinimizer *m, const double *x, const double *f, double slope, double *x_new) {
  Data *data = m->data;
  if (accelerate(data, x, f, slope, x_new)) {
    if (hk_minimizer_try(m, x, x_new) <= HK_ARMIJO * slope) return true;
    if (data->chebyshev) hk_chebyshev_reject(data->chebyshev);
  }
  if (m->problem->bounded) {
    hk_vectors_add(&m->problem->space, 1, f, x, x_new);
    return true;
  }
  return hk_line_search(m, x, f, slope, x_new) > 0;
}

static HkStatus minimize(HkMinimizer *m, double *x, HkError *error) {
  HkProblem *problem = m->problem;
  const HkVectors *space = &problem->space;
  double *g = m->w[0], *f = m->w[1], *x_new = m->w[2];
  begin(m->data);
  for (int it = 0;; it++) {
    HK_TRY(hk_problem_begin_iterate(problem, x, error));
    double r = hk_problem_gradient(problem, x, g);
    m->info.evaluations++;
    if (hk_minimizer_look(m, it, x, r)) return HK_OK;
    HK_TRY(hk_minimizer_precondition(m, x, g, f, error));
    /* Nothing to ask: it goes down. */
    if (problem->bounded && !is_accelerated(m->data) && isfinite(m->info.gradient)) {
      hk_vectors_add(space, 1, f, x, x);
      continue;
    }
    double slope = hk_vectors_dot(space, g, f);
    if (!(slope < 0) || !advance(m, x, f, slope, x_new)) {
      hk_minimizer_stall(m);
      return HK_OK;
    }
    hk_vectors_copy(space, x_new, x);
  }
}

const HkMinimizeType hk_minimize_local_global = {
    .schema = {.name = "local_global",
               .summary = "one constant matrix, factorized once; fast to a good picture",
               .formula = "A x+ = b(d),  d_s = l0 (x_i - x_j) / |x_i - x_j|,  A = M + tau^2 L",
               HK_PARAMS(LocalGlobal, params)},
    .vectors = 3,
    .create = create,
    .destroy = destroy,
    .minimize = minimize,
};
