/* Linear solvers of the caller: by the assembled matrix or by products alone, they give the motion
 * of the built-in ones; what they get wrong is found. */
#include "world.h"

#include "hooke/extend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char CLOTH[] =
    "{'bodies': [{'shape': {'type': 'grid', 'nx': 6, 'ny': 5}, 'springs': {'k': 300, 'shear': "
    "true}, "
    "'mass': 0.3}], 'pins': [{'select': {'indices': [0, 5]}}], 'forces': ['gravity'], "
    "'time': {'step': 0.02}}";

/* What a solver does wrong. */
typedef enum Fault { FAULT_NONE, FAULT_SCALED, FAULT_NAN, FAULT_ERROR, FAULT_SIGN } Fault;

typedef struct Solver {
  Fault fault;
  int states, prepares, solves, indefinite;
} Solver;

typedef struct Dense {
  int64_t n, pattern;
  double *L;
} Dense;

static HkStatus dense_create(void *user, int64_t size, void **state, HkError *error) {
  Dense *d = calloc(1, sizeof *d);
  (void)error;
  ((Solver *)user)->states++;
  d->n = size;
  d->L = calloc((size_t)(size * size), sizeof *d->L);
  *state = d;
  return HK_OK;
}

static void dense_destroy(void *user, void *state) {
  Dense *d = state;
  ((Solver *)user)->states--;
  free(d->L);
  free(d);
}

/* A = L L^T of the dense matrix. */
static HkStatus dense_prepare(void *user, const HkLinearSystem *A, bool *indefinite,
                              HkError *error) {
  Dense *d = A->state;
  Solver *s = user;
  int64_t n = d->n;
  double *L = d->L;
  (void)error;
  s->prepares++;
  memset(L, 0, (size_t)(n * n) * sizeof *L);
  for (int64_t r = 0; r < n; r++)
    for (int64_t e = A->row_start[r]; e < A->row_start[r + 1]; e++) {
      CHECK(e == A->row_start[r] || A->column[e] > A->column[e - 1]);
      L[r * n + A->column[e]] = A->value[e];
    }
  for (int64_t j = 0; j < n; j++) {
    for (int64_t i = j; i < n; i++)
      for (int64_t k = 0; k < j; k++) L[i * n + j] -= L[i * n + k] * L[j * n + k];
    if (!(L[j * n + j] > 0)) {
      *indefinite = true;
      s->indefinite++;
      return HK_OK;
    }
    double root = sqrt(L[j * n + j]);
    for (int64_t i = j; i < n; i++) L[i * n + j] /= root;
  }
  return HK_OK;
}

static HkStatus dense_solve(void *user, const HkLinearSystem *A, const double *b, double *x,
                            double tolerance, HkLinearOutcome *outcome, HkError *error) {
  const Dense *d = A->state;
  Solver *s = user;
  int64_t n = d->n;
  (void)tolerance;
  (void)outcome;
  s->solves++;
  for (int64_t i = 0; i < n; i++) {
    x[i] = b[i];
    for (int64_t k = 0; k < i; k++) x[i] -= d->L[i * n + k] * x[k];
    x[i] /= d->L[i * n + i];
  }
  for (int64_t i = n - 1; i >= 0; i--) {
    for (int64_t k = i + 1; k < n; k++) x[i] -= d->L[k * n + i] * x[k];
    x[i] /= d->L[i * n + i];
  }
  if (s->fault == FAULT_SCALED)
    for (int64_t i = 0; i < n; i++) x[i] *= 0.5;
  if (s->fault == FAULT_SIGN)
    for (int64_t i = 0; i < n; i++) x[i] = -x[i];
  if (s->fault == FAULT_NAN) x[n / 2] = NAN;
  if (s->fault == FAULT_ERROR) {
    error->status = HK_ERROR_UNSUPPORTED;
    snprintf(error->text, sizeof error->text, "the license has expired");
    return HK_ERROR_UNSUPPORTED;
  }
  return HK_OK;
}

/* Conjugate gradients by products alone. */
static HkStatus cg_solve(void *user, const HkLinearSystem *A, const double *b, double *x,
                         double tolerance, HkLinearOutcome *outcome, HkError *error) {
  size_t n = (size_t)A->size;
  double *r = malloc(n * sizeof *r), *p = malloc(n * sizeof *p), *Ap = malloc(n * sizeof *Ap);
  double rr = 0, start;
  (void)error;
  CHECK(!A->row_start && !A->value);
  ((Solver *)user)->solves++;
  for (size_t k = 0; k < n; k++) rr += (r[k] = p[k] = b[k]) * b[k];
  start = rr;
  for (outcome->iterations = 0; outcome->iterations < 2000; outcome->iterations++) {
    if (rr <= 0.25 * tolerance * tolerance * start) break;
    A->product(A, p, Ap);
    double pAp = 0, next = 0;
    for (size_t k = 0; k < n; k++) pAp += p[k] * Ap[k];
    if (!(pAp > 0)) {
      outcome->indefinite = true;
      break;
    }
    for (size_t k = 0; k < n; k++) {
      x[k] += rr / pAp * p[k];
      r[k] -= rr / pAp * Ap[k];
      next += r[k] * r[k];
    }
    for (size_t k = 0; k < n; k++) p[k] = r[k] + next / rr * p[k];
    rr = next;
  }
  free(r);
  free(p);
  free(Ap);
  return HK_OK;
}

static HkLinearFunctions dense_functions(void) {
  HkLinearFunctions f = hk_linear_functions_default();
  f.name = "dense";
  f.direct = f.needs_matrix = true;
  f.create = dense_create;
  f.destroy = dense_destroy;
  f.prepare = dense_prepare;
  f.solve = dense_solve;
  return f;
}

static HkLinearFunctions cg_functions(void) {
  HkLinearFunctions f = hk_linear_functions_default();
  f.name = "products";
  f.solve = cg_solve;
  return f;
}

/* Moves the cloth with an integrator, by the caller's solver or, for NULL, by ldlt. */
static void move(const char *integrator, const HkLinearFunctions *functions, Solver *solver,
                 int steps, double *x, HkStepInfo *info) {
  World w = world_parse(CLOTH);
  HkMethod step = {0};
  HkSim *sim = NULL;
  MUST(hk_method_parse(&step, HK_STEP, integrator, strlen(integrator), NULL, error));
  if (functions) MUST(hk_method_set_linear_solver(&step, functions, solver, error));
  MUST(hk_sim_create(w.model, &step, 0.02, &sim, error));
  hk_method_clear(&step);
  for (int k = 0; k < steps; k++) {
    HkError e = {0};
    HkStatus status = hk_sim_step(sim, w.state, &e);
    CHECK(status == HK_OK);
    *info = hk_sim_step_info(sim);
  }
  memcpy(x, hk_state_positions(w.state), sizeof(double) * 90);
  hk_sim_destroy(&sim);
  world_destroy(&w);
}

TEST(solvers_of_the_caller_give_the_motion_of_the_built_in_ones) {
  static const char *const integrators[][2] = {
      {"{\"type\": \"backward_euler\", \"minimizer\": {\"type\": \"newton\", \"linear\": "
       "\"ldlt\"}}",
       "\"backward_euler\""},
      {"{\"type\": \"implicit_midpoint\", \"minimizer\": {\"type\": \"newton\", \"linear\": "
       "\"ldlt\"}}",
       "\"implicit_midpoint\""},
      {"{\"type\": \"linear_implicit_euler\", \"linear\": \"ldlt\"}", "\"linear_implicit_euler\""},
  };
  for (size_t k = 0; k < sizeof integrators / sizeof integrators[0]; k++) {
    double x[90], direct[90], iterative[90], most = 0, moved = 0;
    Solver dense = {0}, products = {0};
    HkLinearFunctions a = dense_functions(), b = cg_functions();
    HkStepInfo info;
    move(integrators[k][0], NULL, NULL, 30, x, &info);
    move(integrators[k][1], &a, &dense, 30, direct, &info);
    move(integrators[k][1], &b, &products, 30, iterative, &info);
    for (int c = 0; c < 90; c++) {
      most = fmax(most, fmax(fabs(direct[c] - x[c]), fabs(iterative[c] - x[c])));
      moved = fmax(moved, fabs(x[c]));
    }
    CHECK(most < 1e-4 * moved);
    CHECK(dense.solves >= 30 && dense.prepares >= 30 && products.solves >= 30);
    CHECK(dense.states == 0);
  }
}

TEST(a_direct_solver_of_the_caller_finds_indefinite_matrices) {
  /* A chain that is pressed to 0.4 of its length: its Hessian is indefinite at a large step. */
  World w = world_parse("{'bodies': [{'shape': {'type': 'chain', 'n': 12}, 'springs': {'k': 1e4}, "
                        "'stretch': [0.4, 1, 1]}], 'pins': [{'select': 'ends'}], "
                        "'forces': ['gravity'], 'time': {'step': 0.05}}");
  HkMethod step = {0};
  HkSim *sim = NULL;
  Solver dense = {0};
  HkLinearFunctions f = dense_functions();
  MUST(hk_method_choose(&step, HK_STEP, "backward_euler", error));
  MUST(hk_method_set_linear_solver(&step, &f, &dense, error));
  MUST(hk_sim_create(w.model, &step, 0.05, &sim, error));
  CHECK(hk_sim_step(sim, w.state, NULL) >= 0);
  CHECK(dense.indefinite > 0 && hk_sim_step_info(sim).projections > 0);
  hk_method_clear(&step);
  hk_sim_destroy(&sim);
  world_destroy(&w);
}

/* One step with a faulty solver. */
typedef struct Trial {
  HkStatus status;
  HkStepInfo info;
  HkError error;
  bool unmoved;
  double x[90];
} Trial;

static void try_fault(Fault fault, Trial *t) {
  World w = world_parse(CLOTH);
  HkMethod step = {0};
  HkSim *sim = NULL;
  Solver dense = {.fault = fault};
  HkLinearFunctions f = dense_functions();
  double before[90];
  memcpy(before, hk_state_positions(w.state), sizeof before);
  MUST(hk_method_choose(&step, HK_STEP, "backward_euler", error));
  MUST(hk_method_set_linear_solver(&step, &f, &dense, error));
  MUST(hk_sim_create(w.model, &step, 0.02, &sim, error));
  t->status = hk_sim_step(sim, w.state, &t->error);
  t->info = hk_sim_step_info(sim);
  memcpy(t->x, hk_state_positions(w.state), sizeof t->x);
  t->unmoved = memcmp(before, hk_state_positions(w.state), sizeof before) == 0;
  hk_method_clear(&step);
  hk_sim_destroy(&sim);
  world_destroy(&w);
}

TEST(faults_of_a_solver_are_found) {
  Trial good = {0}, t = {0};
  double most = 0;
  try_fault(FAULT_NONE, &good);
  CHECK(good.status == HK_OK && good.info.residual < 1e-8);
  CHECK(good.info.reason == HK_STOP_CONVERGED);
  /* Half of a direction is no direction to rely on, but leads to the same minimum. */
  try_fault(FAULT_SCALED, &t);
  for (int c = 0; c < 90; c++) most = fmax(most, fabs(t.x[c] - good.x[c]));
  CHECK_NEAR(t.info.residual, 0.5, 1e-6);
  CHECK(t.status == HK_OK && most < 1e-6 && t.info.iterations > good.info.iterations);
  try_fault(FAULT_NAN, &t);
  CHECK(t.status == HK_ERROR_INVALID && t.unmoved && strstr(t.error.text, "'dense'") != NULL);
  try_fault(FAULT_ERROR, &t);
  CHECK(t.status == HK_ERROR_UNSUPPORTED && t.unmoved);
  CHECK(strcmp(t.error.text, "the license has expired") == 0);
  try_fault(FAULT_SIGN, &t);
  CHECK(t.status == HK_NOT_CONVERGED || t.status < 0);
}

TEST(what_is_no_solver_is_refused) {
  HkMethod step = {0};
  HkError e = {0};
  HkLinearFunctions f = dense_functions();
  MUST(hk_method_choose(&step, HK_STEP, "verlet", error));
  CHECK(hk_method_set_linear_solver(&step, &f, NULL, &e) == HK_ERROR_INVALID);
  CHECK(strstr(e.text, "verlet") != NULL);
  MUST(hk_method_choose(&step, HK_STEP, "backward_euler", error));
  f.solve = NULL;
  CHECK(hk_method_set_linear_solver(&step, &f, NULL, &e) == HK_ERROR_INVALID);
  f = dense_functions();
  f.size = 8;
  CHECK(hk_method_set_linear_solver(&step, &f, NULL, &e) == HK_ERROR_INVALID);
  hk_method_clear(&step);
}
