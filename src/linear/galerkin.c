/* P^T A P: which blocks there are, and of which products each is the sum.
 *
 * First A P is formed block by block, then P^T (A P) likewise. The products are listed here, once,
 * so that a new A costs multiplications that are summed up in registers, and no searching.
 */
#include "linear/galerkin.h"

#include "base/sort.h"

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
  int32_t *list;
  int32_t count;
} Row;

static void add(Row *r, int32_t row, int32_t number) {
  if (r->mark[number] == row + 1) return;
  r->mark[number] = row + 1;
  r->list[r->count++] = number;
}

/* The pattern of A P. */
typedef struct Product {
  int64_t *start;
  int32_t *column;
} Product;

/* Rows of a product in shares, each with a list of its own; threads work on shares. */
typedef struct Pattern {
  const HkContext *context;
  int threads;
  const HkGraph *graph;
  const HkWeights *P, *T;
  Product AP;
  void (*find)(const struct Pattern *p, int32_t row, Row *r);
  int32_t rows; /* of the product */
  int shares;
  Row *share;
  int64_t *start;  /* rows + 1, of the product */
  int32_t *column; /* of the product; NULL: rows are counted */
} Pattern;

static void share_task(void *user, int task) {
  const Pattern *p = user;
  Row *r = &p->share[task];
  int64_t begin = (int64_t)p->rows * task / p->shares;
  int64_t end = (int64_t)p->rows * (task + 1) / p->shares;
  memset(r->mark, 0, (size_t)p->P->columns * sizeof *r->mark);
  for (int32_t i = (int32_t)begin; i < (int32_t)end; i++) {
    r->count = 0;
    p->find(p, i, r);
    if (!p->column) {
      p->start[i + 1] = r->count;
      continue;
    }
    hk_sort_short_int32(r->list, r->count);
    memcpy(p->column + p->start[i], r->list, (size_t)r->count * sizeof *r->list);
  }
}

/* Finds a product in two passes: the first counts, the second writes. */
static HkStatus find_product(Pattern *p, int32_t rows, Product *product, HkError *error) {
  const HkContext *c = p->context;
  p->rows = rows;
  p->column = NULL;
  HK_TRY(
      hk_alloc(c, &product->start, (int64_t)rows + 1, sizeof *product->start, "multigrid", error));
  p->start = product->start;
  hk_parallel_tasks(p->threads, p->shares, share_task, p);
  for (int32_t i = 0; i < rows; i++) p->start[i + 1] += p->start[i];
  HK_TRY(hk_alloc_unset(c, &product->column, p->start[rows], sizeof *product->column, "multigrid",
                        error));
  p->column = product->column;
  if (p->column) hk_parallel_tasks(p->threads, p->shares, share_task, p);
  return HK_OK;
}

static HkStatus make_shares(Pattern *p, HkError *error) {
  enum { SHARE_MIN_ROWS = 4096, MAX_SHARES = 16 };
  const HkContext *c = p->context;
  int most = p->threads < MAX_SHARES ? p->threads : MAX_SHARES;
  p->shares = p->graph->n / SHARE_MIN_ROWS + 1 < most ? p->graph->n / SHARE_MIN_ROWS + 1 : most;
  HK_TRY(hk_alloc(c, &p->share, p->shares, sizeof *p->share, "multigrid", error));
  for (int k = 0; k < p->shares; k++) {
    Row *r = &p->share[k];
    HK_TRY(hk_alloc_unset(c, &r->mark, p->P->columns, sizeof *r->mark, "multigrid", error));
    HK_TRY(hk_alloc_unset(c, &r->list, p->P->columns, sizeof *r->list, "multigrid", error));
  }
  return HK_OK;
}

static void clear_shares(Pattern *p) {
  for (int k = 0; p->share && k < p->shares; k++) {
    hk_free(p->context, &p->share[k].mark);
    hk_free(p->context, &p->share[k].list);
  }
  hk_free(p->context, &p->share);
}

/* The columns of row i of A P. */
static void row_of_AP(const Pattern *p, int32_t i, Row *r) {
  const HkGraph *g = p->graph;
  for (int32_t e = g->start[i]; e < g->start[i + 1]; e++)
    for (int32_t q = p->P->start[g->column[e]]; q < p->P->start[g->column[e] + 1]; q++)
      add(r, i, p->P->column[q]);
}

static HkStatus find_AP(const HkContext *c, int threads, const HkGraph *g, const HkWeights *P,
                        Product *AP, HkError *error) {
  Pattern p = {.context = c, .threads = threads, .graph = g, .P = P, .find = row_of_AP};
  HkStatus status = make_shares(&p, error);
  if (status >= 0) status = find_product(&p, g->n, AP, error);
  clear_shares(&p);
  return status;
}

/* The columns of row I of P^T A P; the diagonal always. */
static void coarse_row(const Pattern *p, int32_t I, Row *r) {
  const HkWeights *T = p->T;
  add(r, I, I);
  for (int32_t t = T->start[I]; t < T->start[I + 1]; t++)
    for (int64_t e = p->AP.start[T->column[t]]; e < p->AP.start[T->column[t] + 1]; e++)
      add(r, I, p->AP.column[e]);
}

static HkStatus find_coarse(const HkContext *c, int threads, const HkGraph *g, const HkWeights *P,
                            const HkWeights *T, const Product *AP, Product *coarse,
                            HkError *error) {
  Pattern p = {
      .context = c, .threads = threads, .graph = g, .P = P, .T = T, .AP = *AP, .find = coarse_row};
  HkStatus status = make_shares(&p, error);
  if (status >= 0) status = find_product(&p, T->rows, coarse, error);
  clear_shares(&p);
  return status;
}

/* The graph of a product, whose starts become numbers of 32 bits. */
static HkStatus graph_of(const HkContext *c, Product *product, int32_t rows, HkGraph *graph,
                         HkError *error) {
  if (product->start[rows] > INT32_MAX)
    return hk_fail(error, HK_ERROR_UNSUPPORTED,
                   "a coarse level has too many blocks for the preconditioner 'multigrid'; choose "
                   "'block_jacobi'");
  graph->n = rows;
  HK_TRY(hk_alloc(c, &graph->start, (int64_t)rows + 1, sizeof *graph->start, "multigrid", error));
  for (int32_t I = 0; I <= rows; I++) graph->start[I] = (int32_t)product->start[I];
  graph->column = product->column;
  product->column = NULL;
  return HK_OK;
}

HkStatus hk_galerkin_pattern(const HkContext *c, int threads, const HkGraph *g, const HkWeights *P,
                             HkGraph *coarse, HkError *error) {
  Product AP = {0}, product = {0};
  HkWeights T = {0};
  HkStatus status = hk_weights_transpose(c, P, &T, error);
  if (status >= 0) status = find_AP(c, threads, g, P, &AP, error);
  if (status >= 0) status = find_coarse(c, threads, g, P, &T, &AP, &product, error);
  if (status >= 0) status = graph_of(c, &product, T.rows, coarse, error);
  hk_free(c, &AP.start);
  hk_free(c, &AP.column);
  hk_free(c, &product.start);
  hk_free(c, &product.column);
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

static HkStatus make(const HkContext *c, int threads, const HkGraph *g, const HkWeights *P,
                     const HkGraph *coarse, int32_t **at, Product *AP, HkGalerkin *k,
                     HkError *error) {
  HK_TRY(hk_alloc(c, at, P->columns, sizeof **at, "multigrid", error));
  HK_TRY(hk_weights_transpose(c, P, &k->T, error));
  HK_TRY(find_AP(c, threads, g, P, AP, error));
  HK_TRY(check_width(g, AP, error));
  HK_TRY(list_AP(c, g, P, AP, *at, k, error));
  HK_TRY(list_coarse(c, AP, coarse, *at, k, error));
  k->row = AP->start;
  AP->start = NULL;
  return hk_alloc_aligned(c, &k->memory, &k->AP, 12 * k->row[g->n] + 4, sizeof *k->AP, "multigrid",
                          error);
}

HkStatus hk_galerkin_create(const HkContext *c, int threads, const HkGraph *g, const HkWeights *P,
                            const HkGraph *coarse, HkGalerkin *k, HkError *error) {
  int32_t *at = NULL;
  Product AP = {0};
  HkStatus status = make(c, threads, g, P, coarse, &at, &AP, k, error);
  hk_free(c, &at);
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
