/* Seconds and bytes of a large cloth: mesh, model, one symplectic step.
 *
 *     bench_large [vertices a side, default 3163: ten million in all]
 *
 * Springs along edges, diagonals and skip-one. Prints a table, and what the step moves over what
 * memory can move (a copy loop in the same run). A step reads every spring twice (gather), so its
 * floor is, per vertex, 12 half-springs x (4 neighbour + 4 spring number) and 6 springs x (8 k + 8
 * l0), and x, v, a, m once or twice.
 */
#include <hooke/hooke.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double peak_bytes(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return 1024.0 * (double)usage.ru_maxrss;
}

/* Bytes read and written per second by a copy of 256 MB, the best of five. */
static double copy_bandwidth(void) {
  size_t bytes = (size_t)256 << 20;
  char *from = malloc(bytes), *to = malloc(bytes);
  double best = 0;
  if (from && to) {
    memset(from, 1, bytes);
    for (int q = 0; q < 6; q++) {
      double start = now();
      memcpy(to, from, bytes);
      double rate = 2 * (double)bytes / (now() - start);
      if (q > 0) best = fmax(best, rate);
    }
  }
  free(from);
  free(to);
  return best;
}

static void check(HkStatus status, const HkError *error) {
  if (status >= 0) return;
  fprintf(stderr, "bench_large: %s\n", error->text);
  exit(1);
}

int main(int argc, char **argv) {
  int side = argc > 1 ? atoi(argv[1]) : 3163;
  char text[512];
  snprintf(text, sizeof text,
           "{\"bodies\": [{\"shape\": {\"type\": \"grid\", \"nx\": %d, \"ny\": %d}, \"springs\": "
           "{\"k\": 1000, "
           "\"shear\": true, \"bending\": true}, \"mass\": {\"per_vertex\": 1e-3}}], \"pins\": "
           "[{\"select\": "
           "\"corners\"}], \"forces\": [\"gravity\"], \"outputs\": []}",
           side, side);
  HkError error = {0};
  HkScene *scene = NULL;
  HkModel *model = NULL;
  HkSim *sim = NULL;
  HkState *state = NULL;
  check(hk_scene_parse(NULL, text, strlen(text), "bench", NULL, NULL, 0, &scene, &error), &error);
  double t0 = now();
  check(hk_model_compile(scene, &model, &error), &error);
  double t1 = now(), compile_peak = peak_bytes();
  check(hk_sim_create(model, NULL, 1e-4, &sim, &error), &error);
  check(hk_state_create(model, &state, &error), &error);
  double t2 = now();
  check(hk_step(sim, state, &error), &error);
  double t3 = now(), step = INFINITY;
  for (int q = 0; q < 5; q++) {
    double start = now();
    check(hk_step(sim, state, &error), &error);
    step = fmin(step, now() - start);
  }
  HkModelInfo info = hk_model_info(model);
  double n = (double)info.vertices, springs = (double)info.springs, peak = peak_bytes();
  double copy = copy_bandwidth();
  double floor_bytes = springs * (2 * 8 + 2 * 16) + n * (8 + 3 * 8 * 8);
  printf("%-34s %12.0f\n", "vertices", n);
  printf("%-34s %12.0f\n", "springs", springs);
  printf("%-34s %12.2f s   %8.0f ns a vertex\n", "compile the model", t1 - t0, 1e9 * (t1 - t0) / n);
  printf("%-34s %12.2f s\n", "make simulation and state", t2 - t1);
  printf("%-34s %12.2f s\n", "first step", t3 - t2);
  printf("%-34s %12.3f s   %8.1f million springs/s\n", "step, best of five", step,
         springs / step / 1e6);
  printf("%-34s %12.0f bytes a vertex\n", "model", (double)info.bytes / n);
  printf("%-34s %12.0f bytes a vertex\n", "state", (double)info.state_bytes / n);
  printf("%-34s %12.0f bytes a vertex\n", "workspace", (double)hk_sim_bytes(sim) / n);
  printf("%-34s %12.0f bytes a vertex\n", "peak while compiling", compile_peak / n);
  printf("%-34s %12.0f bytes a vertex\n", "peak", peak / n);
  printf("%-34s %12.1f GB/s of %.1f GB/s that a copy moves\n", "step: least traffic",
         floor_bytes / step / 1e9, copy / 1e9);
  hk_sim_destroy(&sim);
  hk_state_destroy(&state);
  hk_model_destroy(&model);
  hk_scene_destroy(&scene);
  return 0;
}
