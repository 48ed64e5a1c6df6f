/* Vertex block descent: each vertex in turn minimises g over its own position while all others
 * stand still (Chen et al. 2024), that is Gauss-Seidel on the nonlinear problem.
 *
 *     H_qq p = -dg/dx_q,   x_q += p,
 *     H_qq = m_q I + tau^2 sum d2E/dx_q2 + tau C_qq   (3x3, kg)
 *
 * at the newest positions of the neighbours. Vertices that do not interact, those of one colour
 * (coloring.h), go at once. A sweep over all of them is an iteration; it costs a few gradients, no
 * matrix is stored and no system is solved. Errors travel from neighbour to neighbour: as with
 * gradient_descent, one of wavelength r springs takes in the order of r^2 sweeps, a fourth to an
 * eighth as many.
 *
 * H_qq has the true Hessians of the springs. Where it is not positive definite, or p would raise g,
 * it has the projected ones (hessian.h), and if that does not help either, springs as stiff across
 * their length as along it: then no vertex overshoots. Forces other than springs count through
 * their gradient and their own blocks at the start of the sweep, which is exact for all that are
 * linear in x. Should g rise over a sweep even so (a force grew stiffer on the way), a line search
 * goes back from the result towards the start.
 */
#include "base/vec.h"
#include "force/springs.h"
#include "minimize/coloring.h"
#include "minimize/minimize.h"

#include <string.h>

static const HkParam params[] = {HK_STOPPING_PARAMS(HkStopping, 1000, 1e-5)};

typedef enum Stiffness { TRUE_STIFFNESS, PROJECTED, BOUNDED } Stiffness;

typedef struct Data {
  HkColoring coloring;
  double *force; /* 3 n, N: the forces with an energy but for the springs, at the start */
  double *block; /* 9 n, N/m: their df_q/dx_q */
} Data;

/* ---- Creating ---- */

static HkStatus create(HkMinimizer *m, HkError *error) {
  const HkModel *model = m->problem->model;
  const HkContext *c = &model->context;
  Data *data = NULL;
  HK_TRY(hk_alloc(c, &data, 1, sizeof *data, "a minimizer", error));
  m->data = data;
  HK_TRY(hk_alloc_vector(c, &data->force, model->n, "a minimizer", error));
  HK_TRY(hk_alloc(c, &data->block, 9 * model->n, sizeof *data->block, "a minimizer", error));
  m->bytes += sizeof *data + hk_vector_bytes(model->n);
  m->bytes += (size_t)model->n * 9 * sizeof *data->block;
  return hk_coloring_create(model, &m->problem->pattern, &data->coloring, &m->bytes, error);
}

static void destroy(HkMinimizer *m) {
  const HkContext *c = &m->problem->model->context;
  Data *data = m->data;
  hk_coloring_destroy(m->problem->model, &data->coloring);
  hk_free(c, &data->force);
  hk_free(c, &data->block);
  hk_free(c, &m->data);
}

/* ---- Forces other than springs ---- */

typedef struct Pour {
  HkJacobianSink sink;
  double *block;
} Pour;

static void pour_own(HkJacobianSink *sink, int32_t i, int32_t j, const double B[9]) {
  double *block = ((Pour *)sink)->block + 9 * (int64_t)i;
  for (int c = 0; c < 9 && i == j; c++) block[c] += B[c];
}

static void skip(HkJacobianSink *sink, int32_t i, int32_t j, const double B[9]) {
  (void)sink;
  (void)i;
  (void)j;
  (void)B;
}

static void take_others(HkProblem *p, Data *data, const double *x) {
  const HkModel *m = p->model;
  Pour pour = {{pour_own, skip}, data->block};
  memset(data->force, 0, (size_t)m->n * 3 * sizeof *data->force);
  memset(data->block, 0, (size_t)m->n * 9 * sizeof *data->block);
  for (int q = 1; q < m->force_count; q++) {
    if (!m->forces[q].type->energy) continue;
    HkForceArgs a = hk_force_args(m, q, p->work, p->t, x, NULL);
    m->forces[q].type->add(&a, data->force);
    if (m->forces[q].type->jacobian) m->forces[q].type->jacobian(&a, &pour.sink);
  }
}

/* ---- One vertex ---- */

typedef struct Sweep {
  const HkProblem *p;
  const Data *data;
  const double *start; /* 3 n: x before the sweep */
  double *x;
  const int32_t *vertices; /* of one colour */
} Sweep;

/* g as vertex q sees it: springs, and -r . p + 1/2 p . Q p for all the rest. */
typedef struct Local {
  double r[3], Q[9];
} Local;

/* f -= row q of C w, w = (x - b) / tau - v. */
static void add_drag(const Sweep *s, int64_t q, double f[3]) {
  const HkProblem *p = s->p;
  int64_t first, last;
  hk_block_row(&p->damping, q, &first, &last);
  for (int64_t e = first; e < last; e++) {
    int64_t j = 3 * (int64_t)p->pattern.column[e];
    double w[3], sum[3] = {0, 0, 0};
    for (int c = 0; c < 3; c++) w[c] = (s->x[j + c] - p->b[j + c]) / p->tau - p->v[j + c];
    hk_mat_add_product(p->damping.value + 9 * e, w, sum);
    hk_axpy(-1, sum, f);
  }
}

static void look_around(const Sweep *s, int64_t q, Local *local) {
  const HkProblem *p = s->p;
  const double *x = s->x + 3 * q, *block = s->data->block + 9 * q, mass = p->model->mass[q];
  double f[3], moved[3], square = p->tau * p->tau;
  memcpy(f, s->data->force + 3 * q, sizeof f);
  hk_sub(x, s->start + 3 * q, moved);
  hk_mat_add_product(block, moved, f);
  if (p->pushed) hk_axpy(1, p->f + 3 * q, f);
  hk_mat_identity(mass, local->Q);
  for (int c = 0; c < 9; c++) local->Q[c] -= square * block[c];
  if (p->hessian.damping) {
    add_drag(s, q, f);
    const double *C = p->damping.value + 9 * p->pattern.diagonal[q];
    for (int c = 0; c < 9; c++) local->Q[c] += p->tau * C[c];
  }
  for (int c = 0; c < 3; c++) local->r[c] = square * f[c] - mass * (x[c] - p->y[3 * q + c]);
}

/* H_qq */
static void own_block(const Sweep *s, int64_t q, const Local *local, Stiffness stiffness,
                      double H[9]) {
  const HkModel *m = s->p->model;
  double B[9], square = s->p->tau * s->p->tau;
  memcpy(H, local->Q, sizeof local->Q);
  for (int64_t e = m->adj_start[q]; e < m->adj_start[q + 1]; e++) {
    if (stiffness == BOUNDED)
      hk_mat_identity(m->k[m->adj_spring[e]], B);
    else
      hk_spring_hessian(m, m->adj_spring[e], s->x, stiffness == PROJECTED, B);
    for (int c = 0; c < 9; c++) H[c] += square * B[c];
  }
  if (m->dimension == 3) return;
  H[2] = H[5] = H[6] = H[7] = 0; /* z does not move, and must not look unstable */
  H[8] = m->mass[q];
}

/* By how much g rises when vertex q moves by p. */
static double gain(const Sweep *s, int64_t q, const Local *local, const double p[3]) {
  double Qp[3] = {0, 0, 0}, square = s->p->tau * s->p->tau;
  hk_mat_add_product(local->Q, p, Qp);
  return square * hk_springs_gain(s->p->model, s->x, q, p) - hk_dot(local->r, p) +
         0.5 * hk_dot(p, Qp);
}

static void move_vertex(const Sweep *s, int64_t q) {
  Local local;
  double H[9], r[3], pull[3] = {0, 0, 0};
  look_around(s, q, &local);
  hk_springs_pull(s->p->model, s->x, q, pull);
  memcpy(r, local.r, sizeof r);
  hk_axpy(s->p->tau * s->p->tau, pull, r);
  if (s->p->model->dimension == 2) r[2] = 0;
  for (Stiffness stiffness = TRUE_STIFFNESS; stiffness <= BOUNDED; stiffness++) {
    double p[3] = {0, 0, 0};
    own_block(s, q, &local, stiffness, H);
    if (!hk_mat_invert_positive(H)) continue;
    hk_mat_add_product(H, r, p);
    if (stiffness < BOUNDED && !(gain(s, q, &local, p) <= 0)) continue;
    hk_axpy(1, p, s->x + 3 * q);
    return;
  }
}

static void sweep_range(void *user, int64_t begin, int64_t end) {
  const Sweep *s = user;
  for (int64_t at = begin; at < end; at++)
    if (!s->p->held.mask[s->vertices[at]]) move_vertex(s, s->vertices[at]);
}

/* ---- All of them ---- */

static void sweep(HkMinimizer *m, const double *start, double *x) {
  const Data *data = m->data;
  const HkColoring *coloring = &data->coloring;
  Sweep s = {.p = m->problem, .data = data, .start = start, .x = x};
  hk_vectors_copy(&m->problem->space, start, x);
  for (int64_t c = 0; c < coloring->colors; c++) {
    s.vertices = coloring->vertex + coloring->start[c];
    hk_parallel_for(m->problem->space.threads, coloring->start[c + 1] - coloring->start[c],
                    sweep_range, &s);
  }
  m->report.evaluations++;
}

/* x_new with a lower g than x; false if there is none. */
static bool advance(HkMinimizer *m, const double *x, const double *g, double *p, double *x_new) {
  HkProblem *problem = m->problem;
  const HkVectors *space = &problem->space;
  take_others(problem, m->data, x);
  sweep(m, x, x_new);
  if (hk_problem_change(problem, x, x_new) < 0) return true;
  hk_vectors_subtract(space, x_new, x, p);
  double slope = hk_vectors_dot(space, p, g);
  return slope < 0 && hk_line_search(m, x, p, slope, x_new) > 0;
}

static HkStatus minimize(HkMinimizer *m, double *x, HkError *error) {
  double *g = m->w[0], *p = m->w[1], *x_new = m->w[2];
  (void)error;
  for (int it = 0;; it++) {
    double size = hk_problem_gradient(m->problem, x, g);
    m->report.evaluations++;
    if (hk_minimizer_look(m, it, x, size)) return HK_OK;
    if (!advance(m, x, g, p, x_new)) {
      hk_minimizer_stall(m);
      return HK_OK;
    }
    hk_vectors_copy(&m->problem->space, x_new, x);
  }
}

const HkMinimizeType hk_minimize_vertex_block_descent = {
    .schema = {.name = "vertex_block_descent",
               .summary = "each vertex in turn minimises over its own position; no linear system",
               .formula = "H_qq p = -dg/dx_q,  x_q += p  (3x3), all vertices of a colour at once",
               HK_PARAMS(HkStopping, params)},
    .vectors = 3,
    .create = create,
    .destroy = destroy,
    .minimize = minimize,
};
