/* Loops over all cores. The only OpenMP of the library stands in threads.c.
 *
 * Work is cut into blocks of HK_BLOCK entries whatever the number of threads, and sums are added up
 * block by block in order: results are the same, bit for bit, for every thread count.
 */
#ifndef HK_BASE_THREADS_H
#define HK_BASE_THREADS_H

#include <stdint.h>

enum { HK_BLOCK = 1024 };

/* Shorter loops run on one thread: waking and awaiting another costs more than it brings, and far
 * more on a machine that is busy otherwise. */
enum { HK_PARALLEL_LEAST = 2 * HK_BLOCK };

/* Does the entries begin .. end - 1. */
typedef void HkRangeFn(void *user, int64_t begin, int64_t end);
/* Does one task. */
typedef void HkTaskFn(void *user, int task);
/* Returns the sum over the entries begin .. end - 1, or the largest of them. */
typedef double HkSumFn(void *user, int64_t begin, int64_t end);

/* Cores that the machine offers. */
int hk_thread_count(void);

/* Calls fn for blocks that cover 0 .. count - 1; blocks must not depend on each other. */
void hk_parallel_for(int threads, int64_t count, HkRangeFn *fn, void *user);

/* The same in pieces of grain entries, for loops whose entries are much work each: more than one
 * piece is worth a thread. */
void hk_parallel_work(int threads, int64_t count, int64_t grain, HkRangeFn *fn, void *user);

/* Sum of fn over such pieces; partial holds (count + grain - 1) / grain doubles. */
double hk_parallel_work_sum(int threads, int64_t count, int64_t grain, HkSumFn *fn, void *user,
                            double *partial);

/* Calls fn for 0 .. count - 1, which are few and much work each, one after the other as threads
 * come free; they must not depend on each other. */
void hk_parallel_tasks(int threads, int count, HkTaskFn *fn, void *user);

/* Sum of fn over the blocks; partial holds hk_sum_slots(count) doubles. */
double hk_parallel_sum(int threads, int64_t count, HkSumFn *fn, void *user, double *partial);

/* The largest of fn over the blocks, NAN if one is, 0 if there is none; partial as above. */
double hk_parallel_most(int threads, int64_t count, HkSumFn *fn, void *user, double *partial);

/* Keeps libraries of others from starting threads: OpenMP loops and OpenBLAS run on the calling
 * thread alone between enter and leave, so that they take no more cores than they were given and
 * their results do not depend on the machine. OpenBLAS knows one number of threads for the whole
 * program, and is set back afterwards: where two threads of a program overlap here, the last bits
 * of the later one may come out otherwise, unless OPENBLAS_NUM_THREADS=1 is in its environment. */
typedef struct HkAlone {
  int (*blas_threads)(void); /* of OpenBLAS; NULL where it is not used */
  void (*set_blas_threads)(int count);
  int levels, threads, blas; /* what to go back to */
} HkAlone;

HkAlone hk_alone_find(void);
void hk_alone_enter(HkAlone *alone);
void hk_alone_leave(const HkAlone *alone);

static inline int64_t hk_sum_slots(int64_t count) {
  return (count + HK_BLOCK - 1) / HK_BLOCK;
}

#endif
