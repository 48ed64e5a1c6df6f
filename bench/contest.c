/* One implicit step to a given error by all methods; see contest.h. */
#include "contest.h"

#include "text.h"

#include <math.h>
#include <stdlib.h>

enum { PASSES = 2, TRIALS = 2 };

static const double WARM_UP_FACTOR =
    10; /* limit of the first step, in multiples of ContestSettings.slowest */

static const double PEER_TYPICAL_ITERATIONS = 8; /* of the peer for a step, to plan its time */

/* ---- Contestants ----------------------------------------------------------------------------- */

static void enter_methods(Contest *c, int most) {
  if (most == 0 || most > CONTEST_MAX_METHODS) most = CONTEST_MAX_METHODS;
  for (const Method *m = methods_implicit; m->name && c->runner_count < most; m++) {
    HkError error = {0};
    HkSim *sim = method_sim(c->problem.model, m, c->problem.peer.h, &error);
    if (sim)
      c->runners[c->runner_count++] = (Runner){.contest = c, .method = m, .sim = sim};
    else
      bench_missing(c->bench, m->name, error.text);
  }
}

/* One iteration of the peer from the first state. */
typedef struct Trial {
  const Contest *contest;
  PeerNewton *peer;
} Trial;

static TurnEnd iterate_peer(void *user, const Turn *turn) {
  const Trial *t = user;
  HkState *start = t->contest->t.states[0];
  peer_newton_begin(t->peer, hk_state_x(start), hk_state_v(start));
  stopwatch_start(turn->watch);
  bool good = peer_newton_iterate(t->peer);
  stopwatch_stop(turn->watch);
  return good ? TURN_MEASURED : TURN_SKIPPED;
}

/* Returns the seconds of one iteration from the first state, the better of two; INFINITY if it
 * fails. */
static double try_peer(const Contest *c, PeerNewton *peer, PeerThreads threads) {
  Trial trial = {c, peer};
  Contestant one = {.run = iterate_peer, .user = &trial};
  peer_newton_set_threads(peer, threads);
  bench_rounds(&one, 1, 0, TRIALS);
  rounds_release(&one, 1);
  return one.count > 0 ? one.statistics.smallest : INFINITY;
}

/* Tries all uses of threads with one ordering; returns whether one is faster than the best so
 * far. */
static bool try_threads(Contest *c, PeerNewton *peer, PeerOrdering ordering, double *left) {
  bool better = false;
  for (int t = 0; peer && t<PEER_THREADS_COUNT && * left> 0; t++) {
    double seconds = try_peer(c, peer, (PeerThreads)t);
    *left -= TRIALS * seconds;
    if (!(seconds < c->peer_iteration)) continue;
    better = true;
    c->peer_iteration = seconds;
    c->peer_threads = (PeerThreads)t;
    snprintf(c->peer_name, sizeof c->peer_name, "CHOLMOD Newton, %s",
             peer_setting_name(ordering, (PeerThreads)t));
  }
  return better;
}

/* Finds the fastest setting of the peer. METIS comes first: large problems have no time for both
 * orderings. */
static void enter_peer(Contest *c, double budget) {
  const PeerOrdering orderings[] = {PEER_METIS, PEER_AMD};
  double left = budget;
  c->peer_iteration = INFINITY;
  for (int q = 0; q < 2 && left > 0 && !bench_stopped(); q++) {
    text_status("%s: CHOLMOD, ordering %d of 2", c->problem.name, q + 1);
    PeerNewton *peer = peer_newton_create(&c->problem.peer, orderings[q]);
    bool better = try_threads(c, peer, orderings[q], &left);
    peer_newton_destroy(better ? c->peer : peer);
    if (better) c->peer = peer;
  }
  double steps = budget / (PEER_TYPICAL_ITERATIONS * c->peer_iteration);
  int stride = (int)fmin(fmax(ceil(c->t.count / steps), 1), c->t.count);
  c->peer_stride = stride;
  c->curve_step = stride / 2 + (c->t.count / 2 - stride / 2) / stride * stride;
}

/* ---- Running --------------------------------------------------------------------------------- */

static void keep_better(Lap *kept, const Lap *lap, int pass) {
  if (pass == 0 || lap->total < kept->total) *kept = *lap;
}

static void run_method(Contest *c, Runner *r, int step, int pass, double slowest) {
  HkError error = {0};
  Lap lap;
  Curve *curve = NULL;
  text_status("%s: %s, step %d of %d, pass %d", c->problem.name, r->method->name, step + 1,
              c->t.count, pass + 1);
  if (pass == PASSES - 1 && step == c->curve_step)
    curve = bench_add_curve(c->bench, c->problem.name, r->method->name);
  HkStatus status = race_hooke(&c->t, step, r->sim, c->state, &lap, curve, &error);
  if (status < 0)
    fprintf(stderr, "%s: %s is left out: %s\n", c->problem.name, r->method->name, error.text);
  else if (pass == 0 && lap.total > slowest)
    fprintf(stderr, "%s: %s takes %.1f s for a step and is left out\n", c->problem.name,
            r->method->name, lap.total);
  r->retired = status < 0 || (pass == 0 && lap.total > slowest);
  keep_better(&r->laps[step], &lap, pass);
}

static void run_peer(Contest *c, int step) {
  int turn = step - c->peer_stride / 2;
  if (!c->peer || turn < 0 || turn % c->peer_stride != 0) return;
  text_status("%s: CHOLMOD, step %d of %d", c->problem.name, step + 1, c->t.count);
  peer_newton_set_threads(c->peer, c->peer_threads);
  Curve *curve =
      step == c->curve_step ? bench_add_curve(c->bench, c->problem.name, "CHOLMOD Newton") : NULL;
  race_peer(&c->t, step, c->peer, &c->peer_laps[step], curve);
  c->peer_ran[step] = true;
  if (turn / c->peer_stride % 3 != 0 || c->peer_threads == PEER_ALONE) return;
  peer_newton_set_threads(c->peer, PEER_ALONE);
  race_peer(&c->t, step, c->peer, &c->alone_laps[step], NULL);
  c->alone_ran[step] = true;
}

/* Makes one step of a method. The first step of a simulation computes data that later steps reuse:
 * it is made in a warm-up round. */
static TurnEnd method_turn(void *user, const Turn *turn) {
  Runner *r = user;
  Contest *c = r->contest;
  bool first = turn->round < 0;
  int step = first ? 0 : turn->round % c->t.count, pass = first ? 0 : turn->round / c->t.count;
  run_method(c, r, step, pass, first ? WARM_UP_FACTOR * c->slowest : c->slowest);
  return r->retired ? TURN_FAILED : TURN_MEASURED;
}

static TurnEnd peer_turn(void *user, const Turn *turn) {
  Contest *c = user;
  if (turn->round < 0 || turn->round >= c->t.count) return TURN_SKIPPED;
  run_peer(c, turn->round);
  return TURN_MEASURED;
}

/* Runs all methods at one step after the other; laps hold the times. Steps after Ctrl-C are left
 * out. */
static void run_steps(Contest *c) {
  Contestant list[CONTEST_MAX_METHODS + 1];
  int count = 0;
  for (; count < c->runner_count; count++)
    list[count] = (Contestant){.run = method_turn, .user = &c->runners[count]};
  list[count++] = (Contestant){.run = peer_turn, .user = c};
  int rounds = bench_rounds(list, count, 1, PASSES * c->t.count);
  rounds_release(list, count);
  if (rounds < c->t.count) c->t.count = rounds;
}

static TurnEnd plain_turn(void *user, const Turn *turn) {
  Contest *c = user;
  HkError error = {0};
  Lap lap;
  int step = turn->round % c->t.count, pass = turn->round / c->t.count;
  if (race_plain(&c->t, step, c->runners[0].sim, c->state, &lap, &error) < 0) return TURN_FAILED;
  keep_better(&c->plain[step], &lap, pass);
  if (step == c->t.count - 1) c->has_plain = true;
  return TURN_MEASURED;
}

/* Runs the default method alone through all steps, as in a user's run. */
static void run_plain(Contest *c) {
  Contestant plain = {.run = plain_turn, .user = c};
  if (c->runner_count == 0 || c->runners[0].retired || c->t.count == 0) return;
  bench_rounds(&plain, 1, 0, PASSES * c->t.count);
  rounds_release(&plain, 1);
}

Contest *contest_run(Bench *bench, const ContestSettings *s) {
  Contest *c = calloc(1, sizeof *c);
  if (!c) return NULL;
  c->bench = bench;
  c->slowest = s->slowest;
  int steps = s->steps < CONTEST_MAX_STEPS ? s->steps : CONTEST_MAX_STEPS;
  bool good = problem_make(&c->problem, s->kind, s->size, PROBLEM_H) &&
              trajectory_make(&c->t, &c->problem, s->first, steps) &&
              hk_state_create(c->problem.model, &c->state, NULL) >= 0;
  c->curve_step = c->t.count / 2;
  if (good && s->peer_seconds > 0) enter_peer(c, s->peer_seconds);
  if (good) enter_methods(c, s->methods);
  if (good) {
    run_steps(c);
    run_plain(c);
  }
  if (!good || c->t.count == 0) contest_destroy(&c);
  return c;
}

void contest_destroy(Contest **contest) {
  Contest *c = *contest;
  for (int q = 0; q < c->runner_count; q++) hk_sim_destroy(&c->runners[q].sim);
  peer_newton_destroy(c->peer);
  hk_state_destroy(&c->state);
  trajectory_destroy(&c->t);
  problem_destroy(&c->problem);
  free(c);
  *contest = NULL;
}
