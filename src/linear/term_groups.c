/* Weighted terms of a level become those of the next one; see level_terms.h.
 *
 * Terms are sorted by the coarse rows of their two sides. Those with the same ones are a group:
 *
 *     K' = sum K,   w' = P^T sum trace(K) w / sum trace(K)
 *
 * with signs that make the weights of the first side positive. Blocks of groups are added up at
 * once by several threads, each group by one, in the order of its terms.
 */
#include "base/lists.h"
#include "linear/level_terms.h"

#include <math.h>
#include <string.h>

enum { TERM_GRAIN = 512, GROUP_GRAIN = 64 };
/* Rows of a group of terms, and of a table of them that stays at most half full. */
enum { ENTRIES_MAX = 256, TABLE_BITS = 9, TABLE_SIZE = 1 << TABLE_BITS };
/* Entries for which there is scratch memory, for each term of the level above. */
enum { KEPT_ENTRIES = 2 };

typedef struct Entry {
  int32_t row;
  float weight;
} Entry;

/* ---- Terms ---- */

/* Terms that become those of the next level: of a level, or those of forces on level 0. Arrays are
 * in the scratch buffer of the forces' terms, of which there are more than terms on any level. */
typedef struct Projection {
  const HkMultigrid *m;
  const HkLevel *level;
  const HkWeightedTerms *fine; /* NULL but on level 0 */
  const uint8_t *held;
  int64_t count, groups;
  HkLevelTerms *next;
  int32_t *side;  /* 3 a term: coarse rows on either side, the smaller first, and a sign */
  int32_t *order; /* the terms by their sides */
  int32_t *first; /* of each group: its first term in the order; before that scratch of the sort */
  Entry *entry;   /* KEPT_ENTRIES a term: of the groups whose first term it is, before all are
                   * counted */
} Projection;

/* A term: rows and weights of its entries. */
typedef struct Term {
  const int32_t *row;
  const float *weight;
  int64_t count;
  int32_t own_row[4];
  float own_weight[4];
} Term;

static void get_term(const Projection *a, int64_t t, Term *term) {
  const HkLevelTerms *l = &a->level->terms;
  if (!a->fine) {
    term->row = l->row + l->start[t];
    term->weight = l->weight + l->start[t];
    term->count = l->start[t + 1] - l->start[t];
    return;
  }
  const HkWeightedTerm *from = &a->fine->term[t];
  term->count = 0;
  for (int k = 0; k < 4; k++) {
    if (from->weight[k] == 0 || (a->held && a->held[from->vertex[k]])) continue;
    term->own_row[term->count] = a->m->row[from->vertex[k]];
    term->own_weight[term->count++] = (float)from->weight[k];
  }
  term->row = term->own_row;
  term->weight = term->own_weight;
}

/* to += K of term t, as three columns of four floats; nothing couples to z in two dimensions.
 * Returns its trace. */
static float add_matrix(const Projection *a, int64_t t, float to[12]) {
  static const int place[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
  if (!a->fine) {
    const float *K = a->level->terms.K + 12 * t;
    for (int q = 0; q < 12; q++) to[q] += K[q];
    return K[0] + K[5] + K[10];
  }
  const HkFineTerms *f = &a->m->fine_terms;
  const double *K = a->fine->term[t].K;
  double scale = f->rows->first[t] < f->rows->first[t + 1] ? f->scale[f->rows->first[t]] : 0;
  double trace = 0;
  int size = a->m->model->dimension == 2 ? 2 : 3;
  for (int c = 0; c < size; c++) {
    for (int r = 0; r < size; r++) to[4 * c + r] += (float)(scale * K[place[c][r]]);
    trace += scale * K[place[c][c]];
  }
  return (float)trace;
}

/* The rows of the largest weights of a term on either side, -1 where there is none: without
 * branches, which nobody could predict. */
static void find_sides(const Projection *a, int64_t t, int32_t row[2]) {
  const HkLevelTerms *l = &a->level->terms;
  const HkWeightedTerm *from = a->fine ? &a->fine->term[t] : NULL;
  int64_t begin = from ? 0 : l->start[t], end = from ? 4 : l->start[t + 1];
  double most = 0, least = 0;
  row[0] = row[1] = -1;
  for (int64_t e = begin; e < end; e++) {
    int32_t own = from ? from->vertex[e] : l->row[e];
    double weight = from ? from->weight[e] : (double)l->weight[e];
    if (from && a->held && a->held[own]) weight = 0;
    row[0] = weight > most ? own : row[0];
    row[1] = weight < least ? own : row[1];
    most = weight > most ? weight : most;
    least = weight < least ? weight : least;
  }
  for (int k = 0; k < 2 && from; k++) row[k] = row[k] < 0 ? -1 : a->m->row[row[k]];
}

/* side: the parents of the rows of a group, the smaller number first; and the sign that makes the
 * weights of the first side positive. */
static void side_range(void *user, int64_t begin, int64_t end) {
  const Projection *a = user;
  for (int64_t t = begin; t < end; t++) {
    int32_t row[2], parents[2];
    find_sides(a, t, row);
    for (int k = 0; k < 2; k++) parents[k] = row[k] < 0 ? -1 : a->level->parent[row[k]];
    bool swaps = parents[0] > parents[1];
    a->side[3 * t] = parents[swaps];
    a->side[3 * t + 1] = parents[!swaps];
    a->side[3 * t + 2] = swaps ? -1 : 1;
  }
}

/* ---- Groups ---- */

static int64_t second_side(const void *user, int64_t t) {
  return ((const Projection *)user)->side[3 * t + 1] + 1;
}

static int64_t first_side(const void *user, int64_t k) {
  const Projection *a = user;
  return a->side[3 * (int64_t)a->first[k]] + 1;
}

static void order_range(void *user, int64_t begin, int64_t end) {
  const Projection *a = user;
  for (int64_t k = begin; k < end; k++) a->order[k] = a->first[a->order[k]];
}

/* Sorts the terms into groups by their sides, first by the second one: order[k] is the k-th term.
 */
static HkStatus sort_terms(Projection *a, int threads, HkError *error) {
  HkLevelTerms *next = a->next;
  int64_t rows = a->level->P.columns;
  HK_TRY(hk_grow(&a->m->model->context, &next->row_start, &next->row_capacity, rows + 2,
                 sizeof *next->row_start, "multigrid", error));
  hk_lists_make(threads, a->count, rows + 1, second_side, a, next->row_start, a->first);
  hk_lists_make(threads, a->count, rows + 1, first_side, a, next->row_start, a->order);
  hk_parallel_work(threads, a->count, TERM_GRAIN, order_range, a);
  return HK_OK;
}

/* Weights of rows as they are added up; a table finds the entry of a row. */
typedef struct Sums {
  int32_t row[ENTRIES_MAX];
  float weight[ENTRIES_MAX];
  int16_t slot[ENTRIES_MAX];
  int16_t table[TABLE_SIZE]; /* an entry plus 1, or 0 */
  int count;
} Sums;

static void clear(Sums *s) {
  for (int k = 0; k < s->count; k++) s->table[s->slot[k]] = 0;
  s->count = 0;
}

static void add_entry(Sums *s, int32_t row, float weight) {
  const uint32_t SPREAD = 2654435769U; /* 2^32 over the golden ratio */
  uint32_t at = (uint32_t)row * SPREAD >> (32 - TABLE_BITS);
  while (s->table[at] && s->row[s->table[at] - 1] != row) at = (at + 1) % TABLE_SIZE;
  if (!s->table[at]) {
    if (s->count == ENTRIES_MAX) return; /* a preconditioner may leave out the rest */
    s->row[s->count] = row;
    s->weight[s->count] = 0;
    s->slot[s->count] = (int16_t)at;
    s->table[at] = (int16_t)++s->count;
  }
  s->weight[s->table[at] - 1] += weight;
}

/* Adds up the terms of group g: K, and the weights of rows; returns the sum of trace K. */
static float add_group(const Projection *a, int64_t g, float K[12], Sums *fine) {
  float total = 0;
  Term term;
  clear(fine);
  memset(K, 0, 12 * sizeof *K);
  for (int32_t k = a->first[g]; k < a->first[g + 1]; k++) {
    int64_t t = a->order[k];
    float share = add_matrix(a, t, K), signed_share = (float)a->side[3 * t + 2] * share;
    total += share;
    get_term(a, t, &term);
    for (int64_t e = 0; e < term.count; e++)
      add_entry(fine, term.row[e], signed_share * term.weight[e]);
  }
  return total;
}

/* ---- The next level ---- */

/* coarse = the weights of group g on the next level; sets K of its term there. */
static void project_group(const Projection *a, int64_t g, Sums *fine, Sums *coarse) {
  const HkWeights *P = &a->level->P;
  float total = add_group(a, g, a->next->K + 12 * g, fine);
  float scale = total > 0 ? 1 / total : 0;
  clear(coarse);
  for (int k = 0; k < fine->count; k++)
    for (int32_t p = P->start[fine->row[k]]; p < P->start[fine->row[k] + 1]; p++)
      add_entry(coarse, P->column[p], scale * fine->weight[k] * P->weight[p]);
}

/* Blocks of groups. Entries are kept until all are counted, if those of the block fit into the
 * place that its terms have for them; otherwise they are found a second time. */
static bool fits(const Projection *a, int64_t begin, int64_t end, int64_t count) {
  return count <= KEPT_ENTRIES * (int64_t)(a->first[end] - a->first[begin]);
}

static void count_range(void *user, int64_t block_begin, int64_t block_end) {
  const Projection *a = user;
  Sums fine = {.count = 0}, coarse = {.count = 0};
  for (int64_t block = block_begin; block < block_end; block++) {
    int64_t begin = GROUP_GRAIN * block, count = 0;
    int64_t end = begin + GROUP_GRAIN < a->groups ? begin + GROUP_GRAIN : a->groups;
    Entry *to = a->entry + KEPT_ENTRIES * (int64_t)a->first[begin];
    for (int64_t g = begin; g < end; g++) {
      project_group(a, g, &fine, &coarse);
      a->next->start[g + 1] = coarse.count;
      count += coarse.count;
      for (int k = 0; k < coarse.count && fits(a, begin, end, count); k++)
        *to++ = (Entry){coarse.row[k], coarse.weight[k]};
    }
  }
}

static void put_entry(const Projection *a, int64_t at, int64_t g, int32_t row, float weight) {
  a->next->row[at] = row;
  a->next->weight[at] = weight;
  a->next->term[at] = (int32_t)g;
}

static void fill_range(void *user, int64_t block_begin, int64_t block_end) {
  const Projection *a = user;
  const int64_t *start = a->next->start;
  Sums fine = {.count = 0}, coarse = {.count = 0};
  for (int64_t block = block_begin; block < block_end; block++) {
    int64_t begin = GROUP_GRAIN * block;
    int64_t end = begin + GROUP_GRAIN < a->groups ? begin + GROUP_GRAIN : a->groups;
    const Entry *kept = a->entry + KEPT_ENTRIES * (int64_t)a->first[begin];
    bool has_kept = fits(a, begin, end, start[end] - start[begin]);
    for (int64_t g = begin; g < end; g++) {
      if (!has_kept) project_group(a, g, &fine, &coarse);
      for (int64_t at = start[g], k = 0; at < start[g + 1]; at++, k++)
        if (has_kept)
          put_entry(a, at, g, kept[at - start[begin]].row, kept[at - start[begin]].weight);
        else
          put_entry(a, at, g, coarse.row[k], coarse.weight[k]);
    }
  }
}

/* The first term of each group; returns the number of groups. */
static int64_t find_groups(const Projection *a) {
  int64_t groups = 0;
  for (int64_t k = 0; k < a->count; k++) {
    const int32_t *side = a->side + 3 * (int64_t)a->order[k];
    const int32_t *before = k > 0 ? a->side + 3 * (int64_t)a->order[k - 1] : NULL;
    if (!before || side[0] != before[0] || side[1] != before[1]) a->first[groups++] = (int32_t)k;
  }
  a->first[groups] = (int32_t)a->count;
  return groups;
}

static HkStatus project(Projection *a, int threads, HkError *error) {
  const HkContext *c = &a->m->model->context;
  HkLevelTerms *next = a->next;
  next->count = next->row_count = 0;
  if (a->count == 0) return HK_OK;
  hk_parallel_work(threads, a->count, TERM_GRAIN, side_range, a);
  HK_TRY(sort_terms(a, threads, error));
  a->groups = find_groups(a);
  int64_t blocks = (a->groups + GROUP_GRAIN - 1) / GROUP_GRAIN;
  HK_TRY(hk_level_terms_grow(c, next, a->groups, error));
  next->start[0] = 0;
  hk_parallel_work(threads, blocks, 1, count_range, a);
  for (int64_t g = 0; g < a->groups; g++) next->start[g + 1] += next->start[g];
  HK_TRY(hk_level_terms_grow_entries(c, next, next->start[a->groups], error));
  hk_parallel_work(threads, blocks, 1, fill_range, a);
  next->count = a->groups;
  return hk_level_terms_finish(a->m, next, a->level[1].n, threads, error);
}

HkStatus hk_level_terms_project(HkMultigrid *m, int k, const uint8_t *held, int threads,
                                HkError *error) {
  const HkTermRows *rows = m->fine_terms.rows;
  Projection a = {.m = m,
                  .level = &m->level[k],
                  .fine = rows && k == 0 ? rows->terms : NULL,
                  .held = held,
                  .next = &m->level[k + 1].terms};
  a.count = rows && k == 0 ? rows->terms->count : m->level[k].terms.count;
  if (rows) {
    a.entry = (Entry *)rows->terms->y;
    a.side = (int32_t *)(a.entry + KEPT_ENTRIES * a.count);
    a.order = a.side + 3 * a.count;
    a.first = a.order + a.count;
  }
  return project(&a, threads, error);
}
