/* Obstacles in scenes, models and runs, and what is refused. */
#include "hooke/run.h"
#include "one_obstacle.h"
#include "test.h"

/* ---- Scenes and models ---- */

TEST(obstacles_are_read_written_and_compiled_with_all_that_they_have) {
  OneObstacle made;
  HkScene *again = NULL;
  char *first = NULL, *second = NULL;
  MUST(one_obstacle_make(
      "{'type': 'ball', 'center': [0, 0.5, 0], 'radius': 0.2, 'name': 'marble', 'friction': "
      "0.4, 'two_sided': true, 'motion': {'type': 'rotation', 'speed': 5}}, 'plane', "
      "{'type': 'capsule', 'motion': 'fixed'}, 'box', 'cylinder'",
      NULL, &made, error));
  MUST(hk_scene_format(made.scene, &first, error));
  MUST(hk_scene_parse(NULL, first, strlen(first), "again", NULL, NULL, 0, &again, error));
  MUST(hk_scene_format(again, &second, error));
  CHECK(strcmp(first, second) == 0);
  CHECK(again->obstacle_count == 5 && strcmp(again->obstacles[0].name, "marble") == 0);
  CHECK(again->obstacles[0].friction == 0.4 && again->obstacles[0].two_sided);
  CHECK(strcmp(again->obstacles[0].motion.schema->name, "rotation") == 0);
  CHECK(strcmp(again->obstacles[0].shape.schema->name, "ball") == 0);
  CHECK(isnan(again->obstacles[1].friction) && !again->obstacles[1].two_sided);
  const HkCompiledObstacle *o = made.model->obstacles;
  CHECK(made.model->obstacle_count == 5 && strcmp(o[0].name, "marble") == 0);
  CHECK(o[0].friction == 0.4 && o[0].two_sided && isnan(o[1].friction));
  CHECK(strcmp(o[1].name, "obstacle1") == 0 && o[1].type->distance && !o[0].type->distance);
  hk_text_destroy(&first);
  hk_text_destroy(&second);
  hk_scene_destroy(&again);
  one_obstacle_destroy(&made);
}

TEST(obstacles_that_are_added_in_c_are_copies) {
  HkScene *scene = NULL;
  HkModel *model = NULL;
  char name[] = "floor";
  int index = -1;
  HkBody body = hk_body_default();
  HkObstacle obstacle = hk_obstacle_default();
  CHECK(isnan(obstacle.friction) && !obstacle.two_sided && !obstacle.shape.schema);
  MUST(hk_scene_create(NULL, &scene, error));
  MUST(hk_method_choose(&body.shape, HK_SHAPE, "chain", error));
  MUST(hk_scene_add_body(scene, &body, NULL, error));
  hk_method_clear(&body.shape);
  obstacle.name = name;
  MUST(hk_method_choose(&obstacle.shape, HK_OBSTACLE, "plane", error));
  MUST(hk_method_choose(&obstacle.motion, HK_MOTION, "oscillation", error));
  MUST(hk_scene_add_obstacle(scene, &obstacle, &index, error));
  CHECK(index == 0 && scene->obstacle_count == 1);
  hk_method_clear(&obstacle.shape);
  hk_method_clear(&obstacle.motion);
  name[0] = 'X';
  MUST(hk_model_compile(scene, &model, error));
  CHECK(strcmp(model->obstacles[0].name, "floor") == 0);
  hk_model_destroy(&model);
  /* What was filled in C is checked, too. */
  scene->obstacles[0].friction = -1;
  FAILS(hk_model_compile(scene, &model, error), HK_ERROR_INVALID, "obstacles[0].friction");
  scene->obstacles[0].friction = NAN;
  hk_method_clear(&scene->obstacles[0].shape);
  FAILS(hk_model_compile(scene, &model, error), HK_ERROR_INVALID, "no shape was chosen");
  MUST(hk_method_choose(&scene->obstacles[0].shape, HK_SHAPE, "grid", error));
  FAILS(hk_model_compile(scene, &model, error), HK_ERROR_INVALID, "'grid' is not an obstacle");
  hk_scene_destroy(&scene);
}

static uint64_t fingerprint(const char *list) {
  OneObstacle made;
  HkError error = {0};
  if (one_obstacle_make(list, NULL, &made, &error) < 0)
    test_fail(__FILE__, __LINE__, "%s", error.text);
  uint64_t print = made.model ? made.model->fingerprint : 0;
  one_obstacle_destroy(&made);
  return print;
}

TEST(the_fingerprint_of_a_model_knows_the_shapes_of_its_obstacles) {
  uint64_t none = fingerprint("");
  uint64_t plane = fingerprint("'plane'"), ball = fingerprint("'ball'");
  CHECK(none != plane && none != ball && plane != ball);
  CHECK(plane == fingerprint("{'type': 'plane', 'name': 'floor', 'friction': 1}"));
  CHECK(plane != fingerprint("{'type': 'plane', 'point': [0, -1, 0]}"));
  CHECK(ball != fingerprint("{'type': 'ball', 'radius': 0.25}"));
}

/* Reads the scene of a run from its run.json, which is in another folder than the obstacle's file.
 */
TEST(a_run_finds_the_files_of_its_obstacles_again_and_does_not_replace_them) {
  OneObstacle made, again = {0};
  HkRun *run = NULL;
  HkRunOptions options = hk_run_options_default();
  char inputs[512], results[512], path[600];
  snprintf(inputs, sizeof inputs, "%s",
           one_obstacle_file("mesh.off", "OFF\n3 1 0\n1 0 0\n0 1 0\n0 0 1\n3 0 1 2\n"));
  snprintf(results, sizeof results, "%s", test_folder());
  MUST(one_obstacle_make("{'type': 'mesh', 'file': 'mesh.off'}", inputs, &made, error));
  options.folder = inputs;
  options.force = true;
  FAILS(hk_run_create(made.scene, &options, &run, error), HK_ERROR_INVALID,
        "mesh.off, which the scene reads");
  options.folder = results;
  MUST(hk_run_create(made.scene, &options, &run, error));
  hk_run_destroy(&run);
  snprintf(path, sizeof path, "%s/run.json", results);
  MUST(hk_scene_read(NULL, path, NULL, 0, &again.scene, error));
  MUST(hk_model_compile(again.scene, &again.model, error));
  CHECK(one_obstacle_features(&again)->triangle_count == 1);
  one_obstacle_destroy(&again);
  one_obstacle_destroy(&made);
}

/* ---- Errors ---- */

/* Refused with this text, at the place of the list where `at` begins: the list is in line 2. */
static void refuses(const char *list, const char *part, const char *at) {
  OneObstacle made;
  HkError error = {0};
  const int first = (int)strlen("'obstacles': [") + 1;
  int column = first + (int)(strstr(list, at) - list);
  HkStatus status = one_obstacle_make(list, NULL, &made, &error);
  bool placed = error.line == 2 && error.column == column && strcmp(error.file, "scene.json") == 0;
  if ((status != HK_ERROR_INVALID && status != HK_ERROR_FORMAT) || !strstr(error.text, part) ||
      !placed)
    test_fail(__FILE__, __LINE__, "%s gave '%s', expected '%s' at 2:%d", list, error.text, part,
              column);
  one_obstacle_destroy(&made);
}

TEST(invalid_obstacles_are_refused_where_they_stand) {
  refuses("{'type': 'ball', 'radius': 0}", "obstacles[0].radius: 0 m", "0}");
  refuses("{'type': 'ball', 'radius': -1}", "obstacles[0].radius: -1 is out of range", "-1");
  refuses("'ball', {'type': 'capsule', 'to': [0, 0, 0]}", "obstacles[1].to: both ends", "[0");
  refuses("{'type': 'capsule', 'radius': 0}", "obstacles[0].radius", "0}");
  refuses("{'type': 'cylinder', 'from': [0, 1, 0]}", "both ends", "{");
  refuses("{'type': 'cylinder', 'segments': 2}", "expected a whole number from 3 to 100000", "2");
  refuses("{'type': 'cylinder', 'radius': 0}", "obstacles[0].radius", "0}");
  refuses("{'type': 'box', 'size': [1, 0, 1]}", "obstacles[0].size: 0 m", "[1");
  refuses("{'type': 'box', 'radius': 0.5}", "radius below 0.5 m", "0.5");
  refuses("{'type': 'box', 'axis': [0, 0, 0], 'angle': 5}", "obstacles[0].axis", "[0");
  refuses("{'type': 'plane', 'normal': [0, 0, 0]}", "obstacles[0].normal: 0 0 0", "[0");
  refuses("{'type': 'plane', 'normal': [0, 1]}", "obstacles[0].normal", "[0");
  refuses("{'type': 'mesh'}", "obstacles[0].file: is missing", "{");
  refuses("{'type': 'grid'}", "obstacles[0].file: is missing", "{");
  refuses("{'type': 'bull'}", "did you mean 'ball'?", "'bull'");
  refuses("{'radius': 1}", "\"type\" is missing: which obstacle?", "{");
  refuses("{'type': 'ball', 'radios': 1}", "did you mean 'radius'?", "'radios'");
  refuses("{'type': 'ball', 'fricton': 1}", "did you mean 'friction'?", "'fricton'");
  refuses("{'type': 'ball', 'friction': -1}", "obstacles[0].friction", "-1");
  refuses("{'type': 'ball', 'motion': {'type': 'rotation', 'axis': [0, 0, 0]}}",
          "obstacles[0].motion.axis", "[0");
  refuses("7", "expected the name of an obstacle", "7");
}

TEST(a_name_is_that_of_one_body_or_obstacle) {
  refuses("{'type': 'ball', 'name': 'rope'}", "obstacles[0].name: there is a body 'rope'",
          "'rope'");
  refuses("{'type': 'ball', 'name': 'b'}, {'type': 'box', 'name': 'b' }", "an obstacle 'b'",
          "'b' ");
  refuses("'ball', {'type': 'box', 'name': 'obstacle0'}", "an obstacle 'obstacle0'", "'obstacle0'");
}

TEST(files_of_obstacles_that_cannot_be_read_are_named) {
  OneObstacle made;
  HkError error = {0};
  HkStatus status =
      one_obstacle_make("{'type': 'mesh', 'file': 'none.obj'}", test_folder(), &made, &error);
  CHECK(status == HK_ERROR_IO && error.line == 2 && strstr(error.text, "none.obj"));
  CHECK(strstr(error.text, "obstacles[0].file") != NULL);
  one_obstacle_destroy(&made);
  error = (HkError){0};
  status = one_obstacle_from("{'type': 'mesh', 'file': 'bad.off'}", "bad.off",
                             "OFF\n1 0 0\n0 0 x\n", &made, &error);
  CHECK(status == HK_ERROR_FORMAT && error.line == 3 && strstr(error.file, "bad.off"));
  one_obstacle_destroy(&made);
  error = (HkError){0};
  status = one_obstacle_from("{'type': 'mesh', 'file': 'dust.off'}", "dust.off",
                             "OFF\n1 0 0\n0 0 0\n", &made, &error);
  CHECK(status == HK_ERROR_INVALID && strstr(error.text, "no points, lines, faces or solids"));
  one_obstacle_destroy(&made);
}
