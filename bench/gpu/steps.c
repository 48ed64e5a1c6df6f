/* Implicit steps on a GPU: how long they take and how far they are from the minimum.
 *
 *     hooke_bench_steps KIND SIZE STEPS TOLERANCE [EVERY [DEVICE [INTEGRATOR]]]
 *
 * KIND is cloth (a grid with shear and bending springs), shuffled (the same numbered at random),
 * disc (triangles), ball (tetrahedra) or block (a lattice); SIZE counts vertices along a side,
 * rings or shells. A body of 1 kg and about 1 m with springs of 1e4 N/m falls from rest for STEPS
 * steps of 1/60 s by backward_euler, or another INTEGRATOR: by newton with pcg and multigrid, and
 * by pcg with multigrid alone if it is linear_implicit_euler, whose linear solver then has the
 * TOLERANCE. The first line of output has milliseconds of a step (the first one by itself, then
 * median, mean and largest of the others), iterations, and how steps ended; the second one the
 * energies at the end.
 *
 * With EVERY > 0 the CPU makes the same steps, and every EVERY-th one also to a tolerance of 1e-6.
 * The error of a step is |x - x*|_M / |x* - x_n|_M, from the same state on all devices.
 */
#include "base/clock.h"
#include "hooke/hooke.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct World {
  HkScene *scene;
  HkModel *model;
  HkSim *sim;
  HkState *state;
} World;

static void check(HkStatus status, const HkError *error) {
  if (status >= 0) return;
  fprintf(stderr, "%s\n", error->text);
  exit(1);
}

/* ---- Scenes ---- */

/* Writes a grid whose vertices are numbered at random. */
static void write_shuffled(const char *path, int size) {
  FILE *file = fopen(path, "w");
  int64_t n = (int64_t)size * size;
  int64_t *place = malloc((size_t)n * sizeof *place), *vertex = malloc((size_t)n * sizeof *vertex);
  uint64_t seed = 88172645463325252u;
  if (!file || !place || !vertex) exit(1);
  for (int64_t q = 0; q < n; q++) vertex[q] = q;
  for (int64_t q = n - 1; q > 0; q--) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    int64_t other = (int64_t)(seed % (uint64_t)(q + 1)), kept = vertex[q];
    vertex[q] = vertex[other];
    vertex[other] = kept;
  }
  for (int64_t q = 0; q < n; q++) {
    place[vertex[q]] = q + 1;
    fprintf(file, "v %.17g 0 %.17g\n", (double)(vertex[q] % size) / (size - 1) - 0.5,
            0.5 - (double)(vertex[q] / size) / (size - 1));
  }
  for (int64_t q = 0; q + size < n; q++)
    if (q % size < size - 1)
      fprintf(file, "f %lld %lld %lld %lld\n", (long long)place[q], (long long)place[q + 1],
              (long long)place[q + size + 1], (long long)place[q + size]);
  fclose(file);
  free(place);
  free(vertex);
}

typedef struct Kind {
  const char *name, *body, *pins; /* of the scene; %1$d: SIZE */
} Kind;

static const Kind kinds[] = {
    {"cloth",
     "\"shape\": {\"type\": \"grid\", \"nx\": %1$d, \"ny\": %1$d, \"plane\": \"xz\"}, "
     "\"springs\": {\"k\": 10000, \"shear\": true, \"bending\": true}",
     "{\"select\": \"top_left\"}, {\"select\": \"top_right\"}"},
    {"shuffled",
     "\"mesh\": \"shuffled.obj\", \"springs\": {\"k\": 10000, \"shear\": true, \"bending\": true}",
     "{\"select\": {\"nearest\": [-0.5, 0, -0.5]}}, {\"select\": {\"nearest\": [0.5, 0, -0.5]}}"},
    {"disc",
     "\"shape\": {\"type\": \"disc\", \"rings\": %1$d, \"plane\": \"xz\"}, \"springs\": {\"k\": "
     "10000, \"bending\": true}",
     "{\"select\": {\"nearest\": [0.354, 0, 0.354]}}, {\"select\": {\"nearest\": [-0.354, 0, "
     "0.354]}}"},
    {"ball",
     "\"shape\": {\"type\": \"ball\", \"shells\": %1$d, \"radius\": 0.5}, \"springs\": {\"k\": "
     "10000}",
     "{\"select\": {\"box\": {\"min\": [-1, 0.4, -1], \"max\": [1, 1, 1]}}}"},
    {"block",
     "\"shape\": {\"type\": \"block\", \"nx\": %1$d, \"ny\": %1$d, \"nz\": %1$d}, \"springs\": "
     "{\"k\": 10000}",
     "{\"select\": \"left\"}"}};

static const Kind *find_kind(const char *name) {
  for (size_t q = 0; q < sizeof kinds / sizeof kinds[0]; q++)
    if (strcmp(kinds[q].name, name) == 0) return &kinds[q];
  fprintf(stderr, "there is no kind '%s'\n", name);
  exit(2);
}

/* Prints where steps run and how much memory they take. */
static void on_log(void *user, HkLogLevel level, const char *text) {
  (void)user;
  if (level <= HK_LOG_INFO && strstr(text, "device memory")) printf("%s\n", text);
}

static const char *integrator = "backward_euler";

/* Writes the integrator of a scene. */
static void write_method(double tolerance, char *text, size_t size) {
  bool linear = strcmp(integrator, "linear_implicit_euler") == 0;
  snprintf(text, size,
           linear ? "{\"type\": \"%s\", \"linear\": {\"type\": \"pcg\", \"tolerance\": %g, "
                    "\"preconditioner\": \"multigrid\"}}"
                  : "{\"type\": \"%s\", \"minimizer\": {\"type\": \"newton\", \"tolerance\": %g, "
                    "\"linear\": {\"type\": \"pcg\", \"tolerance\": 1e-5, \"preconditioner\": "
                    "\"multigrid\"}}}",
           integrator, tolerance);
}

static World make_world(const char *kind, int size, double tolerance, HkDeviceKind device) {
  World w = {0};
  HkError error = {0};
  HkContext context = hk_context_default();
  char text[2000], body[500], method[400];
  const Kind *found = find_kind(kind);
  context.device = device;
  context.log = on_log;
  snprintf(body, sizeof body, found->body, size);
  write_method(tolerance, method, sizeof method);
  snprintf(text, sizeof text,
           "{\"time\": {\"step\": 0.016666666666666666}, \"bodies\": [{%s, \"mass\": {\"total\": "
           "1}}], \"pins\": [%s], \"forces\": [\"gravity\"], \"integrator\": %s}",
           body, found->pins, method);
  check(hk_scene_parse(&context, text, strlen(text), "scene", NULL, NULL, 0, &w.scene, &error),
        &error);
  check(hk_model_compile(w.scene, &w.model, &error), &error);
  check(hk_sim_create(w.model, NULL, 0, &w.sim, &error), &error);
  check(hk_state_create(w.model, &w.state, &error), &error);
  return w;
}

static void destroy_world(World *w) {
  hk_sim_destroy(&w->sim);
  hk_state_destroy(&w->state);
  hk_model_destroy(&w->model);
  hk_scene_destroy(&w->scene);
}

/* ---- Times ---- */

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static void measure(const char *kind, int size, int steps, double tolerance, HkDeviceKind device) {
  double *ms = calloc((size_t)steps + 1, sizeof *ms), sum = 0, newton = 0, pcg = 0;
  int ends[6] = {0}, most = 0;
  double begin = hk_wall_time();
  World w = make_world(kind, size, tolerance, device);
  double made = hk_wall_time() - begin;
  for (int q = 0; q < steps; q++) {
    HkError error = {0};
    double start = hk_wall_time();
    check(hk_sim_step(w.sim, w.state, &error), &error);
    ms[q] = 1e3 * (hk_wall_time() - start);
    HkStepInfo info = hk_sim_step_info(w.sim);
    if (getenv("HOOKE_BENCH_VERBOSE"))
      printf("  %d: %.2f ms, %d newton, %d pcg, %d projected, gradient %.2e, %s\n", q, ms[q],
             info.iterations, info.linear_iterations, info.projections, info.gradient,
             hk_stop_name(info.reason));
    ends[info.reason]++;
    if (info.iterations > most) most = info.iterations;
    newton += (double)info.iterations / steps;
    pcg += (double)info.linear_iterations / steps;
  }
  double first = ms[0];
  for (int q = 1; q < steps; q++) sum += ms[q];
  qsort(ms + 1, (size_t)(steps - 1), sizeof *ms, compare);
  HkStateInfo info;
  hk_sim_state_info(w.sim, w.state, &info);
  printf("%-8s %5d tolerance %-6g %8lld vertices: first %.2f, median %.2f, mean %.2f, largest %.2f "
         "ms; %.1f newton (%d at most), %.1f pcg; %d converged, %d rounding, %d stationary, %d "
         "iterations, %d stalled; made in %.1f s\n",
         kind, size, tolerance, (long long)hk_state_vertex_count(w.state), first,
         ms[1 + (steps - 1) / 2], sum / (steps - 1), ms[steps - 1], newton, most, pcg,
         ends[HK_STOP_CONVERGED], ends[HK_STOP_ROUNDING], ends[HK_STOP_STATIONARY],
         ends[HK_STOP_ITERATIONS], ends[HK_STOP_STALLED], made);
  printf("         after %.4f s: kinetic %.8g, spring %.8g, gravity %.8g, total %.8g J\n",
         info.time, info.kinetic, info.spring, info.gravity, info.total);
  fflush(stdout);
  destroy_world(&w);
  free(ms);
}

/* ---- Errors ---- */

static double distance(const double *a, const double *b, int64_t count) {
  double sum = 0;
  for (int64_t q = 0; q < count; q++) sum += (a[q] - b[q]) * (a[q] - b[q]);
  return sqrt(sum);
}

/* Makes the step from a state, with the step before that it remembers. */
static const double *step_from(World *w, const HkState *from) {
  HkError error = {0};
  check(hk_state_copy(from, w->state, &error), &error);
  check(hk_sim_step(w->sim, w->state, &error), &error);
  return hk_state_positions(w->state);
}

static void measure_errors(const char *kind, int size, int steps, double tolerance, int every,
                           HkDeviceKind device) {
  World cpu = make_world(kind, size, tolerance, HK_CPU);
  World gpu = make_world(kind, size, tolerance, device);
  World exact = make_world(kind, size, 1e-6, HK_CPU);
  int64_t count = 3 * hk_state_vertex_count(cpu.state);
  HkState *before = NULL;
  HkError failed = {0};
  check(hk_state_create(cpu.model, &before, &failed), &failed);
  double worst[2] = {0, 0}, mean[2] = {0, 0};
  int kept = 0;
  for (int q = 0; q < steps; q++) {
    HkError error = {0};
    check(hk_state_copy(cpu.state, before, &error), &error);
    double start = hk_wall_time();
    check(hk_sim_step(cpu.sim, cpu.state, &error), &error);
    double seconds = hk_wall_time() - start;
    if ((q + 1) % every != 0) continue;
    const double *solved = step_from(&exact, before);
    const double *there = step_from(&gpu, before);
    double moved = distance(solved, hk_state_positions(before), count);
    double errors[2] = {distance(hk_state_positions(cpu.state), solved, count) / moved,
                        distance(there, solved, count) / moved};
    HkStepInfo a = hk_sim_step_info(cpu.sim), b = hk_sim_step_info(gpu.sim);
    HkStepInfo c = hk_sim_step_info(exact.sim);
    printf("         step %d: error %.2e on the CPU (%d newton, %d pcg, %s, %.0f ms), %.2e on the "
           "GPU (%d, %d, %s); reference %s\n",
           q + 1, errors[0], a.iterations, a.linear_iterations, hk_stop_name(a.reason),
           1e3 * seconds, errors[1], b.iterations, b.linear_iterations, hk_stop_name(b.reason),
           hk_stop_name(c.reason));
    fflush(stdout);
    kept++;
    for (int k = 0; k < 2; k++) {
      worst[k] = fmax(worst[k], errors[k]);
      mean[k] += errors[k];
    }
  }
  printf("         errors at tolerance %g, CPU and GPU: mean %.2e, %.2e; largest %.2e, %.2e\n",
         tolerance, mean[0] / kept, mean[1] / kept, worst[0], worst[1]);
  fflush(stdout);
  destroy_world(&cpu);
  destroy_world(&gpu);
  destroy_world(&exact);
  hk_state_destroy(&before);
}

int main(int argc, char **argv) {
  setenv("HOOKE_PLUGINS", BENCH_PLUGINS, 0);
  if (argc < 5) {
    fprintf(stderr, "hooke_bench_steps KIND SIZE STEPS TOLERANCE [EVERY [DEVICE [INTEGRATOR]]]\n");
    return 2;
  }
  int size = atoi(argv[2]), steps = atoi(argv[3]), every = argc > 5 ? atoi(argv[5]) : 0;
  double tolerance = atof(argv[4]);
  HkDeviceKind device = argc > 6 && strcmp(argv[6], "cpu") == 0 ? HK_CPU : HK_CUDA;
  if (argc > 7) integrator = argv[7];
  if (strcmp(argv[1], "shuffled") == 0) write_shuffled("shuffled.obj", size);
  if (every > 0)
    measure_errors(argv[1], size, steps, tolerance, every, device);
  else
    measure(argv[1], size, steps, tolerance, device);
  return 0;
}
