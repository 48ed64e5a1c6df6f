/* Backward Euler of one world of a batch on a device, by Newton's method of newton.h with the
 * linear systems of world_solve.h; host and GPU compile the same code (world.h), in double
 * precision.
 *
 * Every thread of a team runs the method with the same numbers, which come from sums over the team,
 * so that all threads take the same branches. Positions, the gradient, the change of g and all sums
 * of the method are in double precision; single precision within a solve changes directions by less
 * than their forcing term.
 */
#ifndef HK_BACKEND_GPU_WORLD_NEWTON_H
#define HK_BACKEND_GPU_WORLD_NEWTON_H

#include "backend/gpu/world.h"

#define HK_GPU_METHOD HK_WORLD
#define HK_GPU_OP(n, operation) hk_world_##operation

#include "backend/gpu/fine_level.h"
#include "backend/gpu/world_solve.h"

/* The operations of newton.h on an HkGpuWorldSolve. */
HK_WORLD_CALL HkStatus hk_world_look(void *device, HkGpuLook *look, HkError *error);
HK_WORLD HkStatus hk_world_prepare(void *device, bool first, HkError *error);
HK_WORLD HkStatus hk_world_solve(void *device, double kept, double tolerance, bool by_decrease,
                                 HkGpuSolved *solved, HkError *error);
HK_WORLD HkStatus hk_world_correct(void *device, double kept, double tolerance, HkGpuSolved *solved,
                                   HkError *error);
HK_WORLD_CALL HkStatus hk_world_propose(void *device, double a, bool curved, double *change,
                                        HkError *error);
HK_WORLD HkStatus hk_world_take(void *device, double a, HkError *error);
HK_WORLD HkStatus hk_world_undo(void *device, HkError *error);

#include "backend/gpu/newton.h"

/* ---- Gradient ---- */

HK_WORLD HkGpuInverse hk_world_invert(const HkGpuBlock *H) {
  HkGpuBlock I = hk_gpu_invert(H);
  HkGpuInverse inverse = {(float)I.xx, (float)I.yy, (float)I.zz,
                          (float)I.xy, (float)I.xz, (float)I.yz};
  return inverse;
}

/* Gathers -dg/dx and the inverse of the diagonal block of a free vertex. */
HK_WORLD HkGpuGathered hk_world_gather(HkGpuWorldSolve *s, int q) {
  const HkGpuWorld *w = s->world;
  HkGpuGathered g = {{0, 0, 0}, {0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0}, 0, 0, 0};
  int first, count = hk_world_words(w, q, &first);
  hk_gpu_add_majorizer(s->weight[q], s->y[q], NULL, w->x[q], &g.r, &g.H);
  for (int k = 0; k < count; k++) {
    int j;
    HkGpuVector d;
    HkGpuSpring p = hk_world_implicit_spring(s, q, w->word[first + HK_GPU_ROW * k], &j, &d);
    if (j != q) hk_gpu_gather_spring(d, p, w->h * w->h, 0, false, &g);
  }
  if (w->flat) {
    g.r.z = g.H.xz = g.H.yz = 0;
    g.H.zz = 1;
  }
  g.stiffness += s->weight[q];
  return g;
}

HK_WORLD_CALL HkStatus hk_world_look(void *device, HkGpuLook *look, HkError *error) {
  HkGpuWorldSolve *s = (HkGpuWorldSolve *)device;
  const HkGpuWorld *w = s->world;
  double sum[HK_GPU_LOOK_VALUES] = {0};
  (void)error;
  HK_TEAM_EACH(q, w->n) {
    s->gradient[q] = hk_gpu_vector(0, 0, 0);
    if (!(w->inverse[q] > 0)) continue;
    HkGpuGathered g = hk_world_gather(s, q);
    double mass = w->mass[q];
    s->gradient[q] = g.r;
    s->diagonal[q] = hk_world_invert(&g.H);
    hk_gpu_add_look(&g, w->x[q], hk_gpu_sub(w->x[q], s->start[q]), mass, 1 / mass, sum);
  }
  hk_team_reduce(sum, HK_GPU_LOOK_PRESSURE, false);
  hk_team_reduce(sum + HK_GPU_LOOK_PRESSURE, HK_GPU_LOOK_VALUES - HK_GPU_LOOK_PRESSURE, true);
  *look = hk_gpu_look_of(sum);
  if (hk_team_rank() == 0)
    s->unit = hk_gpu_fixed_unit(sqrt(sum[HK_GPU_LOOK_LONGEST]), sum[HK_GPU_LOOK_FURTHEST]);
  hk_team_sync();
  return HK_OK;
}

/* The diagonal blocks are those of the last look. */
HK_WORLD HkStatus hk_world_prepare(void *device, bool first, HkError *error) {
  (void)device;
  (void)first;
  (void)error;
  return HK_OK;
}

/* ---- Directions ---- */

HK_WORLD HkStatus hk_world_solve(void *device, double kept, double tolerance, bool by_decrease,
                                 HkGpuSolved *solved, HkError *error) {
  HkGpuWorldSolve *s = (HkGpuWorldSolve *)device;
  (void)by_decrease;
  (void)error;
  HK_TEAM_EACH(q, s->world->n) s->b[q] = s->gradient[q];
  *solved = hk_world_solve_system(s, kept, tolerance);
  return HK_OK;
}

HK_WORLD HkStatus hk_world_correct(void *device, double kept, double tolerance, HkGpuSolved *solved,
                                   HkError *error) {
  HkGpuWorldSolve *s = (HkGpuWorldSolve *)device;
  const HkGpuWorld *w = s->world;
  (void)error;
  hk_world_share(s, s->precise.d);
  HK_TEAM_EACH(q, w->n) {
    int first, count = hk_world_words(w, q, &first);
    s->along[q] = s->precise.d[q];
    s->b[q] = hk_gpu_vector(0, 0, 0);
    for (int k = 0; k < count && w->inverse[q] > 0; k++) {
      int j;
      HkGpuVector d;
      HkGpuSpring p = hk_world_implicit_spring(s, q, w->word[first + HK_GPU_ROW * k], &j, &d);
      if (j != q) hk_gpu_spring_turned(d, hk_gpu_sub(w->w[j], w->w[q]), p, w->h * w->h, &s->b[q]);
    }
    if (w->flat) s->b[q].z = 0;
  }
  hk_team_sync(); /* world->w is the direction of the solve from now on */
  *solved = hk_world_solve_system(s, kept, tolerance);
  HK_TEAM_EACH(q, w->n) s->precise.q[q] = s->precise.d[q];
  return HK_OK;
}

HK_WORLD_CALL HkStatus hk_world_propose(void *device, double a, bool curved, double *change,
                                        HkError *error) {
  HkGpuWorldSolve *s = (HkGpuWorldSolve *)device;
  const HkGpuWorld *w = s->world;
  (void)error;
  HK_TEAM_EACH(q, curved ? w->n : 0) {
    s->precise.d[q] = hk_gpu_vector(0, 0, 0);
    hk_gpu_axpy((HkReal)a, s->along[q], &s->precise.d[q]);
    hk_gpu_axpy((HkReal)(a * a), s->precise.q[q], &s->precise.d[q]);
  }
  hk_world_share(s, s->precise.d);
  double sum = 0;
  HK_TEAM_EACH(q, w->n) {
    int first, count = hk_world_words(w, q, &first);
    HkGpuVector own = w->w[q], from = hk_gpu_sub(w->x[q], s->y[q]);
    if (w->inverse[q] > 0)
      sum += (double)s->weight[q] *
             ((double)hk_gpu_dot(own, from) + 0.5 * (double)hk_gpu_dot(own, own));
    for (int k = 0; k < count; k++) {
      int j;
      HkGpuVector d;
      HkGpuSpring p = hk_world_implicit_spring(s, q, w->word[first + HK_GPU_ROW * k], &j, &d);
      sum +=
          0.5 * (double)(w->h * w->h * hk_gpu_spring_energy_change(d, hk_gpu_sub(w->w[j], own), p));
    }
  }
  hk_team_reduce(&sum, 1, false);
  *change = sum;
  return HK_OK;
}

HK_WORLD void hk_world_move(HkGpuWorldSolve *s, HkReal sign) {
  HkGpuWorld *w = s->world;
  hk_team_sync();
  HK_TEAM_EACH(q, w->n) hk_gpu_axpy(sign, s->precise.d[q], &w->x[q]);
  hk_team_sync();
}

/* No direction is rough without multigrid: a is 1. */
HK_WORLD HkStatus hk_world_take(void *device, double a, HkError *error) {
  (void)a;
  (void)error;
  hk_world_move((HkGpuWorldSolve *)device, 1);
  return HK_OK;
}

HK_WORLD HkStatus hk_world_undo(void *device, HkError *error) {
  (void)error;
  hk_world_move((HkGpuWorldSolve *)device, -1);
  return HK_OK;
}

/* ---- A step ---- */

/* The guess of step/implicit.c without the velocity of the step before: x, which holds the
 * positions without forces, or the positions at the start of the step. */
HK_WORLD void hk_world_guess(HkGpuWorldSolve *s) {
  HkGpuWorld *w = s->world;
  double inertia = 0, rise;
  HK_TEAM_EACH(q, w->n) {
    s->precise.d[q] = hk_gpu_vector(0, 0, 0);
    if (!(w->inverse[q] > 0)) continue;
    s->precise.d[q] = hk_gpu_sub(w->x[q], s->start[q]);
    w->x[q] = s->start[q];
    inertia += 0.5 * w->mass[q] * (double)hk_gpu_dot(s->precise.d[q], s->precise.d[q]);
  }
  hk_team_reduce(&inertia, 1, false);
  hk_world_propose(s, 1, false, &rise, NULL);
  if (rise <= HK_GPU_GUESS_MAX_RISE * inertia) hk_world_take(s, 1, NULL);
}

/* Sets y, m' and the positions without forces, and places pins. */
HK_WORLD void hk_world_begin_implicit(HkGpuWorldSolve *s, const double *end) {
  HkGpuWorld *w = s->world;
  HK_TEAM_EACH(q, w->n) {
    s->start[q] = w->x[q];
    s->weight[q] = hk_gpu_anchor(w->medium, (HkReal)w->mass[q], w->h, w->x[q], w->v[q], &s->y[q]);
    for (int e = w->grip_start ? w->grip_start[q] : 0; w->grip_start && e < w->grip_start[q + 1];
         e++) {
      HkReal row[HK_DEVICE_GRIP_REALS];
      hk_world_grip(w, e, row);
      hk_gpu_anchor_grip(row, w->h, s->start[q], &s->weight[q], &s->y[q]);
    }
    if (w->inverse[q] > 0)
      hk_gpu_axpy(w->h, w->v[q], &w->x[q]);
    else
      s->weight[q] = 0;
  }
  hk_team_sync();
  hk_world_place_pins(w, end);
  HK_TEAM_EACH(q, end ? w->pin_count : 0) {
    int i = w->pin_vertex[q];
    if (!w->held[q]) continue;
    s->start[i] = w->x[i];
    hk_gpu_axpy(-w->h, w->v[i], &s->start[i]);
  }
  hk_team_sync();
}

/* One step of backward Euler; returns how it was solved. */
HK_WORLD HkStepInfo hk_world_step_implicit(HkGpuWorldSolve *s, double total_mass,
                                           const double *end) {
  HkGpuWorld *w = s->world;
  HkGpuNewtonOps ops = {0};
  HkGpuNewton newton = {0};
  ops.device = s;
  newton.ops = &ops;
  newton.settings = s->settings;
  newton.convex_known = true;
  newton.total_mass = total_mass;
  newton.proof_residual = HK_PROOF_RESIDUAL;
  hk_world_begin_implicit(s, end);
  hk_world_guess(s);
  hk_gpu_newton_minimize(&newton, NULL);
  HK_TEAM_EACH(q, w->n) {
    if (!(w->inverse[q] > 0)) continue;
    HkGpuVector d = hk_gpu_sub(w->x[q], s->start[q]);
    w->v[q] = hk_gpu_vector(d.x / w->h, d.y / w->h, d.z / w->h);
  }
  hk_team_sync();
  return newton.info;
}

#endif
