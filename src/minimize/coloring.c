/* Colours of vertices; see coloring.h. */
#include "minimize/coloring.h"

/* What is needed while colours are chosen. */
typedef struct Choice {
  int32_t *color; /* n */
  int32_t *taken; /* by colour: 1 + the last vertex that has a neighbour of it */
} Choice;

/* The largest row has that many blocks, one of them its own. */
static int64_t widest_row(const HkPattern *p) {
  int64_t widest = 0;
  for (int64_t q = 0; q < p->n; q++)
    if (p->start[q + 1] - p->start[q] > widest) widest = p->start[q + 1] - p->start[q];
  return widest;
}

/* Returns how many colours there are. */
static int64_t choose(const HkPattern *p, Choice *choice) {
  int64_t colors = 0;
  for (int64_t q = 0; q < p->n; q++) {
    int32_t color = 0;
    for (int64_t e = p->start[q]; e < p->start[q + 1] && p->column[e] < q; e++)
      choice->taken[choice->color[p->column[e]]] = (int32_t)q + 1;
    while (choice->taken[color] == q + 1) color++;
    choice->color[q] = color;
    if (color >= colors) colors = color + 1;
  }
  return colors;
}

/* Vertices sorted by colour; start[c + 1] counts, then begins, then ends colour c. */
static void sort(const HkPattern *p, const Choice *choice, HkColoring *coloring) {
  int64_t *start = coloring->start, before = 0;
  for (int64_t q = 0; q < p->n; q++) start[choice->color[q] + 1]++;
  for (int64_t c = 0; c < coloring->colors; c++) {
    int64_t count = start[c + 1];
    start[c + 1] = before;
    before += count;
  }
  for (int64_t q = 0; q < p->n; q++) coloring->vertex[start[choice->color[q] + 1]++] = (int32_t)q;
}

static HkStatus create(const HkModel *m, const HkPattern *p, Choice *choice, HkColoring *coloring,
                       HkError *error) {
  const HkContext *c = &m->context;
  HK_TRY(hk_alloc(c, &choice->color, p->n, sizeof *choice->color, "colours", error));
  HK_TRY(hk_alloc(c, &choice->taken, widest_row(p), sizeof *choice->taken, "colours", error));
  HK_TRY(hk_alloc(c, &coloring->vertex, p->n, sizeof *coloring->vertex, "colours", error));
  coloring->colors = choose(p, choice);
  HK_TRY(hk_alloc(c, &coloring->start, coloring->colors + 1, sizeof *coloring->start, "colours",
                  error));
  sort(p, choice, coloring);
  return HK_OK;
}

HkStatus hk_coloring_create(const HkModel *m, const HkPattern *p, HkColoring *coloring,
                            size_t *bytes, HkError *error) {
  Choice choice = {0};
  *coloring = (HkColoring){0};
  HkStatus status = create(m, p, &choice, coloring, error);
  hk_free(&m->context, &choice.color);
  hk_free(&m->context, &choice.taken);
  if (status < 0)
    hk_coloring_destroy(m, coloring);
  else
    *bytes += (size_t)(coloring->colors + 1) * sizeof *coloring->start +
              (size_t)p->n * sizeof *coloring->vertex;
  return status;
}

void hk_coloring_destroy(const HkModel *m, HkColoring *coloring) {
  hk_free(&m->context, &coloring->start);
  hk_free(&m->context, &coloring->vertex);
  *coloring = (HkColoring){0};
}
