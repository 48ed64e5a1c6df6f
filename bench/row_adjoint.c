/* The way back through steps against the steps themselves: gradients by positions, velocities,
 * masses and by k and l0 of every spring. The motion has begun before: cloth has fallen for
 * STEPS_BEFORE steps, a block is sheared. Steps are solved to a relative gradient of 1e-6, without
 * which gradients mean little; the tape keeps all states.
 */
#include "bench.h"

#include "hooke/adjoint.h"
#include "methods.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 3, STEPS_BEFORE = 20, IMPLICIT_STEPS = 10, EXPLICIT_STEPS = 400 };

static const double EXPLICIT_H = 4e-5; /* s; stable for cloth 81 */
static const double BLOCK_SOFTNESS = 0.01;

#define NEWTON                                                                                     \
  "{'type': 'backward_euler', 'minimizer': {'type': 'newton', 'tolerance': 1e-6, 'linear': "       \
  "{'type': 'pcg', 'tolerance': 1e-5, 'preconditioner': 'multigrid'}}}"

typedef struct Case {
  const char *kind;
  int size;
  Method method;
  bool projected; /* the Hessian of the gradient */
  double wanted;  /* ratio of the steps to the way back, at least */
} Case;

static const Case cases[] = {
    {"cloth", 81, {"newton+multigrid", NEWTON}, false, 4},
    {"cloth", 129, {"newton+multigrid", NEWTON}, false, 4},
    {"block", 20, {"newton+multigrid", NEWTON}, false, 4},
    {"cloth", 81, {"default, projected", "{'type': 'backward_euler'}"}, true, 4},
    {"cloth",
     81,
     {"local_global, projected",
      "{'type': 'backward_euler', 'minimizer': {'type': 'local_global', 'tolerance': 1e-3, "
      "'iterations': 1000}}"},
     true,
     1 / 0.6},
    {"cloth", 81, {"symplectic_euler", "{'type': 'symplectic_euler'}"}, false, 1 / 2.5},
};

typedef struct Adjoint {
  Problem problem;
  HkSim *sim;
  HkState *start, *state;
  HkTape *tape;
  HkDerivatives *d;
  HkAdjointInfo info;
  int64_t steps;
} Adjoint;

/* dL/dx = x at the end. */
static void add_loss(void *user, int64_t step, const HkState *state, double *dx, double *dv) {
  const Adjoint *a = user;
  const double *x = hk_state_positions(state);
  (void)dv;
  for (int64_t c = 0; c < 3 * a->problem.n && step == a->steps; c++) dx[c] += x[c];
}

static TurnEnd run_back(void *user, const Turn *turn) {
  Adjoint *a = user;
  stopwatch_start(turn->watch);
  HkStatus status = hk_tape_backward(a->tape, add_loss, a, a->d, &a->info, NULL);
  stopwatch_stop(turn->watch);
  return status < 0 ? TURN_FAILED : TURN_MEASURED;
}

static TurnEnd run_steps(void *user, const Turn *turn) {
  Adjoint *a = user;
  hk_state_copy(a->start, a->state, NULL);
  stopwatch_start(turn->watch);
  HkStatus status = hk_sim_steps(a->sim, a->state, a->steps, NULL);
  stopwatch_stop(turn->watch);
  return status < 0 ? TURN_FAILED : TURN_MEASURED;
}

/* Starts a motion: cloth falls, a block is bent along y and softer, so that it swings. */
static HkStatus start(Adjoint *a, const Case *c, HkError *error) {
  double *x = hk_state_x(a->start);
  bool block = strcmp(c->kind, "block") == 0;
  HkStatus status =
      block ? hk_model_scale_stiffness(a->problem.model, BLOCK_SOFTNESS, error) : HK_OK;
  if (block)
    for (int64_t i = 0; i < a->problem.n; i++) x[3 * i + 1] += 0.2 * x[3 * i] * x[3 * i];
  return status < 0 ? status : hk_sim_steps(a->sim, a->start, STEPS_BEFORE, error);
}

static HkStatus prepare(Adjoint *a, const Case *c, HkError *error) {
  HkTapeSettings settings = hk_tape_settings_default();
  const HkModel *m = a->problem.model;
  HkStatus status = hk_state_create(m, &a->start, error);
  settings.adjoint = (HkAdjointSettings){.accuracy = 1e-6, .projected = c->projected};
  if (status >= 0) status = hk_state_create(m, &a->state, error);
  if (status >= 0) status = hk_derivatives_create(m, &a->d, error);
  if (status >= 0) status = start(a, c, error);
  if (status >= 0) status = hk_tape_create(a->sim, a->start, &settings, &a->tape, error);
  return status < 0 ? status : hk_tape_steps(a->tape, a->steps, error);
}

static void measure(Bench *bench, const Case *c) {
  Adjoint a = {.steps = IMPLICIT_STEPS};
  HkError error = {0};
  double h = PROBLEM_H;
  bool is_explicit = strstr(c->method.text, "symplectic") != NULL;
  int size = bench->quick ? (c->size + 1) / 2 : c->size;
  if (is_explicit) a.steps = EXPLICIT_STEPS;
  if (is_explicit) h = EXPLICIT_H;
  if (problem_make(&a.problem, c->kind, size, h))
    a.sim = method_sim(a.problem.model, &c->method, h, &error);
  Contestant both[] = {{.run = run_back, .user = &a, .repeats = 0},
                       {.run = run_steps, .user = &a, .repeats = 0}};
  if (a.sim && prepare(&a, c, &error) >= 0) {
    int rounds = bench_rounds(both, 2, 1, ROUNDS);
    Measure m = measure_start("adjoint", &a.problem, c->method.name, "the steps");
    for (int k = 0; k < 2; k++)
      for (int q = 0; q < rounds; q++) both[k].seconds[q] /= (double)a.steps;
    measure_times(&m, both[0].seconds, rounds, both[1].seconds, rounds);
    m.wanted = c->wanted;
    m.error = a.info.residual;
    snprintf(m.note, sizeof m.note, "%.0f iterations, %d of %d steps no minimum, %d not solved",
             (double)a.info.linear_iterations / (double)a.steps, (int)a.info.indefinite,
             (int)a.steps, (int)a.info.unsolved);
    if (rounds > 0) bench_add(bench, &m);
    rounds_release(both, 2);
  } else {
    bench_missing(bench, c->method.name, error.text);
  }
  hk_tape_destroy(&a.tape);
  hk_derivatives_destroy(&a.d);
  hk_state_destroy(&a.start);
  hk_state_destroy(&a.state);
  hk_sim_destroy(&a.sim);
  problem_destroy(&a.problem);
}

void row_adjoint(Bench *bench) {
  text_status("adjoint");
  for (size_t k = 0; k < sizeof cases / sizeof cases[0] && !bench_stopped(); k++)
    measure(bench, &cases[k]);
}
