/* Cutting the elimination tree; see packed_tree.h.
 *
 * To begin with the top is empty, and the subtrees are those of the roots. Again and again the
 * heaviest subtree gives its root to the top and leaves the subtrees of its children. With W the
 * work of the top, H that of the heaviest subtree and R that of all of them, t threads need about
 *
 *     W + max(H, R / t)
 *
 * The cut that makes the sum over t = 2, counted four times, and t = 4 least is taken: as long as H
 * is large it pays to go on, and then the growing top costs more than it brings. The subtrees,
 * heaviest first, each go to the part that has the least work so far.
 */
#include "linear/packed_tree.h"

/* Splits of subtrees that are tried; more do not improve the cut. */
enum { MAX_SPLITS = 64 };

/* Cost of gathering and scattering the rows of a panel, in columns of the panel. */
enum { ROW_COST = 6 };

typedef struct Tree {
  const HkSupernodes *view;
  int64_t *child, *sibling; /* lists of children */
  double *own, *whole;      /* work of a supernode, and of all its subtree */
  int64_t *heap, size;      /* the subtrees, the heaviest first */
  double top;               /* work of it */
  double rest;
  int64_t *memory;
  double *work;
} Tree;

int64_t hk_supernodes_parent(const HkSupernodes *v, const int32_t *owner, int64_t s) {
  int64_t above = v->start[s] + v->first[s + 1] - v->first[s];
  return above < v->start[s + 1] ? owner[v->row[above]] : -1;
}

/* ---- A heap of subtrees ---- */

/* Whether a is before b; equals by their numbers, so that the order is always the same. */
static bool is_heavier(const Tree *t, int64_t a, int64_t b) {
  return t->whole[a] != t->whole[b] ? t->whole[a] > t->whole[b] : a < b;
}

static void push(Tree *t, int64_t s) {
  int64_t at = t->size++;
  for (; at > 0 && is_heavier(t, s, t->heap[(at - 1) / 2]); at = (at - 1) / 2)
    t->heap[at] = t->heap[(at - 1) / 2];
  t->heap[at] = s;
}

static int64_t pop(Tree *t) {
  int64_t result = t->heap[0], s = t->heap[--t->size], at = 0;
  for (;;) {
    int64_t next = 2 * at + 1;
    if (next >= t->size) break;
    if (next + 1 < t->size && is_heavier(t, t->heap[next + 1], t->heap[next])) next++;
    if (!is_heavier(t, t->heap[next], s)) break;
    t->heap[at] = t->heap[next];
    at = next;
  }
  t->heap[at] = s;
  return result;
}

/* ---- The tree ---- */

static HkStatus allocate(const HkContext *c, Tree *t, HkError *error) {
  int64_t count = t->view->count;
  HK_TRY(hk_alloc(c, &t->memory, 3 * count, sizeof *t->memory, "a factorization", error));
  HK_TRY(hk_alloc(c, &t->work, 2 * count, sizeof *t->work, "a factorization", error));
  t->child = t->memory;
  t->sibling = t->memory + count;
  t->heap = t->memory + 2 * count;
  t->own = t->work;
  t->whole = t->work + count;
  return HK_OK;
}

static void build_tree(Tree *t, const int32_t *owner) {
  const HkSupernodes *v = t->view;
  for (int64_t s = 0; s < v->count; s++) {
    double rows = (double)(v->start[s + 1] - v->start[s]);
    double columns = (double)(v->first[s + 1] - v->first[s]);
    t->child[s] = -1;
    t->own[s] = rows * (columns + ROW_COST);
    t->whole[s] = t->own[s];
  }
  for (int64_t s = 0; s < v->count; s++) {
    int64_t up = hk_supernodes_parent(v, owner, s);
    if (up >= 0) {
      t->sibling[s] = t->child[up];
      t->child[up] = s;
      t->whole[up] += t->whole[s];
    } else {
      t->rest += t->whole[s];
      push(t, s);
    }
  }
}

static double cost(const Tree *t) {
  double heaviest = t->size > 0 ? t->whole[t->heap[0]] : 0;
  double two = t->rest / 2 > heaviest ? t->rest / 2 : heaviest;
  double four = t->rest / 4 > heaviest ? t->rest / 4 : heaviest;
  return 5 * t->top + 4 * two + four;
}

/* The root of the heaviest subtree goes to the top. */
static void split(Tree *t) {
  int64_t s = pop(t);
  t->top += t->own[s];
  t->rest -= t->own[s];
  for (int64_t child = t->child[s]; child >= 0; child = t->sibling[child]) push(t, child);
}

/* How many splits are best. */
static int count_splits(Tree *t) {
  double least = cost(t);
  int best = 0;
  for (int splits = 1; splits <= MAX_SPLITS && t->size > 0; splits++) {
    split(t);
    if (cost(t) >= least) continue;
    least = cost(t);
    best = splits;
  }
  return best;
}

/* Starts again from the roots. */
static void restart(Tree *t, const int32_t *owner) {
  t->size = 0;
  t->top = t->rest = 0;
  build_tree(t, owner);
}

static int assign_parts(Tree *t, int32_t *part) {
  double load[HK_PARTS_MAX] = {0};
  int parts = t->size < HK_PARTS_MAX ? (int)t->size : HK_PARTS_MAX;
  while (t->size > 0) {
    int lightest = 0;
    int64_t s = pop(t);
    for (int k = 1; k < parts; k++)
      if (load[k] < load[lightest]) lightest = k;
    load[lightest] += t->whole[s];
    part[s] = lightest;
  }
  return parts;
}

HkStatus hk_packed_cut(const HkContext *context, const HkSupernodes *view, const int32_t *owner,
                       int32_t *part, int *parts, HkError *error) {
  Tree t = {.view = view};
  HkStatus status = allocate(context, &t, error);
  if (status >= 0) {
    build_tree(&t, owner);
    int splits = count_splits(&t);
    restart(&t, owner);
    for (int k = 0; k < splits; k++) split(&t);
    for (int64_t s = 0; s < view->count; s++) part[s] = -1;
    *parts = assign_parts(&t, part);
    for (int64_t s = view->count - 1; s >= 0; s--) {
      int64_t up = hk_supernodes_parent(view, owner, s);
      if (part[s] < 0) part[s] = up >= 0 && part[up] < *parts ? part[up] : *parts;
    }
  }
  hk_free(context, &t.memory);
  hk_free(context, &t.work);
  return status;
}
