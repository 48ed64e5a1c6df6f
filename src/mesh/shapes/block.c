/* A box of masses on a lattice, each joined to its 6, 18 or 26 nearest neighbors by lines, with
 * the surface as quads: a jelly.
 *
 * Vertex (i, j, k) has the number i + nx (j + ny k) and the coordinates i / (nx - 1) size_x and so
 * on; vertex (0, 0, 0) is at the origin, or the middle is if `centered`. 6 neighbors are those
 * along the axes; 18 also those along the diagonals of the cells' faces, which resist shear; 26
 * also those along the diagonals of the cells. Normals of the surface point outwards. Sets: those
 * of lattice.h.
 */
#include "mesh/shapes/lattice.h"

#include <stdlib.h>

typedef struct Block {
  int nx, ny, nz;
  double size[3];
  int neighbours;
  bool centered;
} Block;

static const HkParam params[] = {
    HK_INTEGER(Block, nx, 6, 2, 100000000, "vertices along x"),
    HK_INTEGER(Block, ny, 6, 2, 100000000, "vertices along y"),
    HK_INTEGER(Block, nz, 6, 2, 100000000, "vertices along z"),
    HK_VECTOR(Block, size, "m", 1, 1, 1, "lengths along x, y, z"),
    HK_CHOICE(Block, neighbours, 2, "6|18|26",
              "along the axes, also across faces, also across cells"),
    HK_BOOLEAN(Block, centered, 0, "the middle is the origin, not vertex (0, 0, 0)"),
};

/* One of each pair of opposite directions: 3 axes, 6 diagonals of faces, 4 diagonals of cells. */
static const int directions[13][3] = {
    {1, 0, 0}, {0, 1, 0},  {0, 0, 1},              /* axes: 6 neighbors */
    {1, 1, 0}, {-1, 1, 0}, {1, 0, 1},  {-1, 0, 1}, /* diagonals of faces: 18 neighbors */
    {0, 1, 1}, {0, -1, 1},                         /* diagonals of faces */
    {1, 1, 1}, {-1, 1, 1}, {1, -1, 1}, {-1, -1, 1} /* diagonals of cells: 26 neighbors */
};

static int direction_count(const Block *p) {
  static const int counts[] = {3, 9, 13};
  return counts[p->neighbours];
}

static HkStatus add_lines(const Block *p, const HkWindow *w, const int at[3], HkMesh *mesh,
                          HkError *error) {
  for (int d = 0; d < direction_count(p); d++) {
    int to[3];
    for (int c = 0; c < 3; c++) to[c] = at[c] + directions[d][c];
    if (!hk_window_has(w, to)) continue;
    int32_t ends[2] = {hk_window_index(w, at[0], at[1], at[2]),
                       hk_window_index(w, to[0], to[1], to[2])};
    HK_TRY(hk_mesh_add_cell(mesh, HK_CELL_LINE, ends, 2, error));
  }
  return HK_OK;
}

/* Adds the quads of the two sides perpendicular to an axis. */
static HkStatus add_side_quads(const HkWindow *w, int axis, HkMesh *mesh, HkError *error) {
  int first = (axis + 1) % 3, second = (axis + 2) % 3, nx = w->end[0] - w->begin[0];
  const int32_t stride[3] = {1, nx, (int32_t)((int64_t)nx * (w->end[1] - w->begin[1]))};
  int32_t u = stride[first], v = stride[second];
  int32_t far = (w->end[axis] - w->begin[axis] - 1) * stride[axis];
  bool near_side = w->begin[axis] == 0, far_side = w->end[axis] == w->n[axis];
  for (int j = 0; j + 1 < w->end[second] - w->begin[second]; j++)
    for (int i = 0; i + 1 < w->end[first] - w->begin[first]; i++) {
      int32_t a = i * u + j * v, b = a + far;
      if (near_side)
        HK_TRY(hk_mesh_add_cell(mesh, HK_CELL_QUAD, (int32_t[]){a, a + v, a + u + v, a + u}, 4,
                                error));
      if (far_side)
        HK_TRY(hk_mesh_add_cell(mesh, HK_CELL_QUAD, (int32_t[]){b, b + u, b + u + v, b + v}, 4,
                                error));
    }
  return HK_OK;
}

static void size(const void *chosen, int n[3]) {
  const Block *p = chosen;
  n[0] = p->nx;
  n[1] = p->ny;
  n[2] = p->nz;
}

static void count(const void *chosen, const HkWindow *w, HkMeshCounts *counts) {
  const Block *p = chosen;
  int64_t n[3];
  for (int c = 0; c < 3; c++) n[c] = w->end[c] - w->begin[c];
  counts->section = hk_lattice_section(w->n, counts->vertices);
  counts->solid = true;
  for (int d = 0; d < direction_count(p); d++) {
    int64_t lines = 1;
    for (int c = 0; c < 3; c++) lines *= n[c] - abs(directions[d][c]);
    counts->lines += lines;
  }
  for (int c = 0; c < 3; c++) {
    int sides = (w->begin[c] == 0) + (w->end[c] == w->n[c]);
    counts->quads += sides * (n[(c + 1) % 3] - 1) * (n[(c + 2) % 3] - 1);
  }
}

static HkStatus build(const void *chosen, const HkWindow *w, HkMesh *mesh, HkError *error) {
  const Block *p = chosen;
  HK_TRY(hk_lattice_add_vertices(mesh, w, p->size, p->centered, error));
  for (int k = w->begin[2]; k < w->end[2]; k++)
    for (int j = w->begin[1]; j < w->end[1]; j++)
      for (int i = w->begin[0]; i < w->end[0]; i++)
        HK_TRY(add_lines(p, w, (int[]){i, j, k}, mesh, error));
  for (int axis = 0; axis < 3; axis++) HK_TRY(add_side_quads(w, axis, mesh, error));
  return hk_lattice_add_sets(mesh, w, error);
}

const HkShapeType hk_shape_block = {
    .schema = {.name = "block",
               .summary = "a box of masses joined to 6, 18 or 26 neighbors, as a jelly",
               .formula = "x_ijk = (i / (nx - 1) size_x, j / (ny - 1) size_y, k / (nz - 1) size_z)",
               HK_PARAMS(Block, params)},
    .lattice = &(const HkLatticeType){size, count, build},
};
