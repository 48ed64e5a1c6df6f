/* Layouts for a GPU against plain loops, and for several numbers of threads. */
#include "backend/device_model.h"
#include "backend/gpu/hierarchy.h"
#include "backend/gpu/layout.h"

#include "model_by_hand.h"
#include "test.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

static HkStatus compile(const char *text, int threads, HkModel **model, HkError *error) {
  HkContext context = hk_context_default();
  HkScene *scene = NULL;
  const char *json = test_json(text);
  context.threads = threads;
  HK_TRY(hk_scene_parse(&context, json, strlen(json), "test", NULL, NULL, 0, &scene, error));
  HkStatus status = hk_model_compile(scene, model, error);
  hk_scene_destroy(&scene);
  return status;
}

/* ---- Order ---- */

typedef struct Key {
  double at;
  int32_t vertex;
} Key;

static int compare_keys(const void *a, const void *b) {
  const Key *p = a, *q = b;
  if (p->at != q->at) return p->at < q->at ? -1 : 1;
  return (p->vertex > q->vertex) - (p->vertex < q->vertex);
}

static int compare_vertices(const void *a, const void *b) {
  return (*(const int32_t *)a > *(const int32_t *)b) - (*(const int32_t *)a < *(const int32_t *)b);
}

static void sort_along(const HkModel *m, int axis, int32_t *order, int64_t count) {
  Key *keys = malloc((size_t)count * sizeof *keys);
  for (int64_t q = 0; q < count; q++)
    keys[q] = (Key){m->x0[3 * (int64_t)order[q] + axis], order[q]};
  qsort(keys, (size_t)count, sizeof *keys, compare_keys);
  for (int64_t q = 0; q < count; q++) order[q] = keys[q].vertex;
  free(keys);
}

static int longest_side(const HkModel *m, const int32_t *order, int64_t count) {
  double side[3];
  for (int c = 0; c < 3; c++) {
    double low = INFINITY, high = -INFINITY;
    for (int64_t q = 0; q < count; q++) {
      low = fmin(low, m->x0[3 * (int64_t)order[q] + c]);
      high = fmax(high, m->x0[3 * (int64_t)order[q] + c]);
    }
    side[c] = high - low;
  }
  int longest = side[1] > side[0];
  return side[2] > side[longest] ? 2 : longest;
}

/* The definition of the order: halves of sorted ranges. */
static void bisect(const HkModel *m, int64_t parts, int64_t first, int64_t count, int32_t *order) {
  int64_t begin = hk_gpu_part(m->n, parts, first);
  int64_t size = hk_gpu_part(m->n, parts, first + count) - begin;
  if (count == 1) {
    qsort(order + begin, (size_t)size, sizeof *order, compare_vertices);
    return;
  }
  sort_along(m, longest_side(m, order + begin, size), order + begin, size);
  bisect(m, parts, first, count / 2, order);
  bisect(m, parts, first + count / 2, count - count / 2, order);
}

static void check_order(const HkModel *m, int64_t parts, const char *what) {
  int32_t *expected = malloc((size_t)m->n * sizeof *expected);
  int32_t *order = malloc((size_t)m->n * sizeof *order);
  int32_t *scratch = malloc((size_t)m->n * sizeof *scratch);
  for (int64_t q = 0; q < m->n; q++) expected[q] = (int32_t)q;
  bisect(m, parts, 0, parts, expected);
  HkError error = {0};
  if (hk_gpu_order(m, parts, order, scratch, &error) < 0 ||
      memcmp(order, expected, (size_t)m->n * sizeof *order) != 0)
    test_fail(what, (int)parts, "the order is not that of sorted halves %s", error.text);
  free(expected);
  free(order);
  free(scratch);
}

/* Positions that bins of equal width do not separate, or whose width is not a normal number. */
static double odd_coordinate(int kind, int64_t q, uint64_t *seed) {
  double any = test_random(seed);
  switch (kind) {
  case 0: return any;
  case 1: return floor(8 * any);                             /* many are equal */
  case 2: return ldexp(any, (int)(test_random(seed) * 900)); /* 2^-900 to 2^900 */
  case 3: return any * DBL_MAX;                              /* sides that overflow */
  case 4: return (double)(q % 7) * DBL_TRUE_MIN;             /* sides whose reciprocal overflows */
  case 5: return 1 + (double)(q * 7919 % 5) * DBL_EPSILON;
  case 6: return q % 2 ? 0.0 : -0.0;
  default: return 0;
  }
}

TEST(order_is_that_of_sorted_halves) {
  HkModel *m = NULL;
  uint64_t seed = 7;
  MUST(compile("{'bodies': [{'shape': {'type': 'grid', 'nx': 90, 'ny': 70}, 'springs': {'k': 1}}]}",
               2, &m, error));
  for (int64_t parts = 1; parts <= 64; parts = 3 * parts + 1) check_order(m, parts, "grid");
  check_order(m, m->n, "single vertices");
  for (int kind = 0; kind < 8; kind++) {
    for (int64_t q = 0; q < 3 * m->n; q++) m->x0[q] = odd_coordinate(kind, q, &seed);
    check_order(m, 13, "odd coordinates");
    check_order(m, 100, "odd coordinates");
  }
  hk_model_destroy(&m);
}

/* Ranges that all threads cut together. */
TEST(order_of_many_vertices_is_that_of_sorted_halves) {
  HkModel *m = NULL;
  uint64_t seed = 11;
  MUST(compile("{'bodies': [{'shape': {'type': 'grid', 'nx': 517, 'ny': 411}, 'springs': {'k': "
               "1}}]}",
               3, &m, error));
  check_order(m, (m->n + 511) / 512, "grid");
  for (int kind = 0; kind < 3; kind++) {
    for (int64_t q = 0; q < 3 * m->n; q++) m->x0[q] = odd_coordinate(kind, q, &seed);
    check_order(m, (m->n + 511) / 512, "odd coordinates");
  }
  hk_model_destroy(&m);
}

/* ---- Halos ---- */

/* Marks the neighbors of what is marked as at most `ring` with ring + 1. */
static void mark_neighbors(const HkModel *m, int8_t *mark, int8_t ring) {
  for (int64_t v = 0; v < m->n; v++) {
    if (mark[v] != ring) continue;
    for (int64_t e = m->adj_start[v]; e < m->adj_start[v + 1]; e++)
      if (mark[m->adj_vertex[e]] == 0) mark[m->adj_vertex[e]] = (int8_t)(ring + 1);
  }
}

/* Returns whether places begin .. end - 1 of a halo are those with a mark, in rising order. */
static bool is_marked(const HkGpuLayout *l, const int8_t *mark, int8_t ring, int64_t begin,
                      int64_t end) {
  int64_t at = begin;
  for (int64_t q = 0; q < l->n; q++)
    if (mark[l->order[q]] == ring && (at == end || l->halo[at++] != q)) return false;
  return at == end;
}

static void check_halos(const HkModel *m, const HkGpuLayout *l) {
  int8_t *mark = malloc((size_t)m->n);
  int64_t wrong = 0, most = 0;
  for (int64_t b = 0; b < l->brick_count; b++) {
    int64_t begin = l->halo_start[b], end = l->halo_start[b + 1];
    int64_t middle = l->near ? begin + l->near[b] : end;
    memset(mark, 0, (size_t)m->n);
    for (int64_t q = l->brick[b]; q < l->brick[b + 1]; q++) mark[l->order[q]] = 1;
    mark_neighbors(m, mark, 1);
    if (l->near) mark_neighbors(m, mark, 2);
    wrong += !is_marked(l, mark, 2, begin, middle) || !is_marked(l, mark, 3, middle, end);
    int64_t local = l->brick[b + 1] - l->brick[b] + end - begin;
    most = local > most ? local : most;
  }
  CHECK(wrong == 0);
  CHECK(most == l->most_local);
  free(mark);
}

TEST(halos_are_the_neighbors_outside_of_a_brick) {
  static const char *const bodies[] = {
      "{'shape': {'type': 'grid', 'nx': 97, 'ny': 61}, 'springs': {'k': 1, 'bending': true}}",
      "{'shape': {'type': 'ball', 'shells': 14}, 'springs': {'k': 1}}",
      "{'shape': {'type': 'chain', 'n': 2000}, 'springs': {'k': 1}}"};
  for (int k = 0; k < 3; k++)
    for (int twice = 0; twice < 2; twice++) {
      HkModel *m = NULL;
      HkGpuLayout *l = NULL;
      char text[300];
      HkGpuLayoutOptions options = {.bricks = true, .twice = twice};
      snprintf(text, sizeof text, "{'bodies': [%s]}", bodies[k]);
      MUST(compile(text, 2, &m, error));
      if (k == 1) /* one type of springs */
        for (int64_t s = 0; s < m->springs.count; s++) m->springs.l0[s] = 1;
      MUST(hk_gpu_layout_create(m, &options, &l, error));
      CHECK(l->brick_count > 0);
      CHECK((l->near != NULL) == (twice == 1));
      check_halos(m, l);
      hk_gpu_layout_destroy(&l);
      hk_model_destroy(&m);
    }
}

/* ---- Parameters ---- */

static bool is_alike(double a, double b) {
  return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

/* Spring after spring: a new entry for each that differs from all entries before. */
static int plain_palette(const HkModel *m, HkGpuSpringType *palette, int most) {
  int count = 1;
  for (int64_t s = 0; s < m->springs.count; s++) {
    int q = 1;
    while (q < count &&
           !(is_alike(palette[q].k, m->springs.k[s]) && is_alike(palette[q].l0, m->springs.l0[s])))
      q++;
    if (q < count) continue;
    if (count == most) return most + 1;
    palette[count++] = (HkGpuSpringType){.k = m->springs.k[s], .l0 = m->springs.l0[s], .least = -1};
  }
  return count;
}

/* Rest lengths whose differences are near the tolerance, so that their order matters. */
TEST(palette_has_springs_in_the_order_of_their_first) {
  static const int types[] = {1, 5, 31, 32, 200};
  HkModel *m = NULL;
  uint64_t seed = 3;
  MUST(compile("{'bodies': [{'shape': {'type': 'grid', 'nx': 150, 'ny': 150}, 'springs': {'k': "
               "1}}]}",
               3, &m, error));
  for (int k = 0; k < 10; k++) {
    HkGpuSpringType expected[HK_GPU_PALETTE_SIZE] = {0};
    double step = k < 5 ? 0.6e-9 : 0.01;
    for (int64_t s = 0; s < m->springs.count; s++)
      m->springs.l0[s] = 1 + step * floor(types[k % 5] * test_random(&seed) * test_random(&seed));
    HkGpuLayout layout = {0};
    int count = plain_palette(m, expected, HK_GPU_PALETTE_SIZE);
    MUST(hk_gpu_spring_parameters(m, false, &layout, error));
    CHECK((layout.parameters == HK_GPU_BY_PALETTE) == (count <= HK_GPU_PALETTE_SIZE));
    if (count > HK_GPU_PALETTE_SIZE) continue;
    CHECK(layout.palette_count == count);
    for (int q = 1; q < count; q++)
      CHECK(layout.palette[q].l0 == expected[q].l0 && layout.palette[q].k == expected[q].k);
    for (int64_t s = 0; s < m->springs.count; s++) {
      int q = 1;
      while (!is_alike(expected[q].l0, m->springs.l0[s])) q++;
      CHECK(hk_gpu_palette_index(&layout, m, s) == q);
    }
  }
  hk_model_destroy(&m);
}

/* ---- Masses and faces ---- */

/* Place after place: faces get their number at the first corner that is met. */
static int64_t count_wrong_faces(const HkModel *m, const HkDeviceModel *d) {
  int32_t *number = malloc((size_t)m->face_count * sizeof *number), count = 0;
  int64_t at = 0, wrong = 0;
  for (int64_t f = 0; f < m->face_count; f++) number[f] = -1;
  for (int64_t q = 0; q < m->n; q++) {
    int64_t vertex = d->layout->order[q];
    for (int64_t e = m->face_start[vertex]; e < m->face_start[vertex + 1]; e++) {
      int64_t f = m->face_at[e] / 3;
      for (int c = 0; c < 3 && number[f] < 0; c++)
        wrong += d->face[3 * (int64_t)count + c] != d->layout->place[m->face[3 * f + c]];
      if (number[f] < 0) number[f] = count++;
      wrong += d->face_at[at++] != number[f];
    }
    wrong += d->face_start[q + 1] != at;
  }
  free(number);
  return wrong + (count != m->face_count);
}

TEST(masses_and_faces_stand_in_the_order_of_places) {
  HkModel *m = NULL;
  HkDeviceModel d;
  HkDeviceArrays arrays;
  MUST(compile("{'bodies': [{'shape': {'type': 'disc', 'rings': 60}, 'springs': {'k': 1}, 'mass': "
               "{'total': 1, 'distribution': 'lumped'}}], 'forces': ['face_wind']}",
               3, &m, error));
  m->face[5] = m->face[4]; /* a face that has a vertex twice */
  hk_free(&m->context, &m->face_start);
  hk_free(&m->context, &m->face_at);
  MUST(hk_model_need_faces(m, error));
  MUST(hk_device_model_create(m, &(HkGpuLayoutOptions){0}, false, &d, &arrays, error));
  CHECK(d.face_count == m->face_count && m->face_count > 0);
  CHECK(count_wrong_faces(m, &d) == 0);
  int64_t wrong = 0;
  for (int64_t v = 0; v < m->n; v++) wrong += d.mass[d.layout->place[v]] != m->mass[v];
  CHECK(wrong == 0);
  hk_device_model_destroy(m, &arrays);
  hk_model_destroy(&m);
}

/* ---- Threads ---- */

static bool is_equal(const void *a, const void *b, int64_t count, size_t size) {
  if (!a || !b) return a == b;
  return memcmp(a, b, (size_t)count * size) == 0;
}

static bool is_same_layout(const HkGpuLayout *a, const HkGpuLayout *b) {
  int64_t bricks = a->brick_count, slots = (bricks > 0 ? 2 : 1) * a->words;
  return a->n == b->n && a->words == b->words && bricks == b->brick_count && a->rows == b->rows &&
         a->most_local == b->most_local && a->most_rows == b->most_rows &&
         a->parameters == b->parameters && a->palette_count == b->palette_count &&
         memcmp(a->palette, b->palette, sizeof a->palette) == 0 && a->k == b->k &&
         a->kl0 == b->kl0 && is_equal(a->order, b->order, a->n, sizeof *a->order) &&
         is_equal(a->place, b->place, a->n, sizeof *a->place) &&
         is_equal(a->brick, b->brick, bricks + 1, sizeof *a->brick) &&
         is_equal(a->halo_start, b->halo_start, bricks + 1, sizeof *a->halo_start) &&
         is_equal(a->halo, b->halo, bricks > 0 ? a->halo_start[bricks] : 0, sizeof *a->halo) &&
         is_equal(a->near, b->near, bricks, sizeof *a->near) &&
         is_equal(a->brick_row, b->brick_row, bricks + 1, sizeof *a->brick_row) &&
         is_equal(a->word, b->word, a->words, sizeof *a->word) &&
         is_equal(a->l0, b->l0, slots, sizeof *a->l0) &&
         is_equal(a->stiffness, b->stiffness, slots, sizeof *a->stiffness);
}

TEST(layout_is_the_same_for_any_number_of_threads) {
  static const char *const bodies[] = {
      "{'shape': {'type': 'grid', 'nx': 417, 'ny': 303}, 'springs': {'k': 1, 'shear': true, "
      "'bending': true}}",
      "{'shape': {'type': 'ball', 'shells': 28}, 'springs': {'EA': 1}}"};
  static const HkGpuLayoutOptions options[] = {
      {.twice = true}, {.bricks = true}, {.rows = true}, {.colors = true}, {.unique = true}};
  static const int threads[] = {1, 2, 5};
  for (int k = 0; k < 2; k++) {
    HkModel *m = NULL;
    char text[300];
    snprintf(text, sizeof text, "{'bodies': [%s]}", bodies[k]);
    MUST(compile(text, 1, &m, error));
    for (size_t q = 0; q < sizeof options / sizeof options[0]; q++) {
      HkGpuLayout *l[3] = {NULL};
      for (int t = 0; t < 3; t++) {
        m->threads = threads[t];
        MUST(hk_gpu_layout_create(m, &options[q], &l[t], error));
      }
      CHECK(is_same_layout(l[0], l[1]) && is_same_layout(l[0], l[2]));
      for (int t = 0; t < 3; t++) hk_gpu_layout_destroy(&l[t]);
    }
    hk_model_destroy(&m);
  }
}

static bool is_same_lists(const HkGpuLists *a, const HkGpuLists *b) {
  if (a->rows != b->rows ||
      !is_equal(a->start, b->start, hk_gpu_slices(a->rows) + 1, sizeof *a->start))
    return false;
  int64_t entries = hk_gpu_list_entries(a);
  return is_equal(a->index, b->index, entries, sizeof *a->index) &&
         is_equal(a->weight, b->weight, entries, sizeof *a->weight);
}

static bool is_same_level(const HkGpuLevel *a, const HkGpuLevel *b) {
  return a->n == b->n && a->cycles == b->cycles && a->pair_count == b->pair_count &&
         is_equal(a->start, b->start, hk_gpu_slices(a->n) + 1, sizeof *a->start) &&
         is_equal(a->column, b->column, hk_gpu_level_entries(a), sizeof *a->column) &&
         is_equal(a->pair, b->pair, 2 * a->pair_count, sizeof *a->pair) &&
         is_same_lists(&a->prolong, &b->prolong) &&
         is_same_lists(&a->restrict_to, &b->restrict_to) &&
         is_same_lists(&a->pair_entries, &b->pair_entries) &&
         is_same_lists(&a->pair_rows, &b->pair_rows) && is_same_lists(&a->row_rows, &b->row_rows) &&
         is_same_lists(&a->row_entries, &b->row_entries);
}

TEST(levels_are_the_same_for_any_number_of_threads) {
  static const char *const bodies[] = {
      "{'shape': {'type': 'grid', 'nx': 170, 'ny': 150}, 'springs': {'k': 1, 'shear': true, "
      "'bending': true}}",
      "{'shape': {'type': 'ball', 'shells': 18}, 'springs': {'EA': 1}}"};
  static const int threads[] = {1, 2, 5};
  for (int k = 0; k < 2; k++) {
    HkModel *m = NULL;
    HkGpuLayout *l = NULL;
    HkGpuHierarchy *h[3] = {NULL};
    char text[300];
    snprintf(text, sizeof text, "{'bodies': [%s]}", bodies[k]);
    MUST(compile(text, 1, &m, error));
    MUST(hk_gpu_layout_create(m, &(HkGpuLayoutOptions){0}, &l, error));
    for (int t = 0; t < 3; t++) {
      m->threads = threads[t];
      MUST(hk_gpu_hierarchy_create(m, l->place, &h[t], error));
    }
    CHECK(h[0]->count > 3);
    for (int t = 1; t < 3; t++) {
      CHECK(h[t]->count == h[0]->count);
      for (int q = 0; q < h[0]->count; q++) CHECK(is_same_level(&h[0]->level[q], &h[t]->level[q]));
    }
    for (int t = 0; t < 3; t++) hk_gpu_hierarchy_destroy(&h[t]);
    hk_gpu_layout_destroy(&l);
    hk_model_destroy(&m);
  }
}
