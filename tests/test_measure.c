/* The harness of measurements: order of the turns, what is discarded, statistics; with a clock that
 * moves only when a contestant works. */
#include "measure/rounds.h"
#include "test.h"

static double clock_seconds;
static int turns_left; /* until the harness is stopped */
static char order[64]; /* one letter for each turn that was given */

static double fake_clock(void) {
  return clock_seconds;
}

static bool is_stopped(void) {
  return turns_left <= 0;
}

/* A contestant that takes cost[round + warm_up] s; 0: it skips the round; below 0: it fails. */
typedef struct Worker {
  char letter;
  int warm_up;
  const double *cost;
} Worker;

static TurnEnd work(void *user, const Turn *turn) {
  const Worker *w = user;
  double cost = w->cost[turn->round + w->warm_up];
  size_t length = strlen(order);
  if (length + 1 < sizeof order) order[length] = w->letter;
  turns_left--;
  clock_seconds += 1000; /* preparation, which does not count */
  if (cost == 0) return TURN_SKIPPED;
  stopwatch_start(turn->watch);
  clock_seconds += fabs(cost) * (double)turn->repeats;
  stopwatch_stop(turn->watch);
  clock_seconds += 1000;
  return cost < 0 ? TURN_FAILED : TURN_MEASURED;
}

static Rounds plan(int warm_up, int rounds) {
  clock_seconds = 0;
  turns_left = 1000;
  memset(order, 0, sizeof order);
  return (Rounds){.warm_up = warm_up,
                  .rounds = rounds,
                  .seconds = INFINITY,
                  .clock = fake_clock,
                  .stopped = is_stopped};
}

#define WORKER(letter, warm_up, ...)                                                               \
  {                                                                                                \
    letter, warm_up, (const double[]) {                                                            \
      __VA_ARGS__                                                                                  \
    }                                                                                              \
  }
#define CONTESTANT(worker)                                                                         \
  { .run = work, .user = &(worker) }

TEST(contestants_take_turns_and_the_warm_up_is_discarded) {
  Worker a = WORKER('a', 2, 50, 60, 1, 2, 9), b = WORKER('b', 2, 70, 80, 4, 4, 4);
  Contestant list[] = {CONTESTANT(a), CONTESTANT(b)};
  Rounds rounds = plan(2, 3);
  CHECK(rounds_run(&rounds, list, 2) == 3);
  CHECK(strcmp(order, "ababababab") == 0);
  CHECK(list[0].count == 3 && list[1].count == 3);
  CHECK_NEAR(list[0].first, 50, 0);
  CHECK_NEAR(list[0].statistics.median, 2, 0);
  CHECK_NEAR(list[0].statistics.mean, 4, 0);
  CHECK_NEAR(list[0].statistics.smallest, 1, 0);
  CHECK_NEAR(list[0].statistics.largest, 9, 0);
  CHECK_NEAR(list[0].statistics.spread, 4, 0); /* quartiles 1.5 and 5.5 */
  CHECK_NEAR(list[1].statistics.median, 4, 0);
  CHECK_NEAR(list[1].statistics.spread, 0, 0);
  CHECK_NEAR(median_ratio(list[1].seconds, list[0].seconds, 3), 2, 0);
  rounds_release(list, 2);
}

TEST(a_contestant_that_fails_drops_out_and_keeps_its_rounds) {
  Worker a = WORKER('a', 0, 1, 1, 1, 1), b = WORKER('b', 0, 2, 3, -1, 5);
  Contestant list[] = {CONTESTANT(a), CONTESTANT(b)};
  Rounds rounds = plan(0, 4);
  CHECK(rounds_run(&rounds, list, 2) == 4);
  CHECK(strcmp(order, "abababa") == 0);
  CHECK(!list[0].dropped && list[0].count == 4);
  CHECK(list[1].dropped && list[1].count == 2);
  CHECK_NEAR(list[1].statistics.median, 2.5, 0);
  CHECK(isnan(list[1].seconds[2]) && isnan(list[1].seconds[3]));
  rounds_release(list, 2);
}

TEST(rounds_end_when_all_contestants_have_dropped_out) {
  Worker a = WORKER('a', 1, -7, 1, 1, 1);
  Contestant list[] = {CONTESTANT(a)};
  Rounds rounds = plan(1, 3);
  CHECK(rounds_run(&rounds, list, 1) == 0);
  CHECK(strcmp(order, "a") == 0);
  CHECK_NEAR(list[0].first, 7, 0);
  CHECK(list[0].count == 0 && isnan(list[0].statistics.median));
  rounds_release(list, 1);
}

TEST(a_skipped_round_leaves_the_place_of_its_pair_empty) {
  Worker a = WORKER('a', 0, 3, 0, 5);
  Contestant list[] = {CONTESTANT(a)};
  Rounds rounds = plan(0, 3);
  CHECK(rounds_run(&rounds, list, 1) == 3);
  CHECK(list[0].count == 2 && isnan(list[0].seconds[1]));
  CHECK_NEAR(list[0].seconds[2], 5, 0);
  CHECK_NEAR(list[0].statistics.median, 4, 0);
  rounds_release(list, 1);
}

TEST(a_contestant_that_has_spent_its_time_is_done_after_one_round_at_least) {
  Worker a = WORKER('a', 1, 90, 3, 3, 3, 3), b = WORKER('b', 1, 90, 20, 20, 20, 20);
  Contestant list[] = {CONTESTANT(a), CONTESTANT(b)};
  Rounds rounds = plan(1, 4);
  rounds.seconds = 5;
  CHECK(rounds_run(&rounds, list, 2) == 2);
  CHECK(strcmp(order, "ababa") == 0);
  CHECK(list[0].count == 2 && list[1].count == 1);
  CHECK_NEAR(list[0].spent, 6, 0);
  rounds_release(list, 2);
}

TEST(rounds_that_are_stopped_are_whole) {
  Worker a = WORKER('a', 1, 1, 1, 1, 1), b = WORKER('b', 1, 1, 1, 1, 1);
  Contestant list[] = {CONTESTANT(a), CONTESTANT(b)};
  Rounds rounds = plan(1, 3);
  turns_left = 3;
  CHECK(rounds_run(&rounds, list, 2) == 1);
  CHECK(strcmp(order, "abab") == 0);
  CHECK(list[0].count == 1 && list[1].count == 1);
  rounds_release(list, 2);
  rounds = plan(1, 3);
  turns_left = 1;
  CHECK(rounds_run(&rounds, list, 2) == 0);
  CHECK(strcmp(order, "a") == 0);
  rounds_release(list, 2);
}

TEST(times_are_of_one_repetition) {
  Worker a = WORKER('a', 0, 0.5, 0.75);
  Contestant list[] = {CONTESTANT(a)};
  Rounds rounds = plan(0, 2);
  list[0].repeats = 8;
  CHECK(rounds_run(&rounds, list, 1) == 2);
  CHECK_NEAR(list[0].seconds[0], 0.5, 0);
  CHECK_NEAR(list[0].spent, 8 * 1.25, 0);
  rounds_release(list, 1);
}

TEST(repetitions_are_doubled_until_they_take_long_enough) {
  Worker a = WORKER('a', 1, 0.25), failing = WORKER('f', 1, -0.25);
  Contestant list[] = {CONTESTANT(a), CONTESTANT(failing)};
  Rounds rounds = plan(0, 1);
  CHECK(rounds_calibrate(&rounds, &list[0], 1.5, 1000));
  CHECK(list[0].repeats == 8);
  CHECK_NEAR(list[0].spent, 0.25, 0);
  CHECK(rounds_calibrate(&rounds, &list[0], 1e9, 4));
  CHECK(list[0].repeats == 4);
  CHECK(!rounds_calibrate(&rounds, &list[1], 1, 1000));
}

TEST(statistics_do_not_depend_on_the_order_and_refuse_nan) {
  const double values[] = {5, 1, 4, 2}, bad[] = {1, NAN, 2};
  Statistics s = statistics_of(values, 4);
  CHECK(s.count == 4 && values[0] == 5);
  CHECK_NEAR(s.median, 3, 0);
  CHECK_NEAR(s.spread, 4.25 - 1.75, 0);
  CHECK(isnan(median_of(bad, 3)));
  CHECK(isnan(median_of(values, 0)) && isnan(statistics_of(values, 0).spread));
  CHECK_NEAR(statistics_of(values, 1).spread, 0, 0);
  CHECK(isnan(median_ratio(values, values, 0)));
}

TEST(distances_are_weighted_by_mass) {
  const double a[] = {0, 0, 0, 1, 0, 0}, b[] = {3, 4, 0, 1, 0, 2}, mass[] = {1, 3};
  Distance plain = distance_of(a, b, NULL, 2), weighted = distance_of(a, b, mass, 2);
  CHECK_NEAR(plain.norm, sqrt(29), 1e-15);
  CHECK_NEAR(plain.rms, sqrt(29.0 / 2), 1e-15);
  CHECK_NEAR(weighted.norm, sqrt(25 + 3 * 4), 1e-15);
  CHECK_NEAR(weighted.rms, sqrt(37.0 / 4), 1e-15);
  CHECK_NEAR(weighted.largest, 5, 0);
  const double bad[] = {NAN, 0, 0, 1, 0, 0};
  CHECK(isnan(distance_of(bad, b, mass, 2).largest));
}
