/* Steps of symplectic Euler with all threads: Hooke's gather by vertices against the loop over
 * springs that scatters, in double and in single precision, on cloth and on the same cloth numbered
 * so that it shows no grid; and on the grid, where nothing is read by indices, against that.
 *
 * The least traffic of the gather: at each vertex its neighbors with their rest lengths, every
 * spring twice (the one stiffness of all is read once); positions and velocities read and written
 * once. On a grid only the latter. */
#include "bench.h"

#include "methods.h"
#include "stats.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 9 };

static const double START_JITTER =
    0.05; /* parts of a spacing by which vertices start off their places */

typedef struct Explicit {
  Problem problem;
  HkState *state;
  double *x, *v, *peer_x;
  int steps; /* in each sample */
} Explicit;

static bool prepare(Explicit *e, const char *kind, int size) {
  double mass = 1.0 / ((double)size * size), h = 0.05 * sqrt(mass / 1e4);
  if (!problem_make(&e->problem, kind, size, h)) return false;
  e->steps = (int)fmax(2, 2e7 / e->problem.peer.springs);
  e->peer_x = malloc(3 * (size_t)e->problem.n * sizeof *e->peer_x);
  return e->peer_x && problem_shake(&e->problem, START_JITTER, &e->x, &e->v) &&
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
  HkStatus status = hk_sim_steps(sim, e->state, e->steps, NULL);
  return status >= 0 ? (seconds_now() - began) / e->steps : NAN;
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

typedef struct Case {
  const Method *methods;
  bool single;
  double wanted, wanted_share, same;
} Case;

static double gather_bytes(const Explicit *e, const Case *k) {
  double real = k->single ? sizeof(float) : sizeof(double), springs = 0;
  if (!isnan(k->wanted_share)) springs = 2.0 * e->problem.peer.springs * (4 + real);
  return springs + (double)e->problem.n * 12 * real;
}

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
  measure_traffic(bench, &m, gather_bytes(e, k));
  measure_check(&m, off, k->same);
  m.wanted = threads > 1 ? k->wanted : NAN;
  m.wanted_share = threads > 1 ? k->wanted_share : NAN;
  bench_add(bench, &m);
  peer_scatter_destroy(peer);
}

/* wanted counts on the cloth itself, the share of the bandwidth where springs are read. */
static void measure_kind(Bench *bench, const char *kind, bool reads_springs) {
  const double share = reads_springs ? 0.85 : NAN;
  const Case cases[] = {{methods_double, false, reads_springs ? NAN : 2.1, share, 1e-9},
                        {methods_single, true, reads_springs ? NAN : 3.4, share, 1e-3}};
  Explicit e = {.steps = 0};
  if (prepare(&e, kind, bench->quick ? 257 : 513))
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

void row_explicit(Bench *bench) {
  text_status("explicit");
  measure_kind(bench, "cloth", false);
  if (!bench_stopped()) measure_kind(bench, "mixed", true);
}

/* ---- Regular grids --------------------------------------------------------------------------- */

/* mixed starts where grid does. */
static void start_alike(Explicit *grid, Explicit *mixed) {
  const int32_t *place = mixed->problem.place;
  for (int64_t q = 0; q < grid->problem.n; q++)
    for (int c = 0; c < 3; c++) {
      mixed->x[3 * place[q] + c] = grid->x[3 * q + c];
      mixed->v[3 * place[q] + c] = grid->v[3 * q + c];
    }
  reset(grid);
  reset(mixed);
}

static void take_positions(Explicit *grid, Explicit *mixed) {
  const double *x = hk_state_x(mixed->state);
  for (int64_t q = 0; q < grid->problem.n; q++)
    memcpy(grid->peer_x + 3 * q, x + 3 * (int64_t)mixed->problem.place[q], 3 * sizeof *x);
}

static void measure_grid(Bench *bench, Explicit *grid, Explicit *mixed, HkSim *own, HkSim *other) {
  double own_seconds[SAMPLES], other_seconds[SAMPLES];
  Measure m = measure_start("grid", &grid->problem, "single", "Hooke by indices (mixed)");
  start_alike(grid, mixed);
  run_own(grid, own);
  run_own(mixed, other);
  take_positions(grid, mixed);
  double off = difference(grid);
  for (int q = 0; q < SAMPLES; q++) {
    own_seconds[q] = run_own(grid, own);
    other_seconds[q] = run_own(mixed, other);
  }
  measure_times(&m, own_seconds, SAMPLES, other_seconds, SAMPLES);
  measure_traffic(bench, &m, (double)grid->problem.n * 12 * sizeof(float));
  measure_check(&m, off, 1e-3);
  m.wanted = 3;
  bench_add(bench, &m);
}

void row_grid(Bench *bench) {
  Explicit grid = {.steps = 0}, mixed = {.steps = 0};
  HkError error = {0};
  int size = bench->quick ? 257 : 513;
  text_status("grid");
  if (prepare(&grid, "cloth", size) && prepare(&mixed, "mixed", size)) {
    double h = grid.problem.peer.h;
    HkSim *own = method_sim(grid.problem.model, &methods_single[0], h, &error);
    HkSim *other = own ? method_sim(mixed.problem.model, &methods_single[0], h, &error) : NULL;
    if (other)
      measure_grid(bench, &grid, &mixed, own, other);
    else
      bench_missing(bench, methods_single[0].name, error.text);
    hk_sim_destroy(&own);
    hk_sim_destroy(&other);
  }
  destroy(&grid);
  destroy(&mixed);
}
