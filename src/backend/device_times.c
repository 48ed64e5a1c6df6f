/* Tables of the quantities that depend on time, for a device: winds, fluids, grips, motions of
 * pins.
 *
 * Linear forces of one kind add up: all winds and drags are one medium with a constant force and a
 * damping coefficient. Motions are affine in the initial position of a pin, x = A x0 + b; their
 * values at four points give A and b.
 */
#define HK_REAL double
#include "backend/device_model.h"
#include "backend/gpu/media.h"
#include "force/chosen.h"
#include "force/params.h"
#include "force/turbulence.h"

#include <string.h>

static bool is(const HkModel *m, int force, HkDeviceForce kind) {
  return m->forces[force].type->on_device == kind;
}

HkStatus hk_device_check_forces(const HkModel *m, HkError *error) {
  int fluids = 0, airs = 0;
  for (int q = 0; q < m->force_count; q++) {
    fluids += is(m, q, HK_DEVICE_FORCE_BUOYANCY);
    airs += is(m, q, HK_DEVICE_FORCE_FACE_WIND);
    if (is(m, q, HK_DEVICE_FORCE_NONE))
      return hk_fail(error, HK_ERROR_UNSUPPORTED, "devices do not support the force '%s'",
                     m->forces[q].type->schema.name);
  }
  if (fluids > HK_GPU_FLUIDS)
    return hk_fail(error, HK_ERROR_UNSUPPORTED, "devices support at most %d forces 'buoyancy'",
                   HK_GPU_FLUIDS);
  if (airs > 1)
    return hk_fail(error, HK_ERROR_UNSUPPORTED, "devices support at most one force 'face_wind'");
  return HK_OK;
}

int hk_device_medium_parts(const HkModel *m) {
  int parts = 0;
  for (int q = 0; q < m->force_count; q++) {
    if (is(m, q, HK_DEVICE_FORCE_WIND) || is(m, q, HK_DEVICE_FORCE_DRAG))
      parts |= HK_GPU_LINEAR_DRAG;
    if (is(m, q, HK_DEVICE_FORCE_DRAG) &&
        ((const HkDragParams *)m->forces[q].method.params)->quadratic > 0)
      parts |= HK_GPU_QUADRATIC_DRAG;
    if (is(m, q, HK_DEVICE_FORCE_BUOYANCY)) parts |= HK_GPU_BUOYANCY;
  }
  return parts;
}

bool hk_device_has_air(const HkModel *m) {
  bool any = false;
  for (int q = 0; q < m->force_count; q++) any |= is(m, q, HK_DEVICE_FORCE_FACE_WIND);
  return any;
}

/* ---- Media ---- */

static void add(HkGpuVector *to, double s, const double a[3]) {
  hk_gpu_axpy(s, hk_gpu_vector(a[0], a[1], a[2]), to);
}

static void add_wind(const HkWindParams *p, double t, HkGpuMedium *medium) {
  HkWindParams w = hk_wind_given(p);
  double u[3];
  hk_gust_velocity(w.velocity, w.gust, w.gust_period, t, u);
  add(&medium->linear_push, w.drag, u);
  add(&medium->mass_push, w.per_mass, u);
  medium->linear += w.drag;
  medium->per_mass += w.per_mass;
}

static void add_drag(const HkDragParams *p, HkGpuMedium *medium) {
  HkDragParams d = hk_drag_given(p);
  medium->linear += d.linear;
  medium->per_mass += d.per_mass;
  medium->quadratic += d.quadratic;
}

static void add_fluid(const HkBuoyancyParams *p, double origin, HkGpuMedium *medium) {
  HkGpuFluid *fluid = &medium->fluid[(int)medium->fluids];
  fluid->level = p->level - origin;
  fluid->thickness = p->thickness;
  fluid->lift = p->fluid_density * p->g / p->body_density;
  medium->fluids++;
}

static void set_air(const HkModel *m, const HkFaceWindParams *p, const double origin[3], double t,
                    HkGpuAir *air) {
  double u[3], third = 0.5 * p->density / 3;
  hk_gust_velocity(p->velocity, p->gust, p->gust_period, t, u);
  HkTurbulence w = hk_turbulence(p->velocity, p->turbulence, p->wavelength, m->up, t);
  air->drag = third * p->drag;
  air->lift = third * 2 * p->lift;
  air->velocity = hk_gpu_vector(u[0], u[1], u[2]);
  for (int k = 0; k < w.count; k++) {
    double at_origin = 0;
    add(&air->wave[k], 1, w.wave[k]);
    add(&air->side[k], 1, w.side[k]);
    for (int c = 0; c < 3; c++) at_origin += w.wave[k][c] * origin[c];
    air->phase[k] = fmod(w.phase[k] - at_origin, 2 * acos(-1.0));
  }
}

static void grip_at(const HkModel *m, int force, const double origin[3], double t, double *grip) {
  const void *params = m->forces[force].method.params;
  if (is(m, force, HK_DEVICE_FORCE_HANDLE)) {
    const HkHandleParams *p = params;
    hk_chosen_vector(&p->table, p->target, t, grip);
    for (int c = 0; c < 3; c++) grip[c] -= origin[c];
    grip[6] = p->k;
    grip[7] = p->damping;
  } else {
    const HkPointLoadParams *p = params;
    hk_chosen_vector(&p->table, p->force, t, grip + 3);
  }
}

void hk_device_moment(const HkModel *m, const double origin[3], double t, double *moment,
                      double *grips) {
  HkGpuMoment now;
  memset(&now, 0, sizeof now);
  double up[3], g[3] = {0, 0, 0};
  hk_model_up(m, up);
  add(&now.medium.up, 1, up);
  int grip = 0;
  for (int q = 0; q < m->force_count; q++) {
    const void *p = m->forces[q].method.params;
    HkForceArgs a = {.model = m, .params = p, .t = t};
    if (m->forces[q].type->accelerate) m->forces[q].type->accelerate(&a, g);
    if (is(m, q, HK_DEVICE_FORCE_WIND)) add_wind(p, t, &now.medium);
    if (is(m, q, HK_DEVICE_FORCE_DRAG)) add_drag(p, &now.medium);
    if (is(m, q, HK_DEVICE_FORCE_BUOYANCY)) add_fluid(p, origin[m->up], &now.medium);
    if (is(m, q, HK_DEVICE_FORCE_FACE_WIND)) set_air(m, p, origin, t, &now.air);
    if (!is(m, q, HK_DEVICE_FORCE_HANDLE) && !is(m, q, HK_DEVICE_FORCE_POINT_LOAD)) continue;
    memset(grips + HK_DEVICE_GRIP_REALS * grip, 0, HK_DEVICE_GRIP_REALS * sizeof *grips);
    grip_at(m, q, origin, t, grips + HK_DEVICE_GRIP_REALS * grip++);
  }
  add(&now.medium.g, 1, g);
  memcpy(moment, &now, sizeof now);
}

/* ---- Motions ---- */

void hk_device_motions(const HkModel *m, double t, double *motions) {
  for (int q = 0; q < m->motion_count; q++) {
    const HkCompiledMotion *motion = &m->motions[q];
    double *row = motions + (int64_t)HK_DEVICE_MOTION_REALS * q;
    const double zero[3] = {0, 0, 0};
    motion->type->at(motion->method.params, t, zero, row + 9, row + 21, NULL);
    for (int c = 0; c < 3; c++) {
      double unit[3] = {c == 0, c == 1, c == 2}, x[3], v[3];
      motion->type->at(motion->method.params, t, unit, x, v, NULL);
      for (int r = 0; r < 3; r++) {
        row[3 * r + c] = x[r] - row[9 + r];
        row[12 + 3 * r + c] = v[r] - row[21 + r];
      }
    }
  }
}
