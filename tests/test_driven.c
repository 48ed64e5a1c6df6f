/* Order of every integrator where the motion is driven by a moving pin.
 *
 * Mass 1 hangs by a spring k and a damper d on pin 0, which swings: x_0 = A sin(W t). Started on
 * it, mass 1 follows the steady swing x_1 = Im(B exp(i W t)), B = A (k + i W d) / (k - W^2 + i W
 * d). An integrator that takes the pin at another time than its stages loses order here.
 */
#include "test.h"

#include "step/sim.h"

#include <complex.h>

enum { VERTICES = 2, MOST_VECTORS = 32 };

typedef struct Drive {
  double k, d;
} Drive;

static void add_force(const HkForceArgs *a, double *f) {
  const Drive *p = a->params;
  for (int c = 0; c < 3; c++) {
    double pull = p->k * (a->x[3 + c] - a->x[c]) + p->d * (a->v[3 + c] - a->v[c]);
    f[c] += pull;
    f[3 + c] -= pull;
  }
}

static const HkForceType drive_force = {.schema = {.name = "drive"}, .add = add_force};

/* Error of position and velocity at 1.7 s, in the midst of a swing, after a number of steps. */
static double driven_error(const HkStepType *type, Drive drive, const HkMethod *swing, int steps) {
  const double end = 1.7, amplitude = 0.1,
               W = 2 * M_PI; /* the defaults of the oscillation: along y, 1 Hz */
  double complex B = amplitude * (drive.k + I * W * drive.d) / (drive.k - W * W + I * W * drive.d);
  double workspace[MOST_VECTORS][3 * VERTICES] = {{0}}, *w[MOST_VECTORS], partial[4];
  double mass[VERTICES] = {1, 1}, x0[3 * VERTICES] = {0}, v0[3 * VERTICES] = {0};
  double x[3 * VERTICES] = {0}, v[3 * VERTICES] = {0};
  uint8_t held[1] = {1};
  int32_t pinned[1] = {0}, motion_of_pin[1] = {0};
  for (int q = 0; q < MOST_VECTORS; q++) w[q] = workspace[q];
  HkCompiledForce force = {.type = &drive_force, .method = {.params = &drive}};
  HkCompiledMotion motion = {hk_motion_type(swing->schema), *swing, INFINITY};
  HkModel model = {.context = hk_default_context(),
                   .threads = 1,
                   .dimension = 3,
                   .up = 1,
                   .n = VERTICES,
                   .x0 = x0,
                   .v0 = v0,
                   .mass = mass,
                   .forces = &force,
                   .force_count = 1,
                   .velocity_dependent = drive.d != 0,
                   .pin_count = 1,
                   .pin_vertex = pinned,
                   .pin_motion = motion_of_pin,
                   .motions = &motion,
                   .motion_count = 1};
  HkState state = {
      .context = model.context, .n = VERTICES, .pin_count = 1, .x = x, .v = v, .pin_held = held};
  HkSim sim = {.model = &model, .type = type, .h = end / steps, .w = w, .work = {.sums = partial}};
  if (type->vectors > MOST_VECTORS) abort();
  hk_pins_place(&model, &state, 0, x, v);
  x[4] = cimag(B);
  v[4] = cimag(I * W * B);
  for (int q = 0; q < steps; q++)
    if (type->step(&sim, &state, NULL) < 0) return NAN;
  double complex last = B * cexp(I * W * end);
  CHECK_NEAR(state.time, end, 1e-11);
  CHECK_NEAR(x[1], amplitude * sin(W * state.time), 1e-15);
  CHECK_NEAR(v[1], W * amplitude * cos(W * state.time), 1e-14);
  return fmax(fabs(x[4] - cimag(last)), fabs(v[4] - cimag(I * W * last)));
}

static void check_order(double d) {
  HkMethod swing = {0};
  MUST(hk_method_choose(&swing, HK_MOTION, "oscillation", error));
  for (int s = 0; s < hk_schema_count(HK_STEP); s++) {
    const HkStepType *type = hk_step_type(hk_schema_at(HK_STEP, s));
    Drive drive = {100, d};
    int steps = type->order == 1 ? 16000 : 800;
    double coarse = driven_error(type, drive, &swing, steps);
    double fine = driven_error(type, drive, &swing, 2 * steps), order = log2(coarse / fine);
    if (!(fabs(order - type->order) < 0.15))
      test_fail(__FILE__, __LINE__, "%s with damping %g: errors %g, %g, order %.3f, %d is claimed",
                type->schema.name, d, coarse, fine, order, type->order);
  }
  hk_method_clear(&swing);
}

TEST(integrators_keep_their_order_with_moving_pins) {
  check_order(0);
}

TEST(integrators_keep_their_order_with_moving_pins_and_damping) {
  check_order(1.5);
}
