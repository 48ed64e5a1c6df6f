/* P^T A P: which blocks there are, and where each product goes.
 *
 * First A P is formed row by row, then P^T (A P) likewise. For every product the place of its sum
 * in the row is found here, once, so that a new A costs multiplications and no searching.
 */
#include "linear/galerkin.h"

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

static int compare(const void *a, const void *b) {
  int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
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
    qsort(r->list, (size_t)r->count, sizeof *r->list, compare);
    memcpy(AP->column + AP->start[i], r->list, (size_t)r->count * sizeof *r->list);
  }
  return HK_OK;
}

/* The columns of row I of P^T A P; the diagonal always. */
static void coarse_row(const HkWeights *T, const Product *AP, int32_t I, Row *r) {
  r->count = 0;
  add(r, I, I);
  for (int32_t t = T->start[I]; t < T->start[I + 1]; t++)
    for (int64_t q = AP->start[T->column[t]]; q < AP->start[T->column[t] + 1]; q++)
      add(r, I, AP->column[q]);
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
    qsort(r->list, (size_t)r->count, sizeof *r->list, compare);
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

/* ---- Places ---- */

static HkStatus place_AP(const HkContext *c, const HkGraph *g, const HkWeights *P,
                         const Product *AP, int32_t *at, HkGalerkin *k, HkError *error) {
  HK_TRY(hk_alloc(c, &k->use, (int64_t)g->n + 1, sizeof *k->use, "multigrid", error));
  for (int32_t i = 0; i < g->n; i++) {
    k->use[i + 1] = k->use[i];
    for (int32_t e = g->start[i]; e < g->start[i + 1]; e++)
      k->use[i + 1] += P->start[g->column[e] + 1] - P->start[g->column[e]];
  }
  HK_TRY(hk_alloc(c, &k->place, k->use[g->n], sizeof *k->place, "multigrid", error));
  for (int32_t i = 0; i < g->n; i++) {
    int64_t to = k->use[i];
    for (int64_t q = AP->start[i]; q < AP->start[i + 1]; q++)
      at[AP->column[q]] = (int32_t)(q - AP->start[i]);
    for (int32_t e = g->start[i]; e < g->start[i + 1]; e++)
      for (int32_t p = P->start[g->column[e]]; p < P->start[g->column[e] + 1]; p++)
        k->place[to++] = (uint16_t)at[P->column[p]];
  }
  return HK_OK;
}

static HkStatus place_coarse(const HkContext *c, const Product *AP, const HkGraph *coarse,
                             int32_t *at, HkGalerkin *k, HkError *error) {
  const HkWeights *T = &k->T;
  HK_TRY(hk_alloc(c, &k->coarse_use, (int64_t)coarse->n + 1, sizeof *k->coarse_use, "multigrid",
                  error));
  for (int32_t I = 0; I < coarse->n; I++) {
    k->coarse_use[I + 1] = k->coarse_use[I];
    for (int32_t t = T->start[I]; t < T->start[I + 1]; t++)
      k->coarse_use[I + 1] += AP->start[T->column[t] + 1] - AP->start[T->column[t]];
  }
  HK_TRY(hk_alloc(c, &k->coarse_place, k->coarse_use[coarse->n], sizeof *k->coarse_place,
                  "multigrid", error));
  for (int32_t I = 0; I < coarse->n; I++) {
    int64_t to = k->coarse_use[I];
    for (int32_t e = coarse->start[I]; e < coarse->start[I + 1]; e++)
      at[coarse->column[e]] = e - coarse->start[I];
    for (int32_t t = T->start[I]; t < T->start[I + 1]; t++)
      for (int64_t q = AP->start[T->column[t]]; q < AP->start[T->column[t] + 1]; q++)
        k->coarse_place[to++] = (uint16_t)at[AP->column[q]];
  }
  return HK_OK;
}

static HkStatus check_width(const HkGraph *g, const Product *AP, const HkGraph *coarse,
                            HkGalerkin *k, HkError *error) {
  int64_t widest = 0;
  for (int32_t i = 0; i < g->n; i++)
    if (AP->start[i + 1] - AP->start[i] > widest) widest = AP->start[i + 1] - AP->start[i];
  for (int32_t I = 0; I < coarse->n; I++)
    if (coarse->start[I + 1] - coarse->start[I] > widest)
      widest = coarse->start[I + 1] - coarse->start[I];
  k->widest = (int)widest;
  if (widest <= HK_GALERKIN_WIDEST) return HK_OK;
  return hk_fail(error, HK_ERROR_UNSUPPORTED,
                 "a vertex has too many neighbours (%lld) for the preconditioner 'multigrid'; "
                 "choose 'ic0' or 'block_jacobi'",
                 (long long)widest);
}

static HkStatus make(const HkContext *c, const HkGraph *g, const HkWeights *P,
                     const HkGraph *coarse, Row *r, Product *AP, HkGalerkin *k, HkError *error) {
  HK_TRY(make_row(c, r, P->columns, error));
  HK_TRY(hk_weights_transpose(c, P, &k->T, error));
  HK_TRY(find_AP(c, g, P, r, AP, error));
  HK_TRY(check_width(g, AP, coarse, k, error));
  HK_TRY(place_AP(c, g, P, AP, r->place, k, error));
  HK_TRY(place_coarse(c, AP, coarse, r->place, k, error));
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
  hk_free(c, &k->use);
  hk_free(c, &k->place);
  hk_free(c, &k->coarse_use);
  hk_free(c, &k->coarse_place);
  hk_free(c, &k->memory);
}

size_t hk_galerkin_bytes(const HkGraph *g, const HkGraph *coarse, const HkGalerkin *k) {
  return (size_t)(12 * k->row[g->n]) * sizeof *k->AP +
         (size_t)(k->use[g->n] + k->coarse_use[coarse->n]) * sizeof *k->place +
         (size_t)(2 * g->n + coarse->n) * sizeof *k->use +
         (size_t)k->T.start[k->T.rows] * (sizeof *k->T.column + sizeof *k->T.weight) +
         (size_t)k->T.rows * sizeof *k->T.start;
}
