/* Springs by bricks: see layout.h. */
#include "backend/gpu/layout.h"

#include <stdlib.h>

enum { MOST_LOCAL = 1 << HK_GPU_LOCAL_BITS };

/* Words that are nearly all filling are not worth it. */
static const double MOST_FILLING = 1.6;

typedef struct Brick {
  const HkModel *model;
  HkGpuLayout *layout;
  int64_t *start;   /* of each brick in outside */
  int32_t *outside; /* places of neighbours outside, then each once */
} Brick;

/* ---- Halos ---- */

static inline bool is_inside(const HkGpuLayout *l, int64_t brick, int32_t place) {
  return place >= l->brick[brick] && place < l->brick[brick + 1];
}

/* Calls of this count, or write if there is a place to write to, all neighbours outside. */
static int64_t look_outside(const Brick *b, int64_t brick, int32_t *out) {
  const HkModel *m = b->model;
  const HkGpuLayout *l = b->layout;
  int64_t count = 0;
  for (int64_t q = l->brick[brick]; q < l->brick[brick + 1]; q++) {
    int64_t vertex = l->order[q];
    for (int64_t e = m->adj_start[vertex]; e < m->adj_start[vertex + 1]; e++) {
      int32_t place = l->place[m->adj_vertex[e]];
      if (is_inside(l, brick, place)) continue;
      if (out) out[count] = place;
      count++;
    }
  }
  return count;
}

static int compare(const void *a, const void *b) {
  int32_t first = *(const int32_t *)a, second = *(const int32_t *)b;
  return (first > second) - (first < second);
}

static void count_range(void *user, int64_t begin, int64_t end) {
  const Brick *b = user;
  for (int64_t q = begin; q < end; q++) b->start[q + 1] = look_outside(b, q, NULL);
}

static void halo_range(void *user, int64_t begin, int64_t end) {
  const Brick *b = user;
  for (int64_t q = begin; q < end; q++) {
    int32_t *out = b->outside + b->start[q];
    int64_t count = look_outside(b, q, out), kept = 0;
    qsort(out, (size_t)count, sizeof *out, compare);
    for (int64_t e = 0; e < count; e++)
      if (kept == 0 || out[kept - 1] != out[e]) out[kept++] = out[e];
    b->layout->halo_start[q + 1] = kept;
  }
}

static void copy_range(void *user, int64_t begin, int64_t end) {
  const Brick *b = user;
  const HkGpuLayout *l = b->layout;
  for (int64_t q = begin; q < end; q++)
    for (int64_t e = 0; e < l->halo_start[q + 1] - l->halo_start[q]; e++)
      l->halo[l->halo_start[q] + e] = b->outside[b->start[q] + e];
}

static void add_up(int64_t *start, int64_t count) {
  for (int64_t q = 0; q < count; q++) start[q + 1] += start[q];
}

enum { GRAIN = 8 }; /* bricks that a thread takes at a time */

static HkStatus find_halos(Brick *b, HkError *error) {
  HkGpuLayout *l = b->layout;
  const HkContext *c = &l->context;
  int threads = b->model->threads;
  int64_t count = l->brick_count;
  hk_parallel_work(threads, count, GRAIN, count_range, b);
  add_up(b->start, count);
  HK_TRY(hk_alloc(c, &b->outside, b->start[count], sizeof *b->outside, "a halo", error));
  hk_parallel_work(threads, count, GRAIN, halo_range, b);
  for (int64_t q = 0; q < count; q++) {
    int64_t local = l->brick[q + 1] - l->brick[q] + l->halo_start[q + 1];
    if (local > l->most_local) l->most_local = (int)(local < INT32_MAX ? local : INT32_MAX);
  }
  add_up(l->halo_start, count);
  HK_TRY(hk_alloc(c, &l->halo, l->halo_start[count], sizeof *l->halo, "a halo", error));
  hk_parallel_work(threads, count, GRAIN, copy_range, b);
  return HK_OK;
}

/* ---- Words ---- */

/* The number of a place in a brick: its own vertices first, then the halo. */
static uint32_t local_of(const HkGpuLayout *l, int64_t brick, int32_t place) {
  if (is_inside(l, brick, place)) return (uint32_t)(place - l->brick[brick]);
  int64_t low = l->halo_start[brick], high = l->halo_start[brick + 1];
  while (high - low > 1) {
    int64_t middle = low + (high - low) / 2;
    if (l->halo[middle] <= place)
      low = middle;
    else
      high = middle;
  }
  return (uint32_t)(l->brick[brick + 1] - l->brick[brick] + (low - l->halo_start[brick]));
}

static void put(HkGpuLayout *l, int64_t slot, int64_t place, uint32_t half) {
  uint32_t *word = &l->word[slot / 2 * l->n + place];
  *word |= slot % 2 ? half << 16 : half;
}

static void words_of(const Brick *b, int64_t brick, int64_t place) {
  const HkModel *m = b->model;
  HkGpuLayout *l = b->layout;
  int64_t vertex = l->order[place], first = m->adj_start[vertex];
  int64_t count = m->adj_start[vertex + 1] - first;
  for (int64_t slot = 0; slot < l->slots; slot++) {
    if (slot >= count) {
      put(l, slot, place, (uint32_t)(place - l->brick[brick]) << HK_GPU_COLOR_BITS);
      if (l->l0) l->l0[slot * l->n + place] = -1;
      continue;
    }
    int64_t spring = m->adj_spring[first + slot];
    uint32_t half = local_of(l, brick, l->place[m->adj_vertex[first + slot]]) << HK_GPU_COLOR_BITS;
    if (l->parameters == HK_GPU_BY_PALETTE) half |= (uint32_t)hk_gpu_color_of(l, m, spring);
    put(l, slot, place, half);
    if (l->l0) l->l0[slot * l->n + place] = m->l0[spring];
    if (l->stiffness) l->stiffness[slot * l->n + place] = m->k[spring];
  }
}

static void words_range(void *user, int64_t begin, int64_t end) {
  const Brick *b = user;
  for (int64_t q = begin; q < end; q++)
    for (int64_t place = b->layout->brick[q]; place < b->layout->brick[q + 1]; place++)
      words_of(b, q, place);
}

static HkStatus write_words(Brick *b, HkError *error) {
  HkGpuLayout *l = b->layout;
  const HkContext *c = &l->context;
  l->words = l->slots / 2 * l->n;
  HK_TRY(hk_alloc(c, &l->word, l->words, sizeof *l->word, "springs", error));
  if (l->parameters != HK_GPU_BY_PALETTE)
    HK_TRY(hk_alloc(c, &l->l0, 2 * l->words, sizeof *l->l0, "springs", error));
  if (l->parameters == HK_GPU_UNIQUE)
    HK_TRY(hk_alloc(c, &l->stiffness, 2 * l->words, sizeof *l->stiffness, "springs", error));
  hk_parallel_work(b->model->threads, l->brick_count, GRAIN, words_range, b);
  return HK_OK;
}

/* ---- All of it ---- */

static int most_slots(const HkModel *m) {
  int64_t most = 2;
  for (int64_t q = 0; q < m->n; q++)
    if (m->adj_start[q + 1] - m->adj_start[q] > most) most = m->adj_start[q + 1] - m->adj_start[q];
  return (int)(most < INT32_MAX - 1 ? (most + 1) / 2 * 2 : INT32_MAX - 1);
}

static HkStatus build(Brick *b, bool *suits, HkError *error) {
  HkGpuLayout *l = b->layout;
  const HkContext *c = &l->context;
  int64_t count = l->brick_count;
  HK_TRY(hk_alloc(c, &b->start, count + 1, sizeof *b->start, "bricks", error));
  HK_TRY(hk_alloc(c, &l->brick, count + 1, sizeof *l->brick, "bricks", error));
  HK_TRY(hk_alloc(c, &l->halo_start, count + 1, sizeof *l->halo_start, "bricks", error));
  for (int64_t q = 0; q <= count; q++) l->brick[q] = (int32_t)hk_gpu_part(l->n, count, q);
  HK_TRY(find_halos(b, error));
  *suits = l->most_local <= MOST_LOCAL;
  return *suits ? write_words(b, error) : HK_OK;
}

HkStatus hk_gpu_bricks(const HkModel *m, HkGpuLayout *l, bool *suits, HkError *error) {
  const HkContext *c = &l->context;
  Brick b = {.model = m, .layout = l};
  l->slots = most_slots(m);
  *suits = (double)l->slots * (double)l->n <= MOST_FILLING * (double)l->half_springs;
  if (!*suits) return HK_OK;
  l->brick_count = (l->n + HK_GPU_BRICK - 1) / HK_GPU_BRICK;
  HkStatus status = build(&b, suits, error);
  hk_free(c, &b.start);
  hk_free(c, &b.outside);
  if (status < 0 || *suits) return status;
  hk_free(c, &l->brick);
  hk_free(c, &l->halo_start);
  hk_free(c, &l->halo);
  l->brick_count = l->most_local = 0;
  return HK_OK;
}
