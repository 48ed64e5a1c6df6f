/* Products with the derivatives of springs, in both directions.
 *
 * With d = xi - xj, l = |d|, u = d / l, w = vi - vj, P = I - u u^T, s = w . u, the force on i
 *
 *     f  = -(k (l - l0) + c s) u
 *     df/dd  = -(a P + k u u^T) - c / l (u (P w)^T + s P),   a = k (1 - l0 / l)
 *     df/dw  = -c u u^T,   df/dk = -(l - l0) u,   df/dl0 = k u,   df/dc = -s u
 *
 * Linearly implicit steps also depend on the matrices K+ = max(a, 0) P + k u u^T and C = c u u^T.
 * For constant vectors p and q between the ends, with a P-part b = (p . q) - (p . u)(q . u),
 *
 *     d(p . K+ q)/dd  = k l0 / l^2 b u + (k - a) / l [(q . u) P p + (p . u) P q]     where a > 0
 *     d(p . K+ q)/dd  =                   k / l      [(q . u) P p + (p . u) P q]     where a <= 0
 *     d(p . C q)/dd   =                   c / l      [(q . u) P p + (p . u) P q]
 *
 * Vertices gather from their springs, so that the result does not depend on the number of threads.
 */
#include "adjoint/spring_products.h"

#include "adjoint/spring_transpose.h"
#include "base/isa.h"
#include "base/vec.h"
#include "force/springs.h"

/* One spring as one of its ends sees it. */
typedef struct Spring {
  double u[3], w[3];    /* w: relative velocity, 0 without damping */
  double l, k, l0, c;   /* c: 0 without damping */
  double across, speed; /* a, s */
  bool pulls, meets;    /* it exerts a force; its ends are at one place: f = 0, df/dd = -k I */
} Spring;

static Spring look(const HkSpringsAt *at, int64_t s, int64_t i, int64_t j) {
  const HkSpringArrays *springs = at->springs;
  bool tension = springs->tension && springs->tension[s];
  Spring q = {.k = springs->k[s], .l0 = springs->l0[s], .pulls = true};
  hk_sub(at->x + 3 * i, at->x + 3 * j, q.u);
  q.l = hk_norm(q.u);
  if (tension && q.l < q.l0) q.pulls = false;
  q.meets = q.l < HK_SPRING_TINY;
  if (!q.pulls || q.meets) return q;
  for (int c = 0; c < 3; c++) q.u[c] /= q.l;
  q.across = q.k * (1 - q.l0 / q.l);
  if (!at->v || !springs->damping) return q;
  q.c = springs->damping[s];
  hk_sub(at->v + 3 * i, at->v + 3 * j, q.w);
  q.speed = hk_dot(q.w, q.u);
  if (tension && q.k * (q.l - q.l0) + q.c * q.speed < 0) q.pulls = false;
  return q;
}

/* out += scale P p */
static void add_across(const Spring *q, double scale, const double p[3], double out[3]) {
  hk_axpy(scale, p, out);
  hk_axpy(-scale * hk_dot(q->u, p), q->u, out);
}

typedef struct Loop {
  const HkSpringsAt *at;
  const double *l, *w; /* the vector of a transposed product; the constant one of a matrix */
  const double *dx, *dv;
  double *to_x, *to_v, *out;
  const HkSpringNumbers *numbers;
  bool damping;
} Loop;

static void difference(const double *all, int64_t i, int64_t j, double out[3]) {
  hk_sub(all + 3 * i, all + 3 * j, out);
}

static double damping_of(const HkSpringNumbers *n, int64_t s) {
  return n->damping ? n->damping[s] : 0;
}

/* ---- Forces ---- */

static void pull_range(void *user, int64_t begin, int64_t end) {
  const Loop *a = user;
  const HkModel *m = a->at->model;
  const uint8_t *rows = a->at->rows;
  double scale = a->at->scale;
  for (int64_t i = begin; i < end; i++)
    for (int64_t e = m->adj_start[i]; e < m->adj_start[i + 1] && (!rows || rows[i]); e++) {
      int64_t j = m->adj_vertex[e];
      Spring q = look(a->at, m->adj_spring[e], i, j);
      double p[3], *x = a->to_x + 3 * i;
      if (!q.pulls) continue;
      difference(a->l, i, j, p);
      if (q.meets) {
        hk_axpy(-scale * q.k, p, x);
        continue;
      }
      double along = hk_dot(q.u, p);
      hk_axpy(-scale * q.across, p, x);
      hk_axpy(-scale * (q.k - q.across) * along, q.u, x);
      if (q.c == 0) continue;
      add_across(&q, -scale * q.c / q.l * along, q.w, x);
      add_across(&q, -scale * q.c / q.l * q.speed, p, x);
      if (a->to_v) hk_axpy(-scale * q.c * along, q.u, a->to_v + 3 * i);
    }
}

static void pull_numbers_range(void *user, int64_t begin, int64_t end) {
  const Loop *a = user;
  const HkSpringArrays *springs = a->at->springs;
  for (int64_t s = begin; s < end; s++) {
    int64_t i = springs->i[s], j = springs->j[s];
    Spring q = look(a->at, s, i, j);
    double p[3];
    if (!q.pulls || q.meets) continue;
    difference(a->l, i, j, p);
    double along = a->at->scale * hk_dot(q.u, p);
    a->numbers->k[s] -= (q.l - q.l0) * along;
    a->numbers->l0[s] += q.k * along;
    if (a->numbers->damping) a->numbers->damping[s] -= q.speed * along;
  }
}

HK_KERNEL_TABLE(HkSpringTransposeKernels, hk_spring_transpose)

typedef struct Transpose {
  HkSpringTransposeArgs args;
  const HkSpringTransposeKernels *kernels;
} Transpose;

static void transpose_range(void *user, int64_t begin, int64_t end) {
  const Transpose *t = user;
  t->kernels->transpose(&t->args, begin, end);
}

typedef struct Settle {
  const HkModel *model;
  const HkSpringRows *rows;
  const uint8_t *broken;
  const HkSpringNumbers *numbers;
} Settle;

/* A spring belongs to its end with the lower number. */
static void settle_range(void *user, int64_t begin, int64_t end) {
  const Settle *a = user;
  const HkModel *m = a->model;
  for (int64_t i = begin; i < end; i++) {
    int64_t first = m->adj_start[i], beside = a->rows->start[i / HK_ROW_GROUP];
    double *slots = a->numbers->slots + 2 * beside * HK_ROW_GROUP + i % HK_ROW_GROUP;
    for (int64_t e = first; e < m->adj_start[i + 1]; e++) {
      double *k = slots + 2 * (e - first) * HK_ROW_GROUP, *l0 = k + HK_ROW_GROUP;
      int32_t s = m->adj_spring[e];
      if (m->adj_vertex[e] > i && !(a->broken && a->broken[s])) {
        a->numbers->k[s] += *k;
        a->numbers->l0[s] += *l0;
      }
      *k = *l0 = 0;
    }
  }
}

void hk_springs_settle(const HkModel *model, const HkSpringRows *rows, const uint8_t *broken,
                       const HkSpringNumbers *numbers) {
  Settle a = {model, rows, broken, numbers};
  hk_parallel_for(model->threads, model->n, settle_range, &a);
}

/* Undamped springs, by vectors of them. */
static void pull_undamped(const HkSpringsAt *at, const double *l, double *to_x,
                          const HkSpringNumbers *numbers) {
  const HkModel *m = at->model;
  HkIsa isa = HK_ISA_PORTABLE;
  hk_isa_pick(&isa, NULL); /* has succeeded for the simulation */
  Transpose t = {.args = {.rows = at->rows_of,
                          .x = at->x,
                          .l = l,
                          .scale = at->scale,
                          .to_x = at->rows ? NULL : to_x,
                          .slots = numbers->slots},
                 .kernels = hk_spring_transpose_of(isa)};
  hk_parallel_work(m->threads, at->rows_of->groups, HK_ROW_GRAIN, transpose_range, &t);
  Loop a = {.at = at, .l = l, .to_x = to_x};
  if (at->rows) hk_parallel_for(m->threads, m->n, pull_range, &a);
}

void hk_springs_pull_back(const HkSpringsAt *at, const double *l, double *to_x, double *to_v,
                          const HkSpringNumbers *numbers) {
  const HkModel *m = at->model;
  if (!at->v || !at->springs->damping) {
    pull_undamped(at, l, to_x, numbers);
    if (at->springs->damping) hk_springs_settle(m, at->rows_of, NULL, numbers);
    return;
  }
  Loop a = {.at = at, .l = l, .to_x = to_x, .to_v = to_v, .numbers = numbers};
  hk_parallel_for(m->threads, m->n, pull_range, &a);
  hk_parallel_for(m->threads, m->springs.count, pull_numbers_range, &a);
}

/* The change of the force on i for changes of all that it depends on. */
static void force_change(const Loop *a, int64_t s, int64_t i, int64_t j, double *out) {
  double scale = a->at->scale, dx[3], dv[3] = {0, 0, 0};
  const HkSpringNumbers *n = a->numbers;
  Spring q = look(a->at, s, i, j);
  if (!q.pulls) return;
  difference(a->dx, i, j, dx);
  if (q.meets) {
    hk_axpy(-scale * q.k, dx, out);
    return;
  }
  if (a->dv) difference(a->dv, i, j, dv);
  double along = hk_dot(q.u, dx), turned[3] = {0, 0, 0};
  add_across(&q, 1, q.w, turned); /* P w */
  double pull = q.k * along + q.c * (hk_dot(turned, dx) / q.l + hk_dot(q.u, dv)) +
                n->k[s] * (q.l - q.l0) - n->l0[s] * q.k + damping_of(n, s) * q.speed;
  hk_axpy(-scale * pull, q.u, out);
  add_across(&q, -scale * (q.across + q.c / q.l * q.speed), dx, out);
}

static void push_range(void *user, int64_t begin, int64_t end) {
  const Loop *a = user;
  const HkModel *m = a->at->model;
  for (int64_t i = begin; i < end; i++)
    for (int64_t e = m->adj_start[i]; e < m->adj_start[i + 1]; e++)
      force_change(a, m->adj_spring[e], i, m->adj_vertex[e], a->out + 3 * i);
}

void hk_springs_push_forward(const HkSpringsAt *at, const double *dx, const double *dv,
                             const HkSpringNumbers *numbers, double *out) {
  Loop a = {.at = at, .dx = dx, .dv = dv, .numbers = numbers, .out = out};
  hk_parallel_for(at->model->threads, at->model->n, push_range, &a);
}

/* ---- K+ and C times a constant vector ---- */

/* The derivative of K+ or C by d is turn b u + lean [...] of the head. */
typedef struct MatrixSlope {
  double turn, lean;
} MatrixSlope;

static MatrixSlope matrix_slope(const Spring *q, bool damping) {
  if (damping) return (MatrixSlope){0, q->c / q->l};
  if (q->across <= 0) return (MatrixSlope){0, q->k / q->l};
  return (MatrixSlope){q->k * q->l0 / (q->l * q->l), (q->k - q->across) / q->l};
}

static void pull_matrix_range(void *user, int64_t begin, int64_t end) {
  const Loop *a = user;
  const HkModel *m = a->at->model;
  double scale = a->at->scale;
  for (int64_t i = begin; i < end; i++)
    for (int64_t e = m->adj_start[i]; e < m->adj_start[i + 1]; e++) {
      int64_t j = m->adj_vertex[e];
      Spring q = look(a->at, m->adj_spring[e], i, j);
      double p[3], w[3];
      if (!q.pulls || q.meets) continue;
      MatrixSlope matrix = matrix_slope(&q, a->damping);
      difference(a->l, i, j, p);
      difference(a->w, i, j, w);
      double pu = hk_dot(p, q.u), wu = hk_dot(w, q.u);
      hk_axpy(scale * matrix.turn * (hk_dot(p, w) - pu * wu), q.u, a->to_x + 3 * i);
      add_across(&q, scale * matrix.lean * wu, p, a->to_x + 3 * i);
      add_across(&q, scale * matrix.lean * pu, w, a->to_x + 3 * i);
    }
}

/* Derivatives of p . K+ q or p . C q by the numbers of a spring, b and along as in the head. */
static void number_slopes(const Spring *q, bool damping, double b, double along, double slope[3]) {
  slope[0] = slope[1] = slope[2] = 0;
  if (damping)
    slope[2] = along;
  else
    slope[0] = along;
  if (damping || q->across <= 0) return;
  slope[0] += (1 - q->l0 / q->l) * b;
  slope[1] = -q->k / q->l * b;
}

static void pull_matrix_numbers_range(void *user, int64_t begin, int64_t end) {
  const Loop *a = user;
  const HkSpringArrays *springs = a->at->springs;
  for (int64_t s = begin; s < end; s++) {
    int64_t i = springs->i[s], j = springs->j[s];
    Spring q = look(a->at, s, i, j);
    double p[3], w[3], slope[3];
    if (!q.pulls) continue;
    difference(a->l, i, j, p);
    difference(a->w, i, j, w);
    if (q.meets) { /* K = k I, C = 0 */
      if (!a->damping) a->numbers->k[s] += a->at->scale * hk_dot(p, w);
      continue;
    }
    double along = hk_dot(p, q.u) * hk_dot(w, q.u);
    number_slopes(&q, a->damping, hk_dot(p, w) - along, along, slope);
    a->numbers->k[s] += a->at->scale * slope[0];
    a->numbers->l0[s] += a->at->scale * slope[1];
    if (a->numbers->damping) a->numbers->damping[s] += a->at->scale * slope[2];
  }
}

void hk_springs_pull_back_matrix(const HkSpringsAt *at, bool damping, const double *w,
                                 const double *l, double *to_x, const HkSpringNumbers *numbers) {
  const HkModel *m = at->model;
  Loop a = {.at = at, .l = l, .w = w, .to_x = to_x, .numbers = numbers, .damping = damping};
  hk_parallel_for(m->threads, m->n, pull_matrix_range, &a);
  hk_parallel_for(m->threads, m->springs.count, pull_matrix_numbers_range, &a);
}

static void push_matrix_range(void *user, int64_t begin, int64_t end) {
  const Loop *a = user;
  const HkModel *m = a->at->model;
  double scale = a->at->scale;
  for (int64_t i = begin; i < end; i++)
    for (int64_t e = m->adj_start[i]; e < m->adj_start[i + 1]; e++) {
      int64_t j = m->adj_vertex[e], s = m->adj_spring[e];
      Spring q = look(a->at, s, i, j);
      double w[3], dx[3], *out = a->out + 3 * i;
      if (!q.pulls) continue;
      difference(a->w, i, j, w);
      difference(a->dx, i, j, dx);
      if (q.meets) {
        if (!a->damping) hk_axpy(scale * a->numbers->k[s], w, out);
        continue;
      }
      MatrixSlope matrix = matrix_slope(&q, a->damping);
      double wu = hk_dot(w, q.u), du = hk_dot(dx, q.u);
      /* The bilinear forms of the head for p = each unit vector: across u, where C has no part, and
       * along u, where l0 has none. */
      double across[3], along[3];
      number_slopes(&q, a->damping, 1, 0, across);
      number_slopes(&q, a->damping, 0, 1, along);
      const HkSpringNumbers *n = a->numbers;
      double by_b = across[0] * n->k[s] + across[1] * n->l0[s];
      double by_u = along[0] * n->k[s] + along[2] * damping_of(n, s);
      add_across(&q, scale * (matrix.turn * du + by_b), w, out);
      add_across(&q, scale * matrix.lean * wu, dx, out);
      hk_axpy(scale * (matrix.lean * (hk_dot(w, dx) - wu * du) + by_u * wu), q.u, out);
    }
}

void hk_springs_push_forward_matrix(const HkSpringsAt *at, bool damping, const double *w,
                                    const double *dx, const HkSpringNumbers *numbers, double *out) {
  Loop a = {.at = at, .w = w, .dx = dx, .numbers = numbers, .out = out, .damping = damping};
  hk_parallel_for(at->model->threads, at->model->n, push_matrix_range, &a);
}
