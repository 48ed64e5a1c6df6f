/* The prefactored solve: M + h^2 L factorized once, three right-hand sides, Hooke's own packed form
 * against cholmod_solve2 with its best ordering and use of threads. The traffic is that of the
 * factor, read once forwards and once backwards. */
#include "bench.h"

#include "linear/prefactor.h"
#include "random.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 15, TRIALS = 3 };

/* Largest relative difference of two solutions, in single precision with a matrix of condition 1e4.
 */
static const double SAME = 1e-3;

typedef struct Solve {
  Problem problem;
  HkHeld held;
  HkPrefactor *own;
  PeerFactor *peer;
  char peer_name[64];
  double *b, *own_z, *peer_z;
} Solve;

static TurnEnd run_own(void *user, const Turn *turn) {
  Solve *s = user;
  stopwatch_start(turn->watch);
  hk_prefactor_solve(s->own, 1, s->b, s->own_z, NULL);
  stopwatch_stop(turn->watch);
  return TURN_MEASURED;
}

static TurnEnd run_peer(void *user, const Turn *turn) {
  PeerFactor *peer = user;
  stopwatch_start(turn->watch);
  peer_factor_solve(peer);
  stopwatch_stop(turn->watch);
  return TURN_MEASURED;
}

/* Returns the seconds of the best of some solves. */
static double try_peer(PeerFactor *peer, PeerThreads threads) {
  Contestant solve = {.run = run_peer, .user = peer};
  peer_factor_set_threads(peer, threads);
  bench_rounds(&solve, 1, 0, TRIALS);
  rounds_release(&solve, 1);
  return solve.statistics.smallest;
}

/* Finds the fastest setting of the peer, each by the best of three solves. */
static void enter_peer(Solve *s) {
  double best = INFINITY;
  PeerThreads best_threads = PEER_ALONE;
  for (int o = 0; o < PEER_ORDERING_COUNT; o++) {
    PeerFactor *peer = peer_factor_create(&s->problem.peer, (PeerOrdering)o);
    bool better = false;
    if (peer) peer_factor_set(peer, s->b);
    for (int t = 0; peer && t < PEER_THREADS_COUNT; t++) {
      double seconds = try_peer(peer, (PeerThreads)t);
      if (!(seconds < best)) continue;
      best = seconds;
      best_threads = (PeerThreads)t;
      better = true;
      snprintf(s->peer_name, sizeof s->peer_name, "cholmod_solve2, %s",
               peer_setting_name((PeerOrdering)o, best_threads));
    }
    peer_factor_destroy(better ? s->peer : peer);
    if (better) s->peer = peer;
  }
  if (s->peer) peer_factor_set_threads(s->peer, best_threads);
}

static bool prepare(Solve *s, const char *kind, int size) {
  HkError error = {0};
  uint64_t seed = 3;
  if (!problem_make(&s->problem, kind, size, PROBLEM_H)) return false;
  int64_t n = s->problem.n;
  s->held = (HkHeld){.mask = s->problem.pinned, .version = 1};
  s->b = malloc(9 * (size_t)n * sizeof *s->b);
  if (!s->b) return false;
  /* One after the other: kernels load and store four doubles at the last vertex of the first two.
   */
  s->own_z = s->b + 3 * n;
  s->peer_z = s->b + 6 * n;
  for (int64_t q = 0; q < 3 * n; q++)
    s->b[q] = s->problem.pinned[q / 3] ? 0 : random_number(&seed) - 0.5;
  HkStatus status =
      hk_prefactor_create(s->problem.model, &s->problem.model->springs, hk_factor_default(),
                          HK_PRECISION_AUTO, &s->held, &s->own, &error);
  if (status >= 0) status = hk_prefactor_update(s->own, PROBLEM_H, NULL, &error);
  if (status < 0) fprintf(stderr, "%s: %s\n", s->problem.name, error.text);
  if (status >= 0) enter_peer(s);
  return status >= 0 && s->peer;
}

static void measure(Bench *bench, Solve *s, double wanted_share) {
  double *zero = calloc(3 * (size_t)s->problem.n, sizeof *zero);
  if (!zero) return;
  Contestant both[] = {{.run = run_own, .user = s}, {.run = run_peer, .user = s->peer}};
  int rounds = bench_rounds(both, 2, 1, SAMPLES);
  peer_factor_get(s->peer, s->peer_z);
  double off = distance_of(s->own_z, s->peer_z, NULL, s->problem.n).norm /
               distance_of(s->peer_z, zero, NULL, s->problem.n).norm;
  free(zero);
  Measure m = measure_start(
      "solve", &s->problem,
      hk_prefactor_is_single(s->own) ? "prefactor, single" : "prefactor, double", s->peer_name);
  measure_times(&m, both[0].seconds, rounds, both[1].seconds, rounds);
  rounds_release(both, 2);
  double bytes = (double)hk_prefactor_traffic(s->own);
  measure_traffic(bench, &m, bytes > 0 ? bytes : 2 * sizeof(double) * peer_factor_entries(s->peer));
  m.wanted = 5;
  m.wanted_share = wanted_share;
  measure_check(&m, off, SAME);
  if (rounds > 0) bench_add(bench, &m);
}

static void run(Bench *bench, const char *kind, int size, double wanted_share) {
  Solve s = {.own = NULL};
  if (bench_stopped()) return;
  text_status("solve: %s %d", kind, size);
  if (prepare(&s, kind, size)) measure(bench, &s, wanted_share);
  hk_prefactor_destroy(&s.own);
  peer_factor_destroy(s.peer);
  free(s.b);
  problem_destroy(&s.problem);
}

void row_solve(Bench *bench) {
  static const int cloths[] = {81, 129, 257, 513, 1025}, blocks[] = {20, 40, 60};
  int cloth_count = bench->quick ? 1 : 5, block_count = bench->quick ? 1 : 3;
  for (int q = 0; q < cloth_count; q++) run(bench, "cloth", cloths[q], cloths[q] > 500 ? 0.6 : NAN);
  for (int q = 0; q < block_count; q++) run(bench, "block", blocks[q], NAN);
}
