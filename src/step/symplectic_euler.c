/* Symplectic (semi-implicit) Euler, first order, one force evaluation a step:
 *
 *     v+ = v + h M^-1 f(x, v, t),   x+ = x + h v+
 *
 * It conserves a quantity close to the energy, so the energy oscillates but does not drift. Stable
 * on x'' = -omega^2 x - d x' while h^2 omega^2 + 2 h d < 4.
 */
#include "step/kick.h"

static const HkParam params[] = {HK_KICK_PRECISION};

static HkStatus create(HkSim *sim, HkError *error) {
  return hk_kick_create(sim, false, error);
}

static void update(const HkSim *sim, const HkState *state, HkUpdate *u) {
  (void)state;
  *u = (HkUpdate){.kind = HK_UPDATE_KICK, .after = sim->h};
}

static HkStatus step(HkSim *sim, HkState *s, HkError *error) {
  (void)error;
  hk_kick_drift(sim, s, s->time, sim->h, sim->h, false);
  s->time += sim->h;
  hk_kick_end(sim, s);
  return HK_OK;
}

/* The positive root of h^2 omega^2 + 2 h d = 4. */
static double stable_step(const void *chosen, double omega, double d) {
  (void)chosen;
  if (omega == 0) return d > 0 ? 2 / d : INFINITY;
  return 4 / (sqrt(d * d + 4 * omega * omega) + d);
}

static HkStatus to_device(const void *chosen, HkDeviceSettings *settings, HkError *error) {
  (void)error;
  settings->step = HK_DEVICE_SYMPLECTIC;
  settings->checked |= ((const HkKickParams *)chosen)->precision == HK_KICK_DOUBLE;
  return HK_OK;
}

const HkStepType hk_step_symplectic_euler = {
    .schema = {.name = "symplectic_euler",
               .summary = "first order, energy swings but does not drift; the usual choice",
               .formula = "v+ = v + h M^-1 f(x, v),  x+ = x + h v+",
               HK_PARAMS(HkKickParams, params)},
    .order = 1,
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
