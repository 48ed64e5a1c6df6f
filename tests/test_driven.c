/* Order of every integrator where the motion is driven by a moving pin.
 *
 * Mass 1 hangs by a spring k and a damper d on pin 0, which swings along both: x_0 = A sin(W t).
 * Started on it, mass 1 follows the steady swing x_1 = Im(B exp(i W t)) about its rest length,
 * B = A (k + i W d) / (k - W^2 + i W d). An integrator that takes the pin at another time than its
 * stages loses order here.
 */
#include "step/sim.h"
#include "world.h"

#include <complex.h>

static const double K = 100, A = 0.1, W = 6.283185307179586477;

/* Error of position and velocity at 1.7 s, in the midst of a swing, after a number of steps. */
static double driven_error(const char *integrator, double d, int steps) {
  const double end = 1.7;
  double complex B = A * (K + I * W * d) / (K - W * W + I * W * d), last = B * cexp(I * W * end);
  char text[512];
  snprintf(text, sizeof text,
           "{'bodies': [{'shape': {'type': 'chain', 'n': 2, 'end': [0, 1, 0]}, 'springs': {'k': "
           "%g, 'damping': %g}, 'mass': {'per_vertex': 1}}], 'pins': [{'select': 'start', "
           "'motion': {'type': 'oscillation', 'amplitude': [0, %g, 0], 'frequency': 1}}], "
           "'outputs': []}",
           K, d, A);
  World w = world_make(text, integrator, end / steps, 1);
  if (!w.state) return NAN;
  double *x = hk_state_x(w.state), *v = hk_state_v(w.state);
  x[4] = 1 + cimag(B);
  v[4] = cimag(I * W * B);
  world_steps(&w, steps);
  double t = hk_state_time(w.state);
  CHECK_NEAR(t, end, 1e-11);
  CHECK_NEAR(x[1], A * sin(W * t), 1e-15);
  CHECK_NEAR(v[1], W * A * cos(W * t), 1e-14);
  double error = fmax(fabs(x[4] - 1 - cimag(last)), fabs(v[4] - cimag(I * W * last)));
  world_destroy(&w);
  return error;
}

static void check_order(double d) {
  for (int s = 0; s < hk_schema_count(HK_STEP); s++) {
    const HkStepType *type = hk_step_type(hk_schema_at(HK_STEP, s));
    int steps = type->order == 1 ? 16000 : 800;
    double coarse = driven_error(type->schema.name, d, steps);
    double fine = driven_error(type->schema.name, d, 2 * steps), order = log2(coarse / fine);
    if (!(fabs(order - type->order) < 0.15))
      test_fail(__FILE__, __LINE__, "%s with damping %g: errors %g, %g, order %.3f, %d is claimed",
                type->schema.name, d, coarse, fine, order, type->order);
  }
}

TEST(integrators_keep_their_order_with_moving_pins) {
  check_order(0);
}

TEST(integrators_keep_their_order_with_moving_pins_and_damping) {
  check_order(1.5);
}
