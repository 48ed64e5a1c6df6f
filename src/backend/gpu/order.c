/* Vertices ordered in space by recursive bisection: see layout.h.
 *
 * A box of vertices is cut across its longest side so that each half has its share of the parts.
 * On grids and lattices the parts are near squares and cubes, whose halo is small; on any other
 * mesh they are compact. Positions are those at the start.
 *
 * The vertices of a range stand by rising number, before and after a cut. The first k of them along
 * the axis are those below t, the k-th smallest coordinate, and of the vertices at t those with the
 * lowest numbers. To find t the coordinates are counted in bins of equal width. The bin of the k-th
 * one is divided into bins in turn, until all coordinates in it are equal.
 *
 * A cut is a few passes over its vertices, n log(parts) time in all. Threads share the passes over
 * a large range and then cut small ranges, each on one thread. What they count are whole numbers,
 * so that the order is the same for any number of threads.
 */
#include "backend/gpu/layout.h"

#include <string.h>

enum { BINS = 1024, PIECES = 64, PIECE_MIN_VERTICES = 2048 };

/* Bins over the coordinates low .. high. */
typedef struct Bins {
  double low, scale; /* scale 0: two bins, up to `middle` and above it */
  double middle;
} Bins;

/* A piece of a range, and what has been found in it. */
typedef struct Piece {
  int64_t begin, end;
  double low[3], high[3];          /* m, box of its vertices */
  double bin_low, bin_high;        /* m, of its coordinates in one bin */
  int32_t bin[BINS];               /* its vertices in each bin */
  int32_t below, equal;            /* its vertices below and at t */
  int32_t equal_left;              /* how many of those at t come before the cut */
  int32_t *first_half, *last_half; /* where its vertices go */
} Piece;

typedef struct Cut {
  const double *x;
  int32_t *order, *scratch;
  int threads;
  Piece *pieces;
  int piece_count, axis;
  double low, high; /* m, coordinates that are counted in bins */
  Bins bins;
  int inside; /* the bin that is looked at */
  double t;   /* m, where the range is cut */
} Cut;

static inline double coordinate(const Cut *cut, int64_t q) {
  return cut->x[3 * (int64_t)cut->order[q] + cut->axis];
}

static void for_pieces(Cut *cut, HkRangeFn *fn) {
  hk_parallel_work(cut->threads, cut->piece_count, 1, fn, cut);
}

/* ---- The longest side ---- */

static void box_range(void *user, int64_t begin, int64_t end) {
  const Cut *cut = user;
  for (Piece *p = cut->pieces + begin; p < cut->pieces + end; p++) {
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int64_t q = p->begin; q < p->end; q++) {
      const double *x = cut->x + 3 * (int64_t)cut->order[q];
      for (int c = 0; c < 3; c++) {
        low[c] = x[c] < low[c] ? x[c] : low[c];
        high[c] = x[c] > high[c] ? x[c] : high[c];
      }
    }
    memcpy(p->low, low, sizeof low);
    memcpy(p->high, high, sizeof high);
  }
}

static void find_longest_side(Cut *cut) {
  for_pieces(cut, box_range);
  double longest = -1;
  for (int c = 0; c < 3; c++) {
    double low = cut->pieces[0].low[c], high = cut->pieces[0].high[c];
    for (int q = 1; q < cut->piece_count; q++) {
      low = fmin(low, cut->pieces[q].low[c]);
      high = fmax(high, cut->pieces[q].high[c]);
    }
    if (high - low > longest) {
      longest = high - low;
      cut->axis = c;
      cut->low = low;
      cut->high = high;
    }
  }
}

/* ---- Where to cut ---- */

/* The first and the last bin have at least one coordinate each, whatever is rounded: a bin has
 * fewer coordinates than all bins together. */
static Bins bins_between(double low, double high) {
  double scale = BINS / (high - low), middle = 0.5 * low + 0.5 * high;
  if (!(middle < high)) middle = low;
  return (Bins){low, isnormal(scale) ? scale : 0, middle};
}

static inline int bin_of(const Bins *b, double at) {
  if (b->scale == 0) return at > b->middle;
  int bin = (int)((at - b->low) * b->scale);
  return bin < BINS ? bin : BINS - 1;
}

static void count_range(void *user, int64_t begin, int64_t end) {
  const Cut *cut = user;
  for (Piece *p = cut->pieces + begin; p < cut->pieces + end; p++) {
    memset(p->bin, 0, sizeof p->bin);
    for (int64_t q = p->begin; q < p->end; q++) {
      double at = coordinate(cut, q);
      if (at >= cut->low && at <= cut->high) p->bin[bin_of(&cut->bins, at)]++;
    }
  }
}

static void bounds_range(void *user, int64_t begin, int64_t end) {
  const Cut *cut = user;
  for (Piece *p = cut->pieces + begin; p < cut->pieces + end; p++) {
    double low = INFINITY, high = -INFINITY;
    for (int64_t q = p->begin; q < p->end; q++) {
      double at = coordinate(cut, q);
      if (!(at >= cut->low && at <= cut->high) || bin_of(&cut->bins, at) != cut->inside) continue;
      low = at < low ? at : low;
      high = at > high ? at : high;
    }
    p->bin_low = low;
    p->bin_high = high;
  }
}

/* Finds the bin of the k-th coordinate, from 0; *k becomes its rank within the bin. */
static int find_bin(const Cut *cut, int64_t *k) {
  for (int bin = 0;; bin++) {
    int64_t count = 0;
    for (int q = 0; q < cut->piece_count; q++) count += cut->pieces[q].bin[bin];
    if (*k < count) return bin;
    *k -= count;
  }
}

/* t becomes the k-th smallest coordinate, from 0, of those between low and high. Returns how many
 * vertices at t come before the k-th. */
static int64_t select_coordinate(Cut *cut, int64_t k) {
  while (cut->low < cut->high) {
    cut->bins = bins_between(cut->low, cut->high);
    for_pieces(cut, count_range);
    cut->inside = find_bin(cut, &k);
    for_pieces(cut, bounds_range);
    double low = INFINITY, high = -INFINITY;
    for (int q = 0; q < cut->piece_count; q++) {
      low = fmin(low, cut->pieces[q].bin_low);
      high = fmax(high, cut->pieces[q].bin_high);
    }
    cut->low = low;
    cut->high = high;
  }
  cut->t = cut->low;
  return k;
}

/* ---- The cut ---- */

static void compare_range(void *user, int64_t begin, int64_t end) {
  const Cut *cut = user;
  for (Piece *p = cut->pieces + begin; p < cut->pieces + end; p++) {
    p->below = p->equal = 0;
    for (int64_t q = p->begin; q < p->end; q++) {
      double at = coordinate(cut, q);
      p->below += at < cut->t;
      p->equal += at == cut->t;
    }
  }
}

static void divide_range(void *user, int64_t begin, int64_t end) {
  const Cut *cut = user;
  for (const Piece *p = cut->pieces + begin; p < cut->pieces + end; p++) {
    int32_t *first = p->first_half, *last = p->last_half, equal_left = p->equal_left;
    for (int64_t q = p->begin; q < p->end; q++) {
      int32_t vertex = cut->order[q];
      double at = coordinate(cut, q);
      bool equal = at == cut->t, is_first = at < cut->t || (equal && equal_left > 0);
      *(is_first ? first : last) = vertex; /* without a branch, which would be mispredicted */
      first += is_first;
      last += !is_first;
      equal_left -= equal;
    }
  }
}

static void copy_range(void *user, int64_t begin, int64_t end) {
  const Cut *cut = user;
  for (const Piece *p = cut->pieces + begin; p < cut->pieces + end; p++)
    memcpy(cut->order + p->begin, cut->scratch + p->begin,
           (size_t)(p->end - p->begin) * sizeof *cut->order);
}

/* Divides a range of one piece: the first half stays in place, which it never overtakes. */
static void divide_one(Cut *cut, int64_t begin, int64_t middle, int64_t end, int64_t equal_left) {
  Piece *p = cut->pieces;
  p->equal_left = (int32_t)equal_left;
  p->first_half = cut->order + begin;
  p->last_half = cut->scratch + middle;
  divide_range(cut, 0, 1);
  memcpy(cut->order + middle, cut->scratch + middle, (size_t)(end - middle) * sizeof *cut->order);
}

static void divide(Cut *cut, int64_t begin, int64_t middle, int64_t equal_left) {
  for_pieces(cut, compare_range);
  int64_t first = begin, last = middle;
  for (Piece *p = cut->pieces; p < cut->pieces + cut->piece_count; p++) {
    int64_t equal = equal_left < p->equal ? equal_left : p->equal;
    p->equal_left = (int32_t)equal;
    p->first_half = cut->scratch + first;
    p->last_half = cut->scratch + last;
    first += p->below + equal;
    last += p->end - p->begin - p->below - equal;
    equal_left -= equal;
  }
  for_pieces(cut, divide_range);
  for_pieces(cut, copy_range);
}

/* Divides a range so that the first vertices along its longest side precede `middle`. */
static void cut_range(Cut *cut, int64_t begin, int64_t middle, int64_t end) {
  int64_t most = cut->threads > 1 ? (end - begin) / PIECE_MIN_VERTICES : 1;
  cut->piece_count = (int)(most < 1 ? 1 : most > PIECES ? PIECES : most);
  for (int q = 0; q < cut->piece_count; q++) {
    cut->pieces[q].begin = begin + hk_gpu_part(end - begin, cut->piece_count, q);
    cut->pieces[q].end = begin + hk_gpu_part(end - begin, cut->piece_count, q + 1);
  }
  find_longest_side(cut);
  int64_t equal_left = select_coordinate(cut, middle - begin);
  if (cut->piece_count == 1)
    divide_one(cut, begin, middle, end, equal_left);
  else
    divide(cut, begin, middle, equal_left);
}

/* ---- Parts ---- */

int64_t hk_gpu_part(int64_t n, int64_t parts, int64_t part) {
  int64_t each = n / parts, left = n % parts;
  return each * part + (part < left ? part : left);
}

/* A range of parts. */
typedef struct Range {
  int64_t first, count;
} Range;

enum { MAX_TASKS = 1024 };

typedef struct Plan {
  Cut cut;
  int64_t n, parts;
  int64_t small; /* vertices of a range that one thread cuts further */
  int task_count;
  Range tasks[MAX_TASKS];
} Plan;

static int64_t place_of(const Plan *p, int64_t part) {
  return hk_gpu_part(p->n, p->parts, part);
}

static void halve(const Plan *p, Cut *cut, Range range, Range half[2]) {
  int64_t middle = range.first + range.count / 2, end = range.first + range.count;
  half[0] = (Range){range.first, range.count / 2};
  half[1] = (Range){middle, end - middle};
  if (place_of(p, range.first) < place_of(p, middle) && place_of(p, middle) < place_of(p, end))
    cut_range(cut, place_of(p, range.first), place_of(p, middle), place_of(p, end));
}

/* Bisects to single parts; the recursion is log2(parts) deep. */
static void cut_small(const Plan *p, Cut *cut, Range range) {
  while (range.count > 1) {
    Range half[2];
    halve(p, cut, range, half);
    cut_small(p, cut, half[0]);
    range = half[1];
  }
}

static void small_task(void *user, int task) {
  const Plan *p = user;
  Piece piece;
  Cut cut = p->cut;
  cut.threads = 1;
  cut.pieces = &piece;
  cut_small(p, &cut, p->tasks[task]);
}

/* Bisects with all threads down to small ranges, which become tasks. */
static void cut_large(Plan *p, Range range) {
  for (;;) {
    int64_t size = place_of(p, range.first + range.count) - place_of(p, range.first);
    if (size <= p->small || range.count <= 1) break;
    Range half[2];
    halve(p, &p->cut, range, half);
    cut_large(p, half[0]);
    range = half[1];
  }
  p->tasks[p->task_count++] = range;
}

static void number_range(void *user, int64_t begin, int64_t end) {
  const Cut *cut = user;
  for (int64_t q = begin; q < end; q++) cut->order[q] = (int32_t)q;
}

HkStatus hk_gpu_order(const HkModel *model, int64_t parts, int32_t *order, int32_t *scratch,
                      HkError *error) {
  /* Halves have at least a third of a range of three parts or more: fewer than 3 * 256 tasks. */
  enum { SMALL_RANGES = 256, SMALL_MIN_VERTICES = 1 << 16 };
  const HkContext *c = &model->context;
  Plan *p = NULL;
  HK_TRY(hk_alloc(c, &p, 1, sizeof *p, "an order", error));
  p->cut = (Cut){.x = model->x0, .order = order, .scratch = scratch, .threads = model->threads};
  p->n = model->n;
  p->parts = parts;
  p->small = p->n / SMALL_RANGES > SMALL_MIN_VERTICES ? p->n / SMALL_RANGES : SMALL_MIN_VERTICES;
  HkStatus status = hk_alloc(c, &p->cut.pieces, PIECES, sizeof *p->cut.pieces, "an order", error);
  if (status >= 0 && parts > 0) {
    hk_parallel_for(model->threads, p->n, number_range, &p->cut);
    cut_large(p, (Range){0, parts});
    hk_parallel_tasks(model->threads, p->task_count, small_task, p);
  }
  hk_free(c, &p->cut.pieces);
  hk_free(c, &p);
  return status;
}
