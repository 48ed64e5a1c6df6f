/* Weight: f_i = m_i g d, with the potential energy E = -sum m_i g d . x_i.
 *
 * d is the unit vector that points down (against the scene's up axis unless given), g in m/s^2. The
 * energy is 0 at the origin and grows with height. It is linear: the Jacobians are zero.
 */
#include "force/force.h"

#include "base/vec.h"
#include "model/part.h"

typedef struct Gravity {
  double g, direction[3];
} Gravity;

static const HkParam params[] = {
    HK_NUMBER(Gravity, g, "m/s^2", 9.81, 0, HK_MAX, "acceleration of free fall"),
    HK_VECTOR(Gravity, direction, "", 0, 0, 0, "where it pulls; 0 0 0: against the up axis"),
};

/* g d, the acceleration. */
static void acceleration(const HkForceArgs *a, double g[3]) {
  const Gravity *p = a->params;
  double sign = 1;
  if (!hk_unit(p->direction, g)) {
    hk_model_up(a->model, g);
    sign = -1;
  }
  for (int c = 0; c < 3; c++) g[c] *= sign * p->g;
}

typedef struct Loop {
  const HkForceArgs *a;
  double *f, g[3];
} Loop;

static void add_range(void *user, int64_t begin, int64_t end) {
  const Loop *loop = user;
  const double *mass = loop->a->model->mass;
  for (int64_t i = begin; i < end; i++) hk_axpy(mass[i], loop->g, loop->f + 3 * i);
}

static void add(const HkForceArgs *a, double *f) {
  Loop loop = {.a = a, .f = f};
  acceleration(a, loop.g);
  hk_parallel_for(a->model->threads, a->model->n, add_range, &loop);
}

static void accelerate(const HkForceArgs *a, double g[3]) {
  double own[3];
  acceleration(a, own);
  for (int c = 0; c < 3; c++) g[c] += own[c];
}

static double energy_range(void *user, int64_t begin, int64_t end) {
  const Loop *loop = user;
  const double *mass = loop->a->model->mass;
  double sum = 0;
  for (int64_t i = begin; i < end; i++) sum -= mass[i] * hk_dot(loop->g, loop->a->x + 3 * i);
  return sum;
}

static double energy(const HkForceArgs *a) {
  Loop loop = {.a = a};
  acceleration(a, loop.g);
  return hk_sum_vertices(a->model, energy_range, &loop, a->work.sums);
}

typedef struct Change {
  const HkForceArgs *a;
  const double *to;
  double g[3];
} Change;

static double change_range(void *user, int64_t begin, int64_t end) {
  const Change *p = user;
  double sum = 0, d[3];
  for (int64_t i = begin; i < end; i++) {
    hk_sub(p->to + 3 * i, p->a->x + 3 * i, d);
    sum -= p->a->model->mass[i] * hk_dot(p->g, d);
  }
  return sum;
}

static double energy_change(const HkForceArgs *a, const double *to) {
  Change p = {.a = a, .to = to};
  acceleration(a, p.g);
  return hk_sum_vertices(a->model, change_range, &p, a->work.sums);
}

/* Columns of the acceleration g d. d is a unit vector n / |n|, of which n is the parameter: dd/dn =
 * (I
 * - d d^T) / |n|, and there is no derivative at n = 0, which stands for another direction. */
static void columns(const HkForceArgs *a, HkColumnSink *sink) {
  const Gravity *p = a->params;
  double unit[3], column[3], length = hk_norm(p->direction);
  HkForceArgs one = *a;
  one.params = &(Gravity){1, {p->direction[0], p->direction[1], p->direction[2]}};
  acceleration(&one, unit);
  sink->number(sink, 0, &p->g, unit);
  for (int c = 0; c < 3; c++) {
    for (int k = 0; k < 3; k++)
      column[k] = length > 0 ? p->g / length * ((k == c ? 1 : 0) - unit[k] * unit[c]) : NAN;
    sink->number(sink, 0, &p->direction[c], column);
  }
}

const HkForceType hk_force_gravity = {
    .schema = {.name = "gravity",
               .summary = "weight of every mass",
               .formula = "f_i = m_i g d,  E = -sum m_i g d . x_i",
               HK_PARAMS(Gravity, params)},
    .on_device = HK_DEVICE_FORCE_GRAVITY,
    .slot = HK_ENERGY_GRAVITY,
    .energy = energy,
    .energy_change = energy_change,
    .add = add,
    .accelerate = accelerate,
    .differentiable = "g|direction",
    .columns = columns,
};
