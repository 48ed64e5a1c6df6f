/* What the memory of this machine can do; see bandwidth.h.
 *
 * Each thread adds up and copies its own part of two arrays. The threads are started anew in each
 * round, which is nothing beside the tens of milliseconds that a round takes. Sums of whole numbers
 * may be taken in any order, so that the compiler uses its widest instructions.
 */
#include "bandwidth.h"

#include "timing.h"

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
  p->sum = sum; /* so that the loop is not left out */
  return NULL;
}

static void *copy_part(void *user) {
  Part *p = user;
  memcpy(p->to, p->from, p->count * sizeof *p->to);
  return NULL;
}

/* The pages come from the thread that uses them. */
static void *fill_part(void *user) {
  Part *p = user;
  memset(p->from, 1, p->count * sizeof *p->from);
  memset(p->to, 2, p->count * sizeof *p->to);
  return NULL;
}

/* Seconds until all parts are done; INFINITY if a thread could not be started. */
static double run(void *(*work)(void *), Part *parts, int count) {
  pthread_t threads[MAX_THREADS];
  double start = seconds_now();
  int started = 0;
  while (started < count && pthread_create(&threads[started], NULL, work, &parts[started]) == 0)
    started++;
  for (int q = 0; q < started; q++) pthread_join(threads[q], NULL);
  return started == count ? seconds_now() - start : INFINITY;
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
  double read = INFINITY, copy = INFINITY;
  if (from && to) {
    size_t each = BYTES / sizeof *from / (size_t)count;
    for (int q = 0; q < count; q++)
      parts[q] = (Part){from + (size_t)q * each, to + (size_t)q * each, each, 0};
    double filled = run(fill_part, parts, count);
    for (int q = 0; q < ROUNDS && isfinite(filled); q++) {
      read = fmin(read, run(add_part, parts, count));
      copy = fmin(copy, run(copy_part, parts, count));
    }
  }
  free(from);
  free(to);
  return (Bandwidth){isfinite(read) ? (double)BYTES / read : NAN,
                     isfinite(copy) ? 2 * (double)BYTES / copy : NAN};
}
