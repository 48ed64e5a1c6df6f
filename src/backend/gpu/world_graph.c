/* The graph of the springs that all worlds of a batch have in common; see world_graph.h. */
#include "backend/gpu/world_graph.h"

#include "backend/gpu/layout.h"
#include "base/file.h"

#include <string.h>

enum { TYPES_MAX = 1 << 16 };

HkWorldSprings hk_world_springs(const HkModel *m, const HkState *state) {
  const HkStateSprings *own = &state->springs;
  if (own->count > 0)
    return (HkWorldSprings){own->k, own->l0, own->damping, m->springs.tension, own->broken};
  return (HkWorldSprings){m->springs.k, m->springs.l0, m->springs.damping, m->springs.tension,
                          NULL};
}

/* The row of a spring in a table. */
static void write_row(const HkWorldSprings *w, int64_t s, double row[HK_WORLD_TYPE_REALS]) {
  bool broken = w->broken && w->broken[s];
  double k = broken ? 0 : w->k[s], c = !broken && w->damping ? w->damping[s] : 0;
  row[0] = k;
  row[1] = k * w->l0[s];
  row[2] = c;
  row[3] = w->tension && w->tension[s] ? w->l0[s] : -1;
}

/* ---- Types ---- */

/* hash[s] = a hash of the rows of spring s in all worlds. */
static void hash_springs(const HkWorldSprings *worlds, int64_t count, int64_t springs,
                         uint64_t *hash) {
  for (int64_t s = 0; s < springs; s++) {
    hash[s] = HK_HASH_START;
    for (int64_t w = 0; w < count; w++) {
      double row[HK_WORLD_TYPE_REALS];
      write_row(&worlds[w], s, row);
      hash[s] = hk_hash(hash[s], row, sizeof row);
    }
  }
}

/* Numbers springs by their hashes, in a table of open addressing. Two springs that differ but have
 * the same hash of 64 bits would be taken for one type, which does not happen by chance. */
static HkStatus number_types(HkWorldGraph *g, int64_t springs, const uint64_t *hash,
                             HkError *error) {
  int32_t *slot = NULL;
  int64_t size = 16;
  while (size < 2 * springs) size *= 2;
  HK_TRY(hk_alloc(&g->context, &slot, size, sizeof *slot, "types of springs", error));
  g->types = 1;
  for (int64_t s = 0; s < springs; s++) {
    int64_t at = (int64_t)(hash[s] & (uint64_t)(size - 1));
    while (slot[at] && hash[g->example[slot[at]]] != hash[s]) at = (at + 1) & (size - 1);
    if (!slot[at]) {
      g->example[g->types] = (int32_t)s;
      slot[at] = g->types++;
    }
    g->type[s] = slot[at];
  }
  hk_free(&g->context, &slot);
  return HK_OK;
}

static HkStatus make_types(HkWorldGraph *g, int64_t springs, const HkWorldSprings *worlds,
                           int64_t count, HkError *error) {
  const HkContext *c = &g->context;
  uint64_t *hash = NULL;
  HK_TRY(hk_alloc(c, &g->type, springs, sizeof *g->type, "types of springs", error));
  HK_TRY(hk_alloc(c, &g->example, springs + 1, sizeof *g->example, "types of springs", error));
  HK_TRY(hk_alloc(c, &hash, springs, sizeof *hash, "types of springs", error));
  hash_springs(worlds, count, springs, hash);
  HkStatus status = number_types(g, springs, hash, error);
  hk_free(c, &hash);
  if (status >= 0 && g->types > TYPES_MAX)
    return hk_fail(error, HK_ERROR_UNSUPPORTED,
                   "a batch on a device supports %d different springs; choose the device cpu",
                   TYPES_MAX - 1);
  return status;
}

bool hk_world_graph_fits(const HkWorldGraph *g, int64_t springs, const HkWorldSprings *world) {
  for (int64_t s = 0; s < springs; s++) {
    double row[HK_WORLD_TYPE_REALS], other[HK_WORLD_TYPE_REALS];
    write_row(world, s, row);
    write_row(world, g->example[g->type[s]], other);
    if (memcmp(row, other, sizeof row) != 0) return false;
  }
  return true;
}

void hk_world_graph_table(const HkWorldGraph *g, const HkWorldSprings *world, double *table) {
  memcpy(table, (const double[HK_WORLD_TYPE_REALS]){0, 0, 0, -1},
         HK_WORLD_TYPE_REALS * sizeof *table);
  for (int t = 1; t < g->types; t++)
    write_row(world, g->example[t], table + (int64_t)HK_WORLD_TYPE_REALS * t);
}

/* ---- Rows ---- */

static HkStatus make_rows(HkWorldGraph *g, const HkModel *m, HkError *error) {
  const HkContext *c = &g->context;
  int64_t slices = (m->n + HK_GPU_ROW - 1) / HK_GPU_ROW;
  HK_TRY(hk_alloc(c, &g->row_start, slices + 1, sizeof *g->row_start, "rows", error));
  for (int64_t q = 0; q < slices; q++) {
    int64_t longest = 0, end = HK_GPU_ROW * (q + 1);
    for (int64_t i = HK_GPU_ROW * q; i < end && i < m->n; i++)
      if (m->adj_start[i + 1] - m->adj_start[i] > longest)
        longest = m->adj_start[i + 1] - m->adj_start[i];
    g->row_start[q + 1] = g->row_start[q] + (int32_t)(HK_GPU_ROW * longest);
  }
  g->words = g->row_start[slices];
  HK_TRY(hk_alloc(c, &g->word, g->words, sizeof *g->word, "rows", error));
  HK_TRY(hk_alloc(c, &g->neighbor, g->words, sizeof *g->neighbor, "rows", error));
  for (int64_t i = 0; i < HK_GPU_ROW * slices; i++) {
    int64_t first = g->row_start[i / HK_GPU_ROW], end = g->row_start[i / HK_GPU_ROW + 1];
    int64_t from = i < m->n ? m->adj_start[i] : 0, to = i < m->n ? m->adj_start[i + 1] : 0;
    for (int64_t at = first + i % HK_GPU_ROW; at < end; at += HK_GPU_ROW, from++) {
      uint32_t self = i < m->n ? (uint32_t)i : 0;
      g->word[at] =
          from < to ? (uint32_t)m->adj_vertex[from] | (uint32_t)g->type[m->adj_spring[from]] << 16
                    : self;
      g->neighbor[at] = (uint16_t)g->word[at];
    }
  }
  return HK_OK;
}

HkStatus hk_world_graph_create(const HkModel *m, const HkWorldSprings *worlds, int64_t count,
                               HkWorldGraph **graph, HkError *error) {
  *graph = NULL;
  HK_TRY(hk_alloc(&m->context, graph, 1, sizeof **graph, "a graph", error));
  (*graph)->context = m->context;
  (*graph)->vertices = m->n;
  (*graph)->springs = m->springs.count;
  HkStatus status = make_types(*graph, m->springs.count, worlds, count, error);
  if (status >= 0) status = make_rows(*graph, m, error);
  if (status < 0) hk_world_graph_destroy(graph);
  return status;
}

void hk_world_graph_destroy(HkWorldGraph **graph) {
  HkWorldGraph *g = *graph;
  if (!g) return;
  HkContext c = g->context;
  hk_free(&c, &g->row_start);
  hk_free(&c, &g->word);
  hk_free(&c, &g->neighbor);
  hk_free(&c, &g->type);
  hk_free(&c, &g->example);
  hk_free(&c, graph);
}

size_t hk_world_graph_bytes(const HkWorldGraph *g) {
  int64_t slices = (g->vertices + HK_GPU_ROW - 1) / HK_GPU_ROW;
  return sizeof *g + (size_t)(slices + 1) * sizeof *g->row_start +
         (size_t)g->words * (sizeof *g->word + sizeof *g->neighbor) +
         (size_t)g->springs * sizeof *g->type + (size_t)(g->springs + 1) * sizeof *g->example;
}
