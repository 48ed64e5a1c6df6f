/* Sorts places by graph coloring (minimize/coloring.h), for methods that move all vertices of a
 * color at once: see layout.h. Vertices of a color keep their order in space. */
#include "backend/gpu/layout.h"
#include "minimize/coloring.h"

/* Counting sort by color: color_start[c + 1] is first the begin, at the end the end of color c. */
static void sort(HkGpuLayout *l, const HkColoring *coloring, const int32_t *color,
                 int32_t *sorted) {
  l->color_count = (int)coloring->colors;
  for (int c = 0; c < l->color_count; c++) l->color_start[c + 1] = (int32_t)coloring->start[c];
  for (int64_t q = 0; q < l->n; q++) sorted[l->color_start[color[l->order[q]] + 1]++] = l->order[q];
  hk_free(&l->context, &l->order);
  l->order = sorted;
}

static HkStatus sort_by_color(HkGpuLayout *l, const HkColoring *coloring, int32_t **color,
                              HkError *error) {
  const HkContext *c = &l->context;
  int32_t *sorted = NULL;
  HK_TRY(hk_alloc(c, color, l->n, sizeof **color, "colors", error));
  HK_TRY(
      hk_alloc(c, &l->color_start, coloring->colors + 1, sizeof *l->color_start, "colors", error));
  HK_TRY(hk_alloc(c, &sorted, l->n, sizeof *sorted, "colors", error));
  for (int64_t q = 0; q < coloring->colors; q++)
    for (int64_t e = coloring->start[q]; e < coloring->start[q + 1]; e++)
      (*color)[coloring->vertex[e]] = (int32_t)q;
  sort(l, coloring, *color, sorted);
  return HK_OK;
}

HkStatus hk_gpu_colors(const HkModel *m, HkGpuLayout *l, HkError *error) {
  HkColoring coloring;
  int32_t *color = NULL;
  HK_TRY(
      hk_coloring_create(&l->context, m->n, m->adj_start, m->adj_vertex, &coloring, NULL, error));
  HkStatus status = sort_by_color(l, &coloring, &color, error);
  hk_free(&l->context, &color);
  hk_coloring_destroy(&l->context, &coloring);
  return status;
}
