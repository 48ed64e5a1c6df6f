/* Memory bandwidth of this machine; see bandwidth.h.
 *
 * Each thread adds up and copies its own part of two arrays. The threads are started again in each
 * round, which costs little compared to the tens of milliseconds of a round. Sums of integers may
 * be reordered, so that the compiler uses its widest vector instructions.
 */
#include "bandwidth.h"

#include "measure/rounds.h"

#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_THREADS = 256, ROUNDS = 7 };

static const size_t BYTES = (size_t)256 << 20; /* of each array */

typedef struct Part {
  uint64_t *from, *to;
  size_t count;
  uint64_t sum;
} Part;

static void *add_part(void *user) {
  Part *p = user;
  uint64_t sum = 0;
  for (size_t q = 0; q < p->count; q++) sum += p->from[q];
  p->sum = sum; /* so that the compiler keeps the loop */
  return NULL;
}

static void *copy_part(void *user) {
  Part *p = user;
  memcpy(p->to, p->from, p->count * sizeof *p->to);
  return NULL;
}

/* Each thread touches its own pages first, so that they are in its memory. */
static void *fill_part(void *user) {
  Part *p = user;
  memset(p->from, 1, p->count * sizeof *p->from);
  memset(p->to, 2, p->count * sizeof *p->to);
  return NULL;
}

/* A function that is called for all parts concurrently, by one thread each. */
typedef struct Job {
  void *(*work)(void *);
  Part *parts;
  int count;
} Job;

/* Runs a job; fails if a thread cannot be started. */
static TurnEnd run(void *user, const Turn *turn) {
  const Job *job = user;
  pthread_t threads[MAX_THREADS];
  int started = 0;
  stopwatch_start(turn->watch);
  while (started < job->count &&
         pthread_create(&threads[started], NULL, job->work, &job->parts[started]) == 0)
    started++;
  for (int q = 0; q < started; q++) pthread_join(threads[q], NULL);
  stopwatch_stop(turn->watch);
  return started == job->count ? TURN_MEASURED : TURN_FAILED;
}

static int pick_threads(int threads) {
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  if (threads <= 0) threads = cores > 0 ? (int)cores : 1;
  return threads < MAX_THREADS ? threads : MAX_THREADS;
}

Bandwidth bandwidth_measure(int threads) {
  Part parts[MAX_THREADS];
  uint64_t *from = malloc(BYTES), *to = malloc(BYTES);
  int count = pick_threads(threads);
  double read = NAN, copy = NAN; /* s of the best round */
  if (from && to) {
    size_t each = BYTES / sizeof *from / (size_t)count;
    for (int q = 0; q < count; q++)
      parts[q] = (Part){from + (size_t)q * each, to + (size_t)q * each, each, 0};
    Job jobs[] = {{fill_part, parts, count}, {add_part, parts, count}, {copy_part, parts, count}};
    Contestant fill = {.run = run, .user = &jobs[0]};
    Contestant both[] = {{.run = run, .user = &jobs[1]}, {.run = run, .user = &jobs[2]}};
    const Rounds once = {.rounds = 1}, rounds = {.rounds = ROUNDS, .seconds = INFINITY};
    if (rounds_run(&once, &fill, 1) == 1 && !fill.dropped && rounds_run(&rounds, both, 2) > 0) {
      read = both[0].dropped ? NAN : both[0].statistics.smallest;
      copy = both[1].dropped ? NAN : both[1].statistics.smallest;
    }
    rounds_release(&fill, 1);
    rounds_release(both, 2);
  }
  free(from);
  free(to);
  return (Bandwidth){(double)BYTES / read, 2 * (double)BYTES / copy};
}
