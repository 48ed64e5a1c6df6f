/* Whether the answers of minimizers are true; see truth.h. */
#include "truth.h"

#include "step/implicit.h"
#include "step_by_hand.h"

#include <stdarg.h>

/* ---- Random numbers: SplitMix64 ---- */

static double uniform(uint64_t *seed, double low, double high) {
  uint64_t z = *seed += 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  z ^= z >> 31;
  return low + (high - low) * ((double)(z >> 11) * 0x1p-53);
}

static double decades(uint64_t *seed, double low, double high) {
  return pow(10, uniform(seed, low, high));
}

/* ---- Random systems ---- */

enum { VERTICES_MAX = 32, SPRINGS_MAX = 256, TEXT_MAX = 40000 };

typedef struct System {
  int n, springs;
  double x[VERTICES_MAX][3], v[VERTICES_MAX][3], mass[VERTICES_MAX];
  int ends[SPRINGS_MAX][2];
  double h, tolerance;
  bool two_pins;
  char text[TEXT_MAX];
  int used;
} System;

static void join(System *s, int i, int j) {
  s->ends[s->springs][0] = i;
  s->ends[s->springs++][1] = j;
}

/* A triangulated sheet. */
static void make_net(System *s, uint64_t *seed) {
  int nx = 3 + (int)uniform(seed, 0, 3), ny = 3 + (int)uniform(seed, 0, 3);
  s->n = nx * ny;
  for (int i = 0; i < s->n; i++) {
    s->x[i][0] = 0.1 * (i % nx + uniform(seed, -0.3, 0.3));
    s->x[i][1] = 0.1 * uniform(seed, -0.2, 0.2);
    s->x[i][2] = 0.1 * (i / nx + uniform(seed, -0.3, 0.3));
    bool right = i % nx + 1 < nx, below = i / nx + 1 < ny;
    if (right) join(s, i, i + 1);
    if (below) join(s, i, i + nx);
    if (right && below) join(s, i, i + nx + 1);
  }
}

static void make_strand(System *s, uint64_t *seed) {
  s->n = 4 + (int)uniform(seed, 0, 12);
  for (int i = 0; i < s->n; i++) {
    s->x[i][0] = 1.0 / (s->n - 1) * i;
    s->x[i][1] = uniform(seed, -0.01, 0.01);
    if (i > 0) join(s, i - 1, i);
  }
}

/* A small lattice with diagonals. */
static void make_block(System *s, uint64_t *seed) {
  s->n = 2 * 2 * (2 + (int)uniform(seed, 0, 3));
  for (int i = 0; i < s->n; i++) {
    const int at[3] = {i % 2, i / 2 % 2, i / 4};
    for (int c = 0; c < 3; c++) s->x[i][c] = 0.1 * (at[c] + uniform(seed, -0.1, 0.1));
    for (int j = 0; j < i; j++)
      if (abs(i / 4 - j / 4) < 2) join(s, j, i);
  }
}

static void print(System *s, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  s->used += vsnprintf(s->text + s->used, (size_t)(TEXT_MAX - s->used), format, arguments);
  va_end(arguments);
}

static double length_of(const System *s, int e) {
  double square = 0;
  for (int c = 0; c < 3; c++) {
    double d = s->x[s->ends[e][0]][c] - s->x[s->ends[e][1]][c];
    square += d * d;
  }
  return sqrt(square);
}

static void write_scene(System *s, uint64_t *seed) {
  double k = decades(seed, 0, 8), spread = uniform(seed, 0, 1) < 0.5 ? 0 : 1;
  double strain = uniform(seed, 0, 1) < 0.3 ? 0 : decades(seed, -4, -1);
  print(s, "{\"forces\": [\"gravity\"], \"outputs\": [], \"bodies\": [{\"mesh\": {\"vertices\": [");
  for (int i = 0; i < s->n; i++)
    print(s, "%s[%.17g, %.17g, %.17g]", i ? ", " : "", s->x[i][0], s->x[i][1], s->x[i][2]);
  print(s, "]}, \"springs\": {\"table\": [");
  for (int e = 0; e < s->springs; e++)
    print(s, "%s[%d, %d, %.17g, %.17g, -1]", e ? ", " : "", s->ends[e][0], s->ends[e][1],
          k * decades(seed, -spread, spread),
          length_of(s, e) * (1 + uniform(seed, -strain, strain)));
  print(s, "]}, \"mass\": {\"per_vertex\": 1e-9, \"added\": [");
  for (int i = 0; i < s->n; i++) print(s, "%s[%d, %.17g]", i ? ", " : "", i, s->mass[i]);
  print(s, "]}}], \"pins\": [{\"select\": {\"indices\": [0%s]}}]}", s->two_pins ? ", 2" : "");
}

static void make_system(System *s, int64_t index) {
  static const double tolerances[] = {1e-2, 1e-3, 1e-5};
  uint64_t seed = (uint64_t)index * 1000003;
  *s = (System){.tolerance = tolerances[index % 3]};
  void (*const kinds[])(System *, uint64_t *) = {make_net, make_strand, make_block, make_net};
  kinds[index / 3 % 4](s, &seed);
  double mass = decades(&seed, -4, -1), ratio = uniform(&seed, 0, 5), speed = decades(&seed, -2, 1);
  for (int i = 0; i < s->n; i++) {
    s->mass[i] = mass * decades(&seed, 0, ratio);
    for (int c = 0; c < 3; c++) s->v[i][c] = speed * uniform(&seed, -1, 1);
  }
  s->h = 1 / (24 * decades(&seed, 0, 1));
  s->two_pins = uniform(&seed, 0, 1) < 0.4;
  write_scene(s, &seed);
}

/* ---- Ways to solve a step ---- */

static const char *const by_newton[] = {
    "{\"type\": \"backward_euler\", \"minimizer\": {\"type\": \"newton\", \"linear\": \"ldlt\"}}",
    "{\"type\": \"backward_euler\", \"minimizer\": {\"type\": \"newton\", \"linear\": \"cg\"}}",
    "{\"type\": \"backward_euler\", \"minimizer\": {\"type\": \"newton\", \"linear\": \"pcg\"}}",
    "{\"type\": \"backward_euler\", \"minimizer\": {\"type\": \"newton\", \"linear\": {\"type\": "
    "\"pcg\", \"preconditioner\": \"multigrid\"}}}",
    "{\"type\": \"backward_euler\", \"minimizer\": {\"type\": \"local_global\", "
    "\"acceleration\": \"none\"}}",
    "{\"type\": \"backward_euler\", \"minimizer\": {\"type\": \"local_global\", "
    "\"acceleration\": \"chebyshev\"}}",
    "\"bdf2\"",
    "\"trapezoidal\"",
    "{\"type\": \"backward_euler\", \"minimizer\": {\"type\": \"newton\", \"tolerance\": 1}}",
};
static const char *const names[] = {
    "newton, ldlt",           "newton, cg",          "newton, pcg",
    "newton, pcg, multigrid", "local_global, plain", "local_global, chebyshev",
    "bdf2, newton",           "trapezoidal, newton", "newton, tolerance 1"};
enum { NEWTON_COUNT = sizeof by_newton / sizeof by_newton[0] };

int truth_count(void) {
  return hk_schema_count(HK_MINIMIZE) + NEWTON_COUNT;
}

/* *tolerance: of the system, or what the way says. */
static HkStatus choose(int way, double *tolerance, HkMethod *step, Truth *truth, HkError *error) {
  const HkSchema *minimizer = hk_schema_at(HK_MINIMIZE, way);
  char text[160];
  if (minimizer)
    snprintf(text, sizeof text, "{\"type\": \"backward_euler\", \"minimizer\": \"%s\"}",
             minimizer->name);
  const char *json = minimizer ? text : by_newton[way - hk_schema_count(HK_MINIMIZE)];
  snprintf(truth->name, sizeof truth->name, "%s",
           minimizer ? minimizer->name : names[way - hk_schema_count(HK_MINIMIZE)]);
  HK_TRY(hk_method_parse(step, HK_STEP, json, strlen(json), NULL, error));
  HkMethod *inner = &((HkImplicitParams *)step->params)->minimizer;
  if (!inner->schema) HK_TRY(hk_method_choose(inner, HK_MINIMIZE, "newton", error));
  if (((const HkStopping *)inner->params)->tolerance == 1) *tolerance = 1;
  return hk_method_set_number(inner, "tolerance", *tolerance, error);
}

/* ---- Judging ---- */

static void judge(const StepByHand *s, const double *x, HkStop reason, double tolerance,
                  Truth *truth) {
  double r = step_by_hand_residual(s, x), moved = step_by_hand_distance(s, x, s->x_n);
  double rounding = step_by_hand_rounding(s, x), nearest[3 * VERTICES_MAX];
  bool met = r <= tolerance * moved + rounding, wrong = false;
  truth->converged += reason == HK_STOP_CONVERGED;
  truth->rounding += reason == HK_STOP_ROUNDING;
  truth->stationary += reason == HK_STOP_STATIONARY;
  truth->unconverged += reason >= HK_STOP_ITERATIONS;
  if (reason == HK_STOP_ROUNDING) wrong = r > rounding;
  if (reason == HK_STOP_CONVERGED || reason == HK_STOP_STATIONARY) {
    wrong = !met;
    truth->worst_gradient = fmax(truth->worst_gradient, r / (tolerance * moved));
  }
  memcpy(nearest, x, (size_t)s->model->n * 3 * sizeof *x);
  if (reason == HK_STOP_CONVERGED && step_by_hand_solve(s, nearest)) {
    double error = step_by_hand_distance(s, x, nearest) / step_by_hand_distance(s, nearest, s->x_n);
    double bound = fmin(tolerance, HK_CONVERGED_MAX);
    truth->judged++;
    truth->worst_error = fmax(truth->worst_error, error / bound);
    wrong |= error > 2 * bound;
  }
  truth->wrong += wrong;
}

/* Two steps, of which the second one is judged: by then bdf2 has a history. */
static HkStatus step_and_judge(const System *s, const HkModel *model, HkSim *sim, HkState *state,
                               Truth *truth, HkError *error) {
  double x_n[3 * VERTICES_MAX], *v = hk_state_v(state);
  size_t bytes = (size_t)s->n * 3 * sizeof *v;
  for (int i = 1; i < s->n; i++)
    if (!(s->two_pins && i == 2)) memcpy(v + 3 * (int64_t)i, s->v[i], sizeof s->v[i]);
  HK_TRY(hk_sim_step(sim, state, error));
  memcpy(x_n, hk_state_x(state), bytes);
  HK_TRY(hk_sim_step(sim, state, error));
  const HkProblem *p = &((const HkImplicit *)sim->data)->problem;
  StepByHand by_hand = {.model = model, .x_n = x_n, .y = p->y, .tau = p->tau, .gravity = 9.81};
  truth->steps++;
  judge(&by_hand, hk_state_x(state), hk_sim_step_info(sim).reason, s->tolerance, truth);
  return HK_OK;
}

static HkStatus run_one(int way, int64_t index, Truth *truth, HkError *error) {
  HkScene *scene = NULL;
  HkModel *model = NULL;
  HkSim *sim = NULL;
  HkState *state = NULL;
  HkMethod step = {0};
  HkContext context = hk_context_default();
  context.threads = 1;
  System *s = malloc(sizeof *s);
  if (!s) return HK_ERROR_MEMORY;
  make_system(s, index);
  HkStatus status =
      hk_scene_parse(&context, s->text, (size_t)s->used, "random", NULL, NULL, 0, &scene, error);
  if (status >= 0) status = hk_model_compile(scene, &model, error);
  if (status >= 0) status = choose(way, &s->tolerance, &step, truth, error);
  if (status >= 0) status = hk_sim_create(model, &step, s->h, &sim, error);
  if (status >= 0) status = hk_state_create(model, &state, error);
  if (status >= 0) status = step_and_judge(s, model, sim, state, truth, error);
  hk_state_destroy(&state);
  hk_sim_destroy(&sim);
  hk_method_clear(&step);
  hk_model_destroy(&model);
  hk_scene_destroy(&scene);
  free(s);
  return status;
}

HkStatus truth_run(int way, int64_t first, int64_t count, Truth *truth, HkError *error) {
  for (int64_t q = first; q < first + count; q++) {
    HkStatus status = run_one(way, q, truth, error);
    if (status < 0 && status != HK_ERROR_BLOWUP) return status;
  }
  return HK_OK;
}
