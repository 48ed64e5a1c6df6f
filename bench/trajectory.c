/* Some steps of a run, each solved to rounding; see trajectory.h. */
#include "trajectory.h"

#include "bench.h"
#include "methods.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>

/* Factors of larger models take seconds, and there is one for each iteration. */
static const int64_t DIRECT_SOLVER_MAX_VERTICES = 8000;

/* m, mean motion of a vertex in a step below which the system is at rest. */
static const double REST = 1e-8;

static HkSim *reference_sim(const Problem *p, HkError *error) {
  HkSim *sim = NULL;
  int first = p->n > DIRECT_SOLVER_MAX_VERTICES ? 1 : 0;
  for (const Method *m = &methods_reference[first]; m->name && !sim; m++)
    sim = method_sim(p->model, m, p->peer.h, error);
  return sim;
}

static bool is_at_rest(const Trajectory *t, int q) {
  int64_t n = hk_state_vertex_count(t->states[q]);
  double moved = distance_of(hk_state_x(t->states[q + 1]), hk_state_x(t->states[q]), NULL, n).norm;
  return moved < REST * sqrt((double)n);
}

static HkStatus follow(Trajectory *t, HkSim *sim, const Problem *p, int first, int count,
                       HkError *error) {
  HkState *start = NULL;
  HkStatus status = hk_state_create(p->model, &start, error);
  for (int q = 0; q < first && status >= 0 && !bench_stopped(); q++) {
    text_status("%s: step %d before the first", p->name, q + 1);
    status = hk_sim_step(sim, start, error);
  }
  if (status >= 0) t->states[0] = start;
  for (int q = 0; q < count && status >= 0 && !bench_stopped(); q++) {
    text_status("%s: solution of step %d of %d", p->name, q + 1, count);
    status = hk_state_create(p->model, &t->states[q + 1], error);
    if (status >= 0) status = hk_state_copy(t->states[q], t->states[q + 1], error);
    if (status >= 0) status = hk_sim_step(sim, t->states[q + 1], error);
    if (status < 0 || is_at_rest(t, q)) break;
    t->gradient = fmax(t->gradient, hk_sim_step_info(sim).gradient);
    t->count = q + 1;
  }
  if (status < 0 && !t->states[0]) hk_state_destroy(&start);
  return status;
}

bool trajectory_make(Trajectory *t, const Problem *p, int first, int count) {
  HkError error = {0};
  *t = (Trajectory){.states = calloc((size_t)count + 1, sizeof(HkState *)), .capacity = count};
  HkSim *sim = t->states ? reference_sim(p, &error) : NULL;
  HkStatus status = sim ? follow(t, sim, p, first, count, &error) : HK_ERROR_INVALID;
  hk_sim_destroy(&sim);
  if (status < 0) fprintf(stderr, "%s: no solution to compare with: %s\n", p->name, error.text);
  return status >= 0 && t->count > 0;
}

void trajectory_destroy(Trajectory *t) {
  for (int q = 0; t->states && q <= t->capacity; q++) hk_state_destroy(&t->states[q]);
  free(t->states);
  t->states = NULL;
}

double trajectory_error(const Trajectory *t, int q, const double *x) {
  int64_t n = hk_state_vertex_count(t->states[q]);
  const double *exact = hk_state_x(t->states[q + 1]);
  return distance_of(x, exact, NULL, n).norm /
         distance_of(exact, hk_state_x(t->states[q]), NULL, n).norm;
}
