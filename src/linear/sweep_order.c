/* An order of rows in which Gauss-Seidel can sweep with several threads.
 *
 * The vertices are cut into parts without edges between each other, and a separator: first all
 * parts are swept, at once, then the separator. That is exact Gauss-Seidel in one fixed order, the
 * same for any number of threads, and symmetric when the way back is the reverse.
 *
 * A part is cut in two where the layers of a breadth-first search have half of it behind them; the
 * vertices of the middle layer with neighbours beyond go to the separator. Inside a part vertices
 * stand as the search came upon them, near each other in memory, but no vertex right after a
 * neighbour of it: a processor would have to wait for the one before it could begin the next.
 */
#include "linear/multigrid.h"

#include <string.h>

/* Fewer vertices than this are swept by one thread. */
static const int32_t LEAST = 400;

enum { SEPARATOR = HK_SWEEP_PARTS };

typedef struct Search {
  const HkGraph *graph;
  int32_t *part;  /* n: the part of a vertex, or SEPARATOR */
  int32_t *seen;  /* n: the search that has seen it */
  int32_t *queue; /* n */
  int32_t *layer; /* n, by place in the queue */
  int32_t round;
} Search;

/* Queues what can be reached within the part of a vertex; returns how many. */
static int32_t spread(Search *s, int32_t from, int32_t at) {
  const HkGraph *g = s->graph;
  int32_t end = at;
  s->queue[end] = from;
  s->layer[end++] = at > 0 ? s->layer[at - 1] + 1 : 0;
  s->seen[from] = s->round;
  for (int32_t q = at; q < end; q++) {
    int32_t v = s->queue[q];
    for (int32_t e = g->start[v]; e < g->start[v + 1]; e++) {
      int32_t u = g->column[e];
      if (s->seen[u] == s->round || s->part[u] != s->part[from]) continue;
      s->seen[u] = s->round;
      s->layer[end] = s->layer[q] + 1;
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
      for (int32_t q = count; q < count + size; q++) s->seen[s->queue[q]] = s->round - 1;
    }
    count += spread(s, far, count);
  }
  return count;
}

/* The vertices behind the middle layer become part `other`. */
static void cut(Search *s, int32_t part, int32_t other) {
  const HkGraph *g = s->graph;
  int32_t count = search(s, part);
  if (count < 2) return;
  int32_t middle = s->layer[count / 2];
  for (int32_t q = 0; q < count; q++)
    if (s->layer[q] > middle) s->part[s->queue[q]] = other;
  for (int32_t q = 0; q < count; q++) {
    int32_t v = s->queue[q];
    if (s->layer[q] != middle) continue;
    for (int32_t e = g->start[v]; e < g->start[v + 1]; e++)
      if (s->part[g->column[e]] == other) s->part[v] = SEPARATOR;
  }
}

static bool is_edge(const HkGraph *g, int32_t a, int32_t b) {
  for (int32_t e = g->start[a]; e < g->start[a + 1]; e++)
    if (g->column[e] == b) return true;
  return false;
}

/* Puts list into order so that none of the last few is a neighbour of the next, where the nearest
 * ones of the list offer one. */
static void spread_out(const HkGraph *g, const int32_t *list, int32_t count, uint8_t *used,
                       int32_t *order) {
  enum { WINDOW = 32, APART = 3 };
  int32_t first = 0;
  memset(used, 0, (size_t)count);
  for (int32_t k = 0; k < count; k++) {
    while (used[first]) first++;
    int32_t pick = first;
    for (int32_t q = first; q < count && q < first + WINDOW; q++) {
      bool free = !used[q];
      for (int32_t p = k > APART ? k - APART : 0; p < k && free; p++)
        free = !is_edge(g, list[q], order[p]);
      if (!free) continue;
      pick = q;
      break;
    }
    used[pick] = 1;
    order[k] = list[pick];
  }
}

static int count_parts(int32_t n) {
  if (n < LEAST) return 1;
  if (n < 100000) return 2;
  return n < 400000 ? 4 : HK_SWEEP_PARTS;
}

static void arrange(Search *s, uint8_t *used, int32_t *order, HkSweepOrder *sweep) {
  int32_t at = 0;
  int parts = count_parts(s->graph->n);
  for (int p = 1; p < parts; p *= 2)
    for (int q = 0; q < p; q++) cut(s, q, q + p);
  sweep->count = parts;
  for (int p = 0; p <= parts; p++) {
    int32_t count = search(s, p < parts ? p : SEPARATOR);
    sweep->begin[p] = at;
    spread_out(s->graph, s->queue, count, used, order + at);
    at += count;
  }
  sweep->begin[parts + 1] = at;
}

HkStatus hk_sweep_order(const HkContext *c, const HkGraph *graph, int32_t *order,
                        HkSweepOrder *sweep, HkError *error) {
  Search s = {.graph = graph};
  uint8_t *used = NULL;
  int32_t **arrays[] = {&s.part, &s.seen, &s.queue, &s.layer};
  HkStatus status = hk_alloc(c, &used, graph->n, 1, "multigrid", error);
  for (int q = 0; q < 4 && status >= 0; q++)
    status = hk_alloc(c, arrays[q], graph->n, sizeof(int32_t), "multigrid", error);
  if (status >= 0) arrange(&s, used, order, sweep);
  for (int q = 0; q < 4; q++) hk_free(c, arrays[q]);
  hk_free(c, &used);
  return status;
}
