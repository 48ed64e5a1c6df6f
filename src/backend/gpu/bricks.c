/* Springs in bricks: see layout.h. */
#include "backend/gpu/layout.h"

#include "base/sort.h"

enum { BRICK_MAX_LOCAL_VERTICES = 1 << HK_GPU_LOCAL_BITS };

/* Largest ratio of slots with padding to half springs; above it rows are smaller. */
static const double MAX_PADDING_RATIO = 1.6;
/* Largest ratio of rows with two halos to vertices at which two steps in one kernel are faster. */
static const double TWO_STEP_MAX_ROW_RATIO = 1.7;

typedef struct Brick {
  const HkModel *model;
  HkGpuLayout *layout;
  int64_t *start;   /* first entry of each brick in `outside` */
  int32_t *outside; /* places of neighbors outside, later without duplicates */
  int32_t *kept;    /* entries of each brick without duplicates */
  int most_local;   /* vertices of a brick and its halos at most */
} Brick;

/* ---- Halos ---- */

/* Returns the local index of a place in a brick: its own vertices first, then the first halo, then
 * the second; -1 if the brick does not contain the place. */
static int64_t local_of(const HkGpuLayout *l, int64_t brick, int32_t place) {
  int64_t own = l->brick[brick + 1] - l->brick[brick], begin = l->halo_start[brick];
  if (place >= l->brick[brick] && place < l->brick[brick + 1]) return place - l->brick[brick];
  int64_t all = l->halo_start[brick + 1] - begin, near = l->near ? l->near[brick] : all;
  int64_t parts[] = {0, near, all};
  for (int q = 0; q < 2; q++) {
    int64_t low = parts[q], high = parts[q + 1];
    while (high - low > 1) {
      int64_t middle = low + (high - low) / 2;
      if (l->halo[begin + middle] <= place)
        low = middle;
      else
        high = middle;
    }
    if (low < parts[q + 1] && l->halo[begin + low] == place) return own + low;
  }
  return -1;
}

/* Returns the number of vertices whose springs a brick stores: its own, and the first of two halos.
 */
static int64_t rows_of(const HkGpuLayout *l, int64_t brick) {
  return l->brick[brick + 1] - l->brick[brick] + (l->near ? l->near[brick] : 0);
}

static int32_t place_of(const HkGpuLayout *l, int64_t brick, int64_t row) {
  int64_t own = l->brick[brick + 1] - l->brick[brick];
  return row < own ? l->brick[brick] + (int32_t)row : l->halo[l->halo_start[brick] + row - own];
}

/* Counts the neighbors that the brick does not contain yet, with duplicates, and writes them to
 * `out` unless it is NULL. */
static int64_t look_outside(const Brick *b, int64_t brick, int32_t *out) {
  const HkModel *m = b->model;
  const HkGpuLayout *l = b->layout;
  int64_t count = 0;
  for (int64_t row = 0; row < rows_of(l, brick); row++) {
    int64_t vertex = l->order[place_of(l, brick, row)];
    for (int64_t e = m->adj_start[vertex]; e < m->adj_start[vertex + 1]; e++) {
      int32_t place = l->place[m->adj_vertex[e]];
      if (local_of(l, brick, place) >= 0) continue;
      if (out) out[count] = place;
      count++;
    }
  }
  return count;
}

static void count_range(void *user, int64_t begin, int64_t end) {
  const Brick *b = user;
  for (int64_t q = begin; q < end; q++) b->start[q + 1] = look_outside(b, q, NULL);
}

static void keep_range(void *user, int64_t begin, int64_t end) {
  const Brick *b = user;
  for (int64_t q = begin; q < end; q++) {
    int32_t *out = b->outside + b->start[q], kept = 0;
    int64_t count = look_outside(b, q, out);
    hk_sort_int32(out, count);
    for (int64_t e = 0; e < count; e++)
      if (kept == 0 || out[kept - 1] != out[e]) out[kept++] = out[e];
    b->kept[q] = kept;
  }
}

static void add_up(int64_t *start, int64_t count) {
  for (int64_t q = 0; q < count; q++) start[q + 1] += start[q];
}

enum { GRAIN = 8 }; /* bricks of a parallel work item */

/* Appends the vertices in `outside` to the halo of each brick. */
static HkStatus append(Brick *b, HkError *error) {
  HkGpuLayout *l = b->layout;
  int64_t count = l->brick_count, *start = NULL;
  int32_t *halo = NULL;
  HkStatus status = hk_alloc(&l->context, &start, count + 1, sizeof *start, "a halo", error);
  for (int64_t q = 0; q < count && status >= 0; q++)
    start[q + 1] = start[q] + l->halo_start[q + 1] - l->halo_start[q] + b->kept[q];
  if (status >= 0)
    status = hk_alloc(&l->context, &halo, start[count], sizeof *halo, "a halo", error);
  for (int64_t q = 0; q < count && status >= 0; q++) {
    int64_t before = l->halo_start[q + 1] - l->halo_start[q];
    for (int64_t e = 0; e < before; e++) halo[start[q] + e] = l->halo[l->halo_start[q] + e];
    for (int64_t e = 0; e < b->kept[q]; e++)
      halo[start[q] + before + e] = b->outside[b->start[q] + e];
  }
  if (status < 0) {
    hk_free(&l->context, &start);
    return status;
  }
  hk_free(&l->context, &l->halo);
  hk_free(&l->context, &l->halo_start);
  l->halo = halo;
  l->halo_start = start;
  return HK_OK;
}

/* Adds one halo around each brick. */
static HkStatus add_halo(Brick *b, HkError *error) {
  HkGpuLayout *l = b->layout;
  const HkContext *c = &l->context;
  int threads = b->model->threads;
  int64_t count = l->brick_count;
  b->start[0] = 0;
  hk_parallel_work(threads, count, GRAIN, count_range, b);
  add_up(b->start, count);
  hk_free(c, &b->outside);
  /* At least one entry, so that the pointer is not NULL. */
  HK_TRY(hk_alloc(c, &b->outside, b->start[count] + 1, sizeof *b->outside, "a halo", error));
  hk_parallel_work(threads, count, GRAIN, keep_range, b);
  HK_TRY(append(b, error));
  for (int64_t q = 0; q < count; q++) {
    int64_t local = l->brick[q + 1] - l->brick[q] + l->halo_start[q + 1] - l->halo_start[q];
    if (local > l->most_local) l->most_local = (int)(local < INT32_MAX ? local : INT32_MAX);
  }
  return HK_OK;
}

/* The first of two steps moves the vertices of the first halo as it does the brick's own: each gets
 * a row. */
static HkStatus count_rows(HkGpuLayout *l, HkError *error) {
  int64_t count = l->brick_count;
  HK_TRY(hk_alloc(&l->context, &l->near, count, sizeof *l->near, "bricks", error));
  HK_TRY(hk_alloc(&l->context, &l->brick_row, count + 1, sizeof *l->brick_row, "bricks", error));
  for (int64_t q = 0; q < count; q++) {
    l->near[q] = (int32_t)(l->halo_start[q + 1] - l->halo_start[q]);
    int64_t rows = rows_of(l, q);
    l->brick_row[q + 1] = l->brick_row[q] + rows;
    if (rows > l->most_rows) l->most_rows = (int)(rows < INT32_MAX ? rows : INT32_MAX);
  }
  l->rows = l->brick_row[count];
  return HK_OK;
}

/* ---- Words ---- */

static void put(HkGpuLayout *l, int64_t slot, int64_t row, uint32_t half) {
  uint32_t *word = &l->word[slot / 2 * l->rows + row];
  *word |= slot % 2 ? half << 16 : half;
}

static void words_of(const Brick *b, int64_t brick, int64_t local) {
  const HkModel *m = b->model;
  HkGpuLayout *l = b->layout;
  int64_t vertex = l->order[place_of(l, brick, local)], first = m->adj_start[vertex];
  int64_t count = m->adj_start[vertex + 1] - first;
  int64_t row = (l->near ? l->brick_row[brick] : l->brick[brick]) + local;
  for (int64_t slot = 0; slot < l->slots; slot++) {
    if (slot >= count) {
      put(l, slot, row, (uint32_t)local << HK_GPU_PALETTE_BITS);
      if (l->l0) l->l0[slot * l->rows + row] = -1;
      continue;
    }
    int64_t spring = m->adj_spring[first + slot];
    int64_t other = local_of(l, brick, l->place[m->adj_vertex[first + slot]]);
    uint32_t half = (uint32_t)other << HK_GPU_PALETTE_BITS;
    if (l->parameters == HK_GPU_BY_PALETTE) half |= (uint32_t)hk_gpu_palette_index(l, m, spring);
    put(l, slot, row, half);
    if (l->l0) l->l0[slot * l->rows + row] = m->springs.l0[spring];
    if (l->stiffness) l->stiffness[slot * l->rows + row] = m->springs.k[spring];
  }
}

static void words_range(void *user, int64_t begin, int64_t end) {
  const Brick *b = user;
  for (int64_t q = begin; q < end; q++)
    for (int64_t local = 0; local < rows_of(b->layout, q); local++) words_of(b, q, local);
}

static HkStatus write_words(Brick *b, HkError *error) {
  HkGpuLayout *l = b->layout;
  const HkContext *c = &l->context;
  l->words = l->slots / 2 * l->rows;
  HK_TRY(hk_alloc(c, &l->word, l->words, sizeof *l->word, "springs", error));
  if (l->parameters != HK_GPU_BY_PALETTE)
    HK_TRY(hk_alloc(c, &l->l0, 2 * l->words, sizeof *l->l0, "springs", error));
  if (l->parameters == HK_GPU_UNIQUE)
    HK_TRY(hk_alloc(c, &l->stiffness, 2 * l->words, sizeof *l->stiffness, "springs", error));
  hk_parallel_work(b->model->threads, l->brick_count, GRAIN, words_range, b);
  return HK_OK;
}

/* ---- The whole layout ---- */

static int most_slots(const HkModel *m) {
  int64_t most = 2;
  for (int64_t q = 0; q < m->n; q++)
    if (m->adj_start[q + 1] - m->adj_start[q] > most) most = m->adj_start[q + 1] - m->adj_start[q];
  return (int)(most < INT32_MAX - 1 ? (most + 1) / 2 * 2 : INT32_MAX - 1);
}

/* Two steps in one kernel read less memory than two kernels, unless the halos are large. Small
 * systems are bound by launch latency rather than by memory. */
static bool is_faster_with_two_halos(const HkGpuLayout *l) {
  return l->most_rows <= HK_GPU_TWO_STEP_MAX_ROWS &&
         (l->n < HK_GPU_BRICKS_MIN_VERTICES ||
          (double)l->rows <= TWO_STEP_MAX_ROW_RATIO * (double)l->n);
}

static HkStatus build(Brick *b, bool twice, bool *suits, HkError *error) {
  HkGpuLayout *l = b->layout;
  const HkContext *c = &l->context;
  int64_t count = l->brick_count;
  HK_TRY(hk_alloc(c, &b->start, count + 1, sizeof *b->start, "bricks", error));
  HK_TRY(hk_alloc(c, &b->kept, count, sizeof *b->kept, "bricks", error));
  HK_TRY(hk_alloc(c, &l->brick, count + 1, sizeof *l->brick, "bricks", error));
  HK_TRY(hk_alloc(c, &l->halo_start, count + 1, sizeof *l->halo_start, "bricks", error));
  for (int64_t q = 0; q <= count; q++) l->brick[q] = (int32_t)hk_gpu_part(l->n, count, q);
  l->rows = l->n;
  HK_TRY(add_halo(b, error));
  if (twice) {
    HK_TRY(count_rows(l, error));
    *suits = is_faster_with_two_halos(l);
    if (*suits) HK_TRY(add_halo(b, error));
  }
  *suits &= l->most_local <= b->most_local;
  return *suits ? write_words(b, error) : HK_OK;
}

HkStatus hk_gpu_bricks(const HkModel *m, int64_t count, bool twice,
                       const HkGpuLayoutOptions *options, HkGpuLayout *l, bool *suits,
                       HkError *error) {
  const HkContext *c = &l->context;
  Brick b = {.model = m, .layout = l, .most_local = BRICK_MAX_LOCAL_VERTICES};
  if (options->most_local > 0 && options->most_local < b.most_local)
    b.most_local = options->most_local;
  l->slots = most_slots(m);
  *suits = l->slots <= HK_GPU_BRICK_MAX_SLOTS &&
           (double)l->slots * (double)l->n <= MAX_PADDING_RATIO * (double)l->half_springs;
  if (!*suits) return HK_OK;
  l->brick_count = count;
  HkStatus status = build(&b, twice, suits, error);
  hk_free(c, &b.start);
  hk_free(c, &b.outside);
  hk_free(c, &b.kept);
  if (status < 0 || *suits) return status;
  hk_free(c, &l->brick);
  hk_free(c, &l->halo_start);
  hk_free(c, &l->halo);
  hk_free(c, &l->near);
  hk_free(c, &l->brick_row);
  l->brick_count = l->rows = l->most_local = l->most_rows = 0;
  return HK_OK;
}
