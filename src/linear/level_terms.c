/* Weighted terms in the hierarchy of multigrid; see level_terms.h. */
#include "linear/level_terms.h"

#include "base/assert.h"
#include "base/lists.h"

#include <math.h>
#include <string.h>

enum { TERM_GRAIN = 512, ROW_GRAIN = 256, GROUP_GRAIN = 64 };
/* Rows of a group of terms, and of a table of them that stays at most half full. */
enum { ENTRIES_MAX = 256, TABLE_BITS = 9, TABLE_SIZE = 1 << TABLE_BITS };

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

enum { TERM_ARRAYS = 5, ENTRY_ARRAYS = 5, COUPLED_ARRAYS = 3 };

static HkStatus grow_terms(const HkContext *c, HkLevelTerms *l, int64_t count, HkError *error) {
  Array arrays[TERM_ARRAYS] = {{&l->start, sizeof *l->start},
                               {&l->K, 12 * sizeof *l->K},
                               {&l->y, 4 * sizeof *l->y},
                               {&l->order, 2 * sizeof *l->order},
                               {&l->side, 3 * sizeof *l->side}};
  return grow(c, arrays, TERM_ARRAYS, &l->term_capacity, count + 1, error);
}

static HkStatus grow_entries(const HkContext *c, HkLevelTerms *l, int64_t count, HkError *error) {
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
  void *arrays[] = {&l->start,   &l->row,       &l->weight,   &l->K,          &l->y,
                    &l->coupled, &l->row_start, &l->row_term, &l->row_weight, &l->G,
                    &l->saved,   &l->order,     &l->side,     &l->term};
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) hk_free(c, arrays[k]);
  *l = (HkLevelTerms){0};
}

size_t hk_level_terms_bytes(const HkLevelTerms *l) {
  size_t term = sizeof *l->start + 16 * sizeof *l->K + 2 * sizeof *l->order + 3 * sizeof *l->side;
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

/* Lists the entries of each row; `rows` is the number of rows of the level. */
static HkStatus list_rows(const HkContext *c, HkLevelTerms *l, int64_t rows, int threads,
                          HkError *error) {
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

/* ---- A new Hessian ---- */

/* to = scale K, as three columns of four floats; nothing couples to z in two dimensions. */
static void set_matrix(const double K[6], double scale, bool flat, float to[12]) {
  static const int place[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
  for (int c = 0; c < 3; c++)
    for (int r = 0; r < 4; r++) {
      bool zero = r == 3 || (flat && (r == 2 || c == 2));
      to[4 * c + r] = zero ? 0 : (float)(scale * K[place[c][r % 3]]);
    }
}

/* tau^2, or less where a term is so stiff against the masses of its vertices that the inverse of
 * their diagonal blocks, in single precision, would not be positive definite any more. */
static double scale_of(const HkModel *m, const HkWeightedTerm *term, double tau) {
  const double STIFFEST = 2e5;
  double stiffness = tau * tau * (term->K[0] + term->K[3] + term->K[5]), mass = INFINITY;
  for (int a = 0; a < 4; a++)
    if (term->weight[a] != 0) mass = fmin(mass, m->mass[term->vertex[a]]);
  return stiffness > STIFFEST * mass ? tau * tau * STIFFEST * mass / stiffness : tau * tau;
}

typedef struct Source {
  const HkMultigrid *m;
  const HkWeightedTerms *terms;
  const uint8_t *held;
  double tau;
  HkLevelTerms *to;
} Source;

/* Four entries a term. */
static void set_range(void *user, int64_t begin, int64_t end) {
  const Source *a = user;
  const HkModel *model = a->m->model;
  HkLevelTerms *l = a->to;
  for (int64_t t = begin; t < end; t++) {
    const HkWeightedTerm *term = &a->terms->term[t];
    l->start[t + 1] = 4 * (t + 1);
    set_matrix(term->K, scale_of(model, term, a->tau), model->dimension == 2, l->K + 12 * t);
    for (int k = 0; k < 4; k++) {
      bool counts = term->weight[k] != 0 && !(a->held && a->held[term->vertex[k]]);
      l->row[4 * t + k] = counts ? a->m->row[term->vertex[k]] : 0;
      l->weight[4 * t + k] = counts ? (float)term->weight[k] : 0;
      l->term[4 * t + k] = (int32_t)t;
    }
  }
}

HkStatus hk_level_terms_set(HkMultigrid *m, const HkWeightedTerms *terms, const uint8_t *held,
                            double tau, int threads, HkError *error) {
  const HkContext *c = &m->model->context;
  HkLevelTerms *l = &m->level[0].terms;
  Source a = {m, terms, held, tau, l};
  l->count = l->row_count = 0;
  if (terms->count == 0) return HK_OK;
  HK_TRY(grow_terms(c, l, terms->count, error));
  HK_TRY(grow_entries(c, l, 4 * terms->count, error));
  l->start[0] = 0;
  hk_parallel_work(threads, terms->count, TERM_GRAIN, set_range, &a);
  l->count = terms->count;
  return list_rows(c, l, m->level[0].n, threads, error);
}

/* ---- The next level ---- */

/* The coarse row that a row follows most; -1 if it follows none. */
static int32_t parent(const HkWeights *P, int32_t row) {
  float most = 0;
  int32_t found = -1;
  for (int32_t e = P->start[row]; e < P->start[row + 1]; e++)
    if (P->weight[e] > most) {
      most = P->weight[e];
      found = P->column[e];
    }
  return found;
}

typedef struct Projection {
  const HkLevelTerms *l;
  HkLevelTerms *next;
  const HkWeights *P;
  const int32_t *first; /* of each group: its first term in the order */
  bool fills;           /* else the entries are counted */
} Projection;

/* side: the parents of the largest weights on either side of a term, the smaller number first, -1
 * where there is none; and the sign that makes the weights of the first side positive. */
static void side_range(void *user, int64_t begin, int64_t end) {
  const Projection *a = user;
  const HkLevelTerms *l = a->l;
  for (int64_t t = begin; t < end; t++) {
    int64_t at[2] = {-1, -1};
    int32_t parents[2];
    for (int64_t e = l->start[t]; e < l->start[t + 1]; e++) {
      int k = l->weight[e] < 0;
      if (at[k] < 0 || fabsf(l->weight[e]) > fabsf(l->weight[at[k]])) at[k] = e;
    }
    for (int k = 0; k < 2; k++) parents[k] = at[k] < 0 ? -1 : parent(a->P, l->row[at[k]]);
    bool swaps = parents[0] > parents[1];
    l->side[3 * t] = parents[swaps];
    l->side[3 * t + 1] = parents[!swaps];
    l->side[3 * t + 2] = swaps ? -1 : 1;
  }
}

static int64_t second_side(const void *user, int64_t t) {
  return ((const HkLevelTerms *)user)->side[3 * t + 1] + 1;
}

static int64_t first_side(const void *user, int64_t k) {
  const HkLevelTerms *l = user;
  return l->side[3 * (int64_t)l->order[l->count + k]] + 1;
}

static void order_range(void *user, int64_t begin, int64_t end) {
  HkLevelTerms *l = user;
  for (int64_t k = begin; k < end; k++) l->order[k] = l->order[l->count + l->order[k]];
}

/* Sorts the terms into groups by their sides, first by the second one: order[k] is the k-th term.
 */
static HkStatus sort_terms(const HkContext *c, HkLevelTerms *l, HkLevelTerms *next, int64_t rows,
                           int threads, HkError *error) {
  HK_TRY(hk_grow(c, &next->row_start, &next->row_capacity, rows + 2, sizeof *next->row_start,
                 "multigrid", error));
  hk_lists_make(threads, l->count, rows + 1, second_side, l, next->row_start, l->order + l->count);
  hk_lists_make(threads, l->count, rows + 1, first_side, l, next->row_start, l->order);
  hk_parallel_work(threads, l->count, TERM_GRAIN, order_range, l);
  return HK_OK;
}

/* Weights of rows as they are added up; a table finds the entry of a row. */
typedef struct Sums {
  int32_t row[ENTRIES_MAX];
  float weight[ENTRIES_MAX];
  int16_t table[TABLE_SIZE]; /* an entry plus 1, or 0 */
  int count;
} Sums;

static void clear(Sums *s) {
  s->count = 0;
  memset(s->table, 0, sizeof s->table);
}

static void add_entry(Sums *s, int32_t row, float weight) {
  const uint32_t SPREAD = 2654435769U; /* 2^32 over the golden ratio */
  uint32_t at = (uint32_t)row * SPREAD >> (32 - TABLE_BITS);
  while (s->table[at] && s->row[s->table[at] - 1] != row) at = (at + 1) % TABLE_SIZE;
  if (!s->table[at]) {
    if (s->count == ENTRIES_MAX) return; /* a preconditioner may leave out the rest */
    s->row[s->count] = row;
    s->weight[s->count] = 0;
    s->table[at] = (int16_t)++s->count;
  }
  s->weight[s->table[at] - 1] += weight;
}

static float trace(const float K[12]) {
  return K[0] + K[5] + K[10];
}

/* Adds up the terms of group g: K, and the weights of rows; returns the sum of trace K. */
static float add_group(const Projection *a, int64_t g, float K[12], Sums *fine) {
  const HkLevelTerms *l = a->l;
  float total = 0;
  clear(fine);
  memset(K, 0, 12 * sizeof *K);
  for (int32_t k = a->first[g]; k < a->first[g + 1]; k++) {
    int64_t t = l->order[k];
    float share = trace(l->K + 12 * t), signed_share = (float)l->side[3 * t + 2] * share;
    for (int q = 0; q < 12; q++) K[q] += l->K[12 * t + q];
    total += share;
    for (int64_t e = l->start[t]; e < l->start[t + 1]; e++)
      if (l->weight[e] != 0) add_entry(fine, l->row[e], signed_share * l->weight[e]);
  }
  return total;
}

static void project_range(void *user, int64_t begin, int64_t end) {
  const Projection *a = user;
  Sums fine, coarse;
  float K[12];
  for (int64_t g = begin; g < end; g++) {
    float total = add_group(a, g, K, &fine);
    clear(&coarse);
    for (int k = 0; k < fine.count; k++)
      for (int32_t p = a->P->start[fine.row[k]]; p < a->P->start[fine.row[k] + 1]; p++)
        add_entry(&coarse, a->P->column[p], fine.weight[k] * a->P->weight[p]);
    if (!a->fills) {
      a->next->start[g + 1] = coarse.count;
      continue;
    }
    memcpy(a->next->K + 12 * g, K, sizeof K);
    int64_t at = a->next->start[g];
    for (int k = 0; k < coarse.count; k++, at++) {
      a->next->row[at] = coarse.row[k];
      a->next->weight[at] = total > 0 ? coarse.weight[k] / total : 0;
      a->next->term[at] = (int32_t)g;
    }
  }
}

/* The first term of each group; returns the number of groups. */
static int64_t find_groups(const HkLevelTerms *l, int32_t *first) {
  int64_t groups = 0;
  for (int64_t k = 0; k < l->count; k++) {
    const int32_t *side = l->side + 3 * (int64_t)l->order[k];
    const int32_t *before = k > 0 ? l->side + 3 * (int64_t)l->order[k - 1] : NULL;
    if (!before || side[0] != before[0] || side[1] != before[1]) first[groups++] = (int32_t)k;
  }
  first[groups] = (int32_t)l->count;
  return groups;
}

HkStatus hk_level_terms_project(HkMultigrid *m, int k, int threads, HkError *error) {
  const HkContext *c = &m->model->context;
  HkLevelTerms *l = &m->level[k].terms, *next = &m->level[k + 1].terms;
  const HkWeights *P = &m->level[k].P;
  next->count = next->row_count = 0;
  if (l->count == 0) return HK_OK;
  Projection a = {.l = l, .next = next, .P = P, .first = l->order + l->count};
  hk_parallel_work(threads, l->count, TERM_GRAIN, side_range, &a);
  HK_TRY(sort_terms(c, l, next, P->columns, threads, error));
  int64_t groups = find_groups(l, l->order + l->count);
  HK_TRY(grow_terms(c, next, groups, error));
  next->start[0] = 0;
  hk_parallel_work(threads, groups, GROUP_GRAIN, project_range, &a);
  for (int64_t g = 0; g < groups; g++) next->start[g + 1] += next->start[g];
  HK_TRY(grow_entries(c, next, next->start[groups], error));
  a.fills = true;
  hk_parallel_work(threads, groups, GROUP_GRAIN, project_range, &a);
  next->count = groups;
  return list_rows(c, next, m->level[k + 1].n, threads, error);
}

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

/* to += s B from; B: three columns of four floats */
static inline void add_product(const float *B, float s, const float *from, float to[4]) {
  for (int c = 0; c < 3; c++)
    for (int r = 0; r < 4; r++) to[r] += s * from[c] * B[4 * c + r];
}

static void term_range(void *user, int64_t begin, int64_t end) {
  const Cycle *a = user;
  const HkLevelTerms *l = a->l;
  for (int64_t t = begin; t < end; t++) {
    float u[4] = {0, 0, 0, 0}, y[4] = {0, 0, 0, 0};
    for (int64_t e = l->start[t]; e < l->start[t + 1]; e++) {
      const float *x = a->x + 4 * (int64_t)l->row[e];
      for (int q = 0; q < 4; q++) u[q] += l->weight[e] * x[q];
    }
    add_product(l->K + 12 * t, 1, u, y);
    memcpy(l->y + 4 * t, y, sizeof y);
  }
}

static void row_range(void *user, int64_t begin, int64_t end) {
  const Cycle *a = user;
  const HkLevelTerms *l = a->l;
  for (int64_t k = begin; k < end; k++) {
    int64_t at = 4 * (int64_t)l->coupled[k];
    float sum[4];
    memcpy(sum, a->r + at, sizeof sum);
    if (a->saves) memcpy(l->saved + 4 * k, sum, sizeof sum);
    for (int64_t e = l->row_start[k]; e < l->row_start[k + 1]; e++) {
      const float *y = l->y + 4 * (int64_t)l->row_term[e];
      for (int q = 0; q < 4; q++) sum[q] -= l->row_weight[e] * y[q];
    }
    if (a->first) add_product(l->G + 12 * k, 1, a->x + at, sum);
    memcpy(a->r + at, sum, sizeof sum);
  }
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
