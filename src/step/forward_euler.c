/* Forward (explicit) Euler, first order, one force evaluation a step:
 *
 *     v+ = v + h M^-1 f(x, v, t),   x+ = x + h v       (the old v)
 *
 * Each mode of x'' = -omega^2 x - d x' is multiplied by 1 + h lambda a step, with
 * lambda = (-d +- sqrt(d^2 - 4 omega^2)) / 2. Without damping |1 + h lambda|^2 = 1 + h^2 omega^2:
 * the energy grows by that factor at every step, and no step is stable. With damping
 *
 *     d < 2 omega (a pair):   |1 + h lambda|^2 = 1 - h d + h^2 omega^2, so h < d / omega^2
 *     d >= 2 omega (real):    h < 2 / |lambda| = 4 / (d + sqrt(d^2 - 4 omega^2))
 *
 * This holds for one mode; in a system with many, the mode with the least d / omega^2 decides, and
 * one undamped mode makes every step unstable. The method is here for comparisons.
 */
#include "step/sim.h"

static HkStatus step(HkSim *sim, HkState *s, HkError *error) {
  (void)error;
  double *a = sim->w[0];
  hk_sim_acceleration(sim, s, s->time, s->x, s->v, a);
  hk_sim_axpy(sim, sim->h, s->v, s->x, s->x);
  hk_sim_axpy(sim, sim->h, a, s->v, s->v);
  s->time += sim->h;
  hk_pins_place(sim->model, s, s->time, s->x, s->v);
  return HK_OK;
}

static double stable_step(const void *params, double omega, double d) {
  (void)params;
  if (omega == 0 && d == 0) return INFINITY;
  if (d < 2 * omega) return d / (omega * omega);
  return 4 / (d + sqrt((d - 2 * omega) * (d + 2 * omega)));
}

const HkStepType hk_step_forward_euler = {
    .schema = {.name = "forward_euler",
               .summary = "first order, gains energy at every step; to compare with",
               .formula = "v+ = v + h M^-1 f(x, v),  x+ = x + h v"},
    .order = 1,
    .energy_interval = HK_WATCH_EXPLICIT,
    .vectors = 1,
    .step = step,
    .stable_step = stable_step,
};
