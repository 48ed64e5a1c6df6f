/* Mesh -> sorted, unique pairs of vertices, in linear time.
 *
 * A bucket sort puts all pairs into one bucket for each lower vertex (counted in a first pass,
 * filled in a second); then each bucket is sorted and duplicates are removed. An entry is 4 j +
 * kind in 32 bits, so that of equal pairs the lowest kind comes first; a mesh has at most 2^31 / 3
 * vertices, so it fits. Memory: 4 bytes a candidate and 8 a vertex.
 */
#include "mesh/pairs.h"

#include "base/sort.h"
#include "mesh/bending.h"
#include "mesh/edges.h"

#include <string.h>

/* Buckets while they are counted (entry NULL) and while they are filled. */
typedef struct Deal {
  int64_t *start; /* while filling: where the next entry of a vertex goes */
  uint32_t *entry;
  int64_t looping;
} Deal;

static void deal(Deal *d, int32_t a, int32_t b, int kind) {
  int32_t i = a < b ? a : b, j = a < b ? b : a;
  if (i == j)
    d->looping++;
  else if (d->entry)
    d->entry[d->start[i]++] = 4 * (uint32_t)j + (uint32_t)kind;
  else
    d->start[i]++;
}

static void deal_cell_edges(Deal *d, HkCell cell) {
  HkEdges edges = hk_cell_edges(cell);
  for (int q = 0; q < edges.count; q++) {
    int32_t a, b;
    hk_edge_ends(cell, edges, q, &a, &b);
    deal(d, a, b, HK_PAIR_EDGE);
  }
}

static void deal_all(Deal *d, const HkMesh *mesh, const HkPairsWanted *wanted,
                     const HkBending *bending) {
  d->looping = 0;
  for (int64_t c = 0; c < mesh->cell_count; c++) {
    HkCell cell = hk_mesh_cell(mesh, c);
    if (wanted->edges) deal_cell_edges(d, cell);
    if (wanted->shear && cell.type == HK_CELL_QUAD) {
      deal(d, cell.vertices[0], cell.vertices[2], HK_PAIR_SHEAR);
      deal(d, cell.vertices[1], cell.vertices[3], HK_PAIR_SHEAR);
    }
  }
  for (int64_t q = 0; q < bending->count; q++)
    deal(d, bending->pairs[2 * q], bending->pairs[2 * q + 1], HK_PAIR_BENDING);
  for (int64_t q = 0; q < wanted->extra_count; q++)
    deal(d, wanted->extra[2 * q], wanted->extra[2 * q + 1], HK_PAIR_EXTRA);
}

/* Buckets are short except for stars: insertion sort is faster than qsort up to about thirty
 * entries. */
static void sort_bucket(uint32_t *entry, int64_t count) {
  if (count > 32) {
    hk_sort_uint32(entry, count);
    return;
  }
  for (int64_t q = 1; q < count; q++) {
    uint32_t e = entry[q];
    int64_t p = q;
    for (; p > 0 && entry[p - 1] > e; p--) entry[p] = entry[p - 1];
    entry[p] = e;
  }
}

/* Sorts every bucket in place and removes duplicates; afterwards bucket i is start[i] .. stop[i]
 * - 1. */
static int64_t thin(int64_t n, const int64_t *start, int64_t *stop, uint32_t *entry) {
  int64_t total = 0;
  for (int64_t i = 0; i < n; i++) {
    int64_t begin = start[i], kept = begin;
    sort_bucket(entry + begin, stop[i] - begin);
    for (int64_t q = begin; q < stop[i]; q++)
      if (kept == begin || entry[q] / 4 != entry[kept - 1] / 4) entry[kept++] = entry[q];
    stop[i] = kept;
    total += kept - begin;
  }
  return total;
}

static HkStatus collect(const HkContext *c, int64_t n, const int64_t *start, const int64_t *stop,
                        const uint32_t *entry, HkPairs *pairs, HkError *error) {
  if (pairs->count > INT32_MAX)
    return hk_fail(error, HK_ERROR_UNSUPPORTED, "%lld springs are more than Hooke takes (%d)",
                   (long long)pairs->count, INT32_MAX);
  HK_TRY(hk_alloc(c, &pairs->i, pairs->count, sizeof *pairs->i, "springs", error));
  HK_TRY(hk_alloc(c, &pairs->j, pairs->count, sizeof *pairs->j, "springs", error));
  HK_TRY(hk_alloc(c, &pairs->kind, pairs->count, sizeof *pairs->kind, "springs", error));
  int64_t at = 0;
  for (int64_t i = 0; i < n; i++) {
    for (int64_t q = start[i]; q < stop[i]; q++, at++) {
      pairs->i[at] = (int32_t)i;
      pairs->j[at] = (int32_t)(entry[q] / 4);
      pairs->kind[at] = (uint8_t)(entry[q] % 4);
    }
  }
  return HK_OK;
}

static HkStatus build(const HkMesh *mesh, const HkPairsWanted *wanted, const HkBending *bending,
                      int64_t **start, int64_t **next, uint32_t **entry, HkPairs *pairs,
                      HkError *error) {
  const HkContext *c = &mesh->context;
  int64_t n = mesh->vertex_count;
  HK_TRY(hk_alloc(c, start, n + 1, sizeof **start, "springs", error));
  HK_TRY(hk_alloc(c, next, n + 1, sizeof **next, "springs", error));
  Deal d = {.start = *next};
  deal_all(&d, mesh, wanted, bending);
  pairs->looping = d.looping;
  for (int64_t q = 0; q < n; q++) (*start)[q + 1] = (*start)[q] + (*next)[q];
  HK_TRY(hk_alloc(c, entry, (*start)[n], sizeof **entry, "springs", error));
  if (!*entry) return HK_OK;
  memcpy(*next, *start, (size_t)(n + 1) * sizeof **next);
  d.entry = *entry;
  deal_all(&d, mesh, wanted, bending);
  pairs->count = thin(n, *start, *next, *entry);
  return collect(c, n, *start, *next, *entry, pairs, error);
}

HkStatus hk_pairs_create(const HkMesh *mesh, const HkPairsWanted *wanted, HkPairs *pairs,
                         HkError *error) {
  const HkContext *c = &mesh->context;
  HkBending bending = {0};
  int64_t *start = NULL, *next = NULL;
  uint32_t *entry = NULL;
  *pairs = (HkPairs){0};
  HkStatus status = HK_OK;
  if (wanted->bending) status = hk_bending_create(mesh, &bending, error);
  if (status >= 0) status = build(mesh, wanted, &bending, &start, &next, &entry, pairs, error);
  hk_bending_destroy(c, &bending);
  hk_free(c, &start);
  hk_free(c, &next);
  hk_free(c, &entry);
  if (status < 0) hk_pairs_destroy(c, pairs);
  return status;
}

void hk_pairs_destroy(const HkContext *context, HkPairs *pairs) {
  hk_free(context, &pairs->i);
  hk_free(context, &pairs->j);
  hk_free(context, &pairs->kind);
  pairs->count = 0;
}

int64_t hk_pairs_find(const HkPairs *pairs, int32_t a, int32_t b) {
  int32_t i = a < b ? a : b, j = a < b ? b : a;
  int64_t low = 0, high = pairs->count;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    bool before = pairs->i[middle] < i || (pairs->i[middle] == i && pairs->j[middle] < j);
    if (before)
      low = middle + 1;
    else
      high = middle;
  }
  return low < pairs->count && pairs->i[low] == i && pairs->j[low] == j ? low : -1;
}
