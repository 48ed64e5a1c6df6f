/* Measures the time until Hooke and its peer are near the solution of one step of a trajectory. */
#ifndef HOOKE_BENCH_RACE_H
#define HOOKE_BENCH_RACE_H

#include "bench.h"
#include "methods.h"
#include "trajectory.h"

enum { RACE_GOALS = 2 };
extern const double race_goals[RACE_GOALS]; /* 1e-2, 1e-3 */

/* One step by one method. */
typedef struct Lap {
  double seconds[RACE_GOALS]; /* until the error was first at most the goal, or until the end */
  bool hit[RACE_GOALS];       /* whether the goal was reached */
  double total, error;        /* s and error at the end */
} Lap;

/* Runs Hooke from the start of step q with a callback for each iteration; ends at the smallest
 * goal. state is a scratch state of the model; curve may be NULL. */
HkStatus race_hooke(const Trajectory *t, int q, HkSim *sim, HkState *state, Lap *lap, Curve *curve,
                    HkError *error);
/* Runs a plain step of Hooke, with its own stopping criterion. */
HkStatus race_plain(const Trajectory *t, int q, HkSim *sim, HkState *state, Lap *lap,
                    HkError *error);
void race_peer(const Trajectory *t, int q, PeerNewton *peer, Lap *lap, Curve *curve);

#endif
