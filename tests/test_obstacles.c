/* Obstacles: features and poses. */
#include "base/vec.h"
#include "one_obstacle.h"
#include "test.h"

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
  OneObstacle made;
  MUST(one_obstacle_make("{'type': 'ball', 'center': [1, 2, 3], 'radius': 0.25}", NULL, &made,
                         error));
  const HkObstacleFeatures *f = one_obstacle_features(&made);
  CHECK(f->vertex_count == 1 && f->edge_count == 0 && f->triangle_count == 0);
  CHECK(f->x[0] == 1 && f->x[1] == 2 && f->x[2] == 3 && f->radius == 0.25);
  one_obstacle_destroy(&made);
  MUST(one_obstacle_make("{'type': 'capsule', 'from': [1, 0, 0], 'to': [1, 0, 2], 'radius': 0.5}",
                         NULL, &made, error));
  f = one_obstacle_features(&made);
  CHECK(f->vertex_count == 2 && f->edge_count == 1 && f->triangle_count == 0 && f->radius == 0.5);
  CHECK(f->x[0] == 1 && f->x[2] == 0 && f->x[3] == 1 && f->x[5] == 2);
  CHECK(f->edge[0] + f->edge[1] == 1);
  one_obstacle_destroy(&made);
}

TEST(a_box_is_closed_and_has_its_volume_wherever_it_is_turned) {
  OneObstacle made;
  MUST(one_obstacle_make(
      "{'type': 'box', 'center': [5, -3, 2], 'size': [1, 2, 0.5], 'axis': [1, 2, 3], "
      "'angle': 33}",
      NULL, &made, error));
  const HkObstacleFeatures *f = one_obstacle_features(&made);
  CHECK(f->vertex_count == 8 && f->triangle_count == 12 && f->edge_count == 18 && f->radius == 0);
  CHECK(is_closed(f));
  CHECK_NEAR(volume(f), 1, 1e-12);
  CHECK_NEAR(area(f), 2 * (2 + 0.5 + 1), 1e-12);
  const double center[3] = {5, -3, 2};
  for (int32_t v = 0; v < 8; v++)
    CHECK_NEAR(hk_distance(vertex(f, v), center), sqrt(1 + 4 + 0.25) / 2, 1e-12);
  one_obstacle_destroy(&made);
}

TEST(a_box_turns_about_its_axis_by_its_angle) {
  OneObstacle made;
  MUST(one_obstacle_make("{'type': 'box', 'size': [2, 1, 1], 'axis': [0, 0, 7], 'angle': 90}", NULL,
                         &made, error));
  const HkObstacleFeatures *f = one_obstacle_features(&made);
  for (int32_t v = 0; v < 8; v++) {
    CHECK_NEAR(fabs(vertex(f, v)[0]), 0.5, 1e-15);
    CHECK_NEAR(fabs(vertex(f, v)[1]), 1, 1e-15);
    CHECK_NEAR(fabs(vertex(f, v)[2]), 0.5, 1e-15);
  }
  one_obstacle_destroy(&made);
}

TEST(round_edges_leave_the_faces_of_a_box_where_they_are) {
  OneObstacle made;
  MUST(one_obstacle_make("{'type': 'box', 'size': [1, 2, 3], 'radius': 0.2}", NULL, &made, error));
  const HkObstacleFeatures *f = one_obstacle_features(&made);
  CHECK(is_closed(f) && f->radius == 0.2);
  for (int32_t v = 0; v < 8; v++)
    for (int c = 0; c < 3; c++) CHECK_NEAR(fabs(vertex(f, v)[c]) + f->radius, 0.5 * (c + 1), 1e-15);
  one_obstacle_destroy(&made);
}

/* Distance of a point from the line through from along the unit vector axis. */
static double from_axis(const double x[3], const double from[3], const double axis[3]) {
  double r[3], across[3];
  hk_sub(x, from, r);
  hk_cross(r, axis, across);
  return hk_norm(across);
}

static void check_cylinder(const double from[3], const double to[3], double radius, int segments) {
  OneObstacle made;
  char text[512];
  double axis[3], d[3], length = hk_distance(from, to);
  snprintf(text, sizeof text,
           "{'type': 'cylinder', 'from': [%g, %g, %g], 'to': [%g, %g, %g], 'radius': %g, "
           "'segments': %d}",
           from[0], from[1], from[2], to[0], to[1], to[2], radius, segments);
  MUST(one_obstacle_make(text, NULL, &made, error));
  const HkObstacleFeatures *f = one_obstacle_features(&made);
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
  one_obstacle_destroy(&made);
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
  OneObstacle made;
  /* A quad, cut into two triangles, and a triangle beside it. */
  MUST(one_obstacle_from("{'type': 'mesh', 'file': 'open.off', 'radius': 0.01}", "open.off",
                         "OFF\n5 2 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n2 0 0\n4 0 1 2 3\n3 1 4 2\n",
                         &made, error));
  const HkObstacleFeatures *f = one_obstacle_features(&made);
  CHECK(f->vertex_count == 5 && f->triangle_count == 3 && f->edge_count == 7);
  CHECK(has_unique_edges(f) && f->radius == 0.01);
  CHECK_NEAR(area(f), 1.5, 1e-15);
  one_obstacle_destroy(&made);
}

TEST(a_mesh_is_scaled_turned_and_moved_as_a_body_is) {
  OneObstacle made;
  MUST(one_obstacle_from(
      "{'type': 'mesh', 'file': 'one.off', 'scale': [2, 1, 1], 'axis': [0, 0, 1], "
      "'angle': 90, 'translate': [0, 0, 5]}",
      "one.off", "OFF\n3 1 0\n1 0 0\n0 1 0\n0 0 1\n3 0 1 2\n", &made, error));
  static const double expected[3][3] = {{0, 2, 5}, {-1, 0, 5}, {0, 0, 6}};
  for (int32_t v = 0; v < 3; v++)
    CHECK_NEAR(hk_distance(vertex(one_obstacle_features(&made), v), expected[v]), 0, 1e-15);
  one_obstacle_destroy(&made);
}

TEST(solids_give_their_boundary_and_lines_their_edges) {
  OneObstacle made;
  /* Two tetrahedra on either side of a triangle, whose face inside is no part of the boundary. */
  MUST(one_obstacle_from(
      "{'type': 'mesh', 'file': 'two.mesh'}", "two.mesh",
      "MeshVersionFormatted 1\nDimension 3\nVertices 5\n0 0 0 0\n1 0 0 0\n0 1 0 0\n"
      "0 0 1 0\n0 0 -1 0\nTetrahedra 2\n1 2 3 4 0\n1 3 2 5 0\nEnd\n",
      &made, error));
  const HkObstacleFeatures *f = one_obstacle_features(&made);
  CHECK(f->vertex_count == 5 && f->triangle_count == 6 && f->edge_count == 9 && is_closed(f));
  CHECK_NEAR(volume(f), 1.0 / 3, 1e-15);
  one_obstacle_destroy(&made);
  MUST(one_obstacle_from("{'type': 'mesh', 'file': 'wire.obj', 'radius': 0.1}", "wire.obj",
                         "v 0 0 0\nv 1 0 0\nv 1 1 0\nl 1 2 3\n", &made, error));
  f = one_obstacle_features(&made);
  CHECK(f->vertex_count == 3 && f->triangle_count == 0 && f->edge_count == 2);
  one_obstacle_destroy(&made);
}

TEST(vertices_at_one_place_become_one_and_those_of_no_cell_are_left_out) {
  OneObstacle made;
  /* Two triangles that share an edge, but not its vertices; one of no area; a vertex of none. */
  MUST(one_obstacle_from("{'type': 'mesh', 'file': 'torn.off'}", "torn.off",
                         "OFF\n8 3 0\n0 0 0\n1 0 0\n0 1 0\n1 0 0\n1 1 0\n0 1 0\n9 9 9\n2 0 0\n"
                         "3 0 1 2\n3 3 4 5\n3 0 1 7\n",
                         &made, error));
  const HkObstacleFeatures *f = one_obstacle_features(&made);
  CHECK(f->vertex_count == 5 && f->triangle_count == 2);
  CHECK(f->edge_count == 7); /* those of the triangle without an area stay */
  CHECK(has_unique_edges(f));
  one_obstacle_destroy(&made);
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
    OneObstacle made;
    char text[512];
    snprintf(text, sizeof text, "{'type': 'ball', 'motion': %s}", motions[q]);
    MUST(one_obstacle_make(text, NULL, &made, error));
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
    one_obstacle_destroy(&made);
  }
}

TEST(an_obstacle_without_a_motion_stays) {
  OneObstacle made;
  MUST(one_obstacle_make("'ball'", NULL, &made, error));
  double R[9], T[3];
  hk_obstacle_pose(&made.model->obstacles[0], 3, R, T);
  for (int k = 0; k < 9; k++) CHECK(R[k] == (k % 4 == 0 ? 1 : 0));
  CHECK(hk_norm(T) == 0 && made.model->obstacles[0].motion.type->rests);
  one_obstacle_destroy(&made);
}
