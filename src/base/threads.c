/* Loops over all cores; see threads.h. */
#include "base/threads.h"

#ifdef _OPENMP
#include <omp.h>
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

double hk_parallel_sum(int threads, int64_t count, HkSumFn *fn, void *user, double *partial) {
  (void)threads; /* unused without OpenMP */
  int64_t blocks = hk_sum_slots(count);
#ifdef _OPENMP
#pragma omp parallel for schedule(static)                                                          \
    num_threads(threads > 0 ? threads : 1) if (threads > 1 && count >= HK_PARALLEL_LEAST)
#endif
  for (int64_t b = 0; b < blocks; b++) partial[b] = fn(user, b * HK_BLOCK, block_end(b, count));
  double sum = 0;
  for (int64_t b = 0; b < blocks; b++) sum += partial[b];
  return sum;
}
