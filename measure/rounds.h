/* Measuring contestants in rounds.
 *
 *     round     -2      -1       0       1       2
 *             A B C   A B C   A B C   A B C   A B C      each letter is one turn
 *             discarded       measured
 *
 * All contestants have one turn in each round, in their order, so that whatever slows the machine
 * for a while slows all of them. Warm-up rounds are discarded: in them workspaces are allocated and
 * factorizations made. Round q of all contestants makes pairs, whose ratios are the most reliable
 * numbers.
 */
#ifndef HOOKE_MEASURE_ROUNDS_H
#define HOOKE_MEASURE_ROUNDS_H

#include "measure/statistics.h"
#include "measure/stopwatch.h"

#include <stdbool.h>

typedef enum TurnEnd {
  TURN_MEASURED, /* the time of the stopwatch counts */
  TURN_SKIPPED,  /* the contestant does not take part in this round */
  TURN_FAILED,   /* the contestant drops out; earlier rounds are kept */
} TurnEnd;

/* One turn of one contestant. */
typedef struct Turn {
  int round;        /* below 0: a warm-up round */
  int64_t repeats;  /* number of times that the work is to be done */
  Stopwatch *watch; /* the contestant starts and stops it around its work */
} Turn;

typedef struct Contestant {
  TurnEnd (*run)(void *user, const Turn *turn);
  void *user;
  int64_t repeats; /* of the work in each turn, whose time is divided by it; 0: once */

  /* Results of rounds_run: */
  double *seconds;       /* s of one repetition in round q, NAN where there is none; owned */
  int count;             /* measured rounds */
  double first;          /* s of the first turn, even if it failed; NAN: it had none */
  double spent;          /* s in all measured turns */
  bool dropped;          /* a turn has failed */
  Statistics statistics; /* of all measured rounds */
} Contestant;

typedef struct Rounds {
  int warm_up;           /* discarded rounds */
  int rounds;            /* measured rounds at most */
  double seconds;        /* s: a contestant that has spent more is done after one round at least;
                            0: after the first */
  double (*clock)(void); /* NULL: seconds_now */
  bool (*stopped)(void); /* ends before the next round, or warm-up turn; NULL: nothing stops it */
} Rounds;

/* Returns the number of measured rounds that all contestants have been through, or -1: out of
 * memory. rounds_release is due in both cases. */
int rounds_run(const Rounds *rounds, Contestant *contestants, int count);
/* Releases the seconds of contestants. */
void rounds_release(Contestant *contestants, int count);
/* Sets repeats of a contestant to the smallest power of two that takes at least so many seconds, or
 * to the limit; spent becomes the s of one repetition at the last trial. False: a turn failed or
 * was skipped. */
bool rounds_calibrate(const Rounds *rounds, Contestant *contestant, double least_seconds,
                      int64_t limit);

#endif
