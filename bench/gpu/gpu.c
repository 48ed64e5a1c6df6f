/* How fast a GPU makes steps: see bench/README.md.
 *
 *     hooke_bench_gpu [ROW ...]
 *
 * For each system: microseconds a step (the median of some runs of many steps), springs a second,
 * and the ratio to a lower bound, the least traffic of GPU memory,
 *
 *     explicit step   52 bytes a vertex + 16 a spring
 *     descent sweep   40 bytes a vertex + 16 a spring
 *     jacobi          52 bytes a vertex + 16 a spring, an iteration
 *     pcg iteration  112 bytes a vertex + 16 a spring
 *
 * at the speed of a copy that is measured in the same run. A row is measured if its name begins
 * with one of the arguments.
 */
#include "backend/device_model.h"
#include "backend/gpu/media.h"
#include "backend/plugin.h"
#include "base/clock.h"
#include "measure/rounds.h"
#include "model/state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 9, BATCH = 256, MAX_BATCHES = 1 << 20 };

static const double RUN_SECONDS = 0.02; /* s, least time of a run */

typedef struct Row {
  const char *name, *text; /* the scene with %d for a number of vertices along a side */
  int size;
  double goal; /* springs a second; seconds of a sweep or an iteration; 0: none */
  HkDeviceStep step;
  int repeats; /* sweeps of vertex block descent, iterations of jacobi or pcg in a step */
  HkGpuLayoutOptions options;
} Row;

static const char cloth[] =
    "{\"bodies\": [{\"shape\": {\"type\": \"grid\", \"nx\": %1$d, \"ny\": %1$d}, \"springs\": "
    "{\"k\": "
    "1000, \"shear\": true, \"bending\": true}, \"mass\": {\"per_vertex\": 1e-3}}], \"pins\": "
    "[{\"select\": \"top_left\"}, {\"select\": \"top_right\"}], \"forces\": [\"gravity\"]}";
static const char block[] =
    "{\"bodies\": [{\"shape\": {\"type\": \"block\", \"nx\": %1$d, \"ny\": %1$d, \"nz\": %1$d, "
    "\"neighbours\": 26}, \"springs\": {\"k\": 1000}, \"mass\": {\"per_vertex\": 1e-3}}], "
    "\"pins\": "
    "[{\"select\": \"left\"}], \"forces\": [\"gravity\"]}";
static const char ball[] =
    "{\"bodies\": [{\"shape\": {\"type\": \"ball\", \"shells\": %1$d}, \"springs\": {\"EA\": 10}, "
    "\"mass\": {\"per_vertex\": 1e-3}}], \"forces\": [\"gravity\"]}";
static const char disc[] =
    "{\"bodies\": [{\"shape\": {\"type\": \"disc\", \"rings\": %1$d}, \"springs\": {\"k\": 1000, "
    "\"bending\": true}, \"mass\": {\"per_vertex\": 1e-3}}], \"forces\": [\"gravity\"]}";

static const Row rows[] = {
    {"cloth 10k", cloth, 100, 40e9, HK_DEVICE_SYMPLECTIC, 1, {.twice = true}},
    {"cloth 100k", cloth, 316, 180e9, HK_DEVICE_SYMPLECTIC, 1, {.twice = true}},
    {"cloth 1M", cloth, 1000, 220e9, HK_DEVICE_SYMPLECTIC, 1, {.twice = true}},
    {"cloth 10M", cloth, 3162, 240e9, HK_DEVICE_SYMPLECTIC, 1, {.twice = true}},
    {"block 10k", block, 22, 55e9, HK_DEVICE_SYMPLECTIC, 1, {.twice = true}},
    {"block 100k", block, 46, 200e9, HK_DEVICE_SYMPLECTIC, 1, {.twice = true}},
    {"block 1M", block, 100, 260e9, HK_DEVICE_SYMPLECTIC, 1, {.twice = true}},
    {"block 10M", block, 215, 290e9, HK_DEVICE_SYMPLECTIC, 1, {.twice = true}},
    {"unique cloth 1M", cloth, 1000, 90e9, HK_DEVICE_SYMPLECTIC, 1, {.unique = true}},
    {"unique cloth 10M", cloth, 3162, 100e9, HK_DEVICE_SYMPLECTIC, 1, {.unique = true}},
    {"unique block 1M", block, 100, 90e9, HK_DEVICE_SYMPLECTIC, 1, {.unique = true}},
    {"sweep cloth 10k", cloth, 100, 9e-6, HK_DEVICE_BLOCK_DESCENT, 50, {.colors = true}},
    {"sweep cloth 100k", cloth, 316, 15e-6, HK_DEVICE_BLOCK_DESCENT, 50, {.colors = true}},
    {"sweep cloth 1M", cloth, 1000, 55e-6, HK_DEVICE_BLOCK_DESCENT, 50, {.colors = true}},
    {"sweep cloth 10M", cloth, 3162, 600e-6, HK_DEVICE_BLOCK_DESCENT, 20, {.colors = true}},
    {"jacobi cloth 10k", cloth, 100, 0, HK_DEVICE_JACOBI, 50, {.rows = true}},
    {"jacobi cloth 100k", cloth, 316, 0, HK_DEVICE_JACOBI, 50, {.rows = true}},
    {"jacobi cloth 1M", cloth, 1000, 0, HK_DEVICE_JACOBI, 50, {.rows = true}},
    {"jacobi cloth 10M", cloth, 3162, 0, HK_DEVICE_JACOBI, 20, {.rows = true}},
    {"pcg cloth 10k", cloth, 100, 12e-6, HK_DEVICE_NEWTON, 200, {0}},
    {"pcg cloth 100k", cloth, 316, 20e-6, HK_DEVICE_NEWTON, 200, {0}},
    {"pcg cloth 1M", cloth, 1000, 100e-6, HK_DEVICE_NEWTON, 200, {0}},
    {"pcg cloth 10M", cloth, 3162, 850e-6, HK_DEVICE_NEWTON, 50, {0}},
    {"ball 1M", ball, 68, 0, HK_DEVICE_SYMPLECTIC, 1, {0}},
    {"disc 1M", disc, 577, 0, HK_DEVICE_SYMPLECTIC, 1, {0}},
    {"rows pcg 100k", cloth, 316, 0, HK_DEVICE_NEWTON, 200, {.rows = true}},
    {"rows pcg 1M", cloth, 1000, 0, HK_DEVICE_NEWTON, 200, {.rows = true}},
    {"rows cloth 1M", cloth, 1000, 0, HK_DEVICE_SYMPLECTIC, 1, {.rows = true}},
    {"bricks cloth 1M", cloth, 1000, 0, HK_DEVICE_SYMPLECTIC, 1, {.bricks = true}},
    {"huge cloth 50M", cloth, 7071, 0, HK_DEVICE_SYMPLECTIC, 1, {.twice = true}},
};

/* Steps of a simulation on the GPU. */
typedef struct Batches {
  const HkDevice *device;
  HkDeviceSim *sim;
  const HkDeviceTimes *times;
  HkStatus status;
  HkError *error;
} Batches;

static TurnEnd run_batches(void *user, const Turn *turn) {
  Batches *b = user;
  b->status = HK_OK;
  stopwatch_start(turn->watch);
  for (int64_t k = 0; k < turn->repeats && b->status >= 0; k++)
    b->status = b->device->steps(b->sim, b->times, b->error);
  if (b->status >= 0) b->status = b->device->wait(b->sim, b->error);
  stopwatch_stop(turn->watch);
  return b->status < 0 ? TURN_FAILED : TURN_MEASURED;
}

/* Measures the seconds of one step; the first steps are discarded, also for the number of
 * batches. */
static HkStatus time_steps(const HkDevice *device, HkDeviceSim *sim, const HkDeviceTimes *times,
                           double *one, HkError *error) {
  Batches batches = {.device = device, .sim = sim, .times = times, .error = error};
  Contestant gpu = {.run = run_batches, .user = &batches};
  const Rounds first = {.warm_up = 1}, rounds = {.rounds = RUNS, .seconds = INFINITY};
  bool good = rounds_run(&first, &gpu, 1) == 0 && !gpu.dropped;
  rounds_release(&gpu, 1);
  good = good && rounds_calibrate(&rounds, &gpu, RUN_SECONDS, MAX_BATCHES) &&
         rounds_run(&rounds, &gpu, 1) == RUNS;
  *one = gpu.statistics.median / (double)times->steps;
  rounds_release(&gpu, 1);
  return good || batches.status < 0 ? batches.status : HK_ERROR_MEMORY;
}

/* Returns the least traffic of GPU memory in bytes a vertex. */
static double least_bytes(HkDeviceStep step) {
  switch (step) {
  case HK_DEVICE_BLOCK_DESCENT: return 40;
  case HK_DEVICE_NEWTON: return 112;
  default: return 52;
  }
}

static const char *way_of(const HkGpuLayout *l) {
  return l->near ? "twice" : l->brick_count > 0 ? "bricks" : "rows";
}

static double moment[BATCH * HK_GPU_MOMENT_REALS];

static HkStatus measure(const HkDevice *device, const HkModel *model, const Row *row, double copy,
                        HkError *error) {
  HkDeviceModel m;
  HkDeviceArrays arrays;
  HkDeviceSim *sim = NULL;
  HkState *state = NULL;
  bool explicit = row->step == HK_DEVICE_SYMPLECTIC;
  HkDeviceSettings settings = {.step = row->step, .h = explicit ? 1e-6 : 0.01};
  settings.iterations = row->step == HK_DEVICE_NEWTON ? 1 : row->repeats;
  settings.linear_iterations = row->repeats;
  settings.weight = 0.7;
  settings.rho = 0.9; /* 0 would be estimated, which synchronizes with the host */
  double one = 0, begin = hk_wall_time();
  HK_TRY(hk_device_model_create(model, &row->options, false, &m, &arrays, error));
  double laid = hk_wall_time() - begin, need = device->need(&m, &settings);
  for (int q = 0; q < BATCH; q++)
    hk_device_moment(model, m.origin, 0, moment + q * HK_GPU_MOMENT_REALS, NULL);
  HkDeviceTimes times = {.steps = explicit ? BATCH : 1, .moment = moment};
  HkStatus status = device->create(&m, &settings, &sim, error);
  if (status >= 0) status = hk_state_create(model, &state, error);
  HkDeviceState from = {0};
  if (status >= 0) from = (HkDeviceState){.x = state->x, .v = state->v, .held = state->pin_held};
  if (status >= 0) status = device->upload(sim, &from, error);
  if (status >= 0) status = time_steps(device, sim, &times, &one, error);
  if (status >= 0) {
    double n = (double)model->n, springs = (double)model->springs.count;
    double floor = (least_bytes(row->step) * n + 16 * springs) / copy;
    one /= row->repeats;
    double goal = explicit || row->goal == 0 ? row->goal : springs / row->goal;
    const char *there = goal == 0 ? "" : springs / one >= goal ? "yes" : "NO";
    static const char *const ways[] = {"palette", "lengths", "unique"};
    printf("%-18s %9.0f %10.0f %-7s %-6s %9.2f %7.1f %6.0f %5s %6.2f %7.1f %6.1f\n", row->name, n,
           springs, ways[arrays.layout->parameters], way_of(arrays.layout), 1e6 * one,
           1e-9 * springs / one, 1e-9 * goal, there, one / floor, need / n, laid);
    fflush(stdout);
  }
  if (sim) device->destroy(&sim);
  hk_state_destroy(&state);
  hk_device_model_destroy(model, &arrays);
  return status;
}

static HkStatus run(const HkDevice *device, const Row *row, double copy, HkError *error) {
  HkContext context = hk_context_default();
  HkScene *scene = NULL;
  HkModel *model = NULL;
  char text[1000];
  snprintf(text, sizeof text, row->text, row->size);
  HkStatus status =
      hk_scene_parse(&context, text, strlen(text), row->name, NULL, NULL, 0, &scene, error);
  if (status >= 0) status = hk_model_compile(scene, &model, error);
  if (status >= 0) status = measure(device, model, row, copy, error);
  hk_model_destroy(&model);
  hk_scene_destroy(&scene);
  return status;
}

static bool is_wanted(const Row *row, char **names, int count) {
  for (int q = 0; q < count; q++)
    if (strncmp(row->name, names[q], strlen(names[q])) == 0) return true;
  return count == 0 && strncmp(row->name, "huge", 4) != 0;
}

int main(int argc, char **argv) {
  const HkDevice *device;
  HkDeviceInfo info;
  HkError error = {0};
  double copy = 0;
  setenv("HOOKE_PLUGINS", BENCH_PLUGINS, 0);
  if (hk_plugin_find(HK_CUDA, &device, &error) < 0 || device->info(&info, &error) < 0 ||
      device->measure_copy(&copy, &error) < 0) {
    fprintf(stderr, "hooke_bench_gpu: %s\n", error.text);
    return 1;
  }
  printf("%s: a copy moves %.2f TB/s\n\n", info.name, 1e-12 * copy);
  printf("system              vertices    springs springs way       us step  G sp/s   goal  there "
         "floors bytes/v  lay s\n");
  for (size_t q = 0; q < sizeof rows / sizeof rows[0]; q++)
    if (is_wanted(&rows[q], argv + 1, argc - 1) && run(device, &rows[q], copy, &error) < 0)
      fprintf(stderr, "%s: %s\n", rows[q].name, error.text);
  return 0;
}
