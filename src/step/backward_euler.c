/* Backward (implicit) Euler, first order:
 *
 *     x+ = x + h v+,   v+ = v + h M^-1 f(x+, v+, t + h)
 *
 * which is the x+ that minimizes
 *
 *     g(x+) = 1/2 (x+ - y)^T M (x+ - y) + h^2 E(x+),   y = x + h v
 *
 * with forces that have no potential linearized about the prediction (problem.h). A step that is
 * solved is stable: where g(x+) <= g(x), kinetic plus potential energy grows by external work only.
 * It damps: on x'' = -omega^2 x the amplitude shrinks by 1 / sqrt(1 + h^2 omega^2) a step, little
 * for slow modes and nearly to 0 for modes that the step does not resolve. docs/scene.md has
 * measured errors of a falling cloth.
 */
#include "step/implicit.h"

static const HkParam params[] = {HK_IMPLICIT_PARAMS(HkImplicitParams)};

static void update(const HkSim *sim, const HkState *s, HkUpdate *u) {
  double h = sim->h;
  *u = (HkUpdate){
      .stage = {.t = s->time + h, .tau = h, .ahead = h, .now = 1}, .b_x = 1, .y_v = 1, .reach = 1};
}

const HkStepType hk_step_backward_euler = {
    .schema =
        {.name = "backward_euler",
         .summary =
             "first order, every solved step is stable, damps what the step does not resolve and "
             "part of what it does: at 1/60 s a falling cloth of 1 m is 9 cm too low "
             "after half a second (bdf2: 5 cm)",
         .formula = "x+ = argmin 1/2 (x+ - y)^T M (x+ - y) + h^2 E(x+),  y = x + h v",
         HK_PARAMS(HkImplicitParams, params)},
    .order = 1,
    .drive_time = 1,
    .implicit = true,
    .minimizes = true,
    .filters = true,
    .barrier = true,
    .remembers = true,
    .create = hk_implicit_create,
    .destroy = hk_implicit_destroy,
    .bytes = hk_implicit_bytes,
    .update = update,
    .step = hk_implicit_step,
    .to_device = hk_implicit_to_device,
    .stable_step = hk_implicit_stable_step,
    .stability = "every step that is solved to its tolerance is stable",
};
