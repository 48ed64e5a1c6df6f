/* Halos of bricks: see layout.h.
 *
 * The neighbors of a brick's vertices that the brick does not contain are its first halo; their
 * neighbors that neither contains are its second one. Each brick is walked twice, once to count its
 * halos and once to write them, so that nothing but the halos themselves takes memory.
 */
#include "backend/gpu/locals.h"

/* Largest ratio of rows with two halos to vertices at which two steps in one kernel are faster. */
static const double TWO_STEP_MAX_ROW_RATIO = 1.7;

enum { GRAIN = 8 }; /* bricks of a parallel work item */

typedef struct Halos {
  const HkModel *model;
  HkGpuLayout *layout;
  bool twice;
  int most_local; /* vertices of a brick and its halos at most */
  int too_large;  /* 1: some brick is; threads share it */
} Halos;

/* The halos of one brick. */
typedef struct Walk {
  HkGpuLocals locals;
  int32_t halo[HK_GPU_MAX_LOCALS];
  int near, count, most; /* vertices of the first halo, of both, at most */
} Walk;

/* Adds the neighbors of the vertex at a place to the halo; returns false if there are too many. */
static bool add_neighbors(const Halos *h, Walk *w, int32_t place) {
  const HkModel *m = h->model;
  int64_t vertex = h->layout->order[place];
  for (int64_t e = m->adj_start[vertex]; e < m->adj_start[vertex + 1]; e++) {
    int32_t other = h->layout->place[m->adj_vertex[e]];
    if (hk_gpu_locals_is_own(&w->locals, other) || !hk_gpu_locals_add(&w->locals, other, 0))
      continue;
    if (w->count >= w->most) return false;
    w->halo[w->count++] = other;
  }
  return true;
}

/* Finds the halos of a brick; returns false if they are too large. */
static bool walk(const Halos *h, int64_t brick, Walk *w) {
  hk_gpu_locals_start(&w->locals, h->layout, brick);
  w->near = w->count = 0;
  w->most = h->most_local - w->locals.own;
  for (int32_t q = 0; q < w->locals.own; q++)
    if (!add_neighbors(h, w, w->locals.begin + q)) return false;
  w->near = w->count;
  if (!h->twice) return true;
  if (w->locals.own + w->near > HK_GPU_TWO_STEP_MAX_ROWS) return false;
  for (int q = 0; q < w->near; q++)
    if (!add_neighbors(h, w, w->halo[q])) return false;
  return true;
}

static void count_range(void *user, int64_t begin, int64_t end) {
  Halos *h = user;
  HkGpuLayout *l = h->layout;
  Walk w;
  for (int64_t q = begin; q < end; q++) {
    if (__atomic_load_n(&h->too_large, __ATOMIC_RELAXED)) return;
    if (!walk(h, q, &w)) __atomic_store_n(&h->too_large, 1, __ATOMIC_RELAXED);
    l->halo_start[q + 1] = w.count;
    if (l->near) l->near[q] = w.near;
  }
}

/* Shell's method; a halo has some hundred places. */
static void sort(int32_t *list, int count) {
  static const int gaps[] = {301, 132, 57, 23, 10, 4, 1};
  for (size_t g = 0; g < sizeof gaps / sizeof gaps[0]; g++)
    for (int q = gaps[g]; q < count; q++) {
      int32_t kept = list[q];
      int at = q;
      for (; at >= gaps[g] && list[at - gaps[g]] > kept; at -= gaps[g])
        list[at] = list[at - gaps[g]];
      list[at] = kept;
    }
}

static void write_range(void *user, int64_t begin, int64_t end) {
  const Halos *h = user;
  const HkGpuLayout *l = h->layout;
  Walk w;
  for (int64_t q = begin; q < end; q++) {
    walk(h, q, &w);
    sort(w.halo, w.near);
    sort(w.halo + w.near, w.count - w.near);
    memcpy(l->halo + l->halo_start[q], w.halo, (size_t)w.count * sizeof *w.halo);
  }
}

/* Adds up what the bricks have. The first of two steps moves the vertices of the first halo as it
 * does the brick's own: each gets a row. */
static void add_up(HkGpuLayout *l) {
  for (int64_t q = 0; q < l->brick_count; q++) {
    int64_t own = l->brick[q + 1] - l->brick[q], local = own + l->halo_start[q + 1];
    if (local > l->most_local) l->most_local = (int)local;
    l->halo_start[q + 1] += l->halo_start[q];
    if (!l->near) continue;
    int64_t rows = own + l->near[q];
    if (rows > l->most_rows) l->most_rows = (int)rows;
    l->brick_row[q + 1] = l->brick_row[q] + rows;
  }
  l->rows = l->near ? l->brick_row[l->brick_count] : l->n;
}

/* Two steps in one kernel read less memory than two kernels, unless the halos are large. Small
 * systems are bound by launch latency rather than by memory. */
static bool is_faster_with_two_halos(const HkGpuLayout *l) {
  return l->n < HK_GPU_BRICKS_MIN_VERTICES ||
         (double)l->rows <= TWO_STEP_MAX_ROW_RATIO * (double)l->n;
}

HkStatus hk_gpu_halos(const HkModel *m, bool twice, int most_local, HkGpuLayout *l, bool *suits,
                      HkError *error) {
  const HkContext *c = &l->context;
  int64_t count = l->brick_count;
  Halos h = {m, l, twice, most_local < HK_GPU_MAX_LOCALS ? most_local : HK_GPU_MAX_LOCALS, 0};
  HK_TRY(hk_alloc(c, &l->halo_start, count + 1, sizeof *l->halo_start, "bricks", error));
  if (twice) {
    HK_TRY(hk_alloc(c, &l->near, count, sizeof *l->near, "bricks", error));
    HK_TRY(hk_alloc(c, &l->brick_row, count + 1, sizeof *l->brick_row, "bricks", error));
  }
  hk_parallel_work(m->threads, count, GRAIN, count_range, &h);
  *suits = !h.too_large;
  if (!*suits) return HK_OK;
  add_up(l);
  *suits = !twice || is_faster_with_two_halos(l);
  if (!*suits) return HK_OK;
  /* One entry more, so that the pointer is not NULL. */
  HK_TRY(hk_alloc_unset(c, &l->halo, l->halo_start[count] + 1, sizeof *l->halo, "a halo", error));
  hk_parallel_work(m->threads, count, GRAIN, write_range, &h);
  return HK_OK;
}
