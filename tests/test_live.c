/* Live changes: what is changed between steps moves on as if it had been so from the start. */
#include "live_world.h"

static const char *const edge = "[{'select': 'top'}]";

/* Both go on for some steps and must stay the same, bit for bit. */
static void check_same(World *changed, World *fresh, const char *what) {
  world_steps(changed, 12);
  world_steps(fresh, 12);
  if (!live_same(changed, fresh))
    test_fail(__FILE__, __LINE__, "%s: the motion is not that of a fresh model", what);
}

/* ---- As if it had been so from the start ---- */

TEST(stiffness_changed_between_steps_is_that_of_a_fresh_model) {
  for (int q = 0; q < LIVE_INTEGRATORS; q++) {
    const char *name = live_integrators[q];
    World a = live_cloth(name, 50, "'gravity'", edge), b = live_cloth(name, 150, "'gravity'", edge);
    if (!a.state || !b.state) return;
    world_steps(&a, 20);
    live_take_over(&a, &b);
    MUST(hk_model_scale_stiffness(a.model, 3, error));
    CHECK(hk_state_time(a.state) == hk_state_time(b.state) && live_same(&a, &b));
    check_same(&a, &b, name);
    MUST(hk_model_set_stiffness(a.model, 80, error));
    MUST(hk_model_set_stiffness(b.model, 80, error));
    CHECK(hk_model_info(a.model).k_min == 80 && hk_model_info(a.model).k_max == 80);
    check_same(&a, &b, name);
    world_destroy(&a);
    world_destroy(&b);
  }
}

/* Each with what a scene would say. face_wind asks for neighbors across faces, drag makes the
 * forces depend on the velocity. */
static const struct {
  const char *name, *param;
  double value;
  const char *scene;
} added[] = {{"drag", "linear", 0.3, "{'type': 'drag', 'linear': 0.3}"},
             {"face_wind", "lift", 0.5, "{'type': 'face_wind', 'lift': 0.5}"},
             {"buoyancy", NULL, 0, "'buoyancy'"}};

TEST(forces_added_between_steps_are_those_of_a_fresh_model) {
  for (int q = 0; q < 3 * LIVE_INTEGRATORS; q++) {
    const char *name = live_integrators[q / 3];
    char forces[200];
    HkMethod force = {0};
    int index = -1;
    snprintf(forces, sizeof forces, "'gravity', %s", added[q % 3].scene);
    World a = live_cloth(name, 100, "'gravity'", edge), b = live_cloth(name, 100, forces, edge);
    if (!a.state || !b.state) return;
    world_steps(&a, 20);
    live_take_over(&a, &b);
    MUST(live_force(&force, added[q % 3].name, added[q % 3].param, added[q % 3].value, error));
    MUST(hk_model_add_force(a.model, &force, &index, error));
    hk_method_clear(&force);
    CHECK(index == 2 && hk_model_force_count(a.model) == 3);
    CHECK(strcmp(hk_model_force(a.model, 2)->schema->name, added[q % 3].name) == 0);
    CHECK(live_same(&a, &b));
    check_same(&a, &b, added[q % 3].name);
    world_destroy(&a);
    world_destroy(&b);
  }
}

TEST(another_gravity_is_that_of_a_fresh_model) {
  for (int q = 0; q < LIVE_INTEGRATORS; q++) {
    const char *name = live_integrators[q];
    HkMethod moon = {0};
    World a = live_cloth(name, 100, "'gravity'", edge);
    World b = live_cloth(name, 100, "{'type': 'gravity', 'g': 1.62}", edge);
    if (!a.state || !b.state) return;
    world_steps(&a, 20);
    live_take_over(&a, &b);
    MUST(live_force(&moon, "gravity", "g", 1.62, error));
    MUST(hk_model_set_force(a.model, 1, &moon, error));
    hk_method_clear(&moon);
    check_same(&a, &b, name);
    world_destroy(&a);
    world_destroy(&b);
  }
}

TEST(removed_forces_leave_no_trace) {
  for (int q = 0; q < LIVE_INTEGRATORS; q++) {
    const char *name = live_integrators[q];
    HkMethod handle = {0}, drag = {0};
    World a = live_cloth(name, 100, "'gravity'", edge),
          b = live_cloth(name, 100, "'gravity'", edge);
    if (!a.state || !b.state) return;
    world_steps(&a, 5);
    world_steps(&b, 5);
    MUST(live_handle(&handle, 3, (double[]){0.4, 0.2, 0.3}, 20, error));
    MUST(live_force(&drag, "drag", NULL, 0, error));
    MUST(hk_model_add_force(a.model, &handle, NULL, error));
    MUST(hk_model_add_force(a.model, &drag, NULL, error));
    MUST(hk_model_remove_force(a.model, 2, error)); /* the drag moves up */
    CHECK(strcmp(hk_model_force(a.model, 2)->schema->name, "drag") == 0);
    MUST(hk_model_remove_force(a.model, 2, error));
    check_same(&a, &b, name); /* never acted */
    MUST(hk_model_add_force(a.model, &handle, NULL, error));
    world_steps(&a, 10);
    CHECK(!live_same(&a, &b));
    MUST(hk_model_remove_force(a.model, 2, error));
    live_take_over(&a, &b);
    check_same(&a, &b, name); /* acted for a while */
    hk_method_clear(&handle);
    hk_method_clear(&drag);
    world_destroy(&a);
    world_destroy(&b);
  }
}

TEST(step_and_integrator_change_between_steps) {
  for (int q = 0; q < LIVE_INTEGRATORS; q++) {
    const char *name = live_integrators[q], *next = live_integrators[(q + 1) % LIVE_INTEGRATORS];
    World a = live_cloth(name, 100, "'gravity'", edge),
          b = live_cloth(next, 100, "'gravity'", edge);
    if (!a.state || !b.state) return;
    HkSim *other = NULL;
    HkMethod step = {0};
    world_steps(&a, 10);
    live_take_over(&a, &b);
    MUST(hk_method_choose(&step, HK_STEP, next, error));
    MUST(hk_sim_create(a.model, &step, 0.002, &other, error));
    MUST(hk_sim_set_h(b.sim, 0.002, error));
    hk_method_clear(&step);
    hk_sim_destroy(&a.sim);
    a.sim = other;
    check_same(&a, &b, next);
    world_destroy(&a);
    world_destroy(&b);
  }
}

TEST(pins_follow_another_motion) {
  const char *swing = "[{'select': 'top', 'motion': {'type': 'oscillation', 'amplitude': [0, 0, "
                      "0.2], 'frequency': 3}}]";
  for (int q = 0; q < LIVE_INTEGRATORS; q++) {
    const char *name = live_integrators[q];
    HkMethod motion = {0};
    World a = live_cloth(name, 100, "'gravity'", edge),
          b = live_cloth(name, 100, "'gravity'", swing);
    if (!a.state || !b.state) return;
    world_steps(&a, 10);
    live_take_over(&a, &b);
    MUST(hk_method_choose(&motion, HK_MOTION, "oscillation", error));
    MUST(hk_method_set_vector(&motion, "amplitude", (double[]){0, 0, 0.2}, error));
    MUST(hk_method_set_number(&motion, "frequency", 3, error));
    MUST(hk_model_set_motion(a.model, 0, &motion, error));
    hk_method_clear(&motion);
    check_same(&a, &b, name);
    int64_t count;
    double t = hk_state_time(a.state);
    int32_t vertex = hk_model_pins(a.model, &count)[1];
    CHECK_NEAR(hk_state_x(a.state)[3 * vertex + 2], 0.2 * sin(2 * M_PI * 3 * t), 1e-14);
    MUST(hk_model_set_motion(a.model, 0, NULL, error)); /* fixed where it began */
    world_steps(&a, 1);
    CHECK(hk_state_x(a.state)[3 * vertex + 2] == 0 && hk_state_v(a.state)[3 * vertex + 2] == 0);
    world_destroy(&a);
    world_destroy(&b);
  }
}

/* ---- Pins by hand ---- */

TEST(released_pins_fall_and_can_be_held_again) {
  for (int q = 0; q < LIVE_INTEGRATORS; q++) {
    World w = live_cloth(live_integrators[q], 100, "'gravity'", "[{'select': 'top_left'}]");
    if (!w.state) return;
    int64_t count;
    int32_t pin = hk_model_pins(w.model, &count)[0];
    double *x = hk_state_x(w.state), *v = hk_state_v(w.state), R[3], start[3];
    memcpy(start, x + 3 * pin, sizeof start);
    MUST(hk_state_release_pin(w.state, w.model, pin, error));
    CHECK(memcmp(start, x + 3 * pin, sizeof start) == 0);
    world_steps(&w, 25);
    CHECK_NEAR(v[3 * pin + 1], -9.81 * 0.1, 1e-9); /* all fall alike */
    hk_sim_reactions(w.sim, w.state, R);
    CHECK(R[1] == 0);
    MUST(hk_state_hold_pin(w.state, w.model, pin, error));
    CHECK(memcmp(start, x + 3 * pin, sizeof start) == 0 && v[3 * pin + 1] == 0);
    world_steps(&w, 10);
    CHECK(memcmp(start, x + 3 * pin, sizeof start) == 0);
    hk_sim_reactions(w.sim, w.state, R);
    CHECK(R[1] > 0);
    world_destroy(&w);
  }
}

TEST(pins_held_by_hand_stay_after_their_release) {
  World w = live_cloth("verlet", 100, "'gravity'",
                       "[{'select': 'top_left', 'release': 0.02}, {'select': 'top_right', "
                       "'release': 0.08}]");
  if (!w.state) return;
  int64_t count;
  const int32_t *pins = hk_model_pins(w.model, &count);
  const double *x = hk_state_x(w.state);
  double height = x[3 * pins[0] + 1];
  MUST(hk_state_release_pin(w.state, w.model, pins[1], error));
  MUST(hk_state_hold_pin(w.state, w.model, pins[1], error)); /* before its time: as it was */
  world_steps(&w, 10);
  CHECK(x[3 * pins[0] + 1] < height && x[3 * pins[1] + 1] == height);
  MUST(hk_state_hold_pin(w.state, w.model, pins[0], error));
  world_steps(&w, 30);
  CHECK(x[3 * pins[0] + 1] == height && x[3 * pins[1] + 1] < height);
  MUST(hk_state_release_pin(w.state, w.model, pins[0], error));
  world_steps(&w, 3);
  CHECK(x[3 * pins[0] + 1] < height);
  world_destroy(&w);
}

/* ---- Handles ---- */

TEST(handle_brings_its_vertex_to_the_target) {
  const double target[3] = {0.3, 0.7, -0.4};
  for (int q = 0; q < LIVE_INTEGRATORS; q++) {
    HkMethod handle = {0};
    int index;
    World w =
        world_make("{'bodies': [{'shape': {'type': 'chain', 'n': 3}, 'springs': {'k': 100}}], "
                   "'forces': [{'type': 'drag', 'linear': 1}], 'outputs': []}",
                   live_integrators[q], 0.004, 1);
    if (!w.state) return;
    int32_t vertex = hk_state_nearest(w.state, (double[]){0, 0, 0}, NULL);
    double *x = hk_state_x(w.state) + 3 * vertex, early[3] = {0, 1, 0};
    MUST(live_handle(&handle, vertex, early, 40, error));
    MUST(hk_model_add_force(w.model, &handle, &index, error));
    for (int frame = 0; frame < 20; frame++) { /* dragged along for a while */
      early[0] = 0.02 * frame;
      MUST(hk_method_set_vector(&handle, "target", early, error));
      MUST(hk_model_set_force(w.model, index, &handle, error));
      world_steps(&w, 2);
    }
    MUST(hk_method_set_vector(&handle, "target", target, error));
    MUST(hk_model_set_force(w.model, index, &handle, error));
    world_steps(&w, 3000);
    for (int c = 0; c < 3; c++) CHECK_NEAR(x[c], target[c], 1e-5);
    hk_method_clear(&handle);
    world_destroy(&w);
  }
}

TEST(handles_take_vertices_of_any_body) {
  World w = world_parse("{'bodies': [{'shape': {'type': 'chain', 'n': 3}}, {'shape': {'type': "
                        "'chain', 'n': 3}, 'transform': {'translate': [0, 5, 0]}}], 'outputs': "
                        "[], 'time': {'step': 0.001}}");
  if (!w.state) return;
  HkMethod handle = {0};
  int32_t vertex = hk_state_nearest(w.state, (double[]){0, 5, 0}, NULL);
  CHECK(vertex == 3);
  MUST(live_handle(&handle, vertex, (double[]){0, 6, 0}, 10, error));
  MUST(hk_model_add_force(w.model, &handle, NULL, error));
  double f[18];
  hk_sim_forces(w.sim, w.state, f);
  for (int q = 0; q < 18; q++) CHECK_NEAR(f[q], q == 10 ? 10 : 0, 1e-14);
  vertex = 6;
  MUST(live_handle(&handle, vertex, (double[]){0, 6, 0}, 10, error));
  FAILS(hk_model_set_force(w.model, 1, &handle, error), HK_ERROR_INVALID,
        "vertex 6 is not there: all bodies together have the vertices 0 to 5");
  hk_method_clear(&handle);
  world_destroy(&w);
}

/* ---- What cannot be changed ---- */

TEST(impossible_changes_change_nothing) {
  World a = live_cloth("verlet", 100, "'gravity'", edge),
        b = live_cloth("verlet", 100, "'gravity'", edge);
  if (!a.state || !b.state) return;
  HkMethod gravity = {0}, motion = {0}, springs = {0}, handle = {0}, none = {0};
  MUST(live_force(&gravity, "gravity", NULL, 0, error));
  MUST(live_force(&springs, "springs", NULL, 0, error));
  MUST(live_force(&handle, "handle", NULL, 0, error));
  MUST(hk_method_choose(&motion, HK_MOTION, "keyframes", error));
  HkModel *m = a.model;
  FAILS(hk_model_scale_stiffness(m, 0, error), HK_ERROR_INVALID, "above 0");
  FAILS(hk_model_scale_stiffness(m, NAN, error), HK_ERROR_INVALID, "above 0");
  FAILS(hk_model_scale_stiffness(m, 1e307, error), HK_ERROR_INVALID, "1e+307");
  FAILS(hk_model_set_stiffness(m, -1, error), HK_ERROR_INVALID, "k = -1 N/m");
  FAILS(hk_model_set_stiffness(m, INFINITY, error), HK_ERROR_INVALID, "no stiffness");
  FAILS(hk_model_set_force(m, 0, &gravity, error), HK_ERROR_INVALID, "the springs");
  FAILS(hk_model_remove_force(m, 0, error), HK_ERROR_INVALID, "the springs");
  FAILS(hk_model_set_force(m, 2, &gravity, error), HK_ERROR_INVALID, "the forces 0 to 1");
  FAILS(hk_model_remove_force(m, -1, error), HK_ERROR_INVALID, "no force -1");
  FAILS(hk_model_add_force(m, &springs, NULL, error), HK_ERROR_INVALID, "there already");
  FAILS(hk_model_set_force(m, 1, &springs, error), HK_ERROR_INVALID, "there already");
  FAILS(hk_model_add_force(m, &motion, NULL, error), HK_ERROR_INVALID,
        "'keyframes' is not a force");
  FAILS(hk_model_add_force(m, &none, NULL, error), HK_ERROR_INVALID, "'nothing' is not a force");
  FAILS(hk_model_set_force(m, 1, &handle, error), HK_ERROR_INVALID, "give \"select\"");
  FAILS(hk_model_set_motion(m, 1, &motion, error), HK_ERROR_INVALID, "the scene has 1");
  FAILS(hk_model_set_motion(m, 0, &motion, error), HK_ERROR_INVALID, "at least one row");
  FAILS(hk_model_set_motion(m, 0, &gravity, error), HK_ERROR_INVALID, "is not a motion");
  FAILS(hk_state_release_pin(a.state, m, 0, error), HK_ERROR_INVALID, "vertex 0 has no pin");
  FAILS(hk_state_hold_pin(a.state, m, 1000, error), HK_ERROR_INVALID, "has no pin");
  CHECK(hk_model_force(m, -1) == NULL && hk_model_force(m, 2) == NULL);
  CHECK(hk_model_force_count(m) == 2);
  check_same(&a, &b, "impossible changes");
  HkMethod *all[] = {&gravity, &motion, &springs, &handle};
  for (int q = 0; q < 4; q++) hk_method_clear(all[q]);
  world_destroy(&a);
  world_destroy(&b);
}

TEST(pins_of_another_model_are_refused) {
  World a = live_cloth("verlet", 100, "'gravity'", edge);
  World b = live_cloth("verlet", 200, "'gravity'", edge);
  if (!a.state || !b.state) return;
  FAILS(hk_state_release_pin(a.state, b.model, 24, error), HK_ERROR_INVALID, "another model");
  FAILS(hk_state_hold_pin(a.state, b.model, 24, error), HK_ERROR_INVALID, "another model");
  world_destroy(&a);
  world_destroy(&b);
}

/* States keep their fingerprint: a copy made before a change fits after it. */
TEST(states_stay_valid_over_changes) {
  World w = live_cloth("symplectic_euler", 100, "'gravity'", edge);
  if (!w.state) return;
  HkState *copy = NULL;
  char path[300];
  snprintf(path, sizeof path, "%s/state", test_folder());
  MUST(hk_state_create(w.model, &copy, error));
  MUST(hk_state_save(w.state, path, error));
  MUST(hk_model_scale_stiffness(w.model, 2, error));
  world_steps(&w, 3);
  MUST(hk_state_copy(w.state, copy, error));
  MUST(hk_state_load(copy, path, error));
  MUST(hk_sim_step(w.sim, copy, error));
  hk_state_destroy(&copy);
  world_destroy(&w);
}

/* ---- Masses ---- */

static const char multigrid[] =
    "{'type': 'backward_euler', 'minimizer': {'type': 'newton', 'linear': {'type': 'pcg', "
    "'preconditioner': 'multigrid'}}}";

/* A model whose masses are set moves as one that was compiled with them. */
TEST(masses_may_be_set_between_steps) {
  static const char *const integrators[] = {
      "'verlet'", "{'type': 'symplectic_euler', 'precision': 'single'}",
      "{'type': 'backward_euler', 'minimizer': {'type': 'newton', 'linear': 'ldlt'}}",
      "{'type': 'backward_euler', 'minimizer': {'type': 'local_global', 'factor': 'ldlt'}}",
      multigrid};
  for (int q = 0; q < 5; q++) {
    char text[2][1024];
    for (int heavy = 0; heavy < 2; heavy++)
      snprintf(text[heavy], sizeof text[heavy],
               "{'integrator': %s, 'time': {'step': 0.002}, 'bodies': [{'shape': {'type': 'grid', "
               "'nx': 6, 'ny': 5}, 'springs': {'k': 100}, 'mass': {'per_vertex': %g}, 'spin': [1, "
               "2, 0]}], 'pins': [{'select': 'top'}], 'forces': ['gravity'], 'outputs': []}",
               integrators[q], heavy ? 0.07 : 0.02);
    World w = world_parse(text[0]), heavy = world_parse(text[1]);
    if (!w.sim || !heavy.sim) return;
    world_steps(&w, 1);
    world_steps(&heavy, 1);
    live_take_over(&heavy, &w);
    MUST(hk_model_set_masses(w.model, hk_model_masses(heavy.model), error));
    hk_state_set_time(heavy.state, hk_state_time(heavy.state)); /* both forget the step before */
    world_steps(&w, 10);
    world_steps(&heavy, 10);
    size_t bytes = 90 * sizeof(double);
    CHECK(memcmp(hk_state_x(w.state), hk_state_x(heavy.state), bytes) == 0);
    CHECK(world_info(&w).total == world_info(&heavy).total);
    world_destroy(&w);
    world_destroy(&heavy);
  }
}

TEST(masses_that_cannot_be_are_refused) {
  World w = live_cloth("verlet", 100, "'gravity'", "[{'select': 'top'}]");
  double mass[30];
  for (int i = 0; i < 30; i++) mass[i] = 1;
  mass[7] = 0;
  FAILS(hk_model_set_masses(w.model, mass, error), HK_ERROR_INVALID, "vertex 7: mass = 0 kg");
  mass[7] = NAN;
  FAILS(hk_model_set_masses(w.model, mass, error), HK_ERROR_INVALID, "above 0");
  CHECK(hk_model_masses(w.model)[0] != 1);
  world_destroy(&w);
}
