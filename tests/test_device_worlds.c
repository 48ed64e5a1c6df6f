/* Linear systems of implicit worlds on a device, which are solved in single precision where that is
 * enough (backend/gpu/world_solve.h): whatever masses and springs are, steps end at the minimum of
 * the host. Without a GPU a plug-in plays the device (tests/plugin). */
#include "hooke/batch.h"

#include "device_world.h"
#include "model_by_hand.h"

#include <math.h>

enum { WORLDS = 4, VERTICES = 11 * 10, STEPS = 2 };

static const char sheet[] =
    "{'time': {'step': 0.01, 'duration': 1}, 'bodies': [{'shape': {'type': 'grid', 'nx': 11, 'ny': "
    "10}, 'springs': {'k': 300, 'shear': true, 'bending': true%s}, 'mass': 0.5}], 'pins': "
    "[{'select': '%s'}], 'forces': ['gravity'], 'integrator': "
    "{'type': 'backward_euler', 'minimizer': {'type': 'newton', 'tolerance': %g, 'iterations': "
    "%d%s}}, 'outputs': []}";

#define PCG ", 'linear': {'type': 'pcg', 'preconditioner': 'block_jacobi', 'iterations': 100000}"

/* Masses and stiffness of single vertices and springs are spread by these powers of ten, on either
 * side, and those of all multiplied by the factors. Rest lengths are a part of the lengths at the
 * start, small enough for tension between the fixed edges, so that g has one minimum. */
typedef struct Spread {
  double masses, stiffness, mass_factor, stiffness_factor, rest, speed;
  const char *pins, *springs;
  int iterations; /* of Newton's method; 0: 300 */
} Spread;

static World make_sheet(const Spread *spread, double tolerance, HkDeviceKind device) {
  char text[1500];
  World w = {0};
  HkError error = {0};
  HkContext context = hk_context_default();
  snprintf(text, sizeof text, sheet, spread->springs, spread->pins, tolerance,
           spread->iterations ? spread->iterations : 300, device == HK_CPU ? "" : PCG);
  const char *json = test_json(text);
  context.device = device;
  HkStatus status =
      hk_scene_parse(&context, json, strlen(json), "scene", NULL, NULL, 0, &w.scene, &error);
  if (status >= 0) status = hk_model_compile(w.scene, &w.model, &error);
  if (status >= 0 && device == HK_CPU) status = hk_sim_create(w.model, NULL, 0, &w.sim, &error);
  if (status >= 0) status = hk_state_create(w.model, &w.state, &error);
  if (status < 0) test_fail("scene", 0, "%s", error.text);
  return w;
}

static double power(uint64_t *seed, double decades) {
  return pow(10, decades * test_random(seed));
}

static HkStatus scatter(HkModel *model, HkState *state, const Spread *spread, uint64_t seed,
                        HkError *error) {
  double mass[VERTICES];
  int64_t springs = hk_model_springs(model).count;
  double *k = calloc((size_t)springs, sizeof *k), *l0 = calloc((size_t)springs, sizeof *l0);
  double *v = hk_state_v(state);
  for (int64_t i = 0; i < VERTICES; i++)
    mass[i] = hk_model_masses(model)[i] * spread->mass_factor * power(&seed, spread->masses);
  for (int64_t s = 0; s < springs; s++) {
    k[s] =
        hk_model_springs(model).k[s] * spread->stiffness_factor * power(&seed, spread->stiffness);
    l0[s] = spread->rest * hk_model_springs(model).l0[s];
  }
  for (int64_t c = 0; c < 3 * (int64_t)VERTICES; c++) v[c] += spread->speed * test_random(&seed);
  HkStatus status = hk_model_set_masses(model, mass, error);
  if (status >= 0) status = hk_state_set_springs(state, model, k, l0, NULL, NULL, error);
  free(k);
  free(l0);
  return status;
}

/* |a - b|_M */
static double distance(const HkModel *model, const double *a, const double *b) {
  const double *mass = hk_model_masses(model);
  double sum = 0;
  for (int64_t c = 0; c < 3 * (int64_t)VERTICES; c++) {
    double d = a[c] - b[c];
    sum += mass[c / 3] * d * d;
  }
  return sqrt(sum);
}

/* H >= M where springs are under tension, so that a step with the relative gradient m is m |x -
 * x_n|_M from the minimum at most; so is that of the host, which solves its step to rounding. Both
 * start a step at the same state. m exceeds the tolerance only at the rounding of coordinates. */
static void check_world(const Spread *spread, double tolerance, uint64_t seed) {
  World base = make_sheet(spread, tolerance, HK_CUDA);
  HkBatch *batch = NULL;
  if (!base.state) return;
  MUST(hk_batch_create(base.model, WORLDS, NULL, 0, &batch, error));
  for (int w = 0; w < WORLDS; w++)
    MUST(scatter(hk_batch_model(batch, w), hk_batch_state(batch, w), spread, seed + (uint64_t)w,
                 error));
  for (int step = 0; step < STEPS; step++) {
    double x[WORLDS][3 * VERTICES], v[WORLDS][3 * VERTICES];
    for (int w = 0; w < WORLDS; w++) {
      memcpy(x[w], hk_state_positions(hk_batch_state(batch, w)), sizeof x[w]);
      memcpy(v[w], hk_state_velocities(hk_batch_state(batch, w)), sizeof v[w]);
    }
    MUST(hk_batch_steps(batch, 1, error));
    for (int w = 0; w < WORLDS; w++) {
      World alone = make_sheet(spread, 1e-12, HK_CPU);
      HkWorldInfo info;
      if (!alone.state) return;
      MUST(scatter(alone.model, alone.state, spread, seed + (uint64_t)w, error));
      memcpy(hk_state_x(alone.state), x[w], sizeof x[w]);
      memcpy(hk_state_v(alone.state), v[w], sizeof v[w]);
      world_steps(&alone, 1);
      MUST(hk_batch_world_info(batch, w, &info, error));
      const double *here = hk_state_positions(alone.state);
      double moved = distance(alone.model, here, x[w]);
      double off = distance(alone.model, here, hk_state_positions(hk_batch_state(batch, w)));
      double most = info.last.gradient + hk_sim_step_info(alone.sim).gradient;
      bool converged = info.last.reason == HK_STOP_CONVERGED && info.last.gradient <= tolerance;
      if (!(converged || info.last.reason == HK_STOP_ROUNDING) || !(off <= 1.01 * most * moved))
        test_fail("world", w, "seed %d, step %d: %g off with m %g, tolerance %g, reason %d",
                  (int)seed, step, off / moved, most, tolerance, (int)info.last.reason);
      world_destroy(&alone);
    }
  }
  hk_batch_destroy(&batch);
  world_destroy(&base);
}

TEST(worlds_with_masses_and_springs_over_six_decades_end_at_the_minimum) {
  static const Spread spreads[] = {
      {0, 0, 1, 1, 0.1, 0.5, "boundary", "", 0},
      {0, 3, 1, 1, 0.1, 0.5, "boundary", "", 0},
      {3, 0, 1, 1, 0.1, 0.5, "boundary", "", 0},
      {3, 3, 1, 1, 0.1, 0.5, "boundary", "", 0},
      {3, 3, 1e-20, 1e-20, 0.1, 0.5, "boundary", "", 0},
      {3, 3, 1e20, 1e20, 0.1, 0.5, "boundary", "", 0},
      {2, 2, 1, 1, 0.1, 0.5, "boundary", ", 'damping': 0.05", 0},
      {2, 2, 1, 1, 0.1, 0.5, "boundary", ", 'tension_only': true", 0},
  };
  device_use_plugin();
  for (size_t q = 0; q < sizeof spreads / sizeof spreads[0]; q++)
    for (uint64_t seed = 1; seed <= 3; seed++) {
      check_world(&spreads[q], 1e-6, 100 * q + 10 * seed);
      check_world(&spreads[q], 1e-9, 100 * q + 10 * seed + 5);
    }
}

/* A sheet that swings about a corner, so stiff that single precision does not resolve its mass
 * beside its springs: h^2 k / m is 7e2 to 7e8. */
TEST(worlds_that_are_too_stiff_for_single_precision_end_at_the_minimum) {
  device_use_plugin();
  for (int q = 0; q <= 6; q += 2) {
    Spread spread = {0, 0, 1, 100 * pow(10, q), 1, 0, "top_left", "", 0};
    check_world(&spread, 1e-6, 1000 + (uint64_t)q);
    check_world(&spread, 1e-9, 2000 + (uint64_t)q);
  }
}

/* After one iteration, the residual in the step info is that of the first direction of the step,
 * whose forcing term is 0.03; HK_ROUND_EXCESS allows a tenth more. */
TEST(directions_of_stiff_worlds_meet_their_forcing_term) {
  device_use_plugin();
  for (int q = 0; q <= 6; q += 2) {
    Spread spread = {0, 0, 1, 100 * pow(10, q), 1, 0, "top_left", "", 1};
    World base = make_sheet(&spread, 1e-6, HK_CUDA);
    HkBatch *batch = NULL;
    HkWorldInfo info;
    if (!base.state) return;
    MUST(hk_batch_create(base.model, 1, NULL, 0, &batch, error));
    MUST(scatter(hk_batch_model(batch, 0), hk_batch_state(batch, 0), &spread, 1, error));
    CHECK(hk_batch_steps(batch, 1, NULL) >= 0);
    CHECK(hk_batch_world_info(batch, 0, &info, NULL) >= 0 && info.last.iterations == 1);
    CHECK(info.last.residual > 0 && info.last.residual <= 1.1 * 0.03);
    hk_batch_destroy(&batch);
    world_destroy(&base);
  }
}
