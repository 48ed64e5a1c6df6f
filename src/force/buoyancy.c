/* Buoyancy of a fluid at rest below a level.
 *
 *     f_i = rho g V_i s(d_i) up,   d_i = level - x_i . up,   V_i = m_i / body_density
 *     s(d) = clamp(d / thickness + 1/2, 0, 1)
 *     E = sum rho g V_i S(d_i),   S(d) = 0 | thickness / 2 (d / thickness + 1/2)^2 | d
 *     df_i/dx_i = -(rho g V_i / thickness) up up^T while 0 < s < 1, else 0
 *
 * rho is fluid_density (kg/m^3), d the depth (m), V_i the volume that a vertex displaces (m^3). A
 * vertex is submerged over a layer of the given thickness (m), centered at the level: s is
 * continuous, S its integral (dry, in the layer, submerged), with S and S' continuous, and f =
 * -dE/dx exactly. A floating mass rests where s = body_density / fluid_density, that is at the
 * depth thickness (s - 1/2). gravity.c has the weight, drag.c the resistance.
 */
#include "base/vec.h"
#include "force/force.h"
#include "force/params.h"
#include "model/part.h"

static const HkParam params[] = {
    HK_NUMBER(HkBuoyancyParams, fluid_density, "kg/m^3", 1000, 0, HK_MAX, "density of the fluid"),
    HK_NUMBER(HkBuoyancyParams, body_density, "kg/m^3", 500, 1e-9, HK_MAX,
              "density of the body: a vertex displaces its mass divided by this"),
    HK_NUMBER(HkBuoyancyParams, level, "m", 0, -HK_MAX, HK_MAX,
              "height of the surface on the up axis"),
    HK_NUMBER(HkBuoyancyParams, thickness, "m", 0.1, 1e-9, HK_MAX,
              "height over which a vertex goes from dry to submerged"),
    HK_NUMBER(HkBuoyancyParams, g, "m/s^2", 9.81, 0, HK_MAX, "acceleration of free fall"),
};

typedef struct Loop {
  const HkForceArgs *a;
  double *f;
} Loop;

/* depth / thickness + 1/2: below 0 dry, above 1 submerged. */
static inline double wetness(const HkForceArgs *a, int64_t i) {
  const HkBuoyancyParams *p = a->params;
  return (p->level - a->x[3 * i + a->model->up]) / p->thickness + 0.5;
}

/* rho g V_i: the lift of a submerged vertex (N). */
static inline double full_lift(const HkForceArgs *a, int64_t i) {
  const HkBuoyancyParams *p = a->params;
  return p->fluid_density * p->g * a->model->mass[i] / p->body_density;
}

static void add_range(void *user, int64_t begin, int64_t end) {
  const Loop *loop = user;
  int up = loop->a->model->up;
  for (int64_t i = begin; i < end; i++)
    loop->f[3 * i + up] += full_lift(loop->a, i) * fmin(fmax(wetness(loop->a, i), 0), 1);
}

static void add(const HkForceArgs *a, double *f) {
  Loop loop = {a, f};
  hk_parallel_for(a->model->threads, a->model->n, add_range, &loop);
}

static double energy_range(void *user, int64_t begin, int64_t end) {
  const HkForceArgs *a = ((const Loop *)user)->a;
  const HkBuoyancyParams *p = a->params;
  double sum = 0;
  for (int64_t i = begin; i < end; i++) {
    double s = wetness(a, i);
    if (s <= 0) continue;
    sum += full_lift(a, i) * p->thickness * (s < 1 ? 0.5 * s * s : s - 0.5);
  }
  return sum;
}

static double energy(const HkForceArgs *a) {
  Loop loop = {a, NULL};
  return hk_sum_vertices(a->model, energy_range, &loop, a->work.sums);
}

typedef struct Change {
  const HkForceArgs *before, *after;
} Change;

/* With s = 1/2 + d / thickness and r = clamp(s, 0, 1): S = thickness (r s - r^2 / 2), and
 * S' - S = thickness ((s' - s) (r' + r) / 2 + (r' - r) (s' + s - r' - r) / 2). The second part is 0
 * unless the vertex passes a kink. */
static double change_range(void *user, int64_t begin, int64_t end) {
  const Change *p = user;
  const HkBuoyancyParams *b = p->before->params;
  int up = p->before->model->up;
  double sum = 0;
  for (int64_t i = begin; i < end; i++) {
    double s = wetness(p->before, i), t = wetness(p->after, i);
    double r = fmin(fmax(s, 0), 1), u = fmin(fmax(t, 0), 1);
    double rise = p->after->x[3 * i + up] - p->before->x[3 * i + up];
    double part = -rise * (r + u) / 2 + b->thickness * (u - r) * (s + t - r - u) / 2;
    sum += full_lift(p->before, i) * part;
  }
  return sum;
}

static double energy_change(const HkForceArgs *a, const double *to) {
  HkForceArgs after = *a;
  after.x = to;
  Change p = {a, &after};
  return hk_sum_vertices(a->model, change_range, &p, a->work.sums);
}

static void jacobian(const HkForceArgs *a, HkJacobianSink *sink) {
  const HkBuoyancyParams *p = a->params;
  for (int64_t i = 0; i < a->model->n; i++) {
    double s = wetness(a, i), B[9] = {0};
    if (!(s > 0 && s < 1)) continue;
    B[4 * a->model->up] = -full_lift(a, i) / p->thickness;
    sink->dfdx(sink, (int32_t)i, (int32_t)i, B);
  }
}

/* Derivatives of L shape with L = rho g m / rho_b, the lift of a submerged vertex. */
static void lift_columns(const HkForceArgs *a, int64_t i, const double shape[3],
                         HkColumnSink *sink) {
  const HkBuoyancyParams *p = a->params;
  double m = a->model->mass[i], volume = m / p->body_density;
  const double *number[] = {&p->fluid_density, &p->g, &p->body_density};
  double slope[] = {p->g * volume, p->fluid_density * volume, -full_lift(a, i) / p->body_density};
  double column[3];
  for (int k = 0; k < 3; k++) {
    for (int c = 0; c < 3; c++) column[c] = slope[k] * shape[c];
    sink->number(sink, (int32_t)i, number[k], column);
  }
  for (int c = 0; c < 3; c++) column[c] = full_lift(a, i) / m * shape[c];
  sink->mass(sink, (int32_t)i, column);
}

/* In the layer ds/dlevel = 1 / thickness and ds/dthickness = -(s - 1/2) / thickness. */
static void columns(const HkForceArgs *a, HkColumnSink *sink) {
  const HkBuoyancyParams *p = a->params;
  int up = a->model->up;
  for (int64_t i = 0; i < a->model->n; i++) {
    double s = wetness(a, i), along[3] = {0, 0, 0};
    along[up] = fmin(fmax(s, 0), 1);
    lift_columns(a, i, along, sink);
    if (!(s > 0 && s < 1)) continue;
    along[up] = full_lift(a, i) / p->thickness;
    sink->number(sink, (int32_t)i, &p->level, along);
    along[up] *= 0.5 - s;
    sink->number(sink, (int32_t)i, &p->thickness, along);
  }
}

static void stiffness_columns(const HkForceArgs *a, const double *w, HkColumnSink *sink) {
  const HkBuoyancyParams *p = a->params;
  int up = a->model->up;
  for (int64_t i = 0; i < a->model->n; i++) {
    double s = wetness(a, i), along[3] = {0, 0, 0};
    if (!(s > 0 && s < 1)) continue;
    along[up] = w[3 * i + up] / p->thickness;
    lift_columns(a, i, along, sink);
    along[up] *= -full_lift(a, i) / p->thickness;
    sink->number(sink, (int32_t)i, &p->thickness, along);
  }
}

const HkForceType hk_force_buoyancy = {
    .schema = {.name = "buoyancy",
               .summary = "lift of a fluid at rest on what is below its level",
               .formula = "f_i = rho g V_i s up,  s = clamp(depth / thickness + 1/2, 0, 1)",
               HK_PARAMS(HkBuoyancyParams, params)},
    .on_device = HK_DEVICE_FORCE_BUOYANCY,
    .slot = HK_ENERGY_OTHER,
    .energy = energy,
    .energy_change = energy_change,
    .add = add,
    .jacobian = jacobian,
    .differentiable = "fluid_density|body_density|level|thickness|g",
    .columns = columns,
    .stiffness_columns = stiffness_columns,
};
