/* Symbolic factorization: elimination tree, supernodes, rows; see symbolic.h.
 *
 * parent(j) = the first row below the diagonal of column j of L. The rows of column j are among
 * those of its parent, so that a postorder of this tree brings columns with the same rows next to
 * each other. A supernode takes in the child that stands before it, too, where the zeros that the
 * panel then stores cost less than a panel more would.
 */
#include "linear/symbolic.h"

#include "base/sort.h"
#include "linear/ordering.h"

#include <stdlib.h>
#include <string.h>

/* Lists of rows for each column. */
typedef struct Lists {
  int64_t *start, *row;
} Lists;

/* What is needed while analyzing. */
typedef struct Work {
  const HkContext *context;
  const HkSparse *a;
  HkSymbolic *s;
  int64_t *rank;          /* the inverse of order */
  int64_t *parent, *size; /* the tree; entries of the columns of L */
  int64_t *mark, *head, *next;
  int64_t *memory;
  Lists upper, lower;
} Work;

/* ---- Elimination tree ---- */

/* The entries of A beside the diagonal in the new order, under their larger (upper) or their
 * smaller number. */
static void list_entries(Work *w, bool upper, Lists *lists) {
  const HkSparse *a = w->a;
  for (int pass = 0; pass < 2; pass++) {
    for (int64_t column = 0; column < a->n; column++)
      for (int64_t e = a->start[column]; e < a->start[column + 1]; e++) {
        int64_t i = w->rank[column], j = w->rank[a->row[e]];
        if (i == j) continue;
        int64_t large = i > j ? i : j, small = i > j ? j : i;
        int64_t at = upper ? large : small;
        if (pass == 0)
          lists->start[at + 1]++;
        else
          lists->row[lists->start[at]++] = upper ? small : large;
      }
    if (pass == 0)
      for (int64_t i = 0; i < a->n; i++) lists->start[i + 1] += lists->start[i];
  }
  /* The second pass has moved every start to the next one. */
  memmove(lists->start + 1, lists->start, (size_t)a->n * sizeof *lists->start);
  lists->start[0] = 0;
}

static void find_parents(Work *w) {
  int64_t *ancestor = w->mark; /* a shortcut upwards */
  for (int64_t k = 0; k < w->a->n; k++) {
    w->parent[k] = ancestor[k] = -1;
    for (int64_t e = w->upper.start[k]; e < w->upper.start[k + 1]; e++)
      for (int64_t i = w->upper.row[e], up; i >= 0 && i < k; i = up) {
        up = ancestor[i];
        ancestor[i] = k;
        if (up < 0) w->parent[i] = k;
      }
  }
}

/* position[k] = place of column k in a postorder. */
static void number_postorder(Work *w, int64_t *position) {
  int64_t n = w->a->n, count = 0;
  for (int64_t k = 0; k < n; k++) w->head[k] = -1;
  for (int64_t k = n - 1; k >= 0; k--) {
    if (w->parent[k] < 0) continue;
    w->next[k] = w->head[w->parent[k]];
    w->head[w->parent[k]] = k;
  }
  for (int64_t root = 0; root < n; root++) {
    if (w->parent[root] >= 0) continue;
    for (int64_t k = root; k >= 0;) {
      int64_t child = w->head[k];
      if (child >= 0) {
        w->head[k] = w->next[child];
        k = child;
      } else {
        position[k] = count++;
        k = k == root ? -1 : w->parent[k];
      }
    }
  }
}

/* Row k of L has entries in the columns from those of A's row k up the tree to k. */
static void count_entries(Work *w) {
  for (int64_t k = 0; k < w->a->n; k++) {
    w->mark[k] = k;
    w->size[k] = 1;
    for (int64_t e = w->upper.start[k]; e < w->upper.start[k + 1]; e++)
      for (int64_t i = w->upper.row[e]; w->mark[i] != k; i = w->parent[i]) {
        w->mark[i] = k;
        w->size[i]++;
      }
  }
  for (int64_t k = 0; k < w->a->n; k++) w->s->entries += w->size[k];
}

static void set_rank(Work *w) {
  for (int64_t k = 0; k < w->a->n; k++) w->rank[w->s->order[k]] = k;
}

static HkStatus plant_tree(Work *w, HkError *error) {
  int64_t n = w->a->n, *position = w->size;
  HK_TRY(hk_ordering_find(w->context, w->a, w->s->order, error));
  set_rank(w);
  list_entries(w, true, &w->upper);
  find_parents(w);
  number_postorder(w, position);
  for (int64_t i = 0; i < n; i++) w->rank[i] = position[w->rank[i]];
  for (int64_t i = 0; i < n; i++) w->s->order[w->rank[i]] = i;
  memset(w->upper.start, 0, (size_t)(n + 1) * sizeof *w->upper.start);
  list_entries(w, true, &w->upper);
  list_entries(w, false, &w->lower);
  find_parents(w);
  count_entries(w);
  return HK_OK;
}

/* ---- Supernodes ---- */

/* True if a panel of columns and rows may hold that many zeros: narrow panels may hold more. */
static bool may_hold(double columns, double rows, double zeros) {
  double all = columns * rows - columns * (columns - 1) / 2;
  double part = columns <= 4 ? 0.6 : columns <= 16 ? 0.4 : columns <= 48 ? 0.15 : 0.05;
  return zeros <= part * all;
}

/* Cuts the columns into supernodes from left to right; each takes in those before it that end in
 * it, as long as they fit. Sizes and zeros by supernode stand in head and next. */
static void cut_columns(Work *w) {
  HkSymbolic *s = w->s;
  int64_t *rows = w->head, *zeros = w->next, count = 0;
  for (int64_t k = 0, end; k < s->n; k = end) {
    for (end = k + 1;
         end < s->n && w->parent[end - 1] == end && w->size[end - 1] == w->size[end] + 1;)
      end++;
    int64_t begin = k, height = w->size[k], empty = 0;
    while (count > 0 && w->parent[begin - 1] >= 0 && w->parent[begin - 1] < end) {
      int64_t child = begin - s->first[count - 1];
      int64_t sum = empty + zeros[count - 1] + child * (height - (rows[count - 1] - child));
      if (!may_hold((double)(end - begin + child), (double)(child + height), (double)sum)) break;
      count--;
      begin -= child;
      height += child;
      empty = sum;
    }
    s->first[count] = begin;
    rows[count] = height;
    zeros[count++] = empty;
  }
  s->count = count;
  s->first[count] = s->n;
  for (int64_t node = 0; node < count; node++) {
    s->start[node + 1] = s->start[node] + rows[node];
    s->panel[node + 1] = s->panel[node] + rows[node] * (s->first[node + 1] - s->first[node]);
    if (rows[node] > s->tallest) s->tallest = rows[node];
    for (int64_t k = s->first[node]; k < s->first[node + 1]; k++) s->owner[k] = node;
  }
}

static int64_t add_rows(Work *w, int64_t node, const int64_t *list, int64_t length, int64_t count) {
  for (int64_t e = 0; e < length; e++) {
    if (list[e] < w->s->first[node + 1] || w->mark[list[e]] == node) continue;
    w->mark[list[e]] = node;
    w->s->row[w->s->start[node] + count++] = list[e];
  }
  return count;
}

/* The rows of a supernode: its own columns, and below them those of A and of its children. */
static void list_rows(Work *w) {
  HkSymbolic *s = w->s;
  for (int64_t k = 0; k < s->n; k++) w->mark[k] = w->head[k] = -1;
  for (int64_t node = 0; node < s->count; node++) {
    int64_t *rows = s->row + s->start[node], own = s->first[node + 1] - s->first[node], count = own;
    for (int64_t k = 0; k < own; k++) rows[k] = s->first[node] + k;
    for (int64_t k = s->first[node]; k < s->first[node + 1]; k++)
      count = add_rows(w, node, w->lower.row + w->lower.start[k],
                       w->lower.start[k + 1] - w->lower.start[k], count);
    for (int64_t child = w->head[node]; child >= 0; child = w->next[child])
      count =
          add_rows(w, node, s->row + s->start[child], s->start[child + 1] - s->start[child], count);
    hk_sort_int64(rows + own, count - own);
    if (count == own) continue;
    int64_t up = s->owner[rows[own]];
    w->next[node] = w->head[up];
    w->head[up] = node;
  }
}

/* ---- Where values go ---- */

static int64_t find_row(const HkSymbolic *s, int64_t node, int64_t row) {
  int64_t low = s->start[node], high = s->start[node + 1] - 1;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (s->row[middle] < row)
      low = middle + 1;
    else
      high = middle;
  }
  return low - s->start[node];
}

static void find_targets(Work *w) {
  HkSymbolic *s = w->s;
  for (int64_t j = 0; j < s->n; j++)
    for (int64_t e = w->a->start[j]; e < w->a->start[j + 1]; e++) {
      int64_t i = w->rank[w->a->row[e]], k = w->rank[j];
      int64_t row = i > k ? i : k, column = i > k ? k : i, node = s->owner[column];
      s->target[e] = s->panel[node] +
                     (column - s->first[node]) * (s->start[node + 1] - s->start[node]) +
                     find_row(s, node, row);
    }
}

static void measure_updates(HkSymbolic *s) {
  for (int64_t node = 0; node < s->count; node++) {
    int64_t end = s->start[node + 1];
    for (int64_t from = s->start[node] + s->first[node + 1] - s->first[node], to; from < end;
         from = to) {
      int64_t limit = s->first[s->owner[s->row[from]] + 1];
      for (to = from; to < end && s->row[to] < limit;) to++;
      if ((end - from) * (to - from) > s->update) s->update = (end - from) * (to - from);
    }
  }
}

/* ---- All together ---- */

static HkStatus allocate(Work *w, HkError *error) {
  HkSymbolic *s = w->s;
  const HkContext *c = w->context;
  int64_t n = w->a->n, entries = w->a->start[n], lists = 2 * (n + 1) + 2 * (entries - n);
  HK_TRY(hk_alloc(c, &w->memory, 6 * n + lists, sizeof *w->memory, "a factorization", error));
  int64_t **arrays[] = {&w->rank, &w->parent, &w->size, &w->mark, &w->head, &w->next};
  for (int k = 0; k < 6; k++) *arrays[k] = w->memory + k * n;
  w->upper.start = w->memory + 6 * n;
  w->lower.start = w->upper.start + n + 1;
  w->upper.row = w->lower.start + n + 1;
  w->lower.row = w->upper.row + entries - n;
  HK_TRY(hk_alloc(c, &s->order, n, sizeof *s->order, "a factorization", error));
  HK_TRY(hk_alloc(c, &s->owner, n, sizeof *s->owner, "a factorization", error));
  HK_TRY(hk_alloc(c, &s->first, n + 1, sizeof *s->first, "a factorization", error));
  HK_TRY(hk_alloc(c, &s->start, n + 1, sizeof *s->start, "a factorization", error));
  HK_TRY(hk_alloc(c, &s->panel, n + 1, sizeof *s->panel, "a factorization", error));
  s->bytes = (size_t)(5 * n + 3 + entries) * sizeof *s->order;
  return hk_alloc(c, &s->target, entries, sizeof *s->target, "a factorization", error);
}

static HkStatus analyze(Work *w, HkError *error) {
  HkSymbolic *s = w->s;
  HK_TRY(allocate(w, error));
  HK_TRY(plant_tree(w, error));
  cut_columns(w);
  int64_t rows = s->start[s->count];
  HK_TRY(hk_alloc(w->context, &s->row, rows, sizeof *s->row, "a factorization", error));
  s->bytes += (size_t)rows * sizeof *s->row;
  list_rows(w);
  find_targets(w);
  measure_updates(s);
  return HK_OK;
}

HkStatus hk_symbolic_create(const HkContext *context, const HkSparse *pattern, HkSymbolic *symbolic,
                            HkError *error) {
  *symbolic = (HkSymbolic){.n = pattern->n, .given = pattern->start[pattern->n]};
  Work w = {.context = context, .a = pattern, .s = symbolic};
  HkStatus status = analyze(&w, error);
  hk_free(context, &w.memory);
  if (status < 0) hk_symbolic_destroy(context, symbolic);
  return status;
}

void hk_symbolic_destroy(const HkContext *context, HkSymbolic *s) {
  hk_free(context, &s->order);
  hk_free(context, &s->first);
  hk_free(context, &s->owner);
  hk_free(context, &s->start);
  hk_free(context, &s->row);
  hk_free(context, &s->panel);
  hk_free(context, &s->target);
}
