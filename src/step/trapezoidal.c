/* The trapezoidal rule (Newmark's method with beta = 1/4, gamma = 1/2), second order:
 *
 *     x+ = x + h v + h^2/4 (a + a+),   v+ = v + h/2 (a + a+),   a = M^-1 f(x, v, t)
 *
 * x+ minimizes 1/2 (x+ - y)^T M (x+ - y) + h^2/4 E(x+) with y = x + h v + h^2/4 a, and its velocity
 * is v+ = (x+ - x) 2/h - v. Like the midpoint rule it damps nothing; on linear springs the two have
 * the same amplification. It evaluates forces at the ends of the step, the midpoint rule between
 * them.
 *
 * Contact corrects its steps (contact/correct.c). A barrier would act at the ends of steps: the
 * force at the end of an impact is there again at the start of the next step, and a mass leaves
 * twice as fast as it came (docs/experiments.md).
 */
#include "step/implicit.h"

static const HkParam params[] = {HK_IMPLICIT_PARAMS(HkImplicitParams)};

static void update(const HkSim *sim, const HkState *s, HkUpdate *u) {
  double h = sim->h, half = 0.5 * h;
  *u = (HkUpdate){.stage = {.t = s->time + h, .tau = half, .ahead = h},
                  .b_x = 1,
                  .b_v = half,
                  .y_v = 1,
                  .y_a = half * half,
                  .reach = 1};
}

const HkStepType hk_step_trapezoidal = {
    .schema = {.name = "trapezoidal",
               .summary =
                   "second order (Newmark 1/4, 1/2), keeps the energy of linear springs only",
               .formula = "x+ = x + h v + h^2/4 (a + a+),  v+ = v + h/2 (a + a+)",
               HK_PARAMS(HkImplicitParams, params)},
    .order = 2,
    .drive_time = 0.5,
    .implicit = true,
    .minimizes = true,
    .filters = true,
    .create = hk_implicit_create,
    .destroy = hk_implicit_destroy,
    .bytes = hk_implicit_bytes,
    .update = update,
    .step = hk_implicit_step,
    .stable_step = hk_implicit_stable_step,
    .stability = "every step is stable for linear springs only; the energy of others may grow",
};
