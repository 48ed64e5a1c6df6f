/* A handle: a spring without length that drags chosen vertices towards a target.
 *
 *     E = sum 1/2 k |x_i - T(t)|^2,   f_i = -k (x_i - T(t)) - c v_i for each selected i
 *     df_i/dx_i = -k I,   df_i/dv_i = -c I
 *
 * T in m is the vector target, or piecewise linear through the rows 't x y z' of a table, constant
 * before the first and after the last. k in N/m, c (damping) in N s/m, both of each vertex. Unlike
 * a pin it is compliant: springs can hold the vertex back, and the force is proportional to the
 * distance from the target. A table does work on the masses.
 */
#include "base/vec.h"
#include "force/chosen.h"
#include "force/params.h"
#include "model/part.h"

static const HkParam params[] = {
    HK_SELECT(HkHandleParams, select, "which vertices it drags"),
    HK_VECTOR(HkHandleParams, target, "m", 0, 0, 0, "where it drags each of them to"),
    HK_TABLE(HkHandleParams, table, "s, m", 4, "rows t x y z in place of target, linear between"),
    HK_NUMBER(HkHandleParams, k, "N/m", 100, 0, HK_MAX,
              "stiffness between each vertex and the target"),
    HK_NUMBER(HkHandleParams, damping, "N s/m", 0, 0, HK_MAX, "force per speed against the vertex"),
};

static HkStatus compile(HkModel *model, const void *chosen, void **data, HkError *error) {
  const HkHandleParams *p = chosen;
  return hk_chosen_create(model, &p->select, &p->table, data, error);
}

typedef struct Loop {
  const HkForceArgs *a;
  const HkChosen *chosen;
  double *f, target[3];
  const double *to; /* end of an energy change */
} Loop;

static Loop prepare(const HkForceArgs *a, double *f) {
  const HkHandleParams *p = a->params;
  Loop loop = {.a = a, .chosen = a->data, .f = f};
  hk_chosen_vector(&p->table, p->target, a->t, loop.target);
  return loop;
}

static void add_range(void *user, int64_t begin, int64_t end) {
  const Loop *loop = user;
  const HkHandleParams *p = loop->a->params;
  for (int64_t k = begin; k < end; k++) {
    int64_t i = 3 * (int64_t)loop->chosen->vertices[k];
    double d[3];
    hk_sub(loop->a->x + i, loop->target, d);
    hk_axpy(-p->k, d, loop->f + i);
    if (loop->a->v) hk_axpy(-p->damping, loop->a->v + i, loop->f + i);
  }
}

static void add(const HkForceArgs *a, double *f) {
  Loop loop = prepare(a, f);
  hk_parallel_for(a->model->threads, loop.chosen->count, add_range, &loop);
}

static double energy_range(void *user, int64_t begin, int64_t end) {
  const Loop *loop = user;
  const HkHandleParams *p = loop->a->params;
  double sum = 0;
  for (int64_t k = begin; k < end; k++) {
    double d[3];
    hk_sub(loop->a->x + 3 * (int64_t)loop->chosen->vertices[k], loop->target, d);
    sum += 0.5 * p->k * hk_dot(d, d);
  }
  return sum;
}

static double energy(const HkForceArgs *a) {
  Loop loop = prepare(a, NULL);
  return hk_sum_list(a->model, loop.chosen->count, energy_range, &loop, a->work.sums);
}

/* 1/2 k (x' - x) . (x' + x - 2 T) */
static double change_range(void *user, int64_t begin, int64_t end) {
  const Loop *loop = user;
  const HkHandleParams *p = loop->a->params;
  double sum = 0;
  for (int64_t k = begin; k < end; k++) {
    int64_t i = 3 * (int64_t)loop->chosen->vertices[k];
    double before[3], after[3], d[3];
    hk_sub(loop->a->x + i, loop->target, before);
    hk_sub(loop->to + i, loop->target, after);
    hk_sub(loop->to + i, loop->a->x + i, d);
    hk_axpy(1, before, after);
    sum += 0.5 * p->k * hk_dot(d, after);
  }
  return sum;
}

static double energy_change(const HkForceArgs *a, const double *to) {
  Loop loop = prepare(a, NULL);
  loop.to = to;
  return hk_sum_list(a->model, loop.chosen->count, change_range, &loop, a->work.sums);
}

static void jacobian(const HkForceArgs *a, HkJacobianSink *sink) {
  const HkHandleParams *p = a->params;
  const HkChosen *chosen = a->data;
  double B[9], D[9];
  hk_mat_identity(-p->k, B);
  hk_mat_identity(-p->damping, D);
  for (int64_t k = 0; k < chosen->count; k++) {
    int32_t i = chosen->vertices[k];
    sink->dfdx(sink, i, i, B);
    if (p->damping > 0) sink->dfdv(sink, i, i, D);
  }
}

static void columns(const HkForceArgs *a, HkColumnSink *sink) {
  const HkHandleParams *p = a->params;
  Loop loop = prepare(a, NULL);
  const double *number[2];
  double weight[2], column[3];
  int count = hk_chosen_numbers(&p->table, p->target, a->t, number, weight);
  for (int64_t q = 0; q < loop.chosen->count; q++) {
    int32_t i = loop.chosen->vertices[q];
    hk_sub(loop.target, a->x + 3 * (int64_t)i, column);
    sink->number(sink, i, &p->k, column);
    for (int c = 0; c < 3 && a->v; c++) column[c] = -a->v[3 * (int64_t)i + c];
    if (a->v) sink->number(sink, i, &p->damping, column);
    for (int k = 0; k < count; k++)
      for (int c = 0; c < 3; c++) {
        double along[3] = {0, 0, 0};
        along[c] = weight[k] * p->k;
        sink->number(sink, i, number[k] + c, along);
      }
  }
}

/* K w = k w and C w = c w at each chosen vertex. */
static void scale_columns(const HkForceArgs *a, const double *factor, const double *w,
                          HkColumnSink *sink) {
  const HkChosen *chosen = a->data;
  for (int64_t q = 0; q < chosen->count; q++)
    sink->number(sink, chosen->vertices[q], factor, w + 3 * (int64_t)chosen->vertices[q]);
}

static void stiffness_columns(const HkForceArgs *a, const double *w, HkColumnSink *sink) {
  scale_columns(a, &((const HkHandleParams *)a->params)->k, w, sink);
}

static void damping_columns(const HkForceArgs *a, const double *w, HkColumnSink *sink) {
  scale_columns(a, &((const HkHandleParams *)a->params)->damping, w, sink);
}

static bool uses_velocity(const HkSpringArrays *springs, const void *chosen) {
  (void)springs;
  return ((const HkHandleParams *)chosen)->damping > 0;
}

const HkForceType hk_force_handle = {
    .schema = {.name = "handle",
               .summary = "a spring without length that drags chosen vertices towards a target",
               .formula = "f_i = -k (x_i - target(t)) - c v_i,  E = sum 1/2 k |x_i - target(t)|^2",
               HK_PARAMS(HkHandleParams, params)},
    .on_device = HK_DEVICE_FORCE_HANDLE,
    .slot = HK_ENERGY_OTHER,
    .uses_velocity = uses_velocity,
    .compile = compile,
    .destroy = hk_chosen_destroy,
    .bytes = hk_chosen_bytes,
    .energy = energy,
    .quadratic = true,
    .energy_change = energy_change,
    .add = add,
    .jacobian = jacobian,
    .differentiable = "target|table|k|damping",
    .columns = columns,
    .stiffness_columns = stiffness_columns,
    .damping_columns = damping_columns,
};
