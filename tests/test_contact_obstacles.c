/* Cloth in contact with every obstacle and every motion of an obstacle. */
#include "contact/crossing.h"
#include "model_by_hand.h"
#include "sheets.h"
#include "step/sim.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void write_file(const char *folder, const char *name, const char *content) {
  char path[600];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "w");
  CHECK(file != NULL);
  if (!file) return;
  fputs(content, file);
  fclose(file);
}

/* A cloth, held at two corners, above an obstacle whose top is at 0 where it is highest. */
static void land_on(const char *folder, const char *obstacle) {
  char text[3000];
  World w = {0};
  snprintf(text, sizeof text,
           "{'bodies': [" SHEET("cloth", "9", "0.02",
                                "") "], 'obstacles': [%s],"
                                    "'forces': ['gravity', {'type': 'contact'}]," END,
           obstacle);
  for (char *c = text; *c; c++)
    if (*c == '\'') *c = '"';
  MUST(hk_scene_parse(NULL, text, strlen(text), "land", folder, NULL, 0, &w.scene, error));
  MUST(hk_model_compile(w.scene, &w.model, error));
  MUST(hk_sim_create(w.model, NULL, 0.01, &w.sim, error));
  MUST(hk_state_create(w.model, &w.state, error));
  HkContacts *c = sheets_contacts(&w);
  int64_t touched = 0;
  for (int k = 0; k < 25; k++) {
    world_steps(&w, 1);
    CHECK(hk_contacts_crossings(c, w.state->x, NULL, 0) == 0);
    const HkTouchings *t = hk_contacts_find(c, &w.model->springs, w.state->x);
    touched += t->pair_count + t->wall_count;
  }
  const double *middle = w.state->x + 3 * (4 * 9 + 4);
  if (touched == 0 || !(middle[1] > -0.02))
    test_fail(__FILE__, __LINE__, "%s: %lld contacts, the middle is at %g m", obstacle,
              (long long)touched, middle[1]);
  world_destroy(&w);
}

TEST(cloth_lands_on_every_obstacle) {
  static const char *const obstacles[] = {
      "'plane'",
      "{'type': 'plane', 'two_sided': true}",
      "{'type': 'ball', 'center': [0, -0.1, 0], 'radius': 0.1}",
      "{'type': 'capsule', 'from': [-0.1, -0.05, 0], 'to': [0.1, -0.05, 0], 'radius': 0.05}",
      "{'type': 'box', 'center': [0, -0.05, 0], 'size': [0.2, 0.1, 0.2], 'radius': 0.01}",
      "{'type': 'cylinder', 'from': [0, -0.1, 0], 'to': [0, 0, 0], 'radius': 0.1}",
      "{'type': 'mesh', 'file': 'roof.obj', 'radius': 0.001}",
      "{'type': 'grid', 'file': 'half.txt'}",
      "{'type': 'grid', 'file': 'half.txt', 'two_sided': true}",
  };
  char folder[512];
  snprintf(folder, sizeof folder, "%s", test_folder());
  write_file(folder, "roof.obj",
             "v -0.15 -0.01 -0.15\nv 0.15 -0.01 -0.15\nv 0.15 -0.01 0.15\nv -0.15 -0.01 0.15\n"
             "v 0 0 0\nf 1 5 2\nf 2 5 3\nf 3 5 4\nf 4 5 1\n");
  write_file(folder, "half.txt", "2 2 2  -1 -1 -1  2 2 2  -1 -1 1 1 -1 -1 1 1\n");
  int types = 0;
  for (size_t q = 0; q < sizeof obstacles / sizeof obstacles[0]; q++) {
    land_on(folder, obstacles[q]);
    types += !strstr(obstacles[q], "two_sided");
  }
  CHECK(types == hk_schema_count(HK_OBSTACLE)); /* a new obstacle belongs here */
}

TEST(cloth_is_pushed_by_every_motion_of_an_obstacle) {
  static const char *const motions[] = {
      "'fixed'",
      "{'type': 'keyframes', 'table': [[0, 0, 0, 0], [0.25, 0.02, 0.05, 0]]}",
      "{'type': 'oscillation', 'amplitude': [0, 0.05, 0], 'frequency': 2}",
      "{'type': 'rotation', 'axis': [1, 3, 0], 'center': [0, -0.05, 0], 'speed': 200}",
      "{'type': 'track', 'file': 'track.csv', 'center': [0, -0.05, 0]}",
  };
  int count = (int)(sizeof motions / sizeof motions[0]);
  char folder[512], text[600];
  snprintf(folder, sizeof folder, "%s", test_folder());
  write_file(folder, "track.csv",
             "t,dx,dy,dz,qw,qx,qy,qz\n0,0,0,0,1,0,0,0\n0.25,0,0.04,0,2,0.2,1,0\n");
  CHECK(count == hk_schema_count(HK_MOTION)); /* a new motion belongs here */
  for (int q = 0; q < count; q++) {
    snprintf(text, sizeof text,
             "{'type': 'box', 'center': [0, -0.05, 0], 'size': [0.2, 0.1, 0.15], 'motion': %s}",
             motions[q]);
    land_on(folder, text);
  }
  land_on(folder, "{'type': 'plane', 'motion': {'type': 'track', 'file': 'track.csv'}}");
}

/* From below, a plane with two sides is a ceiling, and one with one side a floor that is too high.
 */
TEST(a_plane_with_two_sides_holds_from_below) {
  static const char text[] = "{'bodies': [" SHEET(
      "a", "4", "-0.05", ", 'velocity': [0, 2, 0]") "],"
                                                    "'obstacles': [{'type': 'plane', 'two_sided': "
                                                    "true}], 'forces': ['contact']," END;
  World w = world_parse(text);
  for (int k = 0; k < 10; k++) {
    world_steps(&w, 1);
    for (int64_t v = 0; v < w.model->n; v++) CHECK(w.state->x[3 * v + 1] < -5e-4);
  }
  CHECK(sheets_mean_height(&w, 0) > -0.05 && sheets_mean_height(&w, 0) < -5e-4);
  world_destroy(&w);
}
