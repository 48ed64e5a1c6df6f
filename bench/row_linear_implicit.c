/* One step of linearly implicit Euler in motion: Hooke's methods against the one that courses
 * teach. Both count springs under pressure as slack across their length. The step starts from cloth
 * that has fallen for STEPS_BEFORE steps: from flat rest it would take a third of the iterations.
 */
#include "bench.h"

#include "methods.h"
#include "stats.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 5, STEPS_BEFORE = 30 };

static const double SAME = 1e-2; /* of two results, in parts of what the step moved */

typedef struct Course {
  Problem problem;
  HkState *start, *state;
  PeerCourse *peer;
  double *x, *v;
} Course;

/* Lets the cloth fall from its flat rest. */
static bool fall(Course *c) {
  HkError error = {0};
  HkSim *sim = method_sim(c->problem.model, &methods_linear_implicit[0], PROBLEM_H, &error);
  bool good = sim && hk_sim_steps(sim, c->start, STEPS_BEFORE, &error) >= 0;
  hk_sim_destroy(&sim);
  return good;
}

static bool prepare(Course *c, int size) {
  if (!problem_make(&c->problem, "cloth", size, PROBLEM_H)) return false;
  c->x = malloc(6 * (size_t)c->problem.n * sizeof *c->x);
  c->v = c->x ? c->x + 3 * c->problem.n : NULL;
  c->peer = peer_course_create(&c->problem.peer);
  return c->x && c->peer && hk_state_create(c->problem.model, &c->start, NULL) >= 0 &&
         hk_state_create(c->problem.model, &c->state, NULL) >= 0 && fall(c);
}

static double run_peer(Course *c) {
  size_t bytes = 3 * (size_t)c->problem.n * sizeof *c->x;
  memcpy(c->x, hk_state_x(c->start), bytes);
  memcpy(c->v, hk_state_v(c->start), bytes);
  double began = seconds_now();
  return peer_course_step(c->peer, c->x, c->v) ? seconds_now() - began : NAN;
}

static double run_own(Course *c, HkSim *sim) {
  hk_state_copy(c->start, c->state, NULL);
  double began = seconds_now();
  return hk_sim_step(sim, c->state, NULL) >= 0 ? seconds_now() - began : NAN;
}

static void measure(Bench *bench, Course *c, const Method *method) {
  HkError error = {0};
  double own[SAMPLES], peer[SAMPLES];
  HkSim *sim = method_sim(c->problem.model, method, PROBLEM_H, &error);
  if (!sim) {
    bench_missing(bench, method->name, error.text);
    return;
  }
  run_own(c, sim); /* makes what is kept for all steps */
  for (int q = 0; q < SAMPLES; q++) {
    own[q] = run_own(c, sim);
    peer[q] = run_peer(c);
  }
  const double *x = hk_state_x(c->state), *before = hk_state_x(c->start);
  Measure m = measure_start("linear_implicit", &c->problem, method->name, "Eigen SimplicialLDLT");
  measure_times(&m, own, SAMPLES, peer, SAMPLES);
  measure_check(
      &m, stats_distance(x, c->x, c->problem.n) / stats_distance(c->x, before, c->problem.n), SAME);
  m.wanted = 100;
  bench_add(bench, &m);
  hk_sim_destroy(&sim);
}

void row_linear_implicit(Bench *bench) {
  Course c = {.peer = NULL};
  text_status("linear_implicit");
  if (prepare(&c, bench->quick ? 41 : 81))
    for (const Method *m = methods_linear_implicit; m->name && !bench_stopped(); m++)
      measure(bench, &c, m);
  peer_course_destroy(c.peer);
  hk_state_destroy(&c.start);
  hk_state_destroy(&c.state);
  problem_destroy(&c.problem);
  free(c.x);
}
