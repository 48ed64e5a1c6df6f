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
 * direction, hence a is nearly always 1.
 */
#include "base/vec.h"
#include "minimize/minimize.h"

static const HkParam params[] = {HK_STOPPING_PARAMS(HkStopping, 10000, 1e-3)};

typedef struct Scale {
  const HkProblem *problem;
  const double *g;
  double *p;
} Scale;

static void scale_range(void *user, int64_t begin, int64_t end) {
  const Scale *a = user;
  for (int64_t i = begin; i < end; i++)
    for (int c = 0; c < 3; c++) a->p[3 * i + c] = -a->g[3 * i + c] * a->problem->inverse[i];
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
    Scale scale = {problem, g, p};
    hk_parallel_for(space->threads, space->n, scale_range, &scale);
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
    .minimize = minimize,
};
