/* Meshes into springs and masses. */
#include "world.h"

static int64_t count_kind(const HkModel *model, int kind) {
  HkSpringView s = hk_model_springs(model);
  int64_t count = 0;
  for (int64_t q = 0; q < s.count; q++) count += s.kind[q] == kind;
  return count;
}

/* The scene must not compile, with a message that contains part. */
static void refuses(const char *text, const char *part) {
  HkScene *scene = NULL;
  HkModel *model = NULL;
  HkError error = {0};
  HkStatus status =
      hk_scene_parse(NULL, test_json(text), strlen(text), "scene", NULL, NULL, 0, &scene, &error);
  if (status >= 0) status = hk_model_compile(scene, &model, &error);
  if (status >= 0 || !strstr(error.text, part))
    test_fail(__FILE__, __LINE__, "%s gave '%s', expected '%s'", text, error.text, part);
  hk_model_destroy(&model);
  hk_scene_destroy(&scene);
}

TEST(masses_can_be_added_at_single_vertices) {
  World w = world_parse("{'bodies': [{'shape': {'type': 'chain', 'n': 3}, 'mass': {'per_vertex': "
                        "0.5, 'added': [[2, 4.5], [0, 1]]}}], 'outputs': []}");
  const double *mass = hk_model_masses(w.model);
  CHECK(mass[0] == 1.5 && mass[1] == 0.5 && mass[2] == 5);
  world_destroy(&w);
  HkScene *scene = NULL;
  HkModel *model = NULL;
  const char *text = test_json("{'bodies': [{'shape': {'type': 'chain', 'n': 3}, 'mass': "
                               "{'added': [[3, 1]]}}]}");
  MUST(hk_scene_parse(NULL, text, strlen(text), "test", NULL, NULL, 0, &scene, error));
  FAILS(hk_model_compile(scene, &model, error), HK_ERROR_INVALID, "no vertex 3; they are 0 to 2");
  hk_scene_destroy(&scene);
}

TEST(grid_has_the_springs_of_cloth) {
  World w = world_make("{'bodies': [{'shape': {'type': 'grid', 'nx': 7, 'ny': 5}, 'springs': "
                       "{'k': 3, 'k_shear': 2, 'k_bending': 1, 'shear': true, 'bending': true}}], "
                       "'outputs': []}",
                       NULL, 1e-3, 1);
  if (!w.state) return;
  CHECK(count_kind(w.model, 0) == 6 * 5 + 7 * 4);
  CHECK(count_kind(w.model, 1) == 2 * 6 * 4);
  CHECK(count_kind(w.model, 2) == 5 * 5 + 7 * 3);
  HkSpringView s = hk_model_springs(w.model);
  for (int64_t q = 0; q < s.count; q++) {
    CHECK(s.k[q] == 3 - s.kind[q]);
    CHECK(s.i[q] < s.j[q]);
    if (q > 0) CHECK(s.i[q - 1] < s.i[q] || (s.i[q - 1] == s.i[q] && s.j[q - 1] < s.j[q]));
  }
  world_destroy(&w);
}

TEST(triangles_bend_across_inner_edges) {
  World w = world_make(
      "{'bodies': [{'mesh': {'vertices': [[0,0,0],[1,0,0],[0,1,0],[1,1,0]], 'triangles': "
      "[[0,1,2],[2,1,3]]}, 'springs': {'bending': true}}], 'outputs': []}",
      NULL, 1e-3, 1);
  if (!w.state) return;
  HkSpringView s = hk_model_springs(w.model);
  CHECK(s.count == 6 && count_kind(w.model, 2) == 1);
  CHECK(s.kind[2] == 2 && s.i[2] == 0 && s.j[2] == 3);
  world_destroy(&w);
}

TEST(chains_and_curves_bend_by_skipping_one) {
  World w = world_make("{'bodies': [{'shape': {'type': 'chain', 'n': 6}, 'springs': "
                       "{'bending': true}}, "
                       "{'shape': {'type': 'curve', 'n': 8}, 'springs': {'bending': true}}], "
                       "'outputs': []}",
                       NULL, 1e-3, 1);
  if (!w.state) return;
  CHECK(count_kind(w.model, 0) == 5 + 8 && count_kind(w.model, 2) == 4 + 8);
  world_destroy(&w);
}

TEST(stiffness_per_length_does_not_depend_on_resolution) {
  /* A bar of unit length in series has k = EA whatever its number of springs. */
  for (int n = 2; n <= 50; n += 12) {
    char text[512];
    snprintf(text, sizeof text,
             "{'bodies': [{'shape': {'type': 'chain', 'n': %d, 'end': [2, 0, 0]}, "
             "'springs': "
             "{'EA': 30}}], 'outputs': []}",
             n);
    World w = world_make(text, NULL, 1e-3, 1);
    if (!w.state) return;
    HkSpringView s = hk_model_springs(w.model);
    double flexibility = 0;
    for (int64_t q = 0; q < s.count; q++) flexibility += 1 / s.k[q];
    CHECK_NEAR(1 / flexibility, 15, 1e-10);
    world_destroy(&w);
  }
}

/* Different rest lengths of a strip of square cells. */
static int count_lengths(int nx) {
  enum { MOST = 100 };
  char text[400];
  double lengths[MOST];
  int count = 0;
  snprintf(text, sizeof text,
           "{'bodies': [{'shape': {'type': 'grid', 'nx': %d, 'ny': 4, 'height': %.17g}, "
           "'springs': {'shear': true, 'bending': true}}], 'outputs': []}",
           nx, 3.0 / (nx - 1));
  World w = world_make(text, NULL, 1e-3, 1);
  HkSpringView s = hk_model_springs(w.model);
  for (int64_t q = 0; q < s.count && count < MOST; q++) {
    int k = 0;
    while (k < count && lengths[k] != s.l0[q]) k++;
    if (k == count) lengths[count++] = s.l0[q];
  }
  world_destroy(&w);
  return count;
}

/* Lengths of edges, of diagonals and across two edges; some sizes have lengths whose slots in a
 * table would be the same. */
TEST(a_lattice_has_as_many_lengths_as_kinds_of_springs) {
  CHECK(count_lengths(1500) == 3);
  for (int nx = 4; nx < 400; nx++)
    if (count_lengths(nx) != 3) test_fail(__FILE__, __LINE__, "%d columns: not 3 lengths", nx);
}

TEST(masses_sum_to_what_was_asked_for) {
  const struct {
    const char *shape, *mass;
    double total;
  } cases[] = {
      {"{'type': 'grid', 'nx': 13, 'ny': 4, 'width': 3, 'height': 0.5}", "{'total': 2.5}", 2.5},
      {"{'type': 'grid', 'nx': 13, 'ny': 4, 'width': 3, 'height': 0.5}",
       "{'total': 2.5, 'distribution': 'lumped'}", 2.5},
      {"{'type': 'grid', 'nx': 13, 'ny': 4, 'width': 3, 'height': 0.5}", "{'area_density': 2}", 3},
      {"{'type': 'grid', 'nx': 13, 'ny': 4, 'cells': 'triangles', 'width': 3, "
       "'height': 0.5}",
       "{'area_density': 2}", 3},
      {"{'type': 'chain', 'n': 9, 'end': [2, 0, 0]}", "{'length_density': 0.25}", 0.5},
      {"{'type': 'tet_block'}", "{'volume_density': 1000}", NAN},
      {"{'type': 'chain', 'n': 9}", "{'per_vertex': 0.5}", 4.5},
      {"{'type': 'chain', 'n': 9}", "2", 2},
  };
  for (size_t q = 0; q < sizeof cases / sizeof cases[0]; q++) {
    char text[512];
    snprintf(text, sizeof text, "{'bodies': [{'shape': %s, 'mass': %s}], 'outputs': []}",
             cases[q].shape, cases[q].mass);
    World w = world_make(text, NULL, 1e-3, 1);
    if (!w.state) return;
    HkModelInfo info = hk_model_info(w.model);
    double expected = cases[q].total;
    if (isnan(expected)) {
      expected = 1000;
      for (int c = 0; c < 3; c++) expected *= info.box_max[c] - info.box_min[c];
    }
    CHECK_NEAR(info.mass, expected, 1e-12 * expected);
    world_destroy(&w);
  }
}

TEST(lumped_corner_of_a_grid_has_a_quarter) {
  World w = world_make("{'bodies': [{'shape': {'type': 'grid', 'nx': 3, 'ny': 3}, 'mass': "
                       "{'area_density': 16}}], 'outputs': []}",
                       NULL, 1e-3, 1);
  if (!w.state) return;
  const double *m = hk_model_masses(w.model);
  CHECK_NEAR(m[0], 1, 1e-12);
  CHECK_NEAR(m[1], 2, 1e-12);
  CHECK_NEAR(m[4], 4, 1e-12);
  world_destroy(&w);
}

TEST(springs_file_sets_and_adds_single_springs) {
  char path[512], text[1024];
  snprintf(path, sizeof path, "%s/springs.txt", test_folder());
  FILE *file = fopen(path, "w");
  fprintf(file, "# i j k l0 damping\n0 1 5\n1 2 6 0.5\n\n0 3 7 2 0.25\n");
  fclose(file);
  snprintf(text, sizeof text,
           "{'bodies': [{'shape': {'type': 'chain', 'n': 4, 'end': [3, 0, 0]}, "
           "'springs': {'k': 1, "
           "'file': '%s'}}], 'outputs': []}",
           path);
  World w = world_make(text, NULL, 1e-3, 1);
  if (!w.state) return;
  HkSpringView s = hk_model_springs(w.model);
  CHECK(s.count == 4 && s.damping);
  CHECK(s.k[0] == 5 && s.l0[0] == 1 && s.damping[0] == 0 && s.kind[0] == 0);
  CHECK(s.j[1] == 3 && s.k[1] == 7 && s.l0[1] == 2 && s.damping[1] == 0.25 && s.kind[1] == 3);
  CHECK(s.k[2] == 6 && s.l0[2] == 0.5);
  CHECK(s.k[3] == 1);
  world_destroy(&w);
  const char *bad[] = {"0 1", "0 9 5", "0 0 5", "0 1 -5", "0 1 5 1 1 1", "a b c", "0 1 nan"};
  const char *parts[] = {"k (N/m) is missing", "out of range",    "with itself",
                         "negative",           "expected 'i j k", "not a whole number",
                         "not a finite number"};
  for (int q = 0; q < 7; q++) {
    file = fopen(path, "w");
    fprintf(file, "%s\n", bad[q]);
    fclose(file);
    refuses(text, parts[q]);
  }
  remove(path);
  refuses(text, "cannot open");
}

TEST(rest_lengths_can_be_scaled_or_given) {
  World w = world_make("{'bodies': [{'shape': {'type': 'chain', 'n': 3}, 'springs': "
                       "{'rest_scale': 0.5}}, "
                       "{'shape': {'type': 'chain', 'n': 3}, 'springs': {'rest_length': 0.1, "
                       "'tension_only': true}}], 'outputs': []}",
                       NULL, 1e-3, 1);
  if (!w.state) return;
  HkSpringView s = hk_model_springs(w.model);
  CHECK_NEAR(s.l0[0], 0.25, 1e-15);
  CHECK_NEAR(s.l0[2], 0.1, 1e-15);
  CHECK(s.tension && !s.tension[0] && s.tension[3]);
  world_destroy(&w);
}

TEST(repair_is_asked_for_and_keeps_the_numbers_of_the_file) {
  const char *mesh =
      "'mesh': {'vertices': [[9,9,9],[0,0,0],[1,0,0],[1,0,0],[2,0,0]], 'lines': [[1,2],[2,3],"
      "[3,4]]}, 'mass': {'length_density': 1}";
  char text[1024];
  snprintf(text, sizeof text, "{'bodies': [{%s, 'repair': {'unused': true}}], 'outputs': []}",
           mesh);
  refuses(text, "stand at the same place");
  snprintf(text, sizeof text, "{'bodies': [{%s, 'repair': {'weld': 0}}], 'outputs': []}", mesh);
  refuses(text, "vertex 0 would have 0 kg");
  snprintf(text, sizeof text,
           "{'bodies': [{%s, 'repair': {'weld': 0, 'unused': true}}], 'pins': "
           "[{'select': {'indices': "
           "[4, 3]}}], 'outputs': []}",
           mesh);
  World w = world_make(text, NULL, 1e-3, 1);
  if (!w.state) return;
  HkModelInfo info = hk_model_info(w.model);
  CHECK(info.vertices == 3 && info.springs == 2 && info.pinned == 2);
  int32_t *chosen;
  int64_t count;
  int32_t indices[] = {4, 3};
  HkSelect select = {.kind = HK_SELECT_INDICES, .indices = indices, .count = 2};
  MUST(hk_model_select(w.model, &select, &chosen, &count, error));
  CHECK(count == 2 && chosen[0] == 1 && chosen[1] == 2);
  hk_selection_destroy(w.model, &chosen);
  select.indices = (int32_t[]){0};
  select.count = 1;
  FAILS(hk_model_select(w.model, &select, &chosen, &count, error), HK_ERROR_INVALID, "dropped");
  world_destroy(&w);
}

TEST(selections_find_their_vertices) {
  World w = world_make("{'bodies': [{'name': 'a', 'shape': {'type': 'grid', 'nx': 3, 'ny': 3}}, "
                       "{'name': 'b', 'shape': {'type': 'chain', 'n': 4}, 'transform': "
                       "{'translate': [0, "
                       "5, 0]}}], 'outputs': []}",
                       NULL, 1e-3, 1);
  if (!w.state) return;
  const struct {
    HkSelect select;
    int64_t count;
    int32_t first;
  } cases[] = {
      {{.kind = HK_SELECT_ALL}, 13, 0},
      {{.kind = HK_SELECT_ALL, .body = "b"}, 4, 9},
      {{.kind = HK_SELECT_SET, .set = "corners"}, 4, 0},
      {{.kind = HK_SELECT_SET, .set = "end"}, 1, 12},
      {{.kind = HK_SELECT_BOX, .point = {0.4, -1, -1}, .other = {0.6, 1, 1}}, 3, 1},
      {{.kind = HK_SELECT_SPHERE, .point = {1, 1, 0}, .value = 0.5}, 3, 5},
      {{.kind = HK_SELECT_LOWEST, .axis = 1, .value = 1e-9}, 3, 0},
      {{.kind = HK_SELECT_HIGHEST, .axis = 1, .value = 1e-9}, 4, 9},
      {{.kind = HK_SELECT_HIGHEST, .axis = 1, .value = 1e-9, .body = "a"}, 3, 6},
      {{.kind = HK_SELECT_NEAREST, .point = {0.9, 0.1, 0}}, 1, 2},
      {{.kind = HK_SELECT_INDICES, .body = "b", .indices = (int32_t[]){3, 1}, .count = 2}, 2, 10},
      {{.kind = HK_SELECT_VERTICES, .indices = (int32_t[]){12, 4, 12, 9}, .count = 4}, 3, 4},
  };
  for (size_t q = 0; q < sizeof cases / sizeof cases[0]; q++) {
    int32_t *chosen;
    int64_t count;
    MUST(hk_model_select(w.model, &cases[q].select, &chosen, &count, error));
    if (count != cases[q].count || chosen[0] != cases[q].first)
      test_fail(__FILE__, __LINE__, "case %zu: %lld vertices from %d", q, (long long)count,
                chosen[0]);
    hk_selection_destroy(w.model, &chosen);
  }
  int64_t count;
  int32_t *chosen, last[] = {0, 13};
  HkSelect select = {.kind = HK_SELECT_VERTICES, .indices = last, .count = 2};
  FAILS(hk_model_select(w.model, &select, &chosen, &count, error), HK_ERROR_INVALID,
        "vertex 13 is not there: all bodies together have the vertices 0 to 12");
  select.body = "a";
  FAILS(hk_model_select(w.model, &select, &chosen, &count, error), HK_ERROR_INVALID,
        "counted over all bodies");
  world_destroy(&w);
}

TEST(model_rejects_what_makes_no_sense) {
  refuses("{'bodies': [{'mesh': 'nowhere.obj'}]}", "nowhere.obj: cannot open");
  refuses("{'bodies': [{'mesh': 'x.xyz'}]}", "no mesh format");
  refuses("{'bodies': [{'shape': 'grid', 'springs': {'k': 1, 'EA': 1}}]}", "k or EA, not both");
  refuses("{'bodies': [{'shape': 'grid', 'mass': {'total': 1, 'per_vertex': 1}}]}", "only one of");
  refuses("{'bodies': [{'shape': 'grid', 'mass': {'per_vertex': 0}}]}", "must be above 0");
  refuses("{'bodies': [{'shape': 'chain', 'mass': {'area_density': 1}}]}", "no faces");
  refuses("{'bodies': [{'shape': 'grid'}], 'pins': [{'select': 'nose'}]}", "no vertex set 'nose'");
  refuses("{'bodies': [{'shape': 'grid'}], 'pins': [{'select': {'body': 'x', "
          "'all': true}}]}",
          "no body 'x'");
  refuses("{'bodies': [{'shape': 'grid'}], 'pins': [{'select': {'indices': [441]}}]}",
          "vertex 441");
  refuses("{'bodies': [{'shape': 'grid'}], 'pins': [{'select': 'corners'}, "
          "{'select': 'top'}]}",
          "pinned already");
  refuses("{'bodies': [{'shape': 'grid'}, {'shape': 'grid'}], 'pins': [{'select': "
          "{'indices': "
          "[0]}}]}",
          "need \"body\"");
  refuses("{'bodies': [{'shape': 'grid'}], 'pins': [{'select': {'box': {'min': "
          "[7,7,7], 'max': "
          "[8,8,8]}}}]}",
          "holds no vertex");
  refuses("{'dimension': 2, 'bodies': [{'shape': {'type': 'grid', 'plane': 'xz'}}]}",
          "dimension 2");
  refuses("{'bodies': [{'shape': 'grid', 'transform': {'scale': [1, 0, 1]}}]}", "flattens");
  refuses("{'bodies': [{'shape': 'grid'}], 'forces': ['springs']}", "there already");
  refuses("{'bodies': [{'shape': 'grid'}, {'mesh': {'vertices': [[0, 0, 0]]}, 'repair': "
          "{'unused': true}}]}",
          "bodies[1]: there are no vertices");
  refuses("{'dimension': 2, 'bodies': [{'shape': 'grid'}], 'forces': ['face_wind']}",
          "dimension 2");
}

TEST(bodies_are_transformed_stretched_and_spun) {
  World w =
      world_make("{'bodies': [{'shape': {'type': 'chain', 'n': 2}, 'transform': {'scale': [2, "
                 "1, 1], "
                 "'axis': [0, 0, 1], 'angle': 90, 'translate': [5, 0, 0]}, 'stretch': [1, 1.5, 1], "
                 "'velocity': [0, 0, 1], 'spin': [0, 0, 2]}], 'outputs': []}",
                 NULL, 1e-3, 1);
  if (!w.state) return;
  const double *x = hk_state_x(w.state), *v = hk_state_v(w.state);
  CHECK_NEAR(x[0], 5, 1e-12);
  CHECK_NEAR(x[1], -0.5, 1e-12); /* 0 .. 2 along y, stretched about 1 to -0.5 .. 2.5 */
  CHECK_NEAR(x[4], 2.5, 1e-12);
  CHECK_NEAR(hk_model_springs(w.model).l0[0], 2, 1e-12);
  CHECK_NEAR(v[0], 3, 1e-12); /* omega x r = 2 z x (-1.5 y) */
  CHECK_NEAR(v[2], 1, 1e-12);
  world_destroy(&w);
}

TEST(bodies_can_be_turned_into_the_plane) {
  World w = world_make("{'dimension': 2, 'bodies': [{'shape': {'type': 'grid', 'plane': "
                       "'xz'}, 'transform': {'axis': [1e200, 0, 0], 'angle': 90}}]}",
                       NULL, 1e-3, 1);
  if (!w.state) return;
  HkModelInfo info = hk_model_info(w.model);
  CHECK(info.box_min[2] == 0 && info.box_max[2] == 0);
  CHECK_NEAR(info.box_max[1] - info.box_min[1], 1, 1e-12);
  world_destroy(&w);
}

static void count_degenerate(void *user, HkLogLevel level, const char *text) {
  *(int *)user += level == HK_LOG_WARNING && strstr(text, "join a vertex with itself");
}

TEST(edges_from_a_vertex_to_itself_are_logged) {
  const char *meshes[] = {"[[0, 0]]", "[[0, 0], [0, 1]]"};
  for (int q = 0; q < 2; q++) {
    char text[256];
    int warnings = 0;
    HkContext context = hk_context_default();
    context.log = count_degenerate;
    context.log_user = &warnings;
    HkScene *scene = NULL;
    HkModel *model = NULL;
    snprintf(text, sizeof text,
             "{'bodies': [{'mesh': {'vertices': [[0, 0, 0], [1, 0, 0]], 'lines': %s}}]}",
             meshes[q]);
    MUST(hk_scene_parse(&context, test_json(text), strlen(text), "scene", NULL, NULL, 0, &scene,
                        error));
    MUST(hk_model_compile(scene, &model, error));
    CHECK(warnings == 1);
    hk_model_destroy(&model);
    hk_scene_destroy(&scene);
  }
}

TEST(solids_get_their_boundary_as_faces) {
  World w = world_make("{'bodies': [{'shape': {'type': 'tet_block', 'nx': 4, 'ny': 3, "
                       "'nz': 5}}], 'outputs': []}",
                       NULL, 1e-3, 1);
  if (!w.state) return;
  int64_t faces;
  hk_model_faces(w.model, &faces);
  CHECK(faces == 4 * (3 * 2 + 2 * 4 + 3 * 4)); /* two triangles a square, two sides */
  world_destroy(&w);
}

TEST(what_is_found_late_is_blamed_on_its_place_in_the_scene) {
  static const struct {
    const char *text, *message;
  } cases[] = {
      {"{'bodies': [{'mesh': 'none.obj'}]}",
       "scene:1:22: bodies[0].mesh: none.obj: cannot open: No such file or directory"},
      {"{'bodies': [{'shape': 'grid', 'springs': {'k': 1, 'EA': 1}}]}",
       "scene:1:42: bodies[0].springs: give k or EA, not both"},
      {"{'bodies': [{'shape': 'grid', 'springs': {'file': 'none.txt'}}]}",
       "scene:1:51: bodies[0].springs.file: none.txt: cannot open: No such file or directory"},
      {"{'bodies': [{'shape': 'grid'}],\n'pins': [{'select': {'indices': [441]}}]}",
       "scene:2:10: pins[0]: vertex 441 of body 'body0' is not there"},
      {"{'bodies': [{'shape': 'grid'}], 'forces': [{'type': 'handle', 'select': "
       "'nose'}]}",
       "scene:1:44: forces[0]: there is no vertex set 'nose'"},
  };
  for (size_t q = 0; q < sizeof cases / sizeof cases[0]; q++)
    refuses(cases[q].text, cases[q].message);
}

TEST(one_factor_scales_all_axes) {
  World w = world_make("{'bodies': [{'shape': {'type': 'grid', 'nx': 3, 'ny': 3}, 'transform': "
                       "{'scale': 0.001}}], 'outputs': []}",
                       NULL, 1e-3, 1);
  if (!w.state) return;
  HkModelInfo info = hk_model_info(w.model);
  CHECK_NEAR(info.box_max[0], 0.001, 1e-15);
  CHECK_NEAR(info.box_max[1], 0.001, 1e-15);
  world_destroy(&w);
}

/* ---- More than one gravity ---- */

typedef struct Warnings {
  int count;
  char last[512];
} Warnings;

static void keep_warning(void *user, HkLogLevel level, const char *text) {
  Warnings *w = user;
  if (level != HK_LOG_WARNING) return;
  w->count++;
  snprintf(w->last, sizeof w->last, "%s", text);
}

static Warnings warnings_of(const char *forces) {
  Warnings warnings = {0};
  HkContext context = {.log = keep_warning, .log_user = &warnings};
  HkScene *scene = NULL;
  HkModel *model = NULL;
  HkError error = {0};
  char text[512];
  snprintf(text, sizeof text, "{'bodies': [{'shape': 'chain'}], 'forces': %s, 'outputs': []}",
           forces);
  const char *json = test_json(text);
  HkStatus status =
      hk_scene_parse(&context, json, strlen(json), "scene", NULL, NULL, 0, &scene, &error);
  if (status >= 0) status = hk_model_compile(scene, &model, &error);
  CHECK(status == HK_OK);
  hk_model_destroy(&model);
  hk_scene_destroy(&scene);
  return warnings;
}

TEST(two_gravities_are_legal_and_give_one_warning_with_their_sum) {
  CHECK(warnings_of("['gravity']").count == 0);
  CHECK(warnings_of("['gravity', 'drag']").count == 0);
  Warnings two = warnings_of("['gravity', 'drag', 'gravity']");
  CHECK(two.count == 1);
  CHECK(strstr(two.last, "2 gravity forces") && strstr(two.last, "(0, -19.62, 0)"));
  CHECK(strstr(two.last, "19.62 m/s^2") && strstr(two.last, "keep one of them"));
  Warnings across = warnings_of("[{'type': 'gravity', 'g': 3, 'direction': [1, 0, 0]}, "
                                "{'type': 'gravity', 'g': 4}]");
  CHECK(across.count == 1 && strstr(across.last, "5 m/s^2, (3, -4, 0)"));
}

TEST(an_axis_that_two_dimensions_do_not_have_is_refused_at_its_place) {
  const char *text = test_json("{'dimension': 2,\n 'up': 'z', 'bodies': [{'shape': 'chain'}]}");
  HkScene *scene = NULL;
  HkModel *model = NULL;
  MUST(hk_scene_parse(NULL, text, strlen(text), "s.json", NULL, NULL, 0, &scene, error));
  FAILS(hk_model_compile(scene, &model, error), HK_ERROR_INVALID,
        "s.json:2:8: up: a scene of dimension 2 has no z; use \"x\" or \"y\"");
  scene->up = 3;
  FAILS(hk_model_compile(scene, &model, error), HK_ERROR_INVALID, "there is no axis 3");
  hk_scene_destroy(&scene);
}
