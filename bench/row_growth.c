/* The cost of an implicit step per vertex from 81 x 81 to 1025 x 1025: Newton's method with
 * multigrid, which ends by itself where it takes the error for 1e-2, at steps 6 to 13 of a fall.
 *
 * For small models the steps are also solved to rounding error, and the true error is printed.
 * Direct factorization at the sizes for which it is a matter of seconds is in the row cloth.
 */
#include "bench.h"
#include "methods.h"
#include "problems.h"
#include "stats.h"
#include "text.h"

#include <math.h>

enum { FIRST = 6, STEPS = 8 };

static const int64_t EXACT_MAX_VERTICES =
    20000; /* vertices of models whose steps are solved to rounding */

static const Method method = {"newton+pcg+multigrid to 1e-2",
                              "{'type': 'backward_euler', 'minimizer': {'type': 'newton', "
                              "'tolerance': 0.01, 'linear': {'type': 'pcg', 'preconditioner': "
                              "{'type': 'multigrid'}}}}"};

typedef struct Walk {
  const Problem *problem;
  HkSim *sim, *exact; /* exact: NULL where it would take too long */
  HkState *state, *before, *solved;
  double seconds[STEPS], errors[STEPS], iterations;
} Walk;

static HkStatus one_step(Walk *w, int q, HkError *error) {
  text_status("%s: step %d of %d", w->problem->name, q + 1, FIRST + STEPS);
  HkStatus status = hk_state_copy(w->state, w->before, error);
  if (status >= 0) status = hk_state_copy(w->state, w->solved, error);
  double began = seconds_now();
  if (status >= 0) status = hk_sim_step(w->sim, w->state, error);
  if (status < 0 || q < FIRST) return status;
  w->seconds[q - FIRST] = seconds_now() - began;
  w->iterations += hk_sim_step_info(w->sim).iterations / (double)STEPS;
  w->errors[q - FIRST] = NAN;
  if (!w->exact) return status;
  status = hk_sim_step(w->exact, w->solved, error);
  const double *x = hk_state_x(w->solved);
  w->errors[q - FIRST] = stats_distance(hk_state_x(w->state), x, w->problem->n) /
                         stats_distance(x, hk_state_x(w->before), w->problem->n);
  return status;
}

static HkStatus walk(Walk *w, HkError *error) {
  const Problem *p = w->problem;
  HkState **states[] = {&w->state, &w->before, &w->solved};
  HkStatus status = HK_OK;
  w->sim = method_sim(p->model, &method, p->peer.h, error);
  if (p->n <= EXACT_MAX_VERTICES)
    w->exact = method_sim(p->model, &methods_reference[1], p->peer.h, error);
  if (!w->sim || (p->n <= EXACT_MAX_VERTICES && !w->exact)) return HK_ERROR_INVALID;
  for (int q = 0; q < 3 && status >= 0; q++) status = hk_state_create(p->model, states[q], error);
  for (int q = 0; q < FIRST + STEPS && status >= 0; q++)
    status = bench_stopped() ? HK_ERROR_INVALID : one_step(w, q, error);
  return status;
}

/* Returns seconds per vertex; NAN: it failed. */
static double measure(Bench *b, const Problem *p, double most) {
  Walk w = {.problem = p};
  HkError error = {0};
  double cost = NAN;
  if (walk(&w, &error) >= 0) {
    HkModelInfo info = hk_model_info(p->model);
    double gb = 1e-9 * (double)(info.bytes + info.state_bytes + hk_sim_bytes(w.sim));
    Measure m = measure_start("growth", p, method.name, NULL);
    measure_times(&m, w.seconds, STEPS, NULL, 0);
    cost = median_of(w.seconds, STEPS) / (double)p->n;
    m.goal = 0.01;
    m.wanted_ms = 1e3 * most * (double)p->n;
    m.error = median_of(w.errors, STEPS);
    snprintf(m.note, sizeof m.note, "%.2f us a vertex, %.1f iterations, %.3g GB", 1e6 * cost,
             w.iterations, gb);
    bench_add(b, &m);
  } else if (!bench_stopped()) {
    fprintf(stderr, "%s: %s\n", p->name, error.text);
  }
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
