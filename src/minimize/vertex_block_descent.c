/* Vertex block descent: each vertex in turn minimizes g over its own position while all others
 * stand still (Chen et al. 2024), that is Gauss-Seidel on the nonlinear problem.
 *
 *     H_ii p = -dg/dx_i,   x_i += p,
 *     H_ii = m_i I + tau^2 sum d2E/dx_i2 + tau C_ii   (3x3, kg)
 *
 * at the newest positions of the neighbors. Vertices that do not interact, those of one batch
 * (batches.h; a color, where nothing touches), go at once. A sweep over all of them is an
 * iteration; it costs a few gradients, no matrix is stored and no system is solved. Errors travel
 * from neighbor to neighbor: as with gradient_descent, one of wavelength r springs takes in the
 * order of r^2 sweeps, a fourth to an eighth as many.
 *
 * vertex_block.h defines the step of a vertex. The displacement of a sweep passes the filter of the
 * forces. If g rises over a sweep (a force becomes stiffer along it, or the filter has cut it), a
 * line search backtracks from the result towards the start: g falls in every iteration.
 */
#include "base/vec.h"
#include "minimize/batches.h"
#include "minimize/minimize.h"

static const HkParam params[] = {HK_STOPPING_PARAMS(HkStopping, 1000, 1e-3, 1)};

typedef struct Data {
  HkColoring coloring;
  HkBatches batches;
  HkVertexBlock blocks;
} Data;

/* ---- Creating ---- */

static HkStatus create(HkMinimizer *m, HkError *error) {
  const HkModel *model = m->problem->model;
  Data *data = NULL;
  HK_TRY(hk_alloc(&model->context, &data, 1, sizeof *data, "a minimizer", error));
  m->data = data;
  m->bytes += sizeof *data;
  HK_TRY(hk_vertex_block_create(m->problem, &data->blocks, &m->bytes, error));
  const HkPattern *pattern = &m->problem->pattern;
  return hk_coloring_create(&model->context, model->n, pattern->start, pattern->column,
                            &data->coloring, &m->bytes, error);
}

static void destroy(HkMinimizer *m) {
  Data *data = m->data;
  hk_batches_destroy(&m->problem->model->context, &data->batches);
  hk_coloring_destroy(&m->problem->model->context, &data->coloring);
  hk_vertex_block_destroy(&data->blocks);
  hk_free(&m->problem->model->context, &m->data);
}

static size_t bytes(const HkMinimizer *m) {
  const Data *data = m->data;
  return hk_batches_bytes(&data->batches, m->problem->model->n) +
         hk_vertex_block_bytes(&data->blocks);
}

/* ---- A sweep ---- */

typedef struct Sweep {
  const HkVertexBlock *blocks;
  double *x;
  const int32_t *vertices; /* of one batch */
} Sweep;

static void sweep_range(void *user, int64_t begin, int64_t end) {
  const Sweep *s = user;
  for (int64_t at = begin; at < end; at++) {
    double p[3];
    int64_t i = s->vertices[at];
    if (s->blocks->p->held.mask[i]) continue;
    hk_vertex_block_step(s->blocks, s->x, i, p);
    hk_axpy(1, p, s->x + 3 * i);
  }
}

static void sweep(HkMinimizer *m, const double *start, double *x) {
  const Data *data = m->data;
  const HkBatches *batches = &data->batches;
  Sweep s = {.blocks = &data->blocks, .x = x};
  hk_vectors_copy(&m->problem->space, start, x);
  for (int64_t c = 0; c < batches->count; c++) {
    s.vertices = batches->vertex + batches->start[c];
    hk_parallel_for(m->problem->space.threads, batches->start[c + 1] - batches->start[c],
                    sweep_range, &s);
  }
  m->info.evaluations++;
}

/* x_new with a lower g than x; *found is false if there is none. */
static HkStatus advance(HkMinimizer *m, const double *x, const double *g, double *p, double *x_new,
                        bool *found, HkError *error) {
  HkProblem *problem = m->problem;
  const HkVectors *space = &problem->space;
  Data *data = m->data;
  HK_TRY(hk_vertex_block_begin(&data->blocks, x, x_new, false, error));
  HK_TRY(hk_batches_find(&data->batches, &data->coloring, &data->blocks, error));
  sweep(m, x, x_new);
  *found = hk_minimizer_try(m, x, x_new) < 0;
  if (*found) return HK_OK;
  hk_vectors_subtract(space, x_new, x, p);
  double slope = hk_vectors_dot(space, p, g);
  *found = slope < 0 && hk_line_search(m, x, p, slope, x_new) > 0;
  return HK_OK;
}

static HkStatus minimize(HkMinimizer *m, double *x, HkError *error) {
  double *g = m->w[0], *p = m->w[1], *x_new = m->w[2];
  for (int it = 0;; it++) {
    HK_TRY(hk_problem_begin_iterate(m->problem, x, error));
    double r = hk_problem_gradient(m->problem, x, g);
    m->info.evaluations++;
    if (hk_minimizer_look(m, it, x, r)) return HK_OK;
    bool found = false;
    HK_TRY(advance(m, x, g, p, x_new, &found, error));
    if (!found) {
      hk_minimizer_stall(m);
      return HK_OK;
    }
    hk_vectors_copy(&m->problem->space, x_new, x);
  }
}

static HkStatus to_device(const void *chosen, HkDeviceSettings *settings, HkError *error) {
  (void)chosen;
  (void)error;
  settings->step = HK_DEVICE_BLOCK_DESCENT;
  return HK_OK;
}

const HkMinimizeType hk_minimize_vertex_block_descent = {
    .schema = {.name = "vertex_block_descent",
               .summary = "each vertex in turn minimizes over its own position; no linear system",
               .formula = "H_ii p = -dg/dx_i,  x_i += p  (3x3), all vertices of a color at once",
               HK_PARAMS(HkStopping, params)},
    .vectors = 3,
    .create = create,
    .destroy = destroy,
    .bytes = bytes,
    .to_device = to_device,
    .minimize = minimize,
};
