/* Jacobi's method on the nonlinear problem: each vertex minimizes g over its own position while all
 * others stand still (vertex_block.h), all at once,
 *
 *     G(x)_i = x_i + weight H_ii^-1 (-dg/dx_i)
 *
 * and Chebyshev's acceleration of x+ = G(x) (chebyshev.h; Wang 2015). No matrix, no colors, no
 * order: one loop over all vertices, which suits GPUs. Neighbors that move towards each
 * other overshoot, hence the weight. Errors travel from neighbor to neighbor as in
 * vertex_block_descent, at half its speed; the acceleration takes the root of the number of
 * iterations, as long as its rho is right.
 *
 * An iterate that does not lower g by Armijo's rule is replaced by the plain one, and that, if it
 * does not either, by a part of it.
 */
#include "base/vec.h"
#include "minimize/chebyshev.h"
#include "minimize/minimize.h"
#include "minimize/vertex_block.h"

static const HkParam params[] = {
    HK_STOPPING_PARAMS(HkJacobiParams, 2000, 1e-3, 1),
    HK_NUMBER(HkJacobiParams, weight, "1", 0.7, 0.01, 1,
              "part of its own minimum that each vertex goes to"),
    HK_NUMBER(HkJacobiParams, rho, "1", 0, 0, 0.999999,
              "spectral radius for the acceleration: how much of an error one plain iteration "
              "leaves at most; 0: measured"),
};

typedef struct Data {
  HkVertexBlock blocks;
  HkChebyshev *chebyshev;
} Data;

static HkStatus create(HkMinimizer *m, HkError *error) {
  const HkModel *model = m->problem->model;
  const HkJacobiParams *p = m->method.params;
  Data *data = NULL;
  HK_TRY(hk_alloc(&model->context, &data, 1, sizeof *data, "a minimizer", error));
  m->data = data;
  m->bytes += sizeof *data;
  HK_TRY(hk_vertex_block_create(m->problem, &data->blocks, &m->bytes, error));
  return hk_chebyshev_create(model, &m->problem->space, p->rho, &data->chebyshev, &m->bytes, error);
}

static void destroy(HkMinimizer *m) {
  Data *data = m->data;
  hk_chebyshev_destroy(&data->chebyshev);
  hk_vertex_block_destroy(&data->blocks);
  hk_free(&m->problem->model->context, &m->data);
}

static size_t bytes(const HkMinimizer *m) {
  return hk_vertex_block_bytes(&((const Data *)m->data)->blocks);
}

typedef struct Loop {
  const HkVertexBlock *blocks;
  const double *x;
  double weight, *f;
} Loop;

static void step_range(void *user, int64_t begin, int64_t end) {
  const Loop *a = user;
  const HkProblem *problem = a->blocks->p;
  const HkModel *m = problem->model;
  for (int64_t i = begin; i < end; i++) {
    double p[3] = {0, 0, 0};
    if (!problem->held.mask[i]) hk_vertex_block_step(a->blocks, a->x, i, p);
    bool alone = m->adj_start[i] == m->adj_start[i + 1]; /* there is no one to run into */
    for (int c = 0; c < 3; c++) a->f[3 * i + c] = (alone ? 1 : a->weight) * p[c];
  }
}

/* x_new with a lower g than x; false if there is none. */
static bool advance(HkMinimizer *m, const double *x, const double *f, double slope, double *x_new) {
  Data *data = m->data;
  if (hk_chebyshev_next(data->chebyshev, x, f, -slope, x_new)) {
    if (hk_minimizer_try(m, x, x_new) <= HK_ARMIJO * slope) return true;
    hk_chebyshev_reject(data->chebyshev);
  }
  return hk_line_search(m, x, f, slope, x_new) > 0;
}

static HkStatus minimize(HkMinimizer *m, double *x, HkError *error) {
  const HkVectors *space = &m->problem->space;
  const HkJacobiParams *p = m->method.params;
  Data *data = m->data;
  double *g = m->w[0], *f = m->w[1], *x_new = m->w[2];
  hk_chebyshev_begin(data->chebyshev);
  for (int it = 0;; it++) {
    HK_TRY(hk_problem_begin_iterate(m->problem, x, error));
    double r = hk_problem_gradient(m->problem, x, g);
    m->info.evaluations++;
    if (hk_minimizer_look(m, it, x, r)) return HK_OK;
    Loop loop = {&data->blocks, x, p->weight, f};
    HK_TRY(hk_vertex_block_begin(&data->blocks, x, x, true, error));
    hk_parallel_for(space->threads, space->n, step_range, &loop);
    double slope = hk_vectors_dot(space, g, f);
    if (!(slope < 0) || !advance(m, x, f, slope, x_new)) {
      hk_minimizer_stall(m);
      return HK_OK;
    }
    hk_vectors_copy(space, x_new, x);
  }
}

static HkStatus to_device(const void *chosen, HkDeviceSettings *settings, HkError *error) {
  const HkJacobiParams *p = chosen;
  (void)error;
  settings->step = HK_DEVICE_JACOBI;
  settings->weight = p->weight;
  settings->rho = p->rho;
  return HK_OK;
}

const HkMinimizeType hk_minimize_jacobi = {
    .schema = {.name = "jacobi",
               .summary = "each vertex over its own position, all at once, accelerated; no system",
               .formula = "H_ii p = -dg/dx_i,  x+ = x_old + omega (x + weight p - x_old)",
               HK_PARAMS(HkJacobiParams, params)},
    .vectors = 3,
    .create = create,
    .destroy = destroy,
    .bytes = bytes,
    .to_device = to_device,
    .minimize = minimize,
};
