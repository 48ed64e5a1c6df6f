/* Vertices ordered in space by recursive bisection: see layout.h.
 *
 * A box of vertices is cut across its longest side so that each half has its share of the parts.
 * On grids and lattices the parts are near squares and cubes, whose halo is small; on any other
 * mesh they are compact. Positions are those at the start. n log(parts) time.
 */
#include "backend/gpu/layout.h"

typedef struct Cut {
  const double *x;
  int32_t *order;
} Cut;

static int longest_side(const Cut *cut, int64_t begin, int64_t end) {
  double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
  for (int64_t q = begin; q < end; q++)
    for (int c = 0; c < 3; c++) {
      double at = cut->x[3 * (int64_t)cut->order[q] + c];
      low[c] = at < low[c] ? at : low[c];
      high[c] = at > high[c] ? at : high[c];
    }
  int longest = 0;
  for (int c = 1; c < 3; c++)
    if (high[c] - low[c] > high[longest] - low[longest]) longest = c;
  return longest;
}

/* Compares positions along the axis, and vertex numbers where positions are equal. */
static inline bool is_before(const Cut *cut, int axis, int32_t a, int32_t b) {
  double at = cut->x[3 * (int64_t)a + axis], bt = cut->x[3 * (int64_t)b + axis];
  return at < bt || (at == bt && a < b);
}

static inline void swap(int32_t *order, int64_t a, int64_t b) {
  int32_t kept = order[a];
  order[a] = order[b];
  order[b] = kept;
}

static int32_t middle_of_three(const Cut *cut, int axis, int64_t begin, int64_t end) {
  int32_t a = cut->order[begin], b = cut->order[begin + (end - begin) / 2];
  int32_t c = cut->order[end - 1];
  if (is_before(cut, axis, b, a)) {
    int32_t kept = a;
    a = b;
    b = kept;
  }
  if (is_before(cut, axis, b, c)) return b;
  return is_before(cut, axis, a, c) ? c : a;
}

/* Partitions by Hoare's selection: the first vertices along the axis precede `middle`. */
static void select_first(const Cut *cut, int axis, int64_t begin, int64_t middle, int64_t end) {
  while (end - begin > 1) {
    int32_t pivot = middle_of_three(cut, axis, begin, end);
    int64_t low = begin, high = end - 1;
    while (low <= high) {
      while (is_before(cut, axis, cut->order[low], pivot)) low++;
      while (is_before(cut, axis, pivot, cut->order[high])) high--;
      if (low <= high) swap(cut->order, low++, high--);
    }
    if (middle <= high)
      end = high + 1;
    else if (middle >= low)
      begin = low;
    else
      return;
  }
}

/* Sorts vertex numbers (Shell's method); a part has some hundred of them. */
static void sort_part(int32_t *order, int64_t count) {
  static const int gaps[] = {701, 301, 132, 57, 23, 10, 4, 1};
  for (size_t g = 0; g < sizeof gaps / sizeof gaps[0]; g++)
    for (int64_t q = gaps[g]; q < count; q++) {
      int32_t kept = order[q];
      int64_t at = q;
      for (; at >= gaps[g] && order[at - gaps[g]] > kept; at -= gaps[g])
        order[at] = order[at - gaps[g]];
      order[at] = kept;
    }
}

int64_t hk_gpu_part(int64_t n, int64_t parts, int64_t part) {
  int64_t each = n / parts, left = n % parts;
  return each * part + (part < left ? part : left);
}

/* A range of parts that one task bisects further. */
typedef struct Range {
  int64_t first, count;
} Range;

typedef struct Plan {
  Cut cut;
  int64_t n, parts;
  Range *ranges;
} Plan;

static void cut_once(const Plan *p, Range range) {
  int64_t begin = hk_gpu_part(p->n, p->parts, range.first);
  int64_t middle = hk_gpu_part(p->n, p->parts, range.first + range.count / 2);
  int64_t end = hk_gpu_part(p->n, p->parts, range.first + range.count);
  if (middle == begin || middle == end) return;
  select_first(&p->cut, longest_side(&p->cut, begin, end), begin, middle, end);
}

/* Bisects to single parts; the recursion is log2(parts) deep. */
static void cut_all(const Plan *p, Range range) {
  while (range.count > 1) {
    cut_once(p, range);
    cut_all(p, (Range){range.first, range.count / 2});
    range = (Range){range.first + range.count / 2, range.count - range.count / 2};
  }
  int64_t begin = hk_gpu_part(p->n, p->parts, range.first);
  sort_part(p->cut.order + begin, hk_gpu_part(p->n, p->parts, range.first + 1) - begin);
}

static void halve_task(void *user, int task) {
  const Plan *p = user;
  cut_once(p, p->ranges[task]);
}

static void rest_task(void *user, int task) {
  const Plan *p = user;
  cut_all(p, p->ranges[task]);
}

void hk_gpu_order(const HkModel *model, int64_t parts, int32_t *order) {
  enum { TASKS = 64 };
  Range ranges[TASKS] = {{0, parts}};
  Plan p = {.cut = {model->x0, order}, .n = model->n, .parts = parts, .ranges = ranges};
  for (int64_t q = 0; q < model->n; q++) order[q] = (int32_t)q;
  int count = 1;
  for (; count < TASKS && parts > 2 * TASKS; count *= 2) {
    hk_parallel_tasks(model->threads, count, halve_task, &p);
    for (int q = count - 1; q >= 0; q--) {
      Range whole = ranges[q];
      ranges[2 * q] = (Range){whole.first, whole.count / 2};
      ranges[2 * q + 1] = (Range){whole.first + whole.count / 2, whole.count - whole.count / 2};
    }
  }
  hk_parallel_tasks(model->threads, count, rest_task, &p);
}
