/* One step of linearly implicit Euler in motion: Hooke's methods against the one that courses
 * teach. Both leave out the negative geometric stiffness of compressed springs. The step starts
 * from cloth that has fallen for STEPS_BEFORE steps: from flat rest it would take a third of the
 * iterations.
 */
#include "bench.h"

#include "methods.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 5, STEPS_BEFORE = 30 };

static const double SAME =
    1e-2; /* largest difference of two results, relative to the motion of the step */

typedef struct Course {
  Problem problem;
  HkState *start, *state;
  PeerCourse *peer;
  HkSim *sim; /* of the method that is measured */
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

static TurnEnd run_peer(void *user, const Turn *turn) {
  Course *c = user;
  if (turn->round < 0) return TURN_SKIPPED; /* the peer reuses nothing from step to step */
  size_t bytes = 3 * (size_t)c->problem.n * sizeof *c->x;
  memcpy(c->x, hk_state_x(c->start), bytes);
  memcpy(c->v, hk_state_v(c->start), bytes);
  stopwatch_start(turn->watch);
  bool good = peer_course_step(c->peer, c->x, c->v);
  stopwatch_stop(turn->watch);
  return good ? TURN_MEASURED : TURN_FAILED;
}

static TurnEnd run_own(void *user, const Turn *turn) {
  Course *c = user;
  hk_state_copy(c->start, c->state, NULL);
  stopwatch_start(turn->watch);
  HkStatus status = hk_sim_step(c->sim, c->state, NULL);
  stopwatch_stop(turn->watch);
  return status < 0 ? TURN_FAILED : TURN_MEASURED;
}

static void measure(Bench *bench, Course *c, const Method *method) {
  HkError error = {0};
  HkSim *sim = method_sim(c->problem.model, method, PROBLEM_H, &error);
  if (!sim) {
    bench_missing(bench, method->name, error.text);
    return;
  }
  c->sim = sim;
  Contestant both[] = {{.run = run_own, .user = c}, {.run = run_peer, .user = c}};
  int rounds = bench_rounds(both, 2, 1, SAMPLES);
  const double *x = hk_state_x(c->state), *before = hk_state_x(c->start);
  Measure m = measure_start("linear_implicit", &c->problem, method->name, "Eigen SimplicialLDLT");
  measure_times(&m, both[0].seconds, rounds, both[1].seconds, rounds);
  rounds_release(both, 2);
  measure_check(&m,
                distance_of(x, c->x, NULL, c->problem.n).norm /
                    distance_of(c->x, before, NULL, c->problem.n).norm,
                SAME);
  m.wanted = 100;
  if (rounds > 0) bench_add(bench, &m);
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
