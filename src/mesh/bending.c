/* Pairs of vertices that resist bending.
 *
 *     two triangles a b c, b a d     ->  c d, across the inner edge a b
 *     two quads a b c d, b a f e     ->  d f and c e: skip-one along both mesh lines that cross a b
 *     two lines a b, b c at a vertex ->  a c, skip-one along a chain; vertices with other than two
 * lines give none
 *
 * Every side (i, j), i < j, of every face is dealt into the bucket of i with the corners next to i
 * and to j; sides with the same j in a bucket share an edge. Linear in the number of faces.
 */
#include "mesh/bending.h"

#include <stdlib.h>
#include <string.h>

typedef struct Side {
  int32_t j;
  int32_t next_i, next_j; /* the face's corners beside i and j; equal in a triangle */
} Side;

static HkStatus add_pair(const HkContext *c, HkBending *b, int32_t p, int32_t q, HkError *error) {
  if (p == q) return HK_OK;
  HK_TRY(hk_grow(c, &b->pairs, &b->capacity, b->count + 1, 2 * sizeof *b->pairs, "bending springs",
                 error));
  b->pairs[2 * b->count] = p;
  b->pairs[2 * b->count + 1] = q;
  b->count++;
  return HK_OK;
}

static bool is_face(HkCell cell) {
  return cell.type == HK_CELL_TRIANGLE || cell.type == HK_CELL_QUAD;
}

/* Returns side q of a face; *i becomes its lower vertex. */
static Side side_of(HkCell cell, int q, int32_t *i) {
  int n = cell.count;
  const int32_t *v = cell.vertices;
  int32_t a = v[q], b = v[(q + 1) % n], next_a = v[(q + n - 1) % n], next_b = v[(q + 2) % n];
  *i = a < b ? a : b;
  return a < b ? (Side){b, next_a, next_b} : (Side){a, next_b, next_a};
}

static int compare(const void *a, const void *b) {
  const Side *x = a, *y = b;
  if (x->j != y->j) return x->j < y->j ? -1 : 1;
  if (x->next_i != y->next_i) return x->next_i < y->next_i ? -1 : 1;
  return x->next_j < y->next_j ? -1 : x->next_j > y->next_j;
}

/* Joins adjacent sides of the sorted bucket that share an edge and belong to the same kind of face.
 */
static HkStatus join_bucket(const HkContext *c, Side *side, int64_t count, HkBending *b,
                            HkError *error) {
  qsort(side, (size_t)count, sizeof *side, compare);
  for (int64_t q = 1; q < count; q++) {
    const Side *one = &side[q - 1], *two = &side[q];
    bool triangle = one->next_i == one->next_j;
    if (one->j != two->j || triangle != (two->next_i == two->next_j)) continue;
    HK_TRY(add_pair(c, b, one->next_i, two->next_i, error));
    if (!triangle) HK_TRY(add_pair(c, b, one->next_j, two->next_j, error));
  }
  return HK_OK;
}

static HkStatus join_faces(const HkMesh *mesh, int64_t *start, Side **sides, HkBending *b,
                           HkError *error) {
  const HkContext *c = &mesh->context;
  int64_t n = mesh->vertex_count;
  int32_t i;
  for (int64_t q = 0; q < mesh->cell_count; q++) {
    HkCell cell = hk_mesh_cell(mesh, q);
    for (int s = 0; is_face(cell) && s < cell.count; s++) {
      side_of(cell, s, &i);
      start[i + 1]++;
    }
  }
  for (int64_t q = 0; q < n; q++) start[q + 1] += start[q];
  HK_TRY(hk_alloc(c, sides, start[n], sizeof **sides, "bending springs", error));
  for (int64_t q = 0; q < mesh->cell_count; q++) {
    HkCell cell = hk_mesh_cell(mesh, q);
    for (int s = 0; is_face(cell) && s < cell.count; s++) {
      Side side = side_of(cell, s, &i);
      (*sides)[start[i]++] = side;
    }
  }
  for (int64_t q = 0; q < n; q++) { /* filling moved start[q] to the end of bucket q */
    int64_t begin = q == 0 ? 0 : start[q - 1];
    if (start[q] > begin) HK_TRY(join_bucket(c, *sides + begin, start[q] - begin, b, error));
  }
  return HK_OK;
}

/* near has up to two neighbors of each vertex along lines, degree the number of its lines. */
static HkStatus join_lines(const HkMesh *mesh, int32_t *near, uint8_t *degree, HkBending *b,
                           HkError *error) {
  for (int64_t q = 0; q < mesh->cell_count; q++) {
    HkCell cell = hk_mesh_cell(mesh, q);
    if (cell.type != HK_CELL_LINE || cell.vertices[0] == cell.vertices[1]) continue;
    for (int e = 0; e < 2; e++) {
      int64_t v = cell.vertices[e];
      if (degree[v] < 2) near[2 * v + degree[v]] = cell.vertices[1 - e];
      if (degree[v] < 3) degree[v]++;
    }
  }
  for (int64_t q = 0; q < mesh->vertex_count; q++)
    if (degree[q] == 2) HK_TRY(add_pair(&mesh->context, b, near[2 * q], near[2 * q + 1], error));
  return HK_OK;
}

HkStatus hk_bending_create(const HkMesh *mesh, HkBending *bending, HkError *error) {
  const HkContext *c = &mesh->context;
  int64_t n = mesh->vertex_count, *start = NULL;
  Side *sides = NULL;
  int32_t *near = NULL;
  uint8_t *degree = NULL;
  HkStatus status = hk_alloc(c, &start, n + 1, sizeof *start, "bending springs", error);
  if (status >= 0) status = join_faces(mesh, start, &sides, bending, error);
  hk_free(c, &start);
  hk_free(c, &sides);
  if (status >= 0) status = hk_alloc(c, &near, 2 * n, sizeof *near, "bending springs", error);
  if (status >= 0) status = hk_alloc(c, &degree, n, sizeof *degree, "bending springs", error);
  if (status >= 0) status = join_lines(mesh, near, degree, bending, error);
  hk_free(c, &near);
  hk_free(c, &degree);
  return status;
}

void hk_bending_destroy(const HkContext *context, HkBending *bending) {
  hk_free(context, &bending->pairs);
  *bending = (HkBending){0};
}
