/* The tree of boxes; see tree.h. */
#include "contact/tree.h"

#include "base/isa.h"

#include <math.h>

HK_KERNEL_TABLE(HkBoxKernels, hk_box_kernels)

enum { WIDTH = HK_CONTACT_WIDTH, FIT_GRAIN = 256 };

/* ---- Order ---- */

/* The longest extent of the elements order[0 .. count - 1]. */
static int longest_axis(const double *center, const int32_t *order, int64_t count) {
  double size[3];
  for (int c = 0; c < 3; c++) {
    double low = INFINITY, high = -INFINITY;
    for (int64_t k = 0; k < count; k++) {
      double x = center[3 * (int64_t)order[k] + c];
      low = x < low ? x : low;
      high = x > high ? x : high;
    }
    size[c] = high - low;
  }
  int axis = size[1] > size[0] ? 1 : 0;
  return size[2] > size[axis] ? 2 : axis;
}

/* Elements are compared along an axis, and those at one place by their number. */
static bool is_before(const double *center, int axis, int32_t a, int32_t b) {
  double x = center[3 * (int64_t)a + axis], y = center[3 * (int64_t)b + axis];
  return x < y || (x == y && a < b);
}

static void swap(int32_t *a, int32_t *b) {
  int32_t kept = *a;
  *a = *b;
  *b = kept;
}

/* Quickselect: the `part` first elements along the axis come first. */
static void divide(const double *center, int axis, int32_t *order, int64_t count, int64_t part) {
  int64_t low = 0, high = count - 1;
  while (low < high) {
    int32_t pivot = order[low + (high - low) / 2];
    int64_t i = low, j = high;
    while (i <= j) {
      while (is_before(center, axis, order[i], pivot)) i++;
      while (is_before(center, axis, pivot, order[j])) j--;
      if (i <= j) swap(&order[i++], &order[j--]);
    }
    if (part <= j)
      high = j;
    else if (part >= i)
      low = i;
    else
      return;
  }
}

/* Halves, at a whole number of the largest nodes below. */
static void sort(const double *center, int32_t *order, int64_t count) {
  if (count <= WIDTH) return;
  int64_t node = WIDTH;
  while (node * WIDTH < count) node *= WIDTH;
  int64_t part = (count / 2 + node - 1) / node * node;
  if (part >= count) part -= node;
  divide(center, longest_axis(center, order, count), order, count, part);
  sort(center, order, part);
  sort(center, order + part, count - part);
}

void hk_tree_order(const double *center, int64_t count, int32_t *order) {
  for (int64_t k = 0; k < count; k++) order[k] = (int32_t)k;
  sort(center, order, count);
}

/* ---- Boxes ---- */

HkStatus hk_tree_create(const HkModel *m, const HkFeatures *f, HkTree *tree, HkError *error) {
  int64_t total = 0, count = f->slot_count / WIDTH;
  HkIsa isa;
  *tree = (HkTree){0};
  HK_TRY(hk_isa_pick(&isa, error));
  tree->kernels = hk_box_kernels_of(isa);
  while (count > 0) {
    HK_ASSERT(tree->levels < HK_TREE_LEVELS_MAX);
    tree->first[tree->levels] = total;
    tree->count[tree->levels++] = count;
    total += count;
    if (count == 1) break;
    count = (count + WIDTH - 1) / WIDTH;
  }
  return hk_alloc(&m->context, &tree->node, total, sizeof *tree->node, "contact", error);
}

void hk_tree_destroy(const HkModel *m, HkTree *tree) {
  hk_free(&m->context, &tree->node);
  *tree = (HkTree){0};
}

size_t hk_tree_bytes(const HkTree *tree) {
  int top = tree->levels - 1;
  return top < 0 ? 0 : (size_t)(tree->first[top] + tree->count[top]) * sizeof *tree->node;
}

static const HkBox EMPTY = {{{INFINITY, INFINITY, INFINITY, 0}, {INFINITY, INFINITY, INFINITY, 0}},
                            {{INFINITY, INFINITY, INFINITY, 0}, {INFINITY, INFINITY, INFINITY, 0}}};

static void set_box(HkTreeNode *node, int s, const HkBox *box) {
  for (int e = 0; e < 2; e++)
    for (int c = 0; c < 3; c++) {
      node->low[e][c][s] = box->low[e][c];
      node->high[e][c][s] = -box->minus_high[e][c];
    }
}

/* The box of all boxes of a node. */
static HkBox hull(const HkTreeNode *node) {
  HkBox box = EMPTY;
  for (int e = 0; e < 2; e++)
    for (int c = 0; c < 3; c++) {
      float low = INFINITY, high = -INFINITY;
      for (int s = 0; s < WIDTH; s++) {
        low = node->low[e][c][s] < low ? node->low[e][c][s] : low;
        high = node->high[e][c][s] > high ? node->high[e][c][s] : high;
      }
      box.low[e][c] = low;
      box.minus_high[e][c] = -high;
    }
  return box;
}

typedef struct Fit {
  HkTree *tree;
  const HkFeatures *f;
  const HkBox *vertex;
  int level;
} Fit;

static void fit_slots(void *user, int64_t begin, int64_t end) {
  const Fit *a = user;
  for (int64_t b = begin; b < end; b++) {
    HkTreeNode *node = &a->tree->node[b];
    for (int s = 0; s < WIDTH; s++) {
      const int32_t *v = a->f->vertex + 3 * (WIDTH * b + s);
      bool empty = a->f->corners[WIDTH * b + s] == 0;
      HkBox box = EMPTY;
      for (int k = 0; k < 3 && !empty; k++) hk_box_add(&box, &a->vertex[v[k]]);
      set_box(node, s, &box);
    }
  }
}

static void fit_nodes(void *user, int64_t begin, int64_t end) {
  const Fit *a = user;
  const HkTree *tree = a->tree;
  int64_t below = tree->count[a->level - 1];
  for (int64_t b = begin; b < end; b++) {
    HkTreeNode *node = &tree->node[tree->first[a->level] + b];
    for (int s = 0; s < WIDTH; s++) {
      HkBox box = EMPTY;
      if (WIDTH * b + s < below) box = hull(&tree->node[tree->first[a->level - 1] + WIDTH * b + s]);
      set_box(node, s, &box);
    }
  }
}

void hk_tree_fit(HkTree *tree, const HkFeatures *f, const HkBox *vertex, int threads) {
  Fit a = {tree, f, vertex, 0};
  if (tree->levels == 0) return;
  hk_parallel_work(threads, tree->count[0], FIT_GRAIN, fit_slots, &a);
  for (a.level = 1; a.level < tree->levels; a.level++)
    hk_parallel_work(threads, tree->count[a.level], FIT_GRAIN, fit_nodes, &a);
}

/* ---- Search ---- */

typedef struct Search {
  const HkTree *tree;
  const HkFeatures *f;
  int64_t block;
  bool all;  /* also blocks before it */
  HkBox box; /* of the block */
  HkTreeFn *found;
  void *user;
} Search;

/* The slots of two blocks against each other. */
static void compare(const Search *search, int64_t other) {
  const HkFeatures *f = search->f;
  int64_t first = search->block < other ? search->block : other;
  int64_t second = search->block < other ? other : search->block;
  const HkTreeNode *own = &search->tree->node[first];
  if (!hk_features_meet(f, f->group[first], f->group[second])) return;
  uint64_t bits = search->tree->kernels->meet(own, &search->tree->node[second]);
  for (; bits; bits &= bits - 1) {
    int at = __builtin_ctzll(bits), i = at / WIDTH, s = at % WIDTH;
    if (first != second || s > i)
      search->found(search->user, WIDTH * first + i, WIDTH * second + s);
  }
}

/* The blocks that node `index` of a level covers, from search->block on or all. */
static void descend(const Search *search, int level, int64_t index) {
  const HkTree *tree = search->tree;
  unsigned bits = tree->kernels->overlaps(&tree->node[tree->first[level] + index], &search->box);
  int64_t size = 1; /* blocks below one box of the node */
  for (int l = 1; l < level; l++) size *= WIDTH;
  for (int s = 0; s < WIDTH && bits >> s; s++) {
    int64_t child = WIDTH * index + s;
    if (!(bits >> s & 1) || (!search->all && (child + 1) * size <= search->block)) continue;
    if (level > 1)
      descend(search, level - 1, child);
    else
      compare(search, child);
  }
}

static void begin(Search *search) {
  const HkTree *tree = search->tree;
  search->box = hull(&tree->node[search->block]);
  if (tree->levels > 1)
    descend(search, tree->levels - 1, 0);
  else
    compare(search, 0);
}

void hk_tree_search(const HkTree *tree, const HkFeatures *f, int64_t block, HkTreeFn *found,
                    void *user) {
  Search search = {.tree = tree, .f = f, .block = block, .found = found, .user = user};
  begin(&search);
}

void hk_tree_search_all(const HkTree *tree, const HkFeatures *f, int64_t block, HkTreeFn *found,
                        void *user) {
  Search search = {.tree = tree, .f = f, .block = block, .all = true, .found = found, .user = user};
  begin(&search);
}
