/* Springs in sliced ELLPACK with slices of HK_GPU_ROW vertices: see layout.h. */
#include "backend/gpu/layout.h"

typedef struct Rows {
  const HkModel *model;
  HkGpuLayout *layout;
} Rows;

/* Returns the number of half springs of the vertex at a place; 0 beyond the last place. */
static int64_t degree(const Rows *r, int64_t place) {
  if (place >= r->layout->n) return 0;
  int64_t vertex = r->layout->order[place];
  return r->model->adj_start[vertex + 1] - r->model->adj_start[vertex];
}

static void count_range(void *user, int64_t begin, int64_t end) {
  const Rows *r = user;
  for (int64_t group = begin; group < end; group++) {
    int64_t most = 0;
    for (int64_t q = 0; q < HK_GPU_ROW; q++) {
      int64_t own = degree(r, group * HK_GPU_ROW + q);
      if (own > most) most = own;
    }
    r->layout->row_start[group + 1] = most * HK_GPU_ROW;
  }
}

static void write_slot(const Rows *r, int64_t at, int64_t place, int64_t slot) {
  const HkModel *m = r->model;
  HkGpuLayout *l = r->layout;
  if (slot >= degree(r, place)) {
    l->word[at] = (uint32_t)(place < l->n ? place : l->n - 1);
    if (l->l0) l->l0[at] = -1;
    return;
  }
  int64_t entry = m->adj_start[l->order[place]] + slot, spring = m->adj_spring[entry];
  l->word[at] = (uint32_t)l->place[m->adj_vertex[entry]];
  if (l->parameters == HK_GPU_BY_PALETTE)
    l->word[at] |= (uint32_t)hk_gpu_palette_index(l, m, spring) << HK_GPU_PLACE_BITS;
  if (l->l0) l->l0[at] = m->springs.l0[spring];
  if (l->stiffness) l->stiffness[at] = m->springs.k[spring];
}

static void write_range(void *user, int64_t begin, int64_t end) {
  const Rows *r = user;
  const int64_t *start = r->layout->row_start;
  for (int64_t group = begin; group < end; group++)
    for (int64_t at = start[group]; at < start[group + 1]; at++) {
      int64_t q = at - start[group];
      write_slot(r, at, group * HK_GPU_ROW + q % HK_GPU_ROW, q / HK_GPU_ROW);
    }
}

HkStatus hk_gpu_rows(const HkModel *m, HkGpuLayout *l, HkError *error) {
  enum { GRAIN = 64 };
  const HkContext *c = &l->context;
  int64_t groups = (l->n + HK_GPU_ROW - 1) / HK_GPU_ROW;
  Rows r = {m, l};
  if (l->parameters == HK_GPU_BY_PALETTE && l->n > (int64_t)1 << HK_GPU_PLACE_BITS)
    return hk_fail(error, HK_ERROR_UNSUPPORTED, "the layout by rows supports at most %lld vertices",
                   (long long)1 << HK_GPU_PLACE_BITS);
  HK_TRY(hk_alloc(c, &l->row_start, groups + 1, sizeof *l->row_start, "springs", error));
  hk_parallel_work(m->threads, groups, GRAIN, count_range, &r);
  for (int64_t q = 0; q < groups; q++) l->row_start[q + 1] += l->row_start[q];
  l->words = l->row_start[groups];
  HK_TRY(hk_alloc(c, &l->word, l->words, sizeof *l->word, "springs", error));
  if (l->parameters != HK_GPU_BY_PALETTE)
    HK_TRY(hk_alloc(c, &l->l0, l->words, sizeof *l->l0, "springs", error));
  if (l->parameters == HK_GPU_UNIQUE)
    HK_TRY(hk_alloc(c, &l->stiffness, l->words, sizeof *l->stiffness, "springs", error));
  hk_parallel_work(m->threads, groups, GRAIN, write_range, &r);
  return HK_OK;
}
