/* Springs in sliced ELLPACK with slices of HK_GPU_ROW vertices: see layout.h. */
#include "backend/gpu/layout.h"

typedef struct Rows {
  const HkModel *model;
  HkGpuLayout *layout;
} Rows;

/* Returns the number of vertices of a slice; only the last slice has fewer than HK_GPU_ROW. */
static int64_t height(const Rows *r, int64_t group) {
  int64_t left = r->layout->n - group * HK_GPU_ROW;
  return left < HK_GPU_ROW ? left : HK_GPU_ROW;
}

static void count_range(void *user, int64_t begin, int64_t end) {
  const Rows *r = user;
  for (int64_t group = begin; group < end; group++) {
    int64_t most = 0;
    for (int64_t q = 0; q < height(r, group); q++) {
      int64_t vertex = r->layout->order[group * HK_GPU_ROW + q];
      int64_t own = r->model->adj_start[vertex + 1] - r->model->adj_start[vertex];
      if (own > most) most = own;
    }
    r->layout->row_start[group + 1] = most * HK_GPU_ROW;
  }
}

/* Writes one slot; entry: of the neighbors, or -1 in padding, which points to its own place. */
static void write_slot(const Rows *r, int64_t at, int64_t place, int64_t entry) {
  const HkModel *m = r->model;
  const HkGpuLayout *l = r->layout;
  int64_t spring = entry < 0 ? -1 : m->adj_spring[entry];
  l->word[at] = (uint32_t)(entry < 0 ? place : l->place[m->adj_vertex[entry]]);
  if (l->parameters == HK_GPU_BY_PALETTE && spring >= 0)
    l->word[at] |= (uint32_t)hk_gpu_palette_index(l, m, spring) << HK_GPU_PLACE_BITS;
  if (l->l0) l->l0[at] = spring < 0 ? -1 : m->springs.l0[spring];
  if (l->stiffness) l->stiffness[at] = spring < 0 ? 0 : m->springs.k[spring];
}

/* Rows beyond the last place have padding that points to the last place. */
static void write_range(void *user, int64_t begin, int64_t end) {
  const Rows *r = user;
  const HkGpuLayout *l = r->layout;
  for (int64_t group = begin; group < end; group++)
    for (int64_t q = 0; q < HK_GPU_ROW; q++) {
      bool is_row = q < height(r, group);
      int64_t place = is_row ? group * HK_GPU_ROW + q : l->n - 1, vertex = l->order[place];
      int64_t first = r->model->adj_start[vertex];
      int64_t count = is_row ? r->model->adj_start[vertex + 1] - first : 0;
      int64_t slots = (l->row_start[group + 1] - l->row_start[group]) / HK_GPU_ROW;
      for (int64_t slot = 0; slot < slots; slot++)
        write_slot(r, l->row_start[group] + HK_GPU_ROW * slot + q, place,
                   slot < count ? first + slot : -1);
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
  HK_TRY(hk_alloc_unset(c, &l->word, l->words, sizeof *l->word, "springs", error));
  if (l->parameters != HK_GPU_BY_PALETTE)
    HK_TRY(hk_alloc_unset(c, &l->l0, l->words, sizeof *l->l0, "springs", error));
  if (l->parameters == HK_GPU_UNIQUE)
    HK_TRY(hk_alloc_unset(c, &l->stiffness, l->words, sizeof *l->stiffness, "springs", error));
  hk_parallel_work(m->threads, groups, GRAIN, write_range, &r);
  return HK_OK;
}
