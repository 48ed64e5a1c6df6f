/* Loops over all cores: every entry once, the same bits for every number of threads, and no loop
 * that hangs, whatever else runs. */
#include "base/clock.h"
#include "base/pool.h"
#include "base/threads.h"
#include "test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __has_feature /* of clang */
#define THREAD_SANITIZER __has_feature(thread_sanitizer)
#else
#define THREAD_SANITIZER 0
#endif

enum { COUNT = 20 * HK_BLOCK + 17, THREAD_COUNTS = 7 };
static const int thread_counts[THREAD_COUNTS] = {1, 2, 3, 4, 8, 64, 1000};

static void add_one(void *user, int64_t begin, int64_t end) {
  int *visits = user;
  for (int64_t q = begin; q < end; q++) visits[q]++;
}

TEST(parallel_for_visits_every_entry_once) {
  int *visits = calloc(COUNT, sizeof *visits);
  CHECK(visits != NULL);
  if (!visits) return;
  for (int q = 0; q < THREAD_COUNTS; q++) {
    hk_parallel_for(thread_counts[q], COUNT, add_one, visits);
    int wrong = 0;
    for (int e = 0; e < COUNT; e++) wrong += visits[e] != q + 1;
    CHECK(wrong == 0);
  }
  free(visits);
}

static double sum_of_inverses(void *user, int64_t begin, int64_t end) {
  (void)user;
  double sum = 0;
  for (int64_t q = begin; q < end; q++) sum += 1.0 / (double)(q + 1);
  return sum;
}

TEST(parallel_sum_is_the_same_for_every_thread_count) {
  double *partial = calloc((size_t)hk_sum_slots(COUNT), sizeof *partial);
  CHECK(partial != NULL);
  if (!partial) return;
  double one = hk_parallel_sum(1, COUNT, sum_of_inverses, NULL, partial);
  /* The harmonic number: log n + gamma + 1 / (2 n) - ... */
  CHECK_NEAR(one, log(COUNT) + 0.57721566490153286 + 0.5 / COUNT, 1e-9);
  for (int q = 0; q < THREAD_COUNTS; q++)
    for (int loop = 0; loop < 50; loop++)
      CHECK(hk_parallel_sum(thread_counts[q], COUNT, sum_of_inverses, NULL, partial) == one);
  free(partial);
}

TEST(parallel_loops_over_nothing_do_nothing) {
  double partial = 0;
  hk_parallel_for(4, 0, add_one, NULL);
  CHECK(hk_parallel_sum(4, 0, sum_of_inverses, NULL, &partial) == 0);
}

static void count_task(void *user, int task) {
  ((int *)user)[task]++;
}

TEST(parallel_tasks_are_done_once_each) {
  for (int threads = 1; threads <= 3; threads++)
    for (int count = 0; count <= 40; count += 8) {
      int done[41] = {0};
      hk_parallel_tasks(threads, count, count_task, done);
      for (int q = 0; q <= 40; q++) CHECK(done[q] == (q < count));
    }
}

static double ramp(void *user, int64_t begin, int64_t end) {
  const double *peak = user;
  double most = -1;
  for (int64_t q = begin; q < end; q++) {
    double value = -fabs((double)q - peak[0]) * peak[1];
    if (value > most || isnan(value)) most = value;
  }
  return most;
}

TEST(parallel_most_finds_the_largest_and_what_is_no_number) {
  enum { LONG = 20 * HK_BLOCK };
  double partial[20], none[2] = {5, NAN};
  for (int threads = 1; threads <= 3; threads++) {
    double peak[2] = {15.25 * HK_BLOCK + 0.125, 1e-6};
    CHECK(hk_parallel_most(threads, LONG, ramp, peak, partial) == -0.125 * 1e-6);
    CHECK(isnan(hk_parallel_most(threads, LONG, ramp, none, partial)));
    CHECK(hk_parallel_most(threads, 0, ramp, peak, partial) == 0);
  }
}

/* ---- Several callers, nested loops, fork ---- */

typedef struct Caller {
  int threads;
  double expected;
  int wrong; /* sums that differ */
} Caller;

static void *sum_often(void *user) {
  enum { LOOPS = 300 };
  Caller *caller = user;
  double partial[COUNT / HK_BLOCK + 1];
  for (int q = 0; q < LOOPS; q++)
    caller->wrong +=
        hk_parallel_sum(caller->threads, COUNT, sum_of_inverses, NULL, partial) != caller->expected;
  return NULL;
}

TEST(many_callers_at_once_get_the_same_sums) {
  enum { CALLERS = 80 }; /* more than the pool has slots */
  double partial[COUNT / HK_BLOCK + 1];
  double expected = hk_parallel_sum(1, COUNT, sum_of_inverses, NULL, partial);
  Caller caller[CALLERS];
  pthread_t thread[CALLERS];
  int started = 0;
  for (; started < CALLERS; started++) {
    caller[started] = (Caller){.threads = 1 + started % 5, .expected = expected};
    if (pthread_create(&thread[started], NULL, sum_often, &caller[started]) != 0) break;
  }
  CHECK(started > 1);
  for (int q = 0; q < started; q++) {
    pthread_join(thread[q], NULL);
    CHECK(caller[q].wrong == 0);
  }
}

typedef struct Nested {
  _Atomic int64_t entries;
  _Atomic int strangers; /* inner pieces on another thread than the outer piece */
} Nested;

typedef struct Inner {
  Nested *nested;
  pthread_t thread;
} Inner;

static void inner_range(void *user, int64_t begin, int64_t end) {
  Inner *inner = user;
  atomic_fetch_add(&inner->nested->entries, end - begin);
  if (!pthread_equal(inner->thread, pthread_self())) atomic_fetch_add(&inner->nested->strangers, 1);
}

static void outer_range(void *user, int64_t begin, int64_t end) {
  for (int64_t q = begin; q < end; q++) {
    Inner inner = {user, pthread_self()};
    hk_parallel_work(4, 10, 1, inner_range, &inner);
  }
}

TEST(loops_inside_loops_run_serially) {
  for (int q = 0; q < 100; q++) {
    Nested nested = {0};
    hk_parallel_work(3, 20, 1, outer_range, &nested);
    CHECK(atomic_load(&nested.entries) == 200);
    CHECK(atomic_load(&nested.strangers) == 0);
  }
}

TEST(a_forked_process_has_threads_of_its_own) {
#if THREAD_SANITIZER
  SKIP("the thread sanitizer allows no threads after fork");
#endif
  double partial[COUNT / HK_BLOCK + 1];
  double expected = hk_parallel_sum(3, COUNT, sum_of_inverses, NULL, partial);
  int workers = hk_pool_workers(), status = 1;
  fflush(NULL);
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    bool good = hk_pool_workers() == 0;
    alarm(60); /* workers may start late on a busy machine */
    do {
      good &= hk_parallel_sum(3, COUNT, sum_of_inverses, NULL, partial) == expected;
    } while (hk_pool_workers() < (workers > 0 ? 2 : 0));
    _exit(good ? 0 : 1);
  }
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  CHECK(hk_pool_workers() == workers);
}

TEST(a_process_that_exits_after_loops_in_several_threads_ends) {
#if THREAD_SANITIZER
  SKIP("the thread sanitizer allows no threads after fork");
#endif
  for (int q = 0; q < 20; q++) {
    int status = 1;
    fflush(NULL);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
      static Caller caller = {.threads = 4};
      pthread_t thread;
      alarm(60); /* fails instead of hanging */
      pthread_create(&thread, NULL, sum_often, &caller);
      double partial[COUNT / HK_BLOCK + 1];
      for (int loop = 0; loop < q; loop++)
        hk_parallel_sum(3, COUNT, sum_of_inverses, NULL, partial);
      exit(0); /* runs the end of the library beside the thread */
    }
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
}

/* ---- A busy machine ---- */

static _Atomic bool busy;

static void *keep_busy(void *user) {
  (void)user;
  while (atomic_load_explicit(&busy, memory_order_relaxed)) continue;
  return NULL;
}

static double time_loops(int threads) {
  enum { LOOPS = 400 };
  double partial[COUNT / HK_BLOCK + 1], begin = hk_wall_time();
  for (int q = 0; q < LOOPS; q++) hk_parallel_sum(threads, COUNT, sum_of_inverses, NULL, partial);
  return hk_wall_time() - begin;
}

/* The bound is generous, as the tests run beside others. With active waiting of all threads the
 * loops take some hundred times as long as with one thread. */
TEST(loops_beside_busy_threads_take_bounded_time) {
  enum { MAX_BUSY = 64 };
  pthread_t thread[MAX_BUSY];
  int cores = hk_thread_count(), wanted = 2 * cores < MAX_BUSY ? 2 * cores : MAX_BUSY, started = 0;
  atomic_store(&busy, true);
  while (started < wanted && pthread_create(&thread[started], NULL, keep_busy, NULL) == 0)
    started++;
  double one = 0, all = 0;
  for (int q = 0; q < 3; q++) {
    one += time_loops(1);
    all += time_loops(cores);
  }
  atomic_store(&busy, false);
  for (int q = 0; q < started; q++) pthread_join(thread[q], NULL);
  if (!(all < 5 * one + 1)) test_fail(__FILE__, __LINE__, "%g s, %g s with one thread", all, one);
}
