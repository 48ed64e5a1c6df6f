/* One implicit step to a given error, on consecutive steps of a run, by all methods of Hooke and by
 * Newton's method with CHOLMOD.
 *
 * Every method starts each step from the same reference state with its own guess. Methods keep what
 * they may keep from step to step, so they go through the steps in order, all of them and the peer
 * at one step before the next, twice; of Hooke's two times for a step the better one counts. The
 * peer runs once, with its best ordering and use of threads, at as many steps as its time allows,
 * spread over all. A step that a method ends before it reaches the goal counts with the time until
 * its end.
 */
#ifndef HOOKE_BENCH_CONTEST_H
#define HOOKE_BENCH_CONTEST_H

#include "race.h"

enum { CONTEST_MAX_METHODS = 8, CONTEST_MAX_STEPS = 64 };

struct Contest;

typedef struct Runner {
  struct Contest *contest;
  const Method *method;
  HkSim *sim;
  bool retired; /* too slow, or failed */
  Lap laps[CONTEST_MAX_STEPS];
} Runner;

typedef struct Contest {
  Bench *bench;
  Problem problem;
  Trajectory t;
  Runner runners[CONTEST_MAX_METHODS]; /* the first is Hooke's default, if it is not retired */
  int runner_count;
  Lap plain[CONTEST_MAX_STEPS]; /* the default method with its own stopping criterion, if it made
                                   all steps */
  bool has_plain;
  HkState *state;
  PeerNewton *peer; /* NULL: there is none */
  PeerThreads peer_threads;
  char peer_name[64];
  double peer_iteration; /* s */
  double slowest;        /* s: a method of Hooke that takes longer for a step retires */
  int curve_step;        /* step whose errors are plotted */
  int peer_stride; /* the peer runs at every peer_stride-th step, and alone at every third of those
                    */
  Lap peer_laps[CONTEST_MAX_STEPS], alone_laps[CONTEST_MAX_STEPS];
  bool peer_ran[CONTEST_MAX_STEPS], alone_ran[CONTEST_MAX_STEPS];
} Contest;

/* Settings of a contest. */
typedef struct ContestSettings {
  const char *kind;
  int size, first, steps;
  double peer_seconds; /* s, approximate time of the peer; 0: without the peer */
  double slowest;      /* s: a method of Hooke that takes longer for a step retires */
  int methods;         /* number of Hooke's methods; 0: all */
} ContestSettings;

/* Creates and runs a contest; returns NULL, with a line on standard error, if it fails. */
Contest *contest_run(Bench *bench, const ContestSettings *settings);
void contest_destroy(Contest **contest);

#endif
