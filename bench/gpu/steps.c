/* Implicit steps on a GPU: how long they take and how far they are from the minimum.
 *
 *     hooke_bench_steps KIND SIZE STEPS TOLERANCE [--cpu] [--integrator NAME] [--k K]
 *                       [--every N [--alone] [--solved T] [--iterations N]]
 *
 * KIND is cloth (a grid with shear and bending springs), shuffled (the same numbered at random),
 * disc (triangles), ball (tetrahedra) or block (a lattice); SIZE counts vertices along a side,
 * rings or shells. A body of 1 kg and about 1 m with springs of K N/m (1e4) falls from rest for
 * STEPS steps of 1/60 s by newton with pcg and multigrid, or by pcg with multigrid alone if the
 * integrator is linear_implicit_euler. TOLERANCE is that of newton, or of pcg; 0: Hooke's default.
 * The first line of output has milliseconds of a step (the first one by itself, then median, mean
 * and largest of the others), iterations, and how steps ended; the second one the energies at the
 * end. --cpu: the CPU makes the steps.
 *
 * With --every N the CPU makes the steps, and every N-th one is made from the same state by the
 * GPU, and by the CPU to the tolerance of --solved (1e-6). The error of a step is
 * |x - x*|_M / |x* - x_n|_M. With --alone the GPU does all that, for sizes that the CPU is too slow
 * for. With --iterations N the GPU ends its step after N iterations of Newton's method, to measure
 * the time to an error.
 */
#include "base/clock.h"
#include "hooke/device.h"

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
  const char *name, *body, *pins; /* of the scene; %1$d: SIZE, %2$g: K */
} Kind;

static const Kind kinds[] = {
    {"cloth",
     "\"shape\": {\"type\": \"grid\", \"nx\": %1$d, \"ny\": %1$d, \"plane\": \"xz\"}, "
     "\"springs\": {\"k\": %2$g, \"shear\": true, \"bending\": true}",
     "{\"select\": \"top_left\"}, {\"select\": \"top_right\"}"},
    {"shuffled",
     "\"mesh\": \"shuffled.obj\", \"springs\": {\"k\": %2$g, \"shear\": true, \"bending\": true}",
     "{\"select\": {\"nearest\": [-0.5, 0, -0.5]}}, {\"select\": {\"nearest\": [0.5, 0, -0.5]}}"},
    {"disc",
     "\"shape\": {\"type\": \"disc\", \"rings\": %1$d, \"plane\": \"xz\"}, \"springs\": {\"k\": "
     "%2$g, \"bending\": true}",
     "{\"select\": {\"nearest\": [0.354, 0, 0.354]}}, {\"select\": {\"nearest\": [-0.354, 0, "
     "0.354]}}"},
    {"ball",
     "\"shape\": {\"type\": \"ball\", \"shells\": %1$d, \"radius\": 0.5}, \"springs\": {\"k\": "
     "%2$g}",
     "{\"select\": {\"box\": {\"min\": [-1, 0.4, -1], \"max\": [1, 1, 1]}}}"},
    {"block",
     "\"shape\": {\"type\": \"block\", \"nx\": %1$d, \"ny\": %1$d, \"nz\": %1$d}, \"springs\": "
     "{\"k\": %2$g}",
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

/* What is asked for. */
typedef struct Options {
  const char *kind, *integrator;
  int size, steps;
  double tolerance, solved, k;
  int iterations; /* of a step that the GPU makes for its error, at most */
  int every;      /* errors of every how many steps; 0: times alone */
  HkDeviceKind device;
  bool alone;
} Options;

/* Writes the integrator of a scene; tolerance 0: the default. */
static void write_method(const Options *o, double tolerance, int iterations, char *text,
                         size_t size) {
  static const char LINEAR[] = "\"linear\": {\"type\": \"pcg\", \"tolerance\": %g, "
                               "\"preconditioner\": {\"type\": \"multigrid\"}}";
  char linear[200];
  if (tolerance == 0) {
    snprintf(text, size, "\"%s\"", o->integrator);
  } else if (strcmp(o->integrator, "linear_implicit_euler") == 0) {
    snprintf(linear, sizeof linear, LINEAR, tolerance);
    snprintf(text, size, "{\"type\": \"%s\", %s}", o->integrator, linear);
  } else {
    snprintf(linear, sizeof linear, LINEAR, 1e-5);
    snprintf(text, size,
             "{\"type\": \"%s\", \"minimizer\": {\"type\": \"newton\", \"tolerance\": %g, "
             "\"iterations\": %d, %s}}",
             o->integrator, tolerance, iterations, linear);
  }
}

static World make_world(const Options *o, double tolerance, int iterations, HkDeviceKind device) {
  World w = {0};
  HkError error = {0};
  HkContext context = hk_context_default();
  char text[2000], body[500], method[500];
  const Kind *found = find_kind(o->kind);
  context.device = device;
  context.log = on_log;
  snprintf(body, sizeof body, found->body, o->size, o->k);
  write_method(o, tolerance, iterations, method, sizeof method);
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

static void measure(const Options *o) {
  int steps = o->steps;
  double *ms = calloc((size_t)steps + 1, sizeof *ms), sum = 0, newton = 0, pcg = 0;
  int ends[HK_STOP_LIMITS + 1] = {0}, most = 0;
  double begin = hk_wall_time();
  World w = make_world(o, o->tolerance, 1000, o->device);
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
         o->kind, o->size, o->tolerance, (long long)hk_state_vertex_count(w.state), first,
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

/* |a - b|_M, with masses in kg. */
static double distance(const double *a, const double *b, const double *mass, int64_t n) {
  double sum = 0;
  for (int64_t q = 0; q < 3 * n; q++) sum += mass[q / 3] * (a[q] - b[q]) * (a[q] - b[q]);
  return sqrt(sum);
}

/* A step that is made several times: the state at its beginning, x* and |x* - x_n|_M. */
typedef struct Step {
  HkState *begin;
  const double *solved;
  double moved;
} Step;

/* Makes the step in a world of its own; returns its error, NAN for the solved one itself. */
static double error_of(World *w, const Step *step, const char *name) {
  HkError error = {0};
  const double *mass = hk_model_masses(w->model);
  int64_t n = hk_state_vertex_count(w->state);
  check(hk_state_copy(step->begin, w->state, &error), &error);
  HkDeviceArray *array = NULL; /* which brings the state to a device before the time is taken */
  (void)hk_sim_read_device(w->sim, w->state, HK_POSITIONS, &array, NULL);
  double start = hk_wall_time();
  check(hk_sim_step(w->sim, w->state, &error), &error);
  double ms = 1e3 * (hk_wall_time() - start);
  const double *x = hk_state_positions(w->state);
  hk_device_array_destroy(&array);
  double off = step->solved ? distance(x, step->solved, mass, n) / step->moved : NAN;
  HkStepInfo info = hk_sim_step_info(w->sim);
  printf("  %s %.2e (%d newton, %d pcg, %s, %.1f ms)", name, off, info.iterations,
         info.linear_iterations, hk_stop_name(info.reason), ms);
  fflush(stdout);
  return off;
}

typedef struct Errors {
  double sum, most;
} Errors;

static void add(Errors *e, double error) {
  e->sum += error;
  e->most = fmax(e->most, error);
}

static void measure_errors(const Options *o) {
  const double ANY = 1e-9; /* a tolerance that few iterations do not meet */
  HkDeviceKind host = o->alone ? o->device : HK_CPU;
  World own = make_world(o, o->tolerance, 1000, host);
  World other = make_world(o, o->iterations < 1000 ? ANY : o->tolerance, o->iterations, o->device);
  World exact = make_world(o, o->solved, 1000, host);
  int64_t n = hk_state_vertex_count(own.state);
  Errors errors[2] = {{0, 0}, {0, 0}};
  int kept = 0;
  HkError error = {0};
  Step step = {0};
  check(hk_state_create(own.model, &step.begin, &error), &error);
  for (int q = 0; q < o->steps; q++) {
    if ((q + 1) % o->every == 0) {
      check(hk_state_copy(own.state, step.begin, &error), &error);
      step.solved = NULL;
      printf("step %d:", q + 1);
      error_of(&exact, &step, "solved");
      step.solved = hk_state_positions(exact.state);
      step.moved =
          distance(step.solved, hk_state_positions(step.begin), hk_model_masses(own.model), n);
      add(&errors[0], error_of(&own, &step, "own"));
      if (!o->alone || o->iterations < 1000) add(&errors[1], error_of(&other, &step, "device"));
      printf("\n");
      kept++;
    } else {
      check(hk_sim_step(own.sim, own.state, &error), &error);
    }
  }
  printf("%s %d tolerance %g: own error %.2e in the mean, %.2e at most", o->kind, o->size,
         o->tolerance, errors[0].sum / kept, errors[0].most);
  if (!o->alone || o->iterations < 1000)
    printf("; device %.2e, %.2e", errors[1].sum / kept, errors[1].most);
  printf("\n");
  destroy_world(&own);
  destroy_world(&other);
  destroy_world(&exact);
  hk_state_destroy(&step.begin);
}

int main(int argc, char **argv) {
  setenv("HOOKE_PLUGINS", BENCH_PLUGINS, 0);
  if (argc < 5) {
    fprintf(stderr,
            "hooke_bench_steps KIND SIZE STEPS TOLERANCE [--cpu] [--integrator NAME] [--k K] "
            "[--every N [--alone] [--solved T] [--iterations N]]\n");
    return 2;
  }
  Options o = {.kind = argv[1],
               .integrator = "backward_euler",
               .size = atoi(argv[2]),
               .steps = atoi(argv[3]),
               .tolerance = atof(argv[4]),
               .solved = 1e-6,
               .k = 1e4,
               .iterations = 1000,
               .device = HK_CUDA};
  for (int k = 5; k < argc; k++) {
    const char *value = k + 1 < argc ? argv[k + 1] : "0";
    if (strcmp(argv[k], "--cpu") == 0) o.device = HK_CPU;
    if (strcmp(argv[k], "--alone") == 0) o.alone = true;
    if (strcmp(argv[k], "--integrator") == 0) o.integrator = value;
    if (strcmp(argv[k], "--every") == 0) o.every = atoi(value);
    if (strcmp(argv[k], "--iterations") == 0) o.iterations = atoi(value);
    if (strcmp(argv[k], "--k") == 0) o.k = atof(value);
    if (strcmp(argv[k], "--solved") == 0) o.solved = atof(value);
  }
  if (strcmp(o.kind, "shuffled") == 0) write_shuffled("shuffled.obj", o.size);
  o.every > 0 ? measure_errors(&o) : measure(&o);
  return 0;
}
