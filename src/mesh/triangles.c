/* Triangles of a mesh; see triangles.h. Inner faces of solids are found in linear time: each face
 * is put into the bucket of its lowest vertex, and two solids share those that are there twice. */
#include "mesh/triangles.h"

#include "mesh/measure.h"

#include <stdlib.h>

/* Faces of the solids with outward normals, as corners; 3 or 4 a face, ended by 9. */
static const uint8_t tet_faces[] = {3, 0, 2, 1, 3, 0, 1, 3, 3, 1, 2, 3, 3, 0, 3, 2, 9};
static const uint8_t pyramid_faces[] = {4, 0, 3, 2, 1, 3, 0, 1, 4, 3, 1,
                                        2, 4, 3, 2, 3, 4, 3, 3, 0, 4, 9};
static const uint8_t wedge_faces[] = {3, 0, 2, 1, 3, 3, 4, 5, 4, 0, 1, 4,
                                      3, 4, 1, 2, 5, 4, 4, 2, 0, 3, 5, 9};
static const uint8_t hex_faces[] = {4, 0, 3, 2, 1, 4, 4, 5, 6, 7, 4, 0, 1, 5, 4, 4,
                                    1, 2, 6, 5, 4, 2, 3, 7, 6, 4, 3, 0, 4, 7, 9};

static const uint8_t *faces_of(HkCellType type) {
  return type == HK_CELL_TET       ? tet_faces
         : type == HK_CELL_PYRAMID ? pyramid_faces
         : type == HK_CELL_WEDGE   ? wedge_faces
                                   : hex_faces;
}

/* A face of a solid, in the bucket of its lowest vertex; key: the two next lowest. */
typedef struct Wall {
  int32_t key[2];
  int32_t corner[4];
  int count;
} Wall;

static void sort4(int32_t *v, int count) {
  for (int k = 1; k < count; k++)
    for (int p = k; p > 0 && v[p - 1] > v[p]; p--) {
      int32_t swap = v[p];
      v[p] = v[p - 1];
      v[p - 1] = swap;
    }
}

static Wall wall_of(HkCell cell, const uint8_t *face, int32_t *lowest) {
  Wall wall = {.count = face[0]};
  int32_t sorted[4];
  for (int k = 0; k < wall.count; k++) sorted[k] = wall.corner[k] = cell.vertices[face[1 + k]];
  sort4(sorted, wall.count);
  *lowest = sorted[0];
  wall.key[0] = sorted[1];
  wall.key[1] = sorted[2];
  return wall;
}

static int compare_walls(const void *a, const void *b) {
  const Wall *x = a, *y = b;
  for (int k = 0; k < 2; k++)
    if (x->key[k] != y->key[k]) return x->key[k] < y->key[k] ? -1 : 1;
  return 0;
}

static HkStatus add_fan(const HkContext *context, HkTriangles *t, const int32_t *corner, int count,
                        HkError *error) {
  HK_TRY(hk_grow(context, &t->corner, &t->capacity, t->count + count - 2, 3 * sizeof *t->corner,
                 "faces", error));
  for (int k = 2; k < count; k++) {
    int32_t *f = t->corner + 3 * t->count++;
    f[0] = (int32_t)(t->first + corner[0]);
    f[1] = (int32_t)(t->first + corner[k - 1]);
    f[2] = (int32_t)(t->first + corner[k]);
  }
  return HK_OK;
}

/* Counts the walls of each vertex in start[vertex + 1], or puts them into their buckets. */
static void deal_walls(const HkMesh *mesh, int64_t *start, Wall *walls) {
  int32_t lowest;
  for (int64_t c = 0; c < mesh->cell_count; c++) {
    HkCell cell = hk_mesh_cell(mesh, c);
    if (hk_cell_dimension(cell.type) != 3) continue;
    for (const uint8_t *f = faces_of(cell.type); *f != 9; f += 1 + *f) {
      Wall wall = wall_of(cell, f, &lowest);
      if (walls)
        walls[start[lowest]++] = wall;
      else
        start[lowest + 1]++;
    }
  }
}

/* Adds the faces that only one solid has. */
static HkStatus add_boundary(const HkMesh *mesh, int64_t *start, Wall **walls, HkTriangles *t,
                             HkError *error) {
  const HkContext *context = &mesh->context;
  int64_t n = mesh->vertex_count;
  deal_walls(mesh, start, NULL);
  for (int64_t i = 0; i < n; i++) start[i + 1] += start[i];
  HK_TRY(hk_alloc(context, walls, start[n], sizeof **walls, "faces", error));
  deal_walls(mesh, start, *walls);
  for (int64_t i = 0; i < n; i++) { /* filling moved start[i] to the end of bucket i */
    int64_t begin = i == 0 ? 0 : start[i - 1], end = start[i];
    if (end > begin) qsort(*walls + begin, (size_t)(end - begin), sizeof **walls, compare_walls);
    for (int64_t w = begin; w < end; w++) {
      Wall *wall = *walls + w;
      bool shared = (w > begin && compare_walls(wall - 1, wall) == 0) ||
                    (w + 1 < end && compare_walls(wall, wall + 1) == 0);
      if (!shared) HK_TRY(add_fan(context, t, wall->corner, wall->count, error));
    }
  }
  return HK_OK;
}

HkStatus hk_mesh_triangles(const HkMesh *mesh, HkTriangles *t, HkError *error) {
  const HkContext *context = &mesh->context;
  bool faces = false, solids = false;
  for (int64_t c = 0; c < mesh->cell_count; c++) {
    HkCell cell = hk_mesh_cell(mesh, c);
    int dimension = hk_cell_dimension(cell.type);
    solids |= dimension == 3;
    if (dimension != 2) continue;
    faces = true;
    HK_TRY(add_fan(context, t, cell.vertices, cell.count, error));
  }
  if (faces || !solids) return HK_OK;
  int64_t *start = NULL;
  Wall *walls = NULL;
  HkStatus status =
      hk_alloc(context, &start, mesh->vertex_count + 1, sizeof *start, "faces", error);
  if (status >= 0) status = add_boundary(mesh, start, &walls, t, error);
  hk_free(context, &start);
  hk_free(context, &walls);
  return status;
}
