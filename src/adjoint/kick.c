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
  bool half;           /* w is predicted */
  const double *y, *w; /* 3 n */
} Kick;

/* Makes y and w of the step again, in the vectors y and w if they are not the state before the
 * step; `acceleration` (3 n) is overwritten. */
static Kick remake(HkAdjoint *a, double *y, double *w, double *acceleration) {
  const HkUpdate *u = &a->update;
  const HkState *s = a->before;
  HkSim *sim = a->sim;
  Kick k = {.h = sim->h, .t = s->time + u->before, .before = u->before, .after = u->after};
  k.half = u->before > 0 && sim->model->velocity_dependent;
  k.y = u->before > 0 ? y : s->x;
  k.w = u->before > 0 ? w : s->v;
  if (u->before == 0) return k;
  hk_sim_axpy(sim, u->before, s->v, s->x, y);
  hk_vectors_copy(&a->space, s->v, w);
  hk_pins_place(sim->model, s, k.t, y, w);
  if (!k.half) return k;
  hk_sim_acceleration(sim, s, k.t, y, w, acceleration);
  hk_sim_axpy(sim, 0.5 * k.h, acceleration, w, w);
  return k;
}

typedef struct Turn {
  const HkAdjoint *a;
  double after, *l;
} Turn;

/* v' += e x' and l = h M^-1 v', and the derivatives by masses, in one pass. It prefetches x of the
 * state, which often comes from memory, for the forces. */
static void turn_range(void *user, int64_t begin, int64_t end) {
  const Turn *t = user;
  const HkAdjoint *a = t->a;
  const double *from = a->before->v, *to = a->after->v, *x = a->d->arrays.x;
  const double *masses = a->sim->model->mass, h = a->sim->h, after = t->after;
  double *v = a->d->arrays.v, *l = t->l, *mass = a->d->arrays.mass;
  double flat = a->sim->model->dimension == 2 ? 0 : 1;
  for (int64_t i = begin; i < end; i++) {
    __builtin_prefetch(a->before->x + 3 * i);
    double total[3], p = 0, inverse = a->held[i] ? 0 : 1 / masses[i];
    for (int c = 0; c < 3; c++) total[c] = v[3 * i + c] + after * x[3 * i + c];
    for (int c = 0; c < 3; c++) p += (to[3 * i + c] - from[3 * i + c]) * total[c];
    for (int c = 0; c < 3; c++) v[3 * i + c] = total[c];
    l[3 * i] = h * inverse * total[0];
    l[3 * i + 1] = h * inverse * total[1];
    l[3 * i + 2] = flat * h * inverse * total[2];
    mass[i] -= p * inverse;
  }
}

HkStatus hk_kick_back(HkAdjoint *a, HkError *error) {
  (void)error;
  const HkVectors *space = &a->space;
  double *x = a->d->arrays.x, *v = a->d->arrays.v;
  double *w = a->w[1], *l = a->w[3], *to_w = a->w[4], *kick = a->w[5], *start = a->w[6];
  Kick k = remake(a, a->w[0], w, kick);
  hk_pins_pull_back(a, a->before->time + k.h, x, v);
  Turn turn = {a, k.after, l};
  hk_parallel_for(space->threads, space->n, turn_range, &turn);
  HkForcesAt forces = hk_adjoint_forces(a, k.t, k.y, k.w, 1);
  if (k.half) hk_vectors_zero(space, to_w);
  hk_forces_pull_back(&forces, l, x, k.half ? to_w : v); /* x is y' from here on */
  if (k.half) {                                          /* w = start + h/2 a */
    hk_vectors_add(space, 1, to_w, v, v);
    hk_vectors_copy(space, a->before->v, start);
    hk_pins_place(a->sim->model, a->before, k.t, kick, start);
    hk_vectors_subtract(space, w, start, kick);
    hk_adjoint_mass_back(a, kick, to_w);
    hk_adjoint_accelerate(a, 0.5 * k.h, to_w, l);
    forces.v = start;
    hk_forces_pull_back(&forces, l, x, v);
  }
  if (k.before == 0) return HK_OK;
  hk_pins_pull_back(a, k.t, x, v);
  hk_vectors_add(space, k.before, x, v, v);
  return HK_OK;
}

HkStatus hk_kick_forward(HkAdjoint *a, HkError *error) {
  (void)error;
  const HkVectors *space = &a->space;
  const HkModel *m = a->sim->model;
  double *x = a->d->arrays.x, *v = a->d->arrays.v;
  double *w = a->w[1], *dw = a->w[2], *df = a->w[3], *kick = a->w[5], *start = a->w[6],
         *dv = a->w[7];
  Kick k = remake(a, a->w[0], w, kick);
  hk_vectors_add(space, k.before, v, x, x); /* x is dy from here on */
  hk_vectors_copy(space, v, dw);
  if (k.before > 0) hk_pins_push_forward(a, k.t, x, dw);
  HkForcesAt forces = hk_adjoint_forces(a, k.t, k.y, k.w, 1);
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
