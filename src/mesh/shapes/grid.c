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

static HkStatus add_single_corners(HkMesh *mesh, const HkWindow *w, HkError *error) {
  static const char *const names[] = {"bottom_left", "bottom_right", "top_left", "top_right"};
  for (int corner = 0; corner < 4; corner++) {
    const int at[3] = {corner & 1 ? w->n[0] - 1 : 0, corner & 2 ? w->n[1] - 1 : 0, 0};
    HK_TRY(hk_window_add_set(mesh, names[corner], w, at, at, error));
  }
  return HK_OK;
}

static void size(const void *chosen, int n[3]) {
  const Grid *p = chosen;
  n[0] = p->nx;
  n[1] = p->ny;
  n[2] = 1;
}

static void count(const void *chosen, const HkWindow *w, HkMeshCounts *counts) {
  const Grid *p = chosen;
  int64_t columns = w->end[0] - w->begin[0] - 1, rows = w->end[1] - w->begin[1] - 1;
  counts->section = hk_lattice_section(w->n, counts->vertices);
  hk_patches_count(columns * rows, p->cells, counts);
}

static HkStatus build(const void *chosen, const HkWindow *w, HkMesh *mesh, HkError *error) {
  const Grid *p = chosen;
  for (int j = w->begin[1]; j < w->end[1]; j++)
    for (int i = w->begin[0]; i < w->end[0]; i++) {
      double x[3];
      hk_plane_point(p->plane, hk_lattice_coordinate(i, p->nx, p->width, p->centered),
                     hk_lattice_coordinate(j, p->ny, p->height, p->centered), x);
      HK_TRY(hk_mesh_add_vertices(mesh, x, 1, error));
    }
  for (int j = w->begin[1]; j + 1 < w->end[1]; j++)
    for (int i = w->begin[0]; i + 1 < w->end[0]; i++) {
      int32_t q = hk_window_index(w, i, j, 0), above = hk_window_index(w, i, j + 1, 0);
      HK_TRY(hk_plane_add_patch(mesh, p->plane, p->cells, (int32_t[]){q, q + 1, above + 1, above},
                                (i + j) % 2, error));
    }
  HK_TRY(hk_lattice_add_sets(mesh, w, error));
  return add_single_corners(mesh, w, error);
}

const HkShapeType hk_shape_grid = {
    .schema = {.name = "grid",
               .summary = "a flat rectangle of quads or triangles, as cloth",
               .formula = "x_ij = (i / (nx - 1) width, j / (ny - 1) height)",
               HK_PARAMS(Grid, params)},
    .lattice = &(const HkLatticeType){size, count, build},
};
