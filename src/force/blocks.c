/* Hessian blocks of all forces but the springs; see blocks.h. */
#include "force/blocks.h"

#include <string.h>

typedef struct Collector {
  HkJacobianSink sink;
  HkForceBlocks *blocks;
  const HkModel *model;
  const uint8_t *held; /* of HkForceBlocksChoice */
  HkStatus status;     /* of the first allocation that failed */
  HkError *error;
} Collector;

static void collect(HkJacobianSink *sink, int32_t i, int32_t j, const double dfdx[9]) {
  Collector *c = (Collector *)sink;
  HkForceBlocks *b = c->blocks;
  if (c->held && (c->held[i] || c->held[j])) return;
  if (c->status >= 0)
    c->status = hk_grow(&c->model->context, &b->block, &b->capacity, b->count + 1, sizeof *b->block,
                        "blocks of forces", c->error);
  if (c->status < 0) return;
  HkForceBlock *block = &b->block[b->count++];
  block->row = i;
  block->column = j;
  memcpy(block->dfdx, dfdx, sizeof block->dfdx);
}

static HkWeightedTerm *collect_terms(HkJacobianSink *sink, int64_t count, bool curved,
                                     HkWeightedCurvature **curvature) {
  Collector *c = (Collector *)sink;
  HkWeightedTerm *first = NULL;
  if (c->status >= 0)
    c->status =
        hk_weighted_append(&c->blocks->terms, c->model, count, curved, &first, curvature, c->error);
  return c->status >= 0 ? first : NULL;
}

static bool is_sorted(const HkForceBlocks *b) {
  for (int64_t e = 1; e < b->count; e++)
    if (b->block[e - 1].row > b->block[e].row) return false;
  return true;
}

/* Counting sort by row, which is stable. */
static HkStatus sort_by_row(HkForceBlocks *b, const HkModel *m, HkError *error) {
  const HkContext *c = &m->context;
  if (is_sorted(b)) return HK_OK;
  HK_TRY(hk_grow(c, &b->unsorted, &b->unsorted_capacity, b->capacity, sizeof *b->unsorted,
                 "blocks of forces", error));
  HK_TRY(hk_grow(c, &b->vertex_start, &b->vertex_capacity, m->n + 1, sizeof *b->vertex_start,
                 "blocks of forces", error));
  memset(b->vertex_start, 0, (size_t)(m->n + 1) * sizeof *b->vertex_start);
  for (int64_t e = 0; e < b->count; e++) b->vertex_start[b->block[e].row + 1]++;
  for (int64_t i = 0; i < m->n; i++) b->vertex_start[i + 1] += b->vertex_start[i];
  memcpy(b->unsorted, b->block, (size_t)b->count * sizeof *b->block);
  for (int64_t e = 0; e < b->count; e++)
    b->block[b->vertex_start[b->unsorted[e].row]++] = b->unsorted[e];
  return HK_OK;
}

static HkStatus list_rows(HkForceBlocks *b, const HkContext *c, HkError *error) {
  b->row_count = 0;
  for (int64_t e = 0; e < b->count; e++)
    b->row_count += e == 0 || b->block[e].row != b->block[e - 1].row;
  HK_TRY(hk_grow(c, &b->row_start, &b->row_capacity, b->row_count + 1, sizeof *b->row_start,
                 "blocks of forces", error));
  int64_t row = 0;
  for (int64_t e = 0; e < b->count; e++)
    if (e == 0 || b->block[e].row != b->block[e - 1].row) b->row_start[row++] = e;
  b->row_start[row] = b->count;
  return HK_OK;
}

HkStatus hk_force_blocks_sort(HkForceBlocks *b, const HkModel *m, HkError *error) {
  HK_TRY(sort_by_row(b, m, error));
  return list_rows(b, &m->context, error);
}

HkStatus hk_force_blocks_evaluate(HkForceBlocks *b, const HkModel *m, const HkForceWork *work,
                                  double t, const double *x, const HkForceBlocksChoice *choice,
                                  HkError *error) {
  Collector c = {.sink = {.dfdx = collect,
                          .dfdv = hk_jacobian_skip,
                          .terms = choice->terms ? collect_terms : NULL},
                 .blocks = b,
                 .model = m,
                 .held = choice->held,
                 .error = error};
  b->count = b->row_count = b->terms.count = 0;
  for (int f = 0; f < m->force_count; f++) {
    if (!hk_force_has_blocks(m, f)) continue;
    if (choice->unbounded && !m->forces[f].type->unbounded) continue;
    HkForceArgs a = hk_force_args(m, f, work, t, x, NULL);
    a.curvature = choice->curvature;
    m->forces[f].type->jacobian(&a, &c.sink);
  }
  HK_TRY(c.status);
  HK_TRY(hk_weighted_finish(&b->terms, m, error));
  return b->count > 0 ? hk_force_blocks_sort(b, m, error) : HK_OK;
}

void hk_force_blocks_destroy(const HkModel *m, HkForceBlocks *b) {
  const HkContext *c = &m->context;
  hk_free(c, &b->block);
  hk_free(c, &b->row_start);
  hk_free(c, &b->unsorted);
  hk_free(c, &b->vertex_start);
  hk_weighted_destroy(m, &b->terms);
  *b = (HkForceBlocks){0};
}

size_t hk_force_blocks_bytes(const HkForceBlocks *b) {
  return (size_t)(b->capacity + b->unsorted_capacity) * sizeof *b->block +
         (size_t)(b->row_capacity + b->vertex_capacity) * sizeof *b->row_start +
         hk_weighted_bytes(&b->terms);
}
