/* Times of Hooke and its peer until they are near the solution; see race.h. */
#include "race.h"

#include <math.h>

const double race_goals[RACE_GOALS] = {1e-2, 1e-3};

enum { PEER_ITERATIONS = 100 };

static void lap_start(Lap *lap) {
  *lap = (Lap){.error = NAN};
  for (int g = 0; g < RACE_GOALS; g++) lap->seconds[g] = NAN;
}

/* Records the error after a time in s. */
static void lap_point(Lap *lap, double seconds, double error, Curve *curve) {
  lap->total = seconds;
  lap->error = error;
  for (int g = 0; g < RACE_GOALS; g++) {
    if (lap->hit[g]) continue;
    lap->seconds[g] = seconds;
    lap->hit[g] = error <= race_goals[g];
  }
  if (!curve || curve->count == BENCH_MAX_POINTS) return;
  curve->ms[curve->count] = 1e3 * seconds;
  curve->error[curve->count++] = error;
}

static bool is_over(const Lap *lap) {
  return lap->hit[RACE_GOALS - 1] || !isfinite(lap->error);
}

/* ---- Hooke ---- */

typedef struct Watch {
  const Trajectory *t;
  int q;
  Lap *lap;
  Curve *curve;
  double began, before; /* s: start of the step; time before the first iteration */
} Watch;

/* The time before the minimizer includes one evaluation of the energy for this very call. */
static bool on_iteration(void *user, const HkIteration *it) {
  Watch *w = user;
  if (it->iteration == 0) w->before = seconds_now() - w->began - it->seconds;
  lap_point(w->lap, w->before + it->seconds, trajectory_error(w->t, w->q, it->x), w->curve);
  return !is_over(w->lap);
}

HkStatus race_hooke(const Trajectory *t, int q, HkSim *sim, HkState *state, Lap *lap, Curve *curve,
                    HkError *error) {
  Watch w = {.t = t, .q = q, .lap = lap, .curve = curve};
  lap_start(lap);
  HkStatus status = hk_state_copy(t->states[q], state, error);
  if (status >= 0) status = hk_sim_set_trace(sim, on_iteration, &w, error);
  w.began = seconds_now();
  if (status >= 0) status = hk_sim_step(sim, state, error);
  hk_sim_set_trace(sim, NULL, NULL, NULL);
  return status;
}

HkStatus race_plain(const Trajectory *t, int q, HkSim *sim, HkState *state, Lap *lap,
                    HkError *error) {
  lap_start(lap);
  HkStatus status = hk_state_copy(t->states[q], state, error);
  double began = seconds_now();
  if (status >= 0) status = hk_sim_step(sim, state, error);
  double seconds = seconds_now() - began;
  if (status >= 0) lap_point(lap, seconds, trajectory_error(t, q, hk_state_x(state)), NULL);
  return status;
}

/* ---- The peer ---- */

void race_peer(const Trajectory *t, int q, PeerNewton *peer, Lap *lap, Curve *curve) {
  HkState *start = t->states[q];
  double seconds = 0, began = seconds_now();
  bool goes_on = true;
  lap_start(lap);
  peer_newton_begin(peer, hk_state_x(start), hk_state_v(start));
  for (int k = 0; k < PEER_ITERATIONS && goes_on; k++) {
    seconds += seconds_now() - began;
    lap_point(lap, seconds, trajectory_error(t, q, peer_newton_x(peer)), curve);
    if (is_over(lap) || peer_newton_gradient(peer) < 1e-10) break;
    began = seconds_now();
    goes_on = peer_newton_iterate(peer);
  }
}
