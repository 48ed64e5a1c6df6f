/* Memory of ranks: the largest resident set of each, and the time to compile.
 *
 *     mpirun -n RANKS hooke_bench_memory SIDE [sent|alone]
 *
 * A grid of SIDE x SIDE vertices with edges, shear and bending springs and two pinned corners is
 * compiled; then come a state, a simulation and two steps of symplectic Euler. Each rank prints its
 * row: vertices, ghosts, seconds to compile, largest resident bytes (VmHWM) when the model is
 * there and at the end. `sent` has rank 0 compile the whole model and send the parts, as for scenes
 * that are no lattices; `alone` is one process without ranks.
 */
#include "base/clock.h"
#include "model/part.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Row {
  long long vertices, ghosts;
  double compile;          /* s */
  double compiled, peak;   /* bytes: when the model is there, at the end */
  double model, simulated; /* bytes that model, and that state and simulation count themselves */
} Row;

static void check(HkStatus status, const HkError *error) {
  if (status >= 0) return;
  fprintf(stderr, "%s\n", error->text);
  exit(1);
}

/* Returns the largest resident set of this process so far, bytes. */
static double largest_resident(void) {
  char line[200];
  double kilobytes = 0;
  FILE *file = fopen("/proc/self/status", "r");
  while (file && fgets(line, sizeof line, file))
    if (strncmp(line, "VmHWM:", 6) == 0) kilobytes = strtod(line + 6, NULL);
  if (file) fclose(file);
  return 1024 * kilobytes;
}

static HkScene *make_scene(int side, bool sent, HkRanks *ranks) {
  char text[1000];
  HkContext context = hk_context_default();
  HkScene *scene = NULL;
  HkError error = {0};
  context.ranks = ranks;
  context.device = ranks ? HK_PETSC : HK_CPU;
  context.threads = 1;
  snprintf(text, sizeof text,
           "{\"bodies\": [{\"shape\": {\"type\": \"grid\", \"nx\": %d, \"ny\": %d},"
           " \"springs\": {\"k\": 100, \"shear\": true, \"bending\": true},"
           " \"repair\": {\"zero_length\": %s}}],"
           " \"pins\": [{\"select\": \"top_left\"}, {\"select\": \"top_right\"}],"
           " \"forces\": [\"gravity\"], \"integrator\": \"symplectic_euler\","
           " \"time\": {\"step\": 1e-6}}",
           side, side, sent ? "true" : "false");
  check(hk_scene_parse(&context, text, strlen(text), "grid", NULL, NULL, 0, &scene, &error),
        &error);
  return scene;
}

static Row measure(HkScene *scene) {
  HkModel *model = NULL;
  HkState *state = NULL;
  HkSim *sim = NULL;
  HkError error = {0};
  Row row = {0};
  double start = hk_wall_time();
  check(hk_model_compile(scene, &model, &error), &error);
  row.compile = hk_wall_time() - start;
  row.compiled = largest_resident();
  check(hk_state_create(model, &state, &error), &error);
  check(hk_sim_create(model, NULL, 0, &sim, &error), &error);
  check(hk_sim_steps(sim, state, 2, &error), &error);
  row.peak = largest_resident();
  HkModelInfo info = hk_model_info(model);
  row.vertices = model->part ? model->part->owned : model->n;
  row.ghosts = model->part ? model->part->ghost_count : 0;
  row.model = (double)info.bytes;
  row.simulated = (double)(hk_sim_bytes(sim) + hk_state_bytes(state));
  hk_sim_destroy(&sim);
  hk_state_destroy(&state);
  hk_model_destroy(&model);
  return row;
}

static void print(const Row *rows, int count) {
  printf("%4s %10s %8s %10s %12s %10s %10s %12s\n", "rank", "vertices", "ghosts", "compile s",
         "compiled GB", "peak GB", "model GB", "state+sim GB");
  for (int r = 0; r < count; r++) {
    const Row *w = &rows[r];
    printf("%4d %10lld %8lld %10.2f %12.3f %10.3f %10.3f %12.3f\n", r, w->vertices, w->ghosts,
           w->compile, 1e-9 * w->compiled, 1e-9 * w->peak, 1e-9 * w->model, 1e-9 * w->simulated);
  }
}

int main(int count, char **arguments) {
  HkRanks *ranks = NULL;
  HkError error = {0};
  const char *how = count > 2 ? arguments[2] : "";
  int side = count > 1 ? atoi(arguments[1]) : 0;
  if (side < 2) {
    fprintf(stderr, "hooke_bench_memory SIDE [sent|alone]\n");
    return 1;
  }
  if (setenv("HOOKE_PLUGINS", BENCH_PLUGINS, 0) != 0) return 1;
  if (strcmp(how, "alone") != 0) check(hk_ranks_open(NULL, 0, NULL, &ranks, &error), &error);
  HkScene *scene = make_scene(side, strcmp(how, "sent") == 0, ranks);
  Row row = measure(scene), *rows = calloc(ranks ? (size_t)ranks->count : 1, sizeof row);
  if (!rows) return 1;
  rows[0] = row;
  if (ranks) ranks->type->gather(ranks, &row, sizeof row, rows);
  if (!ranks || ranks->rank == 0) print(rows, ranks ? ranks->count : 1);
  free(rows);
  hk_scene_destroy(&scene);
  hk_ranks_close(&ranks);
  return 0;
}
