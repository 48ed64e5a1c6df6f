/* Steepest descent, the method to measure others by:
 *
 *     p = -D^-1 dg/dx,   x+ = x + a p,   a = 1, 1/2, 1/4 ... by Armijo's rule
 *
 * D holds d_i = m_i + tau^2 (sum k + e_i) + tau sum c of each vertex (problem.h), so that p is in
 * meters: each vertex goes where it would come to rest if all others stood still and every spring
 * were as stiff across its length as along it. No system is solved and an iteration costs little
 * more than the forces. But information travels one spring per iteration: an error
 * of wavelength r springs takes in the order of r^2 iterations, at most tau^2 k / m of them, and
 * stiff models of many vertices are out of reach. D is at least half of the Hessian in every
 * direction, hence a is nearly always 1. Where a force has a stiffness without a bound, such as
 * contact, D_i is a 3x3 matrix: d_i plus a bound of its blocks at the present x (unbounded.h).
 */
#include "base/vec.h"
#include "force/springs.h"
#include "minimize/minimize.h"

#include <string.h>

static const HkParam params[] = {HK_STOPPING_PARAMS(HkStopping, 10000, 1e-3, 1)};

typedef struct Scale {
  const HkProblem *problem;
  const double *blocks; /* 9 n, kg, of unbounded forces */
  const double *g;
  double *p;
} Scale;

static void scale_range(void *user, int64_t begin, int64_t end) {
  const Scale *a = user;
  for (int64_t i = begin; i < end; i++)
    for (int c = 0; c < 3; c++) a->p[3 * i + c] = -a->g[3 * i + c] * a->problem->inverse[i];
}

/* ---- With forces whose stiffness has no bound ---- */

/* Forces may be added between steps. */
static HkStatus need_blocks(HkMinimizer *m, HkError *error) {
  const HkModel *model = m->problem->model;
  double *blocks = NULL;
  if (m->data) return HK_OK;
  HK_TRY(hk_alloc(&model->context, &blocks, 9 * model->n, sizeof *blocks, "a minimizer", error));
  m->data = blocks;
  m->bytes += (size_t)model->n * 9 * sizeof *blocks;
  return HK_OK;
}

static void destroy(HkMinimizer *m) {
  hk_free(&m->problem->model->context, &m->data);
}

static void block_range(void *user, int64_t begin, int64_t end) {
  const Scale *a = user;
  const HkProblem *problem = a->problem;
  for (int64_t i = begin; i < end; i++) {
    double D[9], *p = a->p + 3 * i, k = problem->extra[i], c = 0, g[3];
    hk_springs_add_bounds(problem->model, problem->work->springs, i, &k, &c);
    hk_mat_identity(problem->model->mass[i] + problem->tau * (problem->tau * k + c), D);
    for (int q = 0; q < 9; q++) D[q] += a->blocks[9 * i + q];
    for (int q = 0; q < 3; q++) {
      g[q] = -a->g[3 * i + q];
      p[q] = 0;
    }
    if (!problem->held.mask[i] && hk_mat_invert_positive(D)) hk_mat_add_product(D, g, p);
  }
}

/* p = -D^-1 g at x */
static HkStatus direction(HkMinimizer *m, const double *x, const double *g, double *p,
                          HkError *error) {
  const HkVectors *space = &m->problem->space;
  Scale scale = {.problem = m->problem, .g = g, .p = p};
  if (!hk_problem_has_unbounded(m->problem)) {
    hk_parallel_for(space->threads, space->n, scale_range, &scale);
    return HK_OK;
  }
  HK_TRY(need_blocks(m, error));
  scale.blocks = m->data;
  bool any;
  HK_TRY(hk_unbounded_evaluate(&m->unbounded, x, &any, error));
  memset(m->data, 0, (size_t)space->n * 9 * sizeof(double));
  hk_unbounded_add_diagonal(&m->unbounded, 1, m->data);
  hk_parallel_for(space->threads, space->n, block_range, &scale);
  return HK_OK;
}

static HkStatus minimize(HkMinimizer *m, double *x, HkError *error) {
  HkProblem *problem = m->problem;
  const HkVectors *space = &problem->space;
  double *g = m->w[0], *p = m->w[1], *x_new = m->w[2];
  for (int it = 0;; it++) {
    HK_TRY(hk_problem_begin_iterate(problem, x, error));
    double r = hk_problem_gradient(problem, x, g);
    m->info.evaluations++;
    if (hk_minimizer_look(m, it, x, r)) return HK_OK;
    HK_TRY(direction(m, x, g, p, error));
    double slope = hk_vectors_dot(space, g, p);
    if (!(slope < 0) || hk_line_search(m, x, p, slope, x_new) == 0) {
      hk_minimizer_stall(m);
      return HK_OK;
    }
    hk_vectors_copy(space, x_new, x);
  }
}

const HkMinimizeType hk_minimize_gradient_descent = {
    .schema = {.name = "gradient_descent",
               .summary = "steepest descent scaled per vertex; a baseline, slow",
               .formula = "x+ = x - a D^-1 dg/dx,  D_i = m_i + tau^2 (sum k + e_i) + tau sum c",
               HK_PARAMS(HkStopping, params)},
    .vectors = 3,
    .destroy = destroy,
    .minimize = minimize,
};
