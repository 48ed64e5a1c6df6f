/* L-BFGS, a quasi-Newton method, started from the constant matrix of the local/global method.
 *
 * The inverse Hessian B of the last `memory` steps (linear/secant_pairs.h) begins with A^-1:
 *
 *     p = -B dg/dx,   B y_j = s_j for the last steps,   near A^-1 elsewhere
 *
 * and x+ = x + a p with a line search from a = 1. A = M + tau^2 (L + diag e) + tau C is at least
 * the Hessian, but for drag and wind (prefactor.h); the pairs correct what it overstates, across
 * the length of springs above all (Liu et al. 2017). With memory 0 this is the local/global method.
 * Where things touch, A has the stiffness of contact at the present x as well (unbounded.h).
 */
#include "linear/secant_pairs.h"
#include "minimize/minimize.h"

typedef struct Lbfgs {
  int iterations;
  double tolerance;
  int memory;
  int factor;
  int precision;
} Lbfgs;
HK_BEGINS_AS_STOPPING(Lbfgs);

static const HkParam params[] = {
    HK_STOPPING_PARAMS(Lbfgs, 200, 1e-3, 1),
    HK_INTEGER(Lbfgs, memory, 5, 0, 100, "how many past steps are kept"),
    HK_FACTOR_PARAMS(Lbfgs),
};

/* ---- Creating ---- */

static void destroy(HkMinimizer *m) {
  const HkContext *c = &m->problem->model->context;
  hk_secant_destroy(m->data, c);
  hk_free(c, &m->data);
}

static HkStatus create(HkMinimizer *m, HkError *error) {
  const HkModel *model = m->problem->model;
  const HkContext *c = &model->context;
  const Lbfgs *p = m->method.params;
  HkSecantPairs *pairs = NULL;
  HK_TRY(hk_alloc(c, &pairs, 1, sizeof *pairs, "a minimizer", error));
  m->data = pairs;
  m->bytes += sizeof *pairs;
  HK_TRY(hk_secant_create(pairs, c, model->n, p->memory, &m->bytes, error));
  return hk_minimizer_need_prefactor(m, p->factor, p->precision, error);
}

/* ---- Minimizing ---- */

/* p = -B g. */
static HkStatus direction(HkMinimizer *m, const double *x, const double *g, double *q, double *p,
                          HkError *error) {
  const HkVectors *space = &m->problem->space;
  hk_vectors_copy(space, g, q);
  hk_secant_begin(m->data, space, q);
  HK_TRY(hk_minimizer_precondition(m, x, q, p, error));
  hk_secant_end(m->data, space, p);
  return HK_OK;
}

/* x_new lower than x, along p, which is found from g; false: there is none. */
static HkStatus advance(HkMinimizer *m, const double *x, const double *g, double *p, double *x_new,
                        bool *moved, HkError *error) {
  const HkVectors *space = &m->problem->space;
  HkSecantPairs *pairs = m->data;
  for (;;) {
    HK_TRY(direction(m, x, g, x_new, p, error));
    double slope = hk_vectors_dot(space, g, p);
    *moved = slope < 0 && hk_line_search(m, x, p, slope, x_new) > 0;
    if (*moved || pairs->count == 0) return HK_OK;
    pairs->count = 0; /* the past misleads: once more without it */
  }
}

static HkStatus minimize(HkMinimizer *m, double *x, HkError *error) {
  HkProblem *problem = m->problem;
  const HkVectors *space = &problem->space;
  double *g = m->w[0], *p = m->w[1], *x_new = m->w[2], *g_new = m->w[3];
  bool moved;
  ((HkSecantPairs *)m->data)->count = 0;
  HK_TRY(hk_problem_begin_iterate(problem, x, error));
  double r = hk_problem_gradient(problem, x, g);
  m->info.evaluations++;
  for (int it = 0; !hk_minimizer_look(m, it, x, r); it++) {
    HK_TRY(advance(m, x, g, p, x_new, &moved, error));
    if (!moved) {
      hk_minimizer_stall(m);
      return HK_OK;
    }
    HK_TRY(hk_problem_begin_iterate(problem, x_new, error));
    r = hk_problem_gradient(problem, x_new, g_new);
    m->info.evaluations++;
    hk_secant_add(m->data, space, x, x_new, g, g_new);
    hk_vectors_copy(space, x_new, x);
    double *swap = g;
    g = g_new;
    g_new = swap;
  }
  return HK_OK;
}

const HkMinimizeType hk_minimize_lbfgs = {
    .schema = {.name = "lbfgs",
               .summary = "quasi-Newton with the factorized constant matrix as its first guess",
               .formula =
                   "x+ = x - a B dg/dx,  B y_j = s_j for the last steps, near A^-1 elsewhere",
               HK_PARAMS(Lbfgs, params)},
    .vectors = 4,
    .create = create,
    .destroy = destroy,
    .minimize = minimize,
};
