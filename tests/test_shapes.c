/* Every shape of the registry, and those made of lines and faces one by one. */
#include "shape_measure.h"

TEST(default_shapes_build_whole_meshes) {
  for (int s = 0; s < hk_schema_count(HK_SHAPE); s++) {
    const HkSchema *schema = hk_schema_at(HK_SHAPE, s);
    HkMesh *mesh = make_shape(schema->name);
    bool *used = new_array(mesh->vertex_count, sizeof *used);
    for (int64_t q = 0; q < mesh->corner_count; q++) used[mesh->cell_vertex[q]] = true;
    for (int64_t q = 0; q < mesh->vertex_count; q++) {
      if (!used[q])
        test_fail(__FILE__, __LINE__, "%s: vertex %d is in no cell", schema->name, (int)q);
      for (int64_t p = 0; p < q; p++)
        if (hk_distance(vertex(mesh, p), vertex(mesh, q)) < 1e-6)
          test_fail(__FILE__, __LINE__, "%s: vertices %d and %d coincide", schema->name, (int)p,
                    (int)q);
    }
    CHECK(mesh->vertex_count >= 2 && mesh->cell_count >= 1);
    CHECK(!has_duplicate_cells(mesh));
    free(used);
    hk_mesh_destroy(&mesh);
  }
}

TEST(default_shapes_have_sets_inside_range_without_repeats) {
  for (int s = 0; s < hk_schema_count(HK_SHAPE); s++) {
    HkMesh *mesh = make_shape(hk_schema_at(HK_SHAPE, s)->name);
    CHECK(hk_mesh_set_count(mesh) > 0);
    for (int q = 0; q < hk_mesh_set_count(mesh); q++) {
      int64_t count;
      const int32_t *set = hk_mesh_set(mesh, hk_mesh_set_name(mesh, q), &count);
      bool *mark = new_array(mesh->vertex_count, sizeof *mark);
      for (int64_t p = 0; p < count; p++) {
        CHECK(set[p] >= 0 && set[p] < mesh->vertex_count);
        mark[set[p]] = true;
      }
      CHECK(set_is(mesh, hk_mesh_set_name(mesh, q), mark));
      free(mark);
    }
    hk_mesh_destroy(&mesh);
  }
}

static bool is_exact(int64_t capacity, int64_t count) {
  return capacity == (count < 16 ? 16 : count);
}

TEST(shapes_reserve_just_what_they_fill) {
  static const char *const lines[] = {"chain n=77",
                                      "curve n=77",
                                      "grid nx=9 ny=4",
                                      "grid nx=4 ny=9 cells=triangles",
                                      "disc rings=7",
                                      "net n=7",
                                      "tube",
                                      "tube cells=triangles n_along=5",
                                      "block neighbours=6",
                                      "block neighbours=18",
                                      "block nx=3 ny=4 nz=5",
                                      "tet_block nx=3 ny=4 nz=5",
                                      "tet_block tets=6",
                                      "ball shells=5"};
  for (size_t q = 0; q < sizeof lines / sizeof lines[0]; q++) {
    HkMesh *mesh = make_shape(lines[q]);
    if (!is_exact(mesh->vertex_capacity, mesh->vertex_count) ||
        !is_exact(mesh->type_capacity, mesh->cell_count) ||
        !is_exact(mesh->start_capacity, mesh->cell_count + 1) ||
        !is_exact(mesh->corner_capacity, mesh->corner_count))
      test_fail(__FILE__, __LINE__, "%s reserves another count than it fills", lines[q]);
    hk_mesh_destroy(&mesh);
  }
}

TEST(shape_parameters_have_help_and_defaults_in_range) {
  for (int s = 0; s < hk_schema_count(HK_SHAPE); s++) {
    const HkSchema *schema = hk_schema_at(HK_SHAPE, s);
    CHECK(schema->summary && schema->formula);
    for (int q = 0; q < schema->param_count; q++) {
      const HkParam *p = &schema->params[q];
      CHECK(p->unit && p->help && p->help[0]);
      if (p->kind == HK_PARAM_NUMBER || p->kind == HK_PARAM_INTEGER)
        CHECK(p->default_value[0] >= p->min && p->default_value[0] <= p->max);
    }
  }
}

TEST(shapes_refuse_more_vertices_than_a_mesh_takes) {
  static const char *const lines[] = {"grid nx=100000000 ny=100000000",
                                      "grid nx=100000000 ny=8",
                                      "tube n_around=100000000 n_along=100000000",
                                      "block nx=100000000 ny=100000000 nz=100000000",
                                      "block nx=1000 ny=1000 nz=1000",
                                      "tet_block nx=100000000 ny=2 nz=100000000"};
  for (size_t q = 0; q < sizeof lines / sizeof lines[0]; q++) {
    HkMesh *mesh;
    FAILS(try_shape(lines[q], &mesh, error), HK_ERROR_UNSUPPORTED, "more than Hooke takes");
    CHECK(!mesh);
  }
}

TEST(largest_disc_net_and_ball_fit_into_a_mesh) {
  const int64_t rings = 15000, shells = 500, most = INT32_MAX / 3;
  CHECK(hk_param_find(hk_schema_find(HK_SHAPE, "disc"), "rings")->max == rings);
  CHECK(hk_param_find(hk_schema_find(HK_SHAPE, "net"), "n")->max == rings);
  CHECK(hk_param_find(hk_schema_find(HK_SHAPE, "ball"), "shells")->max == shells);
  CHECK(1 + 3 * rings * (rings + 1) <= most);
  CHECK((10 * shells * shells * shells + 15 * shells * shells + 11 * shells + 3) / 3 <= most);
}

TEST(spring_has_its_length_along_its_direction) {
  HkMesh *mesh = make_shape("spring length=3 direction=0,-2e200,0");
  CHECK(mesh->vertex_count == 2 && mesh->cell_count == 1);
  CHECK_NEAR(hk_norm(vertex(mesh, 0)), 0, 0);
  CHECK_NEAR(vertex(mesh, 1)[1], -3, 1e-15);
  CHECK(only_vertex(mesh, "start") == 0 && only_vertex(mesh, "end") == 1);
  CHECK(set_is(mesh, "ends", (bool[]){true, true}));
  hk_mesh_destroy(&mesh);
  FAILS(try_shape("spring direction=0,0,0", &mesh, error), HK_ERROR_INVALID, "direction");
}

TEST(chain_ends_at_the_given_point) {
  HkMesh *mesh = make_shape("chain n=2 start=1,2,3 end=4,6,3");
  CHECK(mesh->vertex_count == 2 && mesh->cell_count == 1);
  CHECK_NEAR(hk_distance(vertex(mesh, 0), vertex(mesh, 1)), 5, 1e-15);
  CHECK(only_vertex(mesh, "start") == 0 && only_vertex(mesh, "end") == 1);
  hk_mesh_destroy(&mesh);
}

TEST(curve_is_one_closed_ring_on_its_ellipse) {
  HkMesh *mesh = make_shape("curve n=30 a=2 b=0.5");
  CHECK(mesh->vertex_count == 30 && mesh->cell_count == 30 && count_edges(mesh) == 30);
  for (int64_t q = 0; q < 30; q++) {
    const double *x = vertex(mesh, q);
    CHECK(hk_mesh_cell(mesh, q).vertices[0] == q);
    CHECK(hk_mesh_cell(mesh, q).vertices[1] == (q + 1) % 30);
    CHECK_NEAR(x[0] * x[0] / 4 + x[1] * x[1] / 0.25, 1, 1e-14);
    CHECK(x[2] == 0);
  }
  CHECK(set_is_side(mesh, "left", 0, 0) && set_is_side(mesh, "right", 0, 1));
  CHECK(set_is_side(mesh, "bottom", 1, 0) && set_is_side(mesh, "top", 1, 1));
  hk_mesh_destroy(&mesh);
}

TEST(wavy_curve_has_its_lobes) {
  HkMesh *mesh = make_shape("curve n=600 a=1 b=1 lobes=6 amplitude=0.25");
  int peaks = 0;
  for (int64_t q = 0; q < 600; q++) {
    double before = hk_norm(vertex(mesh, (q + 599) % 600)), here = hk_norm(vertex(mesh, q));
    double after = hk_norm(vertex(mesh, (q + 1) % 600));
    if (here <= before || here <= after) continue;
    peaks++;
    CHECK_NEAR(here, 1.25, 1e-12);
  }
  CHECK(peaks == 6);
  hk_mesh_destroy(&mesh);
}

TEST(smallest_curve_is_a_triangle) {
  HkMesh *mesh = make_shape("curve n=3"), *none;
  CHECK(mesh->vertex_count == 3 && count_edges(mesh) == 3);
  CHECK(set_is_side(mesh, "left", 0, 0)); /* two vertices are equally far left */
  hk_mesh_destroy(&mesh);
  FAILS(try_shape("curve n=2", &none, error), HK_ERROR_INVALID, "n: 2");
}

static void check_grid(int nx, int ny, bool triangles) {
  char line[128];
  snprintf(line, sizeof line, "grid nx=%d ny=%d width=3 height=0.7 cells=%s", nx, ny,
           triangles ? "triangles" : "quads");
  HkMesh *mesh = make_shape(line);
  int64_t patches = (int64_t)(nx - 1) * (ny - 1);
  int64_t edges = (int64_t)(nx - 1) * ny + (int64_t)nx * (ny - 1) + (triangles ? patches : 0);
  CHECK(mesh->vertex_count == (int64_t)nx * ny);
  CHECK(mesh->cell_count == (triangles ? 2 * patches : patches));
  CHECK(count_cells(mesh, triangles ? HK_CELL_TRIANGLE : HK_CELL_QUAD) == mesh->cell_count);
  CHECK(count_edges(mesh) == edges);
  CHECK(euler(mesh) == 1 && !has_duplicate_cells(mesh));
  CHECK_NEAR(total_area(mesh), 3 * 0.7, 1e-13);
  for (int j = 0; j < ny; j++)
    for (int i = 0; i < nx; i++) {
      double expected[3] = {3.0 * i / (nx - 1), 0.7 * j / (ny - 1), 0};
      CHECK(hk_distance(vertex(mesh, i + (int64_t)nx * j), expected) < 1e-15);
    }
  CHECK(set_is_side(mesh, "left", 0, 0) && set_is_side(mesh, "right", 0, 1));
  CHECK(set_is_side(mesh, "bottom", 1, 0) && set_is_side(mesh, "top", 1, 1));
  CHECK(set_is_box_corners(mesh, "corners") && set_is_boundary(mesh, 2) && set_is_center(mesh));
  CHECK(only_vertex(mesh, "bottom_left") == 0 && only_vertex(mesh, "bottom_right") == nx - 1);
  CHECK(only_vertex(mesh, "top_left") == nx * (ny - 1));
  CHECK(only_vertex(mesh, "top_right") == nx * ny - 1);
  CHECK(!hk_mesh_set(mesh, "front", NULL) && hk_mesh_set_count(mesh) == 11);
  hk_mesh_destroy(&mesh);
}

TEST(grids_of_all_sizes_have_their_counts_area_and_sets) {
  static const int sizes[][2] = {{2, 2}, {2, 7}, {7, 2}, {3, 3}, {5, 8}, {8, 5}, {21, 21}};
  for (size_t q = 0; q < sizeof sizes / sizeof sizes[0]; q++) {
    check_grid(sizes[q][0], sizes[q][1], false);
    check_grid(sizes[q][0], sizes[q][1], true);
  }
  HkMesh *none;
  FAILS(try_shape("grid nx=1", &none, error), HK_ERROR_INVALID, "nx: 1");
}

/* On a chessboard of diagonals every inner vertex has 4 or 8 neighbors. */
TEST(triangle_grid_alternates_its_diagonals) {
  HkMesh *mesh = make_shape("grid nx=6 ny=5 cells=triangles");
  int degree[30] = {0};
  Item *edges;
  int64_t count = collect(mesh, 2, &edges);
  for (int64_t q = 0; q < count; q++)
    for (int c = 0; c < 2; c++) degree[edges[q].corner[c]]++;
  for (int j = 1; j < 4; j++)
    for (int i = 1; i < 5; i++) CHECK(degree[i + 6 * j] == ((i + j) % 2 == 0 ? 8 : 4));
  free(edges);
  hk_mesh_destroy(&mesh);
}

TEST(flat_shapes_lie_in_their_plane_with_normals_along_the_third_axis) {
  static const char *const shapes[] = {"grid nx=4 ny=3 width=2 cells=quads",
                                       "grid nx=4 ny=3 width=2 cells=triangles", "disc rings=3",
                                       "net n=3"};
  static const char *const planes[] = {"xy", "xz", "yz"};
  static const int axes[3][3] = {{0, 1, 2}, {0, 2, 1}, {1, 2, 0}};
  for (int s = 0; s < 4; s++)
    for (int p = 0; p < 3; p++) {
      char line[128], flat[128];
      snprintf(line, sizeof line, "%s plane=%s", shapes[s], planes[p]);
      snprintf(flat, sizeof flat, "%s plane=xy", shapes[s]);
      HkMesh *mesh = make_shape(line), *reference = make_shape(flat);
      for (int64_t q = 0; q < mesh->vertex_count; q++) {
        CHECK(vertex(mesh, q)[axes[p][0]] == vertex(reference, q)[0]);
        CHECK(vertex(mesh, q)[axes[p][1]] == vertex(reference, q)[1]);
        CHECK(vertex(mesh, q)[axes[p][2]] == 0);
      }
      for (int64_t c = 0; c < mesh->cell_count; c++) {
        double area[3];
        if (hk_mesh_cell(mesh, c).count == 2) continue;
        area_vector(mesh, hk_mesh_cell(mesh, c), area);
        CHECK(area[axes[p][2]] > 0);
      }
      hk_mesh_destroy(&mesh);
      hk_mesh_destroy(&reference);
    }
}

TEST(centered_shapes_have_the_origin_in_their_middle) {
  static const char *const lines[] = {"grid centered=1 nx=4 ny=7 width=3", "tube centered=1",
                                      "block centered=1 size=1,2,3", "tet_block centered=1"};
  for (int q = 0; q < 4; q++) {
    HkMesh *mesh = make_shape(lines[q]);
    double low[3], high[3];
    bounding_box(mesh, low, high);
    for (int c = 0; c < 3; c++) CHECK_NEAR(low[c] + high[c], 0, 1e-15);
    hk_mesh_destroy(&mesh);
  }
}

TEST(disc_has_its_counts_and_the_area_of_its_polygon) {
  static const int sizes[] = {1, 2, 3, 10, 40};
  double error_before = 0;
  for (int q = 0; q < 5; q++) {
    char line[64];
    int64_t n = sizes[q];
    snprintf(line, sizeof line, "disc radius=2 rings=%d", sizes[q]);
    HkMesh *mesh = make_shape(line);
    CHECK(mesh->vertex_count == 1 + 3 * n * (n + 1) && mesh->cell_count == 6 * n * n);
    CHECK(count_edges(mesh) == 9 * n * n + 3 * n);
    CHECK(euler(mesh) == 1 && !has_duplicate_cells(mesh));
    double area = total_area(mesh), corners = 6 * (double)n;
    CHECK_NEAR(area, 0.5 * corners * 4 * sin(2 * M_PI / corners), 1e-12);
    CHECK(set_is_boundary(mesh, 2) && only_vertex(mesh, "center") == 0 && set_is_center(mesh));
    for (int64_t v = 1 + 3 * n * (n - 1); v < mesh->vertex_count; v++)
      CHECK_NEAR(hk_norm(vertex(mesh, v)), 2, 1e-15);
    /* From 10 to 40 rings the error falls by 16: second order. */
    if (n == 40) CHECK_NEAR(error_before / (4 * M_PI - area), 16, 0.05);
    error_before = 4 * M_PI - area;
    hk_mesh_destroy(&mesh);
  }
}

/* Neighbors of each vertex: 6 inside, 4 on the rim, 3 at its corners. */
TEST(net_is_a_triangular_lattice_in_a_hexagon) {
  static const int sizes[] = {1, 2, 9};
  for (int s = 0; s < 3; s++) {
    char line[64];
    int64_t n = sizes[s];
    snprintf(line, sizeof line, "net side=3 n=%d", sizes[s]);
    HkMesh *mesh = make_shape(line);
    CHECK(mesh->vertex_count == 1 + 3 * n * (n + 1));
    CHECK(mesh->cell_count == 3 * n * (3 * n + 1) && count_edges(mesh) == mesh->cell_count);
    CHECK(count_cells(mesh, HK_CELL_LINE) == mesh->cell_count);
    int *degree = new_array(mesh->vertex_count, sizeof *degree);
    bool *rim = new_array(mesh->vertex_count, sizeof *rim);
    bool *corner = new_array(mesh->vertex_count, sizeof *corner);
    for (int64_t c = 0; c < mesh->cell_count; c++) {
      const int32_t *v = hk_mesh_cell(mesh, c).vertices;
      CHECK_NEAR(hk_distance(vertex(mesh, v[0]), vertex(mesh, v[1])), 3.0 / (double)n, 1e-14);
      degree[v[0]]++;
      degree[v[1]]++;
    }
    for (int64_t q = 0; q < mesh->vertex_count; q++) {
      rim[q] = degree[q] < 6;
      corner[q] = degree[q] == 3;
      CHECK(!corner[q] || fabs(hk_norm(vertex(mesh, q)) - 3) < 1e-14);
    }
    int64_t count;
    CHECK(set_is(mesh, "boundary", rim) && set_is(mesh, "corners", corner));
    CHECK(hk_mesh_set(mesh, "corners", &count) && count == 6);
    CHECK(set_is_center(mesh) && only_vertex(mesh, "center") == 0);
    free(degree);
    free(rim);
    free(corner);
    hk_mesh_destroy(&mesh);
  }
}

static void check_tube(int around, int along, bool triangles, int axis) {
  char line[128];
  snprintf(line, sizeof line, "tube n_around=%d n_along=%d radius=2 length=5 cells=%s axis=%c",
           around, along, triangles ? "triangles" : "quads", "xyz"[axis]);
  HkMesh *mesh = make_shape(line);
  int64_t patches = (int64_t)around * (along - 1);
  CHECK(mesh->vertex_count == (int64_t)around * along);
  CHECK(mesh->cell_count == (triangles ? 2 * patches : patches));
  CHECK(count_edges(mesh) == (triangles ? 2 : 1) * patches + (int64_t)around * along);
  CHECK(euler(mesh) == 0 && !has_duplicate_cells(mesh));
  CHECK_NEAR(total_area(mesh), around * 2 * 2 * sin(M_PI / around) * 5, 1e-11);
  for (int64_t c = 0; c < mesh->cell_count; c++) {
    double area[3], outward[3];
    HkCell cell = hk_mesh_cell(mesh, c);
    area_vector(mesh, cell, area);
    memcpy(outward, vertex(mesh, cell.vertices[0]), sizeof outward);
    outward[axis] = 0;
    CHECK_NEAR(hk_norm(outward), 2, 1e-14);
    CHECK(hk_dot(area, outward) > 0);
  }
  CHECK(set_is_side(mesh, "bottom", axis, 0) && set_is_side(mesh, "top", axis, 1));
  CHECK(set_is_boundary(mesh, 2));
  hk_mesh_destroy(&mesh);
}

TEST(tubes_have_their_counts_area_and_ends) {
  for (int axis = 0; axis < 3; axis++) {
    check_tube(3, 2, false, axis);
    check_tube(3, 2, true, axis);
    check_tube(24, 16, true, axis);
    check_tube(7, 5, false, axis);
  }
}

TEST(grid_of_a_million_vertices_builds) {
  HkMesh *mesh = make_shape("grid nx=2000 ny=500");
  int64_t count;
  CHECK(mesh->vertex_count == 1000000 && mesh->cell_count == 1999 * 499);
  CHECK(hk_mesh_set(mesh, "boundary", &count) && count == 2 * (2000 + 500) - 4);
  hk_mesh_destroy(&mesh);
}
