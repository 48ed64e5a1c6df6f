/* Steps of symplectic Euler with all threads: Hooke's gather by vertices against the loop over
 * springs that scatters, in double and in single precision; and on a regular grid without indices
 * against the same by indices.
 *
 * The least traffic of the gather: at each vertex its neighbours with stiffness and rest length,
 * every spring twice; positions and velocities read and written once. */
#include "bench.h"

#include "methods.h"
#include "stats.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 9 };

static const double SHAKEN = 0.05; /* parts of a spacing by which vertices start off their places */

typedef struct Explicit {
  Problem problem;
  HkState *state;
  double *x, *v, *peer_x;
  int steps; /* in each sample */
} Explicit;

static bool prepare(Explicit *e, int size) {
  double mass = 1.0 / ((double)size * size), h = 0.05 * sqrt(mass / 1e4);
  if (!problem_make(&e->problem, "cloth", size, h)) return false;
  e->steps = (int)fmax(2, 2e7 / e->problem.peer.springs);
  e->peer_x = malloc(3 * (size_t)e->problem.n * sizeof *e->peer_x);
  return e->peer_x && problem_shake(&e->problem, SHAKEN, &e->x, &e->v) &&
         hk_state_create(e->problem.model, &e->state, NULL) >= 0;
}

static void destroy(Explicit *e) {
  hk_state_destroy(&e->state);
  problem_destroy(&e->problem);
  free(e->x);
  free(e->v);
  free(e->peer_x);
}

static void reset(Explicit *e) {
  size_t bytes = 3 * (size_t)e->problem.n * sizeof *e->x;
  memcpy(hk_state_x(e->state), e->x, bytes);
  memcpy(hk_state_v(e->state), e->v, bytes);
  hk_state_set_time(e->state, 0);
}

/* Seconds a step. */
static double run_own(const Explicit *e, HkSim *sim) {
  double began = seconds_now();
  for (int q = 0; q < e->steps; q++)
    if (hk_step(sim, e->state, NULL) < 0) return NAN;
  return (seconds_now() - began) / e->steps;
}

static double run_peer(const Explicit *e, PeerScatter *peer) {
  double began = seconds_now();
  peer_scatter_step(peer, e->steps);
  return (seconds_now() - began) / e->steps;
}

/* Furthest that a vertex is elsewhere, in spacings. */
static double difference(const Explicit *e) {
  const double *x = hk_state_x(e->state);
  double most = 0, spacing = e->problem.peer.l0[0];
  for (int64_t q = 0; q < 3 * e->problem.n; q++) most = fmax(most, fabs(x[q] - e->peer_x[q]));
  return most / spacing;
}

static double gather_bytes(const Explicit *e, double real) {
  return 2.0 * e->problem.peer.springs * (4 + 2 * real) + (double)e->problem.n * 12 * real;
}

typedef struct Case {
  const Method *methods;
  bool single;
  double wanted, wanted_share, same;
} Case;

/* First from the same start and compared, then in turns. */
static void measure(Bench *bench, Explicit *e, const Case *k, const Method *method, HkSim *sim,
                    int threads) {
  double own[SAMPLES], peer_seconds[SAMPLES];
  char name[64];
  PeerScatter *peer = peer_scatter_create(&e->problem.peer, k->single, threads);
  snprintf(name, sizeof name, "loop over springs, %s, %d thread%s", k->single ? "float" : "double",
           threads, threads == 1 ? "" : "s");
  Measure m = measure_start("explicit", &e->problem, method->name, name);
  reset(e);
  peer_scatter_set(peer, e->x, e->v);
  run_own(e, sim);
  run_peer(e, peer);
  peer_scatter_get(peer, e->peer_x);
  double off = difference(e);
  for (int q = 0; q < SAMPLES; q++) {
    own[q] = run_own(e, sim);
    peer_seconds[q] = run_peer(e, peer);
  }
  measure_times(&m, own, SAMPLES, peer_seconds, SAMPLES);
  measure_traffic(bench, &m, gather_bytes(e, k->single ? sizeof(float) : sizeof(double)));
  measure_check(&m, off, k->same);
  m.wanted = threads > 1 ? k->wanted : NAN;
  m.wanted_share = threads > 1 ? k->wanted_share : NAN;
  bench_add(bench, &m);
  peer_scatter_destroy(peer);
}

void row_explicit(Bench *bench) {
  static const Case cases[] = {{methods_double, false, 2.1, 0.85, 1e-9},
                               {methods_single, true, 3.4, 0.85, 1e-3}};
  Explicit e = {.steps = 0};
  text_status("explicit");
  if (prepare(&e, bench->quick ? 257 : 513))
    for (int q = 0; q < 2; q++)
      for (const Method *m = cases[q].methods; m->name && !bench_stopped(); m++) {
        HkError error = {0};
        HkSim *sim = method_sim(e.problem.model, m, e.problem.peer.h, &error);
        if (!sim) bench_missing(bench, m->name, error.text);
        if (sim) measure(bench, &e, &cases[q], m, sim, 1);
        if (sim) measure(bench, &e, &cases[q], m, sim, bench->threads);
        hk_sim_destroy(&sim);
      }
  destroy(&e);
}

/* ---- Regular grids --------------------------------------------------------------------------- */

static void measure_grid(Bench *bench, Explicit *e, const Method *method, HkSim *grid,
                         HkSim *indexed) {
  double own[SAMPLES], other[SAMPLES];
  Measure m = measure_start("grid", &e->problem, method->name, "Hooke by indices, single");
  reset(e);
  run_own(e, indexed);
  memcpy(e->peer_x, hk_state_x(e->state), 3 * (size_t)e->problem.n * sizeof *e->peer_x);
  reset(e);
  run_own(e, grid);
  double off = difference(e);
  for (int q = 0; q < SAMPLES; q++) {
    own[q] = run_own(e, grid);
    other[q] = run_own(e, indexed);
  }
  measure_times(&m, own, SAMPLES, other, SAMPLES);
  measure_traffic(bench, &m, (double)e->problem.n * 12 * sizeof(float));
  measure_check(&m, off, 1e-3);
  m.wanted = 3;
  bench_add(bench, &m);
}

void row_grid(Bench *bench) {
  Explicit e = {.steps = 0};
  HkError error = {0};
  text_status("grid");
  if (prepare(&e, bench->quick ? 257 : 513)) {
    HkSim *indexed = method_sim(e.problem.model, &methods_grid[0], e.problem.peer.h, &error);
    HkSim *grid = method_sim(e.problem.model, &methods_grid[1], e.problem.peer.h, &error);
    if (grid && indexed)
      measure_grid(bench, &e, &methods_grid[1], grid, indexed);
    else
      bench_missing(bench, methods_grid[1].name, error.text);
    hk_sim_destroy(&grid);
    hk_sim_destroy(&indexed);
  }
  destroy(&e);
}
