/* The scene format: what is read, and what every mistake is answered with. */
#include "world.h"

static HkStatus parse(const char *text, const char *const *sets, int set_count, HkScene **scene,
                      HkError *error) {
  return hk_scene_parse(NULL, test_json(text), strlen(text), "scene.json", NULL, sets, set_count,
                        scene, error);
}

/* The text without its '@' must be refused at the place of the '@', with a message that contains
 * part. */
static void refuses(const char *marked, const char *part) {
  char text[512];
  int line = 1, column = 1;
  size_t length = 0;
  for (const char *c = marked; *c; c++)
    if (*c != '@') text[length++] = *c;
  text[length] = 0;
  for (const char *c = marked; *c && *c != '@'; c++, column++) {
    if (*c != '\n') continue;
    line++;
    column = 0;
  }
  HkScene *scene = NULL;
  HkError error = {0};
  HkStatus status = parse(text, NULL, 0, &scene, &error);
  if (status >= 0 || error.line != line || error.column != column || !strstr(error.text, part))
    test_fail(__FILE__, __LINE__, "%s\n      gave %s at %d:%d: %s\n      expected '%s' at the @",
              marked, hk_status_name(status), error.line, error.column, error.text, part);
  if (scene) test_fail(__FILE__, __LINE__, "a refused scene was not released");
  hk_scene_destroy(&scene);
}

TEST(scene_reports_syntax_errors_with_line_and_column) {
  refuses("{\n  'time': {'step': @}\n}", "not valid JSON");
  refuses("{'bodies': [],@}", "a comma too many");
  refuses("@", "not valid JSON");
  refuses("[1, 2@", "not valid JSON");
  refuses("{'title': 'a', @'title': 'b'}", "duplicate");
}

TEST(methods_at_the_wrong_place_are_named_with_their_family) {
  refuses("{'bodies': [{'shape': 'grid'}], 'integrator': @'newton'}",
          "there is no integrator 'newton'; that is a minimizer");
  refuses("{'bodies': [{'shape': 'grid'}], 'integrator':"
          " {'type': 'backward_euler', 'minimizer': @'pcg'}}",
          "there is no minimizer 'pcg'; that is a linear solver");
  refuses("{'bodies': [{'shape': 'grid'}], 'integrator':"
          " {'type': 'linear_implicit_euler', 'linear': @'ic0'}}",
          "there is no linear solver 'ic0'; that is a preconditioner");
  refuses("{'bodies': [{'shape': 'grid'}], 'integrator': @5}", "the name of an integrator");
  refuses("{'bodies': [{'shape': 'grid'}], 'integrator': @'implicit_euler'}",
          "there are forward_euler, symplectic_euler");
}

TEST(scene_rejects_unknown_keys_with_a_near_miss) {
  refuses("{\n @'tittle': 'x', 'bodies': []}", "did you mean 'title'");
  refuses("{'bodies': [{'shape': 'grid',\n  'springs': {@'kk': 3}}]}",
          "bodies[0].springs.kk: unknown key in springs; did you mean 'k'?");
  refuses("{'bodies': [{'shape': {'type': 'grid', @'nz': 3}}]}", "did you mean 'nx'");
  refuses("{'bodies': [{'shape': @'gird'}]}", "did you mean 'grid'");
  refuses("{'bodies': [{'shape': 'grid'}], 'forces': [{'type': @'gravitty'}]}",
          "did you mean 'gravity'");
  refuses("{'bodies': [{'shape': 'grid'}], 'integrator': @'velvet'}", "did you mean 'verlet'");
  refuses("{'bodies': [{'shape': 'grid'}], @'zzzzzz': 1}", "it knows title");
  refuses("{'bodies': [{'shape': 'grid'}], 'time': {'step': 1},\r\n\t@'time.step': 2}",
          "time.step: unknown key in scene");
}

TEST(scene_rejects_wrong_types_and_ranges) {
  refuses("{'bodies': [{'shape': 'grid', 'springs': {'k': @'stiff'}}]}",
          "bodies[0].springs.k: expected a number (N/m), got a string");
  refuses("{'bodies': [{'shape': 'grid', 'springs': {'k': @-1}}]}",
          "-1 is out of range, expected a number at least 0 N/m");
  refuses("{'bodies': [{'shape': {'type': 'grid', 'nx': @2.5}}]}", "a whole number");
  refuses("{'bodies': [{'shape': {'type': 'grid', 'nx': @1}}]}", "out of range");
  refuses("{'dimension': @4, 'bodies': [{'shape': 'grid'}]}", "from 2 to 3");
  refuses("{'up': @'w', 'bodies': [{'shape': 'grid'}]}", "none of x/y/z");
  refuses("{'bodies': [{'shape': 'grid', 'velocity': @[1, 2]}]}", "list of 3 numbers (m/s)");
  refuses("{'bodies': [{'shape': 'grid', 'springs': {'shear': @1}}]}", "true or false");
  refuses("{'bodies': @{'shape': 'grid'}}", "expected a list");
  refuses("{'bodies': [{'shape': 'grid'}], 'time': {'duration': @-3}}", "from 0");
  refuses("@[]", "expected an object");
  refuses("{'bodies': [{'shape': 'grid', 'mass': @0}]}", "above 0");
}

TEST(scene_rejects_what_is_missing_or_given_twice) {
  refuses("@{}", "no bodies");
  refuses("{'bodies': [@{}]}", "give either");
  refuses("{'bodies': [@{'shape': 'grid', 'mesh': 'a.obj'}]}", "not both");
  refuses("{'bodies': [{'shape': @{'nx': 3}}]}", "\"type\" is missing");
  refuses("{'bodies': [{'shape': 'grid'}], 'pins': [@{}]}", "\"select\" is missing");
  refuses("{'bodies': [{'shape': 'grid'}], 'pins': [{'select': @{}}]}", "give one of");
  refuses("{'bodies': [{'shape': 'grid'}], 'pins': [{'select': @{'set': 'a', 'all': "
          "true}}]}",
          "only one of");
  refuses("{'bodies': [{'shape': 'grid', 'name': 'a'}, @{'shape': 'grid', 'name': "
          "'a'}]}",
          "a body 'a' already");
}

TEST(scene_allows_comments_and_keeps_places) {
  HkScene *scene = NULL;
  MUST(parse("// a scene\n{ /* of\n one */ 'bodies': [{'shape': 'grid'}] } // end", NULL, 0, &scene,
             error));
  hk_scene_destroy(&scene);
  MUST(parse("\xef\xbb\xbf{'bodies': [{'shape': 'grid'}]}", NULL, 0, &scene, error));
  hk_scene_destroy(&scene);
  refuses("// one\n/* two\n*/ {'title': @3} ", "expected a string");
  refuses("{\n 'title': 'a',\n @/* no end\n 'bodies': [{'shape': 'grid'}]}", "not valid JSON");
  MUST(parse("{'title': 'no // comment /* here', 'bodies': [{'shape': 'grid'}]}", NULL, 0, &scene,
             error));
  CHECK(strcmp(scene->title, "no // comment /* here") == 0);
  hk_scene_destroy(&scene);
}

TEST(scene_values_can_be_set_from_outside) {
  const char *text = "{'bodies': [{'shape': 'grid'}], 'forces': ['gravity']}";
  const char *sets[] = {"time.step=0.01",    "bodies[0].springs.k=5e3",     "bodies.0.shape.nx=7",
                        "integrator=verlet", "forces[0].direction=[1,0,0]", "title=a b"};
  HkScene *scene = NULL;
  MUST(parse(text, sets, 6, &scene, error));
  CHECK(scene->time.step == 0.01 && scene->bodies[0].springs.k == 5e3);
  CHECK(strcmp(scene->step.schema->name, "verlet") == 0);
  CHECK(strcmp(scene->title, "a b") == 0);
  hk_scene_destroy(&scene);
  const char *bad[] = {"time.stepp=1",   "time",           "=1",           "bodies[9].springs.k=1",
                       "bodies[0]..k=1", "time.step=fast", "dimension=2.5"};
  const char *parts[] = {"did you mean 'step'",  "PATH=VALUE",     "PATH=VALUE",
                         "nothing of that name", "makes no sense", "got a string",
                         "a whole number"};
  for (int q = 0; q < 7; q++) {
    HkError error = {0};
    CHECK(parse(text, &bad[q], 1, &scene, &error) < 0);
    if (!strstr(error.text, parts[q]))
      test_fail(__FILE__, __LINE__, "%s gave: %s", bad[q], error.text);
  }
}

TEST(values_set_from_outside_are_not_blamed_on_the_file) {
  const char *plain = "{'bodies': [{'shape': 'grid'}], 'time': {'step': 0.1}}";
  const char *record = "{'hooke': '0', 'scene': {'bodies': [{'shape': 'grid', "
                       "'springs': {'k': 1}}], 'time': {'step': 1}}}";
  const char *bad[] = {"time.step=-1", "bodies.0.springs.k=-1", "time={\"step\": -1}"};
  for (int q = 0; q < 6; q++) {
    HkScene *scene = NULL;
    HkError error = {0};
    CHECK(parse(q < 3 ? plain : record, &bad[q % 3], 1, &scene, &error) == HK_ERROR_FORMAT);
    if (error.line != 0 || strstr(error.text, "--set") || !strstr(error.text, ": -1 is"))
      test_fail(__FILE__, __LINE__, "%s gave: %s", bad[q % 3], error.text);
  }
  /* What stands in the file is still found there. */
  HkScene *scene = NULL;
  HkError error = {0};
  const char *good = "time.step=1";
  CHECK(parse("{'time': {'step': 0, 'duration': -1}}", &good, 1, &scene, &error) < 0);
  CHECK(error.line == 1 && error.column == 34);
}

TEST(an_index_into_what_is_no_list_is_refused) {
  const char *text = "{'bodies': [{'shape': 'grid'}], 'time': {'step': 0.1}}";
  const char *bad[] = {"time[0]=1", "time[0].step=1", "pins[0].select=all", "[0]=1"};
  for (int q = 0; q < 4; q++) {
    HkScene *scene = NULL;
    HkError error = {0};
    CHECK(parse(text, &bad[q], 1, &scene, &error) == HK_ERROR_INVALID);
    CHECK(strncmp(error.text, bad[q], strlen(bad[q])) == 0 && strstr(error.text, "there is no"));
  }
}

TEST(vertices_can_be_counted_over_all_bodies) {
  World w = world_make("{'bodies': [{'shape': {'type': 'chain', 'n': 3}}, {'shape': {'type': "
                       "'chain', 'n': 3}}], 'pins': [{'select': {'vertices': [4, 1]}}], "
                       "'outputs': []}",
                       NULL, 1e-3, 1);
  if (!w.state) return;
  int64_t count;
  const int32_t *pins = hk_model_pins(w.model, &count);
  CHECK(count == 2 && pins[0] == 1 && pins[1] == 4);
  char *text = NULL;
  HkScene *again = NULL;
  MUST(hk_scene_format(w.scene, &text, error));
  MUST(parse(text, NULL, 0, &again, error));
  CHECK(again->pins[0].select.kind == HK_SELECT_VERTICES && again->pins[0].select.count == 2);
  hk_text_destroy(&text);
  hk_scene_destroy(&again);
  world_destroy(&w);
  refuses("{'bodies': [{'shape': 'grid'}], 'pins': [{'select': {'vertices': [@-1]}}]}",
          "expected the number of a vertex, counted from 0");
}

/* ---- Pins in both forms ---- */

TEST(pins_are_a_list_or_an_object_with_a_method) {
  const char *texts[] = {
      "{'bodies': [{'shape': 'grid'}], 'pins': [{'select': 'top', 'release': 2}]}",
      "{'bodies': [{'shape': 'grid'}], 'pins': {'list': [{'select': 'top', 'release': 2}]}}",
      "{'bodies': [{'shape': 'grid'}], 'pins': {'method': 'eliminate', 'list': [{'select': 'top', "
      "'release': 2}]}}",
      "{'bodies': [{'shape': 'grid'}], 'pins': {'method': 'reaction', 'list': [{'select': 'top', "
      "'release': 2}]}}"};
  char *written[4] = {0};
  for (int q = 0; q < 4; q++) {
    HkScene *scene = NULL, *again = NULL;
    char *second = NULL;
    MUST(parse(texts[q], NULL, 0, &scene, error));
    CHECK(scene->pin_count == 1 && scene->pins[0].release == 2);
    CHECK(scene->pin_method == (q == 3 ? HK_PINS_REACTION : HK_PINS_ELIMINATE));
    MUST(hk_scene_format(scene, &written[q], error));
    MUST(parse(written[q], NULL, 0, &again, error));
    MUST(hk_scene_format(again, &second, error));
    CHECK(strcmp(written[q], second) == 0 && again->pin_method == scene->pin_method);
    CHECK((strstr(written[q], "\"pins\": [") != NULL) == (q < 3));
    hk_text_destroy(&second);
    hk_scene_destroy(&again);
    hk_scene_destroy(&scene);
  }
  CHECK(strcmp(written[0], written[1]) == 0 && strcmp(written[0], written[2]) == 0);
  for (int q = 0; q < 4; q++) hk_text_destroy(&written[q]);
}

TEST(an_object_of_pins_may_have_no_list) {
  HkScene *scene = NULL;
  MUST(parse("{'bodies': [{'shape': 'grid'}], 'pins': {'method': 'reaction'}}", NULL, 0, &scene,
             error));
  CHECK(scene->pin_count == 0 && scene->pin_method == HK_PINS_REACTION);
  hk_scene_destroy(&scene);
}

TEST(mistakes_in_pins_have_their_place_in_both_forms) {
  refuses("{'bodies': [{'shape': 'grid'}],\n 'pins': [{'select': 'top'}, {'select': 'top',\n"
          "   'release': @'x'}]}",
          "pins[1].release: expected a number (s), got a string");
  refuses("{'bodies': [{'shape': 'grid'}],\n 'pins': {'method': 'reaction', 'list': [{'select':\n"
          " 'top'}, {'select': 'top',\n   'release': @'x'}]}}",
          "pins[1].release: expected a number (s), got a string");
  refuses("{'bodies': [{'shape': 'grid'}], 'pins': {'list': [@{}], 'method': 'reaction'}}",
          "pins[0]: \"select\" is missing");
  refuses("{'bodies': [{'shape': 'grid'}], 'pins': {'list': [{'select': 'top', @'relese': 1}]}}",
          "pins[0].relese: unknown key in pin; did you mean 'release'?");
  refuses("{'bodies': [{'shape': 'grid'}], 'pins': {'method': @'react'}}",
          "pins.method: 'react' is none of eliminate/reaction");
  refuses("{'bodies': [{'shape': 'grid'}], 'pins': {@'metod': 'reaction'}}",
          "pins.metod: unknown key in pins; did you mean 'method'?");
  refuses("{'bodies': [{'shape': 'grid'}], 'pins': {'list': @{'select': 'top'}}}",
          "pins.list: expected a list");
  refuses("{'bodies': [{'shape': 'grid'}], 'pins': @'top'}", "pins: expected a list, or an object");
}

TEST(late_mistakes_in_pins_have_their_place_in_both_forms) {
  const char *texts[] = {
      "{'bodies': [{'shape': 'grid'}], 'pins': [\n {'select': 'top'}, {'select': 'corners'}]}",
      "{'bodies': [{'shape': 'grid'}], 'pins': {'list': [\n {'select': 'top'}, {'select': "
      "'corners'}]}}"};
  for (int q = 0; q < 2; q++) {
    HkScene *scene = NULL;
    HkModel *model = NULL;
    HkError why = {0};
    MUST(parse(texts[q], NULL, 0, &scene, error));
    CHECK(hk_model_compile(scene, &model, &why) == HK_ERROR_INVALID);
    CHECK(why.line == 2 && why.column == 21 && strstr(why.text, "pins[1]: vertex"));
    hk_scene_destroy(&scene);
  }
}

/* One or two values set from outside, in both forms of the file. */
TEST(pins_can_be_set_from_outside_in_both_forms) {
  const char *texts[] = {
      "{'bodies': [{'shape': 'grid'}], 'pins': [{'select': 'top'}, {'select': 'bottom'}]}",
      "{'bodies': [{'shape': 'grid'}], 'pins': {'list': [{'select': 'top'}, {'select': "
      "'bottom'}]}}"};
  const char *sets[][2] = {
      {"pins.method=reaction", "pins[1].release=3"},
      {"pins[1].release=3", "pins.method=reaction"},
      {"pins.1.release=3", "pins.method=reaction"},
      {"pins.list[1].release=3", "pins.method=reaction"},
      {"pins[1]={\"select\": \"bottom\", \"release\": 3}", "pins.method=reaction"}};
  for (int q = 0; q < 10; q++) {
    HkScene *scene = NULL;
    MUST(parse(texts[q % 2], sets[q / 2], 2, &scene, error));
    CHECK(scene->pin_method == HK_PINS_REACTION && scene->pin_count == 2);
    CHECK(isinf(scene->pins[0].release) && scene->pins[1].release == 3);
    CHECK(strcmp(scene->pins[1].select.set, "bottom") == 0);
    hk_scene_destroy(&scene);
  }
  const char *bad[] = {"pins[0].release=-1", "pins.list[0].release=-1", "pins.0.release=-1",
                       "pins.method=glue", "pins[7].release=1"};
  const char *parts[] = {"pins[0].release: -1", "pins[0].release: -1", "pins[0].release: -1",
                         "pins.method: 'glue' is none of", "nothing of that name"};
  for (int q = 0; q < 10; q++) {
    HkScene *scene = NULL;
    HkError error = {0};
    CHECK(parse(texts[q % 2], &bad[q / 2], 1, &scene, &error) < 0);
    if (error.line != 0 || !strstr(error.text, parts[q / 2]))
      test_fail(__FILE__, __LINE__, "%s gave: %s", bad[q / 2], error.text);
  }
}

TEST(pins_made_an_object_from_outside_keep_their_places) {
  const char *set = "pins.method=reaction";
  HkScene *scene = NULL;
  HkError error = {0};
  CHECK(parse("{'bodies': [{'shape': 'grid'}],\n 'pins': [{'select': 'top', 'release': -1}]}", &set,
              1, &scene, &error) < 0);
  CHECK(error.line == 2 && error.column == 40 && strstr(error.text, "pins[0].release: -1 is"));
}

TEST(every_built_in_scene_compiles_and_survives_a_round_trip) {
  const char *name, *title, *text;
  int count = 0;
  for (; (text = hk_scene_builtin(count, &name, &title)); count++) {
    HkScene *scene = NULL, *again = NULL;
    HkModel *model = NULL;
    char *first = NULL, *second = NULL;
    MUST(hk_scene_parse(NULL, text, strlen(text), name, NULL, NULL, 0, &scene, error));
    CHECK(title[0] && scene->title && strcmp(title, scene->title) == 0);
    MUST(hk_model_compile(scene, &model, error));
    MUST(hk_scene_format(scene, &first, error));
    MUST(hk_scene_parse(NULL, first, strlen(first), name, NULL, NULL, 0, &again, error));
    MUST(hk_scene_format(again, &second, error));
    CHECK(strcmp(first, second) == 0);
    hk_text_destroy(&first);
    hk_text_destroy(&second);
    hk_model_destroy(&model);
    hk_scene_destroy(&scene);
    hk_scene_destroy(&again);
  }
  CHECK(count == 20);
}

TEST(scene_built_in_c_equals_the_one_from_a_file) {
  HkScene *scene = NULL;
  MUST(hk_scene_create(NULL, &scene, error));
  HkBody body = hk_body_default();
  MUST(hk_method_choose(&body.shape, HK_SHAPE, "chain", error));
  MUST(hk_method_set_number(&body.shape, "n", 5, error));
  body.springs.k = 70;
  MUST(hk_scene_add_body(scene, &body, NULL, error));
  hk_method_clear(&body.shape);
  HkPin pin = hk_pin_default();
  pin.select = (HkSelect){.kind = HK_SELECT_SET, .set = "ends"};
  MUST(hk_scene_add_pin(scene, &pin, NULL, error));
  int gravity;
  MUST(hk_scene_add_force(scene, "gravity", &gravity, error));
  MUST(hk_method_set_number(&scene->forces[gravity], "g", 3, error));
  HkScene *other = NULL;
  MUST(parse("{'bodies': [{'shape': {'type': 'chain', 'n': 5}, 'springs': {'k': 70}}], "
             "'pins': "
             "[{'select': 'ends'}], 'forces': [{'type': 'gravity', 'g': 3}], 'outputs': []}",
             NULL, 0, &other, error));
  char *a = NULL, *b = NULL;
  MUST(hk_scene_format(scene, &a, error));
  MUST(hk_scene_format(other, &b, error));
  CHECK(strcmp(a, b) == 0);
  hk_text_destroy(&a);
  hk_text_destroy(&b);
  hk_scene_destroy(&scene);
  hk_scene_destroy(&other);
}

TEST(an_error_has_the_path_of_its_key_and_its_message_apart) {
  static const struct {
    const char *text, *key;
  } cases[] = {
      {"{'bodies': [{'shape': 'grid', 'springs': {'k': -1}}]}", "bodies[0].springs.k"},
      {"{'bodies': [{'shape': 'grid', 'transform': {'axis': [0, 0, 0], 'angle': 3}}]}",
       "bodies[0].transform.axis"},
      {"{'bodies': [{'shape': 'grid', 'mass': {'total': 1, 'per_vertex': 2}}]}", "bodies[0].mass"},
      {"{'bodies': [{'shape': 'grid'}], 'pins': [{'select': 'lowest', 'motion': "
       "{'type': 'rotation', 'axis': [0, 0, 0]}}]}",
       "pins[0].motion.axis"},
      {"{'bodies': [{'shape': 'grid'}], 'integrator': {'type': 'beta', 'beta': 7}}",
       "integrator.beta"},
  };
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    HkScene *scene = NULL;
    HkModel *model = NULL;
    HkError e = {0};
    HkStatus status = parse(cases[k].text, NULL, 0, &scene, &e);
    if (status >= 0) status = hk_model_compile(scene, &model, &e);
    CHECK(status < 0);
    CHECK(strcmp(e.key, cases[k].key) == 0);
    CHECK(e.message > 0 && strncmp(e.text + e.message - 2, ": ", 2) == 0);
    CHECK(strstr(e.text + e.message, cases[k].key) == NULL);
    hk_scene_destroy(&scene);
  }
}

TEST(inline_meshes_are_read_and_written) {
  const char *text =
      "{'bodies': [{'mesh': {'vertices': [[0,0,0],[1,0,0],[0,1,0],[0,0,1]], 'tets': "
      "[[0,1,2,3]], 'sets': {'tip': [3]}}}], 'pins': [{'select': 'tip'}], 'outputs': "
      "[]}";
  World w = world_make(text, NULL, 0.001, 1);
  if (!w.state) return;
  CHECK(hk_model_info(w.model).springs == 6 && hk_model_info(w.model).pinned == 1);
  char *out = NULL;
  HkScene *again = NULL;
  MUST(hk_scene_format(w.scene, &out, error));
  MUST(parse(out, NULL, 0, &again, error));
  CHECK(hk_mesh_vertex_count(again->bodies[0].mesh) == 4);
  hk_text_destroy(&out);
  hk_scene_destroy(&again);
  world_destroy(&w);
  refuses("{'bodies': [{'mesh': {'vertices': [[0,0,0]], 'lines': [@[0,1]]}}]}", "vertex 1");
  refuses("{'bodies': [{'mesh': @{'vertices': []}}]}", "no vertices");
}

TEST(course_format_is_recognized) {
  const char *path = test_data("horizontal-chain.json");
  if (!path) SKIP("the shared data is not here");
  HkScene *scene = NULL;
  HkModel *model = NULL;
  MUST(hk_scene_read(NULL, path, NULL, 0, &scene, error));
  MUST(hk_model_compile(scene, &model, error));
  HkModelInfo info = hk_model_info(model);
  CHECK(info.vertices == 10 && info.springs == 9 && info.pinned == 2);
  CHECK(info.k_min == 500 && info.k_max == 500 && info.mass_min == 1 && info.mass_max == 1);
  hk_model_destroy(&model);
  hk_scene_destroy(&scene);
  path = test_data("flag.json");
  MUST(hk_scene_read(NULL, path, NULL, 0, &scene, error));
  MUST(hk_model_compile(scene, &model, error));
  info = hk_model_info(model);
  CHECK(info.vertices == 3200 && info.pinned == 40 && info.k_max == 1e5);
  CHECK(info.mass > 1.9 && info.mass < 2.1); /* about 2 m^2 at 1 kg/m^2 */
  hk_model_destroy(&model);
  hk_scene_destroy(&scene);
}

/* Writes a mesh NAME.obj into a folder. */
static void write_obj(const char *folder, const char *name, const char *text) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s.obj", folder, name);
  FILE *file = fopen(path, "w");
  if (file) fputs(text, file);
  if (file) fclose(file);
}

/* The first error of a scene (with ' for ") in a folder that is read and compiled. */
static HkError error_of(const char *text, const char *folder, const char *const *sets, int count) {
  HkScene *scene = NULL;
  HkModel *model = NULL;
  HkError error = {0};
  const char *json = test_json(text);
  HkStatus status =
      hk_scene_parse(NULL, json, strlen(json), "my.json", folder, sets, count, &scene, &error);
  if (status >= 0) hk_model_compile(scene, &model, &error);
  hk_model_destroy(&model);
  hk_scene_destroy(&scene);
  return error;
}

TEST(errors_of_the_course_format_are_in_its_own_words) {
  static const char *const cases[][2] = {
      {"{'obj': 'none.obj', 'b': [1], 'k': 5, 'm': 1}", "my.json:1:9: obj: "},
      {"{'obj': 'line.obj', 'b': [1, 9], 'k': 5, 'm': 1}",
       "my.json:1:30: b[1]: there is no vertex 9: line.obj has the vertices 1 to 3"},
      {"{'obj': 'line.obj', 'b': [0], 'k': 5, 'm': 1}", "my.json:1:27: b[0]: expected the number"},
      {"{'obj': 'line.obj', 'b': [1], 'k': 5}",
       "my.json:1:1: m: the mesh has no faces to compute masses from; give \"m\", the mass of"},
      {"{'obj': 'line.obj', 'b': [1], 'k': 5, 'm': 0}", "my.json:1:44: m: expected a number above"},
      {"{'obj': 'loose.obj', 'b': [1], 'k': 5}", "m: vertex 4 would have 0 kg, but a mass must be "
                                                 "above 0; give \"m\", the mass of every vertex"},
      {"{'obj': 'same.obj', 'b': [1], 'k': 5, 'm': 1}",
       "my.json:1:9: obj: vertices 1 and 2 are joined but stand at the same place; merge them"},
      {"{'b': [1], 'k': 5, 'm': 1}", "my.json:1:1: \"obj\" is missing"},
      {"{'obj': null, 'b': [1], 'k': 5, 'm': 1}", "my.json:1:1: \"obj\" is missing"},
      {"{'obj': 'line.obj', 'b': [1], 'k': 5, 'm': 1, 'pin': {}}", "did you mean 'pins'?"},
      {"{'obj': 'line.obj', 'b': [1], 'k': 5, 'm': 1, 'pins': []}", "\"b\" lists the vertices"},
      {"{'obj': 'line.obj', 'b': [1], 'k': 5, 'm': 1, 'pins': {'method': 'glue'}}",
       "pins.method: 'glue' is none of"},
      {"{'obj': 'line.obj', 'b': [1], 'k': 5, 'm': 1, 'forces': ['gravity', {'type': 'point_load', "
       "'select': {'indices': [3]}}]}",
       ": forces[1]: vertex 3 of body"},
  };
  const char *folder = test_folder();
  write_obj(folder, "line", "v 0 0 0\nv 1 0 0\nv 2 0 0\nl 1 2 3\n");
  write_obj(folder, "loose", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 3 3 3\nf 1 2 3\n");
  write_obj(folder, "same", "v 0 0 0\nv 0 0 0\nl 1 2\n");
  for (size_t q = 0; q < sizeof cases / sizeof cases[0]; q++) {
    HkError error = error_of(cases[q][0], folder, NULL, 0);
    if (!strstr(error.text, cases[q][1]))
      test_fail(__FILE__, __LINE__, "%s: '%s' is not '%s'", cases[q][0], error.text, cases[q][1]);
    if (strstr(error.text, "bodies") || strstr(error.text, "pins[") || strstr(error.text, "mass."))
      test_fail(__FILE__, __LINE__, "%s: '%s'", cases[q][0], error.text);
  }
}

TEST(the_course_format_takes_forces_and_the_method_of_pins) {
  const char *text =
      test_json("{'obj': 'line.obj', 'b': [1], 'k': 5, 'm': 1, 'title': 'wind', 'forces': ['wind'],"
                " 'pins': {'method': 'reaction'}, 'probes': [{'select': 'all'}]}");
  HkScene *scene = NULL;
  MUST(hk_scene_parse(NULL, text, strlen(text), "my.json", "", NULL, 0, &scene, error));
  CHECK(scene->force_count == 2 && scene->pin_count == 1 && scene->probe_count == 1);
  CHECK(strcmp(scene->forces[0].schema->name, "wind") == 0);
  CHECK(strcmp(scene->forces[1].schema->name, "gravity") == 0); /* that of the format */
  CHECK(scene->pin_method == HK_PINS_REACTION && strcmp(scene->title, "wind") == 0);
  hk_scene_destroy(&scene);
  text = test_json("{'obj': 'line.obj', 'b': [], 'k': 5, 'forces': [{'type': 'gravity', 'g': 1}]}");
  MUST(hk_scene_parse(NULL, text, strlen(text), "my.json", "", NULL, 0, &scene, error));
  CHECK(scene->force_count == 1); /* it takes the place of that of the format */
  hk_scene_destroy(&scene);
}

TEST(errors_of_the_model_keep_their_place_when_values_are_set) {
  const char *text = "{'bodies': [{'shape': 'chain', 'mass': {'volume_density': 1}}],\n"
                     " 'pins': [{'select': 'nowhere'}]}";
  const char *sets[] = {"time.step=0.01", "integrator=verlet",
                        "bodies[0].mass.volume_density=null"};
  HkError error = error_of(text, "", NULL, 0);
  CHECK(error.line == 1 && error.column == 40 && strstr(error.text, ": bodies[0].mass: "));
  error = error_of(text, "", sets, 2);
  CHECK(error.line == 1 && error.column == 40 && strstr(error.text, ": bodies[0].mass: "));
  error = error_of(text, "", sets, 3);
  CHECK(error.line == 2 && strstr(error.text, "my.json:2:11: pins[0]: "));
  /* What was set from outside is not blamed on the file, nor is the file's value on the outside. */
  const char *bad[] = {"time.step=0.01", "bodies[0].mass={\"area_density\": 2}"};
  error = error_of(text, "", bad, 2);
  CHECK(error.line == 0 && strncmp(error.text, "bodies[0].mass: ", 16) == 0);
}

/* The step (s) of a scene in the course format, whose one spring of 1e5 N/m between 1 kg each is
 * stable up to 2 / sqrt(2e5) s = 4.5 ms by symplectic Euler. */
static double course_step(const char *const *sets, int count) {
  char path[512];
  HkScene *scene = NULL;
  HkModel *model = NULL;
  HkSim *sim = NULL;
  HkError error = {0};
  snprintf(path, sizeof path, "%s/two.obj", test_folder());
  FILE *file = fopen(path, "w");
  if (file) fputs("v 0 0 0\nv 1 0 0\nl 1 2\n", file);
  if (file) fclose(file);
  *strrchr(path, '/') = 0;
  const char *text = test_json("{'obj': 'two.obj', 'b': [], 'k': 1e5, 'm': 1}");
  HkStatus status =
      hk_scene_parse(NULL, text, strlen(text), "course", path, sets, count, &scene, &error);
  if (status >= 0) status = hk_model_compile(scene, &model, &error);
  if (status >= 0) status = hk_sim_create(model, NULL, scene->time.step, &sim, &error);
  if (status < 0) test_fail(__FILE__, __LINE__, "%s", error.text);
  double h = sim ? hk_sim_h(sim) : NAN;
  hk_sim_destroy(&sim);
  hk_model_destroy(&model);
  hk_scene_destroy(&scene);
  return h;
}

TEST(the_step_of_the_course_format_is_a_default_of_stable_integrators) {
  const char *implicit[] = {"integrator=bdf2", "time.frames_per_second=10"};
  CHECK(course_step(NULL, 0) == 1.0 / 30);
  CHECK(course_step(implicit, 1) == 1.0 / 30);
  CHECK(course_step(implicit, 2) == 1.0 / 30);
  const char *explicit_one[] = {"integrator=symplectic_euler", "k=10"};
  double h = course_step(explicit_one, 1);
  CHECK(h > 0 && h < 0.0045);
  CHECK(course_step(explicit_one, 2) == 1.0 / 30); /* stable up to 0.45 s */
  const char *chosen[] = {"integrator=symplectic_euler", "time.step=0.02"};
  CHECK(course_step(chosen, 2) == 0.02);
}

TEST(parameters_without_a_type_are_those_of_the_default) {
  HkScene *scene = NULL;
  MUST(parse("{'integrator': {'type': 'bdf2', 'minimizer': {'tolerance': 1e-4, 'linear': "
             "{'type': 'pcg', 'preconditioner': 'ic0'}}}, 'bodies': [{'shape': 'chain'}]}",
             NULL, 0, &scene, error));
  const HkMethod *minimizer = scene->step.params;
  CHECK(minimizer->schema == hk_schema_find(HK_MINIMIZE, "newton"));
  hk_scene_destroy(&scene);
  const char *set = "integrator.minimizer.linear=cg";
  MUST(parse("{'integrator': 'backward_euler', 'bodies': [{'shape': 'chain'}]}", &set, 1, &scene,
             error));
  hk_scene_destroy(&scene);
}

TEST(json_schema_is_written) {
  char *text = NULL;
  MUST(hk_scene_schema(&text, error));
  CHECK(strstr(text, "\"symplectic_euler\"") && strstr(text, "[N/m]") && strstr(text, "$defs"));
  hk_text_destroy(&text);
}
