/* Weighted terms by vertices, in single precision; see term_rows.h. */
#include "linear/term_rows.h"

#include "base/isa.h"
#include "base/threads.h"

#include <math.h>
#include <string.h>

enum { TERM_GRAIN = 1024, VERTEX_GRAIN = 128, PIECE_DOUBLES = 5 };

static const char WHAT[] = "the Hessian";

HK_KERNEL_TABLE(HkTermKernels, hk_term_kernels)

/* ---- Pieces ---- */

typedef struct Make {
  HkTermRows *rows;
  const uint8_t *held;
  bool flat; /* two dimensions */
} Make;

/* Splits K (xx, xy, xz, yy, yz, zz) into d d^T by Cholesky's method with pivots, and returns how
 * many d there are, `most` at most. What is left in the end is below the rounding of floats. */
static int split(const double K[6], int most, double d[3][3]) {
  static const int place[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
  const double ROUNDING = 1e-9;
  double rest[6], least = ROUNDING * (K[0] + K[3] + K[5]);
  memcpy(rest, K, sizeof rest);
  int rank = 0;
  for (; rank < most; rank++) {
    int p = rest[0] >= rest[3] ? 0 : 1;
    if (rest[5] > rest[place[p][p]]) p = 2;
    if (!(rest[place[p][p]] > least)) break;
    double scale = 1 / sqrt(rest[place[p][p]]), *to = d[rank];
    for (int c = 0; c < 3; c++) to[c] = scale * rest[place[p][c]];
    if (rank + 1 == most) return most;
    for (int i = 0, at = 0; i < 3; i++)
      for (int j = i; j < 3; j++) rest[at++] -= to[i] * to[j];
  }
  return rank;
}

/* K = d d^T for its largest diagonal entry, as that of a barrier. */
static bool has_rank_one(const double K[6]) {
  const double ROUNDING = 1e-9;
  double trace = K[0] + K[3] + K[5], least = ROUNDING * trace * trace;
  return trace > 0 && fabs(K[0] * K[3] - K[1] * K[1]) <= least &&
         fabs(K[0] * K[5] - K[2] * K[2]) <= least && fabs(K[3] * K[5] - K[4] * K[4]) <= least;
}

/* What the rows need to know of a term: which of its vertices has more than one entry for a piece,
 * and how many. The first vertex with a weight also has the entries of those without, so that all
 * parts are written. 255: no vertex has a weight that floats hold. */
static uint8_t entries_of(const HkWeightedTerm *term) {
  int without = 0, first = 4;
  for (int k = 3; k >= 0; k--) {
    bool none = (float)term->weight[k] == 0;
    without += none;
    if (!none) first = k;
  }
  if (without == 4) return 255;
  return (uint8_t)(without > 0 ? 4 * (without + 1) + first : 0);
}

static int entry_count(uint8_t entries, int place) {
  return entries > 0 && entries % 4 == place ? entries / 4 : 1;
}

static void rank_range(void *user, int64_t begin, int64_t end) {
  const Make *a = user;
  double d[3][3];
  for (int64_t t = begin; t < end; t++) {
    const HkWeightedTerm *term = &a->rows->terms->term[t];
    a->rows->entries[t] = entries_of(term);
    a->rows->first[t + 1] = has_rank_one(term->K) ? 1 : split(term->K, 3, d);
    if (a->rows->entries[t] == 255) a->rows->first[t + 1] = 0;
  }
}

static void piece_range(void *user, int64_t begin, int64_t end) {
  const Make *a = user;
  HkTermPiece *piece = (HkTermPiece *)a->rows->terms->y;
  for (int64_t t = begin; t < end; t++) {
    const HkWeightedTerm *term = &a->rows->terms->term[t];
    int32_t p = a->rows->first[t], rank = a->rows->first[t + 1] - p;
    double d[3][3] = {{0}};
    split(term->K, rank, d);
    for (int r = 0; r < rank; r++) {
      for (int c = 0; c < 3; c++) piece[p + r].d[c] = a->flat && c == 2 ? 0 : (float)d[r][c];
      for (int k = 0; k < 4; k++) piece[p + r].weight[k] = (float)term->weight[k];
    }
  }
}

/* ---- Rows ---- */

static void count_range(void *user, int64_t begin, int64_t end) {
  const Make *a = user;
  const HkTermRows *r = a->rows;
  const HkWeightedTerms *w = r->terms;
  for (int64_t k = begin; k < end; k++) {
    int64_t count = 0;
    for (int64_t e = w->start[k]; e < w->start[k + 1]; e++) {
      int32_t t = w->at[e] / 4;
      count += (r->first[t + 1] - r->first[t]) * entry_count(r->entries[t], w->at[e] % 4);
    }
    r->start[k + 1] = (count + 3) / 4;
  }
}

static void put(HkTermQuad *quad, int64_t at, const float *d, float weight, int32_t place) {
  HkTermQuad *q = &quad[at / 4];
  for (int c = 0; c < 3; c++) q->v[c][at % 4] = weight * d[c];
  q->place[at % 4] = place;
}

/* Entries are put from the last one of a row to the first. */
static void fill_range(void *user, int64_t begin, int64_t end) {
  const Make *a = user;
  const HkTermRows *r = a->rows;
  const HkWeightedTerms *w = r->terms;
  const HkTermPiece *piece = (const HkTermPiece *)w->y;
  static const float none[3] = {0, 0, 0};
  for (int64_t k = begin; k < end; k++) {
    float scale = a->held && a->held[w->vertex[k]] ? 0 : 1;
    int64_t at = 4 * r->start[k + 1];
    int32_t place = 0;
    for (int64_t e = w->start[k]; e < w->start[k + 1]; e++) {
      int32_t t = w->at[e] / 4, own = w->at[e] % 4;
      bool has_others = entry_count(r->entries[t], own) > 1;
      for (int32_t p = r->first[t]; p < r->first[t + 1]; p++) {
        for (int32_t o = 0; o < 4 && has_others; o++)
          if (piece[p].weight[o] == 0) put(r->quad, --at, none, 0, 4 * p + o);
        put(r->quad, --at, piece[p].d, scale * piece[p].weight[own], place = 4 * p + own);
      }
    }
    while (at > 4 * r->start[k]) put(r->quad, --at, none, 0, place);
  }
}

static void accumulate(int32_t *first, int64_t count) {
  first[0] = 0;
  for (int64_t t = 0; t < count; t++) first[t + 1] += first[t];
}

HkStatus hk_term_rows_make(HkTermRows *r, HkWeightedTerms *w, const HkModel *m, const uint8_t *held,
                           HkError *error) {
  const HkContext *c = &m->context;
  Make a = {r, held, m->dimension == 2};
  r->terms = w;
  r->pieces = 0;
  if (w->count == 0) return HK_OK;
  if (!r->kernels) {
    HkIsa isa;
    HK_TRY(hk_isa_pick(&isa, error));
    r->kernels = hk_term_kernels_of(isa);
  }
  HK_TRY(hk_grow(c, &r->first, &r->first_capacity, w->count + 1, sizeof *r->first, WHAT, error));
  HK_TRY(hk_grow(c, &r->entries, &r->entries_capacity, w->count, sizeof *r->entries, WHAT, error));
  HK_TRY(hk_grow(c, &r->start, &r->start_capacity, w->vertex_count + 1, sizeof *r->start, WHAT,
                 error));
  hk_parallel_work(m->threads, w->count, TERM_GRAIN, rank_range, &a);
  accumulate(r->first, w->count);
  r->pieces = r->first[w->count];
  int64_t most = r->pieces > w->count ? r->pieces : w->count;
  HK_TRY(hk_grow(c, &w->y, &w->y_capacity, PIECE_DOUBLES * most, sizeof *w->y, WHAT, error));
  hk_parallel_work(m->threads, w->count, TERM_GRAIN, piece_range, &a);
  hk_parallel_work(m->threads, w->vertex_count, VERTEX_GRAIN, count_range, &a);
  r->start[0] = 0;
  for (int64_t k = 0; k < w->vertex_count; k++) r->start[k + 1] += r->start[k];
  HK_TRY(hk_grow(c, &r->quad, &r->quad_capacity, r->start[w->vertex_count], sizeof *r->quad, WHAT,
                 error));
  hk_parallel_work(m->threads, w->vertex_count, VERTEX_GRAIN, fill_range, &a);
  return HK_OK;
}

void hk_term_rows_destroy(const HkModel *m, HkTermRows *r) {
  void *arrays[] = {&r->first, &r->entries, &r->start, &r->quad};
  for (int k = 0; k < 4; k++) hk_free(&m->context, arrays[k]);
  *r = (HkTermRows){0};
}

size_t hk_term_rows_bytes(const HkTermRows *r) {
  return (size_t)r->first_capacity * sizeof *r->first +
         (size_t)r->entries_capacity * sizeof *r->entries +
         (size_t)r->start_capacity * sizeof *r->start + (size_t)r->quad_capacity * sizeof *r->quad;
}

/* ---- Products ---- */

typedef struct Product {
  const HkTermRows *rows;
  const double *p;
  double scale, *part, *y, *out;
} Product;

static void part_range(void *user, int64_t begin, int64_t end) {
  const Product *a = user;
  a->rows->kernels->parts(a->rows, a->p, a->part, begin, end);
}

static void sum_range(void *user, int64_t begin, int64_t end) {
  const Product *a = user;
  for (int64_t p = begin; p < end; p++) {
    const double *part = a->part + 4 * p;
    a->y[p] = (part[0] + part[1]) + (part[2] + part[3]);
  }
}

static void add_range(void *user, int64_t begin, int64_t end) {
  const Product *a = user;
  a->rows->kernels->add(a->rows, a->scale, a->y, a->out, begin, end);
}

void hk_term_rows_product(const HkTermRows *r, int threads, double scale, const double *p,
                          double *out) {
  double *part = r->terms->y;
  Product a = {r, p, scale, part, part + 4 * r->pieces, out};
  hk_parallel_work(threads, r->terms->vertex_count, VERTEX_GRAIN, part_range, &a);
  hk_parallel_work(threads, r->pieces, TERM_GRAIN, sum_range, &a);
  hk_parallel_work(threads, r->terms->vertex_count, VERTEX_GRAIN, add_range, &a);
}
