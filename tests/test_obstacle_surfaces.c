/* Surfaces of obstacles for drawing: where they lie, which way they face, and how they move. */
#include "test.h"

#include "base/vec.h"
#include "model/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Made {
  HkScene *scene;
  HkModel *model;
  HkSurface surface;
} Made;

static void clear(Made *made) {
  if (made->model) hk_surface_destroy(made->model, &made->surface);
  hk_model_destroy(&made->model);
  hk_scene_destroy(&made->scene);
}

/* A model with one obstacle, or with the ground, and the surface of it. */
static HkStatus make_in(const char *folder, const char *obstacle, const char *contact, Made *made,
                        HkError *error) {
  char text[2048];
  *made = (Made){0};
  snprintf(
      text, sizeof text,
      "{'bodies': [{'shape': {'type': 'chain', 'n': 3, 'start': [0, 3, 0], 'end': [1, 3, 0]}}], "
      "'obstacles': [%s], 'forces': [{'type': 'contact'%s}], 'integrator': 'backward_euler', "
      "'outputs': []}",
      obstacle, contact);
  HK_TRY(hk_scene_parse(NULL, test_json(text), strlen(text), "scene", folder, NULL, 0, &made->scene,
                        error));
  HK_TRY(hk_model_compile(made->scene, &made->model, error));
  return hk_model_obstacle_surface(made->model, 0, &made->surface, error);
}

static HkStatus make(const char *obstacle, const char *contact, Made *made, HkError *error) {
  return make_in(NULL, obstacle, contact, made, error);
}

/* Volume by the divergence theorem: positive if all triangles face outwards. */
static double volume(const HkSurface *s) {
  double sum = 0;
  for (int64_t t = 0; t < s->triangle_count; t++) {
    const double *x[3];
    double across[3];
    for (int k = 0; k < 3; k++) x[k] = s->x + 3 * (int64_t)s->triangle[3 * t + k];
    hk_cross(x[1], x[2], across);
    sum += hk_dot(x[0], across) / 6;
  }
  return sum;
}

/* Whether normals are unit vectors on the side to which the triangles face. */
static bool normals_agree(const HkSurface *s) {
  for (int64_t t = 0; t < s->triangle_count; t++) {
    const int32_t *v = s->triangle + 3 * t;
    double a[3], b[3], across[3];
    hk_sub(s->x + 3 * (int64_t)v[1], s->x + 3 * (int64_t)v[0], a);
    hk_sub(s->x + 3 * (int64_t)v[2], s->x + 3 * (int64_t)v[0], b);
    hk_cross(a, b, across);
    for (int k = 0; k < 3; k++) {
      const double *n = s->normal + 3 * (int64_t)v[k];
      if (fabs(hk_norm(n) - 1) > 1e-9) return false;
      if (hk_dot(across, n) < -1e-12 * hk_norm(across)) return false;
    }
  }
  return true;
}

/* ---- Shapes ---- */

TEST(surfaces_enclose_the_volume_of_their_obstacles) {
  static const struct {
    const char *obstacle;
    double volume;
  } cases[] = {
      {"{'type': 'ball', 'center': [1, 2, 3], 'radius': 0.5}", 4 * M_PI / 3 * 0.125},
      {"{'type': 'box', 'size': [1, 2, 3], 'axis': [1, 2, 3], 'angle': 40}", 6},
      {"{'type': 'cylinder', 'to': [1, 2, 0], 'radius': 0.3}", M_PI * 0.09 * 2.2360679774997896},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    Made made;
    MUST(make(cases[k].obstacle, "", &made, error));
    CHECK_NEAR(volume(&made.surface) / cases[k].volume, 1, 0.01);
    CHECK(normals_agree(&made.surface));
    CHECK(!made.surface.endless);
    clear(&made);
  }
}

TEST(surfaces_of_round_obstacles_lie_at_their_radius) {
  Made made;
  MUST(make("{'type': 'capsule', 'from': [0, 0, 0], 'to': [0, 0, 2], 'radius': 0.25}", "", &made,
            error));
  const HkSurface *s = &made.surface;
  double low = INFINITY, high = -INFINITY;
  for (int64_t v = 0; v < s->vertex_count; v++) {
    const double *x = s->x + 3 * v;
    double along = fmin(fmax(x[2], 0), 2), nearest = hypot(hypot(x[0], x[1]), x[2] - along);
    CHECK(nearest <= 0.25 + 1e-12); /* the inner halves of the balls at the ends lie inside */
    low = fmin(low, x[2]);
    high = fmax(high, x[2]);
  }
  CHECK_NEAR(low, -0.25, 1e-12);
  CHECK_NEAR(high, 2.25, 1e-12);
  CHECK(normals_agree(s));
  clear(&made);
}

/* With a radius the faces of a box stay where they are, and its edges are round. */
TEST(a_box_with_a_radius_is_drawn_with_round_edges) {
  Made made;
  MUST(make("{'type': 'box', 'size': [1, 1, 1], 'radius': 0.1}", "", &made, error));
  double most = 0;
  for (int64_t v = 0; v < made.surface.vertex_count; v++) {
    const double *x = made.surface.x + 3 * v;
    double out[3];
    for (int c = 0; c < 3; c++) {
      most = fmax(most, fabs(x[c]));
      out[c] = fmax(fabs(x[c]) - 0.4, 0);
    }
    CHECK(hk_norm(out) <= 0.1 + 1e-12);
  }
  CHECK_NEAR(most, 0.5, 1e-12);
  CHECK(normals_agree(&made.surface));
  clear(&made);
}

/* Writes the distances of a ball of radius 0.3 on a grid of 25^3 values with sides of 1 m. */
static void write_ball(const char *folder, const char *name) {
  char path[1024];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "w");
  if (!file) abort();
  fprintf(file, "25 25 25\n-0.5 -0.5 -0.5\n%.17g %.17g %.17g\n", 1.0 / 24, 1.0 / 24, 1.0 / 24);
  for (int k = 0; k < 25; k++)
    for (int j = 0; j < 25; j++)
      for (int i = 0; i < 25; i++)
        fprintf(file, "%.9g\n", hypot(hypot(i / 24.0 - 0.5, j / 24.0 - 0.5), k / 24.0 - 0.5) - 0.3);
  if (fclose(file) != 0) abort();
}

TEST(a_distance_grid_is_drawn_as_its_surface) {
  Made made;
  const char *folder = test_folder();
  write_ball(folder, "ball.txt");
  MUST(make_in(folder, "{'type': 'grid', 'file': 'ball.txt'}", "", &made, error));
  CHECK_NEAR(volume(&made.surface) / (4 * M_PI / 3 * 0.027), 1, 0.02);
  CHECK(normals_agree(&made.surface));
  double worst = 0;
  for (int64_t v = 0; v < made.surface.vertex_count; v++)
    worst = fmax(worst, fabs(hk_norm(made.surface.x + 3 * v) - 0.3));
  CHECK(made.surface.vertex_count > 1000 && worst < 0.003);
  clear(&made);
}

/* ---- Planes and the ground ---- */

TEST(the_ground_is_the_last_obstacle_and_lies_at_its_height) {
  Made made;
  MUST(make("", ", 'ground': true, 'height': -0.5", &made, error));
  CHECK(hk_model_obstacle_count(made.model) == 1);
  CHECK(strcmp(hk_model_obstacle_name(made.model, 0), "ground") == 0);
  CHECK(made.surface.endless && made.surface.triangle_count > 100);
  int64_t dark = 0;
  for (int64_t t = 0; t < made.surface.triangle_count; t++) dark += made.surface.shade[t];
  CHECK_NEAR((double)dark / (double)made.surface.triangle_count, 0.5, 0.05);
  for (int64_t v = 0; v < made.surface.vertex_count; v++)
    CHECK_NEAR(made.surface.x[3 * v + 1], -0.5, 1e-12);
  CHECK(normals_agree(&made.surface));
  clear(&made);
  MUST(make("{'type': 'plane', 'point': [0, 1, 0], 'normal': [1, 2, 2]}", "", &made, error));
  for (int64_t v = 0; v < made.surface.vertex_count; v++) {
    const double *x = made.surface.x + 3 * v;
    CHECK_NEAR(x[0] + 2 * (x[1] - 1) + 2 * x[2], 0, 1e-9);
  }
  CHECK(normals_agree(&made.surface));
  clear(&made);
}

/* ---- Motion ---- */

TEST(poses_follow_the_motion_and_its_live_changes) {
  static const double rows[] = {0, 0, 0, 0, 1, 0, 2, 0};
  Made made;
  double R[9], T[3];
  HkMethod motion = {0};
  HkSurface none;
  MUST(make("{'type': 'ball', 'motion': {'type': 'rotation', 'axis': [0, 0, 1], 'center': [1, 0, "
            "0], 'speed': 90}}",
            "", &made, error));
  hk_model_obstacle_pose(made.model, 0, 1, R, T);
  CHECK_NEAR(R[0], 0, 1e-12);
  CHECK_NEAR(R[3], 1, 1e-12);
  CHECK_NEAR(T[0], 1, 1e-12);
  CHECK_NEAR(T[1], -1, 1e-12);
  MUST(hk_method_choose(&motion, HK_MOTION, "keyframes", error));
  MUST(hk_method_set_table(&motion, "table", rows, 2, error));
  MUST(hk_model_set_obstacle_motion(made.model, 0, &motion, error));
  hk_model_obstacle_pose(made.model, 0, 0.5, R, T);
  CHECK_NEAR(R[0], 1, 1e-12);
  CHECK_NEAR(T[1], 1, 1e-12);
  MUST(hk_model_set_obstacle_motion(made.model, 0, NULL, error));
  hk_model_obstacle_pose(made.model, 0, 0.5, R, T);
  CHECK(T[0] == 0 && T[1] == 0 && T[2] == 0);
  FAILS(hk_model_set_obstacle_motion(made.model, 1, NULL, error), HK_ERROR_INVALID,
        "there is no obstacle 1");
  FAILS(hk_model_obstacle_surface(made.model, 7, &none, error), HK_ERROR_INVALID,
        "there is no obstacle 7");
  CHECK(!hk_model_obstacle_name(made.model, -1));
  hk_method_clear(&motion);
  clear(&made);
}
