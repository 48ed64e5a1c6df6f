/* Laws that hold for every model: conservation, equilibrium, symmetry. */
#include "world.h"

/* Sum over the springs of the force at rest, by its closed form. */
TEST(hanging_chain_stretches_by_the_weight_below) {
  World w =
      world_parse("{'bodies': [{'shape': {'type': 'chain', 'n': 11, 'end': [0, -1, 0]}, "
                  "'springs': "
                  "{'k': 200, 'damping': 2}, 'mass': {'per_vertex': 0.1}}], 'pins': [{'select': "
                  "'start'}], 'forces': [{'type': 'gravity', 'g': 9.81}, {'type': 'drag', "
                  "'per_mass': 4}], 'time': {'step': 0.001}, 'outputs': []}");
  if (!w.state) return;
  world_steps(&w, 30000);
  const double *x = hk_state_x(w.state);
  for (int q = 0; q < 10; q++) {
    double extension = x[3 * q + 1] - x[3 * q + 4] - 0.1;
    CHECK_NEAR(extension, (10 - q) * 0.1 * 9.81 / 200, 1e-9);
  }
  world_destroy(&w);
}

/* At rest the horizontal part of the tension is the same in all springs and its vertical part grows
 * by m g at each mass: the discrete catenary. */
TEST(chain_between_two_nails_is_a_catenary) {
  World w =
      world_parse("{'dimension': 2, 'bodies': [{'shape': {'type': 'chain', 'n': 21}, 'springs': "
                  "{'EA': 100, 'rest_scale': 1.3, 'damping': 0.3}, 'mass': {'per_vertex': 0.02}}], "
                  "'pins': [{'select': 'ends'}], 'forces': ['gravity', {'type': 'drag', "
                  "'per_mass': 3}], 'time': {'step': 0.0005}, 'outputs': []}");
  if (!w.state) return;
  world_steps(&w, 40000);
  const double *x = hk_state_x(w.state);
  HkSpringView s = hk_model_springs(w.model);
  double first[2] = {0, 0};
  for (int64_t q = 0; q < s.count; q++) {
    double dx = x[3 * s.j[q]] - x[3 * s.i[q]], dy = x[3 * s.j[q] + 1] - x[3 * s.i[q] + 1];
    double l = hypot(dx, dy), tension = s.k[q] * (l - s.l0[q]);
    double T[2] = {tension * dx / l, tension * dy / l};
    if (q == 0) memcpy(first, T, sizeof T);
    CHECK(tension > 0);
    CHECK_NEAR(T[0], first[0], 1e-8);
    CHECK_NEAR(T[1], first[1] + (double)q * 0.02 * 9.81, 1e-8);
  }
  CHECK_NEAR(first[1], -0.5 * 19 * 0.02 * 9.81, 1e-8); /* each nail bears half the weight */
  world_destroy(&w);
}

TEST(free_fall_is_exact_and_strain_free) {
  World w = world_make("{'bodies': [{'shape': {'type': 'block', 'nx': 4, 'ny': 4, 'nz': 4}, "
                       "'springs': {'k': 1000, 'damping': 1}}], 'forces': ['gravity'], "
                       "'outputs': []}",
                       "verlet", 1e-3, 1);
  if (!w.state) return;
  double y = hk_state_x(w.state)[1];
  world_steps(&w, 1000);
  HkStateInfo r = world_info(&w);
  CHECK_NEAR(r.strain_max, 0, 1e-12);
  CHECK_NEAR(r.strain_min, 0, 1e-12);
  CHECK_NEAR(hk_state_x(w.state)[1] - y, -0.5 * 9.81, 1e-10);
  CHECK_NEAR(r.kinetic, 0.5 * 9.81 * 9.81, 1e-9); /* 1 kg */
  world_destroy(&w);
}

TEST(momentum_is_kept_without_pins_by_every_integrator) {
  const HkSchema *schema;
  for (int q = 0; (schema = hk_schema_at(HK_STEP, q)); q++) {
    World w = world_make(
        "{'bodies': [{'shape': {'type': 'tet_block'}, 'stretch': [1.2, 0.9, 1.1], "
        "'spin': "
        "[1, 2, 3], 'velocity': [0.3, -0.2, 0.5], 'springs': {'k': 100, 'damping': 0.01}, "
        "'mass': {'total': 3}}], 'outputs': []}",
        schema->name, 1e-4, 1);
    if (!w.state) return;
    HkStateInfo before = world_info(&w);
    world_steps(&w, 500);
    HkStateInfo after = world_info(&w);
    /* Those that are not symplectic keep the angular momentum to their order only. */
    const char *exact[] = {"symplectic_euler", "verlet"};
    bool rough = true;
    for (int e = 0; e < 2; e++) rough = rough && strcmp(schema->name, exact[e]) != 0;
    /* K+ leaves out what springs under pressure do when they turn, a torque of first order in h. */
    bool linearized =
        strcmp(schema->name, "linear_implicit_euler") == 0 || strcmp(schema->name, "beta") == 0;
    double tolerance = linearized ? 3e-3 : rough ? 1e-3 : 1e-11;
    for (int c = 0; c < 3; c++) {
      CHECK_NEAR(after.momentum[c], before.momentum[c], 1e-9); /* 500 steps to m <= 1e-9 */
      CHECK_NEAR(after.angular_momentum[c], before.angular_momentum[c], tolerance);
    }
    CHECK_NEAR(before.momentum[0], 0.9, 1e-12);
    world_destroy(&w);
  }
}

TEST(energy_is_kept_bounded_by_symplectic_methods) {
  /* Short here; test_lattice runs the full five seconds of the 20^3 lattice. */
  const char *names[] = {"symplectic_euler", "verlet"};
  for (int q = 0; q < 2; q++) {
    World w = world_make("{'bodies': [{'shape': {'type': 'block', 'nx': 6, 'ny': 6, 'nz': 6, "
                         "'neighbours': '26'}, 'stretch': [1.1, 1, 1], 'springs': {'k': 1000}, "
                         "'mass': {'per_vertex': 0.01}}], 'outputs': []}",
                         names[q], 5e-5, 1);
    if (!w.state) return;
    double before = world_info(&w).total, most = 0;
    for (int s = 0; s < 100; s++) {
      world_steps(&w, 50);
      most = fmax(most, fabs(world_info(&w).total / before - 1));
    }
    CHECK_NEAR(most, 0, q ? 1e-3 : 1e-2);
    world_destroy(&w);
  }
}

TEST(energies_sum_to_the_total) {
  World w =
      world_parse("{'bodies': [{'shape': 'chain', 'stretch': [1.1, 1, 1], 'velocity': [1, 2, 3]}], "
                  "'forces': ['gravity', {'type': 'handle', 'select': 'end', 'k': 7, "
                  "'target': [2, 0, 0]}], 'time': {'step': 0.001}, 'outputs': []}");
  if (!w.state) return;
  HkStateInfo r = world_info(&w);
  CHECK_NEAR(r.kinetic, 0.5 * 14, 1e-12);
  CHECK(r.spring > 0 && r.other > 0 && fabs(r.gravity) < 1e-12);
  CHECK_NEAR(r.kinetic + r.spring + r.gravity + r.other, r.total, 1e-12 * r.total);
  world_destroy(&w);
}

TEST(plane_model_cannot_leave_its_plane) {
  const char *text = "{'dimension': %d, 'bodies': [{'shape': {'type': 'chain', 'n': 9}, "
                     "'springs': {'k': 100, 'rest_scale': 1.5}}], 'pins': [{'select': "
                     "'ends'}], 'time': {'step': 0.001}, 'outputs': []}";
  for (int dimension = 2; dimension <= 3; dimension++) {
    char scene[512];
    snprintf(scene, sizeof scene, text, dimension);
    World w = world_parse(scene);
    if (!w.state) return;
    double *v = hk_state_v(w.state), most = 0;
    for (int q = 1; q < 8; q++) v[3 * q + 1] = 1e-3; /* it buckles, within the plane */
    if (dimension == 3)
      for (int q = 1; q < 8; q++) v[3 * q + 2] = 1e-3;
    world_steps(&w, 2000);
    for (int q = 0; q < 9; q++) most = fmax(most, fabs(hk_state_x(w.state)[3 * q + 2]));
    CHECK(dimension == 2 ? most == 0 : most > 1e-2);
    world_destroy(&w);
  }
}

TEST(pins_hold_move_and_let_go) {
  World w = world_parse("{'bodies': [{'shape': {'type': 'chain', 'n': 3}, 'springs': "
                        "{'k': 10}}], 'pins': "
                        "[{'select': 'start'}, {'select': 'end', 'motion': {'type': "
                        "'rotation', 'axis': [0, 0, "
                        "1], 'speed': 90}, 'release': 0.5}], 'forces': ['gravity'], "
                        "'time': {'step': 0.001}, "
                        "'outputs': []}");
  if (!w.state) return;
  double *x = hk_state_x(w.state), *v = hk_state_v(w.state);
  world_steps(&w, 500);
  CHECK(x[0] == 0 && x[1] == 0 && x[2] == 0);
  CHECK_NEAR(x[6], cos(0.25 * 3.14159265358979), 1e-12);
  CHECK_NEAR(x[7], sin(0.25 * 3.14159265358979), 1e-12);
  CHECK_NEAR(hypot(v[6], v[7]), 0.5 * 3.14159265358979, 1e-12); /* it keeps its speed when let go */
  double vy = v[7];
  world_steps(&w, 10);
  CHECK(v[7] < vy);
  CHECK_NEAR(x[6] * x[6] + x[7] * x[7], 1, 0.1);
  CHECK(fabs(x[6] * x[6] + x[7] * x[7] - 1) > 1e-6);
  world_destroy(&w);
}

TEST(blow_up_names_time_vertex_spring_and_a_stable_step) {
  World w = world_make("{'bodies': [{'shape': {'type': 'grid', 'nx': 5, 'ny': 5}, 'springs': "
                       "{'k': 1e5}}], 'pins': [{'select': 'top'}], 'forces': ['gravity'], "
                       "'outputs': []}",
                       "symplectic_euler", 0.05, 1);
  if (!w.state) return;
  HkError error = {0};
  HkStatus status = HK_OK;
  for (int s = 0; s < 1000 && status >= 0; s++) status = hk_sim_step(w.sim, w.state, &error);
  CHECK(status == HK_ERROR_BLOWUP);
  const char *parts[] = {"t = ", "vertex ", "spring ", "a step below ", "k = 100000 N/m"};
  for (int q = 0; q < 5; q++)
    if (!strstr(error.text, parts[q]))
      test_fail(__FILE__, __LINE__, "no '%s' in: %s", parts[q], error.text);
  CHECK(isfinite(hk_state_time(w.state)) && hk_state_time(w.state) < 1);
  world_destroy(&w);
}

TEST(long_free_fall_and_fast_pins_are_no_blow_up) {
  World w = world_make("{'bodies': [{'shape': 'spring', 'springs': {'k': 1e-3}}], "
                       "'forces': ['gravity'], "
                       "'outputs': []}",
                       NULL, 0.1, 1);
  if (!w.state) return;
  world_steps(&w, 100000); /* 10000 s: 98 km/s */
  world_destroy(&w);
  w = world_make("{'bodies': [{'shape': 'spring', 'springs': {'k': 1}, 'mass': {'total': 1}}], "
                 "'pins': [{'select': "
                 "'start', 'motion': {'type': 'keyframes', 'table': [[0, 0, 0, 0], [1, 100, 0, "
                 "0]]}}], 'outputs': []}",
                 NULL, 0.01, 1);
  if (!w.state) return;
  world_steps(&w, 1000);
  world_destroy(&w);
}

TEST(loads_and_targets_that_come_later_are_no_blow_up) {
  const char *forces[] = {
      "{'type': 'point_load', 'select': 'all', 'table': [[0.2, 0, 0, 0], [1, 10, 0, 0]]}",
      "{'type': 'handle', 'select': 'all', 'table': [[0.2, 0, 0, 0], [1, 10, 0, 0]]}"};
  for (int q = 0; q < 2; q++) {
    char text[512];
    snprintf(text, sizeof text, "{'bodies': [{'mesh': {'vertices': [[0, 0, 0]]}}], 'forces': [%s]}",
             forces[q]);
    World w = world_make(text, NULL, 0.01, 1);
    if (!w.state) return;
    world_steps(&w, 300);
    CHECK(fabs(hk_state_x(w.state)[0]) > 1);
    world_destroy(&w);
  }
}

TEST(velocities_set_before_the_first_step_are_no_blow_up) {
  World w = world_make("{'bodies': [{'mesh': {'vertices': [[0, 0, 0]]}}]}", NULL, 0.01, 1);
  if (!w.state) return;
  hk_state_v(w.state)[1] = 3;
  world_steps(&w, 100);
  CHECK_NEAR(hk_state_x(w.state)[1], 3, 1e-12);
  world_destroy(&w);
}

TEST(a_handle_with_too_large_a_step_is_a_blow_up) {
  World w = world_make("{'bodies': [{'mesh': {'vertices': [[0, 0, 0]]}}], 'forces': [{'type': "
                       "'handle', 'select': 'all', 'table': [[0, 0, 0, 0], [1, 10, 0, 0]]}]}",
                       NULL, 0.3, 1); /* stable below 0.2 */
  if (!w.state) return;
  HkError error = {0};
  HkStatus status = HK_OK;
  for (int s = 0; s < 50 && status >= 0; s++) status = hk_sim_step(w.sim, w.state, &error);
  CHECK(status == HK_ERROR_BLOWUP && strstr(error.text, "a step below 0.2 s"));
  world_destroy(&w);
}

/* The drag of an exploded state, proportional to its speed, would allow steps of 1e-8 s and less.
 */
TEST(a_blow_up_names_the_stable_step_of_the_start_where_the_state_has_exploded) {
  static const double bounds[] = {NAN, 1e60, 1e300}; /* J; the last state is not finite */
  for (int q = 0; q < 3; q++) {
    char text[256], named[64];
    snprintf(text, sizeof text,
             "{'bodies': [{'shape': 'grid', 'velocity': [1, 2, 3]}], 'pins': [{'select': 'left'}], "
             "'forces': "
             "[{'type': 'drag', 'quadratic': 1}]%s%g}}",
             isnan(bounds[q]) ? ", 'time': {'duration': " : ", 'time': {'energy_bound': ",
             isnan(bounds[q]) ? 1 : bounds[q]);
    World w = world_make(text, "symplectic_euler", 0.1, 1);
    if (!w.state) return;
    HkError error = {0};
    HkStatus status = HK_OK;
    double first = 0;
    CHECK(hk_sim_stable_step(w.sim, w.state, &first, NULL) == HK_OK);
    for (int s = 0; s < 100 && status >= 0; s++) status = hk_sim_step(w.sim, w.state, &error);
    snprintf(named, sizeof named, "a step below %.3g s is stable at the start", first);
    CHECK(status == HK_ERROR_BLOWUP && strstr(error.text, named));
    world_destroy(&w);
  }
}

TEST(gravity_pulls_along_its_direction_however_long_that_is) {
  const char *lengths[] = {"1e-200", "1", "1e200"};
  for (int q = 0; q < 3; q++) {
    char text[256];
    snprintf(text, sizeof text,
             "{'bodies': [{'mesh': {'vertices': [[0, 0, 0]]}}], 'forces': [{'type': "
             "'gravity', 'g': 2, 'direction': [0, 0, %s]}]}",
             lengths[q]);
    World w = world_make(text, NULL, 0.5, 1);
    if (!w.state) return;
    world_steps(&w, 1);
    CHECK(hk_state_v(w.state)[1] == 0 && hk_state_v(w.state)[2] == 1);
    world_destroy(&w);
  }
}

TEST(energy_beyond_all_numbers_is_a_blow_up) {
  World w =
      world_make("{'bodies': [{'shape': 'grid', 'velocity': [1e200, 0, 0]}]}", NULL, 0.001, 1);
  if (!w.state) return;
  FAILS(hk_sim_step(w.sim, w.state, error), HK_ERROR_BLOWUP, "kinetic energy inf J");
  world_destroy(&w);
}

TEST(a_state_that_is_not_finite_is_not_blamed_on_the_step) {
  static const double values[] = {NAN, INFINITY, 1e200}; /* of a velocity; the last overflows */
  for (int q = 0; q < 3; q++) {
    World w = world_make("{'bodies': [{'shape': 'grid'}]}", "verlet", 1e-4, 1);
    if (!w.state) return;
    hk_state_v(w.state)[7] = values[q];
    HkError error = {0};
    CHECK(hk_sim_step(w.sim, w.state, &error) == HK_ERROR_BLOWUP);
    CHECK(strstr(error.text, "check what was written into the state") != NULL);
    CHECK(strstr(error.text, "smaller step") == NULL);
    world_destroy(&w);
  }
}

TEST(stiffness_beyond_all_numbers_has_no_stable_step) {
  HkScene *scene = NULL;
  HkModel *model = NULL;
  HkSim *sim = NULL;
  const char *text = "{'bodies': [{'shape': 'grid', 'springs': {'k': 1e300}}]}";
  MUST(hk_scene_parse(NULL, test_json(text), strlen(text), "scene", NULL, NULL, 0, &scene, error));
  MUST(hk_model_compile(scene, &model, error));
  FAILS(hk_sim_create(model, NULL, 0, &sim, error), HK_ERROR_INVALID, "no stable step");
  hk_model_destroy(&model);
  hk_scene_destroy(&scene);
}
