/* Tables in time. */
#include "base/table.h"
#include "test.h"

static double rows[] = {1, 10, -1, 3, 20, 0, 4, 0, 8};
static const HkTable table = {rows, 3};

static void check_at(double t, double a, double b, double rate_a, double rate_b) {
  double values[2], rates[2], alone[2];
  hk_table_at(&table, 3, t, values, rates);
  hk_table_at(&table, 3, t, alone, NULL);
  CHECK_NEAR(values[0], a, 1e-14);
  CHECK_NEAR(values[1], b, 1e-14);
  CHECK_NEAR(rates[0], rate_a, 1e-14);
  CHECK_NEAR(rates[1], rate_b, 1e-14);
  CHECK(memcmp(values, alone, sizeof values) == 0);
}

TEST(table_is_linear_between_its_rows) {
  check_at(2, 15, -0.5, 5, 0.5);
  check_at(3.25, 15, 2, -20, 8);
}

TEST(table_is_constant_outside) {
  check_at(-5, 10, -1, 0, 0);
  check_at(100, 0, 8, 0, 0);
  check_at(INFINITY, 0, 8, 0, 0);
}

TEST(table_takes_the_rate_of_the_piece_that_begins) {
  check_at(1, 10, -1, 5, 0.5);
  check_at(3, 20, 0, -20, 8);
  check_at(4, 0, 8, 0, 0);
}

TEST(table_of_one_row_is_constant) {
  HkTable one = {(double[]){2, 7}, 1};
  for (int t = 0; t < 5; t++) {
    double value, rate;
    hk_table_at(&one, 2, t, &value, &rate);
    CHECK(value == 7 && rate == 0);
  }
}

TEST(table_finds_its_place_among_many_rows) {
  enum { ROWS = 1001 };
  static double many[2 * ROWS];
  for (int q = 0; q < ROWS; q++) {
    many[2 * q] = q * q;
    many[2 * q + 1] = 3.0 * q * q;
  }
  HkTable big = {many, ROWS};
  for (double t = 0; t < 1000 * 1000; t += 997.25) {
    double value;
    hk_table_at(&big, 2, t, &value, NULL);
    CHECK_NEAR(value, 3 * t, 1e-8);
  }
}

TEST(table_times_must_rise) {
  double same[] = {0, 1, 2, 5, 2, 6};
  MUST(hk_table_check(&table, 3, "load.table", error));
  MUST(hk_table_check(&(HkTable){0}, 3, "load.table", error));
  FAILS(hk_table_check(&(HkTable){same, 3}, 2, "load.table", error), HK_ERROR_INVALID,
        "load.table: row 2");
  FAILS(hk_table_check(&(HkTable){same + 2, 2}, 2, "load.table", error), HK_ERROR_INVALID, "rise");
}
