/* What breaks solvers: collapsed and compressed springs, pins far away, loose ends, no freedom, no
 * numbers. Every implicit integrator, and backward Euler by every minimizer. */
#include "world.h"

/* The integrators that are not explicit, then backward Euler by each minimizer; false past the
 * last. */
static bool method_at(int index, HkMethod *method) {
  static const char *const implicit[] = {"linear_implicit_euler", "backward_euler", "beta",
                                         "implicit_midpoint",     "trapezoidal",    "bdf2"};
  const int count = sizeof implicit / sizeof implicit[0];
  if (index < count) return hk_method_choose(method, HK_STEP, implicit[index], NULL) >= 0;
  const HkSchema *schema = hk_schema_at(HK_MINIMIZE, index - count);
  if (!schema || hk_method_choose(method, HK_STEP, "backward_euler", NULL) < 0) return false;
  return hk_method_set_method(method, "minimizer", schema->name, NULL) != NULL;
}

static const char *name_of(const HkMethod *method) {
  const HkMethod *minimizer = method->params;
  bool nested = strcmp(method->schema->name, "backward_euler") == 0 && minimizer->schema;
  return nested ? minimizer->schema->name : method->schema->name;
}

static bool is_finite(const World *w) {
  for (int64_t q = 0; q < 3 * hk_state_vertex_count(w->state); q++)
    if (!isfinite(hk_state_x(w->state)[q]) || !isfinite(hk_state_v(w->state)[q])) return false;
  return true;
}

typedef void PrepareFn(World *w);

/* Steps of h from the prepared state with every method; the motion must stay finite. */
static void check(const char *text, PrepareFn *prepare, double h, int steps) {
  HkMethod method = {0};
  int index = 0;
  for (; method_at(index, &method); hk_method_clear(&method), index++) {
    World w = world_make(text, "symplectic_euler", h, 1);
    HkError error = {0};
    HkStatus status = HK_OK;
    if (!w.state) return;
    hk_sim_destroy(&w.sim);
    if (prepare) prepare(&w);
    status = hk_sim_create(w.model, &method, h, &w.sim, &error);
    for (int q = 0; q < steps && status >= 0; q++) status = hk_sim_step(w.sim, w.state, &error);
    if (status < 0) test_fail(name_of(&method), index, "%s", error.text);
    if (!is_finite(&w)) test_fail(name_of(&method), index, "the motion is not finite");
    world_destroy(&w);
  }
  hk_method_clear(&method);
  CHECK(index == 6 + hk_schema_count(HK_MINIMIZE));
}

static const char *const cloth =
    "{'bodies': [{'shape': {'type': 'grid', 'nx': 5, 'ny': 5}, 'springs': {'k': 1000, 'shear': "
    "true, 'bending': true}}], 'pins': [{'select': 'top_left'}, {'select': 'top_right'}], "
    "'forces': ['gravity'], 'outputs': []}";

/* All vertices at one place, where no spring has a direction. */
static void collapse(World *w) {
  double *x = hk_state_x(w->state);
  for (int64_t q = 3; q < 3 * hk_state_vertex_count(w->state); q++) x[q] = x[q % 3];
}

TEST(collapsed_springs_stay_finite) {
  check(cloth, collapse, 1.0 / 30, 30);
}

static void press(World *w) {
  double *x = hk_state_x(w->state);
  uint64_t z = 1;
  for (int64_t q = 0; q < 3 * hk_state_vertex_count(w->state); q++) {
    z = z * 6364136223846793005u + 1442695040888963407u;
    x[q] = 0.05 * x[q] + 1e-3 * ((double)(z >> 40) * 0x1p-24 - 0.5);
  }
}

TEST(strongly_pressed_cloth_stays_finite) {
  check(cloth, press, 1.0 / 30, 30);
}

TEST(a_pin_that_is_pulled_far_away_takes_the_cloth_along) {
  const char *text =
      "{'bodies': [{'shape': {'type': 'grid', 'nx': 5, 'ny': 5}, 'springs': {'k': 1000, 'shear': "
      "true}}], 'pins': [{'select': 'top_left', 'motion': {'type': 'keyframes', 'table': [[0, 0, "
      "0, 0], [0.2, 1000, 0, 0]]}}], 'outputs': []}";
  check(text, NULL, 1.0 / 30, 10);
}

TEST(disconnected_bodies_and_loose_vertices_move_on_their_own) {
  const char *text = "{'bodies': [{'shape': {'type': 'chain', 'n': 3}}, {'shape': {'type': "
                     "'chain', 'n': 2}, 'transform': {'translate': [0, 5, 0]}}, {'mesh': "
                     "{'vertices': [[9, 0, 0]]}}], 'pins': [{'select': {'body': 'body0', 'set': "
                     "'start'}}], 'forces': ['gravity'], 'outputs': []}";
  check(text, NULL, 1.0 / 30, 30);
  /* The loose vertex falls freely: x = -g h^2 n (n + 1) / 2 by backward Euler. */
  World w = world_make(text, "backward_euler", 0.1, 1);
  if (!w.state) return;
  world_steps(&w, 10);
  CHECK_NEAR(hk_state_x(w.state)[16], -9.81 * 0.01 * 55, 1e-9);
  world_destroy(&w);
}

TEST(nothing_is_solved_where_every_vertex_is_pinned) {
  check("{'bodies': [{'shape': {'type': 'grid', 'nx': 4, 'ny': 4}}], 'pins': [{'select': 'all', "
        "'motion': 'oscillation'}], 'forces': ['gravity'], 'outputs': []}",
        NULL, 1.0 / 30, 10);
}

TEST(a_vertex_without_mass_is_an_error) {
  HkScene *scene = NULL;
  HkModel *model = NULL;
  const char *text =
      test_json("{'bodies': [{'shape': {'type': 'chain', 'n': 3}, 'mass': {'per_vertex': 0}}]}");
  MUST(hk_scene_parse(NULL, text, strlen(text), "test", NULL, NULL, 0, &scene, error));
  FAILS(hk_model_compile(scene, &model, error), HK_ERROR_INVALID, "must be above 0");
  hk_scene_destroy(&scene);
}

TEST(a_position_that_is_no_number_ends_the_step_with_an_error) {
  HkMethod method = {0};
  for (int index = 0; method_at(index, &method); hk_method_clear(&method), index++) {
    World w = world_make(cloth, "symplectic_euler", 0.01, 1);
    if (!w.state) return;
    hk_sim_destroy(&w.sim);
    MUST(hk_sim_create(w.model, &method, 0.01, &w.sim, error));
    hk_state_x(w.state)[33] = NAN;
    HkError error = {0};
    CHECK(hk_sim_step(w.sim, w.state, &error) == HK_ERROR_BLOWUP);
    world_destroy(&w);
  }
  hk_method_clear(&method);
}

/* Light vertices between a pin and a tip a thousand times heavier, let go from the horizontal. */
TEST(newton_converges_on_a_stiff_strand_with_a_heavy_tip) {
  World w = world_parse("{'time': {'step': 0.016666666666666666}, 'integrator': 'backward_euler', "
                        "'bodies': [{'shape': {'type': 'chain', 'n': 20, 'end': [1, 0, 0]}, "
                        "'springs': {'k': 1e8}, 'mass': {'per_vertex': 0.01, 'added': [[19, "
                        "9.99]]}}], 'pins': [{'select': 'start'}], 'forces': ['gravity'], "
                        "'outputs': []}");
  for (int q = 0; q < 120 && w.state; q++) {
    CHECK(hk_sim_step(w.sim, w.state, NULL) == HK_OK);
  }
  if (!w.state) return;
  HkStateInfo info = world_info(&w);
  CHECK(info.strain_max < 1e-4 && info.strain_min > -1e-4);
  world_destroy(&w);
}

/* ---- Adaptive steps ---- */

static const char *const swing =
    "{'dimension': 2, 'time': {'step': 0.1, 'tolerance': %g}, 'integrator': '%s', 'bodies': "
    "[{'shape': {'type': 'chain', 'n': 2}, 'springs': {'k': 100}, 'mass': {'per_vertex': 1}}], "
    "'pins': [{'select': 'start'}], 'forces': ['gravity'], 'outputs': []}";

/* The tip after 1 s: an elastic pendulum from the horizontal, and the parts that it took. */
static double tip(const char *integrator, double tolerance, int *parts) {
  char text[512];
  snprintf(text, sizeof text, swing, tolerance, integrator);
  World w = world_parse(text);
  *parts = 0;
  if (!w.state) return NAN;
  for (int q = 0; q < 10; q++) {
    world_steps(&w, 1);
    *parts += hk_sim_step_info(w.sim).substeps;
  }
  CHECK_NEAR(hk_state_time(w.state), 1, 1e-12);
  double x = hk_state_x(w.state)[3];
  world_destroy(&w);
  return x;
}

TEST(adaptive_steps_meet_their_tolerance_with_every_integrator) {
  int parts, fine_parts;
  double exact = tip("rk4", 1e-13, &parts);
  const HkSchema *schema;
  for (int q = 0; (schema = hk_schema_at(HK_STEP, q)); q++) {
    double rough = fabs(tip(schema->name, 1e-4, &parts) - exact);
    double fine = fabs(tip(schema->name, 1e-6, &fine_parts) - exact);
    if (!(fine < 0.5 * rough && fine < 0.02 && fine_parts > parts))
      test_fail(schema->name, 0, "errors %g and %g m with %d and %d parts", rough, fine, parts,
                fine_parts);
  }
}

TEST(bdf2_goes_on_from_a_saved_state_as_if_it_had_not_stopped) {
  char path[512];
  snprintf(path, sizeof path, "%s/state", test_folder());
  World a = world_make(cloth, "bdf2", 0.01, 1), b = world_make(cloth, "bdf2", 0.01, 1);
  if (!a.state || !b.state) return;
  world_steps(&a, 5);
  MUST(hk_state_save(a.state, path, error));
  MUST(hk_state_load(b.state, path, error));
  world_steps(&a, 5);
  world_steps(&b, 5);
  CHECK(memcmp(hk_state_x(a.state), hk_state_x(b.state), 75 * sizeof(double)) == 0);
  world_destroy(&a);
  world_destroy(&b);
}

TEST(a_tolerance_below_rounding_ends_in_few_parts) {
  char text[512];
  snprintf(text, sizeof text, swing, 1e-30, "rk4");
  World w = world_parse(text);
  if (!w.state) return;
  CHECK(hk_sim_step(w.sim, w.state, NULL) == HK_NOT_CONVERGED);
  CHECK(hk_sim_step_info(w.sim).substeps < 100000);
  CHECK_NEAR(hk_state_time(w.state), 0.1, 1e-12);
  world_destroy(&w);
}

TEST(an_adaptive_step_from_no_number_ends_with_an_error) {
  char text[512];
  snprintf(text, sizeof text, swing, 1e-3, "rk4");
  for (int q = 0; q < 6; q++) {
    World w = world_parse(text);
    HkError error = {0};
    if (!w.state) return;
    hk_state_v(w.state)[q] = NAN;
    HkStatus status = hk_sim_step(w.sim, w.state, &error);
    bool free_coordinate = q == 3 || q == 4; /* the first vertex is pinned, and z does not count */
    if (free_coordinate) CHECK(status == HK_ERROR_BLOWUP);
    CHECK(hk_sim_step_info(w.sim).substeps <= 64);
    world_destroy(&w);
  }
}

/* Back at bdf2, the step before was that of an integrator that remembers none: it starts anew. */
TEST(bdf2_does_not_take_up_a_history_that_is_over) {
  World a = world_make(cloth, "bdf2", 0.01, 1), b = world_make(cloth, "verlet", 1e-4, 1);
  HkState *state = NULL;
  if (!a.state || !b.state) return;
  size_t bytes = 75 * sizeof(double);
  world_steps(&a, 5);
  for (int q = 0; q < 5; q++) MUST(hk_sim_step(b.sim, a.state, error));
  MUST(hk_state_create(a.model, &state, error));
  memcpy(hk_state_x(state), hk_state_x(a.state), bytes);
  memcpy(hk_state_v(state), hk_state_v(a.state), bytes);
  hk_state_set_time(state, hk_state_time(a.state));
  world_steps(&a, 1);
  MUST(hk_sim_step(a.sim, state, error));
  CHECK(memcmp(hk_state_x(a.state), hk_state_x(state), bytes) == 0);
  hk_state_destroy(&state);
  world_destroy(&a);
  world_destroy(&b);
}

/* Setting the time, even to the same value, marks x and v as written. */
TEST(bdf2_starts_anew_where_the_time_is_set) {
  World a = world_make(cloth, "bdf2", 0.01, 1), b = world_make(cloth, "bdf2", 0.01, 1);
  if (!a.state || !b.state) return;
  size_t bytes = 75 * sizeof(double);
  world_steps(&a, 5);
  hk_state_x(a.state)[36] += 0.01;
  memcpy(hk_state_x(b.state), hk_state_x(a.state), bytes);
  memcpy(hk_state_v(b.state), hk_state_v(a.state), bytes);
  hk_state_set_time(a.state, hk_state_time(a.state));
  hk_state_set_time(b.state, hk_state_time(a.state));
  world_steps(&a, 1);
  world_steps(&b, 1);
  CHECK(memcmp(hk_state_x(a.state), hk_state_x(b.state), bytes) == 0);
  world_destroy(&a);
  world_destroy(&b);
}
