/* What live changes cost and what they must not break: memory, factorizations, traces, blow-ups. */
#include "live_world.h"
#include "model/model.h"
#include "step/implicit.h"

static const char *const edge = "[{'select': 'top'}]";

/* ---- Factorizations ---- */

typedef struct Counts {
  int64_t analyses, factorizations;
} Counts;

static Counts counts_of(const World *w) {
  Counts c = {-1, -1};
  const HkImplicit *implicit = w->sim->data;
  if (implicit->problem.prefactor)
    hk_prefactor_counts(implicit->problem.prefactor, &c.analyses, &c.factorizations);
  return c;
}

/* One step, after which the matrix must have been analyzed and factorized so often. */
static void check_counts(World *w, int64_t analyses, int64_t factorizations, const char *what) {
  world_steps(w, 1);
  Counts c = counts_of(w);
  if (c.analyses != analyses || c.factorizations != factorizations)
    test_fail(__FILE__, __LINE__, "%s: analyzed %lld times, factorized %lld times", what,
              (long long)c.analyses, (long long)c.factorizations);
}

TEST(matrices_are_factorized_anew_only_for_what_they_hold) {
  World w = world_parse("{'integrator': {'type': 'backward_euler', 'minimizer': {'type': 'newton', "
                        "'linear': {'type': 'pcg', 'preconditioner': 'prefactored'}}}, 'bodies': "
                        "[{'shape': {'type': 'grid', 'nx': 8, 'ny': 8}}], 'pins': [{'select': "
                        "'top'}], 'forces': ['gravity'], 'outputs': [], 'time': {'step': 0.01}}");
  if (!w.state) return;
  HkMethod handle = {0}, wind = {0};
  double target[3] = {0.5, 0.5, 0};
  int index;
  check_counts(&w, 1, 1, "first step");
  MUST(live_handle(&handle, 3, target, 500, error));
  MUST(hk_model_add_force(w.model, &handle, &index, error));
  check_counts(&w, 1, 2, "a handle");
  for (int frame = 0; frame < 10; frame++) {
    target[2] += 0.02;
    MUST(hk_method_set_vector(&handle, "target", target, error));
    MUST(hk_model_set_force(w.model, index, &handle, error));
    check_counts(&w, 1, 2, "a handle that moves");
  }
  MUST(live_force(&wind, "gravity", "g", 3, error));
  MUST(hk_model_set_force(w.model, 1, &wind, error));
  check_counts(&w, 1, 2, "another gravity");
  MUST(hk_model_set_motion(w.model, 0, NULL, error));
  check_counts(&w, 1, 2, "another motion");
  MUST(hk_method_set_number(&handle, "k", 50000, error));
  MUST(hk_model_set_force(w.model, index, &handle, error));
  check_counts(&w, 1, 3, "a stiffer handle");
  MUST(hk_model_scale_stiffness(w.model, 2, error));
  check_counts(&w, 1, 4, "stiffer springs");
  MUST(hk_sim_set_h(w.sim, 0.02, error));
  check_counts(&w, 1, 5, "another step");
  MUST(hk_state_release_pin(w.state, w.model, 63, error));
  check_counts(&w, 2, 6, "a released pin");
  hk_method_clear(&handle);
  hk_method_clear(&wind);
  world_destroy(&w);
}

/* ---- Memory ---- */

typedef struct Meter {
  size_t bytes, calls;
  long allowed; /* calls that succeed; -1: all */
} Meter;

static void *metered(void *user, void *p, size_t bytes) {
  Meter *meter = user;
  if (bytes == 0) {
    free(p);
    return NULL;
  }
  meter->bytes += bytes;
  meter->calls++;
  if (meter->allowed == 0) return NULL;
  if (meter->allowed > 0) meter->allowed--;
  return realloc(p, bytes);
}

static World metered_cloth(Meter *meter, int size, const char *integrator) {
  World w = {0};
  HkContext context = hk_context_default();
  HkError error = {0};
  char text[400];
  meter->allowed = -1;
  context.resize = metered;
  context.memory_user = meter;
  context.threads = 1;
  snprintf(text, sizeof text,
           "{'integrator': '%s', 'bodies': [{'shape': {'type': 'grid', 'nx': %d, 'ny': %d}, "
           "'springs': {'k': 100}}], 'pins': [{'select': 'top'}], 'forces': ['gravity'], "
           "'outputs': [], 'time': {'step': 0.001}}",
           integrator, size, size);
  if (hk_scene_parse(&context, test_json(text), strlen(text), "scene", NULL, NULL, 0, &w.scene,
                     &error) < 0 ||
      hk_model_compile(w.scene, &w.model, &error) < 0 ||
      hk_sim_create(w.model, NULL, 0, &w.sim, &error) < 0 ||
      hk_state_create(w.model, &w.state, &error) < 0) {
    test_fail(__FILE__, __LINE__, "%s", error.text);
    world_destroy(&w);
  }
  return w;
}

TEST(dragging_takes_next_to_no_memory) {
  const char *integrators[] = {"verlet", "backward_euler"};
  for (int q = 0; q < 2; q++) {
    Meter meter = {0};
    HkMethod handle = {0};
    double target[3] = {0.5, 0.5, 0.1};
    int index;
    World w = metered_cloth(&meter, 30, integrators[q]);
    if (!w.state) return;
    MUST(live_handle(&handle, 45, target, 50, error));
    MUST(hk_model_add_force(w.model, &handle, &index, error));
    world_steps(&w, 2);
    meter.bytes = meter.calls = 0;
    for (int frame = 0; frame < 10; frame++) {
      target[2] += 0.01;
      MUST(hk_method_set_vector(&handle, "target", target, error));
      MUST(hk_model_set_force(w.model, index, &handle, error));
      world_steps(&w, 1);
    }
    CHECK(meter.bytes <= 10 * 64 && meter.calls <= 20);
    hk_method_clear(&handle);
    world_destroy(&w);
  }
}

/* Whichever piece of memory is missing: an error, and all is well once there is memory again. */
TEST(missing_memory_after_a_change_can_be_got_over) {
  const char *integrators[] = {"verlet", "backward_euler", "linear_implicit_euler"};
  for (int q = 0; q < 3; q++) {
    int failures = 0;
    for (long allowed = 0; allowed < 200; allowed++) {
      Meter meter = {0};
      HkMethod wind = {0};
      HkError why = {0};
      World w = metered_cloth(&meter, 4, integrators[q]);
      if (!w.state) return;
      MUST(live_force(&wind, "face_wind", NULL, 0, error));
      world_steps(&w, 2);
      double before = hk_state_x(w.state)[1], f[48];
      meter.allowed = allowed;
      HkStatus status = hk_model_add_force(w.model, &wind, NULL, &why);
      if (status >= 0 && meter.allowed == 0) {
        hk_sim_forces(w.sim, w.state, f);
        CHECK(isnan(f[0]));
      }
      if (status >= 0) status = hk_sim_step(w.sim, w.state, &why);
      CHECK(status >= 0 || status == HK_ERROR_MEMORY);
      if (status < 0) CHECK(hk_state_x(w.state)[1] == before);
      meter.allowed = -1;
      if (hk_model_force_count(w.model) == 2) MUST(hk_model_add_force(w.model, &wind, NULL, error));
      world_steps(&w, 2);
      hk_sim_forces(w.sim, w.state, f);
      CHECK(isfinite(f[0]));
      hk_method_clear(&wind);
      world_destroy(&w);
      failures += status < 0;
      if (status >= 0) break;
    }
    CHECK(failures >= 3 && failures < 199);
  }
}

TEST(bytes_of_a_simulation_are_those_of_a_fresh_one) {
  Meter meter = {0};
  HkMethod wind = {0};
  HkSim *fresh = NULL;
  HkState *start = NULL;
  World w = metered_cloth(&meter, 10, "backward_euler");
  if (!w.state) return;
  size_t before = hk_sim_bytes(w.sim);
  MUST(live_force(&wind, "face_wind", NULL, 0, error));
  MUST(hk_model_add_force(w.model, &wind, NULL, error));
  world_steps(&w, 1);
  MUST(hk_sim_create(w.model, NULL, 0, &fresh, error));
  MUST(hk_state_create(w.model, &start, error));
  MUST(hk_sim_step(fresh, start, error));
  CHECK(hk_sim_bytes(w.sim) > before);
  CHECK(hk_sim_bytes(w.sim) == hk_sim_bytes(fresh));
  hk_state_destroy(&start);
  hk_sim_destroy(&fresh);
  hk_method_clear(&wind);
  world_destroy(&w);
}

/* ---- Traces ---- */

static bool count_iteration(void *user, const HkIteration *iteration) {
  (void)iteration;
  ++*(int *)user;
  return true;
}

TEST(traces_go_on_after_a_change) {
  World w = live_cloth("backward_euler", 100, "'gravity'", edge);
  if (!w.state) return;
  HkMethod wind = {0};
  int calls = 0;
  MUST(hk_sim_set_trace(w.sim, count_iteration, &calls, error));
  world_steps(&w, 1);
  CHECK(calls > 0);
  MUST(live_force(&wind, "face_wind", NULL, 0, error));
  MUST(hk_model_add_force(w.model, &wind, NULL, error));
  calls = 0;
  world_steps(&w, 1);
  CHECK(calls > 0);
  hk_method_clear(&wind);
  world_destroy(&w);
}

/* ---- Blow-ups ---- */

static World pair(double k) {
  char text[400];
  snprintf(text, sizeof text,
           "{'bodies': [{'shape': {'type': 'chain', 'n': 2, 'start': [0,0,0], 'end': [1,0,0]}, "
           "'springs': {'k': %g}, 'mass': 2}], 'pins': [{'select': 'start'}], 'outputs': []}",
           k);
  return world_make(text, "verlet", 1e-4, 1);
}

TEST(a_soft_spring_keeps_what_a_stiff_one_gave) {
  World w = pair(1e6);
  if (!w.state) return;
  hk_state_x(w.state)[3] = 1.5;
  world_steps(&w, 15); /* half a swing: fast */
  CHECK(fabs(hk_state_v(w.state)[3]) > 100);
  MUST(hk_model_set_stiffness(w.model, 1e-3, error));
  world_steps(&w, 50);
  HkSim *other = NULL; /* one that never saw the stiff spring */
  MUST(hk_sim_create(w.model, NULL, 1e-4, &other, error));
  hk_sim_destroy(&w.sim);
  w.sim = other;
  world_steps(&w, 50);
  world_destroy(&w);
}

TEST(a_handle_that_lets_go_is_no_blow_up) {
  World w = pair(10);
  if (!w.state) return;
  HkMethod handle = {0};
  MUST(live_handle(&handle, 1, (double[]){300, 0, 0}, 1e5, error));
  MUST(hk_model_add_force(w.model, &handle, NULL, error));
  world_steps(&w, 50); /* on its way to 300 m, 1e9 J and more */
  CHECK(hk_state_x(w.state)[3] > 100);
  hk_state_v(w.state)[3] = 0;
  MUST(hk_model_remove_force(w.model, 1, error));
  world_steps(&w, 5000); /* back, and through the pin */
  CHECK(fabs(hk_state_v(w.state)[3]) > 100);
  hk_method_clear(&handle);
  world_destroy(&w);
}

TEST(a_pin_that_jumps_is_no_blow_up) {
  for (int way = 0; way < 2; way++) {
    World w = pair(10);
    if (!w.state) return;
    HkMethod motion = {0};
    MUST(hk_method_choose(&motion, HK_MOTION, "keyframes", error));
    MUST(hk_method_set_table(&motion, "table", (double[]){0, 1000, 0, 0}, 1, error));
    if (way == 1) MUST(hk_state_release_pin(w.state, w.model, 0, error));
    MUST(hk_model_set_motion(w.model, 0, &motion, error));
    if (way == 1) MUST(hk_state_hold_pin(w.state, w.model, 0, error));
    world_steps(&w, 6000);
    CHECK(fabs(hk_state_v(w.state)[3]) > 1000);
    hk_method_clear(&motion);
    world_destroy(&w);
  }
}

TEST(blow_ups_are_found_after_a_change) {
  World w = live_cloth("symplectic_euler", 100, "'gravity'", edge);
  if (!w.state) return;
  HkStatus status = HK_OK;
  double h = 0;
  world_steps(&w, 5);
  MUST(hk_model_scale_stiffness(w.model, 1e5, error));
  MUST(hk_sim_stable_step(w.sim, w.state, &h, error));
  CHECK(h < 0.001); /* it was 0.01 */
  for (int q = 0; q < 200 && status >= 0; q++) status = hk_sim_step(w.sim, w.state, NULL);
  CHECK(status == HK_ERROR_BLOWUP);
  world_destroy(&w);
}

/* A hand that pulls far harder than the step allows, put anew before each step. */
TEST(blow_ups_are_found_under_a_hand_that_drags_on) {
  World w = live_cloth("verlet", 100, "'gravity'", edge);
  if (!w.state) return;
  HkMethod handle = {0};
  HkStatus status = HK_OK;
  int index, steps = 0;
  MUST(live_handle(&handle, 3, (double[]){0, 0, 0.5}, 1e6, error));
  MUST(hk_model_add_force(w.model, &handle, &index, error));
  for (; steps < 1000 && status >= 0; steps++) {
    MUST(hk_model_set_force(w.model, index, &handle, error));
    status = hk_sim_step(w.sim, w.state, NULL);
  }
  CHECK(status == HK_ERROR_BLOWUP && steps < 20);
  hk_method_clear(&handle);
  world_destroy(&w);
}
