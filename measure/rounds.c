/* Measuring contestants in rounds; see rounds.h. */
#include "measure/rounds.h"

#include <math.h>
#include <stdlib.h>

static bool is_stopped(const Rounds *r) {
  return r->stopped && r->stopped();
}

/* Gives a contestant one turn; *seconds becomes the time of one repetition. */
static TurnEnd give_turn(const Rounds *r, const Contestant *c, int round, double *seconds) {
  Stopwatch watch = {.clock = r->clock};
  int64_t repeats = c->repeats > 0 ? c->repeats : 1;
  Turn turn = {.round = round, .repeats = repeats, .watch = &watch};
  TurnEnd end = c->run(c->user, &turn);
  *seconds = watch.seconds / (double)repeats;
  return end;
}

static void take_turn(const Rounds *r, Contestant *c, int round) {
  double seconds = NAN;
  if (c->dropped) return;
  if (c->count > 0 && c->spent > r->seconds) return;
  TurnEnd end = give_turn(r, c, round, &seconds);
  c->dropped = end == TURN_FAILED;
  if (isnan(c->first) && end != TURN_SKIPPED) c->first = seconds;
  if (end != TURN_MEASURED || round < 0) return;
  c->seconds[round] = seconds;
  c->spent += seconds * (double)(c->repeats > 0 ? c->repeats : 1);
  c->count++;
}

static bool is_over(const Rounds *r, const Contestant *list, int count) {
  for (int q = 0; q < count; q++)
    if (!list[q].dropped && !(list[q].count > 0 && list[q].spent > r->seconds)) return false;
  return true;
}

static bool prepare(const Rounds *r, Contestant *list, int count) {
  bool good = true;
  for (int q = 0; q < count; q++) {
    Contestant *c = &list[q];
    c->seconds = malloc(((size_t)r->rounds + 1) * sizeof *c->seconds);
    for (int k = 0; c->seconds && k < r->rounds; k++) c->seconds[k] = NAN;
    c->count = 0;
    c->spent = 0;
    c->first = NAN;
    c->dropped = false;
    good = good && c->seconds;
  }
  return good;
}

/* Rounds without a time are left out. */
static Statistics measured(const Contestant *c, int rounds) {
  double *there = malloc(((size_t)rounds + 1) * sizeof *there);
  int count = 0;
  for (int q = 0; there && q < rounds; q++)
    if (!isnan(c->seconds[q])) there[count++] = c->seconds[q];
  Statistics s = statistics_of(there, count);
  free(there);
  return s;
}

int rounds_run(const Rounds *r, Contestant *list, int count) {
  int round = -r->warm_up;
  if (!prepare(r, list, count)) return -1;
  for (; round < 0; round++)
    for (int q = 0; q < count && !is_stopped(r); q++) take_turn(r, &list[q], round);
  for (; round < r->rounds && !is_stopped(r) && !is_over(r, list, count); round++)
    for (int q = 0; q < count; q++) take_turn(r, &list[q], round);
  for (int q = 0; q < count; q++) list[q].statistics = measured(&list[q], r->rounds);
  return round;
}

void rounds_release(Contestant *list, int count) {
  for (int q = 0; q < count; q++) {
    free(list[q].seconds);
    list[q].seconds = NULL;
  }
}

bool rounds_calibrate(const Rounds *r, Contestant *c, double least_seconds, int64_t limit) {
  for (c->repeats = 1;; c->repeats *= 2) {
    if (give_turn(r, c, -1, &c->spent) != TURN_MEASURED) return false;
    if (c->spent * (double)c->repeats >= least_seconds || c->repeats >= limit) return true;
  }
}
