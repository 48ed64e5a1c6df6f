/* The classical Runge-Kutta method, fourth order, four force evaluations a step.
 *
 * With a(t, x, v) = M^-1 f(x, v, t) and stages x_1 = x, v_1 = v, a_1 = a(t, x_1, v_1),
 *
 *     x_2 = x + h/2 v_1,   v_2 = v + h/2 a_1,   a_2 = a(t + h/2, x_2, v_2)
 *     x_3 = x + h/2 v_2,   v_3 = v + h/2 a_2,   a_3 = a(t + h/2, x_3, v_3)
 *     x_4 = x + h v_3,     v_4 = v + h a_3,     a_4 = a(t + h, x_4, v_4)
 *     x+  = x + h/6 (v_1 + 2 v_2 + 2 v_3 + v_4),   v+ = v + h/6 (a_1 + 2 a_2 + 2 a_3 + a_4)
 *
 * Held pins are at the positions of their motions at the time of each stage. The energy decreases
 * by h^6 omega^6 / 72 of it a step.
 *
 * Stability: each mode is multiplied by P(z) = 1 + z + z^2/2 + z^3/6 + z^4/24, z = h lambda,
 * lambda^2 + d lambda + omega^2 = 0. Undamped |P| <= 1 while h omega <= 2 sqrt 2. Along every ray
 * of the left half plane |P| <= 1 holds at least to |z| = 2.6155 (the least, at 122.7
 * degrees; 2.785 on the real axis), and |lambda| is omega for a pair and less than d for real
 * roots. So h = 2.615 / max(omega, d) is always stable, for this pair and for each with less of
 * either.
 */
#include "step/sim.h"

static void update(const HkSim *sim, const HkState *state, HkUpdate *u) {
  (void)sim;
  (void)state;
  *u = (HkUpdate){.kind = HK_UPDATE_RUNGE_KUTTA};
}

static HkStatus step(HkSim *sim, HkState *s, HkError *error) {
  (void)error;
  static const double reach[] = {0.5, 0.5, 1}, weight[] = {1.0 / 3, 1.0 / 3, 1.0 / 6};
  double *x = sim->w[0], *v = sim->w[1], *a = sim->w[2], *x_sum = sim->w[3], *v_sum = sim->w[4];
  double h = sim->h, t = s->time;
  const double *slope = s->v; /* v of the stage before */
  hk_sim_acceleration(sim, s, t, s->x, s->v, a);
  hk_sim_axpy(sim, h / 6, s->v, s->x, x_sum);
  hk_sim_axpy(sim, h / 6, a, s->v, v_sum);
  for (int stage = 0; stage < 3; stage++) {
    hk_sim_axpy(sim, reach[stage] * h, slope, s->x, x);
    hk_sim_axpy(sim, reach[stage] * h, a, s->v, v);
    slope = v;
    hk_pins_place(sim->model, s, t + reach[stage] * h, x, v);
    hk_sim_acceleration(sim, s, t + reach[stage] * h, x, v, a);
    bool last = stage == 2;
    hk_sim_axpy(sim, weight[stage] * h, v, x_sum, last ? s->x : x_sum);
    hk_sim_axpy(sim, weight[stage] * h, a, v_sum, last ? s->v : v_sum);
  }
  s->time += h;
  hk_pins_place(sim->model, s, s->time, s->x, s->v);
  return HK_OK;
}

static double stable_step(const void *params, double omega, double d) {
  (void)params;
  if (omega == 0 && d == 0) return INFINITY;
  return d == 0 ? 2 * sqrt(2) / omega : 2.615 / fmax(omega, d);
}

const HkStepType hk_step_rk4 = {
    .schema = {.name = "rk4",
               .summary = "fourth order, loses a little energy; four evaluations a step",
               .formula = "y+ = y + h/6 (k1 + 2 k2 + 2 k3 + k4), y = (x, v)"},
    .order = 4,
    .drive_time = 0.5,
    .energy_interval = HK_WATCH_RK4,
    .vectors = 5,
    .update = update,
    .step = step,
    .stable_step = stable_step,
};
