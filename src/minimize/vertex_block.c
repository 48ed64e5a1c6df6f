/* One vertex alone; see vertex_block.h. */
#include "minimize/vertex_block.h"

#include "base/vec.h"

#include <string.h>

HkStatus hk_vertex_block_create(HkProblem *problem, HkVertexBlock *v, size_t *bytes,
                                HkError *error) {
  const HkModel *m = problem->model;
  const HkContext *c = &m->context;
  *v = (HkVertexBlock){.p = problem, .rows = {.problem = problem}};
  HK_TRY(hk_alloc_vector(c, &v->force, m->n, "a minimizer", error));
  HK_TRY(hk_alloc(c, &v->block, 9 * m->n, sizeof *v->block, "a minimizer", error));
  *bytes += hk_vector_bytes(m->n) + (size_t)m->n * 9 * sizeof *v->block;
  return HK_OK;
}

void hk_vertex_block_destroy(HkVertexBlock *v) {
  if (!v->p) return;
  hk_free(&v->p->model->context, &v->force);
  hk_free(&v->p->model->context, &v->block);
  hk_free(&v->p->model->context, &v->row);
  hk_unbounded_destroy(&v->rows);
}

size_t hk_vertex_block_bytes(const HkVertexBlock *v) {
  size_t row = v->row ? 2 * (size_t)v->p->model->n * sizeof *v->row : 0;
  return row + hk_unbounded_bytes(&v->rows);
}

/* ---- Forces that are taken as linear ---- */

typedef struct Pour {
  HkJacobianSink sink;
  double *block;
} Pour;

static void add_own(double *blocks, int32_t i, int32_t j, const double B[9]) {
  for (int c = 0; c < 9 && i == j; c++) blocks[9 * (int64_t)i + c] += B[c];
}

static void pour_own(HkJacobianSink *sink, int32_t i, int32_t j, const double B[9]) {
  add_own(((Pour *)sink)->block, i, j, B);
}

/* ---- Forces whose stiffness has no bound ---- */

/* What they add to the own block of each vertex. */
static void add_own_blocks(HkVertexBlock *v) {
  const HkForceBlocks *b = &v->rows.blocks;
  for (int64_t e = 0; e < b->count; e++)
    add_own(v->block, b->block[e].row, b->block[e].column, b->block[e].dfdx);
  for (int64_t t = 0; t < 16 * b->terms.count; t++) {
    double B[9];
    const int32_t *at = b->terms.term[t / 16].vertex;
    if (at[t / 4 % 4] != at[t % 4]) continue;
    hk_weighted_block(&b->terms, t / 16, (int)(t / 4 % 4), (int)(t % 4), B);
    for (int c = 0; c < 9; c++) v->block[9 * (int64_t)at[t % 4] + c] -= B[c];
  }
}

/* Their blocks at the start, by vertex; for vertices that move at once, bounds of them. */
static HkStatus couple(HkVertexBlock *v, bool at_once, HkError *error) {
  const HkModel *m = v->p->model;
  const HkForceBlocks *b = &v->rows.blocks;
  bool any;
  HK_TRY(hk_unbounded_evaluate(&v->rows, v->start, &any, error));
  v->coupled = any && !at_once;
  if (any && at_once) hk_unbounded_add_diagonal(&v->rows, -1 / (v->p->tau * v->p->tau), v->block);
  if (!v->coupled) return HK_OK;
  if (!v->row)
    HK_TRY(hk_alloc(&m->context, &v->row, 2 * m->n, sizeof *v->row, "a minimizer", error));
  for (int64_t k = 0; k < 2 * m->n; k++) v->row[k] = -1;
  for (int64_t r = 0; r < b->row_count; r++)
    v->row[2 * (int64_t)b->block[b->row_start[r]].row] = (int32_t)r;
  for (int64_t k = 0; k < b->terms.vertex_count; k++)
    v->row[2 * (int64_t)b->terms.vertex[k] + 1] = (int32_t)k;
  add_own_blocks(v);
  return HK_OK;
}

/* f -= w K sum w_j (x_j - start_j) over the other vertices of a term. */
static void add_term(const HkVertexBlock *v, const double *x, int64_t at, double f[3]) {
  const HkWeightedTerm *t = &v->rows.blocks.terms.term[at / 4];
  const double *K = t->K, w = t->weight[at % 4];
  double u[3] = {0, 0, 0};
  for (int a = 0; a < 4; a++) {
    int64_t j = t->vertex[a];
    double moved[3];
    if (t->vertex[a] == t->vertex[at % 4]) continue;
    hk_sub(x + 3 * j, v->start + 3 * j, moved);
    hk_axpy(t->weight[a], moved, u);
  }
  f[0] -= w * (K[0] * u[0] + K[1] * u[1] + K[2] * u[2]);
  f[1] -= w * (K[1] * u[0] + K[3] * u[1] + K[4] * u[2]);
  f[2] -= w * (K[2] * u[0] + K[4] * u[1] + K[5] * u[2]);
}

/* f += the blocks of row i times how far the other vertices have moved. */
static void add_coupling(const HkVertexBlock *v, const double *x, int64_t i, double f[3]) {
  const HkForceBlocks *b = &v->rows.blocks;
  int32_t row = v->row[2 * i], place = v->row[2 * i + 1];
  for (int64_t e = row < 0 ? 0 : b->row_start[row]; row >= 0 && e < b->row_start[row + 1]; e++) {
    int64_t j = b->block[e].column;
    double moved[3];
    if (j == i) continue;
    hk_sub(x + 3 * j, v->start + 3 * j, moved);
    hk_mat_add_product(b->block[e].dfdx, moved, f);
  }
  if (place < 0) return;
  for (int64_t e = b->terms.start[place]; e < b->terms.start[place + 1]; e++)
    add_term(v, x, b->terms.at[e], f);
}

HkStatus hk_vertex_block_begin(HkVertexBlock *v, const double *start, const double *x, bool at_once,
                               HkError *error) {
  const HkProblem *p = v->p;
  const HkModel *m = p->model;
  Pour pour = {.sink = {.dfdx = pour_own, .dfdv = hk_jacobian_skip}, .block = v->block};
  v->start = start;
  v->local_count = 0;
  v->coupled = false;
  memset(v->force, 0, (size_t)m->n * 3 * sizeof *v->force);
  memset(v->block, 0, (size_t)m->n * 9 * sizeof *v->block);
  for (int f = 0; f < m->force_count; f++) {
    const HkForceType *type = m->forces[f].type;
    if (!type->energy) continue;
    HkForceArgs a = hk_force_args(m, f, p->work, p->t, start, NULL);
    if (type->local && v->local_count < HK_VERTEX_BLOCK_LOCALS) {
      a.x = x;
      v->local[v->local_count++] = (HkVertexBlockLocal){type->local, a};
      continue;
    }
    type->add(&a, v->force);
    if (type->jacobian && !type->unbounded) type->jacobian(&a, &pour.sink);
  }
  return hk_problem_has_unbounded(p) ? couple(v, at_once, error) : HK_OK;
}

/* ---- One vertex ---- */

/* A vertex among the others at x. */
typedef struct Place {
  const HkVertexBlock *v;
  const HkProblem *p;
  const double *x;
} Place;

/* g as vertex i sees it: the local forces, and -r . p + 1/2 p . Q p for all the rest. */
typedef struct Local {
  double r[3], Q[9];
} Local;

/* f -= row i of C w, w = (x - b) / tau - v. */
static void add_drag(const Place *s, int64_t i, double f[3]) {
  const HkProblem *p = s->p;
  int64_t first, last;
  hk_block_row(&p->damping.C, i, &first, &last);
  for (int64_t e = first; e < last; e++) {
    int64_t j = 3 * (int64_t)p->damping.C.pattern->column[e];
    double w[3], sum[3] = {0, 0, 0};
    for (int c = 0; c < 3; c++) w[c] = (s->x[j + c] - p->b[j + c]) / p->tau - p->v[j + c];
    hk_mat_add_product(p->damping.C.value + 9 * e, w, sum);
    hk_axpy(-1, sum, f);
  }
}

static void look_around(const Place *s, int64_t i, Local *local) {
  const HkProblem *p = s->p;
  const double *x = s->x + 3 * i, *block = s->v->block + 9 * i, mass = p->model->mass[i];
  double f[3], moved[3], square = p->tau * p->tau;
  memcpy(f, s->v->force + 3 * i, sizeof f);
  hk_sub(x, s->v->start + 3 * i, moved);
  hk_mat_add_product(block, moved, f);
  if (s->v->coupled) add_coupling(s->v, s->x, i, f);
  if (p->pushed) hk_axpy(1, p->f + 3 * i, f);
  hk_mat_identity(mass, local->Q);
  for (int c = 0; c < 9; c++) local->Q[c] -= square * block[c];
  if (p->damped) {
    add_drag(s, i, f);
    const double *C = p->damping.C.value + 9 * p->damping.C.pattern->diagonal[i];
    for (int c = 0; c < 9; c++) local->Q[c] += p->tau * C[c];
  }
  for (int c = 0; c < 3; c++) local->r[c] = square * f[c] - mass * (x[c] - p->y[3 * i + c]);
}

/* H_ii */
static void own_block(const Place *s, int64_t i, const Local *local, HkCurvature curvature,
                      double H[9]) {
  const HkModel *m = s->p->model;
  double square = s->p->tau * s->p->tau;
  memcpy(H, local->Q, sizeof local->Q);
  for (int f = 0; f < s->v->local_count; f++)
    s->v->local[f].type->add_hessian(&s->v->local[f].args, i, curvature, square, H);
  if (m->dimension == 3) return;
  H[2] = H[5] = H[6] = H[7] = 0; /* z does not move, and must not look unstable */
  H[8] = m->mass[i];
}

/* By how much g rises when vertex i moves by p. */
static double gain(const Place *s, int64_t i, const Local *local, const double p[3]) {
  double Qp[3] = {0, 0, 0}, square = s->p->tau * s->p->tau, change = 0;
  hk_mat_add_product(local->Q, p, Qp);
  for (int f = 0; f < s->v->local_count; f++)
    change += s->v->local[f].type->change(&s->v->local[f].args, i, p);
  return square * change - hk_dot(local->r, p) + 0.5 * hk_dot(p, Qp);
}

void hk_vertex_block_step(const HkVertexBlock *v, const double *x, int64_t i, double p[3]) {
  Place place = {v, v->p, x}, *s = &place;
  Local local;
  double H[9], r[3], pull[3] = {0, 0, 0};
  look_around(s, i, &local);
  for (int f = 0; f < v->local_count; f++) v->local[f].type->add(&v->local[f].args, i, pull);
  memcpy(r, local.r, sizeof r);
  hk_axpy(s->p->tau * s->p->tau, pull, r);
  if (s->p->model->dimension == 2) r[2] = 0;
  for (HkCurvature curvature = HK_CURVATURE_TRUE; curvature <= HK_CURVATURE_BOUND; curvature++) {
    for (int c = 0; c < 3; c++) p[c] = 0;
    own_block(s, i, &local, curvature, H);
    if (!hk_mat_invert_positive(H)) continue;
    hk_mat_add_product(H, r, p);
    if (curvature < HK_CURVATURE_BOUND && !(gain(s, i, &local, p) <= 0)) continue;
    return;
  }
  for (int c = 0; c < 3; c++) p[c] = 0;
}
