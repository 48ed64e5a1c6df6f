/* Models of one body and one obstacle; see one_obstacle.h. */
#include "one_obstacle.h"

#include "test.h"

#define BODY "'bodies': [{'name': 'rope', 'shape': {'type': 'chain', 'n': 3}}], 'outputs': []"

void one_obstacle_destroy(OneObstacle *made) {
  hk_model_destroy(&made->model);
  hk_scene_destroy(&made->scene);
}

HkStatus one_obstacle_make(const char *list, const char *folder, OneObstacle *made,
                           HkError *error) {
  char text[2048];
  *made = (OneObstacle){0};
  snprintf(text, sizeof text, "{" BODY ",\n'obstacles': [%s]}", list);
  HK_TRY(hk_scene_parse(NULL, test_json(text), strlen(text), "scene.json", folder, NULL, 0,
                        &made->scene, error));
  return hk_model_compile(made->scene, &made->model, error);
}

const HkObstacleFeatures *one_obstacle_features(const OneObstacle *made) {
  return &made->model->obstacles[0].features;
}

const char *one_obstacle_file(const char *name, const char *content) {
  static char folder[512];
  char path[1024];
  snprintf(folder, sizeof folder, "%s", test_folder());
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "w");
  if (!file || fputs(content, file) < 0 || fclose(file) != 0) abort();
  return folder;
}

HkStatus one_obstacle_from(const char *list, const char *name, const char *content,
                           OneObstacle *made, HkError *error) {
  return one_obstacle_make(list, one_obstacle_file(name, content), made, error);
}
