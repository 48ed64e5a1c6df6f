/* Blocks between any vertices in the hierarchy of multigrid; see coupling.h. */
#include "linear/coupling.h"

#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

/* ---- Lists ---- */

static int by_place(const void *a, const void *b) {
  const HkCoupling *x = a, *y = b;
  if (x->row != y->row) return x->row < y->row ? -1 : 1;
  return (x->column > y->column) - (x->column < y->column);
}

static HkStatus append(const HkContext *c, HkCouplings *list, int32_t row, int32_t column,
                       double weight, const float block[9], HkError *error) {
  HK_TRY(hk_grow(c, &list->coupling, &list->capacity, list->count + 1, sizeof *list->coupling,
                 "multigrid", error));
  HkCoupling *to = &list->coupling[list->count++];
  to->row = row;
  to->column = column;
  for (int k = 0; k < 9; k++) to->block[k] = (float)(weight * (double)block[k]);
  return HK_OK;
}

/* E += |B| of the symmetric part of a block. */
static void add_absolute(const float block[9], double E[9]) {
  double positive[9], negative[9];
  for (int k = 0; k < 9; k++) {
    positive[k] = 0.5 * ((double)block[k] + (double)block[k % 3 * 3 + k / 3]);
    negative[k] = -positive[k];
  }
  hk_mat_project_positive(positive);
  hk_mat_project_positive(negative);
  for (int k = 0; k < 9; k++) E[k] += positive[k] + negative[k];
}

/* The couplings first .. end - 1, all of one row. */
static HkStatus append_row(const HkContext *c, HkCouplings *list, int64_t first, int64_t end,
                           HkError *error) {
  double E[9] = {0};
  HK_TRY(hk_grow(c, &list->row, &list->row_capacity, list->row_count + 1, sizeof *list->row,
                 "multigrid", error));
  HkCoupledRow *row = &list->row[list->row_count++];
  row->row = list->coupling[first].row;
  for (int64_t e = first; e < end; e++) add_absolute(list->coupling[e].block, E);
  for (int k = 0; k < 9; k++) row->E[k] = (float)E[k];
  return HK_OK;
}

/* Each pair of rows once, by rising rows. */
static void merge(HkCouplings *list) {
  int64_t unique = 0;
  if (list->count) qsort(list->coupling, (size_t)list->count, sizeof *list->coupling, by_place);
  for (int64_t e = 0; e < list->count; e++) {
    const HkCoupling *from = &list->coupling[e];
    HkCoupling *last = unique > 0 ? &list->coupling[unique - 1] : NULL;
    if (!last || by_place(last, from) != 0)
      list->coupling[unique++] = *from;
    else
      for (int k = 0; k < 9; k++) last->block[k] += from->block[k];
  }
  list->count = unique;
}

static HkStatus finish(const HkContext *c, HkCouplings *list, HkError *error) {
  merge(list);
  list->row_count = 0;
  for (int64_t first = 0, end; first < list->count; first = end) {
    for (end = first; end < list->count; end++)
      if (list->coupling[end].row != list->coupling[first].row) break;
    HK_TRY(append_row(c, list, first, end, error));
  }
  return HK_OK;
}

void hk_couplings_destroy(const HkContext *context, HkCouplings *list) {
  hk_free(context, &list->coupling);
  hk_free(context, &list->row);
  *list = (HkCouplings){0};
}

size_t hk_couplings_bytes(const HkCouplings *list) {
  return (size_t)list->capacity * sizeof *list->coupling +
         (size_t)list->row_capacity * sizeof *list->row;
}

/* ---- A new Hessian ---- */

HkStatus hk_couplings_set(const HkMultigrid *m, HkCouplings *list, const HkForceBlocks *blocks,
                          const uint8_t *held, double tau, HkError *error) {
  const HkContext *c = &m->model->context;
  list->count = 0;
  for (int64_t e = 0; e < blocks->count; e++) {
    const HkForceBlock *b = &blocks->block[e];
    float block[9];
    if (b->row == b->column || (held && (held[b->row] || held[b->column]))) continue;
    for (int k = 0; k < 9; k++) block[k] = (float)b->dfdx[k];
    for (int k = 0; k < 9 && m->model->dimension == 2; k++)
      if (k / 3 == 2 || k % 3 == 2) block[k] = 0;
    HK_TRY(append(c, list, m->row[b->row], m->row[b->column], -tau * tau, block, error));
  }
  return finish(c, list, error);
}

/* Where column j stands in row i of a graph, or -1. */
static int32_t find_column(const HkGraph *graph, int32_t i, int32_t j) {
  int32_t low = graph->start[i], high = graph->start[i + 1];
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    if (graph->column[middle] < j)
      low = middle + 1;
    else
      high = middle;
  }
  return low < graph->start[i + 1] && graph->column[low] == j ? low : -1;
}

/* to += weight block; to has three columns of four floats. */
static void add_block(float *to, double weight, const float block[9]) {
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++) to[4 * c + r] += (float)(weight * (double)block[3 * r + c]);
}

/* What the coupling of rows i and j is to the rows I and J of the next level. */
static HkStatus project(const HkContext *context, const HkLevel *coarse, HkCouplings *next,
                        int32_t I, int32_t J, double weight, const float block[9], HkError *error) {
  int32_t at = find_column(&coarse->graph, I, J);
  if (at < 0) return append(context, next, I, J, weight, block, error);
  add_block(coarse->A + 12 * (int64_t)at, weight, block);
  if (I == J) add_block(coarse->D + 12 * (int64_t)I, weight, block);
  return HK_OK;
}

HkStatus hk_couplings_project(const HkContext *context, const HkLevel *level,
                              const HkCouplings *list, const HkLevel *coarse, HkCouplings *next,
                              HkError *error) {
  const HkWeights *P = &level->P;
  next->count = 0;
  for (int64_t e = 0; e < list->count; e++) {
    const HkCoupling *k = &list->coupling[e];
    for (int32_t a = P->start[k->row]; a < P->start[k->row + 1]; a++)
      for (int32_t b = P->start[k->column]; b < P->start[k->column + 1]; b++)
        HK_TRY(project(context, coarse, next, P->column[a], P->column[b],
                       (double)P->weight[a] * (double)P->weight[b], k->block, error));
  }
  return finish(context, next, error);
}

void hk_couplings_add_dense(const HkCouplings *list, int size, double *A) {
  for (int64_t e = 0; e < list->count; e++) {
    const HkCoupling *k = &list->coupling[e];
    for (int entry = 0; entry < 9; entry++) {
      size_t row = (size_t)(3 * k->row + entry / 3), column = (size_t)(3 * k->column + entry % 3);
      A[row * (size_t)size + column] += (double)k->block[entry];
    }
  }
}

/* ---- The cycle ---- */

/* to += sign B from, for one row. */
static void add_product(const float B[9], float sign, const float *from, float *to) {
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++) to[r] += sign * B[3 * r + c] * from[c];
}

void hk_couplings_add_diagonal(const HkCouplings *list, float *D) {
  for (int64_t k = 0; k < list->row_count; k++)
    add_block(D + 12 * (int64_t)list->row[k].row, 1, list->row[k].E);
}

void hk_couplings_residual(const HkCouplings *list, bool first, const float *x, float *r) {
  for (int64_t e = 0; e < list->count; e++) {
    const HkCoupling *k = &list->coupling[e];
    add_product(k->block, -1, x + 4 * (int64_t)k->column, r + 4 * (int64_t)k->row);
  }
  for (int64_t k = 0; k < list->row_count && first; k++) {
    int64_t at = 4 * (int64_t)list->row[k].row;
    add_product(list->row[k].E, 1, x + at, r + at);
  }
}

void hk_couplings_begin_sweep(HkCouplings *list, const float *x, float *b) {
  for (int64_t k = 0; k < list->row_count; k++)
    memcpy(list->row[k].saved, b + 4 * (int64_t)list->row[k].row, sizeof list->row[k].saved);
  hk_couplings_residual(list, true, x, b);
}

void hk_couplings_end_sweep(const HkCouplings *list, float *b) {
  for (int64_t k = 0; k < list->row_count; k++)
    memcpy(b + 4 * (int64_t)list->row[k].row, list->row[k].saved, sizeof list->row[k].saved);
}
