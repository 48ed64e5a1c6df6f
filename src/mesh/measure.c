/* Length, area and volume of cells.
 *
 * The area of a polygon is the sum over a fan of triangles (exact when it is plane and convex);
 * solids are cut into tetrahedra. Each corner of a cell gets the same part.
 */
#include "mesh/measure.h"

#include "base/vec.h"

int hk_cell_dimension(HkCellType type) {
  static const int dimension[] = {0, 1, 2, 2, 2, 3, 3, 3, 3};
  return dimension[type];
}

static double triangle_area(const double *a, const double *b, const double *c) {
  double p[3], q[3], n[3];
  hk_sub(b, a, p);
  hk_sub(c, a, q);
  hk_cross(p, q, n);
  return 0.5 * hk_norm(n);
}

static double tet_volume(const double *a, const double *b, const double *c, const double *d) {
  double p[3], q[3], r[3], n[3];
  hk_sub(b, a, p);
  hk_sub(c, a, q);
  hk_sub(d, a, r);
  hk_cross(p, q, n);
  return fabs(hk_dot(n, r)) / 6;
}

static double solid_volume(const double *x, HkCell cell) {
  static const uint8_t tet[] = {0, 1, 2, 3};
  static const uint8_t pyramid[] = {0, 1, 2, 4, 0, 2, 3, 4};
  static const uint8_t wedge[] = {0, 1, 2, 3, 1, 2, 3, 4, 2, 3, 4, 5};
  static const uint8_t hex[] = {0, 1, 2, 6, 0, 2, 3, 6, 0, 3, 7, 6,
                                0, 7, 4, 6, 0, 4, 5, 6, 0, 5, 1, 6};
  const uint8_t *cut = cell.type == HK_CELL_TET       ? tet
                       : cell.type == HK_CELL_PYRAMID ? pyramid
                       : cell.type == HK_CELL_WEDGE   ? wedge
                                                      : hex;
  int tets = cell.type == HK_CELL_TET       ? 1
             : cell.type == HK_CELL_PYRAMID ? 2
             : cell.type == HK_CELL_WEDGE   ? 3
                                            : 6;
  double volume = 0;
  for (int q = 0; q < tets; q++, cut += 4) {
    const double *corner[4];
    for (int c = 0; c < 4; c++) corner[c] = x + 3 * (int64_t)cell.vertices[cut[c]];
    volume += tet_volume(corner[0], corner[1], corner[2], corner[3]);
  }
  return volume;
}

double hk_cell_measure(const HkMesh *mesh, int64_t index) {
  HkCell cell = hk_mesh_cell(mesh, index);
  const double *x = mesh->x;
  const double *first = x + 3 * (int64_t)cell.vertices[0];
  switch (hk_cell_dimension(cell.type)) {
  case 0: return 0;
  case 1: return hk_distance(first, x + 3 * (int64_t)cell.vertices[1]);
  case 2: break;
  default: return solid_volume(x, cell);
  }
  double area = 0;
  for (int q = 2; q < cell.count; q++)
    area += triangle_area(first, x + 3 * (int64_t)cell.vertices[q - 1],
                          x + 3 * (int64_t)cell.vertices[q]);
  return area;
}

int64_t hk_mesh_lump(const HkMesh *mesh, int dimension, double *share) {
  int64_t cells = 0;
  for (int64_t c = 0; c < mesh->cell_count; c++) {
    HkCell cell = hk_mesh_cell(mesh, c);
    if (hk_cell_dimension(cell.type) != dimension) continue;
    double part = hk_cell_measure(mesh, c) / cell.count;
    for (int q = 0; q < cell.count; q++) share[cell.vertices[q]] += part;
    cells++;
  }
  return cells;
}
