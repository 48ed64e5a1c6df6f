/* A given force on chosen vertices, constant or changing in time.
 *
 *     f_i = F(t) for each selected i,   E = -sum F(t) . x_i
 *
 * F in N is the vector force, or piecewise linear through the rows 't fx fy fz' of a table,
 * constant before the first and after the last. The force does not depend on x or v: the Jacobians
 * are zero. If F changes in time, so does E, and the total energy is not conserved: the load does
 * work.
 */
#include "base/vec.h"
#include "force/chosen.h"
#include "force/params.h"
#include "model/part.h"

static const HkParam params[] = {
    HK_SELECT(HkPointLoadParams, select, "which vertices it pulls at"),
    HK_VECTOR(HkPointLoadParams, force, "N", 0, 0, 0, "force on each of them"),
    HK_TABLE(HkPointLoadParams, table, "s, N", 4,
             "rows t fx fy fz in place of force, linear between"),
};

static HkStatus compile(HkModel *model, const void *chosen, void **data, HkError *error) {
  const HkPointLoadParams *p = chosen;
  return hk_chosen_create(model, &p->select, &p->table, data, error);
}

typedef struct Loop {
  const HkForceArgs *a;
  const HkChosen *chosen;
  double *f, load[3];
  const double *to; /* end of an energy change */
} Loop;

static Loop prepare(const HkForceArgs *a, double *f) {
  const HkPointLoadParams *p = a->params;
  Loop loop = {.a = a, .chosen = a->data, .f = f};
  hk_chosen_vector(&p->table, p->force, a->t, loop.load);
  return loop;
}

static void add_range(void *user, int64_t begin, int64_t end) {
  const Loop *loop = user;
  const int32_t *vertices = loop->chosen->vertices;
  for (int64_t k = begin; k < end; k++) hk_axpy(1, loop->load, loop->f + 3 * (int64_t)vertices[k]);
}

static void add(const HkForceArgs *a, double *f) {
  Loop loop = prepare(a, f);
  hk_parallel_for(a->model->threads, loop.chosen->count, add_range, &loop);
}

static double energy_range(void *user, int64_t begin, int64_t end) {
  const Loop *loop = user;
  const int32_t *vertices = loop->chosen->vertices;
  double sum = 0;
  for (int64_t k = begin; k < end; k++)
    sum -= hk_dot(loop->load, loop->a->x + 3 * (int64_t)vertices[k]);
  return sum;
}

static double energy(const HkForceArgs *a) {
  Loop loop = prepare(a, NULL);
  return hk_sum_list(a->model, loop.chosen->count, energy_range, &loop, a->work.sums);
}

static double change_range(void *user, int64_t begin, int64_t end) {
  const Loop *loop = user;
  double sum = 0, d[3];
  for (int64_t k = begin; k < end; k++) {
    int64_t i = 3 * (int64_t)loop->chosen->vertices[k];
    hk_sub(loop->to + i, loop->a->x + i, d);
    sum -= hk_dot(loop->load, d);
  }
  return sum;
}

static double energy_change(const HkForceArgs *a, const double *to) {
  Loop loop = prepare(a, NULL);
  loop.to = to;
  return hk_sum_list(a->model, loop.chosen->count, change_range, &loop, a->work.sums);
}

static void columns(const HkForceArgs *a, HkColumnSink *sink) {
  const HkPointLoadParams *p = a->params;
  const HkChosen *chosen = a->data;
  const double *number[2];
  double weight[2];
  int count = hk_chosen_numbers(&p->table, p->force, a->t, number, weight);
  for (int64_t q = 0; q < chosen->count; q++)
    for (int k = 0; k < count; k++)
      for (int c = 0; c < 3; c++) {
        double along[3] = {0, 0, 0};
        along[c] = weight[k];
        sink->number(sink, chosen->vertices[q], number[k] + c, along);
      }
}

const HkForceType hk_force_point_load = {
    .schema = {.name = "point_load",
               .summary = "a given force on chosen vertices, constant or from a table in time",
               .formula = "f_i = F(t),  E = -sum F(t) . x_i",
               HK_PARAMS(HkPointLoadParams, params)},
    .on_device = HK_DEVICE_FORCE_POINT_LOAD,
    .slot = HK_ENERGY_OTHER,
    .compile = compile,
    .destroy = hk_chosen_destroy,
    .bytes = hk_chosen_bytes,
    .energy = energy,
    .energy_change = energy_change,
    .add = add,
    .differentiable = "force|table",
    .columns = columns,
};
