/* Derivatives of steps that drift, kick and drift (symplectic_euler, verlet),
 *
 *     y = x + b v,   v+ = v + h M^-1 f(t, y, w),   x+ = y + e v+
 *
 * with w = v, or, where f depends on v in verlet, w = v + h/2 M^-1 f(t, y, v). Back, with gradients
 * written as x' and so on:
 *
 *     v'  = v+' + e x+',   l = h M^-1 v',   y' = x+' + (df/dx)^T l,   w' = (df/dv)^T l
 *
 * and through w, y and v. Held pins are where their motions have them at the end of the step and,
 * in verlet, at the kick.
 */
#include "adjoint/adjoint.h"

typedef struct Kick {
  double h, t, before, after;
  bool half;     /* w is predicted */
  double *y, *w; /* 3 n */
} Kick;

/* Makes y and w of the step again; `a` (3 n) is overwritten. */
static Kick remake(HkAdjoint *a, double *y, double *w, double *acceleration) {
  const HkUpdate *u = &a->update;
  const HkState *s = a->before;
  HkSim *sim = a->sim;
  Kick k = {.h = sim->h, .t = s->time + u->before, .before = u->before, .after = u->after};
  k.half = u->before > 0 && sim->model->velocity_dependent;
  k.y = y;
  k.w = w;
  hk_sim_axpy(sim, u->before, s->v, s->x, y);
  hk_vectors_copy(&a->space, s->v, w);
  if (u->before > 0) hk_pins_place(sim->model, s, k.t, y, w);
  if (!k.half) return k;
  hk_sim_acceleration(sim, s, k.t, y, w, acceleration);
  hk_sim_axpy(sim, 0.5 * k.h, acceleration, w, w);
  return k;
}

HkStatus hk_kick_back(HkAdjoint *a, HkError *error) {
  (void)error;
  const HkVectors *space = &a->space;
  double *x = a->d->arrays.x, *v = a->d->arrays.v;
  double *y = a->w[0], *w = a->w[1], *total = a->w[2], *l = a->w[3], *to_w = a->w[4],
         *kick = a->w[5], *start = a->w[6];
  Kick k = remake(a, y, w, kick);
  hk_pins_pull_back(a, a->before->time + k.h, x, v);
  hk_vectors_add(space, k.after, x, v, total);
  hk_adjoint_accelerate(a, k.h, total, l);
  hk_vectors_zero(space, to_w);
  HkForcesAt forces = hk_adjoint_forces(a, k.t, y, w, 1);
  hk_forces_pull_back(&forces, l, x, to_w); /* x is y' from here on */
  hk_vectors_subtract(space, a->after->v, a->before->v, kick);
  hk_adjoint_mass_back(a, kick, total);
  hk_vectors_copy(space, total, v);
  hk_vectors_add(space, 1, to_w, v, v);
  if (k.half) { /* w = start + h/2 a */
    hk_vectors_copy(space, a->before->v, start);
    hk_pins_place(a->sim->model, a->before, k.t, kick, start);
    hk_vectors_subtract(space, w, start, kick);
    hk_adjoint_mass_back(a, kick, to_w);
    hk_adjoint_accelerate(a, 0.5 * k.h, to_w, l);
    forces.v = start;
    hk_forces_pull_back(&forces, l, x, v);
  }
  if (k.before > 0) hk_pins_pull_back(a, k.t, x, v);
  hk_vectors_add(space, k.before, x, v, v);
  return HK_OK;
}

HkStatus hk_kick_forward(HkAdjoint *a, HkError *error) {
  (void)error;
  const HkVectors *space = &a->space;
  const HkModel *m = a->sim->model;
  double *x = a->d->arrays.x, *v = a->d->arrays.v;
  double *y = a->w[0], *w = a->w[1], *dw = a->w[2], *df = a->w[3], *kick = a->w[5],
         *start = a->w[6], *dv = a->w[7];
  Kick k = remake(a, y, w, kick);
  hk_vectors_add(space, k.before, v, x, x); /* x is dy from here on */
  hk_vectors_copy(space, v, dw);
  if (k.before > 0) hk_pins_push_forward(a, k.t, x, dw);
  HkForcesAt forces = hk_adjoint_forces(a, k.t, y, w, 1);
  if (k.half) {
    hk_vectors_copy(space, a->before->v, start);
    hk_pins_place(m, a->before, k.t, kick, start);
    hk_vectors_zero(space, df);
    forces.v = start;
    hk_forces_push_forward(&forces, x, dw, df);
    hk_adjoint_accelerate(a, 0.5 * k.h, df, dv);
    hk_vectors_add(space, 1, dv, dw, dw);
    hk_vectors_subtract(space, w, start, kick);
    hk_adjoint_mass_forward(a, kick, dw);
    forces.v = w;
  }
  hk_vectors_zero(space, df);
  hk_forces_push_forward(&forces, x, dw, df);
  hk_adjoint_accelerate(a, k.h, df, dv);
  hk_vectors_add(space, 1, dv, v, v);
  hk_vectors_subtract(space, a->after->v, a->before->v, kick);
  hk_adjoint_mass_forward(a, kick, v);
  hk_vectors_add(space, k.after, v, x, x);
  hk_pins_push_forward(a, a->before->time + k.h, x, v);
  return HK_OK;
}
