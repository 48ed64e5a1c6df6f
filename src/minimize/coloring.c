/* Colors of vertices; see coloring.h. */
#include "minimize/coloring.h"

/* Colors that count in the saturation of a vertex; colors beyond are assigned, but not counted. */
enum { MAX_COUNTED_COLORS = 64 };

/* What is needed while colors are chosen. Vertices without a color are in lists by how many
 * colors their neighbors have. */
typedef struct Choice {
  int64_t n;
  const int64_t *start;
  const int32_t *neighbor;
  int32_t *color;          /* n, -1: none yet */
  int32_t *taken;          /* by color: 1 + the last vertex that has a neighbor of it */
  uint64_t *seen;          /* n, the colors of neighbors by bits */
  int32_t *after, *before; /* n, in the lists; -1: none */
  int32_t first[MAX_COUNTED_COLORS + 1];
} Choice;

static int count_bits(uint64_t bits) {
  int count = 0;
  for (; bits; bits &= bits - 1) count++;
  return count;
}

static void enter(Choice *c, int list, int32_t i) {
  c->before[i] = -1;
  c->after[i] = c->first[list];
  if (c->first[list] >= 0) c->before[c->first[list]] = i;
  c->first[list] = i;
}

static void leave(Choice *c, int list, int32_t i) {
  if (c->after[i] >= 0) c->before[c->after[i]] = c->before[i];
  if (c->before[i] >= 0)
    c->after[c->before[i]] = c->after[i];
  else
    c->first[list] = c->after[i];
}

static int32_t first_free(Choice *c, int32_t i) {
  int32_t color = 0;
  for (int64_t e = c->start[i]; e < c->start[i + 1]; e++)
    if (c->color[c->neighbor[e]] >= 0) c->taken[c->color[c->neighbor[e]]] = i + 1;
  while (c->taken[color] == i + 1) color++;
  return color;
}

/* Neighbors without a color see that of i; returns the furthest list that one went to. */
static int show(Choice *c, int32_t i) {
  int furthest = 0;
  if (c->color[i] >= MAX_COUNTED_COLORS) return furthest;
  uint64_t bit = (uint64_t)1 << c->color[i];
  for (int64_t e = c->start[i]; e < c->start[i + 1]; e++) {
    int32_t j = c->neighbor[e];
    if (c->color[j] >= 0 || (c->seen[j] & bit)) continue;
    int list = count_bits(c->seen[j]);
    leave(c, list, j);
    c->seen[j] |= bit;
    enter(c, list + 1, j);
    if (list + 1 > furthest) furthest = list + 1;
  }
  return furthest;
}

/* Returns how many colors there are. */
static int64_t choose(Choice *c) {
  int64_t colors = 0;
  int list = 0;
  for (int k = 0; k <= MAX_COUNTED_COLORS; k++) c->first[k] = -1;
  for (int64_t i = c->n - 1; i >= 0; i--) {
    c->color[i] = -1;
    enter(c, 0, (int32_t)i);
  }
  for (int64_t done = 0; done < c->n; done++) {
    while (c->first[list] < 0) list--;
    int32_t i = c->first[list];
    leave(c, list, i);
    c->color[i] = first_free(c, i);
    if (c->color[i] >= colors) colors = c->color[i] + 1;
    int furthest = show(c, i);
    if (furthest > list) list = furthest;
  }
  return colors;
}

/* Vertices sorted by color; start[c + 1] counts, then begins, then ends color c. */
static void sort(const Choice *choice, HkColoring *coloring) {
  int64_t *start = coloring->start, before = 0;
  for (int64_t i = 0; i < choice->n; i++) start[choice->color[i] + 1]++;
  for (int64_t c = 0; c < coloring->colors; c++) {
    int64_t count = start[c + 1];
    start[c + 1] = before;
    before += count;
  }
  for (int64_t i = 0; i < choice->n; i++)
    coloring->vertex[start[choice->color[i] + 1]++] = (int32_t)i;
}

static int64_t most_neighbors(const Choice *c) {
  int64_t most = 0;
  for (int64_t i = 0; i < c->n; i++)
    if (c->start[i + 1] - c->start[i] > most) most = c->start[i + 1] - c->start[i];
  return most;
}

static HkStatus create(const HkContext *c, Choice *choice, HkColoring *coloring, HkError *error) {
  int64_t n = choice->n;
  HK_TRY(hk_alloc(c, &choice->color, n, sizeof *choice->color, "colors", error));
  HK_TRY(hk_alloc(c, &choice->taken, most_neighbors(choice) + 1, sizeof *choice->taken, "colors",
                  error));
  HK_TRY(hk_alloc(c, &choice->seen, n, sizeof *choice->seen, "colors", error));
  HK_TRY(hk_alloc(c, &choice->after, n, sizeof *choice->after, "colors", error));
  HK_TRY(hk_alloc(c, &choice->before, n, sizeof *choice->before, "colors", error));
  HK_TRY(hk_alloc(c, &coloring->vertex, n, sizeof *coloring->vertex, "colors", error));
  coloring->colors = choose(choice);
  HK_TRY(hk_alloc(c, &coloring->start, coloring->colors + 1, sizeof *coloring->start, "colors",
                  error));
  sort(choice, coloring);
  return HK_OK;
}

HkStatus hk_coloring_create(const HkContext *context, int64_t n, const int64_t *start,
                            const int32_t *neighbor, HkColoring *coloring, size_t *bytes,
                            HkError *error) {
  Choice choice = {.n = n, .start = start, .neighbor = neighbor};
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
