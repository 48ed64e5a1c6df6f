/* The harness of property tests: what fails is found, shrunk to the smallest case, and repeated. */
#include "property.h"

enum { SEED = 7, CASES = 300, VALUES = 1000, LIST_MAX = 20 };

/* ---- Properties that are false ---- */

static void every_number_is_below_37(Draw *draw) {
  for (DrawList list = {.max = LIST_MAX}; draw_more(draw, &list);) {
    uint64_t value = draw_below(draw, VALUES);
    draw_note(draw, "%s%d", list.count > 1 ? " " : "", (int)value);
    if (value >= 37) draw_fail(draw, "%d is too large", (int)value);
  }
}

static void lists_are_sorted(Draw *draw) {
  uint64_t last = 0;
  for (DrawList list = {.max = LIST_MAX}; draw_more(draw, &list);) {
    uint64_t value = draw_below(draw, VALUES);
    draw_note(draw, "%s%d", list.count > 1 ? " " : "", (int)value);
    if (value < last) draw_fail(draw, "%d after %d", (int)value, (int)last);
    last = value;
  }
}

/* Elements of various lengths: a nested list each. */
static void no_list_of_lists_has_three_numbers_in_one(Draw *draw) {
  for (DrawList outer = {.max = 6}; draw_more(draw, &outer);) {
    int count = 0;
    draw_note(draw, "[");
    for (DrawList inner = {.max = 6}; draw_more(draw, &inner); count++)
      draw_note(draw, "%d", draw_int(draw, 0, 9));
    draw_note(draw, "]");
    if (count >= 3) draw_fail(draw, "%d numbers", count);
  }
}

static void decades_are_below_a_thousand(Draw *draw) {
  double value = draw_decades(draw, -3, 6);
  draw_note(draw, "%g", value);
  if (value >= 1000) draw_fail(draw, "large");
}

/* ---- Properties that are true ---- */

static void draws_are_in_range(Draw *draw) {
  int q = draw_int(draw, -3, 4);
  double x = draw_number(draw, -1, 2), d = draw_decades(draw, -2, 2);
  DRAW_CHECK(draw, q >= -3 && q <= 4);
  DRAW_CHECK(draw, x >= -1 && x <= 2);
  DRAW_CHECK(draw, d >= 0.01 && d <= 900);
  DRAW_CHECK(draw, !draw_chance(draw, 0));
  DRAW_CHECK(draw, draw_chance(draw, 100) || draw_below(draw, 1) == 0);
}

static void check_smallest(Property *property, const char *text, const char *reason) {
  for (uint64_t seed = SEED; seed < SEED + 20; seed++) {
    Counterexample failed = {0};
    CHECK(!property_holds(property, seed, CASES, &failed));
    if (!failed.text) return;
    if (strcmp(failed.text, text) != 0 || strcmp(failed.reason, reason) != 0)
      test_fail(__FILE__, __LINE__, "seed %d: shrunk to '%s' (%s), expected '%s' (%s)", (int)seed,
                failed.text, failed.reason, text, reason);
    counterexample_destroy(&failed);
  }
}

TEST(false_properties_are_shrunk_to_their_smallest_case) {
  check_smallest(every_number_is_below_37, "37", "37 is too large");
  check_smallest(lists_are_sorted, "1 0", "0 after 1");
  check_smallest(no_list_of_lists_has_three_numbers_in_one, "[000]", "3 numbers");
  check_smallest(decades_are_below_a_thousand, "1000", "large");
}

TEST(true_properties_hold) {
  Counterexample failed = {0};
  CHECK(property_holds(draws_are_in_range, SEED, CASES, &failed));
  CHECK(failed.numbers == NULL && failed.text == NULL);
}

/* What a property without an end of its own has drawn, for the test of seeds. */
static uint64_t recorded[CASES];
static int recorded_count;

static void record(Draw *draw) {
  recorded[recorded_count++ % CASES] = draw_below(draw, UINT64_MAX);
}

TEST(the_seed_of_a_case_repeats_it_alone) {
  Counterexample failed = {0};
  recorded_count = 0;
  property_holds(record, SEED, 5, &failed);
  uint64_t third = recorded[2];
  CHECK(recorded_count == 5 && recorded[0] != recorded[1] && recorded[1] != third);
  recorded_count = 0;
  property_holds(record, SEED + 2, 1, &failed);
  CHECK(recorded_count == 1 && recorded[0] == third);
}

TEST(the_environment_sets_seed_and_number_of_cases) {
  Counterexample failed = {0};
  recorded_count = 0;
  property_holds(record, 99, 1, &failed);
  uint64_t first = recorded[0];
  setenv("HOOKE_PROPERTY_SEED", "99", 1);
  setenv("HOOKE_PROPERTY_CASES", "17", 1);
  recorded_count = 0;
  property_check(record, 3);
  CHECK(recorded_count == 17 && recorded[0] == first);
  unsetenv("HOOKE_PROPERTY_SEED");
  unsetenv("HOOKE_PROPERTY_CASES");
}
