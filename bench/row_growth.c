/* The cost of an implicit step per vertex from 81 x 81 to 1025 x 1025: Newton's method with
 * multigrid, which stops at an estimated error of 1e-2, at steps 6 to 13 of a fall.
 *
 * For small models the steps are also solved to rounding error, and the true error is printed. The
 * row cloth has direct factorizations, at sizes that take seconds.
 */
#include "bench.h"
#include "methods.h"
#include "problems.h"
#include "text.h"

#include <math.h>

enum { FIRST = 6, STEPS = 8 };

static const int64_t EXACT_MAX_VERTICES =
    20000; /* largest number of vertices for which steps are solved to rounding */

static const Method method = {"newton+pcg+multigrid to 1e-2",
                              "{'type': 'backward_euler', 'minimizer': {'type': 'newton', "
                              "'tolerance': 0.01, 'linear': {'type': 'pcg', 'preconditioner': "
                              "{'type': 'multigrid'}}}}"};

typedef struct Walk {
  const Problem *problem;
  HkSim *sim, *exact; /* exact: NULL for large models */
  HkState *state, *before, *solved;
  double errors[STEPS], iterations;
  HkStatus status;
  HkError *error;
} Walk;

static TurnEnd one_step(void *user, const Turn *turn) {
  Walk *w = user;
  int q = turn->round;
  text_status("%s: step %d of %d", w->problem->name, FIRST + q + 1, FIRST + STEPS);
  w->status = hk_state_copy(w->state, w->before, w->error);
  if (w->status >= 0) w->status = hk_state_copy(w->state, w->solved, w->error);
  stopwatch_start(turn->watch);
  if (w->status >= 0) w->status = hk_sim_step(w->sim, w->state, w->error);
  stopwatch_stop(turn->watch);
  if (w->status < 0) return TURN_FAILED;
  if (q < 0) return TURN_MEASURED;
  w->iterations += hk_sim_step_info(w->sim).iterations / (double)STEPS;
  w->errors[q] = NAN;
  if (!w->exact) return TURN_MEASURED;
  w->status = hk_sim_step(w->exact, w->solved, w->error);
  const double *x = hk_state_x(w->solved);
  w->errors[q] = distance_of(hk_state_x(w->state), x, NULL, w->problem->n).norm /
                 distance_of(x, hk_state_x(w->before), NULL, w->problem->n).norm;
  return w->status < 0 ? TURN_FAILED : TURN_MEASURED;
}

static HkStatus walk(Walk *w, Contestant *own, HkError *error) {
  const Problem *p = w->problem;
  HkState **states[] = {&w->state, &w->before, &w->solved};
  HkStatus status = HK_OK;
  w->sim = method_sim(p->model, &method, p->peer.h, error);
  if (p->n <= EXACT_MAX_VERTICES)
    w->exact = method_sim(p->model, &methods_reference[1], p->peer.h, error);
  if (!w->sim || (p->n <= EXACT_MAX_VERTICES && !w->exact)) return HK_ERROR_INVALID;
  for (int q = 0; q < 3 && status >= 0; q++) status = hk_state_create(p->model, states[q], error);
  if (status < 0) return status;
  w->error = error;
  *own = (Contestant){.run = one_step, .user = w};
  int rounds = bench_rounds(own, 1, FIRST, STEPS);
  return rounds == STEPS ? w->status : HK_ERROR_INVALID;
}

/* Returns seconds per vertex; NAN: it failed. */
static double measure(Bench *b, const Problem *p, double most) {
  Walk w = {.problem = p};
  Contestant own = {0};
  HkError error = {0};
  double cost = NAN;
  if (walk(&w, &own, &error) >= 0) {
    HkModelInfo info = hk_model_info(p->model);
    double gb = 1e-9 * (double)(info.bytes + info.state_bytes + hk_sim_bytes(w.sim));
    Measure m = measure_start("growth", p, method.name, NULL);
    measure_times(&m, own.seconds, STEPS, NULL, 0);
    cost = own.statistics.median / (double)p->n;
    m.goal = 0.01;
    m.wanted_ms = 1e3 * most * (double)p->n;
    m.error = median_of(w.errors, STEPS);
    snprintf(m.note, sizeof m.note, "%.2f us a vertex, %.1f iterations, %.3g GB", 1e6 * cost,
             w.iterations, gb);
    bench_add(b, &m);
  } else if (!bench_stopped()) {
    fprintf(stderr, "%s: %s\n", p->name, error.text);
  }
  rounds_release(&own, 1);
  hk_state_destroy(&w.state);
  hk_state_destroy(&w.before);
  hk_state_destroy(&w.solved);
  hk_sim_destroy(&w.sim);
  hk_sim_destroy(&w.exact);
  return cost;
}

/* The largest may cost four times as much per vertex as the smallest. */
void row_growth(Bench *b) {
  static const int sizes[] = {81, 129, 257, 513, 1025}, few[] = {21, 41};
  double first = NAN;
  for (int q = 0; q < (b->quick ? 2 : 5) && !bench_stopped(); q++) {
    Problem p;
    int size = b->quick ? few[q] : sizes[q];
    double cost = NAN;
    if (problem_make(&p, "cloth", size, PROBLEM_H))
      cost = measure(b, &p, size == 1025 ? 4 * first : NAN);
    if (q == 0) first = cost;
    problem_destroy(&p);
  }
}
