/* Loops over all cores; see threads.h. */
#ifdef __linux__
#define _GNU_SOURCE /* sched_getaffinity, RTLD_NOLOAD */
#endif
#include "base/threads.h"

#include "base/pool.h"

#include <math.h>

#ifdef HK_WITH_THREADS
#include <unistd.h>
#ifdef __linux__
#include <sched.h>
#endif
#endif
#ifdef HK_WITH_CHOLMOD
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#endif

#ifdef HK_WITH_THREADS
/* An affinity mask, set by taskset, a batch system or a container, limits the cores. */
int hk_thread_count(void) {
#ifdef __linux__
  enum { MAX_CORES = 8192 };
  cpu_set_t cores[MAX_CORES / CPU_SETSIZE];
  if (sched_getaffinity(0, sizeof cores, cores) == 0) {
    int count = CPU_COUNT_S(sizeof cores, cores);
    if (count > 0) return count;
  }
#endif
  long count = sysconf(_SC_NPROCESSORS_ONLN);
  return count > 1 ? (int)count : 1;
}
#else
int hk_thread_count(void) {
  return 1;
}
#endif

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
    hk_pool_run(threads, pieces_of(count, grain), HK_PIECES_BY_SHARE, do_range, &loop);
  else if (count > 0)
    fn(user, 0, count);
}

void hk_parallel_for(int threads, int64_t count, HkRangeFn *fn, void *user) {
  hk_parallel_work(count < HK_PARALLEL_MIN_ENTRIES ? 1 : threads, count, HK_BLOCK, fn, user);
}

void hk_parallel_tasks(int threads, int count, HkTaskFn *fn, void *user) {
  Loop loop = {.task = fn, .user = user};
  hk_pool_run(threads, count, HK_PIECES_IN_ORDER, do_task, &loop);
}

double hk_parallel_work_sum(int threads, int64_t count, int64_t grain, HkSumFn *fn, void *user,
                            double *partial) {
  Loop loop = {.count = count, .grain = grain, .sum = fn, .user = user, .partial = partial};
  double sum = 0;
  hk_pool_run(threads, pieces_of(count, grain), HK_PIECES_BY_SHARE, do_sum, &loop);
  for (int64_t p = 0; p < pieces_of(count, grain); p++) sum += partial[p];
  return sum;
}

double hk_parallel_sum(int threads, int64_t count, HkSumFn *fn, void *user, double *partial) {
  int most = count < HK_PARALLEL_MIN_ENTRIES ? 1 : threads;
  return hk_parallel_work_sum(most, count, HK_BLOCK, fn, user, partial);
}

double hk_parallel_most(int threads, int64_t count, HkSumFn *fn, void *user, double *partial) {
  hk_parallel_sum(threads, count, fn, user, partial);
  double most = count > 0 ? partial[0] : 0;
  for (int64_t b = 1; b < hk_sum_slots(count); b++)
    if (partial[b] > most || isnan(partial[b]))
      most = partial[b]; /* the maximum of NAN and any number is NAN */
  return most;
}

/* ---- Serial regions ---- */

#ifdef HK_WITH_CHOLMOD

/* OpenBLAS has one number of threads for the whole process: the first thread that enters a serial
 * region sets it to 1, and the last thread that leaves restores it. */
static struct {
  pthread_mutex_t mutex;
  int inside; /* threads that are in a serial region */
  int blas;   /* number of threads of OpenBLAS before */
} serial_regions = {.mutex = PTHREAD_MUTEX_INITIALIZER};

typedef struct Symbol {
  const char *name;
  void *function; /* address of the pointer to set */
} Symbol;

/* Sets all pointers if one library that is loaded has all functions, else none. */
static void find_symbols(const char *const *libraries, const Symbol *symbols, int count) {
  for (; *libraries; libraries++) {
    void *address[4] = {NULL};
    int found = 0;
    /* An empty name means the program with all that it was linked with. */
    void *library = dlopen(**libraries ? *libraries : NULL, RTLD_LAZY | RTLD_NOLOAD);
    if (!library) continue;
    for (int q = 0; q < count; q++) found += (address[q] = dlsym(library, symbols[q].name)) != NULL;
    dlclose(library); /* CHOLMOD keeps it loaded */
    if (found < count) continue;
    for (int q = 0; q < count; q++) memcpy(symbols[q].function, &address[q], sizeof address[q]);
    return;
  }
}

/* Which BLAS and which OpenMP runtime CHOLMOD uses is known only at run time: Debian lets the user
 * exchange the BLAS, and Hooke itself is not linked with either. */
HkAlone hk_alone_find(void) {
  static const char *const blas[] = {"", "libblas.so.3", NULL};
  static const char *const openmp[] = {"", "libgomp.so.1", "libomp.so.5", "libomp.so", NULL};
  HkAlone region = {0};
  find_symbols(blas,
               (Symbol[]){{"openblas_get_num_threads", &region.blas_threads},
                          {"openblas_set_num_threads", &region.set_blas_threads}},
               2);
  find_symbols(openmp,
               (Symbol[]){{"omp_get_max_active_levels", &region.openmp_levels},
                          {"omp_set_max_active_levels", &region.set_openmp_levels},
                          {"omp_get_max_threads", &region.openmp_threads},
                          {"omp_set_num_threads", &region.set_openmp_threads}},
               4);
  return region;
}

/* The number of OpenMP threads is set, too: an OpenBLAS that uses OpenMP would otherwise divide its
 * work among threads that never start. OpenMP's settings belong to the calling thread. */
void hk_alone_enter(HkAlone *region) {
  if (region->set_openmp_levels) {
    region->levels = region->openmp_levels();
    region->threads = region->openmp_threads();
    region->set_openmp_levels(0);
    region->set_openmp_threads(1);
  }
  if (!region->set_blas_threads) return;
  pthread_mutex_lock(&serial_regions.mutex);
  if (serial_regions.inside++ == 0) {
    serial_regions.blas = region->blas_threads();
    region->set_blas_threads(1);
  }
  pthread_mutex_unlock(&serial_regions.mutex);
}

void hk_alone_leave(const HkAlone *region) {
  if (region->set_blas_threads) {
    pthread_mutex_lock(&serial_regions.mutex);
    if (--serial_regions.inside == 0) region->set_blas_threads(serial_regions.blas);
    pthread_mutex_unlock(&serial_regions.mutex);
  }
  if (region->set_openmp_levels) {
    region->set_openmp_threads(region->threads);
    region->set_openmp_levels(region->levels);
  }
}

#else

HkAlone hk_alone_find(void) {
  return (HkAlone){0};
}

void hk_alone_enter(HkAlone *region) {
  (void)region;
}

void hk_alone_leave(const HkAlone *region) {
  (void)region;
}

#endif
