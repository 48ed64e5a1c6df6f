/* Weighted terms in the hierarchy of multigrid; see level_terms.h. */
#include "linear/level_terms.h"

#include "base/assert.h"
#include "base/lists.h"

#include <math.h>
#include <string.h>

enum { TERM_GRAIN = 512, ROW_GRAIN = 256 };
HK_KERNEL_TABLE(HkLevelTermKernels, hk_level_term_kernels)

/* ---- Memory ---- */

typedef struct Array {
  void *p; /* the address of a pointer */
  size_t size;
} Array;

/* Grows arrays that share one capacity. */
static HkStatus grow(const HkContext *c, const Array *arrays, int array_count, int64_t *capacity,
                     int64_t count, HkError *error) {
  int64_t grown = *capacity;
  for (int k = 0; k < array_count; k++) {
    grown = *capacity;
    HK_TRY(hk_grow(c, arrays[k].p, &grown, count, arrays[k].size, "multigrid", error));
  }
  *capacity = grown;
  return HK_OK;
}

enum { TERM_ARRAYS = 3, ENTRY_ARRAYS = 5, COUPLED_ARRAYS = 3 };

HkStatus hk_level_terms_grow(const HkContext *c, HkLevelTerms *l, int64_t count, HkError *error) {
  Array arrays[TERM_ARRAYS] = {
      {&l->start, sizeof *l->start}, {&l->K, 12 * sizeof *l->K}, {&l->y, 4 * sizeof *l->y}};
  return grow(c, arrays, TERM_ARRAYS, &l->term_capacity, count + 1, error);
}

HkStatus hk_level_terms_grow_entries(const HkContext *c, HkLevelTerms *l, int64_t count,
                                     HkError *error) {
  Array arrays[ENTRY_ARRAYS] = {{&l->row, sizeof *l->row},
                                {&l->weight, sizeof *l->weight},
                                {&l->term, sizeof *l->term},
                                {&l->row_term, sizeof *l->row_term},
                                {&l->row_weight, sizeof *l->row_weight}};
  return grow(c, arrays, ENTRY_ARRAYS, &l->entry_capacity, count, error);
}

static HkStatus grow_coupled(const HkContext *c, HkLevelTerms *l, int64_t count, HkError *error) {
  Array arrays[COUPLED_ARRAYS] = {{&l->coupled, sizeof *l->coupled},
                                  {&l->G, 12 * sizeof *l->G},
                                  {&l->saved, 4 * sizeof *l->saved}};
  return grow(c, arrays, COUPLED_ARRAYS, &l->coupled_capacity, count, error);
}

void hk_level_terms_destroy(const HkContext *c, HkLevelTerms *l) {
  void *arrays[] = {&l->start,     &l->row,      &l->weight,     &l->K, &l->y,     &l->coupled,
                    &l->row_start, &l->row_term, &l->row_weight, &l->G, &l->saved, &l->term};
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) hk_free(c, arrays[k]);
  *l = (HkLevelTerms){0};
}

size_t hk_level_terms_bytes(const HkLevelTerms *l) {
  size_t term = sizeof *l->start + 16 * sizeof *l->K;
  size_t entry = sizeof *l->row + sizeof *l->weight + sizeof *l->term + sizeof *l->row_term +
                 sizeof *l->row_weight;
  size_t coupled = sizeof *l->coupled + 16 * sizeof *l->G;
  return (size_t)l->term_capacity * term + (size_t)l->entry_capacity * entry +
         (size_t)l->coupled_capacity * coupled + (size_t)l->row_capacity * sizeof *l->row_start;
}

/* ---- By rows ---- */

static void row_diagonal(const HkLevelTerms *l, int64_t k, float G[12]) {
  memset(G, 0, 12 * sizeof *G);
  for (int64_t e = l->row_start[k]; e < l->row_start[k + 1]; e++) {
    int64_t t = l->row_term[e];
    float scale = 0.5f * fabsf(l->row_weight[e]) * l->y[4 * t];
    for (int q = 0; q < 12; q++) G[q] += scale * l->K[12 * t + q];
  }
}

/* G of the rows, where y has the sums of |w|. */
static void diagonal_range(void *user, int64_t begin, int64_t end) {
  HkLevelTerms *l = user;
  for (int64_t k = begin; k < end; k++) row_diagonal(l, k, l->G + 12 * k);
}

static void sum_range(void *user, int64_t begin, int64_t end) {
  HkLevelTerms *l = user;
  for (int64_t t = begin; t < end; t++) {
    float sum = 0;
    for (int64_t e = l->start[t]; e < l->start[t + 1]; e++) sum += fabsf(l->weight[e]);
    l->y[4 * t] = sum;
  }
}

static int64_t row_of(const void *user, int64_t entry) {
  const HkLevelTerms *l = user;
  return l->weight[entry] != 0 ? l->row[entry] : -1;
}

/* Entries of rows become their terms and weights. */
static void entry_range(void *user, int64_t begin, int64_t end) {
  HkLevelTerms *l = user;
  for (int64_t e = begin; e < end; e++) {
    int32_t entry = l->row_term[e];
    l->row_weight[e] = l->weight[entry];
    l->row_term[e] = l->term[entry];
  }
}

HkStatus hk_level_terms_finish(const HkMultigrid *m, HkLevelTerms *l, int64_t rows, int threads,
                               HkError *error) {
  const HkContext *c = &m->model->context;
  l->kernels = hk_level_term_kernels_of(m->isa);
  HK_TRY(hk_grow(c, &l->row_start, &l->row_capacity, rows + 1, sizeof *l->row_start, "multigrid",
                 error));
  int64_t *start = l->row_start;
  hk_lists_make(threads, l->start[l->count], rows, row_of, l, start, l->row_term);
  int64_t entries = start[rows], count = 0;
  for (int64_t i = 0; i < rows; i++) count += start[i + 1] > start[i];
  HK_TRY(grow_coupled(c, l, count, error));
  l->row_count = 0;
  for (int64_t i = 0; i < rows; i++) {
    if (start[i] == start[i + 1]) continue;
    start[l->row_count] = start[i];
    l->coupled[l->row_count++] = (int32_t)i;
  }
  start[l->row_count] = entries;
  hk_parallel_work(threads, entries, TERM_GRAIN, entry_range, l);
  hk_parallel_work(threads, l->count, TERM_GRAIN, sum_range, l);
  hk_parallel_work(threads, l->row_count, ROW_GRAIN, diagonal_range, l);
  return HK_OK;
}

/* ---- Matrices ---- */

void hk_level_terms_add_dense(const HkLevelTerms *l, int size, double *A) {
  for (int64_t t = 0; t < l->count; t++)
    for (int64_t e = l->start[t]; e < l->start[t + 1]; e++)
      for (int64_t f = l->start[t]; f < l->start[t + 1]; f++)
        for (int q = 0; q < 9; q++) {
          size_t row = (size_t)(3 * l->row[e] + q % 3), column = (size_t)(3 * l->row[f] + q / 3);
          A[row * (size_t)size + column] +=
              (double)(l->weight[e] * l->weight[f] * l->K[12 * t + q / 3 * 4 + q % 3]);
        }
}

typedef struct Diagonal {
  const HkLevelTerms *l;
  float *D;
} Diagonal;

static void add_diagonal_range(void *user, int64_t begin, int64_t end) {
  const Diagonal *a = user;
  for (int64_t k = begin; k < end; k++)
    for (int q = 0; q < 12; q++) a->D[12 * (int64_t)a->l->coupled[k] + q] += a->l->G[12 * k + q];
}

void hk_level_terms_add_diagonal(const HkLevelTerms *l, int threads, float *D) {
  Diagonal a = {l, D};
  hk_parallel_work(threads, l->row_count, ROW_GRAIN, add_diagonal_range, &a);
}

/* ---- The cycle ---- */

typedef struct Cycle {
  const HkLevelTerms *l;
  const float *x;
  float *r;
  bool first, saves;
} Cycle;

static void term_range(void *user, int64_t begin, int64_t end) {
  const Cycle *a = user;
  a->l->kernels->sum(a->l, a->x, begin, end);
}

static void row_range(void *user, int64_t begin, int64_t end) {
  const Cycle *a = user;
  const HkLevelTerms *l = a->l;
  for (int64_t k = begin; k < end && a->saves; k++)
    memcpy(l->saved + 4 * k, a->r + 4 * (int64_t)l->coupled[k], 4 * sizeof *a->r);
  l->kernels->subtract(l, a->first ? a->x : NULL, a->r, begin, end);
}

static void run(const Cycle *a, int threads) {
  hk_parallel_work(threads, a->l->count, TERM_GRAIN, term_range, (void *)a);
  hk_parallel_work(threads, a->l->row_count, ROW_GRAIN, row_range, (void *)a);
}

void hk_level_terms_residual(const HkLevelTerms *l, int threads, bool first, const float *x,
                             float *r) {
  Cycle a = {.l = l, .x = x, .r = r, .first = first};
  if (l->count) run(&a, threads);
}

void hk_level_terms_begin_sweep(const HkLevelTerms *l, int threads, const float *x, float *b) {
  Cycle a = {.l = l, .x = x, .r = b, .first = true, .saves = true};
  if (l->count) run(&a, threads);
}

static void restore_range(void *user, int64_t begin, int64_t end) {
  const Cycle *a = user;
  for (int64_t k = begin; k < end; k++)
    memcpy(a->r + 4 * (int64_t)a->l->coupled[k], a->l->saved + 4 * k, 4 * sizeof *a->r);
}

void hk_level_terms_end_sweep(const HkLevelTerms *l, int threads, float *b) {
  Cycle a = {.l = l, .r = b};
  hk_parallel_work(threads, l->row_count, ROW_GRAIN, restore_range, &a);
}
