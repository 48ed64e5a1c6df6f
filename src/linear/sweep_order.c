/* An order of rows in which Gauss-Seidel can sweep with several threads: nested dissection.
 *
 * The vertices are cut into two parts without edges between each other and a separator, and each
 * part is cut again (George 1973). First all parts are swept, at once, then the separators of the
 * last cuts, at once, and so on up to that of the first cut. That is exact Gauss-Seidel in one
 * fixed order, the same for any number of threads, and symmetric when the way back is the reverse.
 * The separator of the first cut is what one thread sweeps while the others wait: on a square of n
 * vertices in the order of sqrt(n) of them.
 *
 * A part is cut in two where the layers of a breadth-first search have half of it behind them; the
 * vertices of the middle layer with neighbors beyond go to the separator. Inside a range vertices
 * stand nearly as the search came upon them, near each other in memory, but in groups that can be
 * swept at once: without edges between them, with about as many neighbors before and behind each.
 * Where possible, no group directly follows one that contains a neighbor: the processor would stall
 * on the result of the group before.
 */
#include "linear/multigrid.h"

#include <stdlib.h>
#include <string.h>

/* Part `part` of cut depth p (1, 2, 4 ...: the number of parts before) has this separator. */
static int32_t separator_of(int32_t p, int32_t part) {
  return HK_SWEEP_PARTS + p + part;
}

typedef struct Search {
  const HkGraph *graph;
  int32_t *part;  /* n: the part or separator of a vertex */
  int32_t *seen;  /* n: the search that has seen it */
  int32_t *queue; /* n */
  int32_t *layer; /* n, by place in the queue */
  int32_t round;
  int32_t group;    /* that is being filled */
  int32_t *touched; /* n: the last group that a neighbor joined */
  int32_t *before;  /* n: neighbors that have a place */
} Search;

/* Queues what can be reached within the part of a vertex; returns how many. */
static int32_t spread(Search *s, int32_t from, int32_t at) {
  const HkGraph *g = s->graph;
  int32_t end = at;
  s->queue[end] = from;
  s->layer[end++] = at > 0 ? s->layer[at - 1] + 1 : 0;
  s->seen[from] = s->round;
  for (int32_t k = at; k < end; k++) {
    int32_t v = s->queue[k];
    for (int32_t e = g->start[v]; e < g->start[v + 1]; e++) {
      int32_t u = g->column[e];
      if (s->seen[u] == s->round || s->part[u] != s->part[from]) continue;
      s->seen[u] = s->round;
      s->layer[end] = s->layer[k] + 1;
      s->queue[end++] = u;
    }
  }
  return end - at;
}

/* Queues a whole part, piece by piece, each from a vertex at its rim; returns its size. */
static int32_t search(Search *s, int32_t part) {
  int32_t count = 0;
  s->round++;
  for (int32_t v = 0; v < s->graph->n; v++) {
    if (s->part[v] != part || s->seen[v] == s->round) continue;
    int32_t far = v;
    for (int pass = 0; pass < 2; pass++) { /* the last vertex that is reached is far away */
      int32_t size = spread(s, far, count);
      far = s->queue[count + size - 1];
      for (int32_t k = count; k < count + size; k++) s->seen[s->queue[k]] = s->round - 1;
    }
    count += spread(s, far, count);
  }
  return count;
}

/* The vertices behind the middle layer become part `other`, those between both the separator. */
static void cut(Search *s, int32_t part, int32_t other, int32_t separator) {
  const HkGraph *g = s->graph;
  int32_t count = search(s, part);
  if (count < 2) return;
  int32_t middle = s->layer[count / 2];
  for (int32_t k = 0; k < count; k++)
    if (s->layer[k] > middle) s->part[s->queue[k]] = other;
  for (int32_t k = 0; k < count; k++) {
    int32_t v = s->queue[k];
    if (s->layer[k] != middle) continue;
    for (int32_t e = g->start[v]; e < g->start[v + 1]; e++)
      if (s->part[g->column[e]] == other) s->part[v] = separator;
  }
}

static int32_t degree(const HkGraph *g, int32_t v) {
  return g->start[v + 1] - g->start[v];
}

/* Cost of taking vertex v next, after `first` of its group if there is one: lanes
 * that stay empty because it has more or fewer neighbors before or behind it, and waiting for a
 * neighbor right before it. -1: it has a neighbor in the group. */
static int32_t cost_of(const Search *s, int32_t v, int32_t first, int32_t apart) {
  enum { STALL_COST = 4 };
  int32_t ago = s->group - s->touched[v], cost = ago <= apart ? STALL_COST : 0;
  if (first < 0) return cost;
  if (ago == 0) return -1;
  int32_t before = s->before[v] - s->before[first];
  int32_t behind = degree(s->graph, v) - degree(s->graph, first) - before;
  return cost + abs(before) + abs(behind);
}

/* Removes the cheapest of the next WINDOW vertices from the queue; -1: none is left. */
static int32_t take_cheapest(Search *s, int32_t begin, int32_t end, int32_t first, int32_t apart) {
  enum { WINDOW = 32 };
  int32_t best = -1, least = INT32_MAX;
  for (int32_t k = begin; k < end && k < begin + WINDOW && least > 0; k++) {
    int32_t cost = s->queue[k] >= 0 ? cost_of(s, s->queue[k], first, apart) : -1;
    if (cost < 0 || cost >= least) continue;
    least = cost;
    best = k;
  }
  if (best < 0) return -1;
  int32_t v = s->queue[best];
  const HkGraph *g = s->graph;
  for (int32_t e = g->start[v]; e < g->start[v + 1]; e++) {
    s->touched[g->column[e]] = s->group;
    s->before[g->column[e]]++;
  }
  s->queue[best] = -1;
  return v;
}

/* Puts the queue into order, group by group; returns how many rows that makes. */
static int32_t group_up(Search *s, int32_t count, int lanes, int32_t *order) {
  int32_t rows = 0, apart = lanes > 1 ? 1 : 3;
  for (int32_t k = 0;; s->group++) {
    while (k < count && s->queue[k] < 0) k++;
    if (k == count) return rows;
    int32_t first = order[rows++] = take_cheapest(s, k, count, -1, apart);
    for (int l = 1; l < lanes; l++) order[rows++] = take_cheapest(s, k, count, first, apart);
  }
}

/* Parts are worth a thread from about 400 vertices on; the number depends on n alone, so
 * that results do not depend on the number of threads. */
static int count_parts(int32_t n) {
  static const int32_t least[] = {400, 1200, 3000, 6000, 12000};
  int parts = 1;
  for (int k = 0; k < 5 && n >= least[k]; k++) parts *= 2;
  return parts;
}

/* Appends a part or separator as a range; returns the number of rows so far. */
static int32_t add_range(Search *s, int32_t part, int lanes, int32_t *order, HkSweepOrder *sweep,
                         int range) {
  int32_t at = sweep->begin[range], count = search(s, part);
  return sweep->begin[range + 1] = at + group_up(s, count, lanes, order + at);
}

/* Returns how many rows there are. */
static int32_t arrange(Search *s, int lanes, int32_t *order, HkSweepOrder *sweep) {
  int parts = count_parts(s->graph->n), range = 0;
  int32_t rows = 0;
  for (int p = 1; p < parts; p *= 2)
    for (int part = 0; part < p; part++) cut(s, part, part + p, separator_of(p, part));
  *sweep = (HkSweepOrder){0};
  for (int p = parts; p > 0; p /= 2) {
    for (int part = 0; part < p; part++, range++)
      rows = add_range(s, p == parts ? part : separator_of(p, part), lanes, order, sweep, range);
    sweep->first[++sweep->stages] = range;
  }
  return rows;
}

HkStatus hk_sweep_order(const HkContext *c, const HkGraph *graph, int lanes, int32_t **order,
                        int32_t *rows, HkSweepOrder *sweep, HkError *error) {
  Search s = {.graph = graph, .group = 4}; /* 0, where no neighbor has a place, is long ago */
  int32_t *all = NULL, **arrays[] = {&s.part, &s.seen, &s.queue, &s.layer, &s.touched, &s.before};
  HkStatus status = hk_alloc(c, &all, (int64_t)lanes * graph->n, sizeof *all, "multigrid", error);
  for (int k = 0; k < 6 && status >= 0; k++)
    status = hk_alloc(c, arrays[k], graph->n, sizeof(int32_t), "multigrid", error);
  if (status >= 0) {
    *rows = arrange(&s, lanes, all, sweep);
    status = hk_alloc(c, order, *rows, sizeof **order, "multigrid", error);
  }
  if (status >= 0) memcpy(*order, all, (size_t)*rows * sizeof *all);
  for (int k = 0; k < 6; k++) hk_free(c, arrays[k]);
  hk_free(c, &all);
  return status;
}
