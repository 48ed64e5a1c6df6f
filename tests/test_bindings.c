/* What bindings of other languages stand on: methods as text, springs from arrays, states as bytes,
 * and pages of motions that no run has made. */
#include "world.h"

/* ---- Methods as text ---- */

TEST(methods_are_read_from_their_name_or_an_object) {
  HkMethod force = {0};
  const char *name = "\"gravity\"", *object = "{\"type\": \"gravity\", \"g\": 1.62}";
  MUST(hk_method_parse(&force, HK_FORCE, name, strlen(name), NULL, error));
  CHECK(strcmp(force.schema->name, "gravity") == 0);
  MUST(hk_method_parse(&force, HK_FORCE, object, strlen(object), NULL, error));
  char *text = NULL;
  MUST(hk_method_format(&force, &text, error));
  CHECK(strstr(text, "\"type\":\"gravity\"") && strstr(text, "1.6200000000000001"));
  HkMethod again = {0};
  MUST(hk_method_parse(&again, HK_FORCE, text, strlen(text), NULL, error));
  CHECK(memcmp(force.params, again.params, force.schema->size) == 0);
  hk_text_destroy(&text);
  hk_method_clear(&force);
  hk_method_clear(&again);
}

TEST(a_method_stays_as_it_was_when_its_text_is_wrong) {
  HkMethod force = {0};
  const char *good = "\"drag\"", *bad = "{\"type\": \"gravity\", \"G\": 1}", *broken = "{";
  MUST(hk_method_parse(&force, HK_FORCE, good, strlen(good), NULL, error));
  FAILS(hk_method_parse(&force, HK_FORCE, bad, strlen(bad), "here", error), HK_ERROR_FORMAT,
        "here:1:21: G: unknown key in gravity");
  FAILS(hk_method_parse(&force, HK_FORCE, bad, strlen(bad), NULL, error), HK_ERROR_FORMAT,
        "G: unknown key");
  FAILS(hk_method_parse(&force, HK_FORCE, broken, 1, NULL, error), HK_ERROR_FORMAT, "");
  CHECK(strcmp(force.schema->name, "drag") == 0);
  hk_method_clear(&force);
  char *text = NULL;
  FAILS(hk_method_format(&force, &text, error), HK_ERROR_INVALID, "no method was chosen");
  CHECK(!text);
}

/* ---- Springs from a table ---- */

static const char chain[] = "{'bodies': [{'shape': {'type': 'chain', 'n': 4, 'end': [3, 0, 0]}, "
                            "'springs': {'k': 1, 'damping': 0.5, 'table': %s}}], 'outputs': []}";

TEST(springs_table_sets_and_adds_single_springs) {
  char text[512];
  snprintf(text, sizeof text, chain, "[[0, 1, 5, -1, -1], [3, 0, 7, 2, 0.25], [1, 2, -1, 0.5, 0]]");
  World w = world_make(text, NULL, 1e-3, 1);
  if (!w.state) return;
  HkSpringView s = hk_model_springs(w.model);
  CHECK(s.count == 4 && s.damping);
  CHECK(s.k[0] == 5 && s.l0[0] == 1 && s.damping[0] == 0.5 && s.kind[0] == 0);
  CHECK(s.j[1] == 3 && s.k[1] == 7 && s.l0[1] == 2 && s.damping[1] == 0.25 && s.kind[1] == 3);
  CHECK(s.k[2] == 1 && s.l0[2] == 0.5 && s.damping[2] == 0);
  CHECK(s.k[3] == 1 && s.l0[3] == 1);
  world_destroy(&w);
}

TEST(springs_table_comes_back_from_the_text_of_a_scene) {
  char text[512], *formatted = NULL;
  HkScene *scene, *again;
  snprintf(text, sizeof text, chain, "[[0, 1, 0.1, 0.7, 0]]");
  const char *json = test_json(text);
  MUST(hk_scene_parse(NULL, json, strlen(json), "scene", NULL, NULL, 0, &scene, error));
  MUST(hk_scene_format(scene, &formatted, error));
  MUST(hk_scene_parse(NULL, formatted, strlen(formatted), "scene", NULL, NULL, 0, &again, error));
  const HkTable *table = &again->bodies[0].springs.table;
  CHECK(table->rows == 1 && table->values[1] == 1 && table->values[2] == 0.1);
  hk_text_destroy(&formatted);
  hk_scene_destroy(&scene);
  hk_scene_destroy(&again);
}

TEST(springs_table_names_the_row_that_is_wrong) {
  static const struct {
    const char *table, *part;
  } bad[] = {{"[[0, 1, 1, 1, 1], [0, 4, 1, 1, 1]]", "springs.table[1]: there is no vertex 4"},
             {"[[0.5, 1, 1, 1, 1]]", "there is no vertex 0.5"},
             {"[[2, 2, 1, 1, 1]]", "cannot join vertex 2 with itself"},
             {"[[0, 1, 1]]", "expected a list of 5 numbers"}};
  for (int q = 0; q < 4; q++) {
    char text[512];
    HkScene *scene = NULL;
    HkModel *model = NULL;
    HkError error = {0};
    snprintf(text, sizeof text, chain, bad[q].table);
    const char *json = test_json(text);
    HkStatus status =
        hk_scene_parse(NULL, json, strlen(json), "scene", NULL, NULL, 0, &scene, &error);
    if (status >= 0) status = hk_model_compile(scene, &model, &error);
    CHECK(status < 0 && strstr(error.text, bad[q].part));
    CHECK(error.line == 1);
    hk_model_destroy(&model);
    hk_scene_destroy(&scene);
  }
}

/* ---- States as bytes ---- */

static World pendulum(void) {
  return world_make("{'integrator': 'bdf2', 'bodies': [{'shape': {'type': 'chain', 'n': 5}}], "
                    "'pins': [{'select': 'start'}], 'forces': ['gravity'], 'outputs': []}",
                    NULL, 0.01, 1);
}

TEST(a_state_from_bytes_goes_on_bit_for_bit) {
  World w = pendulum();
  if (!w.state) return;
  world_steps(&w, 7);
  size_t size = hk_state_packed_size(w.state);
  char *bytes = malloc(size);
  HkState *copy = NULL;
  hk_state_pack(w.state, bytes);
  MUST(hk_state_from_bytes(NULL, bytes, size, &copy, error));
  world_steps(&w, 5);
  MUST(hk_sim_steps(w.sim, copy, 5, error));
  CHECK(hk_state_time(copy) == hk_state_time(w.state));
  CHECK(memcmp(hk_state_x(copy), hk_state_x(w.state), 15 * sizeof(double)) == 0);
  CHECK(memcmp(hk_state_v(copy), hk_state_v(w.state), 15 * sizeof(double)) == 0);
  hk_state_destroy(&copy);
  free(bytes);
  world_destroy(&w);
}

TEST(bytes_that_are_no_state_are_refused) {
  World w = pendulum();
  if (!w.state) return;
  size_t size = hk_state_packed_size(w.state);
  char *bytes = malloc(size);
  HkState *state = NULL;
  hk_state_pack(w.state, bytes);
  for (size_t less = 1; less <= size; less += 13)
    FAILS(hk_state_from_bytes(NULL, bytes, size - less, &state, error), HK_ERROR_FORMAT,
          "no state of Hooke");
  bytes[size - 1] = 77; /* a pin that neither holds nor is free */
  FAILS(hk_state_from_bytes(NULL, bytes, size, &state, error), HK_ERROR_FORMAT, "no state");
  hk_state_pack(w.state, bytes);
  memset(bytes + 8, 0x7f, 8); /* far too many vertices */
  FAILS(hk_state_from_bytes(NULL, bytes, size, &state, error), HK_ERROR_FORMAT, "no state");
  CHECK(!state);
  free(bytes);
  world_destroy(&w);
}

/* ---- Pages of states ---- */

TEST(a_viewer_writes_the_states_that_were_added) {
  char path[512], text[64];
  HkViewer *viewer = NULL;
  World w = pendulum();
  if (!w.state) return;
  snprintf(path, sizeof path, "%s/page.html", test_folder());
  FAILS(hk_viewer_create(w.scene, w.model, 10, 1e6, &viewer, error), HK_ERROR_INVALID, "6e+06");
  FAILS(hk_viewer_create(w.scene, w.model, 0, 0, &viewer, error), HK_ERROR_INVALID, "nothing");
  MUST(hk_viewer_create(w.scene, w.model, 10, 0, &viewer, error));
  FAILS(hk_viewer_write(viewer, w.sim, path, error), HK_ERROR_INVALID, "no state was added");
  for (int q = 0; q < 4; q++) {
    MUST(hk_viewer_add(viewer, w.sim, w.state, error));
    world_steps(&w, 3);
  }
  MUST(hk_viewer_write(viewer, w.sim, path, error));
  hk_viewer_destroy(&viewer);
  CHECK(!viewer);
  FILE *file = fopen(path, "r");
  CHECK(file != NULL);
  size_t size = file ? 2000000 : 0, used = 0;
  char *page = calloc(size + 1, 1);
  if (file) used = fread(page, 1, size, file);
  if (file) fclose(file);
  CHECK(used > 10000 && used < size);
  snprintf(text, sizeof text, "\"frames\":{\"count\":%d,", 4);
  CHECK(strstr(page, text));
  CHECK(strstr(page, "\"status\":\"done\""));
  free(page);
  remove(path);
  world_destroy(&w);
}
