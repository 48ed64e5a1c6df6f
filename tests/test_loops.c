/* Loops over all cores: every entry once, and the same bits for every number of threads. */
#include "base/threads.h"
#include "test.h"

enum { COUNT = 20 * HK_BLOCK + 17 };

static void add_one(void *user, int64_t begin, int64_t end) {
  int *visits = user;
  for (int64_t q = begin; q < end; q++) visits[q]++;
}

TEST(parallel_for_visits_every_entry_once) {
  int *visits = calloc(COUNT, sizeof *visits);
  CHECK(visits != NULL);
  if (!visits) return;
  for (int threads = 1; threads <= 4; threads++) {
    hk_parallel_for(threads, COUNT, add_one, visits);
    int wrong = 0;
    for (int q = 0; q < COUNT; q++) wrong += visits[q] != threads;
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
  for (int threads = 2; threads <= 4; threads++)
    CHECK(hk_parallel_sum(threads, COUNT, sum_of_inverses, NULL, partial) == one);
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
