/* The order of a sweep over vertices; see batches.h. */
#include "minimize/batches.h"

/* Largest number of batches that a color is split into; vertices beyond are each in their own. */
enum { BATCHES_MAX = 64 };

void hk_batches_destroy(const HkContext *c, HkBatches *batches) {
  hk_free(c, &batches->own_start);
  hk_free(c, &batches->own_vertex);
  hk_free(c, &batches->color);
  hk_free(c, &batches->batch);
}

size_t hk_batches_bytes(const HkBatches *batches, int64_t n) {
  size_t vertices = batches->batch ? (size_t)n * 3 * sizeof *batches->batch : 0;
  return vertices + (size_t)batches->capacity * sizeof *batches->own_start;
}

static HkStatus allocate(HkBatches *s, const HkColoring *coloring, const HkModel *m,
                         HkError *error) {
  int32_t **arrays[] = {&s->own_vertex, &s->color, &s->batch};
  HkStatus status = HK_OK;
  if (s->batch) return HK_OK;
  for (int k = 0; k < 3 && status >= 0; k++)
    status = hk_alloc(&m->context, arrays[k], m->n, sizeof **arrays[k], "batches", error);
  for (int k = 0; k < 3 && status < 0; k++) hk_free(&m->context, arrays[k]);
  HK_TRY(status);
  for (int64_t c = 0; c < coloring->colors; c++)
    for (int64_t at = coloring->start[c]; at < coloring->start[c + 1]; at++)
      s->color[coloring->vertex[at]] = (int32_t)c;
  return HK_OK;
}

/* ---- Batches of one color ---- */

/* The batch of j if that comes before i in the same color, as a bit; those that come later have no
 * batch yet. */
static uint64_t batch_of(const HkBatches *s, int32_t i, int32_t j) {
  bool before = j < i && s->color[j] == s->color[i] && s->batch[j] < BATCHES_MAX;
  return before ? (uint64_t)1 << s->batch[j] : 0;
}

static int32_t first_free(const HkBatches *s, const HkVertexBlock *blocks, int32_t i) {
  const HkForceBlocks *b = &blocks->rows.blocks;
  uint64_t taken = 0; /* bit p: a vertex that is coupled with i is in batch p */
  int32_t batch = 0, row = blocks->row[2 * (int64_t)i], place = blocks->row[2 * (int64_t)i + 1];
  for (int64_t e = row < 0 ? 0 : b->row_start[row]; row >= 0 && e < b->row_start[row + 1]; e++)
    taken |= batch_of(s, i, b->block[e].column);
  for (int64_t e = place < 0 ? 0 : b->terms.start[place];
       place >= 0 && e < b->terms.start[place + 1]; e++)
    for (int a = 0; a < 4; a++)
      taken |= batch_of(s, i, b->terms.term[b->terms.at[e] / 4].vertex[a]);
  while (batch < BATCHES_MAX && taken >> batch & 1) batch++;
  return batch;
}

/* Appends the batches of the vertices from `begin` to `end` of a color. */
static HkStatus append(HkBatches *s, const HkColoring *coloring, const HkVertexBlock *blocks,
                       int64_t begin, int64_t end, HkError *error) {
  int64_t beyond = 0, at = begin;
  int32_t most = -1;
  for (int64_t k = begin; k < end; k++) {
    int32_t i = coloring->vertex[k];
    s->batch[i] = first_free(s, blocks, i);
    beyond += s->batch[i] == BATCHES_MAX;
    if (s->batch[i] < BATCHES_MAX && s->batch[i] > most) most = s->batch[i];
  }
  HK_TRY(hk_grow(&blocks->p->model->context, &s->own_start, &s->capacity,
                 s->count + most + 2 + beyond, sizeof *s->own_start, "batches", error));
  for (int32_t batch = 0; batch <= most; batch++) {
    s->own_start[s->count++] = at;
    for (int64_t k = begin; k < end; k++)
      if (s->batch[coloring->vertex[k]] == batch) s->own_vertex[at++] = coloring->vertex[k];
  }
  for (int64_t k = begin; k < end && beyond; k++) {
    if (s->batch[coloring->vertex[k]] < BATCHES_MAX) continue;
    s->own_start[s->count++] = at;
    s->own_vertex[at++] = coloring->vertex[k];
  }
  s->own_start[s->count] = end;
  return HK_OK;
}

HkStatus hk_batches_find(HkBatches *s, const HkColoring *coloring, const HkVertexBlock *blocks,
                         HkError *error) {
  s->count = coloring->colors;
  s->start = coloring->start;
  s->vertex = coloring->vertex;
  if (!blocks->coupled) return HK_OK;
  HK_TRY(allocate(s, coloring, blocks->p->model, error));
  s->count = 0;
  for (int64_t c = 0; c < coloring->colors; c++)
    HK_TRY(append(s, coloring, blocks, coloring->start[c], coloring->start[c + 1], error));
  s->start = s->own_start;
  s->vertex = s->own_vertex;
  return HK_OK;
}
