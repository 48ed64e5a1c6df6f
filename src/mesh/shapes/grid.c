/* A flat rectangle of nx x ny vertices, as cloth, a flag, a curtain or a sheet.
 *
 * Vertex (i, j) has the number i + nx j and is at (i / (nx - 1) width, j / (ny - 1) height) along
 * the two axes of the plane; vertex (0, 0) is at the origin, or the middle is if `centered`. Cells
 * are quads, or triangles whose diagonals alternate as on a chessboard, so that no direction is
 * preferred. Normals point along the positive third axis. Sets: those of lattice.h (top is the
 * largest second coordinate) and top_left, top_right, bottom_left, bottom_right.
 */
#include "mesh/shapes/lattice.h"

typedef struct Grid {
  int nx, ny;
  double width, height;
  int cells, plane;
  bool centered;
} Grid;

static const HkParam params[] = {
    HK_INTEGER(Grid, nx, 21, 2, 100000000, "vertices along the first axis of the plane"),
    HK_INTEGER(Grid, ny, 21, 2, 100000000, "vertices along the second axis of the plane"),
    HK_NUMBER(Grid, width, "m", 1, HK_LENGTH_MIN, HK_LENGTH_MAX, "length along the first axis"),
    HK_NUMBER(Grid, height, "m", 1, HK_LENGTH_MIN, HK_LENGTH_MAX, "length along the second axis"),
    HK_CHOICE(Grid, cells, 0, HK_FACE_CELLS, "quads, or triangles with alternating diagonals"),
    HK_CHOICE(Grid, plane, 0, HK_PLANES, "the plane it lies in, first axis first"),
    HK_BOOLEAN(Grid, centered, 0, "the middle is the origin, not vertex (0, 0)"),
};

static HkStatus add_single_corners(HkMesh *mesh, const int n[3], HkError *error) {
  int right = n[0] - 1, top = n[1] - 1;
  int32_t top_left = hk_lattice_index(n, 0, top, 0), top_right = hk_lattice_index(n, right, top, 0);
  HK_TRY(hk_mesh_add_range_set(mesh, "bottom_left", 0, 1, error));
  HK_TRY(hk_mesh_add_range_set(mesh, "bottom_right", right, 1, error));
  HK_TRY(hk_mesh_add_range_set(mesh, "top_left", top_left, 1, error));
  return hk_mesh_add_range_set(mesh, "top_right", top_right, 1, error);
}

static HkStatus count(const void *chosen, HkMeshCounts *counts, HkError *error) {
  const Grid *p = chosen;
  const int n[3] = {p->nx, p->ny, 1};
  HK_TRY(hk_lattice_count(n, &counts->vertices, error));
  counts->section = hk_lattice_section(n, counts->vertices);
  hk_patches_count((int64_t)(p->nx - 1) * (p->ny - 1), p->cells, counts);
  return HK_OK;
}

static HkStatus build(const void *chosen, HkMesh *mesh, HkError *error) {
  const Grid *p = chosen;
  const int n[3] = {p->nx, p->ny, 1};
  for (int j = 0; j < p->ny; j++)
    for (int i = 0; i < p->nx; i++) {
      double x[3];
      hk_plane_point(p->plane, hk_lattice_coordinate(i, p->nx, p->width, p->centered),
                     hk_lattice_coordinate(j, p->ny, p->height, p->centered), x);
      HK_TRY(hk_mesh_add_vertices(mesh, x, 1, error));
    }
  for (int j = 0; j + 1 < p->ny; j++)
    for (int i = 0; i + 1 < p->nx; i++) {
      int32_t q = hk_lattice_index(n, i, j, 0), above = q + p->nx;
      HK_TRY(hk_plane_add_patch(mesh, p->plane, p->cells, (int32_t[]){q, q + 1, above + 1, above},
                                (i + j) % 2, error));
    }
  HK_TRY(hk_lattice_add_sets(mesh, n, error));
  return add_single_corners(mesh, n, error);
}

const HkShapeType hk_shape_grid = {
    .schema = {.name = "grid",
               .summary = "a flat rectangle of quads or triangles, as cloth",
               .formula = "x_ij = (i / (nx - 1) width, j / (ny - 1) height)",
               HK_PARAMS(Grid, params)},
    .count = count,
    .build = build,
};
