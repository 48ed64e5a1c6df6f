/* P^T A P: which blocks there are, and of which products each is the sum.
 *
 * First A P is formed block by block, then P^T (A P) likewise. The products are listed here, once,
 * so that a new A costs multiplications that are summed up in registers, and no searching.
 */
#include "linear/galerkin.h"

#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

void hk_graph_destroy(const HkContext *c, HkGraph *g) {
  hk_free(c, &g->start);
  hk_free(c, &g->column);
  *g = (HkGraph){0};
}

void hk_weights_destroy(const HkContext *c, HkWeights *w) {
  hk_free(c, &w->start);
  hk_free(c, &w->column);
  hk_free(c, &w->weight);
  *w = (HkWeights){0};
}

size_t hk_weights_bytes(const HkWeights *w) {
  if (!w->start) return 0;
  return (size_t)(w->rows + 1) * sizeof *w->start +
         (size_t)w->start[w->rows] * (sizeof *w->column + sizeof *w->weight);
}

HkStatus hk_weights_transpose(const HkContext *c, const HkWeights *P, HkWeights *T,
                              HkError *error) {
  int32_t entries = P->start[P->rows];
  T->rows = P->columns;
  T->columns = P->rows;
  HK_TRY(hk_alloc(c, &T->start, (int64_t)T->rows + 1, sizeof *T->start, "multigrid", error));
  HK_TRY(hk_alloc(c, &T->column, entries, sizeof *T->column, "multigrid", error));
  HK_TRY(hk_alloc(c, &T->weight, entries, sizeof *T->weight, "multigrid", error));
  for (int32_t e = 0; e < entries; e++) T->start[P->column[e] + 1]++;
  for (int32_t I = 0; I < T->rows; I++) T->start[I + 1] += T->start[I];
  for (int32_t i = 0; i < P->rows; i++)
    for (int32_t e = P->start[i]; e < P->start[i + 1]; e++) {
      int32_t to = T->start[P->column[e]]++;
      T->column[to] = i;
      T->weight[to] = P->weight[e];
    }
  for (int32_t I = T->rows; I > 0; I--) T->start[I] = T->start[I - 1];
  T->start[0] = 0;
  return HK_OK;
}

/* A list of different numbers, for one row after the other. */
typedef struct Row {
  int32_t *mark; /* the row that has the number last, plus 1 */
  int32_t *place;
  int32_t *list;
  int32_t count;
} Row;

static void add(Row *r, int32_t row, int32_t number) {
  if (r->mark[number] == row + 1) return;
  r->mark[number] = row + 1;
  r->list[r->count++] = number;
}

static HkStatus make_row(const HkContext *c, Row *r, int64_t numbers, HkError *error) {
  HK_TRY(hk_alloc(c, &r->mark, numbers, sizeof *r->mark, "multigrid", error));
  HK_TRY(hk_alloc(c, &r->place, numbers, sizeof *r->place, "multigrid", error));
  return hk_alloc(c, &r->list, numbers, sizeof *r->list, "multigrid", error);
}

static void clear_row(const HkContext *c, Row *r) {
  hk_free(c, &r->mark);
  hk_free(c, &r->place);
  hk_free(c, &r->list);
}

/* The columns of row i of A P. */
static void row_of_AP(const HkGraph *g, const HkWeights *P, int32_t i, Row *r) {
  r->count = 0;
  for (int32_t e = g->start[i]; e < g->start[i + 1]; e++)
    for (int32_t p = P->start[g->column[e]]; p < P->start[g->column[e] + 1]; p++)
      add(r, i, P->column[p]);
}

/* ---- A P ---- */

typedef struct Product { /* the pattern of A P */
  int64_t *start;
  int32_t *column;
} Product;

static HkStatus find_AP(const HkContext *c, const HkGraph *g, const HkWeights *P, Row *r,
                        Product *AP, HkError *error) {
  HK_TRY(hk_alloc(c, &AP->start, (int64_t)g->n + 1, sizeof *AP->start, "multigrid", error));
  memset(r->mark, 0, (size_t)P->columns * sizeof *r->mark);
  for (int32_t i = 0; i < g->n; i++) {
    row_of_AP(g, P, i, r);
    AP->start[i + 1] = AP->start[i] + r->count;
  }
  HK_TRY(hk_alloc(c, &AP->column, AP->start[g->n], sizeof *AP->column, "multigrid", error));
  memset(r->mark, 0, (size_t)P->columns * sizeof *r->mark);
  for (int32_t i = 0; i < g->n; i++) {
    row_of_AP(g, P, i, r);
    hk_sort_int32(r->list, r->count);
    memcpy(AP->column + AP->start[i], r->list, (size_t)r->count * sizeof *r->list);
  }
  return HK_OK;
}

/* The columns of row I of P^T A P; the diagonal always. */
static void coarse_row(const HkWeights *T, const Product *AP, int32_t I, Row *r) {
  r->count = 0;
  add(r, I, I);
  for (int32_t t = T->start[I]; t < T->start[I + 1]; t++)
    for (int64_t e = AP->start[T->column[t]]; e < AP->start[T->column[t] + 1]; e++)
      add(r, I, AP->column[e]);
}

static HkStatus find_coarse(const HkContext *c, const HkWeights *T, const Product *AP, Row *r,
                            HkGraph *coarse, HkError *error) {
  coarse->n = T->rows;
  HK_TRY(
      hk_alloc(c, &coarse->start, (int64_t)T->rows + 1, sizeof *coarse->start, "multigrid", error));
  memset(r->mark, 0, (size_t)T->rows * sizeof *r->mark);
  for (int32_t I = 0; I < T->rows; I++) {
    coarse_row(T, AP, I, r);
    coarse->start[I + 1] = coarse->start[I] + r->count;
  }
  HK_TRY(hk_alloc(c, &coarse->column, coarse->start[T->rows], sizeof *coarse->column, "multigrid",
                  error));
  memset(r->mark, 0, (size_t)T->rows * sizeof *r->mark);
  for (int32_t I = 0; I < T->rows; I++) {
    coarse_row(T, AP, I, r);
    hk_sort_int32(r->list, r->count);
    memcpy(coarse->column + coarse->start[I], r->list, (size_t)r->count * sizeof *r->list);
  }
  return HK_OK;
}

HkStatus hk_galerkin_pattern(const HkContext *c, const HkGraph *g, const HkWeights *P,
                             HkGraph *coarse, HkError *error) {
  Row r = {0};
  Product AP = {0};
  HkWeights T = {0};
  HkStatus status = make_row(c, &r, P->columns, error);
  if (status >= 0) status = hk_weights_transpose(c, P, &T, error);
  if (status >= 0) status = find_AP(c, g, P, &r, &AP, error);
  if (status >= 0) status = find_coarse(c, &T, &AP, &r, coarse, error);
  clear_row(c, &r);
  hk_free(c, &AP.start);
  hk_free(c, &AP.column);
  hk_weights_destroy(c, &T);
  return status;
}

/* ---- Products ---- */

/* Turns counts of products into where they begin. */
static void accumulate(int64_t *term, int64_t count) {
  int64_t sum = 0;
  for (int64_t k = 0; k <= count; k++) {
    int64_t own = k < count ? term[k] : 0;
    term[k] = sum;
    sum += own;
  }
}

/* After a list was filled at term[k]++: moves the starts back by one. */
static void step_back(int64_t *term, int64_t count) {
  for (int64_t k = count; k > 0; k--) term[k] = term[k - 1];
  term[0] = 0;
}

static HkStatus list_AP(const HkContext *c, const HkGraph *g, const HkWeights *P, const Product *AP,
                        int32_t *at, HkGalerkin *k, HkError *error) {
  int64_t blocks = AP->start[g->n];
  HK_TRY(hk_alloc(c, &k->term, blocks + 1, sizeof *k->term, "multigrid", error));
  for (int pass = 0; pass < 2; pass++) {
    for (int32_t i = 0; i < g->n; i++) {
      for (int64_t e = AP->start[i]; e < AP->start[i + 1]; e++)
        at[AP->column[e]] = (int32_t)(e - AP->start[i]);
      for (int32_t e = g->start[i]; e < g->start[i + 1]; e++)
        for (int32_t p = P->start[g->column[e]]; p < P->start[g->column[e] + 1]; p++) {
          int64_t to = k->term[AP->start[i] + at[P->column[p]]]++;
          if (pass == 0) continue;
          k->block[to] = (uint16_t)(e - g->start[i]);
          k->weight[to] = P->weight[p];
        }
    }
    if (pass == 1) break;
    accumulate(k->term, blocks);
    HK_TRY(hk_alloc(c, &k->block, k->term[blocks], sizeof *k->block, "multigrid", error));
    HK_TRY(hk_alloc(c, &k->weight, k->term[blocks], sizeof *k->weight, "multigrid", error));
  }
  step_back(k->term, blocks);
  return HK_OK;
}

static HkStatus list_coarse(const HkContext *c, const Product *AP, const HkGraph *coarse,
                            int32_t *at, HkGalerkin *k, HkError *error) {
  const HkWeights *T = &k->T;
  int64_t blocks = coarse->start[coarse->n];
  HK_TRY(hk_alloc(c, &k->coarse_term, blocks + 1, sizeof *k->coarse_term, "multigrid", error));
  for (int pass = 0; pass < 2; pass++) {
    for (int32_t I = 0; I < coarse->n; I++) {
      for (int32_t e = coarse->start[I]; e < coarse->start[I + 1]; e++) at[coarse->column[e]] = e;
      for (int32_t t = T->start[I]; t < T->start[I + 1]; t++)
        for (int64_t e = AP->start[T->column[t]]; e < AP->start[T->column[t] + 1]; e++) {
          int64_t to = k->coarse_term[at[AP->column[e]]]++;
          if (pass == 0) continue;
          k->coarse_block[to] = (int32_t)e;
          k->coarse_weight[to] = T->weight[t];
        }
    }
    if (pass == 1) break;
    accumulate(k->coarse_term, blocks);
    int64_t products = k->coarse_term[blocks];
    HK_TRY(hk_alloc(c, &k->coarse_block, products, sizeof *k->coarse_block, "multigrid", error));
    HK_TRY(hk_alloc(c, &k->coarse_weight, products, sizeof *k->coarse_weight, "multigrid", error));
  }
  step_back(k->coarse_term, blocks);
  return HK_OK;
}

static HkStatus check_width(const HkGraph *g, const Product *AP, HkError *error) {
  int64_t widest = 0;
  for (int32_t i = 0; i < g->n; i++)
    if (g->start[i + 1] - g->start[i] > widest) widest = g->start[i + 1] - g->start[i];
  if (widest > HK_GALERKIN_ROW_BLOCKS_MAX)
    return hk_fail(error, HK_ERROR_UNSUPPORTED,
                   "a vertex has too many neighbors (%lld) for the preconditioner 'multigrid'; "
                   "choose 'ic0' or 'block_jacobi'",
                   (long long)widest);
  if (AP->start[g->n] > INT32_MAX)
    return hk_fail(error, HK_ERROR_UNSUPPORTED,
                   "there are too many springs for the preconditioner 'multigrid'; choose "
                   "'block_jacobi'");
  return HK_OK;
}

static HkStatus make(const HkContext *c, const HkGraph *g, const HkWeights *P,
                     const HkGraph *coarse, Row *r, Product *AP, HkGalerkin *k, HkError *error) {
  HK_TRY(make_row(c, r, P->columns, error));
  HK_TRY(hk_weights_transpose(c, P, &k->T, error));
  HK_TRY(find_AP(c, g, P, r, AP, error));
  HK_TRY(check_width(g, AP, error));
  HK_TRY(list_AP(c, g, P, AP, r->place, k, error));
  HK_TRY(list_coarse(c, AP, coarse, r->place, k, error));
  k->row = AP->start;
  AP->start = NULL;
  return hk_alloc_aligned(c, &k->memory, &k->AP, 12 * k->row[g->n] + 4, sizeof *k->AP, "multigrid",
                          error);
}

HkStatus hk_galerkin_create(const HkContext *c, const HkGraph *g, const HkWeights *P,
                            const HkGraph *coarse, HkGalerkin *k, HkError *error) {
  Row r = {0};
  Product AP = {0};
  HkStatus status = make(c, g, P, coarse, &r, &AP, k, error);
  clear_row(c, &r);
  hk_free(c, &AP.start);
  hk_free(c, &AP.column);
  return status;
}

void hk_galerkin_destroy(const HkContext *c, HkGalerkin *k) {
  hk_weights_destroy(c, &k->T);
  hk_free(c, &k->row);
  hk_free(c, &k->term);
  hk_free(c, &k->block);
  hk_free(c, &k->weight);
  hk_free(c, &k->coarse_term);
  hk_free(c, &k->coarse_block);
  hk_free(c, &k->coarse_weight);
  hk_free(c, &k->memory);
}

size_t hk_galerkin_bytes(const HkGraph *g, const HkGraph *coarse, const HkGalerkin *k) {
  int64_t blocks = k->row[g->n], coarse_blocks = coarse->start[coarse->n];
  return hk_aligned_bytes(12 * blocks + 4, sizeof *k->AP) +
         (size_t)(g->n + blocks + coarse_blocks + 3) * sizeof *k->row +
         (size_t)k->term[blocks] * (sizeof *k->block + sizeof *k->weight) +
         (size_t)k->coarse_term[coarse_blocks] *
             (sizeof *k->coarse_block + sizeof *k->coarse_weight) +
         hk_weights_bytes(&k->T);
}
