/* One iteration of the local/global method, a local step and a global one: Hooke with three
 * right-hand sides of an n x n matrix, Eigen with the 3n x 3n matrix, both from the same guess. The
 * time of a step with one iteration is subtracted, so that work besides the iterations does not
 * count. */
#include "bench.h"

#include "methods.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ITERATIONS = 20, SAMPLES = 15 };

/* Largest relative residual of Hooke's first iterate in the equations of the peer. The peer's own
 * residual may be larger: it solves for positions, not for their change, in single precision with a
 * matrix of condition 1e4 and above. */
static const double SAME = 1e-2;

typedef struct Watch {
  const Problem *problem;
  double *guess, *first; /* x at iterations 0 and 1 */
} Watch;

static bool on_iteration(void *user, const HkIteration *it) {
  const Watch *w = user;
  if (it->iteration < 2)
    memcpy(it->iteration ? w->first : w->guess, it->x, 3 * (size_t)w->problem->n * sizeof *it->x);
  return it->iteration == 0;
}

typedef struct Pair {
  Problem problem;
  HkSim *sim, *once; /* steps of 1 + ITERATIONS iterations, and of 1 */
  HkState *start, *state;
  PeerLocalGlobal *peer;
  double *guess, *first, *peer_first;
} Pair;

/* Records the guess and the first iterate. */
static bool look(Pair *p) {
  Watch w = {.problem = &p->problem, .guess = p->guess, .first = p->first};
  hk_state_copy(p->start, p->state, NULL);
  hk_sim_set_trace(p->sim, on_iteration, &w, NULL);
  HkStatus status = hk_sim_step(p->sim, p->state, NULL);
  hk_sim_set_trace(p->sim, NULL, NULL, NULL);
  return status >= 0;
}

static TurnEnd run_step(Pair *p, HkSim *sim, const Turn *turn) {
  hk_state_copy(p->start, p->state, NULL);
  stopwatch_start(turn->watch);
  HkStatus status = hk_sim_step(sim, p->state, NULL);
  stopwatch_stop(turn->watch);
  return status < 0 ? TURN_FAILED : TURN_MEASURED;
}

static TurnEnd run_whole(void *user, const Turn *turn) {
  Pair *p = user;
  return run_step(p, p->sim, turn);
}

static TurnEnd run_once(void *user, const Turn *turn) {
  Pair *p = user;
  return run_step(p, p->once, turn);
}

static bool prepare(Pair *p, const char *kind, int size) {
  HkError error = {0};
  if (!problem_make(&p->problem, kind, size, PROBLEM_H)) return false;
  p->sim = method_sim(p->problem.model, &method_local_global, PROBLEM_H, &error);
  if (p->sim) p->once = method_sim(p->problem.model, &method_local_global_once, PROBLEM_H, &error);
  HkStatus status = p->once ? hk_state_create(p->problem.model, &p->start, &error) : error.status;
  if (status >= 0) status = hk_state_create(p->problem.model, &p->state, &error);
  /* A few steps into the fall, where springs have turned. */
  for (int q = 0; q < 10 && status >= 0; q++) status = hk_sim_step(p->sim, p->start, &error);
  if (status < 0) fprintf(stderr, "%s: %s\n", p->problem.name, error.text);
  if (status < 0) return false;
  p->guess = malloc(9 * (size_t)p->problem.n * sizeof *p->guess);
  if (!p->guess) return false;
  p->first = p->guess + 3 * p->problem.n;
  p->peer_first = p->guess + 6 * p->problem.n;
  p->peer = peer_local_global_create(&p->problem.peer);
  return p->peer && look(p);
}

static TurnEnd run_peer(void *user, const Turn *turn) {
  Pair *p = user;
  peer_local_global_begin(p->peer, hk_state_x(p->start), hk_state_v(p->start), p->guess);
  peer_local_global_iterate(p->peer);
  peer_local_global_get(p->peer, p->peer_first);
  stopwatch_start(turn->watch);
  for (int64_t q = 0; q < turn->repeats; q++) peer_local_global_iterate(p->peer);
  stopwatch_stop(turn->watch);
  return TURN_MEASURED;
}

static void run(Bench *bench, const char *kind, int size, double wanted) {
  Pair p = {.sim = NULL};
  double own[SAMPLES];
  if (bench_stopped()) return;
  text_status("local_global: %s %d", kind, size);
  if (prepare(&p, kind, size)) {
    Contestant all[] = {{.run = run_whole, .user = &p},
                        {.run = run_once, .user = &p},
                        {.run = run_peer, .user = &p, .repeats = ITERATIONS}};
    int rounds = bench_rounds(all, 3, 1, SAMPLES); /* the warm-up round factorizes */
    for (int q = 0; q < rounds; q++) own[q] = (all[0].seconds[q] - all[1].seconds[q]) / ITERATIONS;
    Measure m = measure_start("local_global", &p.problem, "local_global, 1 iteration",
                              "Eigen LLT<float>, 3n");
    measure_times(&m, own, rounds, all[2].seconds, rounds);
    rounds_release(all, 3);
    measure_check(&m, peer_local_global_residual(p.peer, p.guess, p.first), SAME);
    if (!m.note[0])
      snprintf(m.note, sizeof m.note, "of the gradient; the peer leaves %.1e",
               peer_local_global_residual(p.peer, p.guess, p.peer_first));
    m.wanted = wanted;
    if (rounds > 0) bench_add(bench, &m);
  }
  peer_local_global_destroy(p.peer);
  hk_sim_destroy(&p.sim);
  hk_sim_destroy(&p.once);
  hk_state_destroy(&p.start);
  hk_state_destroy(&p.state);
  problem_destroy(&p.problem);
  free(p.guess);
}

void row_local_global(Bench *bench) {
  static const int cloths[] = {41, 81, 129, 257};
  int count = bench->quick ? 2 : 4;
  for (int q = 0; q < count; q++) run(bench, "cloth", cloths[q], 16);
  run(bench, "block", bench->quick ? 12 : 20, 35);
}
