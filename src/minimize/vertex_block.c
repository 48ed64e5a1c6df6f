/* One vertex alone; see vertex_block.h. */
#include "minimize/vertex_block.h"

#include "base/vec.h"
#include "force/springs.h"

#include <string.h>

HkStatus hk_vertex_block_create(const HkProblem *problem, HkVertexBlock *v, size_t *bytes,
                                HkError *error) {
  const HkModel *m = problem->model;
  const HkContext *c = &m->context;
  *v = (HkVertexBlock){.p = problem};
  HK_TRY(hk_alloc_vector(c, &v->force, m->n, "a minimizer", error));
  HK_TRY(hk_alloc(c, &v->block, 9 * m->n, sizeof *v->block, "a minimizer", error));
  *bytes += hk_vector_bytes(m->n) + (size_t)m->n * 9 * sizeof *v->block;
  return HK_OK;
}

void hk_vertex_block_destroy(HkVertexBlock *v) {
  if (!v->p) return;
  hk_free(&v->p->model->context, &v->force);
  hk_free(&v->p->model->context, &v->block);
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

void hk_vertex_block_begin(HkVertexBlock *v, const double *x) {
  const HkProblem *p = v->p;
  const HkModel *m = p->model;
  Pour pour = {{pour_own, hk_jacobian_skip}, v->block};
  v->start = x;
  memset(v->force, 0, (size_t)m->n * 3 * sizeof *v->force);
  memset(v->block, 0, (size_t)m->n * 9 * sizeof *v->block);
  for (int q = 0; q < m->force_count; q++) {
    if (!m->forces[q].type->energy || m->forces[q].type->has_rows) continue;
    HkForceArgs a = hk_force_args(m, q, p->work, p->t, x, NULL);
    m->forces[q].type->add(&a, v->force);
    if (m->forces[q].type->jacobian) m->forces[q].type->jacobian(&a, &pour.sink);
  }
}

/* ---- One vertex ---- */

typedef enum Stiffness { TRUE_STIFFNESS, PROJECTED, BOUNDED } Stiffness;

/* A vertex among the others at x. */
typedef struct Place {
  const HkVertexBlock *v;
  const HkProblem *p;
  const double *x;
} Place;

/* g as vertex q sees it: springs, and -r . p + 1/2 p . Q p for all the rest. */
typedef struct Local {
  double r[3], Q[9];
} Local;

/* f -= row q of C w, w = (x - b) / tau - v. */
static void add_drag(const Place *s, int64_t q, double f[3]) {
  const HkProblem *p = s->p;
  int64_t first, last;
  hk_block_row(&p->damping.C, q, &first, &last);
  for (int64_t e = first; e < last; e++) {
    int64_t j = 3 * (int64_t)p->damping.C.pattern->column[e];
    double w[3], sum[3] = {0, 0, 0};
    for (int c = 0; c < 3; c++) w[c] = (s->x[j + c] - p->b[j + c]) / p->tau - p->v[j + c];
    hk_mat_add_product(p->damping.C.value + 9 * e, w, sum);
    hk_axpy(-1, sum, f);
  }
}

static void look_around(const Place *s, int64_t q, Local *local) {
  const HkProblem *p = s->p;
  const double *x = s->x + 3 * q, *block = s->v->block + 9 * q, mass = p->model->mass[q];
  double f[3], moved[3], square = p->tau * p->tau;
  memcpy(f, s->v->force + 3 * q, sizeof f);
  hk_sub(x, s->v->start + 3 * q, moved);
  hk_mat_add_product(block, moved, f);
  if (p->pushed) hk_axpy(1, p->f + 3 * q, f);
  hk_mat_identity(mass, local->Q);
  for (int c = 0; c < 9; c++) local->Q[c] -= square * block[c];
  if (p->damped) {
    add_drag(s, q, f);
    const double *C = p->damping.C.value + 9 * p->damping.C.pattern->diagonal[q];
    for (int c = 0; c < 9; c++) local->Q[c] += p->tau * C[c];
  }
  for (int c = 0; c < 3; c++) local->r[c] = square * f[c] - mass * (x[c] - p->y[3 * q + c]);
}

/* H_qq */
static void own_block(const Place *s, int64_t q, const Local *local, Stiffness stiffness,
                      double H[9]) {
  const HkModel *m = s->p->model;
  double B[9], square = s->p->tau * s->p->tau;
  memcpy(H, local->Q, sizeof local->Q);
  for (int64_t e = m->adj_start[q]; e < m->adj_start[q + 1]; e++) {
    if (stiffness == BOUNDED)
      hk_mat_identity(s->p->work->springs->k[m->adj_spring[e]], B);
    else
      hk_spring_hessian(s->p->work->springs, m->adj_spring[e], s->x, stiffness == PROJECTED ? 1 : 0,
                        B);
    for (int c = 0; c < 9; c++) H[c] += square * B[c];
  }
  if (m->dimension == 3) return;
  H[2] = H[5] = H[6] = H[7] = 0; /* z does not move, and must not look unstable */
  H[8] = m->mass[q];
}

/* By how much g rises when vertex q moves by p. */
static double gain(const Place *s, int64_t q, const Local *local, const double p[3]) {
  double Qp[3] = {0, 0, 0}, square = s->p->tau * s->p->tau;
  hk_mat_add_product(local->Q, p, Qp);
  return square * hk_springs_gain(s->p->model, s->p->work->springs, s->x, q, p) -
         hk_dot(local->r, p) + 0.5 * hk_dot(p, Qp);
}

void hk_vertex_block_step(const HkVertexBlock *v, const double *x, int64_t q, double p[3]) {
  Place place = {v, v->p, x}, *s = &place;
  Local local;
  double H[9], r[3], pull[3] = {0, 0, 0};
  look_around(s, q, &local);
  hk_springs_pull(s->p->model, s->p->work->springs, s->x, q, pull);
  memcpy(r, local.r, sizeof r);
  hk_axpy(s->p->tau * s->p->tau, pull, r);
  if (s->p->model->dimension == 2) r[2] = 0;
  for (Stiffness stiffness = TRUE_STIFFNESS; stiffness <= BOUNDED; stiffness++) {
    for (int c = 0; c < 3; c++) p[c] = 0;
    own_block(s, q, &local, stiffness, H);
    if (!hk_mat_invert_positive(H)) continue;
    hk_mat_add_product(H, r, p);
    if (stiffness < BOUNDED && !(gain(s, q, &local, p) <= 0)) continue;
    return;
  }
  for (int c = 0; c < 3; c++) p[c] = 0;
}
