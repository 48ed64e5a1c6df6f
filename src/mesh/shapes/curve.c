/* A closed curve in the plane z = 0: an ellipse, or one with waves, around the origin.
 *
 *     x_q = (a s cos p, b s sin p, 0),   p = 2 pi q / n,   s = 1 + amplitude cos(lobes p)
 *
 * It is counterclockwise, with a line from each vertex to the next and from the last to the first.
 * s is positive, so the curve never meets itself. Vertices are equally spaced in p, not along the
 * curve. Sets: top, bottom (largest and smallest y), left, right (smallest and largest x), each
 * with all vertices that have the extreme coordinate.
 */
#include "mesh/shapes/lattice.h"

typedef struct Curve {
  int n;
  double a, b;
  int lobes;
  double amplitude;
} Curve;

static const HkParam params[] = {
    HK_INTEGER(Curve, n, 64, 3, 100000000, "vertices"),
    HK_NUMBER(Curve, a, "m", 0.5, HK_LENGTH_MIN, HK_LENGTH_MAX, "radius along x"),
    HK_NUMBER(Curve, b, "m", 0.5, HK_LENGTH_MIN, HK_LENGTH_MAX, "radius along y"),
    HK_INTEGER(Curve, lobes, 5, 1, 1000000, "waves around the curve"),
    HK_NUMBER(Curve, amplitude, "1", 0, 0, 0.95,
              "height of the waves as a part of the radius; 0 is the plain ellipse"),
};

static HkStatus count(const void *chosen, HkMeshCounts *counts, HkError *error) {
  (void)error;
  counts->vertices = counts->lines = ((const Curve *)chosen)->n;
  return HK_OK;
}

static HkStatus build(const void *chosen, HkMesh *mesh, HkError *error) {
  const Curve *p = chosen;
  for (int q = 0; q < p->n; q++) {
    double angle = 2 * M_PI * q / p->n;
    double s = 1 + p->amplitude * cos(p->lobes * angle);
    double x[3] = {p->a * s * cos(angle), p->b * s * sin(angle), 0};
    HK_TRY(hk_mesh_add_vertices(mesh, x, 1, error));
  }
  for (int32_t q = 0; q < p->n; q++) {
    int32_t next = q + 1 < p->n ? q + 1 : 0;
    HK_TRY(hk_mesh_add_cell(mesh, HK_CELL_LINE, (int32_t[]){q, next}, 2, error));
  }
  HK_TRY(hk_mesh_add_extreme_set(mesh, "top", 1, 1, error));
  HK_TRY(hk_mesh_add_extreme_set(mesh, "bottom", 1, -1, error));
  HK_TRY(hk_mesh_add_extreme_set(mesh, "left", 0, -1, error));
  return hk_mesh_add_extreme_set(mesh, "right", 0, 1, error);
}

const HkShapeType hk_shape_curve = {
    .schema = {.name = "curve",
               .summary = "a closed curve in the xy plane: an ellipse, or one with waves",
               .formula = "x = (1 + amplitude cos(lobes p)) (a cos p, b sin p, 0), p = 2 pi q / n",
               HK_PARAMS(Curve, params)},
    .count = count,
    .build = build,
};
