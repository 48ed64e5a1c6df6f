/* Loops over all cores, on the thread pool of base/pool.h.
 *
 * Work is cut into blocks of HK_BLOCK entries whatever the number of threads, and sums are added up
 * block by block in order: results are the same, bit for bit, for every thread count.
 */
#ifndef HK_BASE_THREADS_H
#define HK_BASE_THREADS_H

#include <stdint.h>

enum { HK_BLOCK = 1024 };

/* Loops over fewer entries run on the calling thread: sharing them costs more than it saves. */
enum { HK_PARALLEL_MIN_ENTRIES = 2 * HK_BLOCK };

/* Processes the entries begin .. end - 1. */
typedef void HkRangeFn(void *user, int64_t begin, int64_t end);
/* Runs one task. */
typedef void HkTaskFn(void *user, int task);
/* Returns the sum over the entries begin .. end - 1, or the largest of them. */
typedef double HkSumFn(void *user, int64_t begin, int64_t end);

/* Number of cores that the process may use; 1 in a build without threads. */
int hk_thread_count(void);

/* Calls fn for blocks that cover 0 .. count - 1; blocks must not depend on each other. */
void hk_parallel_for(int threads, int64_t count, HkRangeFn *fn, void *user);

/* Calls fn for pieces of grain entries that cover 0 .. count - 1, for loops with expensive entries,
 * which are worth a thread from two pieces on. */
void hk_parallel_work(int threads, int64_t count, int64_t grain, HkRangeFn *fn, void *user);

/* Returns the sum of fn over pieces of grain entries; partial has (count + grain - 1) / grain
 * doubles. */
double hk_parallel_work_sum(int threads, int64_t count, int64_t grain, HkSumFn *fn, void *user,
                            double *partial);

/* Calls fn for the tasks 0 .. count - 1, which are few, expensive and independent; an idle thread
 * takes the next one. */
void hk_parallel_tasks(int threads, int count, HkTaskFn *fn, void *user);

/* Returns the sum of fn over blocks of HK_BLOCK entries; partial has hk_sum_slots(count) doubles.
 */
double hk_parallel_sum(int threads, int64_t count, HkSumFn *fn, void *user, double *partial);

/* Returns the largest value of fn over blocks of HK_BLOCK entries, NAN if one is NAN, 0 if count is
 * 0; partial has hk_sum_slots(count) doubles. */
double hk_parallel_most(int threads, int64_t count, HkSumFn *fn, void *user, double *partial);

/* A serial region: between enter and leave, CHOLMOD and its BLAS run on the calling thread only, so
 * that their results do not depend on the machine. Several threads may be in serial regions at the
 * same time, each with an HkAlone of its own.
 *
 * OpenBLAS has one number of threads for the whole process. It is 1 while any thread is in a serial
 * region, also for what other threads of the program compute with OpenBLAS meanwhile. */
typedef struct HkAlone {
  int (*blas_threads)(void); /* of OpenBLAS; NULL where another BLAS is used */
  void (*set_blas_threads)(int count);
  int (*openmp_levels)(void); /* nested parallel regions; NULL where OpenMP is not loaded */
  void (*set_openmp_levels)(int count);
  int (*openmp_threads)(void);
  void (*set_openmp_threads)(int count);
  int levels, threads; /* OpenMP's settings that leave restores */
} HkAlone;

HkAlone hk_alone_find(void);
void hk_alone_enter(HkAlone *region);
void hk_alone_leave(const HkAlone *region);

static inline int64_t hk_sum_slots(int64_t count) {
  return (count + HK_BLOCK - 1) / HK_BLOCK;
}

#endif
