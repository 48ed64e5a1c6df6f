/* Layout of a model in GPU memory; see layout.h. */
#include "backend/gpu/layout.h"

static void place_range(void *user, int64_t begin, int64_t end) {
  HkGpuLayout *l = user;
  for (int64_t q = begin; q < end; q++) l->place[l->order[q]] = (int32_t)q;
}

/* Returns the number of bricks with two halos. Large bricks have less halo; small ones occupy more
 * multiprocessors, each of which should have one. */
static int64_t count_twice(int64_t n) {
  enum { PROCESSORS = 132, MIN_BRICK_VERTICES = 64 };
  int64_t size = n < 200000 ? 384 : 512, most = (n + MIN_BRICK_VERTICES - 1) / MIN_BRICK_VERTICES;
  int64_t count = (n + size - 1) / size;
  if (count < PROCESSORS) count = most < PROCESSORS ? most : PROCESSORS;
  return count;
}

static HkStatus put_in_order(const HkModel *m, int64_t parts, HkGpuLayout *l, HkError *error) {
  HK_TRY(hk_gpu_order(m, parts, l->order, l->place, error));
  hk_parallel_for(m->threads, l->n, place_range, l);
  return HK_OK;
}

static HkStatus fill(const HkModel *m, const HkGpuLayoutOptions *options, HkGpuLayout *l,
                     HkError *error) {
  const HkContext *c = &l->context;
  l->n = m->n;
  l->half_springs = 2 * m->springs.count;
  HK_TRY(hk_alloc_unset(c, &l->order, l->n, sizeof *l->order, "an order", error));
  HK_TRY(hk_alloc_unset(c, &l->place, l->n, sizeof *l->place, "an order", error));
  HK_TRY(hk_gpu_spring_parameters(m, options->unique, l, error));
  int64_t parts = (l->n + HK_GPU_BRICK - 1) / HK_GPU_BRICK, ordered = 0;
  bool done = false;
  if (options->twice && l->n > 0 && l->parameters == HK_GPU_BY_PALETTE && !l->damped &&
      !l->threads) {
    ordered = count_twice(l->n);
    HK_TRY(put_in_order(m, ordered, l, error));
    HK_TRY(hk_gpu_bricks(m, ordered, true, options, l, &done, error));
  }
  if (done) return HK_OK;
  if (ordered != parts) HK_TRY(put_in_order(m, parts, l, error));
  if (options->colors) {
    HK_TRY(hk_gpu_colors(m, l, error));
    hk_parallel_for(m->threads, l->n, place_range, l);
  }
  if (options->bricks || (!options->rows && !options->colors && l->n >= HK_GPU_BRICKS_MIN_VERTICES))
    HK_TRY(hk_gpu_bricks(m, parts, false, options, l, &done, error));
  return done ? HK_OK : hk_gpu_rows(m, l, error);
}

HkStatus hk_gpu_layout_create(const HkModel *model, const HkGpuLayoutOptions *options,
                              HkGpuLayout **layout, HkError *error) {
  HkContext c = model->context;
  HK_TRY(hk_alloc(&c, layout, 1, sizeof **layout, "the layout for a device", error));
  (*layout)->context = c;
  HkStatus status = fill(model, options, *layout, error);
  if (status < 0) hk_gpu_layout_destroy(layout);
  return status;
}

void hk_gpu_layout_destroy(HkGpuLayout **layout) {
  HkGpuLayout *l = *layout;
  if (!l) return;
  HkContext c = l->context;
  void *arrays[] = {&l->order,     &l->place, &l->brick,     &l->halo_start,
                    &l->halo,      &l->near,  &l->brick_row, &l->color_start,
                    &l->row_start, &l->word,  &l->l0,        &l->stiffness};
  for (size_t q = 0; q < sizeof arrays / sizeof arrays[0]; q++) hk_free(&c, arrays[q]);
  hk_free(&c, layout);
}
