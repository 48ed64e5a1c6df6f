/* The implicit midpoint rule, second order:
 *
 *     z = (x + x+) / 2,   v+ = v + h M^-1 f(z, (v + v+) / 2, t + h/2),   x+ = x + h (v + v+) / 2
 *
 * Half a step of backward Euler leads to the middle z, which minimizes
 *
 *     1/2 (z - y)^T M (z - y) + h^2/4 E(z),   y = x + h/2 v
 *
 * and the other half extrapolates: x+ = 2 z - x, v+ = 2 (z - x) / (h/2) - v. Symplectic and
 * symmetric: it keeps all momenta and the energy of linear springs exactly. It damps nothing: modes
 * that the step does not resolve oscillate at a wrong frequency. Springs are linear only along
 * their length; if they rotate far within a step that does not resolve them, the extrapolation
 * stretches them, and the energy may grow without bound (Simo and Tarnow 1992). Then bdf2, also of
 * second order, is the better choice.
 *
 * Contact corrects its steps (contact/correct.c): a barrier would hold in the middle of a step, not
 * at the end.
 */
#include "step/implicit.h"

static const HkParam params[] = {HK_IMPLICIT_PARAMS(HkImplicitParams)};

static void update(const HkSim *sim, const HkState *s, HkUpdate *u) {
  double half = 0.5 * sim->h;
  *u = (HkUpdate){
      .stage = {.t = s->time + half, .tau = half, .ahead = half}, .b_x = 1, .y_v = 1, .reach = 2};
}

const HkStepType hk_step_implicit_midpoint = {
    .schema = {.name = "implicit_midpoint",
               .summary =
                   "second order, keeps momenta and the energy of linear springs; damps nothing",
               .formula = "z = argmin 1/2 (z - y)^T M (z - y) + h^2/4 E(z),  y = x + h/2 v,  "
                          "x+ = 2 z - x",
               HK_PARAMS(HkImplicitParams, params)},
    .order = 2,
    .drive_time = 0.5,
    .implicit = true,
    .minimizes = true,
    .create = hk_implicit_create,
    .destroy = hk_implicit_destroy,
    .bytes = hk_implicit_bytes,
    .update = update,
    .step = hk_implicit_step,
    .stable_step = hk_implicit_stable_step,
    .stability = "every step is stable for linear springs only; the energy of others may grow",
};
