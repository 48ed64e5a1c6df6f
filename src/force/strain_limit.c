/* Strain limits: min l0 <= l <= max l0 for chosen springs, by a barrier in steps that minimize.
 *
 * With w half the way from l0 to a limit, and y = (max l0 - l) / w or (l - min l0) / w,
 *
 *     E = stiffness k w^2 B(y),   B(y) = -(1 - y)^2 ln y  for y < 1,  else 0
 *
 * for each limit. E has continuous second derivatives, acts within the half of the way that is next
 * to the limit, and is infinite at the limit (Li et al. 2020, for contact). Below a small y_e it
 * goes on as its parabola about y_e, so that iterates may be beyond a limit: steps need no filter,
 * and motions may begin there. y_e begins at START, or at half of y at the start of the step if
 * that is less. At each iterate it shrinks to half of y where a spring is near its limit, and to
 * half of itself where it is beyond and not on its way back: a solution is on the barrier itself.
 *
 * A step that ends with a spring beyond its limit did not converge: the limits contradict each
 * other or the pins. Integrators whose steps forces correct have projections instead
 * (strain_projection.c). k and l0 are those of the step, without dampers.
 */
#include "force/strain_limit.h"

#include "base/vec.h"
#include "force/springs.h"

#include <string.h>

static const HkParam params[] = {
    HK_CHOSEN_SPRINGS(HkStrainLimitParams),
    HK_NUMBER(HkStrainLimitParams, min, "1", NAN, 0, 1,
              "least length over rest length; tension-only springs have none"),
    HK_NUMBER(HkStrainLimitParams, max, "1", NAN, 1, HK_MAX, "largest length over rest length"),
    HK_NUMBER(HkStrainLimitParams, stiffness, "1", 1, 1e-6, 1e12,
              "of the barrier, over that of the spring: larger ones hold further from the limit"),
};

/* A smaller end of the barrier is too stiff for linear systems in single precision; its parabola
 * holds a spring within its limit against a force of (max - 1) k l0 / SMALLEST. */
static const double START = 0.1, SMALLEST = 1e-4;

static HkStatus compile(HkModel *model, const void *chosen, void **data, HkError *error) {
  const HkStrainLimitParams *p = chosen;
  if (isnan(p->min) && isnan(p->max))
    return hk_fail_key(error, HK_ERROR_INVALID, "max",
                       "give \"max\", \"min\" or both: lengths over rest lengths, such as 1.05");
  if (p->min == 1 || p->max == 1)
    return hk_fail_key(error, HK_ERROR_INVALID, p->max == 1 ? "max" : "min",
                       "1 leaves springs no length to have; give %s",
                       p->max == 1 ? "more, such as 1.01" : "less, such as 0.99");
  return hk_chosen_springs_create(model, &p->select, p->springs, data, error);
}

/* ---- What a simulation knows of the chosen springs ---- */

typedef struct Limit {
  double l0, least, most; /* m; least 0, most INFINITY: no limit */
  double k;               /* N/m, of the barrier */
  double edge;            /* y_e */
  double y;               /* at the last iterate; 0 unless it was beyond the limit */
} Limit;

typedef struct Limits {
  int64_t count;
  Limit *limit;
} Limits;

static HkStatus create_state(const HkModel *m, const void *chosen_params, const void *data,
                             void **state, HkError *error) {
  const HkChosenSprings *chosen = data;
  Limits *limits = NULL;
  (void)chosen_params;
  HK_TRY(hk_alloc(&m->context, &limits, 1, sizeof *limits, "limits of springs", error));
  *state = limits;
  limits->count = chosen->count;
  return hk_alloc(&m->context, &limits->limit, chosen->count, sizeof *limits->limit,
                  "limits of springs", error);
}

static void destroy_state(const HkModel *m, void *state) {
  Limits *limits = state;
  hk_free(&m->context, &limits->limit);
  hk_free(&m->context, &limits);
}

static size_t state_bytes(const void *state) {
  const Limits *limits = state;
  return sizeof *limits + (size_t)limits->count * sizeof *limits->limit;
}

/* A length beside its limits: y and dy/dl (1/m) of the limit that is nearer; y >= 1: none acts. */
typedef struct Near {
  double y, rate;
} Near;

static Near near_limit(const Limit *limit, double l) {
  Near near = {1, 0};
  if (l > limit->l0 && limit->most < INFINITY) {
    near.rate = -2 / (limit->most - limit->l0);
    near.y = (l - limit->most) * near.rate;
  } else if (l < limit->l0 && limit->least > 0) {
    near.rate = 2 / (limit->l0 - limit->least);
    near.y = (l - limit->least) * near.rate;
  }
  return near;
}

/* Whether the barrier of a spring acts, from the square of its length. */
static bool acts(const Limit *limit, double square) {
  double longest = 0.5 * (limit->l0 + limit->most), shortest = 0;
  if (limit->least > 0) shortest = 0.5 * (limit->l0 + limit->least);
  return square > longest * longest || square < shortest * shortest;
}

/* B and its derivatives at y >= y_e, and on the parabola below. */
typedef struct Barrier {
  double B, slope, curvature;
} Barrier;

static Barrier barrier_at(double y, double edge) {
  double at = fmax(y, edge), rest = 1 - at, log_at = log(at);
  Barrier b = {.B = -rest * rest * log_at,
               .slope = 2 * rest * log_at - rest * rest / at,
               .curvature = -2 * log_at + 4 * rest / at + rest * rest / (at * at)};
  double beyond = fmin(y - edge, 0);
  b.B += beyond * (b.slope + 0.5 * beyond * b.curvature);
  b.slope += beyond * b.curvature;
  return b;
}

/* E (J) of a spring of length l, dE/dl (N) and d2E/dl2 (N/m). */
typedef struct Limited {
  double E, slope, curvature;
} Limited;

static Limited evaluate(const Limit *limit, double l) {
  Near near = near_limit(limit, l);
  if (near.y >= 1) return (Limited){0, 0, 0};
  Barrier b = barrier_at(near.y, limit->edge);
  double w2 = 1 / (near.rate * near.rate);
  return (Limited){limit->k * w2 * b.B, limit->k * w2 * b.slope * near.rate,
                   limit->k * b.curvature};
}

/* ---- Steps and iterates ---- */

typedef struct Loop {
  const HkForceArgs *a;
  const HkChosenSprings *chosen;
  Limit *limit;
  const double *to;
  double *pull; /* dE/dl / l of each spring of the model */
} Loop;

static Loop loop_of(const HkForceArgs *a) {
  return (Loop){.a = a, .chosen = a->data, .limit = ((Limits *)a->state)->limit};
}

/* d = x_i - x_j of chosen spring q; returns its square. */
static double difference(const Loop *loop, int64_t q, const double *x, double d[3]) {
  const HkSpringArrays *springs = &loop->a->model->springs;
  int32_t s = loop->chosen->spring[q];
  hk_sub(x + 3 * (int64_t)springs->i[s], x + 3 * (int64_t)springs->j[s], d);
  return hk_dot(d, d);
}

static void begin_range(void *user, int64_t begin, int64_t end) {
  const Loop *loop = user;
  const HkStrainLimitParams *p = loop->a->params;
  const HkSpringArrays *springs = loop->a->work.springs;
  for (int64_t q = begin; q < end; q++) {
    int32_t s = loop->chosen->spring[q];
    HkStrainBounds bounds = hk_strain_bounds(p, springs, s);
    double d[3], l = sqrt(difference(loop, q, loop->a->x, d));
    Limit *limit = &loop->limit[q];
    *limit = (Limit){.l0 = springs->l0[s],
                     .least = bounds.least,
                     .most = bounds.most,
                     .k = p->stiffness * springs->k[s],
                     .edge = START};
    double y = near_limit(limit, l).y;
    if (y > 0) limit->edge = fmax(fmin(START, 0.5 * y), SMALLEST);
  }
}

static HkStatus begin(const HkForceArgs *a, double h, HkError *error) {
  Loop loop = loop_of(a);
  (void)h;
  (void)error;
  if (!a->work.corrects) hk_parallel_for(a->model->threads, loop.chosen->count, begin_range, &loop);
  return HK_OK;
}

static void iterate_range(void *user, int64_t begin, int64_t end) {
  const double BEYOND = 0.5, AHEAD = 0.5, NEARER = 0.9;
  const Loop *loop = user;
  for (int64_t q = begin; q < end; q++) {
    double d[3], square = difference(loop, q, loop->a->x, d);
    Limit *limit = &loop->limit[q];
    double y = acts(limit, square) ? near_limit(limit, sqrt(square)).y : 1;
    bool returns = y >= NEARER * limit->y;
    double edge = y > 0 ? AHEAD * y : returns ? 1 : BEYOND * limit->edge;
    limit->edge = fmax(fmin(limit->edge, edge), SMALLEST);
    limit->y = fmin(y, 0);
  }
}

static HkStatus begin_iterate(const HkForceArgs *a, HkError *error) {
  Loop loop = loop_of(a);
  (void)error;
  if (!a->work.corrects)
    hk_parallel_for(a->model->threads, loop.chosen->count, iterate_range, &loop);
  return HK_OK;
}

/* The number of springs beyond their limits. */
static double beyond_range(void *user, int64_t begin, int64_t end) {
  const Loop *loop = user;
  double count = 0;
  for (int64_t q = begin; q < end; q++) {
    double d[3], square = difference(loop, q, loop->a->x, d);
    count += acts(&loop->limit[q], square) && near_limit(&loop->limit[q], sqrt(square)).y < 0;
  }
  return count;
}

static HkStatus end_step(const HkForceArgs *a, double h, HkError *error) {
  Loop loop = loop_of(a);
  (void)h;
  (void)error;
  if (a->work.corrects) return HK_OK;
  double beyond =
      hk_parallel_sum(a->model->threads, loop.chosen->count, beyond_range, &loop, a->work.sums);
  return beyond > 0 ? HK_NOT_CONVERGED : HK_OK;
}

/* ---- Energy, force, Hessian ---- */

static double energy_range(void *user, int64_t begin, int64_t end) {
  const Loop *loop = user;
  double sum = 0;
  for (int64_t q = begin; q < end; q++) {
    double d[3], square = difference(loop, q, loop->a->x, d);
    if (acts(&loop->limit[q], square)) sum += evaluate(&loop->limit[q], sqrt(square)).E;
  }
  return sum;
}

static double energy(const HkForceArgs *a) {
  Loop loop = loop_of(a);
  if (a->work.corrects) return 0;
  return hk_parallel_sum(a->model->threads, loop.chosen->count, energy_range, &loop, a->work.sums);
}

/* B(to) - B(y) with e = to - y, without cancellation: above y_e it is
 *
 *     e (2 - y - to) ln y - (1 - to)^2 ln(1 + e / y),
 *
 * below e (B'(y_e) + B''(y_e) (y + e / 2 - y_e)); a change across y_e has a part of each. */
static double barrier_change(double y, double e, double edge) {
  double to = y + e, sum = 0;
  bool across = (y < edge) != (to < edge);
  if (y >= edge || to >= edge) {
    double from = fmax(y, edge), end = fmax(to, edge), part = across ? end - from : e;
    sum += part * (2 - from - end) * log(from) - (1 - end) * (1 - end) * log1p(part / from);
  }
  if (y < edge || to < edge) {
    Barrier b = barrier_at(edge, edge);
    double from = fmin(y, edge), part = across ? fmin(to, edge) - from : e;
    sum += part * (b.slope + b.curvature * (from + 0.5 * part - edge));
  }
  return sum;
}

/* E at d = after less E at d = before; moved: after - before. */
static double change_of(const Limit *limit, const double before[3], const double after[3],
                        const double moved[3]) {
  double l = hk_norm(before), l_after = hk_norm(after), longer = 0;
  Near near = near_limit(limit, l), near_after = near_limit(limit, l_after);
  if (near.y >= 1 || near_after.y >= 1 || near.rate != near_after.rate)
    return evaluate(limit, l_after).E - evaluate(limit, l).E;
  for (int c = 0; c < 3; c++) longer += moved[c] * (after[c] + before[c]);
  double e = near.rate * longer / (l + l_after);
  return limit->k / (near.rate * near.rate) * barrier_change(near.y, e, limit->edge);
}

static double change_range(void *user, int64_t begin, int64_t end) {
  const Loop *loop = user;
  double sum = 0;
  for (int64_t q = begin; q < end; q++) {
    double d[3], after[3], square = difference(loop, q, loop->a->x, d);
    bool acted = acts(&loop->limit[q], square);
    if (!acts(&loop->limit[q], difference(loop, q, loop->to, after)) && !acted) continue;
    const HkSpringArrays *springs = &loop->a->model->springs;
    int64_t i = 3 * (int64_t)springs->i[loop->chosen->spring[q]];
    int64_t j = 3 * (int64_t)springs->j[loop->chosen->spring[q]];
    double move[3], other[3];
    hk_sub(loop->to + i, loop->a->x + i, move);
    hk_sub(loop->to + j, loop->a->x + j, other);
    hk_sub(move, other, move);
    sum += change_of(&loop->limit[q], d, after, move);
  }
  return sum;
}

static double energy_change(const HkForceArgs *a, const double *to) {
  Loop loop = loop_of(a);
  loop.to = to;
  if (a->work.corrects) return 0;
  return hk_parallel_sum(a->model->threads, loop.chosen->count, change_range, &loop, a->work.sums);
}

/* Sets pull; returns the number of springs whose barrier acts. */
static double pull_range(void *user, int64_t begin, int64_t end) {
  const Loop *loop = user;
  double count = 0;
  for (int64_t q = begin; q < end; q++) {
    int32_t s = loop->chosen->spring[q];
    double d[3], square = difference(loop, q, loop->a->x, d), l = sqrt(square);
    loop->pull[s] = 0;
    if (!acts(&loop->limit[q], square) || l < HK_SPRING_TINY) continue;
    loop->pull[s] = evaluate(&loop->limit[q], l).slope / l;
    count++;
  }
  return count;
}

typedef struct Gather {
  const HkForceArgs *a;
  const double *pull;
  double *f;
} Gather;

static void gather_range(void *user, int64_t begin, int64_t end) {
  const Gather *g = user;
  const HkModel *m = g->a->model;
  for (int64_t i = begin; i < end; i++)
    for (int64_t e = m->adj_start[i]; e < m->adj_start[i + 1]; e++) {
      double d[3], pull = g->pull[m->adj_spring[e]];
      if (pull == 0) continue;
      hk_sub(g->a->x + 3 * (int64_t)m->adj_vertex[e], g->a->x + 3 * i, d);
      hk_axpy(pull, d, g->f + 3 * i);
    }
}

static void add(const HkForceArgs *a, double *f) {
  const HkModel *m = a->model;
  Loop loop = loop_of(a);
  Gather gather = {a, a->work.scratch, f};
  if (a->work.corrects) return;
  loop.pull = a->work.scratch;
  if (loop.chosen->count < m->springs.count)
    memset(loop.pull, 0, (size_t)m->springs.count * sizeof *loop.pull);
  if (hk_parallel_sum(m->threads, loop.chosen->count, pull_range, &loop, a->work.sums) > 0)
    hk_parallel_for(m->threads, m->n, gather_range, &gather);
}

static int64_t scratch(const HkModel *model, const void *data) {
  int64_t projection = 4 * model->n; /* strain_projection.c */
  (void)data;
  return projection > model->springs.count ? projection : model->springs.count;
}

/* d2E/dx_i2 = E'' u u^T + E'/l (I - u u^T); the part across is negative where a spring is pressed,
 * and projected away if that is asked for. */
static void jacobian(const HkForceArgs *a, HkJacobianSink *sink) {
  const HkSpringArrays *springs = &a->model->springs;
  Loop loop = loop_of(a);
  for (int64_t q = 0; q < loop.chosen->count && !a->work.corrects; q++) {
    double u[3], square = difference(&loop, q, a->x, u), l = sqrt(square);
    if (!acts(&loop.limit[q], square) || l < HK_SPRING_TINY) continue;
    Limited limited = evaluate(&loop.limit[q], l);
    double across = limited.slope / l;
    double B[9], minus[9];
    int32_t s = loop.chosen->spring[q], i = springs->i[s], j = springs->j[s];
    if (a->curvature == HK_CURVATURE_PROJECTED) across = fmax(across, 0);
    for (int c = 0; c < 3; c++) u[c] /= l;
    hk_mat_identity(across, B);
    hk_mat_add_outer(limited.curvature - across, u, u, B);
    for (int c = 0; c < 9; c++) minus[c] = -B[c];
    sink->dfdx(sink, i, i, minus);
    sink->dfdx(sink, j, j, minus);
    sink->dfdx(sink, i, j, B);
    sink->dfdx(sink, j, i, B);
  }
}

static HkStatus correct(const HkForceArgs *a, HkStepEnd *end, HkError *error) {
  return hk_strain_project(a, end, error);
}

const HkForceType hk_force_strain_limit = {
    .schema = {.name = "strain_limit",
               .summary = "springs keep their lengths between limits; a barrier in backward_euler "
                          "and bdf2, projections in all other integrators",
               .formula =
                   "E = stiffness k w^2 B(y),  B(y) = -(1 - y)^2 ln y,  y = (max l0 - l) / w, "
                   " w = (max - 1) l0 / 2",
               HK_PARAMS(HkStrainLimitParams, params)},
    .slot = HK_ENERGY_OTHER,
    .compile = compile,
    .destroy = hk_chosen_springs_destroy,
    .bytes = hk_chosen_springs_bytes,
    .create_state = create_state,
    .destroy_state = destroy_state,
    .state_bytes = state_bytes,
    .begin_step = begin,
    .begin_query = begin,
    .begin_iterate = begin_iterate,
    .end_step = end_step,
    .correct = correct,
    .unbounded = true,
    .scratch = scratch,
    .energy = energy,
    .energy_change = energy_change,
    .add = add,
    .jacobian = jacobian,
};
