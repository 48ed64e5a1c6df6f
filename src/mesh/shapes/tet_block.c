/* A box of tetrahedra on a lattice.
 *
 * Vertices have the positions and numbers of block.c. Each cube of the lattice is cut into 5
 * tetrahedra (a regular one in the middle, four at the corners; the cut is mirrored from cube to
 * cube, so that diagonals always join vertices with even i + j + k) or into 6 that share the
 * diagonal from corner (0, 0, 0) to (1, 1, 1) (Kuhn's cut, one for each order of the axes). Both
 * fit together across cubes, and all tetrahedra have positive volume: (b - a) x (c - a) . (d - a) >
 * 0. Sets: those of lattice.h.
 */
#include "mesh/shapes/lattice.h"

typedef struct TetBlock {
  int nx, ny, nz;
  double size[3];
  int tets;
  bool centered;
} TetBlock;

static const HkParam params[] = {
    HK_INTEGER(TetBlock, nx, 6, 2, 100000000, "vertices along x"),
    HK_INTEGER(TetBlock, ny, 6, 2, 100000000, "vertices along y"),
    HK_INTEGER(TetBlock, nz, 6, 2, 100000000, "vertices along z"),
    HK_VECTOR(TetBlock, size, "m", 1, 1, 1, "lengths along x, y, z"),
    HK_CHOICE(TetBlock, tets, 0, "5|6", "tetrahedra in each cube of the lattice"),
    HK_BOOLEAN(TetBlock, centered, 0, "the middle is the origin, not vertex (0, 0, 0)"),
};

/* Corners of a cube: bit 0 is x, bit 1 is y, bit 2 is z. */
static const uint8_t five_even[5][4] = {
    {0, 5, 3, 6}, {1, 0, 5, 3}, {2, 0, 3, 6}, {4, 0, 6, 5}, {7, 3, 5, 6}};
static const uint8_t five_odd[5][4] = {
    {1, 2, 4, 7}, {0, 1, 2, 4}, {3, 1, 7, 2}, {5, 1, 4, 7}, {6, 2, 7, 4}};
static const uint8_t six[6][4] = {{0, 1, 3, 7}, {0, 3, 2, 7}, {0, 2, 6, 7},
                                  {0, 6, 4, 7}, {0, 4, 5, 7}, {0, 5, 1, 7}};

static HkStatus add_cube(const TetBlock *p, const HkWindow *w, int i, int j, int k, HkMesh *mesh,
                         HkError *error) {
  const uint8_t(*cut)[4] = p->tets == 1 ? six : (i + j + k) % 2 == 0 ? five_even : five_odd;
  int count = p->tets == 1 ? 6 : 5;
  for (int t = 0; t < count; t++) {
    int32_t tet[4];
    for (int q = 0; q < 4; q++) {
      int corner = cut[t][q];
      tet[q] = hk_window_index(w, i + (corner & 1), j + (corner >> 1 & 1), k + (corner >> 2));
    }
    HK_TRY(hk_mesh_add_cell(mesh, HK_CELL_TET, tet, 4, error));
  }
  return HK_OK;
}

static void size(const void *chosen, int n[3]) {
  const TetBlock *p = chosen;
  n[0] = p->nx;
  n[1] = p->ny;
  n[2] = p->nz;
}

static void count(const void *chosen, const HkWindow *w, HkMeshCounts *counts) {
  const TetBlock *p = chosen;
  counts->section = hk_lattice_section(w->n, counts->vertices);
  counts->solid = true;
  counts->solids = p->tets == 1 ? 6 : 5;
  for (int c = 0; c < 3; c++) counts->solids *= w->end[c] - w->begin[c] - 1;
}

static HkStatus build(const void *chosen, const HkWindow *w, HkMesh *mesh, HkError *error) {
  const TetBlock *p = chosen;
  HK_TRY(hk_lattice_add_vertices(mesh, w, p->size, p->centered, error));
  for (int k = w->begin[2]; k + 1 < w->end[2]; k++)
    for (int j = w->begin[1]; j + 1 < w->end[1]; j++)
      for (int i = w->begin[0]; i + 1 < w->end[0]; i++)
        HK_TRY(add_cube(p, w, i, j, k, mesh, error));
  return hk_lattice_add_sets(mesh, w, error);
}

const HkShapeType hk_shape_tet_block = {
    .schema = {.name = "tet_block",
               .summary = "a box of tetrahedra",
               .formula = "x_ijk = (i / (nx - 1) size_x, j / (ny - 1) size_y, k / (nz - 1) size_z)",
               HK_PARAMS(TetBlock, params)},
    .lattice = &(const HkLatticeType){size, count, build},
};
