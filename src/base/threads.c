/* Loops over all cores; see threads.h. */
#include "base/threads.h"

#include <math.h>
#include <stdbool.h>

#ifdef _OPENMP
#include <omp.h>
#include <time.h>
#endif
#ifdef HK_WITH_CHOLMOD
#include <dlfcn.h>
#include <string.h>
#endif

int hk_thread_count(void) {
#ifdef _OPENMP
  return omp_get_num_procs();
#else
  return 1;
#endif
}

/* ---- Pieces of work, each done once ---- */

typedef void PieceFn(void *user, int64_t piece);

/* A machine that is busy otherwise takes a core away now and then, and whoever waits for the thread
 * there waits for milliseconds, in each of thousands of short loops. After such a wait the next
 * loops of this thread run alone, twice as many each time, until waits are short again. Results do
 * not depend on it. */
typedef struct Patience {
  int64_t alone, last; /* loops that are still to run alone; how many they were */
} Patience;

#ifdef _OPENMP
static _Thread_local Patience patience;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool is_alone(void) {
  if (patience.alone == 0) return false;
  patience.alone--;
  return true;
}

/* work and wait: seconds of the calling thread in its own share of a loop, and for the others. */
static void learn(double work, double wait) {
  const double LONG = 2e-4;
  enum { FIRST = 32, MOST = 4096 };
  if (wait < LONG || wait < 2 * work) {
    patience.last /= 2;
    return;
  }
  patience.last = patience.last < FIRST ? FIRST : 2 * patience.last;
  if (patience.last > MOST) patience.last = MOST;
  patience.alone = patience.last;
}

/* Neighbouring pieces on one thread, or each as threads come free. */
static void share(int threads, int64_t count, PieceFn *fn, void *user, bool as_they_come) {
  double times[2] = {now(), 0}; /* when it began, when its own share was done */
  int64_t next = 0;
#pragma omp parallel num_threads(threads)
  {
    if (as_they_come) {
      for (;;) {
        int64_t piece;
#pragma omp atomic capture
        piece = next++;
        if (piece >= count) break;
        fn(user, piece);
      }
    } else {
#pragma omp for schedule(static) nowait
      for (int64_t piece = 0; piece < count; piece++) fn(user, piece);
    }
#pragma omp master
    times[1] = now();
  }
  learn(times[1] - times[0], now() - times[1]);
}
#endif

static void run(int threads, int64_t count, PieceFn *fn, void *user, bool as_they_come) {
#ifdef _OPENMP
  if (threads > 1 && count > 1 && !is_alone()) {
    share(threads, count, fn, user, as_they_come);
    return;
  }
#endif
  (void)threads; /* unused without OpenMP */
  (void)as_they_come;
  for (int64_t piece = 0; piece < count; piece++) fn(user, piece);
}

/* ---- Loops and sums ---- */

typedef struct Loop {
  int64_t count, grain; /* entries in all and in a piece */
  HkRangeFn *range;
  HkSumFn *sum;
  HkTaskFn *task;
  void *user;
  double *partial;
} Loop;

static inline int64_t pieces_of(int64_t count, int64_t grain) {
  return (count + grain - 1) / grain;
}

static inline int64_t end_of(const Loop *loop, int64_t piece) {
  int64_t end = (piece + 1) * loop->grain;
  return end < loop->count ? end : loop->count;
}

static void do_range(void *user, int64_t piece) {
  const Loop *l = user;
  l->range(l->user, piece * l->grain, end_of(l, piece));
}

static void do_sum(void *user, int64_t piece) {
  const Loop *l = user;
  l->partial[piece] = l->sum(l->user, piece * l->grain, end_of(l, piece));
}

static void do_task(void *user, int64_t piece) {
  const Loop *l = user;
  l->task(l->user, (int)piece);
}

void hk_parallel_work(int threads, int64_t count, int64_t grain, HkRangeFn *fn, void *user) {
  Loop loop = {.count = count, .grain = grain, .range = fn, .user = user};
  if (threads > 1)
    run(threads, pieces_of(count, grain), do_range, &loop, false);
  else if (count > 0)
    fn(user, 0, count);
}

void hk_parallel_for(int threads, int64_t count, HkRangeFn *fn, void *user) {
  hk_parallel_work(count < HK_PARALLEL_LEAST ? 1 : threads, count, HK_BLOCK, fn, user);
}

void hk_parallel_tasks(int threads, int count, HkTaskFn *fn, void *user) {
  Loop loop = {.task = fn, .user = user};
  run(threads, count, do_task, &loop, true);
}

double hk_parallel_work_sum(int threads, int64_t count, int64_t grain, HkSumFn *fn, void *user,
                            double *partial) {
  Loop loop = {.count = count, .grain = grain, .sum = fn, .user = user, .partial = partial};
  double sum = 0;
  run(threads, pieces_of(count, grain), do_sum, &loop, false);
  for (int64_t p = 0; p < pieces_of(count, grain); p++) sum += partial[p];
  return sum;
}

double hk_parallel_sum(int threads, int64_t count, HkSumFn *fn, void *user, double *partial) {
  int most = count < HK_PARALLEL_LEAST ? 1 : threads;
  return hk_parallel_work_sum(most, count, HK_BLOCK, fn, user, partial);
}

double hk_parallel_most(int threads, int64_t count, HkSumFn *fn, void *user, double *partial) {
  hk_parallel_sum(threads, count, fn, user, partial);
  double most = count > 0 ? partial[0] : 0;
  for (int64_t b = 1; b < hk_sum_slots(count); b++)
    if (partial[b] > most || isnan(partial[b])) most = partial[b]; /* no number is above NAN */
  return most;
}

/* ---- Libraries of others ---- */

#ifdef HK_WITH_CHOLMOD
/* Which BLAS there is shows only when the program runs: Debian lets the user exchange it. */
HkAlone hk_alone_find(void) {
  static const char *const places[] = {NULL, "libblas.so.3"};
  HkAlone alone = {0};
  for (int q = 0; q < 2 && !alone.set_blas_threads; q++) {
    void *library = dlopen(places[q], RTLD_LAZY);
    if (!library) continue;
    void *get = dlsym(library, "openblas_get_num_threads");
    void *set = dlsym(library, "openblas_set_num_threads");
    if (get && set) {
      memcpy(&alone.blas_threads, &get, sizeof get);
      memcpy(&alone.set_blas_threads, &set, sizeof set);
    }
    dlclose(library); /* the program holds it anyway */
  }
  return alone;
}
#else
HkAlone hk_alone_find(void) {
  return (HkAlone){0};
}
#endif

/* The number of threads, too: an OpenBLAS that uses OpenMP would else divide its work among threads
 * that wait for each other and never come. */
void hk_alone_enter(HkAlone *alone) {
#ifdef _OPENMP
  alone->levels = omp_get_max_active_levels();
  alone->threads = omp_get_max_threads();
  omp_set_max_active_levels(0);
  omp_set_num_threads(1);
#endif
  alone->blas = alone->blas_threads ? alone->blas_threads() : 1;
  if (alone->blas > 1) alone->set_blas_threads(1);
}

/* Whoever found one BLAS thread does not touch it: another thread of the program may be in here. */
void hk_alone_leave(const HkAlone *alone) {
  if (alone->blas > 1) alone->set_blas_threads(alone->blas);
#ifdef _OPENMP
  omp_set_num_threads(alone->threads);
  omp_set_max_active_levels(alone->levels);
#endif
}
