/* Springs in bricks: see layout.h. */
#include "backend/gpu/locals.h"

/* Largest ratio of slots with padding to half springs; above it rows are smaller. */
static const double MAX_PADDING_RATIO = 1.6;

typedef struct Brick {
  const HkModel *model;
  HkGpuLayout *layout;
} Brick;

/* ---- Words ---- */

/* Writes the parameters of a half spring, of no spring (-1) those of padding. */
static void write_parameters(const Brick *b, int64_t at, int64_t spring) {
  const HkSpringArrays *springs = &b->model->springs;
  const HkGpuLayout *l = b->layout;
  if (l->l0) l->l0[at] = spring < 0 ? -1 : springs->l0[spring];
  if (l->stiffness) l->stiffness[at] = spring < 0 ? 0 : springs->k[spring];
}

/* Writes the half springs of a vertex in two halves a word; padding points to the vertex itself. */
static void write_row(const Brick *b, const HkGpuLocals *locals, int64_t vertex, uint32_t local,
                      int64_t row) {
  const HkModel *m = b->model;
  const HkGpuLayout *l = b->layout;
  int64_t first = m->adj_start[vertex], count = m->adj_start[vertex + 1] - first;
  for (int64_t pair = 0; pair < l->slots / 2; pair++) {
    uint32_t word = 0;
    for (int half = 0; half < 2; half++) {
      int64_t slot = 2 * pair + half, spring = -1;
      uint32_t other = local, type = 0;
      if (slot < count) {
        spring = m->adj_spring[first + slot];
        other = hk_gpu_locals_find(locals, l->place[m->adj_vertex[first + slot]]);
        if (l->parameters == HK_GPU_BY_PALETTE) type = (uint32_t)hk_gpu_palette_index(l, m, spring);
      }
      word |= (other << HK_GPU_PALETTE_BITS | type) << 16 * half;
      if (l->l0) write_parameters(b, slot * l->rows + row, spring);
    }
    l->word[pair * l->rows + row] = word;
  }
}

static void words_range(void *user, int64_t begin, int64_t end) {
  const Brick *b = user;
  const HkGpuLayout *l = b->layout;
  HkGpuLocals locals;
  for (int64_t q = begin; q < end; q++) {
    hk_gpu_locals_start(&locals, l, q);
    const int32_t *halo = l->halo + l->halo_start[q];
    int64_t count = l->halo_start[q + 1] - l->halo_start[q], own = locals.own;
    int64_t row = l->near ? l->brick_row[q] : l->brick[q], near = l->near ? l->near[q] : 0;
    for (int64_t e = 0; e < count; e++) hk_gpu_locals_add(&locals, halo[e], own + e);
    for (int64_t k = 0; k < own + near; k++) {
      int64_t place = k < own ? l->brick[q] + k : halo[k - own];
      write_row(b, &locals, l->order[place], (uint32_t)k, row + k);
    }
  }
}

static HkStatus write_words(Brick *b, HkError *error) {
  enum { GRAIN = 8 };
  HkGpuLayout *l = b->layout;
  const HkContext *c = &l->context;
  l->words = l->slots / 2 * l->rows;
  HK_TRY(hk_alloc_unset(c, &l->word, l->words, sizeof *l->word, "springs", error));
  if (l->parameters != HK_GPU_BY_PALETTE)
    HK_TRY(hk_alloc_unset(c, &l->l0, 2 * l->words, sizeof *l->l0, "springs", error));
  if (l->parameters == HK_GPU_UNIQUE)
    HK_TRY(hk_alloc_unset(c, &l->stiffness, 2 * l->words, sizeof *l->stiffness, "springs", error));
  hk_parallel_work(b->model->threads, l->brick_count, GRAIN, words_range, b);
  return HK_OK;
}

/* ---- The whole layout ---- */

static double slots_range(void *user, int64_t begin, int64_t end) {
  const HkModel *m = ((const Brick *)user)->model;
  int64_t most = 0;
  for (int64_t q = begin; q < end; q++)
    if (m->adj_start[q + 1] - m->adj_start[q] > most) most = m->adj_start[q + 1] - m->adj_start[q];
  return (double)most;
}

/* Finds the largest number of half springs of a vertex, rounded up to an even one. */
static HkStatus count_slots(Brick *b, int *slots, HkError *error) {
  const HkModel *m = b->model;
  double *partial = NULL;
  HK_TRY(hk_alloc(&m->context, &partial, hk_sum_slots(m->n), sizeof *partial, "bricks", error));
  int64_t most = (int64_t)hk_parallel_most(m->threads, m->n, slots_range, b, partial);
  hk_free(&m->context, &partial);
  if (most < 2) most = 2;
  *slots = (int)(most < INT32_MAX - 1 ? (most + 1) / 2 * 2 : INT32_MAX - 1);
  return HK_OK;
}

static HkStatus build(Brick *b, int64_t count, bool twice, const HkGpuLayoutOptions *options,
                      bool *suits, HkError *error) {
  HkGpuLayout *l = b->layout;
  int most_local = options->most_local > 0 ? options->most_local : HK_GPU_MAX_LOCALS;
  l->brick_count = count;
  HK_TRY(hk_alloc(&l->context, &l->brick, count + 1, sizeof *l->brick, "bricks", error));
  for (int64_t q = 0; q <= count; q++) l->brick[q] = (int32_t)hk_gpu_part(l->n, count, q);
  HK_TRY(hk_gpu_halos(b->model, twice, most_local, l, suits, error));
  return *suits ? write_words(b, error) : HK_OK;
}

HkStatus hk_gpu_bricks(const HkModel *m, int64_t count, bool twice,
                       const HkGpuLayoutOptions *options, HkGpuLayout *l, bool *suits,
                       HkError *error) {
  const HkContext *c = &l->context;
  Brick b = {m, l};
  HK_TRY(count_slots(&b, &l->slots, error));
  *suits = l->slots <= HK_GPU_BRICK_MAX_SLOTS &&
           (double)l->slots * (double)l->n <= MAX_PADDING_RATIO * (double)l->half_springs;
  if (!*suits) return HK_OK;
  HkStatus status = build(&b, count, twice, options, suits, error);
  if (status < 0 || *suits) return status;
  hk_free(c, &l->brick);
  hk_free(c, &l->halo_start);
  hk_free(c, &l->halo);
  hk_free(c, &l->near);
  hk_free(c, &l->brick_row);
  l->brick_count = l->rows = l->most_local = l->most_rows = 0;
  return HK_OK;
}
