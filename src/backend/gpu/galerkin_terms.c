/* Lists of the terms of P^T A P: see hierarchy.h for the sums.
 *
 * Row I of the next level visits the rows i with P_iI != 0 and their neighbors j. Terms whose
 * weights cancel, as those of a spring both of whose ends follow the same row, are left out. Two
 * passes over all rows: the first counts, the second writes. Cloth has about 18 terms a vertex on
 * all levels together. O(terms) time, parallel over rows.
 */
#include "backend/gpu/lists.h"

#include <string.h>

static const char WHAT[] = "multigrid on a device";
static const double WEIGHT_MIN = 1e-7;

enum { PAIR_ENTRIES, PAIR_ROWS, ROW_ROWS, ROW_ENTRIES, KINDS };

typedef struct Pass {
  const HkGpuGalerkin *g;
  HkGpuLists *lists[KINDS];
  int32_t *length[KINDS];
  const int32_t *start; /* slices of the entries of A */
  int64_t *first_pair;  /* n + 1: the pairs of row I are first_pair[I] .. first_pair[I + 1] - 1 */
  int32_t *slot;        /* of each pair: its place in the lists; NULL: its number */
  bool writes;
} Pass;

static void emit(const Pass *p, int kind, int64_t row, int64_t index, double weight) {
  int32_t s = p->length[kind][row]++;
  if (!p->writes) return;
  HkGpuLists *to = p->lists[kind];
  int64_t at = hk_gpu_list_at(to->start, row, s);
  to->index[at] = (int32_t)index;
  to->weight[at] = (float)weight;
}

/* Returns P_iI. */
static double weight_of(const HkGpuRows *P, int32_t i, int32_t I) {
  for (int32_t e = P->start[i]; e < P->start[i + 1]; e++)
    if (P->column[e] == I) return P->weight[e];
  return 0;
}

/* Returns sum_I P_iI, which is 1 or, for a vertex without weights, 0. */
static double sum_of(const HkGpuRows *P, int32_t i) {
  return P->start[i + 1] > P->start[i] ? 1 : 0;
}

/* ---- The pairs of a row ---- */

/* Lists of the pairs (I, J), J > I, of a row I: a hash table with open addressing, or a search in
 * the row of the next level if it has many columns. */
enum { TABLE_BITS = 9, TABLE_SIZE = 1 << TABLE_BITS, TABLE_MAX_PAIRS = TABLE_SIZE / 2 };

typedef struct Targets {
  bool is_table;
  int32_t column[TABLE_SIZE]; /* J; 0: an empty slot, since J > I >= 0 */
  int32_t list[TABLE_SIZE];
} Targets;

static int32_t list_of(const Pass *p, int32_t I, int32_t at) {
  int64_t pair = p->first_pair[I + 1] - (p->g->coarse.start[I + 1] - at);
  return p->slot ? p->slot[pair] : (int32_t)pair;
}

static uint32_t slot_of(const Targets *t, int32_t J) {
  uint32_t slot = (uint32_t)J * 2654435769u >> (32 - TABLE_BITS); /* 2^32 / 1.618 */
  while (t->column[slot] != 0 && t->column[slot] != J) slot = (slot + 1) % TABLE_SIZE;
  return slot;
}

static void start_row(const Pass *p, int32_t I, Targets *t) {
  const HkGpuRows *c = &p->g->coarse;
  int64_t count = p->first_pair[I + 1] - p->first_pair[I];
  t->is_table = count <= TABLE_MAX_PAIRS;
  if (!t->is_table) return;
  memset(t->column, 0, sizeof t->column);
  for (int32_t e = c->start[I + 1] - (int32_t)count; e < c->start[I + 1]; e++) {
    uint32_t slot = slot_of(t, c->column[e]);
    t->column[slot] = c->column[e];
    t->list[slot] = list_of(p, I, e);
  }
}

/* Returns the list of the pair (I, J), I < J; the next level has a block for each pair with terms.
 */
static int32_t pair_of(const Pass *p, const Targets *t, int32_t I, int32_t J) {
  const HkGpuRows *c = &p->g->coarse;
  if (t->is_table) return t->list[slot_of(t, J)];
  int32_t low = c->start[I], high = c->start[I + 1];
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    if (c->column[middle] < J)
      low = middle + 1;
    else
      high = middle;
  }
  return list_of(p, I, low);
}

/* ---- Terms ---- */

/* Emits the terms `factor` (P_jJ - P_iJ) of an entry for all J > I with weights of i or j. */
static void add_entry(const Pass *p, const Targets *t, int32_t I, int32_t i, int32_t j,
                      int64_t entry, double factor) {
  const HkGpuRows *P = &p->g->P;
  for (int32_t e = P->start[j]; e < P->start[j + 1]; e++) {
    int32_t J = P->column[e];
    if (J <= I) continue;
    double weight = factor * ((double)P->weight[e] - weight_of(P, i, J));
    if (fabs(weight) > WEIGHT_MIN) emit(p, PAIR_ENTRIES, pair_of(p, t, I, J), entry, weight);
  }
  for (int32_t e = P->start[i]; e < P->start[i + 1]; e++) {
    int32_t J = P->column[e];
    double weight = -factor * (double)P->weight[e];
    if (J > I && fabs(weight) > WEIGHT_MIN && weight_of(P, j, J) == 0)
      emit(p, PAIR_ENTRIES, pair_of(p, t, I, J), entry, weight);
  }
}

/* Returns where entry e of row i, a spring, is stored for the lists: at its lower end. A spring
 * that is the q-th one from i to j is the q-th one from j to i. */
static int64_t spring_at(const Pass *p, int32_t i, int32_t e) {
  const HkGpuRows *A = &p->g->A;
  int32_t j = A->column[e], before = 0, back = A->start[j];
  if (i < j) return hk_gpu_list_at(p->start, i, e - A->start[i]);
  for (int32_t f = A->start[i]; f < e; f++) before += A->column[f] == j;
  while (A->column[back] != i || before-- > 0) back++;
  return hk_gpu_list_at(p->start, j, back - A->start[j]);
}

/* Emits the terms of the entries of row i; own = P_iI. */
static void add_row(const Pass *p, const Targets *t, int32_t I, int32_t i, double own) {
  const HkGpuRows *A = &p->g->A, *P = &p->g->P;
  for (int32_t e = A->start[i]; e < A->start[i + 1]; e++) {
    int32_t j = A->column[e];
    int64_t entry =
        p->g->springs ? spring_at(p, i, e) : hk_gpu_list_at(p->start, i, e - A->start[i]);
    double other = weight_of(P, j, I), apart = sum_of(P, j) - sum_of(P, i);
    if (!p->g->springs)
      add_entry(p, t, I, i, j, entry, own);
    else if (other == 0 || i < j) /* the two ends of a spring have one term */
      add_entry(p, t, I, i, j, entry, other - own);
    if (apart != 0) emit(p, ROW_ENTRIES, I, entry, (p->g->springs ? -own : own) * apart);
  }
  for (int32_t e = P->start[i]; e < P->start[i + 1]; e++)
    if (P->column[e] > I)
      emit(p, PAIR_ROWS, pair_of(p, t, I, P->column[e]), i, own * (double)P->weight[e]);
  emit(p, ROW_ROWS, I, i, own * sum_of(P, i));
}

static void rows_range(void *user, int64_t begin, int64_t end) {
  const Pass *p = user;
  const HkGpuRows *T = &p->g->T;
  Targets targets;
  for (int32_t I = (int32_t)begin; I < (int32_t)end; I++) {
    start_row(p, I, &targets);
    for (int32_t t = T->start[I]; t < T->start[I + 1]; t++)
      add_row(p, &targets, I, T->column[t], T->weight[t]);
  }
}

/* ---- Pairs ---- */

typedef struct Pairs {
  const Pass *pass;
  const int32_t *next_start; /* slices of the next level */
  int32_t *pair;             /* of the level */
  int64_t count;             /* of pairs */
  const int32_t *length;     /* of each pair, */
  int32_t *slot, *sorted;    /* its place in the order of lengths, and lengths in that order */
} Pairs;

/* The entries (I, J) and (J, I) of each pair. */
static void place_range(void *user, int64_t begin, int64_t end) {
  const Pairs *a = user;
  const HkGpuRows *c = &a->pass->g->coarse;
  for (int32_t I = (int32_t)begin; I < (int32_t)end; I++) {
    int64_t number = a->pass->first_pair[I];
    for (int32_t e = c->start[I]; e < c->start[I + 1]; e++) {
      int32_t J = c->column[e], back = c->start[J];
      if (J < I) continue;
      while (c->column[back] != I) back++;
      int64_t to = a->pass->slot[number++];
      a->pair[2 * to] = (int32_t)hk_gpu_list_at(a->next_start, I, e - c->start[I]);
      a->pair[2 * to + 1] = (int32_t)hk_gpu_list_at(a->next_start, J, back - c->start[J]);
    }
  }
}

static int64_t count_pairs(const HkGpuRows *c, int64_t *first_pair) {
  for (int32_t I = 0; I < c->n; I++) {
    int32_t first = c->start[I];
    while (first < c->start[I + 1] && c->column[first] < I) first++;
    first_pair[I + 1] = first_pair[I] + c->start[I + 1] - first;
  }
  return first_pair[c->n];
}

/* Larger windows would lose more by locality than they save in padding. */
enum { WINDOW = 512, LENGTH_MAX = 1023 };

static void sort_range(void *user, int64_t first_window, int64_t end_window) {
  const Pairs *a = user;
  for (int64_t window = first_window; window < end_window; window++) {
    int64_t first = window * WINDOW;
    int64_t end = first + WINDOW < a->count ? first + WINDOW : a->count;
    int32_t begin[LENGTH_MAX + 2] = {0}; /* of the pairs of a length, from the longest on */
    for (int64_t q = first; q < end; q++)
      begin[LENGTH_MAX + 1 - (a->length[q] < LENGTH_MAX ? a->length[q] : LENGTH_MAX)]++;
    for (int k = 0; k <= LENGTH_MAX; k++) begin[k + 1] += begin[k];
    for (int64_t q = first; q < end; q++) {
      int k = LENGTH_MAX - (a->length[q] < LENGTH_MAX ? a->length[q] : LENGTH_MAX);
      a->slot[q] = (int32_t)first + begin[k]++;
    }
  }
}

/* Sorts the pairs by falling length within windows. */
static HkStatus sort_pairs(Pass *p, int64_t pairs, HkError *error) {
  HK_TRY(hk_alloc_unset(p->g->context, &p->slot, pairs, sizeof *p->slot, WHAT, error));
  Pairs a = {.count = pairs, .length = p->length[PAIR_ENTRIES], .slot = p->slot};
  hk_parallel_work(p->g->threads, (pairs + WINDOW - 1) / WINDOW, 8, sort_range, &a);
  return HK_OK;
}

static void lengths_range(void *user, int64_t begin, int64_t end) {
  const Pairs *a = user;
  for (int64_t q = begin; q < end; q++) a->sorted[a->slot[q]] = a->length[q];
}

/* Brings the lengths of the lists of pairs into the order of `slot`. */
static HkStatus sort_lengths(Pass *p, int kind, int64_t pairs, HkError *error) {
  const HkContext *c = p->g->context;
  Pairs a = {.length = p->length[kind], .slot = p->slot};
  HK_TRY(hk_alloc_unset(c, &a.sorted, pairs, sizeof *a.sorted, WHAT, error));
  hk_parallel_for(p->g->threads, pairs, lengths_range, &a);
  hk_free(c, &p->length[kind]);
  p->length[kind] = a.sorted;
  return HK_OK;
}

static HkStatus fill(Pass *p, const HkGpuLevel *next, HkGpuLevel *level, HkError *error) {
  enum { GRAIN = 256 };
  const HkGpuGalerkin *g = p->g;
  const HkContext *c = g->context;
  int64_t n = g->coarse.n;
  HK_TRY(hk_alloc(c, &p->first_pair, n + 1, sizeof *p->first_pair, WHAT, error));
  level->pair_count = count_pairs(&g->coarse, p->first_pair);
  int64_t rows[KINDS] = {level->pair_count, level->pair_count, n, n};
  for (int k = 0; k < KINDS; k++)
    HK_TRY(hk_alloc(c, &p->length[k], rows[k], sizeof *p->length[k], WHAT, error));
  hk_parallel_work(g->threads, n, GRAIN, rows_range, p);
  HK_TRY(sort_pairs(p, level->pair_count, error));
  HK_TRY(sort_lengths(p, PAIR_ENTRIES, level->pair_count, error));
  HK_TRY(sort_lengths(p, PAIR_ROWS, level->pair_count, error));
  for (int k = 0; k < KINDS; k++) {
    HK_TRY(hk_gpu_lists_create(c, rows[k], p->length[k], p->lists[k], error));
    if (rows[k] > 0) memset(p->length[k], 0, (size_t)rows[k] * sizeof *p->length[k]);
  }
  p->writes = true;
  hk_parallel_work(g->threads, n, GRAIN, rows_range, p);
  for (int k = 0; k < KINDS; k++) hk_gpu_lists_pad(g->threads, p->lists[k], p->length[k]);
  HK_TRY(hk_alloc_unset(c, &level->pair, 2 * level->pair_count, sizeof *level->pair, WHAT, error));
  hk_parallel_work(g->threads, n, GRAIN, place_range,
                   &(Pairs){.pass = p, .next_start = next->start, .pair = level->pair});
  return HK_OK;
}

HkStatus hk_gpu_galerkin_terms(const HkGpuGalerkin *g, const HkGpuLevel *next, HkGpuLevel *level,
                               HkError *error) {
  Pass p = {
      .g = g,
      .start = level->start,
      .lists = {&level->pair_entries, &level->pair_rows, &level->row_rows, &level->row_entries}};
  HkStatus status = fill(&p, next, level, error);
  hk_free(g->context, &p.first_pair);
  hk_free(g->context, &p.slot);
  for (int k = 0; k < KINDS; k++) hk_free(g->context, &p.length[k]);
  return status;
}
