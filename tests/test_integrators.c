/* Every integrator of the registry against exact solutions: the oscillator, the damped one, the
 * normal modes of a chain. */
#include "world.h"

#include "step/sim.h"

static const double pi = 3.14159265358979323846;

/* m = 1 kg, k = 4 N/m, omega = 2 rad/s, pulled out by 0.1 m along x. The motion stays on the x
 * axis, where the spring is linear. */
static const char *const oscillator =
    "{'bodies': [{'shape': {'type': 'chain', 'n': 2}, 'springs': {'k': 4},"
    " 'stretch': [1, 1, 1], 'mass': {'per_vertex': 1}}], 'pins': [{'select': 'start'}],"
    " 'outputs': []}";

static const char *const damped =
    "{'bodies': [{'shape': {'type': 'chain', 'n': 2}, 'springs': {'k': 4, "
    "'damping': 0.5},"
    " 'mass': {'per_vertex': 1}}], 'pins': [{'select': 'start'}], 'outputs': []}";

static double exact_oscillator(double t) {
  return 0.1 * cos(2 * t);
}

static double exact_damped(double t) {
  double g = 0.25, w = sqrt(4 - g * g);
  return 0.1 * exp(-g * t) * (cos(w * t) + g / w * sin(w * t));
}

/* Error of the free mass at t = 2 s with the given number of steps. */
static double error_at_end(const char *text, const char *integrator, int steps,
                           double (*exact)(double)) {
  double end = 2;
  World w = world_make(text, integrator, end / steps, 1);
  if (!w.state) return NAN;
  hk_state_x(w.state)[3] = 1 + exact(0);
  world_steps(&w, steps);
  double error = fabs(hk_state_x(w.state)[3] - 1 - exact(end));
  CHECK_NEAR(hk_state_time(w.state), end, 1e-9);
  CHECK(hk_state_x(w.state)[4] == 0 && hk_state_x(w.state)[5] == 0);
  world_destroy(&w);
  return error;
}

static void check_order(const char *text, double (*exact)(double)) {
  const HkSchema *schema;
  for (int q = 0; (schema = hk_schema_at(HK_STEP, q)); q++) {
    int order = hk_step_type(schema)->order, steps = order >= 4 ? 100 : 2000;
    double coarse = error_at_end(text, schema->name, steps, exact);
    double fine = error_at_end(text, schema->name, 2 * steps, exact);
    double observed = log2(coarse / fine);
    if (!(fabs(observed - order) < 0.1))
      test_fail(schema->name, 0, "order %.3f observed, %d claimed (errors %g, %g)", observed, order,
                coarse, fine);
  }
}

TEST(every_integrator_has_its_order_on_the_oscillator) {
  check_order(oscillator, exact_oscillator);
}

TEST(every_integrator_has_its_order_with_damping) {
  check_order(damped, exact_damped);
}

TEST(forward_euler_gains_energy_at_the_exact_rate) {
  double h = 0.01;
  World w = world_make(oscillator, "forward_euler", h, 1);
  hk_state_x(w.state)[3] = 1.1;
  double before = world_info(&w).total;
  CHECK_NEAR(before, 0.5 * 4 * 0.01, 1e-15);
  world_steps(&w, 1000);
  double factor = pow(1 + 4 * h * h, 1000);
  CHECK_NEAR(world_info(&w).total / before, factor, 1e-10 * factor);
  world_destroy(&w);
}

TEST(symplectic_euler_keeps_its_shadow_energy) {
  /* v^2/2 + omega^2 x^2/2 - h omega^2 x v / 2 is kept exactly on the oscillator. */
  double h = 0.1;
  World w = world_make(oscillator, "symplectic_euler", h, 1);
  double *x = hk_state_x(w.state), *v = hk_state_v(w.state);
  x[3] = 1.1;
  for (int q = 0; q < 10000; q++) {
    world_steps(&w, 1);
    double u = x[3] - 1, shadow = 0.5 * v[3] * v[3] + 2 * u * u - h * 2 * u * v[3];
    if (fabs(shadow - 0.02) > 1e-12) {
      test_fail(__FILE__, __LINE__, "shadow energy %.17g at step %d", shadow, q);
      break;
    }
  }
  world_destroy(&w);
}

enum { N = 7 };

/* Largest error of the chain's displacements from mode j after 0.3 periods. */
static double mode_error(const char *integrator, int mode, int steps) {
  const char *text = "{'bodies': [{'shape': {'type': 'chain', 'n': 9, 'end': [8, 0, 0]}, "
                     "'springs': {'k': 50}, 'mass': {'per_vertex': 0.5}}], "
                     "'pins': [{'select': 'ends'}], 'outputs': []}";
  double omega = 2 * sqrt(50 / 0.5) * sin(mode * pi / (2 * (N + 1))), phase = 2 * pi * 0.3;
  World w = world_make(text, integrator, phase / omega / steps, 1);
  if (!w.state) return NAN;
  double *x = hk_state_x(w.state), most = 0;
  for (int p = 1; p <= N; p++) x[3 * p] = p + 0.1 * sin(mode * p * pi / (N + 1));
  world_steps(&w, steps);
  for (int p = 1; p <= N; p++)
    most = fmax(most, fabs(x[3 * p] - p - 0.1 * sin(mode * p * pi / (N + 1)) * cos(phase)));
  world_destroy(&w);
  return most;
}

/* A chain of n free masses between two pins swings along itself with
 * omega_j = 2 sqrt(k / m) sin(j pi / (2 (n + 1))). */
TEST(every_integrator_has_its_order_on_the_normal_modes_of_a_chain) {
  const HkSchema *schema;
  for (int q = 0; (schema = hk_schema_at(HK_STEP, q)); q++) {
    int order = hk_step_type(schema)->order, steps = order >= 4 ? 40 : 400;
    for (int mode = 1; mode <= N; mode++) {
      double coarse = mode_error(schema->name, mode, steps);
      double fine = mode_error(schema->name, mode, 2 * steps);
      if (!(fabs(log2(coarse / fine) - order) < 0.1 && coarse < 1e-3))
        test_fail(schema->name, 0, "mode %d: order %.3f, errors %g and %g m", mode,
                  log2(coarse / fine), coarse, fine);
    }
  }
}

TEST(stable_step_of_a_chain_is_exact_and_sharp) {
  const char *text = "{'bodies': [{'shape': {'type': 'chain', 'n': 30, 'end': [29, 0, 0]}, "
                     "'springs': {'k': 50}, 'mass': {'per_vertex': 0.5}}], "
                     "'pins': [{'select': 'ends'}], 'outputs': []}";
  double omega = 2 * sqrt(50 / 0.5) * sin(28 * pi / (2 * 29)), h = 0;
  const char *names[] = {"symplectic_euler", "verlet"};
  for (int q = 0; q < 2; q++) {
    World w = world_make(text, names[q], 1e-3, 1);
    MUST(hk_sim_stable_step(w.sim, w.state, &h, error));
    CHECK_NEAR(h, 2 / omega, 0.01 * 2 / omega);
    world_destroy(&w);
    for (int side = 0; side < 2; side++) {
      w = world_make(text, names[q], (side ? 1.02 : 0.98) * 2 / omega, 1);
      double *x = hk_state_x(w.state);
      for (int p = 1; p < 29; p++) x[3 * p] += 1e-3 * ((p % 3) - 1);
      HkStatus status = HK_OK;
      for (int s = 0; s < 5000 && status >= 0; s++) status = hk_sim_step(w.sim, w.state, NULL);
      CHECK(status == (side ? HK_ERROR_BLOWUP : HK_OK));
      world_destroy(&w);
    }
  }
}
