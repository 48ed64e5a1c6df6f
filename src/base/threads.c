/* Loops over all cores; see threads.h. */
#include "base/threads.h"

#include <math.h>

#ifdef _OPENMP
#include <omp.h>
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

static inline int64_t block_end(int64_t block, int64_t count) {
  int64_t end = (block + 1) * HK_BLOCK;
  return end < count ? end : count;
}

void hk_parallel_for(int threads, int64_t count, HkRangeFn *fn, void *user) {
  int64_t blocks = hk_sum_slots(count);
  if (threads <= 1 || count < HK_PARALLEL_LEAST) {
    if (count > 0) fn(user, 0, count);
    return;
  }
#ifdef _OPENMP
#pragma omp parallel for schedule(static) num_threads(threads)
#endif
  for (int64_t b = 0; b < blocks; b++) fn(user, b * HK_BLOCK, block_end(b, count));
}

void hk_parallel_tasks(int threads, int count, HkTaskFn *fn, void *user) {
  (void)threads; /* unused without OpenMP */
  int next = 0;
#ifdef _OPENMP
#pragma omp parallel num_threads(threads > 0 ? threads : 1) if (threads > 1 && count > 1)
#endif
  for (;;) {
    int task;
#ifdef _OPENMP
#pragma omp atomic capture
#endif
    task = next++;
    if (task >= count) break;
    fn(user, task);
  }
}

static void fill_partial(int threads, int64_t count, HkSumFn *fn, void *user, double *partial) {
  (void)threads; /* unused without OpenMP */
  int64_t blocks = hk_sum_slots(count);
#ifdef _OPENMP
#pragma omp parallel for schedule(static)                                                          \
    num_threads(threads > 0 ? threads : 1) if (threads > 1 && count >= HK_PARALLEL_LEAST)
#endif
  for (int64_t b = 0; b < blocks; b++) partial[b] = fn(user, b * HK_BLOCK, block_end(b, count));
}

double hk_parallel_sum(int threads, int64_t count, HkSumFn *fn, void *user, double *partial) {
  double sum = 0;
  fill_partial(threads, count, fn, user, partial);
  for (int64_t b = 0; b < hk_sum_slots(count); b++) sum += partial[b];
  return sum;
}

double hk_parallel_most(int threads, int64_t count, HkSumFn *fn, void *user, double *partial) {
  fill_partial(threads, count, fn, user, partial);
  double most = count > 0 ? partial[0] : 0;
  for (int64_t b = 1; b < hk_sum_slots(count); b++)
    if (partial[b] > most || isnan(partial[b])) most = partial[b]; /* no number is above NAN */
  return most;
}

static inline int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

void hk_parallel_work(int threads, int64_t count, int64_t grain, HkRangeFn *fn, void *user) {
  int64_t pieces = (count + grain - 1) / grain;
  if (threads <= 1 || pieces < 2) {
    if (count > 0) fn(user, 0, count);
    return;
  }
#ifdef _OPENMP
#pragma omp parallel for schedule(static) num_threads(threads)
#endif
  for (int64_t p = 0; p < pieces; p++) fn(user, p * grain, least((p + 1) * grain, count));
}

double hk_parallel_work_sum(int threads, int64_t count, int64_t grain, HkSumFn *fn, void *user,
                            double *partial) {
  (void)threads; /* unused without OpenMP */
  int64_t pieces = (count + grain - 1) / grain;
#ifdef _OPENMP
#pragma omp parallel for schedule(static)                                                          \
    num_threads(threads > 0 ? threads : 1) if (threads > 1 && pieces > 1)
#endif
  for (int64_t p = 0; p < pieces; p++)
    partial[p] = fn(user, p * grain, least((p + 1) * grain, count));
  double sum = 0;
  for (int64_t p = 0; p < pieces; p++) sum += partial[p];
  return sum;
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
