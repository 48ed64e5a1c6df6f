/* Clusters vertices by the cells of a grid; see sketch.h.
 *
 * A cell is (body, floor(x / c), floor(y / c), floor(z / c)), x counted from the corner of the box
 * around all; bodies count where they are fewer than cells. Bisection finds the edge c: within some
 * per cent, the smallest one with at most the given number of cells. A 64-bit hash identifies a
 * cell; two of a million cells have the same hash with a probability of 1e-8, which would merge
 * them.
 */
#include "base/file.h"
#include "base/vec.h"
#include "report/sketch.h"

#include <string.h>

typedef struct Grid {
  const HkModel *model;
  const uint8_t *mark; /* NULL: all */
  double low[3];       /* m, the corner of the box */
  double edge;         /* m */
  bool apart;          /* no cell has vertices of two bodies */
  int64_t most;
  uint64_t *key; /* hash table, 0: free */
  int32_t *cell;
  int64_t slots; /* a power of two */
} Grid;

static uint64_t key_of(const Grid *g, int64_t body, int64_t vertex) {
  const double *x = g->model->x0 + 3 * vertex;
  int64_t place[4] = {body, 0, 0, 0};
  for (int c = 0; c < 3; c++) {
    double at = floor((x[c] - g->low[c]) / g->edge);
    place[1 + c] = fabs(at) < 1e18 ? (int64_t)at : 0;
  }
  uint64_t key = hk_hash(HK_HASH_START, place, sizeof place);
  return key ? key : 1;
}

/* Returns the cell of a key; increments *count if it is new. */
static int32_t cell_of(Grid *g, uint64_t key, int64_t *count) {
  uint64_t slot = key & (uint64_t)(g->slots - 1);
  while (g->key[slot] && g->key[slot] != key) slot = (slot + 1) & (uint64_t)(g->slots - 1);
  if (!g->key[slot]) {
    g->key[slot] = key;
    g->cell[slot] = (int32_t)(*count)++;
  }
  return g->cell[slot];
}

/* Fills map and returns the number of cells; stops with most + 1 when there are more. */
static int64_t sort_vertices(Grid *g, int32_t *map) {
  const HkModel *m = g->model;
  int64_t count = 0, body = 0;
  memset(g->key, 0, (size_t)g->slots * sizeof *g->key);
  for (int64_t q = 0; q < m->n && count <= g->most; q++) {
    map[q] = -1;
    while (body + 1 < m->body_count && m->bodies[body + 1].first <= q) body++;
    if (!g->mark || g->mark[q]) map[q] = cell_of(g, key_of(g, g->apart ? body : 0, q), &count);
  }
  return count;
}

/* Sets the corner of the box and returns its longest edge. */
static double measure_box(Grid *g) {
  const HkModel *m = g->model;
  double longest = 0;
  for (int c = 0; c < 3; c++) {
    double low = INFINITY, high = -INFINITY;
    for (int64_t q = 0; q < m->n; q++) {
      low = fmin(low, m->x0[3 * q + c]);
      high = fmax(high, m->x0[3 * q + c]);
    }
    g->low[c] = low;
    longest = fmax(longest, high - low);
  }
  return longest > 0 ? longest : 1;
}

/* Bisection of log c between an edge that gives too many cells and one that does not. */
static int64_t search(Grid *g, int32_t *map) {
  double extent = measure_box(g), edge = extent / sqrt((double)g->most);
  double fine = 0, coarse = 0;
  int64_t count = 0;
  for (int round = 0; round < 60; round++) {
    g->edge = edge;
    count = sort_vertices(g, map);
    bool fits = count <= g->most;
    if (fits)
      coarse = edge;
    else
      fine = edge;
    bool near = fine > 0 && coarse > 0 && coarse < 1.03 * fine;
    if (fits && (near || count > g->most - g->most / 10 || edge < 1e-6 * extent)) return count;
    if (fine > 0 && coarse > 0)
      edge = near ? coarse : sqrt(fine * coarse);
    else
      edge *= fits ? 0.5 : 2;
  }
  return count;
}

HkStatus hk_cells_find(const HkContext *context, const HkModel *model, const uint8_t *mark,
                       int64_t most, int32_t *map, int64_t *count, HkError *error) {
  Grid g = {.model = model, .mark = mark, .most = most, .slots = 16};
  g.apart = model->body_count <= most;
  while (g.slots < 2 * (most + 2)) g.slots *= 2;
  HkStatus status = hk_alloc(context, &g.key, g.slots, sizeof *g.key, "cells", error);
  if (status >= 0) status = hk_alloc(context, &g.cell, g.slots, sizeof *g.cell, "cells", error);
  if (status >= 0) *count = search(&g, map);
  hk_free(context, &g.key);
  hk_free(context, &g.cell);
  return status;
}

HkStatus hk_cells_stand_ins(const HkContext *context, const HkModel *m, const int32_t *map,
                            int64_t count, int32_t *vertex, HkError *error) {
  double *middle = NULL, *nearest = NULL; /* x y z and how many; the distance of the stand-in */
  HkStatus status = hk_alloc(context, &middle, 4 * count, sizeof *middle, "cells", error);
  if (status >= 0) status = hk_alloc(context, &nearest, count, sizeof *nearest, "cells", error);
  for (int64_t q = 0; status >= 0 && q < m->n; q++) {
    if (map[q] < 0) continue;
    hk_axpy(1, m->x0 + 3 * q, middle + 4 * (int64_t)map[q]);
    middle[4 * (int64_t)map[q] + 3]++;
  }
  for (int64_t q = 0; status >= 0 && q < count; q++) {
    for (int c = 0; c < 3; c++) middle[4 * q + c] /= middle[4 * q + 3];
    nearest[q] = INFINITY;
  }
  for (int64_t q = 0, pin = 0; status >= 0 && q < m->n; q++) {
    while (pin < m->pin_count && m->pin_vertex[pin] < q) pin++;
    if (map[q] < 0) continue;
    bool pinned = pin < m->pin_count && m->pin_vertex[pin] == q;
    double away = pinned ? -1 : hk_distance(m->x0 + 3 * q, middle + 4 * (int64_t)map[q]);
    if (!(away < nearest[map[q]])) continue;
    nearest[map[q]] = away;
    vertex[map[q]] = (int32_t)q;
  }
  hk_free(context, &middle);
  hk_free(context, &nearest);
  return status;
}
