/* Symplectic (semi-implicit) Euler, first order, one force evaluation a step:
 *
 *     v+ = v + h M^-1 f(x, v, t),   x+ = x + h v+
 *
 * It keeps a quantity close to the energy, so the energy swings but does not drift. Stable on
 * x'' = -omega^2 x - d x' while h^2 omega^2 + 2 h d < 4.
 */
#include "step/sim.h"

static HkStatus step(HkSim *sim, HkState *s, HkError *error) {
  (void)error;
  double *a = sim->w[0];
  hk_sim_acceleration(sim, s, s->time, s->x, s->v, a);
  hk_sim_axpy(sim, sim->h, a, s->v, s->v);
  hk_sim_axpy(sim, sim->h, s->v, s->x, s->x);
  s->time += sim->h;
  hk_pins_place(sim->model, s, s->time, s->x, s->v);
  return HK_OK;
}

/* The positive root of h^2 omega^2 + 2 h d = 4. */
static double stable_step(const void *params, double omega, double d) {
  (void)params;
  if (omega == 0) return d > 0 ? 2 / d : INFINITY;
  return 4 / (sqrt(d * d + 4 * omega * omega) + d);
}

const HkStepType hk_step_symplectic_euler = {
    .schema = {.name = "symplectic_euler",
               .summary = "first order, energy swings but does not drift; the usual choice",
               .formula = "v+ = v + h M^-1 f(x, v),  x+ = x + h v+"},
    .order = 1,
    .vectors = 1,
    .step = step,
    .stable_step = stable_step,
};
