/* The backward differentiation formula of two steps, second order. With r = h / (the step before)
 *
 *     x+ = A x - B x_old + tau v+,   v+ = A v - B v_old + tau M^-1 f(x+, v+, t + h)
 *     A = (1 + r)^2 / (1 + 2 r),   B = r^2 / (1 + 2 r),   tau = h (1 + r) / (1 + 2 r)
 *
 * (4/3, 1/3 and 2/3 h for equal steps), so that x+ minimizes
 *
 *     1/2 (x+ - y)^T M (x+ - y) + tau^2 E(x+),   b = A x - B x_old,   y = b + tau (A v - B v_old)
 *
 * It damps modes that the step does not resolve, as backward Euler does, but slow modes far less:
 * by (h omega)^4 / 4 of the amplitude a step. The first step, and the one after a jump of the time,
 * is one of backward Euler. The old positions and velocities belong to the state.
 */
#include "step/implicit.h"

static const HkParam params[] = {HK_IMPLICIT_PARAMS(HkImplicitParams)};

static void update(const HkSim *sim, const HkState *s, HkUpdate *u) {
  double h = sim->h, A = 1, B = 0, tau = h;
  if (s->h_old > 0) {
    double r = h / s->h_old;
    A = (1 + r) * (1 + r) / (1 + 2 * r);
    B = r * r / (1 + 2 * r);
    tau = h * (1 + r) / (1 + 2 * r);
  }
  *u = (HkUpdate){.stage = {.t = s->time + h, .tau = tau, .ahead = h, .now = A, .old = -B},
                  .b_x = A,
                  .b_old = -B,
                  .y_v = A,
                  .y_old = -B,
                  .reach = 1};
}

static HkStatus to_device(const void *chosen, HkDeviceSettings *settings, HkError *error) {
  HK_TRY(hk_implicit_to_device(chosen, settings, error));
  HK_TRY(hk_implicit_need_multigrid("bdf2", settings, error));
  settings->step = HK_DEVICE_BDF2;
  return HK_OK;
}

const HkStepType hk_step_bdf2 = {
    .schema = {.name = "bdf2",
               .summary =
                   "second order, damps unresolved modes and slow ones hardly at all; a step takes "
                   "about 1.3 times as long as one of backward_euler",
               .formula = "x+ = 4/3 x - 1/3 x_old + 2/3 h v+,  v+ = 4/3 v - 1/3 v_old + 2/3 h "
                          "M^-1 f(x+, v+)",
               HK_PARAMS(HkImplicitParams, params)},
    .order = 2,
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
    .to_device = to_device,
    .device_multigrid = true,
    .stable_step = hk_implicit_stable_step,
    .stability = "every step that is solved to its tolerance is stable",
};
