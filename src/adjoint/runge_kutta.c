/* Derivatives of steps of the classical Runge-Kutta method (step/rk4.c), whose stages are
 *
 *     X_s = x + c_s h V_{s-1},   V_s = v + c_s h A_{s-1},   A_s = M^-1 f(t + c_s h, X_s, V_s)
 *     x+  = x + h sum b_s V_s,   v+ = v + h sum b_s A_s
 *
 * Back, from the last stage to the first, each stage passes its gradients on to the one before it:
 *
 *     l = M^-1 A_s',   X_s' = (df/dx)^T l,   V_s' += (df/dv)^T l
 *     V_{s-1}' += c_s h X_s',   A_{s-1}' += c_s h V_s'
 */
#include "adjoint/adjoint.h"

enum { STAGES = 4 };
static const double reach[STAGES] = {0, 0.5, 0.5, 1};
static const double weight[STAGES] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};

/* Computes X, V and A of a stage. */
static void remake(HkAdjoint *a, int stage, double *X, double *V, double *A) {
  const HkState *s = a->before;
  HkSim *sim = a->sim;
  hk_vectors_copy(&a->space, s->x, X);
  hk_vectors_copy(&a->space, s->v, V);
  hk_sim_acceleration(sim, s, s->time, X, V, A);
  for (int k = 1; k <= stage; k++) {
    hk_sim_axpy(sim, reach[k] * sim->h, V, s->x, X);
    hk_sim_axpy(sim, reach[k] * sim->h, A, s->v, V);
    hk_pins_place(sim->model, s, s->time + reach[k] * sim->h, X, V);
    hk_sim_acceleration(sim, s, s->time + reach[k] * sim->h, X, V, A);
  }
}

HkStatus hk_runge_kutta_back(HkAdjoint *a, HkError *error) {
  (void)error;
  const HkVectors *space = &a->space;
  double h = a->sim->h, t = a->before->time, *x = a->d->arrays.x, *v = a->d->arrays.v;
  double *X = a->w[0], *V = a->w[1], *A = a->w[2], *l = a->w[3], *to_X = a->w[4], *to_V = a->w[5],
         *to_A = a->w[6], *x_end = a->w[7], *v_end = a->w[8];
  hk_pins_pull_back(a, t + h, x, v);
  hk_vectors_copy(space, x, x_end);
  hk_vectors_copy(space, v, v_end);
  hk_vectors_zero(space, to_V);
  hk_vectors_zero(space, to_A);
  for (int s = STAGES - 1; s >= 0; s--) {
    remake(a, s, X, V, A);
    hk_vectors_add(space, weight[s] * h, x_end, to_V, to_V);
    hk_vectors_add(space, weight[s] * h, v_end, to_A, to_A);
    hk_adjoint_accelerate(a, 1, to_A, l);
    hk_adjoint_mass_back(a, A, to_A);
    hk_vectors_zero(space, to_X);
    HkForcesAt forces = hk_adjoint_forces(a, t + reach[s] * h, X, V, 1);
    hk_forces_pull_back(&forces, l, to_X, to_V);
    if (s > 0) hk_pins_pull_back(a, t + reach[s] * h, to_X, to_V);
    hk_vectors_add(space, 1, to_X, x, x);
    hk_vectors_add(space, 1, to_V, v, v);
    hk_vectors_copy(space, to_V, to_A);
    hk_vectors_scale(space, reach[s] * h, to_A);
    hk_vectors_copy(space, to_X, to_V);
    hk_vectors_scale(space, reach[s] * h, to_V);
  }
  return HK_OK;
}

HkStatus hk_runge_kutta_forward(HkAdjoint *a, HkError *error) {
  (void)error;
  const HkVectors *space = &a->space;
  double h = a->sim->h, t = a->before->time, *x = a->d->arrays.x, *v = a->d->arrays.v;
  double *X = a->w[0], *V = a->w[1], *A = a->w[2], *dX = a->w[3], *dV = a->w[4], *dA = a->w[5],
         *df = a->w[6], *x_end = a->w[7], *v_end = a->w[8];
  hk_vectors_copy(space, x, x_end);
  hk_vectors_copy(space, v, v_end);
  hk_vectors_zero(space, dV);
  hk_vectors_zero(space, dA);
  for (int s = 0; s < STAGES; s++) {
    remake(a, s, X, V, A);
    hk_vectors_add(space, reach[s] * h, dV, x, dX);
    hk_vectors_add(space, reach[s] * h, dA, v, dV);
    if (s > 0) hk_pins_push_forward(a, t + reach[s] * h, dX, dV);
    hk_vectors_zero(space, df);
    HkForcesAt forces = hk_adjoint_forces(a, t + reach[s] * h, X, V, 1);
    hk_forces_push_forward(&forces, dX, dV, df);
    hk_adjoint_accelerate(a, 1, df, dA);
    hk_adjoint_mass_forward(a, A, dA);
    hk_vectors_add(space, weight[s] * h, dV, x_end, x_end);
    hk_vectors_add(space, weight[s] * h, dA, v_end, v_end);
  }
  hk_vectors_copy(space, x_end, x);
  hk_vectors_copy(space, v_end, v);
  hk_pins_push_forward(a, t + h, x, v);
  return HK_OK;
}
