/* Hooke springs with damping along their length.
 *
 *     E = 1/2 k (l - l0)^2,   d = xi - xj, l = |d|, u = d / l, w = vi - vj, P = I - u u^T
 *     f_i = -k (l - l0) u - c (w . u) u = -f_j
 *     df_i/dxi = -k [u u^T + (1 - l0 / l) P] - c / l [u (P w)^T + (w . u) P] = -df_i/dxj
 *     df_i/dvi = -c u u^T = -df_i/dvj
 *
 * k in N/m, c in N s/m. A tension-only spring exerts no force while l < l0, nor while its damping
 * exceeds its tension: it never pushes. Where the ends meet (l = 0) the direction is undefined: the
 * force is taken as 0 and the Hessian as k I, which is exact for l0 = 0. Forces are gathered per
 * vertex, each spring being computed twice: cheaper than synchronized writes to both ends.
 */
#include "force/springs.h"

#include "base/vec.h"
#include "model/part.h"

typedef struct Loop {
  const HkForceArgs *a;
  double *f;
  bool fresh;
} Loop;

static inline bool is_slack(const HkSpringArrays *springs, int64_t s, double l) {
  return springs->tension && springs->tension[s] && l < springs->l0[s];
}

static void add_range(void *user, int64_t begin, int64_t end) {
  const Loop *loop = user;
  const HkForceArgs *a = loop->a;
  HkSpringRowsArgs rows = {
      .rows = a->work.rows, .x = a->x, .v = a->v, .f = loop->f, .fresh = loop->fresh};
  a->work.kernels->pull(&rows, begin, end);
}

static void pull_all(const HkForceArgs *a, double *f, bool fresh) {
  Loop loop = {a, f, fresh};
  hk_parallel_work(a->model->threads, a->work.rows->groups, HK_ROW_GRAIN, add_range, &loop);
}

static void add(const HkForceArgs *a, double *f) {
  pull_all(a, f, false);
}

static void set(const HkForceArgs *a, double *f) {
  pull_all(a, f, true);
}

static double energy_range(void *user, int64_t begin, int64_t end) {
  const HkForceArgs *a = user;
  const HkSpringArrays *springs = a->work.springs;
  double sum = 0;
  for (int64_t s = begin; s < end; s++) {
    double l = hk_distance(a->x + 3 * (int64_t)springs->i[s], a->x + 3 * (int64_t)springs->j[s]);
    if (is_slack(springs, s, l)) continue;
    double stretch = l - springs->l0[s];
    sum += 0.5 * springs->k[s] * stretch * stretch;
  }
  return sum;
}

static double energy(const HkForceArgs *a) {
  HkForceArgs copy = *a;
  return hk_sum_springs(a->model, a->work.springs->count, energy_range, &copy, a->work.sums);
}

/* E(after) - E(before) of spring s, whose difference of ends changes from d to e = d + moved: 1/2 k
 * (l' - l) (l' + l - 2 l0) with l' - l = moved . (d + e) / (l' + l), which has no cancellation. */
static double spring_change(const HkSpringArrays *springs, int64_t s, const double d[3],
                            const double e[3], const double moved[3]) {
  double l = hk_norm(d), after = hk_norm(e), l0 = springs->l0[s], along = 0;
  for (int c = 0; c < 3; c++) along += moved[c] * (d[c] + e[c]);
  double longer = l + after > 0 ? along / (l + after) : 0;
  bool slack = is_slack(springs, s, l), slack_after = is_slack(springs, s, after);
  if (slack && slack_after) return 0;
  if (slack) return 0.5 * springs->k[s] * (after - l0) * (after - l0);
  if (slack_after) return -0.5 * springs->k[s] * (l - l0) * (l - l0);
  return 0.5 * springs->k[s] * longer * ((l - l0) + (after - l0));
}

void hk_springs_add_bounds(const HkModel *m, const HkSpringArrays *springs, int64_t i, double *k,
                           double *damping) {
  for (int64_t e = m->adj_start[i]; e < m->adj_start[i + 1]; e++) {
    *k += springs->k[m->adj_spring[e]];
    if (springs->damping) *damping += springs->damping[m->adj_spring[e]];
  }
}

double hk_springs_pressure(const HkModel *m, const HkSpringArrays *springs, const double *x,
                           int64_t i) {
  double pressure = 0;
  for (int64_t e = m->adj_start[i]; e < m->adj_start[i + 1]; e++) {
    int64_t s = m->adj_spring[e];
    double l = hk_distance(x + 3 * i, x + 3 * (int64_t)m->adj_vertex[e]);
    bool pressed = l < springs->l0[s] && !(springs->tension && springs->tension[s]);
    if (pressed) pressure += 2 * springs->k[s] * (springs->l0[s] / fmax(l, HK_SPRING_TINY) - 1);
  }
  return pressure;
}

typedef struct Change {
  const HkForceArgs *a;
  const double *to;
} Change;

static double change_range(void *user, int64_t begin, int64_t end) {
  const Change *c = user;
  HkSpringRowsArgs rows = {.rows = c->a->work.rows, .x = c->a->x, .to = c->to};
  return c->a->work.kernels->change(&rows, begin, end);
}

/* Spring by spring, for parts: rows of ghosts do not count. */
static double change_springs_range(void *user, int64_t begin, int64_t end) {
  const Change *c = user;
  const HkSpringArrays *springs = c->a->work.springs;
  double sum = 0;
  for (int64_t s = begin; s < end; s++) {
    int64_t i = 3 * (int64_t)springs->i[s], j = 3 * (int64_t)springs->j[s];
    double before[3], after[3], from[3], to[3], moved[3];
    hk_sub(c->a->x + i, c->a->x + j, before);
    hk_sub(c->to + i, c->to + j, after);
    hk_sub(c->to + i, c->a->x + i, from);
    hk_sub(c->to + j, c->a->x + j, to);
    hk_sub(from, to, moved);
    sum += spring_change(springs, s, before, after, moved);
  }
  return sum;
}

static double energy_change(const HkForceArgs *a, const double *to) {
  enum { GRAIN = HK_BLOCK / HK_ROW_GROUP }; /* as many sums as over the vertices */
  Change c = {a, to};
  if (a->model->part)
    return hk_sum_springs(a->model, a->work.springs->count, change_springs_range, &c, a->work.sums);
  return hk_parallel_work_sum(a->model->threads, a->work.rows->groups, GRAIN, change_range, &c,
                              a->work.sums);
}

void hk_spring_hessian(const HkSpringArrays *springs, int64_t s, const double *x, double projection,
                       double H[9]) {
  double u[3];
  hk_sub(x + 3 * (int64_t)springs->i[s], x + 3 * (int64_t)springs->j[s], u);
  double l = hk_norm(u), k = springs->k[s];
  if (is_slack(springs, s, l)) k = 0;
  if (l < HK_SPRING_TINY) {
    hk_mat_identity(k, H);
    return;
  }
  for (int c = 0; c < 3; c++) u[c] /= l;
  double across = k * (1 - springs->l0[s] / l);
  if (across < 0) across *= 1 - projection;
  hk_mat_identity(across, H);
  hk_mat_add_outer(k - across, u, u, H);
}

typedef struct Turned {
  const HkModel *model;
  const HkSpringArrays *springs;
  const double *x, *to;
  double *f;
} Turned;

static void turned_range(void *user, int64_t begin, int64_t end) {
  const Turned *a = user;
  const HkModel *m = a->model;
  const HkSpringArrays *springs = a->springs;
  for (int64_t i = begin; i < end; i++) {
    double sum[3] = {0, 0, 0};
    for (int64_t e = m->adj_start[i]; e < m->adj_start[i + 1]; e++) {
      int64_t j = m->adj_vertex[e], s = m->adj_spring[e];
      double d[3], after[3], move[3];
      hk_sub(a->x + 3 * i, a->x + 3 * j, d);
      hk_sub(a->to + 3 * i, a->to + 3 * j, after);
      hk_sub(after, d, move);
      double l = hk_norm(d), l_after = hk_norm(after);
      if (l < HK_SPRING_TINY || is_slack(springs, s, l_after)) continue;
      /* l'^2 = (l + u . move)^2 + |move|^2 - (u . move)^2, so that l' - (l + u . move) is a
       * quotient with the perpendicular part, without cancellation */
      double along = hk_dot(d, move) / l, across = hk_dot(move, move) - along * along;
      double longer = across / (l_after + fabs(l + along));
      hk_axpy(-springs->k[s] * longer / l, d, sum);
    }
    for (int c = 0; c < 3; c++) a->f[3 * i + c] = sum[c];
  }
}

void hk_springs_turned(const HkModel *model, const HkSpringArrays *springs, const double *x,
                       const double *to, double *f) {
  Turned a = {model, springs, x, to, f};
  hk_parallel_for(model->threads, model->n, turned_range, &a);
}

void hk_spring_along(const HkSpringArrays *springs, int64_t s, const double *x, double H[9]) {
  double u[3];
  hk_sub(x + 3 * (int64_t)springs->i[s], x + 3 * (int64_t)springs->j[s], u);
  double l = hk_norm(u);
  hk_mat_identity(0, H);
  if (l >= HK_SPRING_TINY) hk_mat_add_outer(springs->k[s] / (l * l), u, u, H);
}

bool hk_springs_tighten(const HkSpringArrays *springs, const double *x, const double *to,
                        uint8_t *taut) {
  bool any = false;
  for (int64_t s = 0; s < springs->count; s++) {
    int64_t i = 3 * (int64_t)springs->i[s], j = 3 * (int64_t)springs->j[s];
    if (taut[s] || !is_slack(springs, s, hk_distance(x + i, x + j))) continue;
    if (is_slack(springs, s, hk_distance(to + i, to + j))) continue;
    taut[s] = 1;
    any = true;
  }
  return any;
}

void hk_springs_push_taut(const HkSpringArrays *springs, const double *x, const uint8_t *taut,
                          double scale, double *f) {
  for (int64_t s = 0; s < springs->count; s++) {
    int64_t i = 3 * (int64_t)springs->i[s], j = 3 * (int64_t)springs->j[s];
    double d[3];
    if (!taut[s]) continue;
    hk_sub(x + i, x + j, d);
    double l = hk_norm(d);
    if (l < HK_SPRING_TINY) continue;
    hk_axpy(scale * springs->k[s] * (springs->l0[s] - l) / l, d, f + i);
    hk_axpy(-scale * springs->k[s] * (springs->l0[s] - l) / l, d, f + j);
  }
}

/* Damping part of df_i/dxi (A) and df_i/dvi (D). */
static void damping_blocks(const HkForceArgs *a, int64_t s, double A[9], double D[9]) {
  const HkSpringArrays *springs = a->work.springs;
  int64_t i = 3 * (int64_t)springs->i[s], j = 3 * (int64_t)springs->j[s];
  double u[3], w[3];
  hk_sub(a->x + i, a->x + j, u);
  hk_sub(a->v + i, a->v + j, w);
  hk_mat_identity(0, A);
  hk_mat_identity(0, D);
  double l = hk_norm(u), c = springs->damping[s];
  if (l < HK_SPRING_TINY || is_slack(springs, s, l)) return;
  for (int axis = 0; axis < 3; axis++) u[axis] /= l;
  double speed = hk_dot(w, u);
  hk_mat_identity(-c / l * speed, A);
  hk_mat_add_outer(c / l * speed, u, u, A);
  hk_axpy(-speed, u, w); /* w is P w from here on */
  hk_mat_add_outer(-c / l, u, w, A);
  hk_mat_add_outer(-c, u, u, D);
}

/* Returns whether a tension-only spring exerts no force because its damping exceeds its tension. */
static bool is_idle(const HkForceArgs *a, int64_t s) {
  const HkSpringArrays *springs = a->work.springs;
  int64_t i = 3 * (int64_t)springs->i[s], j = 3 * (int64_t)springs->j[s];
  double d[3], w[3];
  if (!springs->tension || !springs->tension[s] || !springs->damping || !a->v) return false;
  hk_sub(a->x + i, a->x + j, d);
  hk_sub(a->v + i, a->v + j, w);
  double l = fmax(hk_norm(d), HK_SPRING_TINY);
  return springs->k[s] * (l - springs->l0[s]) + springs->damping[s] * hk_dot(w, d) / l < 0;
}

typedef void SinkFn(HkJacobianSink *sink, int32_t i, int32_t j, const double block[9]);

/* Adds the block B at (i,i) and (j,j), -B at (i,j) and (j,i). */
static void add_blocks(HkJacobianSink *sink, SinkFn *into, int32_t i, int32_t j,
                       const double B[9]) {
  double minus[9];
  for (int k = 0; k < 9; k++) minus[k] = -B[k];
  into(sink, i, i, B);
  into(sink, j, j, B);
  into(sink, i, j, minus);
  into(sink, j, i, minus);
}

static void jacobian(const HkForceArgs *a, HkJacobianSink *sink) {
  const HkSpringArrays *springs = a->work.springs;
  for (int64_t s = 0; s < springs->count; s++) {
    double B[9];
    if (is_idle(a, s)) continue;
    hk_spring_hessian(springs, s, a->x, 0, B);
    for (int k = 0; k < 9; k++) B[k] = -B[k];
    add_blocks(sink, sink->dfdx, springs->i[s], springs->j[s], B);
    if (!a->v || !springs->damping || springs->damping[s] == 0) continue;
    double A[9], D[9];
    damping_blocks(a, s, A, D);
    add_blocks(sink, sink->dfdx, springs->i[s], springs->j[s], A);
    add_blocks(sink, sink->dfdv, springs->i[s], springs->j[s], D);
  }
}

/* ---- As functions of one vertex (HkLocalForce) ---- */

static void add_local(const HkForceArgs *a, int64_t i, double f[3]) {
  const HkModel *m = a->model;
  const HkSpringArrays *springs = a->work.springs;
  double sum[3] = {0, 0, 0};
  for (int64_t e = m->adj_start[i]; e < m->adj_start[i + 1]; e++) {
    int64_t j = m->adj_vertex[e], s = m->adj_spring[e];
    double d[3];
    hk_sub(a->x + 3 * i, a->x + 3 * j, d);
    double l = fmax(hk_norm(d), HK_SPRING_TINY); /* d = 0 gives 0 */
    if (!is_slack(springs, s, l)) hk_axpy(springs->k[s] * (springs->l0[s] - l) / l, d, sum);
  }
  for (int c = 0; c < 3; c++) f[c] += sum[c];
}

static void add_local_hessian(const HkForceArgs *a, int64_t i, HkCurvature curvature, double scale,
                              double H[9]) {
  const HkModel *m = a->model;
  const HkSpringArrays *springs = a->work.springs;
  double B[9], projection = curvature == HK_CURVATURE_PROJECTED ? 1 : 0;
  for (int64_t e = m->adj_start[i]; e < m->adj_start[i + 1]; e++) {
    if (curvature == HK_CURVATURE_BOUND)
      hk_mat_identity(springs->k[m->adj_spring[e]], B);
    else
      hk_spring_hessian(springs, m->adj_spring[e], a->x, projection, B);
    for (int c = 0; c < 9; c++) H[c] += scale * B[c];
  }
}

static double local_change(const HkForceArgs *a, int64_t i, const double p[3]) {
  const HkModel *m = a->model;
  double sum = 0;
  for (int64_t at = m->adj_start[i]; at < m->adj_start[i + 1]; at++) {
    double d[3], e[3];
    hk_sub(a->x + 3 * i, a->x + 3 * (int64_t)m->adj_vertex[at], d);
    for (int c = 0; c < 3; c++) e[c] = d[c] + p[c];
    sum += spring_change(a->work.springs, m->adj_spring[at], d, e, p);
  }
  return sum;
}

static const HkLocalForce local = {
    .add = add_local, .add_hessian = add_local_hessian, .change = local_change};

static bool uses_velocity(const HkSpringArrays *springs, const void *params) {
  (void)params;
  return springs->damping != NULL;
}

const HkForceType hk_force_springs = {
    .schema = {.name = "springs",
               .summary = "the springs of all bodies; always there, set in each body",
               .formula = "f_i = -(k (l - l0) + c (vi - vj) . u) u,  u = (xi - xj) / l"},
    .on_device = HK_DEVICE_FORCE_SPRINGS,
    .slot = HK_ENERGY_SPRING,
    .has_rows = true,
    .uses_velocity = uses_velocity,
    .local = &local,
    .energy = energy,
    .energy_change = energy_change,
    .add = add,
    .set = set,
    .jacobian = jacobian,
    .differentiable = "", /* their arrays: adjoint/spring_products.c */
};
