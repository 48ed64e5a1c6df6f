/* Implicit steps of the host's device: whatever method is asked for but multigrid, vertex block
 * descent finds the same minimum. */
#ifndef HOOKE_TEST_HOST_IMPLICIT_H
#define HOOKE_TEST_HOST_IMPLICIT_H

#include "host_sim.h"

#include <float.h>

/* Adds forces that are constant during the step to y', and computes the damping of faces. */
static void begin_medium(Sim *s, const HkGpuMoment *moment) {
  HkReal h = s->stage.tau;
  for (int64_t q = 0; q < s->n; q++) {
    HkReal weight = s->push[q].x;
    HkGpuBlock unused = {0, 0, 0, 0, 0, 0};
    HkGpuVector f = hk_gpu_quadratic_drag(&moment->medium, h, s->v[q], &unused);
    for (int64_t e = s->model.face_count > 0 ? s->model.face_start[q] : 0;
         s->model.face_count > 0 && e < s->model.face_start[q + 1]; e++) {
      HkGpuVector x[3], u[3];
      corners(s, s->model.face_at[e], s->v, x, u);
      hk_gpu_face_force(&moment->air, x, u, &f);
    }
    hk_gpu_anchor_push(f, h, weight, &s->w[q]);
  }
  for (int64_t q = 0; q < s->model.face_count; q++) {
    HkGpuVector x[3], u[3];
    corners(s, q, s->v, x, u);
    s->damping[q] = hk_gpu_face_damping(&moment->air, h, x, u);
  }
}

/* Computes the majorizers at the current x. */
static void majorize(Sim *s, const HkGpuMoment *moment) {
  HkReal h = s->stage.tau, third = (HkReal)1 / 3;
  for (int64_t q = 0; q < s->n; q++) {
    HkGpuVector r = {0, 0, 0};
    HkGpuBlock S = {0, 0, 0, 0, 0, 0};
    hk_gpu_medium_gradient(&moment->medium, s->model.medium_parts, (HkReal)s->model.mass[q], h,
                           s->x[q], s->v_next[q], s->v[q], &r, &S);
    for (int64_t e = s->model.face_count > 0 ? s->model.face_start[q] : 0;
         s->model.face_count > 0 && e < s->model.face_start[q + 1]; e++) {
      int64_t face = s->model.face_at[e];
      HkGpuVector x[3], ahead[3], moved = {0, 0, 0};
      corners(s, face, s->v_next, x, ahead);
      for (int c = 0; c < 3; c++) hk_gpu_axpy(third, hk_gpu_sub(x[c], ahead[c]), &moved);
      hk_gpu_face_gradient(&s->damping[face], moved, &r, &S);
    }
    s->y[q] = hk_gpu_majorizer_minimum(s->push[q].x, s->w[q], s->x[q], r, &S);
    s->form[q] = S;
  }
}

/* r = -dg/dx (kg m) and the Hessian block of the vertex at place q, which is in `brick`. b and
 * ahead stand in x_next and v_next, y' in w with its m' in push.x. */
static void look_around(const Sim *s, int64_t q, int64_t brick, HkGpuVector *r, HkGpuBlock *H) {
  HkReal h = s->stage.tau;
  hk_gpu_add_majorizer(s->push[q].x, s->uses_majorizer ? s->y[q] : s->w[q],
                       s->uses_majorizer ? &s->form[q] : NULL, s->x[q], r, H);
  for (int64_t slot = 0; slot < slots_of(s, q); slot++) {
    HkGpuSpring p;
    int64_t j = neighbor(s, q, brick, slot, &p);
    p = hk_gpu_with_damper(p, hk_gpu_sub(s->x_next[j], s->x_next[q]), h);
    hk_gpu_spring_force_and_hessian(hk_gpu_sub(s->x[j], s->x[q]), p, h * h, r, H);
  }
  if (s->model.flat) {
    r->z = H->xz = H->yz = 0;
    H->zz = 1;
  }
}

/* One sweep of vertex block descent; returns the square of the largest displacement. */
static HkReal sweep(Sim *s, const HkGpuMoment *moment) {
  HkReal most = 0;
  if (s->uses_majorizer) majorize(s, moment);
  for (int64_t q = 0, brick = 0; q < s->n; q++) {
    while (s->layout.brick_count > 0 && q >= s->layout.brick[brick + 1]) brick++;
    HkGpuVector r = {0, 0, 0}, before = s->x[q];
    HkGpuBlock H = {0, 0, 0, 0, 0, 0};
    if (s->inverse[q] == 0) continue;
    look_around(s, q, brick, &r, &H);
    hk_gpu_axpy(1, hk_gpu_solve(&H, r), &s->x[q]);
    HkGpuVector p = hk_gpu_sub(s->x[q], before); /* 0 where rounding leaves it where it is */
    most = hk_gpu_max(most, hk_gpu_dot(p, p));
  }
  return most;
}

/* Judges x as minimize/stopping.c does. */
static void judge(Sim *s, const HkGpuMoment *moment, HkStepInfo *step) {
  const double rounding = 4 * (sizeof(HkReal) == 4 ? FLT_EPSILON : DBL_EPSILON);
  double residual = 0, moved = 0, alone = 0, furthest = 0;
  if (s->uses_majorizer) majorize(s, moment);
  for (int64_t q = 0, brick = 0; q < s->n; q++) {
    while (s->layout.brick_count > 0 && q >= s->layout.brick[brick + 1]) brick++;
    HkGpuVector r = {0, 0, 0}, d = hk_gpu_sub(s->x[q], s->x_next[q]), x = s->x[q];
    HkGpuBlock H = {0, 0, 0, 0, 0, 0};
    if (s->inverse[q] == 0) continue;
    look_around(s, q, brick, &r, &H);
    double mass = s->model.mass[q], square = (double)hk_gpu_dot(r, r);
    residual += square / mass;
    moved += (double)hk_gpu_dot(d, d) * mass;
    alone = fmax(alone, 3 * sqrt(square) / ((double)H.xx + (double)H.yy + (double)H.zz));
    furthest = fmax(furthest, fmax(fabs((double)x.x), fmax(fabs((double)x.y), fabs((double)x.z))));
  }
  step->gradient = residual > 0 ? sqrt(residual / moved) : 0;
  step->reason = HK_STOP_ITERATIONS;
  if (s->settings.tolerance > 0 && alone <= rounding * furthest) step->reason = HK_STOP_ROUNDING;
  if (s->settings.tolerance > 0 && step->gradient <= s->settings.tolerance)
    step->reason = HK_STOP_STATIONARY;
}

/* As far as rounding allows, or as many sweeps as are given. */
static void solve(Sim *s, const HkGpuMoment *moment) {
  enum { IDLE_MAX = 100 }; /* sweeps: rounding may make it swing without end */
  double moved = 1, least = INFINITY;
  HkStepInfo step = {0};
  for (int at = 0; step.iterations < s->settings.iterations && moved > 0; step.iterations++) {
    moved = sqrt((double)sweep(s, moment));
    if (moved < least) {
      least = moved;
      at = step.iterations;
    }
    if (step.iterations - at >= IDLE_MAX) break;
  }
  judge(s, moment, &step);
  hk_device_count(&s->info, &step, s->settings.tolerance > 0, sizeof(HkReal) == 8);
}

/* Keeps the present positions and velocities as those of the step before, and the part of the guess
 * that depends on the last ones. */
static void remember(Sim *s, int64_t q) {
  HkGpuVector none = {0, 0, 0};
  if (s->start) {
    s->before[q] = s->start[q];
    s->start[q] = s->x[q];
  }
  if (!s->v_old) return;
  s->lead[q] = none;
  if (s->inverse[q] > 0) hk_gpu_axpy(s->stage.lead, hk_gpu_sub(s->v[q], s->v_old[q]), &s->lead[q]);
  s->v_old[q] = s->v[q];
}

/* b, y' with its m', the prediction x (but the old x if the step is linear), and ahead, where the
 * velocity (x - b) / tau is v. */
static void begin_vertex(Sim *s, const HkGpuMoment *moment, int64_t q) {
  const HkGpuStage *stage = &s->stage;
  HkGpuVector x = s->x[q], v = s->v[q], b = x, u = v;
  double mass = s->model.mass[q];
  bool free = s->inverse[q] > 0;
  if (s->start && free) {
    b = hk_gpu_stage_combine(stage, x, s->start[q]);
    u = hk_gpu_stage_combine(stage, v, s->v_old[q]);
  }
  s->x_next[q] = s->v_next[q] = b;
  s->push[q].x = hk_gpu_anchor(&moment->medium, (HkReal)mass, stage->tau, b, u, &s->w[q]);
  HkGpuVector moved = hk_gpu_sub(b, x);
  hk_gpu_axpy(stage->tau, u, &moved);
  if (free) s->inertia += 0.5 * mass * (double)hk_gpu_dot(moved, moved);
  remember(s, q);
  if (free || stage->linear) hk_gpu_axpy(stage->tau, v, &s->v_next[q]);
  if (free && !stage->linear) hk_gpu_axpy(stage->h, v, &s->x[q]);
}

static void begin_stage(Sim *s, const HkGpuMoment *moment, const double *grips, double h_old) {
  s->stage = hk_gpu_stage(&s->settings, h_old);
  s->inertia = 0;
  for (int64_t q = 0; q < s->n; q++) begin_vertex(s, moment, q);
  for (int64_t q = 0; q < s->model.gripped; q++)
    for (int32_t e = s->model.grip_start[q]; e < s->model.grip_start[q + 1]; e++) {
      HkReal row[HK_DEVICE_GRIP_REALS];
      int64_t i = s->model.gripped_place[q];
      for (int k = 0; k < HK_DEVICE_GRIP_REALS; k++)
        row[k] = (HkReal)grips[HK_DEVICE_GRIP_REALS * s->model.grip[e] + k];
      hk_gpu_anchor_grip(row, s->stage.tau, s->x_next[i], &s->push[i].x, &s->w[i]);
    }
}

/* A step that is a minimization; minimize finds the minimum. */
static void step_implicit(Sim *s, const HkGpuMoment *moment, const double *grips, const double *end,
                          double h_old, void (*minimize)(Sim *, const HkGpuMoment *)) {
  begin_stage(s, moment, grips, h_old);
  HkReal tau = s->stage.tau;
  place_pins(s, end);
  for (int64_t q = 0; q < s->model.pin_count; q++) {
    int64_t i = s->model.pin_place[q];
    if (!s->held[q]) continue;
    s->v_next[i] = s->x_next[i] = s->x[i];
    hk_gpu_axpy(-tau, s->v[i], &s->x_next[i]);
  }
  if (s->bare) memcpy(s->bare, s->w, (size_t)s->n * sizeof *s->w);
  if (s->uses_majorizer) begin_medium(s, moment);
  minimize(s, moment);
  for (int64_t q = 0; q < s->n; q++)
    if (s->inverse[q] > 0) {
      HkGpuVector d = hk_gpu_sub(s->x[q], s->x_next[q]);
      s->v[q] = hk_gpu_vector(d.x / tau, d.y / tau, d.z / tau);
    }
}

#endif
