/* How long a model takes to compile and to lay out for a GPU. Needs no GPU.
 *
 *     hooke_bench_layout KIND SIZE [THREADS [LAYOUT]]
 *
 * KIND is cloth (a grid with shear and bending springs), block (a lattice with 26 neighbors), disc
 * (triangles) or ball (tetrahedra); SIZE counts vertices along a side, rings or shells. THREADS 0,
 * the default, are all cores. LAYOUT is explicit (the default: steps of explicit integrators),
 * bricks (implicit steps), rows, colors (vertex block descent), multigrid (bricks and the levels of
 * multigrid) or sim (all of hk_sim_create, with the plug-in in the folder HOOKE_PLUGINS). Prints
 * the seconds of each part, the most bytes that the layout holds at once, and a hash of the layout,
 * which no number of threads changes.
 */
#define _GNU_SOURCE /* malloc_usable_size */
#include "backend/device_model.h"
#include "backend/gpu/lists.h"
#include "base/clock.h"
#include "base/file.h"
#include "force/spring_rows.h"
#include "linear/galerkin.h"
#include "mesh/bending.h"
#include "mesh/pairs.h"
#include "model/build.h"
#include "model/proportions.h"
#include "step/sim.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Functions that the linker puts before those of the library (--wrap) ---- */

/* The seconds of a part are without those of other parts in it. */
typedef enum Part {
  SHAPE,
  REPAIR,
  BENDING,
  PAIRS,
  SPRINGS,
  FACES,
  FINGERPRINT,
  PARAMETERS,
  ORDER,
  COLORS,
  HALOS,
  WORDS,
  ROWS,
  INTERPOLATION,
  PATTERN,
  TERMS,
  LEVELS,
  LAYOUT_REST,
  PROPORTIONS,
  SPRING_ROWS,
  ENERGY_SCALE,
  STABLE_STEP,
  PART_COUNT
} Part;

static const char *const part_names[] = {"shape",
                                         "repair",
                                         "bending pairs",
                                         "pairs",
                                         "springs",
                                         "faces",
                                         "fingerprint",
                                         "parameters",
                                         "order",
                                         "colors",
                                         "halos",
                                         "words",
                                         "rows",
                                         "weights of levels",
                                         "graphs of levels",
                                         "terms of levels",
                                         "levels",
                                         "others",
                                         "memory check",
                                         "spring rows",
                                         "energy bound",
                                         "stable step"};
static double seconds[PART_COUNT], inner; /* inner: of parts that have ended within a part */

typedef struct Timer {
  double begin, inner;
} Timer;

static Timer begin_part(void) {
  Timer timer = {hk_wall_time(), inner};
  inner = 0;
  return timer;
}

static HkStatus end_part(Part part, Timer timer, HkStatus status) {
  double all = hk_wall_time() - timer.begin;
  seconds[part] += all - inner;
  inner = timer.inner + all;
  return status;
}

#define WRAP(part, name, parameters, arguments)                                                    \
  HkStatus __real_##name parameters;                                                               \
  HkStatus __wrap_##name parameters;                                                               \
  HkStatus __wrap_##name parameters {                                                              \
    Timer timer = begin_part();                                                                    \
    return end_part(part, timer, __real_##name arguments);                                         \
  }

WRAP(SHAPE, hk_mesh_shape, (const HkContext *c, const HkMethod *shape, HkMesh **mesh, HkError *e),
     (c, shape, mesh, e))
WRAP(REPAIR, hk_mesh_repair,
     (HkMesh * mesh, const HkRepair *repair, HkRepairCounts *counts, HkError *e),
     (mesh, repair, counts, e))
WRAP(BENDING, hk_bending_create, (const HkMesh *mesh, HkBending *bending, HkError *e),
     (mesh, bending, e))
WRAP(PAIRS, hk_pairs_create,
     (const HkMesh *mesh, const HkPairsWanted *wanted, HkPairs *pairs, HkError *e),
     (mesh, wanted, pairs, e))
WRAP(SPRINGS, hk_model_add_springs,
     (HkModel * m, const HkMesh *mesh, const HkBody *body, const char *folder, int64_t first,
      const HkWholeMesh *whole, HkError *e),
     (m, mesh, body, folder, first, whole, e))
WRAP(FACES, hk_model_add_faces, (HkModel * m, const HkMesh *mesh, int64_t first, HkError *e),
     (m, mesh, first, e))
WRAP(PARAMETERS, hk_gpu_spring_parameters,
     (const HkModel *m, bool unique, HkGpuLayout *l, HkError *e), (m, unique, l, e))
WRAP(ORDER, hk_gpu_order,
     (const HkModel *m, int64_t parts, int32_t *order, int32_t *scratch, HkError *e),
     (m, parts, order, scratch, e))
WRAP(COLORS, hk_gpu_colors, (const HkModel *m, HkGpuLayout *l, HkError *e), (m, l, e))
WRAP(HALOS, hk_gpu_halos,
     (const HkModel *m, bool twice, int most, HkGpuLayout *l, bool *suits, HkError *e),
     (m, twice, most, l, suits, e))
WRAP(WORDS, hk_gpu_bricks,
     (const HkModel *m, int64_t count, bool twice, const HkGpuLayoutOptions *o, HkGpuLayout *l,
      bool *suits, HkError *e),
     (m, count, twice, o, l, suits, e))
WRAP(ROWS, hk_gpu_rows, (const HkModel *m, HkGpuLayout *l, HkError *e), (m, l, e))
WRAP(LEVELS, hk_gpu_hierarchy_create,
     (const HkModel *m, const int32_t *place, HkGpuHierarchy **h, HkError *e), (m, place, h, e))
WRAP(INTERPOLATION, hk_interpolation_find,
     (const HkContext *c, int threads, const HkGraph *g, const double *X, HkWeights *P,
      int32_t **chosen, HkError *e),
     (c, threads, g, X, P, chosen, e))
WRAP(PATTERN, hk_galerkin_pattern,
     (const HkContext *c, int threads, const HkGraph *g, const HkWeights *P, HkGraph *coarse,
      HkError *e),
     (c, threads, g, P, coarse, e))
WRAP(TERMS, hk_gpu_galerkin_terms,
     (const HkGpuGalerkin *g, const HkGpuLevel *next, HkGpuLevel *level, HkError *e),
     (g, next, level, e))
WRAP(LAYOUT_REST, hk_device_model_create,
     (const HkModel *m, const HkGpuLayoutOptions *o, bool multigrid, HkDeviceModel *d,
      HkDeviceArrays *a, HkError *e),
     (m, o, multigrid, d, a, e))
WRAP(PROPORTIONS, hk_model_proportions, (const HkModel *m, HkProportions *p, HkError *e), (m, p, e))
WRAP(SPRING_ROWS, hk_spring_rows_create, (const HkModel *m, HkSpringRows **r, HkError *e),
     (m, r, e))
WRAP(STABLE_STEP, hk_sim_stable_step, (HkSim * sim, const HkState *state, double *h, HkError *e),
     (sim, state, h, e))

void __real_hk_blowup_prepare(HkSim *sim);
void __wrap_hk_blowup_prepare(HkSim *sim);
void __wrap_hk_blowup_prepare(HkSim *sim) {
  Timer timer = begin_part();
  __real_hk_blowup_prepare(sim);
  end_part(ENERGY_SCALE, timer, HK_OK);
}

uint64_t __real_hk_hash(uint64_t h, const void *bytes, size_t size);
uint64_t __wrap_hk_hash(uint64_t h, const void *bytes, size_t size);
uint64_t __wrap_hk_hash(uint64_t h, const void *bytes, size_t size) {
  Timer timer = begin_part();
  h = __real_hk_hash(h, bytes, size);
  end_part(FINGERPRINT, timer, HK_OK);
  return h;
}

/* Prints the parts of what has taken `total` seconds and sets them to 0. */
static void print_parts(double total) {
  for (int q = 0; q < PART_COUNT; q++)
    if (seconds[q] > 0) printf("  %-17s %.3f s\n", part_names[q], seconds[q]);
  if (total - inner > 1e-3) printf("  %-17s %.3f s\n", "rest", total - inner);
  memset(seconds, 0, sizeof seconds);
  inner = 0;
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

static HkModel *make_model(const char *kind, int size, int threads, HkDeviceKind device,
                           Memory *memory) {
  HkContext context = hk_context_default();
  HkScene *scene = NULL;
  HkModel *model = NULL;
  HkError error = {0};
  char text[1000], body[500] = "";
  context.threads = threads;
  context.device = device;
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
  double total = hk_wall_time() - begin;
  const HkGpuLayout *l = m.layout;
  printf("layout %.3f s (%s, %.0f million words)\n", total,
         l->near              ? "two halos"
         : l->brick_count > 0 ? "bricks"
                              : "rows",
         1e-6 * (double)l->words);
  print_parts(total);
  printf("memory %.1f bytes a vertex at most, %.1f at the end\n",
         (double)(memory->most - before) / (double)model->n,
         (double)(memory->now - before) / (double)model->n);
  printf("hash %016llx\n", (unsigned long long)hash(&m));
  hk_device_model_destroy(model, &arrays);
}

/* Measures all of hk_sim_create; the plug-in is part of the rest. */
static void measure_sim(const HkModel *model) {
  HkMethod step = {0};
  HkSim *sim = NULL;
  HkError error = {0};
  check(hk_method_choose(&step, HK_STEP, "symplectic_euler", &error), &error);
  double begin = hk_wall_time();
  check(hk_sim_create(model, &step, 0, &sim, &error), &error);
  double total = hk_wall_time() - begin;
  printf("simulation %.3f s\n", total);
  print_parts(total);
  hk_sim_destroy(&sim);
  hk_method_clear(&step);
}

int main(int argc, char **argv) {
  Memory memory = {0};
  setenv("HOOKE_PLUGINS", BENCH_PLUGINS, 0);
  if (argc < 3) {
    fprintf(stderr, "hooke_bench_layout KIND SIZE [THREADS [LAYOUT]]\n");
    return 2;
  }
  int threads = argc > 3 ? atoi(argv[3]) : 0;
  const char *layout = argc > 4 ? argv[4] : "explicit";
  bool all = strcmp(layout, "sim") == 0;
  double begin = hk_wall_time();
  HkModel *model = make_model(argv[1], atoi(argv[2]), threads, all ? HK_CUDA : HK_CPU, &memory);
  double total = hk_wall_time() - begin;
  printf("%s %s: %lld vertices, %lld springs, %d threads\ncompile %.3f s, %.1f bytes a vertex at "
         "most, %.1f at the end\n",
         argv[1], argv[2], (long long)model->n, (long long)model->springs.count, model->threads,
         total, (double)memory.most / (double)model->n, (double)memory.now / (double)model->n);
  print_parts(total);
  fflush(stdout);
  if (all)
    measure_sim(model);
  else
    measure(model, layout, &memory);
  hk_model_destroy(&model);
  return 0;
}
