/* Steps of symplectic Euler with all threads: Hooke's gather by vertices against the loop over
 * springs that scatters, in double and in single precision, on cloth and on the same cloth with
 * shuffled vertices; and Hooke on the grid, which needs no indices, against Hooke on the shuffled
 * cloth.
 *
 * The least traffic of the gather: neighbors and rest lengths at each vertex, every spring twice
 * (all springs share one stiffness); positions and velocities read and written once. On a grid only
 * positions and velocities. */
#include "bench.h"

#include "methods.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 9 };

static const double START_JITTER = 0.05; /* initial displacement of vertices, in spacings */

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

/* Simulation of a problem by Hooke. */
typedef struct Own {
  const Explicit *e;
  HkSim *sim;
} Own;

static TurnEnd run_own(void *user, const Turn *turn) {
  const Own *own = user;
  stopwatch_start(turn->watch);
  HkStatus status = hk_sim_steps(own->sim, own->e->state, turn->repeats, NULL);
  stopwatch_stop(turn->watch);
  return status < 0 ? TURN_FAILED : TURN_MEASURED;
}

static TurnEnd run_peer(void *user, const Turn *turn) {
  PeerScatter *peer = user;
  stopwatch_start(turn->watch);
  peer_scatter_step(peer, (int)turn->repeats);
  stopwatch_stop(turn->watch);
  return TURN_MEASURED;
}

/* Returns the largest distance of a vertex from that of the peer, in spacings. */
static double difference(const Explicit *e) {
  return distance_of(hk_state_x(e->state), e->peer_x, NULL, e->problem.n).largest /
         e->problem.peer.l0[0];
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

/* Compares the results from the same start, then measures in turns. */
static void measure(Bench *bench, Explicit *e, const Case *k, const Method *method, HkSim *sim,
                    int threads) {
  char name[64];
  PeerScatter *peer = peer_scatter_create(&e->problem.peer, k->single, threads);
  snprintf(name, sizeof name, "loop over springs, %s, %d thread%s", k->single ? "float" : "double",
           threads, threads == 1 ? "" : "s");
  Measure m = measure_start("explicit", &e->problem, method->name, name);
  reset(e);
  peer_scatter_set(peer, e->x, e->v);
  Own own = {e, sim};
  Contestant both[] = {{.run = run_own, .user = &own, .repeats = e->steps},
                       {.run = run_peer, .user = peer, .repeats = e->steps}};
  bench_rounds(both, 2, 1, 0);
  peer_scatter_get(peer, e->peer_x);
  double off = difference(e);
  rounds_release(both, 2);
  int rounds = bench_rounds(both, 2, 0, SAMPLES);
  measure_times(&m, both[0].seconds, rounds, both[1].seconds, rounds);
  rounds_release(both, 2);
  measure_traffic(bench, &m, gather_bytes(e, k));
  measure_check(&m, off, k->same);
  m.wanted = threads > 1 ? k->wanted : NAN;
  m.wanted_share = threads > 1 ? k->wanted_share : NAN;
  if (rounds > 0) bench_add(bench, &m);
  peer_scatter_destroy(peer);
}

/* The required ratio holds for the cloth, the share of the bandwidth if springs are read from
 * memory. */
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

/* Gives mixed the initial state of grid. */
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

static void copy_positions(Explicit *grid, Explicit *mixed) {
  const double *x = hk_state_x(mixed->state);
  for (int64_t q = 0; q < grid->problem.n; q++)
    memcpy(grid->peer_x + 3 * q, x + 3 * (int64_t)mixed->problem.place[q], 3 * sizeof *x);
}

static void measure_grid(Bench *bench, Explicit *grid, Explicit *mixed, HkSim *own, HkSim *other) {
  Measure m = measure_start("grid", &grid->problem, "single", "Hooke by indices (mixed)");
  start_alike(grid, mixed);
  Own users[] = {{grid, own}, {mixed, other}};
  Contestant both[] = {{.run = run_own, .user = &users[0], .repeats = grid->steps},
                       {.run = run_own, .user = &users[1], .repeats = mixed->steps}};
  bench_rounds(both, 2, 1, 0);
  copy_positions(grid, mixed);
  double off = difference(grid);
  rounds_release(both, 2);
  int rounds = bench_rounds(both, 2, 0, SAMPLES);
  measure_times(&m, both[0].seconds, rounds, both[1].seconds, rounds);
  rounds_release(both, 2);
  measure_traffic(bench, &m, (double)grid->problem.n * 12 * sizeof(float));
  measure_check(&m, off, 1e-3);
  m.wanted = 3;
  if (rounds > 0) bench_add(bench, &m);
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
