/* Obstacles: features, distances, poses, scenes and what is refused. */
#include "test.h"

#include "base/vec.h"
#include "hooke/run.h"
#include "model/model.h"
#include "property.h"

#define BODY "'bodies': [{'name': 'rope', 'shape': {'type': 'chain', 'n': 3}}], 'outputs': []"

/* ---- Worlds of one body and one obstacle ---- */

typedef struct Made {
  HkScene *scene;
  HkModel *model;
} Made;

static void clear(Made *made) {
  hk_model_destroy(&made->model);
  hk_scene_destroy(&made->scene);
}

/* From a list of obstacles in single quotes; names of files start in folder. */
static HkStatus make(const char *list, const char *folder, Made *made, HkError *error) {
  char text[2048];
  *made = (Made){0};
  snprintf(text, sizeof text, "{" BODY ",\n'obstacles': [%s]}", list);
  HK_TRY(hk_scene_parse(NULL, test_json(text), strlen(text), "scene.json", folder, NULL, 0,
                        &made->scene, error));
  return hk_model_compile(made->scene, &made->model, error);
}

static const HkObstacleFeatures *features_of(const Made *made) {
  return &made->model->obstacles[0].features;
}

/* Writes a file and returns its folder. */
static const char *write_file(const char *name, const char *content) {
  static char folder[512];
  char path[1024];
  snprintf(folder, sizeof folder, "%s", test_folder());
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "w");
  if (!file || fputs(content, file) < 0 || fclose(file) != 0) abort();
  return folder;
}

/* Makes an obstacle of a file with this content. */
static HkStatus make_from(const char *list, const char *name, const char *content, Made *made,
                          HkError *error) {
  return make(list, write_file(name, content), made, error);
}

/* ---- Features ---- */

static const double *vertex(const HkObstacleFeatures *f, int32_t v) {
  return f->x + 3 * (int64_t)v;
}

/* Volume by the divergence theorem: positive if normals point outwards. */
static double volume(const HkObstacleFeatures *f) {
  double sum = 0, normal[3];
  for (int32_t t = 0; t < f->triangle_count; t++) {
    const int32_t *corner = f->triangle + 3 * (int64_t)t;
    hk_cross(vertex(f, corner[1]), vertex(f, corner[2]), normal);
    sum += hk_dot(vertex(f, corner[0]), normal) / 6;
  }
  return sum;
}

static double area(const HkObstacleFeatures *f) {
  double sum = 0, a[3], b[3], normal[3];
  for (int32_t t = 0; t < f->triangle_count; t++) {
    const int32_t *corner = f->triangle + 3 * (int64_t)t;
    hk_sub(vertex(f, corner[1]), vertex(f, corner[0]), a);
    hk_sub(vertex(f, corner[2]), vertex(f, corner[0]), b);
    hk_cross(a, b, normal);
    sum += hk_norm(normal) / 2;
  }
  return sum;
}

/* How many triangles run along an edge from a to b, in this direction. */
static int count_along(const HkObstacleFeatures *f, int32_t a, int32_t b) {
  int count = 0;
  for (int32_t t = 0; t < f->triangle_count; t++) {
    const int32_t *corner = f->triangle + 3 * (int64_t)t;
    for (int q = 0; q < 3; q++) count += corner[q] == a && corner[(q + 1) % 3] == b;
  }
  return count;
}

/* Each edge once, between two different vertices. */
static bool has_unique_edges(const HkObstacleFeatures *f) {
  for (int32_t e = 0; e < f->edge_count; e++) {
    const int32_t *ends = f->edge + 2 * (int64_t)e;
    if (ends[0] == ends[1]) return false;
    for (int32_t q = 0; q < e; q++) {
      const int32_t *other = f->edge + 2 * (int64_t)q;
      if ((other[0] == ends[0] && other[1] == ends[1]) ||
          (other[0] == ends[1] && other[1] == ends[0]))
        return false;
    }
  }
  return true;
}

/* Each edge has two triangles, which run along it in opposite directions; Euler's number is 2. */
static bool is_closed(const HkObstacleFeatures *f) {
  for (int32_t e = 0; e < f->edge_count; e++) {
    const int32_t *ends = f->edge + 2 * (int64_t)e;
    if (count_along(f, ends[0], ends[1]) != 1 || count_along(f, ends[1], ends[0]) != 1)
      return false;
  }
  return has_unique_edges(f) && f->vertex_count - f->edge_count + f->triangle_count == 2;
}

TEST(a_ball_is_a_vertex_and_a_capsule_an_edge) {
  Made made;
  MUST(make("{'type': 'ball', 'center': [1, 2, 3], 'radius': 0.25}", NULL, &made, error));
  const HkObstacleFeatures *f = features_of(&made);
  CHECK(f->vertex_count == 1 && f->edge_count == 0 && f->triangle_count == 0);
  CHECK(f->x[0] == 1 && f->x[1] == 2 && f->x[2] == 3 && f->radius == 0.25);
  clear(&made);
  MUST(make("{'type': 'capsule', 'from': [1, 0, 0], 'to': [1, 0, 2], 'radius': 0.5}", NULL, &made,
            error));
  f = features_of(&made);
  CHECK(f->vertex_count == 2 && f->edge_count == 1 && f->triangle_count == 0 && f->radius == 0.5);
  CHECK(f->x[0] == 1 && f->x[2] == 0 && f->x[3] == 1 && f->x[5] == 2);
  CHECK(f->edge[0] + f->edge[1] == 1);
  clear(&made);
}

TEST(a_box_is_closed_and_has_its_volume_wherever_it_is_turned) {
  Made made;
  MUST(make("{'type': 'box', 'center': [5, -3, 2], 'size': [1, 2, 0.5], 'axis': [1, 2, 3], "
            "'angle': 33}",
            NULL, &made, error));
  const HkObstacleFeatures *f = features_of(&made);
  CHECK(f->vertex_count == 8 && f->triangle_count == 12 && f->edge_count == 18 && f->radius == 0);
  CHECK(is_closed(f));
  CHECK_NEAR(volume(f), 1, 1e-12);
  CHECK_NEAR(area(f), 2 * (2 + 0.5 + 1), 1e-12);
  const double center[3] = {5, -3, 2};
  for (int32_t v = 0; v < 8; v++)
    CHECK_NEAR(hk_distance(vertex(f, v), center), sqrt(1 + 4 + 0.25) / 2, 1e-12);
  clear(&made);
}

TEST(a_box_turns_about_its_axis_by_its_angle) {
  Made made;
  MUST(make("{'type': 'box', 'size': [2, 1, 1], 'axis': [0, 0, 7], 'angle': 90}", NULL, &made,
            error));
  const HkObstacleFeatures *f = features_of(&made);
  for (int32_t v = 0; v < 8; v++) {
    CHECK_NEAR(fabs(vertex(f, v)[0]), 0.5, 1e-15);
    CHECK_NEAR(fabs(vertex(f, v)[1]), 1, 1e-15);
    CHECK_NEAR(fabs(vertex(f, v)[2]), 0.5, 1e-15);
  }
  clear(&made);
}

TEST(round_edges_leave_the_faces_of_a_box_where_they_are) {
  Made made;
  MUST(make("{'type': 'box', 'size': [1, 2, 3], 'radius': 0.2}", NULL, &made, error));
  const HkObstacleFeatures *f = features_of(&made);
  CHECK(is_closed(f) && f->radius == 0.2);
  for (int32_t v = 0; v < 8; v++)
    for (int c = 0; c < 3; c++) CHECK_NEAR(fabs(vertex(f, v)[c]) + f->radius, 0.5 * (c + 1), 1e-15);
  clear(&made);
}

/* Distance of a point from the line through from along the unit vector axis. */
static double from_axis(const double x[3], const double from[3], const double axis[3]) {
  double r[3], across[3];
  hk_sub(x, from, r);
  hk_cross(r, axis, across);
  return hk_norm(across);
}

static void check_cylinder(const double from[3], const double to[3], double radius, int segments) {
  Made made;
  char text[512];
  double axis[3], d[3], length = hk_distance(from, to);
  snprintf(text, sizeof text,
           "{'type': 'cylinder', 'from': [%g, %g, %g], 'to': [%g, %g, %g], 'radius': %g, "
           "'segments': %d}",
           from[0], from[1], from[2], to[0], to[1], to[2], radius, segments);
  MUST(make(text, NULL, &made, error));
  const HkObstacleFeatures *f = features_of(&made);
  hk_sub(to, from, d);
  hk_unit(d, axis);
  CHECK(f->vertex_count == 2 * segments + 2 && f->triangle_count == 4 * segments);
  CHECK(is_closed(f) && f->radius == 0);
  int centers = 0;
  for (int32_t v = 0; v < f->vertex_count; v++) {
    double r[3], away = from_axis(vertex(f, v), from, axis);
    hk_sub(vertex(f, v), from, r);
    double along = hk_dot(r, axis);
    CHECK(fabs(along) < 1e-12 || fabs(along - length) < 1e-12);
    centers += away < 1e-12;
    if (away >= 1e-12) CHECK_NEAR(away, radius, 1e-12);
  }
  CHECK(centers == 2);
  /* Prism over a regular polygon in a circle. */
  double prism = segments / 2.0 * sin(2 * M_PI / segments) * radius * radius * length;
  CHECK_NEAR(volume(f), prism, 1e-12 * (1 + prism));
  if (segments >= 64) CHECK_NEAR(volume(f) / (M_PI * radius * radius * length), 1, 0.002);
  clear(&made);
}

TEST(a_cylinder_is_closed_and_its_vertices_are_on_it_in_any_direction) {
  static const double ends[][3] = {{0, 1, 0}, {0, -1, 0}, {2, 0, 0}, {0, 0, -3}, {1, 2, 3}};
  static const double from[3] = {0, 0, 0}, aside[3] = {0.5, -0.25, 1};
  for (size_t q = 0; q < sizeof ends / sizeof ends[0]; q++) {
    check_cylinder(from, ends[q], 0.5, 64);
    check_cylinder(aside, ends[q], 0.25, 3);
  }
}

/* ---- Meshes ---- */

TEST(an_open_surface_has_all_its_edges_once) {
  Made made;
  /* A quad, cut into two triangles, and a triangle beside it. */
  MUST(make_from("{'type': 'mesh', 'file': 'open.off', 'radius': 0.01}", "open.off",
                 "OFF\n5 2 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n2 0 0\n4 0 1 2 3\n3 1 4 2\n", &made,
                 error));
  const HkObstacleFeatures *f = features_of(&made);
  CHECK(f->vertex_count == 5 && f->triangle_count == 3 && f->edge_count == 7);
  CHECK(has_unique_edges(f) && f->radius == 0.01);
  CHECK_NEAR(area(f), 1.5, 1e-15);
  clear(&made);
}

TEST(a_mesh_is_scaled_turned_and_moved_as_a_body_is) {
  Made made;
  MUST(make_from("{'type': 'mesh', 'file': 'one.off', 'scale': [2, 1, 1], 'axis': [0, 0, 1], "
                 "'angle': 90, 'translate': [0, 0, 5]}",
                 "one.off", "OFF\n3 1 0\n1 0 0\n0 1 0\n0 0 1\n3 0 1 2\n", &made, error));
  static const double expected[3][3] = {{0, 2, 5}, {-1, 0, 5}, {0, 0, 6}};
  for (int32_t v = 0; v < 3; v++)
    CHECK_NEAR(hk_distance(vertex(features_of(&made), v), expected[v]), 0, 1e-15);
  clear(&made);
}

TEST(solids_give_their_boundary_and_lines_their_edges) {
  Made made;
  /* Two tetrahedra on either side of a triangle, whose face inside is no part of the boundary. */
  MUST(make_from("{'type': 'mesh', 'file': 'two.mesh'}", "two.mesh",
                 "MeshVersionFormatted 1\nDimension 3\nVertices 5\n0 0 0 0\n1 0 0 0\n0 1 0 0\n"
                 "0 0 1 0\n0 0 -1 0\nTetrahedra 2\n1 2 3 4 0\n1 3 2 5 0\nEnd\n",
                 &made, error));
  const HkObstacleFeatures *f = features_of(&made);
  CHECK(f->vertex_count == 5 && f->triangle_count == 6 && f->edge_count == 9 && is_closed(f));
  CHECK_NEAR(volume(f), 1.0 / 3, 1e-15);
  clear(&made);
  MUST(make_from("{'type': 'mesh', 'file': 'wire.obj', 'radius': 0.1}", "wire.obj",
                 "v 0 0 0\nv 1 0 0\nv 1 1 0\nl 1 2 3\n", &made, error));
  f = features_of(&made);
  CHECK(f->vertex_count == 3 && f->triangle_count == 0 && f->edge_count == 2);
  clear(&made);
}

TEST(vertices_at_one_place_become_one_and_those_of_no_cell_are_left_out) {
  Made made;
  /* Two triangles that share an edge, but not its vertices; one of no area; a vertex of none. */
  MUST(make_from("{'type': 'mesh', 'file': 'torn.off'}", "torn.off",
                 "OFF\n8 3 0\n0 0 0\n1 0 0\n0 1 0\n1 0 0\n1 1 0\n0 1 0\n9 9 9\n2 0 0\n"
                 "3 0 1 2\n3 3 4 5\n3 0 1 7\n",
                 &made, error));
  const HkObstacleFeatures *f = features_of(&made);
  CHECK(f->vertex_count == 5 && f->triangle_count == 2);
  CHECK(f->edge_count == 7); /* those of the triangle without an area stay */
  CHECK(has_unique_edges(f));
  clear(&made);
}

/* ---- Distances ---- */

typedef struct Field {
  const HkCompiledObstacle *obstacle;
} Field;

static double distance(const Field *field, const double x[3], double n[3], double H[9]) {
  const HkCompiledObstacle *o = field->obstacle;
  return o->type->distance(o->method.params, o->data, x, n, H);
}

/* Central difference of the distance along axis c. */
static double slope(const Field *field, const double x[3], int c, double e) {
  double a[3], b[3], n[3];
  memcpy(a, x, sizeof a);
  memcpy(b, x, sizeof b);
  a[c] -= e;
  b[c] += e;
  return (distance(field, b, n, NULL) - distance(field, a, n, NULL)) / (2 * e);
}

/* n against the direction of the gradient, H against second differences. Returns |grad d|. */
static double check_derivatives(const Field *field, const double x[3]) {
  const double e = 1e-4;
  double n[3], H[9], g[3], unit[3];
  double d = distance(field, x, n, H);
  CHECK(isfinite(d));
  for (int c = 0; c < 3; c++) g[c] = slope(field, x, c, e);
  CHECK(hk_unit(g, unit));
  CHECK_NEAR(hk_norm(n), 1, 1e-14);
  CHECK_NEAR(hk_distance(unit, n), 0, 1e-7);
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++) {
      double before[3], after[3];
      memcpy(before, x, sizeof before);
      memcpy(after, x, sizeof after);
      before[r] -= e;
      after[r] += e;
      double second = (slope(field, after, c, e) - slope(field, before, c, e)) / (2 * e);
      CHECK_NEAR(H[3 * r + c], second, 1e-5 * (1 + fabs(second)));
    }
  return hk_norm(g);
}

TEST(the_distance_of_a_plane_is_along_its_unit_normal) {
  Made made;
  uint64_t seed = 1;
  MUST(make("{'type': 'plane', 'point': [1, 2, 3], 'normal': [3, 0, -4]}", NULL, &made, error));
  const Field field = {&made.model->obstacles[0]};
  CHECK(made.model->obstacles[0].features.vertex_count == 0);
  double n[3];
  CHECK(distance(&field, (double[]){1, 2, 3}, n, NULL) == 0);
  CHECK_NEAR(distance(&field, (double[]){1.6, 7, 2.2}, n, NULL), 1, 1e-14);
  CHECK_NEAR(distance(&field, (double[]){0.4, 7, 3.8}, n, NULL), -1, 1e-14);
  for (int q = 0; q < 20; q++) {
    double x[3];
    for (int c = 0; c < 3; c++) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      x[c] = (double)(seed >> 40) / (double)(1 << 22) - 2;
    }
    CHECK_NEAR(check_derivatives(&field, x), 1, 1e-9);
  }
  clear(&made);
}

enum { GRID_X = 7, GRID_Y = 5, GRID_Z = 6 };
static const double grid_origin[3] = {-1, -0.5, -2}, grid_spacing[3] = {0.5, 0.25, 0.75};

/* A grid of a function at its points, with comments among the numbers. */
static const char *write_grid(double (*value)(const double x[3])) {
  static char text[1 << 16];
  int used = snprintf(text, sizeof text, "# a grid\n%d %d %d # numbers\n%g %g %g\n%g %g %g\n",
                      GRID_X, GRID_Y, GRID_Z, grid_origin[0], grid_origin[1], grid_origin[2],
                      grid_spacing[0], grid_spacing[1], grid_spacing[2]);
  for (int k = 0; k < GRID_Z; k++)
    for (int j = 0; j < GRID_Y; j++)
      for (int i = 0; i < GRID_X; i++) {
        double x[3] = {grid_origin[0] + i * grid_spacing[0], grid_origin[1] + j * grid_spacing[1],
                       grid_origin[2] + k * grid_spacing[2]};
        used += snprintf(text + used, sizeof text - (size_t)used, "%.17g%s", value(x),
                         i == GRID_X - 1 ? "\n" : " ");
      }
  return text;
}

static double of_plane(const double x[3]) {
  return 0.6 * x[0] - 0.8 * x[1] + 0.1;
}

static double of_ball(const double x[3]) {
  return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + 0.01) - 0.4;
}

/* A point within the cell (i, j, k), away from its faces. */
static void inside(int q, double x[3]) {
  int cell[3] = {q % (GRID_X - 1), q / 2 % (GRID_Y - 1), q / 3 % (GRID_Z - 1)};
  for (int c = 0; c < 3; c++)
    x[c] = grid_origin[c] + grid_spacing[c] * (cell[c] + 0.2 + 0.13 * ((q + c) % 5));
}

TEST(a_grid_of_a_linear_function_is_exact_and_clamps_outside) {
  Made made;
  MUST(make_from("{'type': 'grid', 'file': 'd.txt'}", "d.txt", write_grid(of_plane), &made, error));
  const Field field = {&made.model->obstacles[0]};
  double n[3], H[9], x[3];
  for (int q = 0; q < 40; q++) {
    inside(q, x);
    CHECK_NEAR(distance(&field, x, n, H), of_plane(x), 1e-14);
    CHECK_NEAR(hk_distance(n, (double[]){0.6, -0.8, 0}), 0, 1e-13);
    CHECK_NEAR(hk_mat_row_sum(H), 0, 1e-12);
  }
  /* Corners belong to the grid. */
  const double last[3] = {2, 0.5, 1.75};
  CHECK_NEAR(distance(&field, grid_origin, n, H), of_plane(grid_origin), 1e-14);
  CHECK_NEAR(distance(&field, last, n, H), of_plane(last), 1e-14);
  /* Outside along two axes: 3 and 4 m from the edge that is nearest. */
  const double far[3] = {5, 0.25, 5.75}, near[3] = {2, 0.25, 1.75};
  CHECK_NEAR(distance(&field, far, n, H), of_plane(near) + 5, 1e-13);
  clear(&made);
}

TEST(derivatives_of_a_grid_are_those_of_its_interpolation) {
  Made made;
  MUST(make_from("{'type': 'grid', 'file': 'd.txt'}", "d.txt", write_grid(of_ball), &made, error));
  const Field field = {&made.model->obstacles[0]};
  double x[3];
  for (int q = 0; q < 60; q++) {
    inside(q, x);
    check_derivatives(&field, x);
    /* And outside, along one, two or three axes. */
    for (int c = 0; c <= q % 3; c++) x[c] += (q & 1 << c ? 1 : -1) * (5 + 0.3 * c);
    check_derivatives(&field, x);
  }
  clear(&made);
}

/* ---- Poses ---- */

TEST(poses_are_rigid_and_place_all_points_for_every_motion) {
  static const char track[] =
      "{'type': 'track', 'center': [1, 0, 2], 'table': [[0, 0, 0, 0, 1, 0, 0, 0], "
      "[1, 1, 2, 3, 0.3, -1, 0.5, 2], [2, 0, 0, 0, -1, 1, 0, 0]]}";
  static const char *const motions[] = {
      "'fixed'",
      "{'type': 'keyframes', 'table': [[0, 0, 0, 0], [1, 0.5, -1, 2], [2, 0, 3, 0]]}",
      "{'type': 'oscillation', 'amplitude': [0.1, 0.2, 0.3], 'frequency': 3, 'phase': 40}",
      "{'type': 'rotation', 'axis': [1, 2, 3], 'center': [4, -1, 2], 'speed': 77}",
      track,
  };
  int count = (int)(sizeof motions / sizeof motions[0]);
  CHECK(count == hk_schema_count(HK_MOTION)); /* a new motion belongs here */
  for (int q = 0; q < count; q++) {
    Made made;
    char text[512];
    snprintf(text, sizeof text, "{'type': 'ball', 'motion': %s}", motions[q]);
    MUST(make(text, NULL, &made, error));
    const HkCompiledObstacle *o = &made.model->obstacles[0];
    for (int step = 0; step < 9; step++) {
      double t = 0.37 * step, R[9], T[3], columns[9], product[9];
      hk_obstacle_pose(o, t, R, T);
      for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) columns[3 * r + c] = R[3 * c + r];
      hk_mat_multiply(columns, R, product);
      for (int k = 0; k < 9; k++) CHECK_NEAR(product[k], k % 4 == 0 ? 1 : 0, 1e-14);
      double cross[3];
      hk_cross(columns, columns + 3, cross);
      CHECK_NEAR(hk_distance(cross, columns + 6), 0, 1e-14); /* no reflection */
      const double x0[3] = {0.3, -2, 5};
      double x[3], posed[3];
      hk_obstacle_place(o, t, x0, x);
      memcpy(posed, T, sizeof posed);
      hk_mat_add_product(R, x0, posed);
      CHECK_NEAR(hk_distance(x, posed), 0, 1e-13);
    }
    clear(&made);
  }
}

TEST(an_obstacle_without_a_motion_stays) {
  Made made;
  MUST(make("'ball'", NULL, &made, error));
  double R[9], T[3];
  hk_obstacle_pose(&made.model->obstacles[0], 3, R, T);
  for (int k = 0; k < 9; k++) CHECK(R[k] == (k % 4 == 0 ? 1 : 0));
  CHECK(hk_norm(T) == 0 && made.model->obstacles[0].motion.type->rests);
  clear(&made);
}

/* ---- Scenes and models ---- */

TEST(obstacles_are_read_written_and_compiled_with_all_that_they_have) {
  Made made;
  HkScene *again = NULL;
  char *first = NULL, *second = NULL;
  MUST(make("{'type': 'ball', 'center': [0, 0.5, 0], 'radius': 0.2, 'name': 'marble', 'friction': "
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
  clear(&made);
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
  Made made;
  HkError error = {0};
  if (make(list, NULL, &made, &error) < 0) test_fail(__FILE__, __LINE__, "%s", error.text);
  uint64_t print = made.model ? made.model->fingerprint : 0;
  clear(&made);
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
  Made made, again = {0};
  HkRun *run = NULL;
  HkRunOptions options = hk_run_options_default();
  char inputs[512], results[512], path[600];
  snprintf(inputs, sizeof inputs, "%s",
           write_file("mesh.off", "OFF\n3 1 0\n1 0 0\n0 1 0\n0 0 1\n3 0 1 2\n"));
  snprintf(results, sizeof results, "%s", test_folder());
  MUST(make("{'type': 'mesh', 'file': 'mesh.off'}", inputs, &made, error));
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
  CHECK(features_of(&again)->triangle_count == 1);
  clear(&again);
  clear(&made);
}

/* ---- Errors ---- */

/* Refused with this text, at the place of the list where `at` begins: the list is in line 2. */
static void refuses(const char *list, const char *part, const char *at) {
  Made made;
  HkError error = {0};
  const int first = (int)strlen("'obstacles': [") + 1;
  int column = first + (int)(strstr(list, at) - list);
  HkStatus status = make(list, NULL, &made, &error);
  bool placed = error.line == 2 && error.column == column && strcmp(error.file, "scene.json") == 0;
  if ((status != HK_ERROR_INVALID && status != HK_ERROR_FORMAT) || !strstr(error.text, part) ||
      !placed)
    test_fail(__FILE__, __LINE__, "%s gave '%s', expected '%s' at 2:%d", list, error.text, part,
              column);
  clear(&made);
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

/* A file with this content is refused at a line. */
static void refuses_grid(const char *content, int line, const char *part) {
  Made made;
  HkError error = {0};
  HkStatus status =
      make_from("{'type': 'grid', 'file': 'bad.txt'}", "bad.txt", content, &made, &error);
  if (status != HK_ERROR_FORMAT || error.line != line || !strstr(error.text, part) ||
      !strstr(error.file, "bad.txt"))
    test_fail(__FILE__, __LINE__, "'%s' gave '%s', expected line %d: '%s'", content, error.text,
              line, part);
  clear(&made);
}

TEST(bad_grids_are_refused_with_their_line) {
  refuses_grid("", 1, "is missing");
  refuses_grid("2 2\n", 2, "is missing");
  refuses_grid("2 1 2\n0 0 0\n1 1 1\n1 1 1 1\n", 1, "at least 2");
  refuses_grid("2 -2 2\n0 0 0\n1 1 1\n1 1 1 1\n", 1, "at least 2");
  refuses_grid("2 2.5 2\n0 0 0\n1 1 1\n1 1 1 1\n", 1, "not a whole number");
  refuses_grid("99999999 99999999 99999999\n0 0 0\n1 1 1\n1\n", 1, "too short");
  refuses_grid("9 9 9\n0 0 0\n1 1 1\n1\n", 1, "too short");
  refuses_grid("2 2 2\n0 x 0\n1 1 1\n1 1 1 1 1 1 1 1\n", 2, "not a finite number");
  refuses_grid("2 2 2\n0 0 0\n1 0 1\n1 1 1 1 1 1 1 1\n", 3, "must be above 0");
  refuses_grid("2 2 2\n0 0 0\n1 1 1\n1 1 1 1\n1 1 nan 1\n", 5, "not a finite number");
  refuses_grid("2 2 2\n0 0 0\n1 1 1\n1 1 1 1\n1 1 1\n", 6, "after 7 of 8 values");
  refuses_grid("2 2 2\n0 0 0\n1 1 1\n1 1 1 1\n1 1 1 1\n5\n", 6, "more than the 8 values");
}

/* A grid with some bytes changed, inserted or cut off is read or refused with its line. */
static void changed_grids_are_read_or_refused(Draw *draw) {
  static const char letters[] = "0123456789 .-+e\n#x",
                    good[] = "2 2 2\n0 0 0\n1 1 1\n1 2 3 4\n5 6 7 8\n";
  char text[sizeof good + 8];
  Made made;
  HkError error = {0};
  size_t size = sizeof good - 1;
  memcpy(text, good, sizeof good);
  for (DrawList list = {.max = 8}; draw_more(draw, &list);) {
    size_t at = (size_t)draw_below(draw, size);
    if (draw_chance(draw, 20)) size = at + 1;
    if (draw_chance(draw, 30)) {
      memmove(text + at + 1, text + at, size - at);
      size++;
    }
    text[at] = letters[draw_below(draw, sizeof letters - 1)];
  }
  text[size] = 0;
  draw_note(draw, "%s", text);
  HkStatus status = make_from("{'type': 'grid', 'file': 'd.txt'}", "d.txt", text, &made, &error);
  if (status >= 0) {
    const Field field = {&made.model->obstacles[0]};
    double n[3], H[9];
    DRAW_CHECK(draw, !isnan(distance(&field, (double[]){0.3, 7, -0.2}, n, H)));
    for (int c = 0; c < 3; c++) DRAW_CHECK(draw, fabs(n[c]) <= 1 + 1e-12);
  } else {
    DRAW_CHECK(draw, status == HK_ERROR_FORMAT && error.line >= 1 && strlen(error.text) > 10);
  }
  clear(&made);
}

TEST(grids_with_changed_bytes_are_read_or_refused_with_their_line) {
  property_check(changed_grids_are_read_or_refused, 1000);
}

TEST(files_of_obstacles_that_cannot_be_read_are_named) {
  Made made;
  HkError error = {0};
  HkStatus status = make("{'type': 'mesh', 'file': 'none.obj'}", test_folder(), &made, &error);
  CHECK(status == HK_ERROR_IO && error.line == 2 && strstr(error.text, "none.obj"));
  CHECK(strstr(error.text, "obstacles[0].file") != NULL);
  clear(&made);
  error = (HkError){0};
  status = make_from("{'type': 'mesh', 'file': 'bad.off'}", "bad.off", "OFF\n1 0 0\n0 0 x\n", &made,
                     &error);
  CHECK(status == HK_ERROR_FORMAT && error.line == 3 && strstr(error.file, "bad.off"));
  clear(&made);
  error = (HkError){0};
  status = make_from("{'type': 'mesh', 'file': 'dust.off'}", "dust.off", "OFF\n1 0 0\n0 0 0\n",
                     &made, &error);
  CHECK(status == HK_ERROR_INVALID && strstr(error.text, "no points, lines, faces or solids"));
  clear(&made);
}
