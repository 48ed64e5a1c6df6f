/* Shapes with an inside: block, tet_block, ball. */
#include "shape_measure.h"

/* Each face belongs to one tet or to two; those of one tet close up to a sphere. */
static void check_tets(const HkMesh *mesh, int64_t surface_faces) {
  Item *faces, *edges;
  int64_t count = collect(mesh, 3, &faces), single = 0;
  int64_t edge_count = collect(mesh, 2, &edges);
  HkMesh *surface = NULL;
  MUST(hk_mesh_create(NULL, &surface, error));
  MUST(hk_mesh_add_vertices(surface, mesh->x, mesh->vertex_count, error));
  for (int64_t q = 0; q < count; q++) {
    CHECK(faces[q].uses == 1 || faces[q].uses == 2);
    if (faces[q].uses != 1) continue;
    single++;
    MUST(hk_mesh_add_cell(surface, HK_CELL_TRIANGLE, faces[q].corner, 3, error));
  }
  CHECK(single == surface_faces);
  CHECK(mesh->vertex_count - edge_count + count - mesh->cell_count == 1);
  int64_t on_surface, inside;
  hk_mesh_set(mesh, "boundary", &on_surface);
  inside = mesh->vertex_count - on_surface;
  CHECK(euler(surface) - inside == 2);
  CHECK(count_cells(mesh, HK_CELL_TET) == mesh->cell_count && !has_duplicate_cells(mesh));
  CHECK(set_is_boundary(mesh, 3));
  hk_mesh_destroy(&surface);
  free(faces);
  free(edges);
}

static void check_box_sets(const HkMesh *mesh) {
  CHECK(set_is_side(mesh, "left", 0, 0) && set_is_side(mesh, "right", 0, 1));
  CHECK(set_is_side(mesh, "bottom", 1, 0) && set_is_side(mesh, "top", 1, 1));
  CHECK(set_is_side(mesh, "back", 2, 0) && set_is_side(mesh, "front", 2, 1));
  CHECK(set_is_box_corners(mesh, "corners") && set_is_center(mesh));
  CHECK(hk_mesh_set_count(mesh) == 9);
}

static void check_block(int nx, int ny, int nz, int neighbors) {
  char line[128];
  snprintf(line, sizeof line, "block nx=%d ny=%d nz=%d size=2,3,5 neighbours=%d", nx, ny, nz,
           neighbors);
  HkMesh *mesh = make_shape(line);
  int64_t a = nx - 1, b = ny - 1, c = nz - 1, x = nx, y = ny, z = nz;
  int64_t lines = a * y * z + x * b * z + x * y * c;
  if (neighbors >= 18) lines += 2 * (a * b * z + a * y * c + x * b * c);
  if (neighbors == 26) lines += 4 * a * b * c;
  int64_t quads = 2 * (a * b + b * c + c * a);
  CHECK(mesh->vertex_count == x * y * z);
  CHECK(count_cells(mesh, HK_CELL_LINE) == lines && count_cells(mesh, HK_CELL_QUAD) == quads);
  CHECK(mesh->cell_count == lines + quads && !has_duplicate_cells(mesh));
  CHECK(count_edges(mesh) == lines); /* the quads add no edge of their own */
  CHECK_NEAR(total_area(mesh), 2 * (6 + 15 + 10), 1e-12);
  check_box_sets(mesh);
  hk_mesh_destroy(&mesh);
}

TEST(blocks_have_their_lines_and_quads_for_6_18_and_26_neighbors) {
  for (int q = 0; q < 3; q++) {
    static const int neighbors[] = {6, 18, 26};
    check_block(2, 2, 2, neighbors[q]);
    check_block(3, 4, 5, neighbors[q]);
    check_block(7, 2, 3, neighbors[q]);
  }
}

TEST(inner_vertices_of_blocks_have_all_their_neighbors) {
  static const char *const lines[] = {"block nx=5 ny=5 nz=5 neighbours=6",
                                      "block nx=5 ny=5 nz=5 neighbours=18",
                                      "block nx=5 ny=5 nz=5 neighbours=26"};
  static const int neighbors[] = {6, 18, 26};
  for (int q = 0; q < 3; q++) {
    HkMesh *mesh = make_shape(lines[q]);
    int degree[125] = {0};
    for (int64_t c = 0; c < mesh->cell_count; c++) {
      HkCell cell = hk_mesh_cell(mesh, c);
      if (cell.count != 2) continue;
      double d[3];
      hk_sub(vertex(mesh, cell.vertices[0]), vertex(mesh, cell.vertices[1]), d);
      for (int k = 0; k < 3; k++) CHECK(fabs(d[k]) < 0.25 + 1e-12);
      for (int k = 0; k < 2; k++) degree[cell.vertices[k]]++;
    }
    for (int k = 1; k < 4; k++)
      for (int j = 1; j < 4; j++)
        for (int i = 1; i < 4; i++) CHECK(degree[i + 5 * (j + 5 * k)] == neighbors[q]);
    hk_mesh_destroy(&mesh);
  }
}

/* By the divergence theorem the outward flux of x through the surface is three volumes. */
TEST(quads_of_blocks_close_up_and_point_outwards) {
  HkMesh *mesh = make_shape("block nx=4 ny=3 nz=2 size=2,3,5");
  double flux = 0, sum[3] = {0, 0, 0};
  bool on_quads[24] = {false};
  for (int64_t c = 0; c < mesh->cell_count; c++) {
    HkCell cell = hk_mesh_cell(mesh, c);
    double area[3], out[3];
    if (cell.type != HK_CELL_QUAD) continue;
    area_vector(mesh, cell, area);
    hk_axpy(1, area, sum);
    for (int q = 0; q < 4; q++) {
      flux += hk_dot(area, vertex(mesh, cell.vertices[q])) / 4;
      on_quads[cell.vertices[q]] = true;
    }
    hk_sub(vertex(mesh, cell.vertices[0]), (double[]){1, 1.5, 2.5}, out);
    CHECK(hk_dot(area, out) > 0);
  }
  CHECK_NEAR(flux, 3 * 30, 1e-12);
  CHECK_NEAR(hk_norm(sum), 0, 1e-12);
  CHECK(set_is(mesh, "boundary", on_quads));
  hk_mesh_destroy(&mesh);
}

TEST(blocks_refuse_sizes_that_are_not_positive) {
  HkMesh *mesh;
  FAILS(try_shape("block size=1,0,1", &mesh, error), HK_ERROR_INVALID, "along y");
  FAILS(try_shape("tet_block size=1,1,-2", &mesh, error), HK_ERROR_INVALID, "along z");
  FAILS(try_shape("block nz=1", &mesh, error), HK_ERROR_INVALID, "nz: 1");
  FAILS(try_shape("block neighbours=8", &mesh, error), HK_ERROR_INVALID, "6|18|26");
}

static void check_tet_block(int nx, int ny, int nz, int tets) {
  char line[128];
  snprintf(line, sizeof line, "tet_block nx=%d ny=%d nz=%d size=2,3,5 tets=%d", nx, ny, nz, tets);
  HkMesh *mesh = make_shape(line);
  int64_t a = nx - 1, b = ny - 1, c = nz - 1, x = nx, y = ny, z = nz;
  /* Along the axes; one diagonal of each face of a cube; with 6 also one through each cube. */
  int64_t edges = a * y * z + x * b * z + x * y * c + a * b * z + a * y * c + x * b * c;
  if (tets == 6) edges += a * b * c;
  CHECK(mesh->vertex_count == x * y * z && mesh->cell_count == tets * a * b * c);
  CHECK(count_edges(mesh) == edges);
  double worst, best;
  CHECK_NEAR(total_volume(mesh, &worst, &best), 30, 1e-12);
  CHECK(worst > 0);
  check_tets(mesh, 4 * (a * b + b * c + c * a));
  check_box_sets(mesh);
  hk_mesh_destroy(&mesh);
}

TEST(tet_blocks_are_conforming_and_fill_their_box) {
  for (int tets = 5; tets <= 6; tets++) {
    check_tet_block(2, 2, 2, tets);
    check_tet_block(3, 4, 5, tets);
    check_tet_block(6, 2, 3, tets);
  }
}

TEST(diagonals_of_five_tets_join_vertices_of_even_index_sum) {
  HkMesh *mesh = make_shape("tet_block nx=4 ny=3 nz=3 tets=5");
  Item *edges;
  int64_t count = collect(mesh, 2, &edges);
  for (int64_t q = 0; q < count; q++) {
    int at[2][3], steps = 0;
    for (int c = 0; c < 2; c++) {
      int v = edges[q].corner[c];
      memcpy(at[c], (int[]){v % 4, v / 4 % 3, v / 12}, sizeof at[c]);
    }
    for (int c = 0; c < 3; c++) steps += abs(at[0][c] - at[1][c]);
    CHECK(steps == 1 || (steps == 2 && (at[0][0] + at[0][1] + at[0][2]) % 2 == 0));
  }
  free(edges);
  hk_mesh_destroy(&mesh);
}

/* Of a cube: 5 tets of edges 1 and sqrt 2, of which one is regular; 6 equal ones. */
TEST(tet_blocks_of_cubes_have_known_quality) {
  double worst, best;
  HkMesh *five = make_shape("tet_block tets=5"), *six = make_shape("tet_block tets=6");
  total_volume(five, &worst, &best);
  printf("    quality with 5: %.4f .. %.4f\n", worst, best);
  CHECK_NEAR(best, 1, 1e-12);
  CHECK_NEAR(worst, sqrt(2) / pow(1.5, 1.5), 1e-12);
  total_volume(six, &worst, &best);
  printf("    quality with 6: %.4f .. %.4f\n", worst, best);
  CHECK_NEAR(best, worst, 1e-12);
  CHECK_NEAR(worst, sqrt(2) / pow(10.0 / 6, 1.5), 1e-12);
  hk_mesh_destroy(&five);
  hk_mesh_destroy(&six);
}

TEST(balls_have_their_counts_sets_and_well_shaped_tets) {
  for (int shells = 1; shells <= 8; shells++) {
    char line[64];
    int64_t n = shells;
    snprintf(line, sizeof line, "ball radius=2 shells=%d", shells);
    HkMesh *mesh = make_shape(line);
    CHECK(mesh->vertex_count == (10 * n * n * n + 15 * n * n + 11 * n + 3) / 3);
    CHECK(mesh->cell_count == 20 * n * n * n);
    check_tets(mesh, 20 * n * n);
    int64_t count;
    const int32_t *boundary = hk_mesh_set(mesh, "boundary", &count);
    CHECK(count == 10 * n * n + 2);
    for (int64_t q = 0; q < count; q++) CHECK_NEAR(hk_norm(vertex(mesh, boundary[q])), 2, 1e-14);
    CHECK(only_vertex(mesh, "center") == 0 && hk_norm(vertex(mesh, 0)) == 0);
    CHECK(set_is_side(mesh, "top", 1, 1) && set_is_side(mesh, "bottom", 1, 0));
    CHECK(vertex(mesh, only_vertex(mesh, "top"))[1] == 2);
    double worst, best;
    total_volume(mesh, &worst, &best);
    printf("    %d shells: quality %.4f .. %.4f\n", shells, worst, best);
    CHECK(worst > 0.6);
    hk_mesh_destroy(&mesh);
  }
}

TEST(ball_volume_converges_to_that_of_the_sphere) {
  static const char *const lines[] = {"ball radius=0.7 shells=4", "ball radius=0.7 shells=8",
                                      "ball radius=0.7 shells=16"};
  double exact = 4.0 / 3 * M_PI * 0.343, error[3], worst, best;
  for (int q = 0; q < 3; q++) {
    HkMesh *mesh = make_shape(lines[q]);
    error[q] = exact - total_volume(mesh, &worst, &best);
    CHECK(worst > 0.6);
    hk_mesh_destroy(&mesh);
  }
  printf("    relative error %.5f %.5f %.5f\n", error[0] / exact, error[1] / exact,
         error[2] / exact);
  CHECK(error[2] > 0 && error[2] < 0.01 * exact);
  CHECK_NEAR(error[0] / error[1], 4, 0.15);
  CHECK_NEAR(error[1] / error[2], 4, 0.05);
}
