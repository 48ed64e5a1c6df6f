/* Places by colour, for methods that move all vertices of a colour at once: see layout.h.
 *
 * Vertices are coloured in their own order, on which the number of colours depends, and sorted by
 * colour; within one they stay in the order in space. */
#include "backend/gpu/layout.h"

/* The first colour that no neighbour has that was coloured before; -1 if 64 are not enough. */
static int32_t first_free(const HkModel *m, const int8_t *color, int64_t q) {
  uint64_t taken = 0;
  for (int64_t e = m->adj_start[q]; e < m->adj_start[q + 1] && m->adj_vertex[e] < q; e++)
    taken |= (uint64_t)1 << color[m->adj_vertex[e]];
  for (int32_t c = 0; c < 64; c++)
    if (!(taken >> c & 1)) return c;
  return -1;
}

static HkStatus choose(const HkModel *m, HkGpuLayout *l, int8_t *color, HkError *error) {
  for (int64_t q = 0; q < m->n; q++) {
    int32_t c = first_free(m, color, q);
    if (c < 0)
      return hk_fail(error, HK_ERROR_UNSUPPORTED,
                     "vertex %lld has neighbours of 64 colours: too many for a device",
                     (long long)q);
    color[q] = (int8_t)c;
    if (c >= l->color_count) l->color_count = c + 1;
  }
  return HK_OK;
}

static HkStatus sort(const HkModel *m, HkGpuLayout *l, const int8_t *color, HkError *error) {
  const HkContext *c = &l->context;
  int32_t *sorted = NULL, next[64] = {0};
  HK_TRY(
      hk_alloc(c, &l->color_start, l->color_count + 1, sizeof *l->color_start, "colours", error));
  HK_TRY(hk_alloc(c, &sorted, m->n, sizeof *sorted, "colours", error));
  for (int64_t q = 0; q < m->n; q++) l->color_start[color[q] + 1]++;
  for (int q = 0; q < l->color_count; q++) {
    l->color_start[q + 1] += l->color_start[q];
    next[q] = l->color_start[q];
  }
  for (int64_t q = 0; q < m->n; q++) sorted[next[color[l->order[q]]]++] = l->order[q];
  hk_free(c, &l->order);
  l->order = sorted;
  return HK_OK;
}

HkStatus hk_gpu_colors(const HkModel *m, HkGpuLayout *l, HkError *error) {
  int8_t *color = NULL;
  HK_TRY(hk_alloc(&l->context, &color, m->n, sizeof *color, "colours", error));
  HkStatus status = choose(m, l, color, error);
  if (status >= 0) status = sort(m, l, color, error);
  hk_free(&l->context, &color);
  return status;
}
