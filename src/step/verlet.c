/* Verlet in the form drift-kick-drift (position Verlet, leapfrog), second order:
 *
 *     y  = x + h/2 v
 *     a  = M^-1 f(y, v_half, t + h/2)
 *     v+ = v + h a,   x+ = y + h/2 v+
 *
 * Symplectic and symmetric in time where f does not depend on v: the energy oscillates but does not
 * drift, at one force evaluation a step. Where f depends on v, a second evaluation predicts v_half
 * = v + h/2 M^-1 f(y, v, t + h/2), which keeps the order. Held pins are at the positions of their
 * motions at t + h/2 when forces are evaluated.
 *
 * Stability on x'' = -omega^2 x - d x'. With s = h d and c = 1 - s/2 a step has determinant 1 - c s
 * and trace 2 - c h^2 omega^2 - c s; both its eigenvalues stay within the unit circle while
 *
 *     h d <= 2   and   (1 - h d / 2) (h^2 omega^2 + 2 h d) <= 4
 *
 * Undamped that is h <= 2 / omega, and for omega = 0 it is h <= 2 / d. With h omega <= 2 and h d <=
 * 2 the second expression is at most (1 - s/2) (4 + 2 s) = 4 - s^2, so h = 2 / max(omega, d) is
 * always stable, for this pair and for each with less of either; the exact limit of the pair can be
 * larger, but a mode with the same omega and less damping, such as one perpendicular to a spring,
 * has a smaller one.
 */
#include "step/kick.h"

static const HkParam params[] = {HK_KICK_PRECISION};

static HkStatus create(HkSim *sim, HkError *error) {
  return hk_kick_create(sim, true, error);
}

static void update(const HkSim *sim, const HkState *state, HkUpdate *u) {
  (void)state;
  *u = (HkUpdate){.kind = HK_UPDATE_KICK, .before = 0.5 * sim->h, .after = 0.5 * sim->h};
}

static HkStatus step(HkSim *sim, HkState *s, HkError *error) {
  (void)error;
  bool predict = sim->model->velocity_dependent;
  double h = sim->h, middle = s->time + 0.5 * h;
  hk_drift_only(sim, s, 0.5 * h);
  hk_kick_pins(sim, s, middle);
  if (predict) hk_kick_half(sim, s, middle, 0.5 * h);
  hk_kick_drift(sim, s, middle, h, 0.5 * h, predict);
  s->time += h;
  hk_kick_end(sim, s);
  return HK_OK;
}

static double stable_step(const void *chosen, double omega, double d) {
  (void)chosen;
  double fastest = fmax(omega, d);
  return fastest > 0 ? 2 / fastest : INFINITY;
}

static HkStatus to_device(const void *chosen, HkDeviceSettings *settings, HkError *error) {
  (void)error;
  settings->step = HK_DEVICE_VERLET;
  settings->checked |= ((const HkKickParams *)chosen)->precision == HK_KICK_DOUBLE;
  return HK_OK;
}

const HkStepType hk_step_verlet = {
    .schema = {.name = "verlet",
               .summary = "second order, energy swings but does not drift; one evaluation a step",
               .formula = "y = x + h/2 v,  v+ = v + h M^-1 f(y),  x+ = y + h/2 v+",
               HK_PARAMS(HkKickParams, params)},
    .order = 2,
    .drive_time = 0.5,
    .energy_interval = HK_WATCH_EXPLICIT,
    .create = create,
    .destroy = hk_kick_destroy,
    .bytes = hk_kick_bytes,
    .open = hk_kick_open,
    .close = hk_kick_close,
    .update = update,
    .step = step,
    .to_device = to_device,
    .stable_step = stable_step,
};
