/* A straight row of masses, as a chain, a rope or a hanging strand.
 *
 * Vertex q of n is at start + q / (n - 1) (end - start). Sets: start, end, ends.
 */
#include "mesh/mesh.h"

typedef struct Chain {
  int n;
  double start[3], end[3];
} Chain;

static const HkParam params[] = {
    HK_INTEGER(Chain, n, 10, 2, 100000000, "vertices"),
    HK_VECTOR(Chain, start, "m", 0, 0, 0, "first vertex"),
    HK_VECTOR(Chain, end, "m", 1, 0, 0, "last vertex"),
};

static HkStatus count(const void *chosen, HkMeshCounts *counts, HkError *error) {
  const Chain *p = chosen;
  (void)error;
  counts->vertices = p->n;
  counts->lines = p->n - 1;
  return HK_OK;
}

static HkStatus build(const void *chosen, HkMesh *mesh, HkError *error) {
  const Chain *p = chosen;
  for (int q = 0; q < p->n; q++) {
    double s = (double)q / (p->n - 1), x[3];
    for (int c = 0; c < 3; c++) x[c] = (1 - s) * p->start[c] + s * p->end[c];
    HK_TRY(hk_mesh_add_vertices(mesh, x, 1, error));
  }
  for (int32_t q = 0; q + 1 < p->n; q++)
    HK_TRY(hk_mesh_add_cell(mesh, HK_CELL_LINE, (int32_t[]){q, q + 1}, 2, error));
  int32_t first = 0, last = p->n - 1;
  HK_TRY(hk_mesh_add_set(mesh, "start", &first, 1, error));
  HK_TRY(hk_mesh_add_set(mesh, "end", &last, 1, error));
  return hk_mesh_add_set(mesh, "ends", (int32_t[]){first, last}, 2, error);
}

const HkShapeType hk_shape_chain = {
    .schema = {.name = "chain",
               .summary = "a straight row of masses",
               .formula = "x_q = start + q / (n - 1) (end - start)",
               HK_PARAMS(Chain, params)},
    .count = count,
    .build = build,
};
