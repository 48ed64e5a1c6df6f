/* How long a model takes to compile and to lay out for a GPU. Needs no GPU.
 *
 *     hooke_bench_layout KIND SIZE [THREADS [LAYOUT]]
 *
 * KIND is cloth (a grid with shear and bending springs), block (a lattice with 26 neighbors), disc
 * (triangles) or ball (tetrahedra); SIZE counts vertices along a side, rings or shells. THREADS 0,
 * the default, are all cores. LAYOUT is explicit (the default: steps of explicit integrators),
 * bricks (implicit steps), rows, colors (vertex block descent) or multigrid (bricks and the levels
 * of multigrid). Prints the seconds of each part, the most bytes that the layout holds at once, and
 * a hash of the layout, which no number of threads changes.
 */
#define _GNU_SOURCE /* malloc_usable_size */
#include "backend/device_model.h"
#include "base/clock.h"
#include "base/file.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Functions that the linker puts before those of the library (--wrap) ---- */

typedef enum Part { PARAMETERS, ORDER, COLORS, HALOS, BRICKS, ROWS, LEVELS, PART_COUNT } Part;

static const char *const part_names[] = {"parameters", "order", "colors", "halos",
                                         "words",      "rows",  "levels"};
static double seconds[PART_COUNT];

HkStatus __real_hk_gpu_spring_parameters(const HkModel *m, bool unique, HkGpuLayout *l, HkError *e);
HkStatus __wrap_hk_gpu_spring_parameters(const HkModel *m, bool unique, HkGpuLayout *l, HkError *e);
HkStatus __real_hk_gpu_order(const HkModel *m, int64_t parts, int32_t *order, int32_t *scratch,
                             HkError *e);
HkStatus __wrap_hk_gpu_order(const HkModel *m, int64_t parts, int32_t *order, int32_t *scratch,
                             HkError *e);
HkStatus __real_hk_gpu_colors(const HkModel *m, HkGpuLayout *l, HkError *e);
HkStatus __wrap_hk_gpu_colors(const HkModel *m, HkGpuLayout *l, HkError *e);
HkStatus __real_hk_gpu_bricks(const HkModel *m, int64_t count, bool twice,
                              const HkGpuLayoutOptions *o, HkGpuLayout *l, bool *suits, HkError *e);
HkStatus __wrap_hk_gpu_bricks(const HkModel *m, int64_t count, bool twice,
                              const HkGpuLayoutOptions *o, HkGpuLayout *l, bool *suits, HkError *e);
HkStatus __real_hk_gpu_halos(const HkModel *m, bool twice, int most, HkGpuLayout *l, bool *suits,
                             HkError *e);
HkStatus __wrap_hk_gpu_halos(const HkModel *m, bool twice, int most, HkGpuLayout *l, bool *suits,
                             HkError *e);
HkStatus __real_hk_gpu_rows(const HkModel *m, HkGpuLayout *l, HkError *e);
HkStatus __wrap_hk_gpu_rows(const HkModel *m, HkGpuLayout *l, HkError *e);
HkStatus __real_hk_gpu_hierarchy_create(const HkModel *m, const int32_t *place, HkGpuHierarchy **h,
                                        HkError *e);
HkStatus __wrap_hk_gpu_hierarchy_create(const HkModel *m, const int32_t *place, HkGpuHierarchy **h,
                                        HkError *e);

static HkStatus ended(Part part, double begin, HkStatus status) {
  seconds[part] += hk_wall_time() - begin;
  return status;
}

HkStatus __wrap_hk_gpu_spring_parameters(const HkModel *m, bool unique, HkGpuLayout *l,
                                         HkError *e) {
  double begin = hk_wall_time();
  return ended(PARAMETERS, begin, __real_hk_gpu_spring_parameters(m, unique, l, e));
}

HkStatus __wrap_hk_gpu_order(const HkModel *m, int64_t parts, int32_t *order, int32_t *scratch,
                             HkError *e) {
  double begin = hk_wall_time();
  return ended(ORDER, begin, __real_hk_gpu_order(m, parts, order, scratch, e));
}

HkStatus __wrap_hk_gpu_colors(const HkModel *m, HkGpuLayout *l, HkError *e) {
  double begin = hk_wall_time();
  return ended(COLORS, begin, __real_hk_gpu_colors(m, l, e));
}

HkStatus __wrap_hk_gpu_bricks(const HkModel *m, int64_t count, bool twice,
                              const HkGpuLayoutOptions *o, HkGpuLayout *l, bool *suits,
                              HkError *e) {
  double begin = hk_wall_time() - seconds[HALOS];
  HkStatus status = __real_hk_gpu_bricks(m, count, twice, o, l, suits, e);
  return ended(BRICKS, begin + seconds[HALOS], status);
}

HkStatus __wrap_hk_gpu_halos(const HkModel *m, bool twice, int most, HkGpuLayout *l, bool *suits,
                             HkError *e) {
  double begin = hk_wall_time();
  return ended(HALOS, begin, __real_hk_gpu_halos(m, twice, most, l, suits, e));
}

HkStatus __wrap_hk_gpu_rows(const HkModel *m, HkGpuLayout *l, HkError *e) {
  double begin = hk_wall_time();
  return ended(ROWS, begin, __real_hk_gpu_rows(m, l, e));
}

HkStatus __wrap_hk_gpu_hierarchy_create(const HkModel *m, const int32_t *place, HkGpuHierarchy **h,
                                        HkError *e) {
  double begin = hk_wall_time();
  return ended(LEVELS, begin, __real_hk_gpu_hierarchy_create(m, place, h, e));
}

/* ---- Memory ---- */

typedef struct Memory {
  int64_t now, most; /* bytes */
} Memory;

/* Allocates and counts; the parts that are measured allocate on one thread. */
static void *resize(void *user, void *p, size_t bytes) {
  Memory *memory = user;
  memory->now -= p ? (int64_t)malloc_usable_size(p) : 0;
  if (bytes == 0) {
    free(p);
    return NULL;
  }
  p = realloc(p, bytes);
  memory->now += p ? (int64_t)malloc_usable_size(p) : 0;
  if (memory->now > memory->most) memory->most = memory->now;
  return p;
}

/* ---- Scenes ---- */

typedef struct Kind {
  const char *name, *body; /* of the scene; %1$d: SIZE */
} Kind;

static const Kind kinds[] = {
    {"cloth", "\"shape\": {\"type\": \"grid\", \"nx\": %1$d, \"ny\": %1$d}, \"springs\": {\"k\": "
              "1000, \"shear\": true, \"bending\": true}"},
    {"block", "\"shape\": {\"type\": \"block\", \"nx\": %1$d, \"ny\": %1$d, \"nz\": %1$d, "
              "\"neighbours\": 26}, \"springs\": {\"k\": 1000}"},
    {"disc", "\"shape\": {\"type\": \"disc\", \"rings\": %1$d}, \"springs\": {\"k\": 1000, "
             "\"bending\": true}"},
    {"ball", "\"shape\": {\"type\": \"ball\", \"shells\": %1$d}, \"springs\": {\"EA\": 10}"}};

static void check(HkStatus status, const HkError *error) {
  if (status >= 0) return;
  fprintf(stderr, "%s\n", error->text);
  exit(1);
}

static HkModel *make_model(const char *kind, int size, int threads, Memory *memory) {
  HkContext context = hk_context_default();
  HkScene *scene = NULL;
  HkModel *model = NULL;
  HkError error = {0};
  char text[1000], body[500] = "";
  context.threads = threads;
  context.resize = resize;
  context.memory_user = memory;
  for (size_t q = 0; q < sizeof kinds / sizeof kinds[0]; q++)
    if (strcmp(kinds[q].name, kind) == 0) snprintf(body, sizeof body, kinds[q].body, size);
  snprintf(text, sizeof text,
           "{\"bodies\": [{%s, \"mass\": {\"per_vertex\": 1e-3}}], \"pins\": [{\"select\": "
           "{\"nearest\": [0, 0, 0]}}], \"forces\": [\"gravity\"]}",
           body);
  check(hk_scene_parse(&context, text, strlen(text), "scene", NULL, NULL, 0, &scene, &error),
        &error);
  check(hk_model_compile(scene, &model, &error), &error);
  hk_scene_destroy(&scene);
  return model;
}

static HkGpuLayoutOptions options_of(const char *layout) {
  HkGpuLayoutOptions options = {.twice = strcmp(layout, "explicit") == 0,
                                .rows = strcmp(layout, "rows") == 0,
                                .colors = strcmp(layout, "colors") == 0};
  return options;
}

/* ---- Hash ---- */

static uint64_t hash_lists(uint64_t h, const HkGpuLists *l) {
  if (!l->start) return h;
  size_t entries = (size_t)hk_gpu_list_entries(l);
  h = hk_hash(h, l->start, ((size_t)hk_gpu_slices(l->rows) + 1) * sizeof *l->start);
  h = hk_hash(h, l->index, entries * sizeof *l->index);
  return hk_hash(h, l->weight, entries * sizeof *l->weight);
}

static uint64_t hash_level(uint64_t h, const HkGpuLevel *l) {
  h = hk_hash(h, l->start, ((size_t)hk_gpu_slices(l->n) + 1) * sizeof *l->start);
  h = hk_hash(h, l->column, (size_t)hk_gpu_level_entries(l) * sizeof *l->column);
  h = hk_hash(h, l->pair, 2 * (size_t)l->pair_count * sizeof *l->pair);
  const HkGpuLists *lists[] = {&l->prolong,   &l->restrict_to, &l->pair_entries,
                               &l->pair_rows, &l->row_rows,    &l->row_entries};
  for (size_t q = 0; q < sizeof lists / sizeof lists[0]; q++) h = hash_lists(h, lists[q]);
  return h;
}

static uint64_t hash(const HkDeviceModel *m) {
  const HkGpuLayout *l = m->layout;
  size_t n = (size_t)l->n, bricks = (size_t)l->brick_count;
  size_t slots = (size_t)l->words * (bricks > 0 ? 2 : 1);
  uint64_t h = hk_hash(HK_HASH_START, l->order, n * sizeof *l->order);
  h = hk_hash(h, l->place, n * sizeof *l->place);
  h = hk_hash(h, m->mass, n * sizeof *m->mass);
  h = hk_hash(h, l->palette, sizeof l->palette);
  h = hk_hash(h, l->word, (size_t)l->words * sizeof *l->word);
  if (l->l0) h = hk_hash(h, l->l0, slots * sizeof *l->l0);
  if (l->stiffness) h = hk_hash(h, l->stiffness, slots * sizeof *l->stiffness);
  if (bricks > 0) {
    h = hk_hash(h, l->brick, (bricks + 1) * sizeof *l->brick);
    h = hk_hash(h, l->halo_start, (bricks + 1) * sizeof *l->halo_start);
    h = hk_hash(h, l->halo, (size_t)l->halo_start[bricks] * sizeof *l->halo);
  }
  for (int q = 0; m->hierarchy && q < m->hierarchy->count; q++)
    h = hash_level(h, &m->hierarchy->level[q]);
  return h;
}

/* ---- Measurement ---- */

static void measure(const HkModel *model, const char *layout, Memory *memory) {
  HkDeviceModel m;
  HkDeviceArrays arrays;
  HkError error = {0};
  HkGpuLayoutOptions options = options_of(layout);
  int64_t before = memory->most = memory->now;
  double begin = hk_wall_time();
  check(hk_device_model_create(model, &options, strcmp(layout, "multigrid") == 0, &m, &arrays,
                               &error),
        &error);
  double total = hk_wall_time() - begin, rest = total;
  for (int q = 0; q < PART_COUNT; q++) rest -= seconds[q];
  const HkGpuLayout *l = m.layout;
  printf("layout %.3f s (%s, %.0f million words)\n", total,
         l->near              ? "two halos"
         : l->brick_count > 0 ? "bricks"
                              : "rows",
         1e-6 * (double)l->words);
  for (int q = 0; q < PART_COUNT; q++)
    if (seconds[q] > 0) printf("  %-10s %.3f s\n", part_names[q], seconds[q]);
  printf("  %-10s %.3f s\n", "other", rest);
  printf("memory %.1f bytes a vertex at most, %.1f at the end\n",
         (double)(memory->most - before) / (double)model->n,
         (double)(memory->now - before) / (double)model->n);
  printf("hash %016llx\n", (unsigned long long)hash(&m));
  hk_device_model_destroy(model, &arrays);
}

int main(int argc, char **argv) {
  Memory memory = {0};
  if (argc < 3) {
    fprintf(stderr, "hooke_bench_layout KIND SIZE [THREADS [LAYOUT]]\n");
    return 2;
  }
  double begin = hk_wall_time();
  HkModel *model = make_model(argv[1], atoi(argv[2]), argc > 3 ? atoi(argv[3]) : 0, &memory);
  printf("%s %s: %lld vertices, %lld springs, %d threads\ncompile %.3f s, %.1f bytes a vertex at "
         "most, %.1f at the end\n",
         argv[1], argv[2], (long long)model->n, (long long)model->springs.count, model->threads,
         hk_wall_time() - begin, (double)memory.most / (double)model->n,
         (double)memory.now / (double)model->n);
  fflush(stdout);
  measure(model, argc > 4 ? argv[4] : "explicit", &memory);
  hk_model_destroy(&model);
  return 0;
}
