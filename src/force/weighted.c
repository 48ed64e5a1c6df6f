/* Hessian terms of weighted sums; see weighted.h. */
#include "force/weighted.h"

#include "base/lists.h"
#include "base/threads.h"
#include "base/vec.h"

#include <string.h>

enum { TERM_GRAIN = 512, VERTEX_GRAIN = 256 };
/* int32_t counts three vectors of four vertices for each term (linear/term_rows.h). */
enum { TERMS_MAX = INT32_MAX / 12 };

/* Doubles of y a term. */
static int64_t y_size(const HkWeightedTerms *w) {
  return w->curved ? 12 : 3;
}

/* ---- Lists ---- */

HkStatus hk_weighted_append(HkWeightedTerms *w, const HkModel *m, int64_t count, bool curved,
                            HkWeightedTerm **first, HkWeightedCurvature **curvature,
                            HkError *error) {
  const HkContext *c = &m->context;
  HK_ASSERT(w->count == 0 || w->curved == curved);
  if (w->count + count > TERMS_MAX)
    return hk_fail(error, HK_ERROR_MEMORY, "there are more than %d contacts", TERMS_MAX);
  HK_TRY(hk_grow(c, &w->term, &w->capacity, w->count + count, sizeof *w->term, "blocks of forces",
                 error));
  if (curved)
    HK_TRY(hk_grow(c, &w->curvature, &w->curvature_capacity, w->count + count, sizeof *w->curvature,
                   "blocks of forces", error));
  w->curved = curved;
  *first = count > 0 ? w->term + w->count : NULL;
  *curvature = count > 0 && curved ? w->curvature + w->count : NULL;
  w->count += count;
  return HK_OK;
}

static HkStatus grow_lists(HkWeightedTerms *w, const HkModel *m, HkError *error) {
  const HkContext *c = &m->context;
  HK_TRY(hk_grow(c, &w->vertex, &w->vertex_capacity, m->n, sizeof *w->vertex, "blocks of forces",
                 error));
  HK_TRY(hk_grow(c, &w->start, &w->start_capacity, m->n + 2, sizeof *w->start, "blocks of forces",
                 error));
  HK_TRY(
      hk_grow(c, &w->at, &w->at_capacity, 4 * w->count, sizeof *w->at, "blocks of forces", error));
  return hk_grow(c, &w->y, &w->y_capacity, y_size(w) * w->count, sizeof *w->y, "blocks of forces",
                 error);
}

static int64_t vertex_of(const void *user, int64_t entry) {
  const HkWeightedTerm *term = &((const HkWeightedTerms *)user)->term[entry / 4];
  return term->weight[entry % 4] != 0 ? term->vertex[entry % 4] : -1;
}

/* start is first that of all vertices, then of those that have terms. */
HkStatus hk_weighted_finish(HkWeightedTerms *w, const HkModel *m, HkError *error) {
  w->vertex_count = 0;
  if (w->count == 0) return HK_OK;
  HK_TRY(grow_lists(w, m, error));
  int64_t *start = w->start;
  hk_lists_make(m->threads, 4 * w->count, m->n, vertex_of, w, start, w->at);
  for (int64_t i = 0; i < m->n; i++) {
    if (start[i] == start[i + 1]) continue;
    start[w->vertex_count] = start[i];
    w->vertex[w->vertex_count++] = (int32_t)i;
  }
  start[w->vertex_count] = start[m->n];
  return HK_OK;
}

void hk_weighted_destroy(const HkModel *m, HkWeightedTerms *w) {
  const HkContext *c = &m->context;
  void *arrays[] = {&w->term, &w->curvature, &w->vertex, &w->start, &w->at, &w->y};
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) hk_free(c, arrays[k]);
  *w = (HkWeightedTerms){0};
}

size_t hk_weighted_bytes(const HkWeightedTerms *w) {
  return (size_t)w->capacity * sizeof *w->term +
         (size_t)w->curvature_capacity * sizeof *w->curvature +
         (size_t)w->vertex_capacity * sizeof *w->vertex +
         (size_t)w->start_capacity * sizeof *w->start + (size_t)w->at_capacity * sizeof *w->at +
         (size_t)w->y_capacity * sizeof *w->y;
}

/* ---- Products ---- */

typedef struct Product {
  const HkWeightedTerms *w;
  const uint8_t *held;
  const double *p;
  double scale, *out;
} Product;

/* y = K u */
static void multiply(const double K[6], const double u[3], double y[3]) {
  y[0] = K[0] * u[0] + K[1] * u[1] + K[2] * u[2];
  y[1] = K[1] * u[0] + K[3] * u[1] + K[4] * u[2];
  y[2] = K[2] * u[0] + K[4] * u[1] + K[5] * u[2];
}

/* y_a = w_a (K + c (I - K / trace K)) u + sum of q_a (q . p) */
static void multiply_curved(const HkWeightedTerm *term, const HkWeightedCurvature *curvature,
                            const double u[3], const double p[12], double y[12]) {
  const double *K = term->K;
  double trace = K[0] + K[3] + K[5], c = curvature->across;
  double along = trace > 0 ? 1 - c / trace : 1, Ku[3], product[2] = {0, 0};
  multiply(K, u, Ku);
  for (int q = 0; q < 3; q++) Ku[q] = along * Ku[q] + c * u[q];
  for (int k = 0; k < 12; k++) {
    product[0] += curvature->q[0][k] * p[k];
    product[1] += curvature->q[1][k] * p[k];
  }
  for (int k = 0; k < 12; k++)
    y[k] = term->weight[k / 3] * Ku[k % 3] + curvature->q[0][k] * product[0] +
           curvature->q[1][k] * product[1];
}

static void term_range(void *user, int64_t begin, int64_t end) {
  const Product *a = user;
  const HkWeightedTerms *w = a->w;
  for (int64_t t = begin; t < end; t++) {
    const HkWeightedTerm *term = &w->term[t];
    double u[3] = {0, 0, 0}, p[12] = {0}, *y = w->y + y_size(w) * t;
    for (int k = 0; k < 4; k++) {
      int64_t i = term->vertex[k];
      if (term->weight[k] == 0 || (a->held && a->held[i])) continue;
      hk_axpy(term->weight[k], a->p + 3 * i, u);
      if (w->curved) memcpy(p + 3 * k, a->p + 3 * i, 3 * sizeof *p);
    }
    if (w->curved)
      multiply_curved(term, &w->curvature[t], u, p, y);
    else
      multiply(term->K, u, y);
  }
}

static void vertex_range(void *user, int64_t begin, int64_t end) {
  const Product *a = user;
  const HkWeightedTerms *w = a->w;
  for (int64_t k = begin; k < end; k++) {
    int64_t i = w->vertex[k];
    double sum[3] = {0, 0, 0};
    if (a->held && a->held[i]) continue;
    for (int64_t e = w->start[k]; e < w->start[k + 1]; e++) {
      int64_t t = w->at[e] / 4;
      if (w->curved)
        hk_axpy(1, w->y + 3 * (int64_t)w->at[e], sum);
      else
        hk_axpy(w->term[t].weight[w->at[e] % 4], w->y + 3 * t, sum);
    }
    hk_axpy(a->scale, sum, a->out + 3 * i);
  }
}

void hk_weighted_product(const HkWeightedTerms *w, int threads, const uint8_t *held, double scale,
                         const double *p, double *out) {
  Product a = {w, held, p, scale, out};
  hk_parallel_work(threads, w->count, TERM_GRAIN, term_range, &a);
  hk_parallel_work(threads, w->vertex_count, VERTEX_GRAIN, vertex_range, &a);
}

void hk_weighted_block(const HkWeightedTerms *w, int64_t t, int a, int b, double block[9]) {
  static const int place[9] = {0, 1, 2, 1, 3, 4, 2, 4, 5};
  const HkWeightedTerm *term = &w->term[t];
  const double *K = term->K;
  double both = term->weight[a] * term->weight[b], trace = K[0] + K[3] + K[5];
  const HkWeightedCurvature *curvature = w->curved ? &w->curvature[t] : NULL;
  double c = curvature ? curvature->across : 0, along = trace > 0 ? 1 - c / trace : 1;
  for (int k = 0; k < 9; k++) {
    block[k] = both * (along * K[place[k]] + (k % 4 == 0 ? c : 0));
    for (int v = 0; v < 2 && curvature; v++)
      block[k] += curvature->q[v][3 * a + k / 3] * curvature->q[v][3 * b + k % 3];
  }
}
