/* Triangles of a model: the faces of the mesh cut into fans, or the boundary of its solids if it
 * has no faces; and the triangles around each vertex. */
#include "model/build.h"

#include "mesh/measure.h"

#include <stdlib.h>
#include <string.h>

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

static HkStatus add_fan(HkModel *m, const int32_t *corner, int count, HkError *error) {
  HK_TRY(hk_grow(&m->context, &m->face, &m->capacity.faces, m->face_count + count - 2,
                 3 * sizeof *m->face, "faces", error));
  for (int k = 2; k < count; k++) {
    int32_t *f = m->face + 3 * m->face_count++;
    f[0] = corner[0];
    f[1] = corner[k - 1];
    f[2] = corner[k];
  }
  return HK_OK;
}

/* Adds the faces that only one solid has, of the cells from first_cell on; start is indexed from
 * vertex `first`. */
static HkStatus add_boundary(HkModel *m, int64_t first, int64_t first_cell, int64_t *start,
                             Wall **walls, HkError *error) {
  int64_t n = m->n - first;
  int32_t lowest;
  for (int pass = 0; pass < 2; pass++) {
    for (int64_t c = first_cell; c < m->cell_count; c++) {
      HkCellType type = (HkCellType)m->cell_type[c];
      if (hk_cell_dimension(type) != 3) continue;
      HkCell cell = {type, hk_cell_corners(type), m->cell_vertex + m->cell_start[c]};
      for (const uint8_t *f = faces_of(type); *f != 9; f += 1 + *f) {
        Wall wall = wall_of(cell, f, &lowest);
        if (pass == 0)
          start[lowest - first + 1]++;
        else
          (*walls)[start[lowest - first]++] = wall;
      }
    }
    if (pass == 1) break;
    for (int64_t i = 0; i < n; i++) start[i + 1] += start[i];
    HK_TRY(hk_alloc(&m->context, walls, start[n], sizeof **walls, "faces", error));
  }
  for (int64_t i = 0; i < n; i++) { /* filling moved start[i] to the end of bucket i */
    int64_t begin = i == 0 ? 0 : start[i - 1], end = start[i];
    if (end > begin) qsort(*walls + begin, (size_t)(end - begin), sizeof **walls, compare_walls);
    for (int64_t w = begin; w < end; w++) {
      Wall *wall = *walls + w;
      bool shared = (w > begin && compare_walls(wall - 1, wall) == 0) ||
                    (w + 1 < end && compare_walls(wall, wall + 1) == 0);
      if (!shared) HK_TRY(add_fan(m, wall->corner, wall->count, error));
    }
  }
  return HK_OK;
}

HkStatus hk_model_add_faces(HkModel *m, int64_t first, int64_t first_cell, HkError *error) {
  bool faces = false, solids = false;
  for (int64_t c = first_cell; c < m->cell_count; c++) {
    int dimension = hk_cell_dimension((HkCellType)m->cell_type[c]);
    solids |= dimension == 3;
    if (dimension != 2) continue;
    faces = true;
    int count = (int)(m->cell_start[c + 1] - m->cell_start[c]);
    HK_TRY(add_fan(m, m->cell_vertex + m->cell_start[c], count, error));
  }
  if (faces || !solids) return HK_OK;
  int64_t *start = NULL;
  Wall *walls = NULL;
  HkStatus status = hk_alloc(&m->context, &start, m->n - first + 1, sizeof *start, "faces", error);
  if (status >= 0) status = add_boundary(m, first, first_cell, start, &walls, error);
  hk_free(&m->context, &start);
  hk_free(&m->context, &walls);
  return status;
}

HkStatus hk_model_need_faces(HkModel *m, HkError *error) {
  if (m->face_start) return HK_OK;
  HK_TRY(hk_alloc(&m->context, &m->face_start, m->n + 1, sizeof *m->face_start, "faces", error));
  HkStatus status =
      hk_alloc(&m->context, &m->face_at, 3 * m->face_count, sizeof *m->face_at, "faces", error);
  if (status < 0) {
    hk_free(&m->context, &m->face_start);
    return status;
  }
  for (int64_t k = 0; k < 3 * m->face_count; k++) m->face_start[m->face[k] + 1]++;
  for (int64_t i = 0; i < m->n; i++) m->face_start[i + 1] += m->face_start[i];
  for (int64_t k = 0; k < 3 * m->face_count; k++) m->face_at[m->face_start[m->face[k]]++] = k;
  for (int64_t i = m->n; i > 0; i--) m->face_start[i] = m->face_start[i - 1];
  m->face_start[0] = 0;
  return HK_OK;
}
