/* Common functions of shapes: planes, lattices of up to three axes, rings of a hexagon, sets.
 *
 * A lattice has n[0] x n[1] x n[2] vertices, vertex (i, j, k) with the number i + n[0] (j + n[1]
 * k); an axis with n = 1 does not exist. Its sets are
 *     left, right    i = 0, i = n[0] - 1
 *     bottom, top    j = 0, j = n[1] - 1
 *     back, front    k = 0, k = n[2] - 1, only if n[2] > 1
 *     corners        at an end of every axis, in the order of their numbers
 *     boundary       at an end of some axis
 *     center         the one vertex nearest to the middle
 *
 * Rings: vertex 0 in the middle, ring r = 1, 2, ... has 6 r vertices from number 1 + 3 r (r - 1)
 * on, sector by sector (0 .. 5), r vertices a sector.
 */
#ifndef HK_MESH_SHAPES_LATTICE_H
#define HK_MESH_SHAPES_LATTICE_H

#include "mesh/mesh.h"

#define HK_PLANES "xy|xz|yz"
#define HK_FACE_CELLS "quads|triangles"

/* Range of lengths (m): their squares and cubes neither overflow nor underflow. */
#define HK_LENGTH_MIN 1e-12
#define HK_LENGTH_MAX 1e12

/* x becomes the point u along the first and v along the second axis of a plane. */
void hk_plane_point(int plane, double u, double v, double x[3]);

/* Appends a face of 3 or 4 corners that run from the first towards the second axis, turned so that
 * its normal points along the positive third axis. */
HkStatus hk_plane_add_face(HkMesh *mesh, int plane, const int32_t *corners, int count,
                           HkError *error);

/* Appends four corners as a quad (cells 0) or as two triangles (cells 1); the diagonal joins
 * corners 0 and 2, or 1 and 3 where odd. */
HkStatus hk_plane_add_patch(HkMesh *mesh, int plane, int cells, const int32_t corners[4], bool odd,
                            HkError *error);

/* Returns the number of vertices of a cross section of the longest axis. */
static inline int64_t hk_lattice_section(const int n[3], int64_t vertices) {
  int longest = n[0] > n[1] ? n[0] : n[1];
  return vertices / (n[2] > longest ? n[2] : longest);
}

/* Sets the counts of the cells of `patches` patches. */
static inline void hk_patches_count(int64_t patches, int cells, HkMeshCounts *counts) {
  counts->quads = cells == 0 ? patches : 0;
  counts->triangles = cells == 0 ? 0 : 2 * patches;
}

/* *count becomes n[0] n[1] n[2]; returns an error if a mesh cannot have so many vertices. */
HkStatus hk_lattice_count(const int n[3], int64_t *count, HkError *error);

static inline int32_t hk_lattice_index(const int n[3], int i, int j, int k) {
  return (int32_t)(i + n[0] * (j + (int64_t)n[1] * k));
}

/* Returns the coordinate of the i-th of n vertices, equally spaced over a length that begins at 0
 * or is centered at 0. */
static inline double hk_lattice_coordinate(int i, int n, double length, bool centered) {
  return length * ((double)i / (n - 1) - (centered ? 0.5 : 0));
}

/* Returns the index in the mesh of a window of a vertex that is in it. */
static inline int32_t hk_window_index(const HkWindow *w, int i, int j, int k) {
  int64_t nx = w->end[0] - w->begin[0], ny = w->end[1] - w->begin[1];
  return (int32_t)(i - w->begin[0] + nx * (j - w->begin[1] + ny * (k - w->begin[2])));
}

static inline bool hk_window_has(const HkWindow *w, const int at[3]) {
  for (int c = 0; c < 3; c++)
    if (at[c] < w->begin[c] || at[c] >= w->end[c]) return false;
  return true;
}

/* Adds the vertices of a window of a box of three axes; returns an error if a size (m) is not
 * positive. */
HkStatus hk_lattice_add_vertices(HkMesh *mesh, const HkWindow *window, const double size[3],
                                 bool centered, HkError *error);

/* Adds the set of the vertices first .. last along each axis, as far as they are in the window. */
HkStatus hk_window_add_set(HkMesh *mesh, const char *name, const HkWindow *window,
                           const int first[3], const int last[3], HkError *error);

/* Adds the sets of a lattice: left, right, bottom ... center. */
HkStatus hk_lattice_add_sets(HkMesh *mesh, const HkWindow *window, HkError *error);

/* Adds the vertices first .. first + count - 1 as a set. */
HkStatus hk_mesh_add_range_set(HkMesh *mesh, const char *name, int64_t first, int64_t count,
                               HkError *error);

/* Adds the set of the vertices with the largest coordinate along an axis (sign 1), or the smallest
 * one (-1), to a billionth of the extent. */
HkStatus hk_mesh_add_extreme_set(HkMesh *mesh, const char *name, int axis, int sign,
                                 HkError *error);

/* Returns the number of vertices of the rings 0 .. rings. */
static inline int64_t hk_rings_count(int rings) {
  return 1 + 3 * (int64_t)rings * (rings + 1);
}

/* Returns the index of the k-th vertex (0 .. ring) of a sector; k = ring is the first of the next
 * sector. */
static inline int32_t hk_ring_index(int ring, int sector, int k) {
  if (ring == 0) return 0;
  return (int32_t)(hk_rings_count(ring - 1) + ((int64_t)sector * ring + k) % (6 * (int64_t)ring));
}

#endif
