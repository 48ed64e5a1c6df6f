/* A straight row of masses, as a chain, a rope or a hanging strand.
 *
 * Vertex q of n is at start + q / (n - 1) (end - start). Sets: start, end, ends.
 */
#include "mesh/shapes/lattice.h"

typedef struct Chain {
  int n;
  double start[3], end[3];
} Chain;

static const HkParam params[] = {
    HK_INTEGER(Chain, n, 10, 2, 100000000, "vertices"),
    HK_VECTOR(Chain, start, "m", 0, 0, 0, "first vertex"),
    HK_VECTOR(Chain, end, "m", 1, 0, 0, "last vertex"),
};

static void size(const void *chosen, int n[3]) {
  const Chain *p = chosen;
  n[0] = p->n;
  n[1] = n[2] = 1;
}

static void count(const void *chosen, const HkWindow *w, HkMeshCounts *counts) {
  (void)chosen;
  counts->lines = w->end[0] - w->begin[0] - 1;
}

static HkStatus build(const void *chosen, const HkWindow *w, HkMesh *mesh, HkError *error) {
  const Chain *p = chosen;
  for (int q = w->begin[0]; q < w->end[0]; q++) {
    double s = (double)q / (p->n - 1), x[3];
    for (int c = 0; c < 3; c++) x[c] = (1 - s) * p->start[c] + s * p->end[c];
    HK_TRY(hk_mesh_add_vertices(mesh, x, 1, error));
  }
  for (int32_t q = 0; q + 1 < mesh->vertex_count; q++)
    HK_TRY(hk_mesh_add_cell(mesh, HK_CELL_LINE, (int32_t[]){q, q + 1}, 2, error));
  const int first[3] = {0, 0, 0}, last[3] = {p->n - 1, 0, 0};
  HK_TRY(hk_window_add_set(mesh, "start", w, first, first, error));
  HK_TRY(hk_window_add_set(mesh, "end", w, last, last, error));
  HK_TRY(hk_window_add_set(mesh, "ends", w, first, first, error));
  return hk_window_add_set(mesh, "ends", w, last, last, error);
}

const HkShapeType hk_shape_chain = {
    .schema = {.name = "chain",
               .summary = "a straight row of masses",
               .formula = "x_q = start + q / (n - 1) (end - start)",
               HK_PARAMS(Chain, params)},
    .lattice = &(const HkLatticeType){size, count, build},
};
