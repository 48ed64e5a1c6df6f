/* How a model lies in the memory of a card; see layout.h. */
#include "backend/gpu/layout.h"

/* Fewer vertices do not give every multiprocessor a brick. */
static const int64_t BRICKS_FROM = 60000;

static void place_range(void *user, int64_t begin, int64_t end) {
  HkGpuLayout *l = user;
  for (int64_t q = begin; q < end; q++) l->place[l->order[q]] = (int32_t)q;
}

static HkStatus fill(const HkModel *m, const HkGpuWishes *wishes, HkGpuLayout *l, HkError *error) {
  const HkContext *c = &l->context;
  l->n = m->n;
  l->half_springs = 2 * m->spring_count;
  HK_TRY(hk_alloc(c, &l->order, l->n, sizeof *l->order, "an order", error));
  HK_TRY(hk_alloc(c, &l->place, l->n, sizeof *l->place, "an order", error));
  hk_gpu_order(m, (l->n + HK_GPU_BRICK - 1) / HK_GPU_BRICK, l->order);
  if (wishes->colors) HK_TRY(hk_gpu_colors(m, l, error));
  hk_parallel_for(m->threads, l->n, place_range, l);
  HK_TRY(hk_gpu_paint(m, wishes->unique, l, error));
  bool bricks = wishes->bricks || (!wishes->rows && !wishes->colors && l->n >= BRICKS_FROM);
  if (bricks) HK_TRY(hk_gpu_bricks(m, l, &bricks, error));
  return bricks ? HK_OK : hk_gpu_rows(m, l, error);
}

HkStatus hk_gpu_layout_create(const HkModel *model, const HkGpuWishes *wishes, HkGpuLayout **layout,
                              HkError *error) {
  HkContext c = model->context;
  HK_TRY(hk_alloc(&c, layout, 1, sizeof **layout, "a card", error));
  (*layout)->context = c;
  HkStatus status = fill(model, wishes, *layout, error);
  if (status < 0) hk_gpu_layout_destroy(layout);
  return status;
}

void hk_gpu_layout_destroy(HkGpuLayout **layout) {
  HkGpuLayout *l = *layout;
  if (!l) return;
  HkContext c = l->context;
  void *arrays[] = {&l->order,       &l->place,     &l->brick, &l->halo_start, &l->halo,
                    &l->color_start, &l->row_start, &l->word,  &l->l0,         &l->stiffness};
  for (size_t q = 0; q < sizeof arrays / sizeof arrays[0]; q++) hk_free(&c, arrays[q]);
  hk_free(&c, layout);
}
