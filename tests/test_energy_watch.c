/* Energy watch (step/energy_watch.c): motions whose energy grows without a cause are refused, all
 * others are left alone. */
#include "model_by_hand.h"
#include "world.h"

#include "base/vec.h"
#include "step/sim.h"

/* Warnings of a world, the last one kept. */
typedef struct Log {
  int count;
  char last[512];
} Log;

static void keep_warning(void *user, HkLogLevel level, const char *text) {
  Log *log = user;
  if (level != HK_LOG_WARNING) return;
  log->count++;
  snprintf(log->last, sizeof log->last, "%s", text);
}

/* The integrator at a part of its largest stable step at the start; 0: its default step. */
static World watched(const char *text, const char *integrator, double part, Log *log) {
  World w = {0};
  HkError error = {0};
  HkMethod step = {0};
  HkContext context = hk_context_default();
  double stable = 0;
  context.threads = 1;
  context.log = log ? keep_warning : NULL;
  context.log_user = log;
  const char *json = test_json(text);
  bool made =
      hk_scene_parse(&context, json, strlen(json), "test", NULL, NULL, 0, &w.scene, &error) >= 0 &&
      hk_model_compile(w.scene, &w.model, &error) >= 0 &&
      hk_method_choose(&step, HK_STEP, integrator, &error) >= 0 &&
      hk_sim_create(w.model, &step, part > 0 ? 1 : 0, &w.sim, &error) >= 0 &&
      hk_state_create(w.model, &w.state, &error) >= 0 &&
      hk_sim_stable_step(w.sim, w.state, &stable, &error) >= 0;
  if (made && part > 0) made = hk_sim_set_h(w.sim, part * stable, &error) >= 0;
  if (!made) test_fail(__FILE__, __LINE__, "%s", error.text);
  hk_method_clear(&step);
  return w;
}

/* Steps until the first error; 0 if there was none. */
static int64_t first_error(World *w, int64_t steps, int64_t at_once, HkError *error) {
  while (w->state->steps < steps)
    if (hk_sim_steps(w->sim, w->state, at_once, error) < 0) return w->state->steps;
  return 0;
}

/* Sanitizers look at memory, for which a tenth of the steps is enough. */
#if TEST_SANITIZED
enum { STEPS_DIVISOR = 10 };
#else
enum { STEPS_DIVISOR = 1 };
#endif

static void must_go_on(World *w, int64_t steps, const char *what) {
  HkError error = {0};
  if (w->sim && first_error(w, steps / STEPS_DIVISOR, 100, &error))
    test_fail(__FILE__, __LINE__, "%s, %s: %s", what, w->sim->type->schema.name, error.text);
}

/* ---- Growth that is refused ---- */

/* A net of hexagons in free fall at its six corners, each mass 1 kg, nudged by a slow turn. */
static const char *const net =
    "{'bodies': [{'shape': {'type': 'net', 'n': 4, 'side': 1.155}, 'springs': {'k': 300}, 'mass': "
    "{'per_vertex': 1}, 'spin': [0.02, 0.01, 0.015]}], 'pins': [{'select': 'corners'}], 'forces': "
    "['gravity'], 'outputs': []}";

/* The frozen Hessian allows these steps at every time, yet the energy grows without end: springs
 * that stretch and slacken pump the fast modes. */
TEST(a_nudged_net_below_the_stable_step_of_its_start_is_refused) {
  static const char *const names[] = {"symplectic_euler", "verlet"};
  for (int q = 0; q < 4; q++) {
    HkError error = {0};
    World w = watched(net, names[q / 2], q % 2 ? 0.8 : 0.7, NULL);
    if (!w.sim) return;
    int64_t at = first_error(&w, 20000, 1000, &error);
    HkStateInfo r = world_info(&w);
    CHECK(at > 0 && error.status == HK_ERROR_BLOWUP);
    CHECK(strstr(error.text, "the total energy has grown by") && strstr(error.text, "vertex"));
    CHECK(r.total < 1e6);
    world_destroy(&w);
  }
}

/* A pointer to the positions exists: the first growth might be a write, the second one is none. */
TEST(growth_is_refused_although_positions_may_have_been_written) {
  HkError error = {0};
  World w = watched(net, "symplectic_euler", 0.8, NULL);
  if (!w.sim) return;
  hk_state_x(w.state)[0] += 1e-3;
  CHECK(first_error(&w, 20000, 1, &error) > 0);
  CHECK(strstr(error.text, "the total energy has grown by"));
  world_destroy(&w);
}

TEST(halving_the_step_of_the_net_goes_on) {
  World w = watched(net, "symplectic_euler", 0.4, NULL);
  must_go_on(&w, 20000, "net");
  if (w.sim) CHECK(world_info(&w).total < 1e3);
  world_destroy(&w);
}

/* 1 m long, 10 masses of 0.01 kg, 100 kg at the end, horizontal at the start. */
TEST(stiff_strands_by_linearly_implicit_methods_are_refused) {
  static const char *const names[] = {"linear_implicit_euler", "beta"};
  for (int q = 0; q < 2; q++) {
    HkError error = {0};
    World w =
        world_make("{'bodies': [{'shape': {'type': 'chain', 'n': 10}, 'springs': {'k': 1e8}, "
                   "'mass': {'per_vertex': 0.01, 'added': [[9, 99.98]]}}], 'pins': [{'select': "
                   "'start'}], 'forces': ['gravity'], 'outputs': []}",
                   names[q], 1.0 / 60, 1);
    if (!w.sim) return;
    CHECK(first_error(&w, 600, 10, &error) > 0);
    CHECK(error.status == HK_ERROR_BLOWUP);
    CHECK(strstr(error.text, "linear forces only"));
    world_destroy(&w);
  }
}

/* A chain that rests without any force, and is made stiffer: nothing moves, but h is too large. */
TEST(a_step_above_the_stable_one_of_the_present_state_is_logged_once) {
  Log log = {0};
  World w = watched("{'bodies': [{'shape': {'type': 'chain', 'n': 9, 'end': [2, 0, 0]}, 'springs': "
                    "{'k': 100}}], 'outputs': []}",
                    "verlet", 0.9, &log);
  if (!w.sim) return;
  MUST(hk_sim_steps(w.sim, w.state, 5000, error));
  CHECK(log.count == 0);
  MUST(hk_model_scale_stiffness(w.model, 2, error));
  MUST(hk_sim_steps(w.sim, w.state, 10000, error));
  CHECK(log.count == 1);
  CHECK(strstr(log.last, "above the largest stable one of the present state"));
  world_destroy(&w);
}

/* ---- Growth that has a cause, and no growth ---- */

static const char *const cloth =
    "{'bodies': [{'shape': {'type': 'grid', 'nx': 7, 'ny': 7}, 'springs': {'k': 100, 'shear': "
    "true}}], 'pins': [{'select': 'top'%s}], 'forces': ['gravity'%s], 'outputs': []}";

static World cloth_with(const char *pins, const char *forces, const char *integrator) {
  char text[1024];
  snprintf(text, sizeof text, cloth, pins, forces);
  return watched(text, integrator, 0, NULL);
}

static const char *const all[] = {"symplectic_euler", "verlet", "rk4", "linear_implicit_euler",
                                  "beta"};
enum { ALL = sizeof all / sizeof all[0] };

/* At rest, then thrown by hand again and again, a thousand times the energy each time. */
TEST(writing_positions_and_velocities_is_no_alarm) {
  for (int q = 0; q < ALL; q++) {
    World w = cloth_with("", ", {'type': 'drag', 'per_mass': 20}", all[q]);
    for (int kick = 0; kick < 8 && w.sim; kick++) {
      must_go_on(&w, 1500 * (kick + 1), "cloth");
      double *v = hk_state_v(w.state);
      for (int64_t i = 2; i < 3 * w.model->n; i += 3) v[i] = kick;
    }
    world_destroy(&w);
  }
}

TEST(live_changes_and_pins_are_no_alarm) {
  for (int q = 0; q < ALL; q++) {
    World w = cloth_with("", "", all[q]);
    HkMethod load = {0};
    if (!w.sim) return;
    must_go_on(&w, 1000, "before");
    MUST(hk_model_scale_stiffness(w.model, 3, error));
    must_go_on(&w, 2000, "stiffer");
    MUST(hk_method_choose(&load, HK_FORCE, "wind", error));
    MUST(hk_model_add_force(w.model, &load, NULL, error));
    must_go_on(&w, 3000, "wind");
    MUST(hk_state_release_pin(w.state, w.model, hk_model_pins(w.model, &(int64_t){0})[0], error));
    must_go_on(&w, 4000, "released");
    MUST(hk_state_hold_pin(w.state, w.model, hk_model_pins(w.model, &(int64_t){0})[0], error));
    must_go_on(&w, 5000, "held");
    hk_method_clear(&load);
    world_destroy(&w);
  }
}

/* The pins swing near a resonance of the cloth, loads and targets follow tables, wind has gusts. */
TEST(work_from_outside_is_no_alarm) {
  static const char *const forces[] = {
      "", ", {'type': 'wind', 'velocity': [3, 0, 5], 'per_mass': 2}",
      ", {'type': 'handle', 'select': 'all', 'k': 20, 'table': [[0, 0, 0, 0], [0.5, 3, 0, 0], [1, "
      "0, 0, 0], [1.5, 0, 0, 9]]}",
      ", {'type': 'point_load', 'select': 'bottom', 'table': [[0, 0, 0, 0], [0.5, 3, 0, 0], [1, 0, "
      "0, 0], [1.5, 0, 0, 9]]}"};
  for (int q = 0; q < 4 * ALL; q++) {
    World w = cloth_with(q / ALL ? ""
                                 : ", 'motion': {'type': 'oscillation', 'amplitude': [0, 0, 0.3], "
                                   "'frequency': 0.5}",
                         forces[q / ALL], all[q % ALL]);
    if (!w.sim) return;
    must_go_on(&w, (int64_t)(4 / hk_sim_h(w.sim)), forces[q / ALL]);
    world_destroy(&w);
  }
}

/* Every explicit integrator at its default step. Scenes of few vertices for their whole time, the
 * others for as long as a test may take. */
TEST(built_in_scenes_raise_no_alarm) {
  static const char *const explicit[] = {"symplectic_euler", "verlet", "rk4"};
  const char *name, *text;
  for (int q = 0; (text = hk_scene_builtin(q, &name, NULL)); q++)
    for (int e = 0; e < 3 && !world_has_contact(text); e++) {
      World w = watched(text, explicit[e], 0, NULL);
      if (!w.sim) return;
      double steps = w.model->time.duration / hk_sim_h(w.sim);
      must_go_on(&w, (int64_t)fmin(steps, 4e6 / (double)w.model->n), name);
      world_destroy(&w);
    }
}

/* Sheets that are stretched, so that all springs are in tension, and shaken a little: near the
 * limit the energy of symplectic methods swings by up to (1 + r) / (1 - r) = 39 times. */
TEST(small_motions_near_the_stable_step_raise_no_alarm) {
  static const char *const explicit[] = {"symplectic_euler", "verlet", "rk4"};
  char text[512];
  for (int q = 0; q < 12; q++) {
    uint64_t seed = (uint64_t)q;
    snprintf(text, sizeof text,
             "{'bodies': [{'shape': {'type': 'grid', 'nx': %d, 'ny': %d}, 'springs': {'k': %g, "
             "'shear': true}, 'stretch': [1.3, 1.2, 1]}], 'pins': [{'select': 'boundary'}], "
             "'outputs': []}",
             5 + q, 4 + q % 3, pow(10, q % 4));
    World w = watched(text, explicit[q % 3], 0.95, NULL);
    HkError error = {0};
    if (!w.sim) return;
    double size = 1e-4 / hk_sim_h(w.sim);
    for (int64_t i = 0; i < 3 * w.model->n; i++)
      hk_state_v(w.state)[i] += size * test_random(&seed);
    if (first_error(&w, 20000, 1000, &error)) test_fail(__FILE__, q, "%s", error.text);
    world_destroy(&w);
  }
}

/* One mode alone at 0.95 of its limit, started where its energy is least. */
TEST(the_swing_of_one_mode_is_what_the_shadow_energy_says) {
  World w = watched("{'bodies': [{'mesh': {'vertices': [[1, 0, 0]]}}], 'forces': [{'type': "
                    "'handle', 'select': 'all', 'k': 1}], 'outputs': []}",
                    "symplectic_euler", 0.95, NULL);
  if (!w.sim) return;
  double least = INFINITY, most = 0;
  hk_state_v(w.state)[0] = -1;
  for (int q = 0; q < 20000; q++) {
    MUST(hk_sim_step(w.sim, w.state, error));
    double e = world_info(&w).total;
    least = fmin(least, e);
    most = fmax(most, e);
  }
  CHECK_NEAR(most / least, 1.95 / 0.05, 0.1);
  world_destroy(&w);
}

/* One step stretches springs that turn, and the energy is hundreds of times what there was; the
 * next steps damp it. The motion depends on every bit: ldlt gives the same ones everywhere. */
TEST(stretching_that_linearly_implicit_steps_damp_again_is_no_alarm) {
  World w = world_builtin("net", NULL, 1);
  HkMethod step = {0};
  if (!w.sim) return;
  hk_sim_destroy(&w.sim);
  MUST(hk_model_scale_stiffness(w.model, 1e4, error));
  MUST(hk_method_choose(&step, HK_STEP, "linear_implicit_euler", error));
  CHECK(hk_method_set_method(&step, "linear", "ldlt", NULL) != NULL);
  MUST(hk_sim_create(w.model, &step, 1.0 / 24, &w.sim, error));
  double first = world_info(&w).total, most = first;
  for (int q = 0; q < 200; q++) {
    MUST(hk_sim_step(w.sim, w.state, error));
    most = fmax(most, world_info(&w).total);
  }
  CHECK(most > first + 1000);
  hk_method_clear(&step);
  world_destroy(&w);
}

/* ---- The motion itself ---- */

/* Looks fall within calls, at their ends, and between them. */
TEST(looks_do_not_change_the_motion) {
  for (int q = 0; q < ALL; q++) {
    World a = watched(net, all[q], 0, NULL), b = watched(net, all[q], 0, NULL);
    if (!a.sim || !b.sim) return;
    MUST(hk_sim_steps(a.sim, a.state, 1100, error));
    for (int s = 0; s < 1100; s++) {
      MUST(hk_sim_move(b.sim, b.state, error)); /* without any check */
      b.state->steps++;
    }
    size_t bytes = 3 * (size_t)a.model->n * sizeof(double);
    CHECK(memcmp(hk_state_x(a.state), hk_state_x(b.state), bytes) == 0);
    CHECK(memcmp(hk_state_v(a.state), hk_state_v(b.state), bytes) == 0);
    world_destroy(&a);
    world_destroy(&b);
  }
}
