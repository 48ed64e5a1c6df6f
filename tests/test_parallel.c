/* Springs that are given between the same two vertices act in parallel. */
#include "test.h"
#include "world.h"

/* Two vertices 1.5 m apart, joined by nothing but the rows of a table. */
static const char pair[] =
    "{'time': {'step': 0.001}, 'bodies': [{'mesh': {'vertices': [[0, 0, 0], [0.9, 1.2, 0]]}, "
    "'springs': {'k': 4, 'tension_only': %s, 'table': %s}, 'mass': {'per_vertex': 1}}], "
    "'outputs': []}";

static World make_pair(const char *tension, const char *table) {
  char text[512];
  snprintf(text, sizeof text, pair, tension, table);
  return world_make(text, NULL, 1e-3, 1);
}

TEST(rows_between_the_same_vertices_add_stiffness_and_damping) {
  World w = make_pair("false", "[[0, 1, 10, 1, 0.5], [1, 0, 5, 1, 0.25]]");
  if (!w.state) return;
  HkSpringView s = hk_model_springs(w.model);
  CHECK(s.count == 1 && s.i[0] == 0 && s.j[0] == 1);
  CHECK(s.k[0] == 15 && s.l0[0] == 1 && s.damping && s.damping[0] == 0.75);
  world_destroy(&w);
}

TEST(rows_without_a_stiffness_have_that_of_the_body_each) {
  World w = make_pair("false", "[[0, 1, -1, -1, -1], [1, 0, -1, -1, -1], [0, 1, 2, -1, -1]]");
  if (!w.state) return;
  HkSpringView s = hk_model_springs(w.model);
  CHECK(s.count == 1 && s.k[0] == 10 && s.l0[0] == 1.5);
  world_destroy(&w);
}

TEST(parallel_springs_of_different_lengths_pull_as_two_springs) {
  World w = make_pair("false", "[[0, 1, 10, 1, 0], [1, 0, 5, 1.9, 0], [0, 1, 0, 7, 0]]");
  double f[6], *x = w.state ? hk_state_x(w.state) : NULL;
  for (double scale = 0.4; x && scale < 2; scale += 0.4) {
    x[3] = 0.9 * scale;
    x[4] = 1.2 * scale;
    double pull = 10 * (1.5 * scale - 1) + 5 * (1.5 * scale - 1.9);
    hk_sim_forces(w.sim, w.state, f);
    CHECK_NEAR(f[0], 0.6 * pull, 1e-13);
    CHECK_NEAR(f[4], -0.8 * pull, 1e-13);
  }
  world_destroy(&w);
}

TEST(parallel_springs_without_stiffness_keep_the_first_rest_length) {
  World w = make_pair("false", "[[0, 1, 0, 1, 0], [1, 0, 0, 2, 0]]");
  if (!w.state) return;
  CHECK(hk_model_springs(w.model).k[0] == 0 && hk_model_springs(w.model).l0[0] == 1);
  world_destroy(&w);
}

TEST(tension_only_springs_in_parallel_need_one_rest_length) {
  char text[512];
  HkScene *scene = NULL;
  HkModel *model = NULL;
  World w = make_pair("true", "[[0, 1, 10, 1.1, 0], [1, 0, 5, 1.1, 0]]");
  if (w.state) CHECK(hk_model_springs(w.model).k[0] == 15);
  world_destroy(&w);
  snprintf(text, sizeof text, pair, "true", "[[0, 1, 10, 1.1, 0], [1, 0, 5, 1.2, 0]]");
  const char *json = test_json(text);
  MUST(hk_scene_parse(NULL, json, strlen(json), "scene", NULL, NULL, 0, &scene, error));
  FAILS(hk_model_compile(scene, &model, error), HK_ERROR_INVALID,
        "springs between vertices 0 and 1: tension-only springs in parallel need the same rest "
        "length, but these have 1.1 m and 1.2 m");
  hk_scene_destroy(&scene);
}

TEST(an_edge_that_cells_share_is_one_spring_and_its_first_row_replaces_it) {
  World w = world_parse("{'bodies': [{'mesh': {'vertices': [[0, 0, 0], [1, 0, 0], [0, 1, 0], "
                        "[1, 1, 0]], 'lines': [[1, 2], [2, 1]], 'triangles': [[0, 1, 2], "
                        "[1, 3, 2]]}, 'springs': {'k': 100, 'table': [[0, 1, 7, -1, -1], "
                        "[3, 1, 1, -1, -1], [1, 3, 2, -1, -1]]}}], 'outputs': []}");
  if (!w.state) return;
  HkSpringView s = hk_model_springs(w.model);
  CHECK(s.count == 5);
  CHECK(s.j[0] == 1 && s.k[0] == 7);
  CHECK(s.i[2] == 1 && s.j[2] == 2 && s.k[2] == 100);
  CHECK(s.i[3] == 1 && s.j[3] == 3 && s.k[3] == 3);
  world_destroy(&w);
}

TEST(rows_of_a_springs_file_act_in_parallel_too) {
  char path[512], text[1024];
  snprintf(path, sizeof path, "%s/springs.txt", test_folder());
  FILE *file = fopen(path, "w");
  CHECK(file);
  if (!file) return;
  fputs("0 1 10 1\n1 0 5 1\n", file);
  fclose(file);
  snprintf(text, sizeof text,
           "{'bodies': [{'mesh': {'vertices': [[0, 0, 0], [1, 0, 0]]}, 'springs': {'file': '%s', "
           "'table': [[0, 1, 2, 1, 0]]}}], 'outputs': []}",
           path);
  World w = world_parse(text);
  if (w.state) CHECK(hk_model_springs(w.model).k[0] == 17);
  world_destroy(&w);
}

/* A chain of 40 vertices, long enough for regular groups, whose every spring stands in the table
 * count times with the stiffness k (N/m) and the damping k / 64 (s). */
static World make_chain(int count, double k, const char *integrator) {
  static char text[16384];
  size_t at = (size_t)snprintf(
      text, sizeof text,
      "{'integrator': %s, 'bodies': [{'shape': {'type': 'chain', 'n': 40, 'end': [39, 0, 0]}, "
      "'springs': {'table': [",
      integrator);
  for (int q = 0; q < 39 * count; q++)
    at += (size_t)snprintf(text + at, sizeof text - at, "%s[%d, %d, %g, 0.9, %g]", q ? ", " : "",
                           q % 39, q % 39 + 1, k, k / 64);
  snprintf(text + at, sizeof text - at,
           "]}, 'mass': {'per_vertex': 1}}], 'pins': [{'select': 'start'}], 'forces': ['gravity'], "
           "'outputs': []}");
  return world_make(text, NULL, 0.01, 1);
}

TEST(a_doubled_chain_moves_as_one_of_twice_the_stiffness) {
  static const char *const integrators[] = {"'verlet'", "'backward_euler'",
                                            "{'type': 'verlet', 'precision': 'single'}"};
  for (int q = 0; q < 3; q++) {
    World one = make_chain(1, 64, integrators[q]), two = make_chain(2, 32, integrators[q]);
    if (!one.state || !two.state) return;
    CHECK(hk_model_springs(two.model).count == 39);
    world_steps(&one, 20);
    world_steps(&two, 20);
    size_t bytes = (size_t)(3 * 40) * sizeof(double);
    CHECK(memcmp(hk_state_x(two.state), hk_state_x(one.state), bytes) == 0);
    world_destroy(&one);
    world_destroy(&two);
  }
}
