/* Drag of a medium at rest on every vertex.
 *
 *     f_i = -c_i v_i - quadratic |v_i| v_i,   c_i = linear + per_mass m_i
 *     df_i/dx_j = 0,   df_i/dv_i = -c_i I - quadratic (|v_i| I + v_i v_i^T / |v_i|)
 *
 * linear in N s/m, per_mass in 1/s, quadratic in N s^2/m^2. per_mass slows all masses alike, as
 * exp(-per_mass t), whatever the resolution. At v_i = 0 the quadratic part and its derivative are
 * 0. Power f_i . v_i is never positive. There is no potential energy.
 */
#include "base/vec.h"
#include "force/force.h"
#include "force/params.h"

static const HkParam params[] = {
    HK_NUMBER(HkDragParams, linear, "N s/m", NAN, 0, HK_MAX, "force on each vertex per speed"),
    HK_NUMBER(HkDragParams, per_mass, "1/s", NAN, 0, HK_MAX,
              "the same per kg of the vertex, alike at every resolution; 1 if nothing is given"),
    HK_NUMBER(HkDragParams, quadratic, "N s^2/m^2", NAN, 0, HK_MAX,
              "force on each vertex per square of the speed"),
};

HkDragParams hk_drag_given(const HkDragParams *p) {
  bool none = isnan(p->linear) && isnan(p->per_mass) && isnan(p->quadratic);
  HkDragParams d = {.linear = isnan(p->linear) ? 0 : p->linear,
                    .per_mass = isnan(p->per_mass) ? (none ? 1 : 0) : p->per_mass,
                    .quadratic = isnan(p->quadratic) ? 0 : p->quadratic};
  return d;
}

typedef struct Loop {
  const HkForceArgs *a;
  double *f;
  HkDragParams drag;
} Loop;

static void add_range(void *user, int64_t begin, int64_t end) {
  const Loop *loop = user;
  const HkDragParams *d = &loop->drag;
  const double *mass = loop->a->model->mass;
  for (int64_t i = begin; i < end; i++) {
    const double *v = loop->a->v + 3 * i;
    hk_axpy(-(d->linear + d->per_mass * mass[i] + d->quadratic * hk_norm(v)), v, loop->f + 3 * i);
  }
}

static void add(const HkForceArgs *a, double *f) {
  Loop loop = {a, f, hk_drag_given(a->params)};
  hk_parallel_for(a->model->threads, a->model->n, add_range, &loop);
}

static void jacobian(const HkForceArgs *a, HkJacobianSink *sink) {
  HkDragParams d = hk_drag_given(a->params);
  for (int64_t i = 0; i < a->model->n; i++) {
    const double *v = a->v + 3 * i;
    double speed = hk_norm(v), D[9];
    hk_mat_identity(-(d.linear + d.per_mass * a->model->mass[i] + d.quadratic * speed), D);
    if (speed > 0) hk_mat_add_outer(-d.quadratic / speed, v, v, D);
    sink->dfdv(sink, (int32_t)i, (int32_t)i, D);
  }
}

static void columns(const HkForceArgs *a, HkColumnSink *sink) {
  const HkDragParams *p = a->params;
  HkDragParams d = hk_drag_given(p);
  for (int64_t i = 0; i < a->model->n; i++) {
    const double *v = a->v + 3 * i;
    double speed = hk_norm(v), column[3];
    for (int c = 0; c < 3; c++) column[c] = -v[c];
    sink->number(sink, (int32_t)i, &p->linear, column);
    for (int c = 0; c < 3; c++) column[c] = -a->model->mass[i] * v[c];
    sink->number(sink, (int32_t)i, &p->per_mass, column);
    for (int c = 0; c < 3; c++) column[c] = -speed * v[c];
    sink->number(sink, (int32_t)i, &p->quadratic, column);
    for (int c = 0; c < 3; c++) column[c] = -d.per_mass * v[c];
    sink->mass(sink, (int32_t)i, column);
  }
}

/* C w = (c + q |v|) w + q (e . w) v with e = v / |v|, whose derivative with respect to v is
 * q [w e^T + (e . w) (I - e e^T) + e w^T]. */
static void damping_columns(const HkForceArgs *a, const double *all, HkColumnSink *sink) {
  const HkDragParams *p = a->params;
  HkDragParams d = hk_drag_given(p);
  for (int64_t i = 0; i < a->model->n; i++) {
    const double *v = a->v + 3 * i, *w = all + 3 * i;
    double speed = hk_norm(v), column[3], e[3] = {0, 0, 0}, B[9];
    for (int c = 0; c < 3 && speed > 0; c++) e[c] = v[c] / speed;
    double along = hk_dot(e, w);
    sink->number(sink, (int32_t)i, &p->linear, w);
    for (int c = 0; c < 3; c++) column[c] = a->model->mass[i] * w[c];
    sink->number(sink, (int32_t)i, &p->per_mass, column);
    for (int c = 0; c < 3; c++) column[c] = speed * w[c] + along * v[c];
    sink->number(sink, (int32_t)i, &p->quadratic, column);
    for (int c = 0; c < 3; c++) column[c] = d.per_mass * w[c];
    sink->mass(sink, (int32_t)i, column);
    if (d.quadratic == 0 || speed == 0) continue;
    hk_mat_identity(d.quadratic * along, B);
    hk_mat_add_outer(d.quadratic, w, e, B);
    hk_mat_add_outer(d.quadratic, e, w, B);
    hk_mat_add_outer(-d.quadratic * along, e, e, B);
    sink->blocks.dfdv(&sink->blocks, (int32_t)i, (int32_t)i, B);
  }
}

static bool uses_velocity(const HkSpringArrays *springs, const void *chosen) {
  (void)springs;
  HkDragParams d = hk_drag_given(chosen);
  return d.linear > 0 || d.per_mass > 0 || d.quadratic > 0;
}

const HkForceType hk_force_drag = {
    .schema = {.name = "drag",
               .summary = "a medium at rest slows every vertex down",
               .formula = "f_i = -(linear + per_mass m_i) v_i - quadratic |v_i| v_i",
               HK_PARAMS(HkDragParams, params)},
    .on_device = HK_DEVICE_FORCE_DRAG,
    .slot = HK_ENERGY_OTHER,
    .uses_velocity = uses_velocity,
    .add = add,
    .jacobian = jacobian,
    .differentiable = "linear|per_mass|quadratic",
    .columns = columns,
    .damping_columns = damping_columns,
};
