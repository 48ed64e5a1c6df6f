/* The surface d(x) = 0 of a distance by marching tetrahedra.
 *
 * Each cell of a lattice is cut into six tetrahedra around its diagonal from corner 0 to corner 7.
 * Within a tetrahedron d is taken as linear: the surface cuts off one corner (one triangle) or two
 * (two triangles), at points x = a + t (b - a), t = d(a) / (d(a) - d(b)), on its edges. Normals are
 * those of d. Doi and Koide, An efficient method of triangulating equi-valued surfaces by using
 * tetrahedral cells, 1991.
 */
#include "obstacle/surface.h"

#include "base/vec.h"

#include <string.h>

/* Bits 0, 1, 2 of a corner: upper along x, y, z. */
static const int tetrahedra[6][4] = {{0, 1, 3, 7}, {0, 3, 2, 7}, {0, 2, 6, 7},
                                     {0, 6, 4, 7}, {0, 4, 5, 7}, {0, 5, 1, 7}};

typedef struct Cell {
  double x[8][3], d[8];
} Cell;

typedef struct March {
  HkSurfaceBuilder *b;
  HkDistance *distance;
  const void *user;
} March;

/* The vertex of the surface on the edge from an inner to an outer corner. */
static int32_t cut_edge(const March *m, const Cell *c, int inner, int outer) {
  double t = c->d[inner] / (c->d[inner] - c->d[outer]), x[3], n[3];
  for (int q = 0; q < 3; q++) x[q] = c->x[inner][q] + t * (c->x[outer][q] - c->x[inner][q]);
  m->distance(m->user, x, n);
  return hk_surface_add_vertex(m->b, x, n);
}

/* Adds a triangle, turned so that its normal points as the normals of its vertices do. */
static void add_turned(const March *m, int32_t i, int32_t j, int32_t k) {
  const HkSurface *s = m->b->surface;
  double u[3], v[3], across[3];
  if (m->b->status < 0) return;
  hk_sub(s->x + 3 * (int64_t)j, s->x + 3 * (int64_t)i, u);
  hk_sub(s->x + 3 * (int64_t)k, s->x + 3 * (int64_t)i, v);
  hk_cross(u, v, across);
  bool turned = hk_dot(across, s->normal + 3 * (int64_t)i) < 0;
  hk_surface_add_triangle(m->b, i, turned ? k : j, turned ? j : k, 0);
}

static void cut_tetrahedron(const March *m, const Cell *c, const int corner[4]) {
  int inner[4], outer[4], inside = 0, outside = 0;
  int32_t v[4];
  for (int k = 0; k < 4; k++) {
    if (c->d[corner[k]] < 0)
      inner[inside++] = corner[k];
    else
      outer[outside++] = corner[k];
  }
  if (inside == 0 || outside == 0) return;
  if (inside == 2) {
    for (int k = 0; k < 4; k++) v[k] = cut_edge(m, c, inner[k >> 1], outer[k & 1]);
    add_turned(m, v[0], v[1], v[3]);
    add_turned(m, v[0], v[3], v[2]);
    return;
  }
  for (int k = 0; k < 3; k++)
    v[k] = inside == 1 ? cut_edge(m, c, inner[0], outer[k]) : cut_edge(m, c, inner[k], outer[0]);
  add_turned(m, v[0], v[1], v[2]);
}

void hk_surface_add_isosurface(HkSurfaceBuilder *b, HkDistance *distance, const void *user,
                               const double low[3], const double high[3], const int cells[3]) {
  March m = {b, distance, user};
  for (int k = 0; k < cells[2]; k++)
    for (int j = 0; j < cells[1]; j++)
      for (int i = 0; i < cells[0] && b->status >= 0; i++) {
        const int at[3] = {i, j, k};
        Cell c;
        for (int q = 0; q < 8; q++) {
          double n[3];
          for (int a = 0; a < 3; a++)
            c.x[q][a] = low[a] + (high[a] - low[a]) * (at[a] + (q >> a & 1)) / cells[a];
          c.d[q] = distance(user, c.x[q], n);
        }
        for (int t = 0; t < 6; t++) cut_tetrahedron(&m, &c, tetrahedra[t]);
      }
}
