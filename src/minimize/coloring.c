/* Colours of vertices; see coloring.h. */
#include "minimize/coloring.h"

/* Colours beyond these are given as the others are, but do not count for who comes next. */
enum { COUNTED = 64 };

/* What is needed while colours are chosen. Vertices without a colour are in lists by how many
 * colours their neighbours have. */
typedef struct Choice {
  int64_t n;
  const int64_t *start;
  const int32_t *neighbour;
  int32_t *color;          /* n, -1: none yet */
  int32_t *taken;          /* by colour: 1 + the last vertex that has a neighbour of it */
  uint64_t *seen;          /* n, the colours of neighbours by bits */
  int32_t *after, *before; /* n, in the lists; -1: none */
  int32_t first[COUNTED + 1];
} Choice;

static int count_bits(uint64_t bits) {
  int count = 0;
  for (; bits; bits &= bits - 1) count++;
  return count;
}

static void enter(Choice *c, int list, int32_t q) {
  c->before[q] = -1;
  c->after[q] = c->first[list];
  if (c->first[list] >= 0) c->before[c->first[list]] = q;
  c->first[list] = q;
}

static void leave(Choice *c, int list, int32_t q) {
  if (c->after[q] >= 0) c->before[c->after[q]] = c->before[q];
  if (c->before[q] >= 0)
    c->after[c->before[q]] = c->after[q];
  else
    c->first[list] = c->after[q];
}

static int32_t first_free(Choice *c, int32_t q) {
  int32_t color = 0;
  for (int64_t e = c->start[q]; e < c->start[q + 1]; e++)
    if (c->color[c->neighbour[e]] >= 0) c->taken[c->color[c->neighbour[e]]] = q + 1;
  while (c->taken[color] == q + 1) color++;
  return color;
}

/* Neighbours without a colour see that of q; returns the furthest list that one went to. */
static int show(Choice *c, int32_t q) {
  int furthest = 0;
  if (c->color[q] >= COUNTED) return furthest;
  uint64_t bit = (uint64_t)1 << c->color[q];
  for (int64_t e = c->start[q]; e < c->start[q + 1]; e++) {
    int32_t j = c->neighbour[e];
    if (c->color[j] >= 0 || (c->seen[j] & bit)) continue;
    int list = count_bits(c->seen[j]);
    leave(c, list, j);
    c->seen[j] |= bit;
    enter(c, list + 1, j);
    if (list + 1 > furthest) furthest = list + 1;
  }
  return furthest;
}

/* Returns how many colours there are. */
static int64_t choose(Choice *c) {
  int64_t colors = 0;
  int list = 0;
  for (int q = 0; q <= COUNTED; q++) c->first[q] = -1;
  for (int64_t q = c->n - 1; q >= 0; q--) {
    c->color[q] = -1;
    enter(c, 0, (int32_t)q);
  }
  for (int64_t done = 0; done < c->n; done++) {
    while (c->first[list] < 0) list--;
    int32_t q = c->first[list];
    leave(c, list, q);
    c->color[q] = first_free(c, q);
    if (c->color[q] >= colors) colors = c->color[q] + 1;
    int furthest = show(c, q);
    if (furthest > list) list = furthest;
  }
  return colors;
}

/* Vertices sorted by colour; start[c + 1] counts, then begins, then ends colour c. */
static void sort(const Choice *choice, HkColoring *coloring) {
  int64_t *start = coloring->start, before = 0;
  for (int64_t q = 0; q < choice->n; q++) start[choice->color[q] + 1]++;
  for (int64_t c = 0; c < coloring->colors; c++) {
    int64_t count = start[c + 1];
    start[c + 1] = before;
    before += count;
  }
  for (int64_t q = 0; q < choice->n; q++)
    coloring->vertex[start[choice->color[q] + 1]++] = (int32_t)q;
}

static int64_t most_neighbours(const Choice *c) {
  int64_t most = 0;
  for (int64_t q = 0; q < c->n; q++)
    if (c->start[q + 1] - c->start[q] > most) most = c->start[q + 1] - c->start[q];
  return most;
}

static HkStatus create(const HkContext *c, Choice *choice, HkColoring *coloring, HkError *error) {
  int64_t n = choice->n;
  HK_TRY(hk_alloc(c, &choice->color, n, sizeof *choice->color, "colours", error));
  HK_TRY(hk_alloc(c, &choice->taken, most_neighbours(choice) + 1, sizeof *choice->taken, "colours",
                  error));
  HK_TRY(hk_alloc(c, &choice->seen, n, sizeof *choice->seen, "colours", error));
  HK_TRY(hk_alloc(c, &choice->after, n, sizeof *choice->after, "colours", error));
  HK_TRY(hk_alloc(c, &choice->before, n, sizeof *choice->before, "colours", error));
  HK_TRY(hk_alloc(c, &coloring->vertex, n, sizeof *coloring->vertex, "colours", error));
  coloring->colors = choose(choice);
  HK_TRY(hk_alloc(c, &coloring->start, coloring->colors + 1, sizeof *coloring->start, "colours",
                  error));
  sort(choice, coloring);
  return HK_OK;
}

HkStatus hk_coloring_create(const HkContext *context, int64_t n, const int64_t *start,
                            const int32_t *neighbour, HkColoring *coloring, size_t *bytes,
                            HkError *error) {
  Choice choice = {.n = n, .start = start, .neighbour = neighbour};
  *coloring = (HkColoring){0};
  HkStatus status = create(context, &choice, coloring, error);
  hk_free(context, &choice.color);
  hk_free(context, &choice.taken);
  hk_free(context, &choice.seen);
  hk_free(context, &choice.after);
  hk_free(context, &choice.before);
  if (status < 0)
    hk_coloring_destroy(context, coloring);
  else if (bytes)
    *bytes += (size_t)(coloring->colors + 1) * sizeof *coloring->start +
              (size_t)n * sizeof *coloring->vertex;
  return status;
}

void hk_coloring_destroy(const HkContext *context, HkColoring *coloring) {
  hk_free(context, &coloring->start);
  hk_free(context, &coloring->vertex);
  *coloring = (HkColoring){0};
}
