/* Wind on vertices, whatever they belong to: threads, nets, solids.
 *
 *     f_i = c_i (u(t) - v_i),   c_i = drag + per_mass m_i,   u(t) = velocity (1 + gust s(t))
 *     df_i/dx_j = 0,   df_i/dv_i = -c_i I
 *
 * drag in N s/m, per_mass in 1/s, u in m/s, s(t) of gust.c. The force is linear in the speed of the
 * air past the vertex, so that the velocity of a free mass approaches that of the air as exp(-c_i t
 * / m_i). With drag the total force grows with the number of vertices; with per_mass it is that of
 * the total mass at every resolution. There is no potential energy. Cloth in the wind: see
 * face_wind.c.
 */
#include "base/vec.h"
#include "force/force.h"
#include "force/gust.h"
#include "force/params.h"

static const HkParam params[] = {
    HK_GUST_PARAMS(HkWindParams),
    HK_NUMBER(HkWindParams, drag, "N s/m", NAN, 0, HK_MAX,
              "force on each vertex per speed of the air past it"),
    HK_NUMBER(HkWindParams, per_mass, "1/s", NAN, 0, HK_MAX,
              "the same per kg of the vertex, alike at every resolution; 1 if nothing is given"),
};

HkWindParams hk_wind_given(const HkWindParams *p) {
  HkWindParams w = *p;
  if (isnan(p->drag)) w.drag = 0;
  if (isnan(p->per_mass)) w.per_mass = isnan(p->drag) ? 1 : 0;
  return w;
}

typedef struct Loop {
  const HkForceArgs *a;
  double *f, u[3];
  HkWindParams wind;
} Loop;

static void add_range(void *user, int64_t begin, int64_t end) {
  const Loop *loop = user;
  const HkForceArgs *a = loop->a;
  for (int64_t i = begin; i < end; i++) {
    double r[3];
    hk_sub(loop->u, a->v + 3 * i, r);
    hk_axpy(loop->wind.drag + loop->wind.per_mass * a->model->mass[i], r, loop->f + 3 * i);
  }
}

static void add(const HkForceArgs *a, double *f) {
  Loop loop = {.a = a, .f = f, .wind = hk_wind_given(a->params)};
  const HkWindParams *w = &loop.wind;
  hk_gust_velocity(w->velocity, w->gust, w->gust_period, a->t, loop.u);
  hk_parallel_for(a->model->threads, a->model->n, add_range, &loop);
}

static void jacobian(const HkForceArgs *a, HkJacobianSink *sink) {
  HkWindParams w = hk_wind_given(a->params);
  for (int64_t i = 0; i < a->model->n; i++) {
    double D[9];
    hk_mat_identity(-(w.drag + w.per_mass * a->model->mass[i]), D);
    sink->dfdv(sink, (int32_t)i, (int32_t)i, D);
  }
}

static void columns(const HkForceArgs *a, HkColumnSink *sink) {
  const HkWindParams *p = a->params;
  HkWindParams w = hk_wind_given(p);
  double u[3], signal = hk_gust_signal(a->t, w.gust_period), r[3], column[3];
  hk_gust_velocity(w.velocity, w.gust, w.gust_period, a->t, u);
  for (int64_t i = 0; i < a->model->n; i++) {
    double m = a->model->mass[i], c = w.drag + w.per_mass * m;
    hk_sub(u, a->v + 3 * i, r);
    sink->number(sink, (int32_t)i, &p->drag, r);
    for (int k = 0; k < 3; k++) column[k] = m * r[k];
    sink->number(sink, (int32_t)i, &p->per_mass, column);
    for (int k = 0; k < 3; k++) column[k] = w.per_mass * r[k];
    sink->mass(sink, (int32_t)i, column);
    for (int k = 0; k < 3; k++) column[k] = c * signal * w.velocity[k];
    sink->number(sink, (int32_t)i, &p->gust, column);
    for (int k = 0; k < 3; k++) {
      double along[3] = {0, 0, 0};
      along[k] = c * (1 + w.gust * signal);
      sink->number(sink, (int32_t)i, &p->velocity[k], along);
    }
  }
}

static void damping_columns(const HkForceArgs *a, const double *w, HkColumnSink *sink) {
  const HkWindParams *p = a->params;
  double per_mass = hk_wind_given(p).per_mass, column[3];
  for (int64_t i = 0; i < a->model->n; i++) {
    sink->number(sink, (int32_t)i, &p->drag, w + 3 * i);
    for (int k = 0; k < 3; k++) column[k] = a->model->mass[i] * w[3 * i + k];
    sink->number(sink, (int32_t)i, &p->per_mass, column);
    for (int k = 0; k < 3; k++) column[k] = per_mass * w[3 * i + k];
    sink->mass(sink, (int32_t)i, column);
  }
}

static bool uses_velocity(const HkSpringArrays *springs, const void *chosen) {
  (void)springs;
  HkWindParams w = hk_wind_given(chosen);
  return w.drag > 0 || w.per_mass > 0;
}

const HkForceType hk_force_wind = {
    .schema = {.name = "wind",
               .summary = "wind on every vertex, steady or in gusts",
               .formula = "f_i = (drag + per_mass m_i) (u(t) - v_i),  u = velocity (1 + gust s(t))",
               HK_PARAMS(HkWindParams, params)},
    .on_device = HK_DEVICE_FORCE_WIND,
    .slot = HK_ENERGY_OTHER,
    .uses_velocity = uses_velocity,
    .add = add,
    .jacobian = jacobian,
    .differentiable = "velocity|gust|drag|per_mass",
    .columns = columns,
    .damping_columns = damping_columns,
};
