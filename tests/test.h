/* A test is a function named by the property it checks:
 *
 *     TEST(verlet_conserves_energy) { CHECK_NEAR(e1, e0, 1e-6); }
 *
 * One program per tests/test_*.c; its arguments choose tests by a part of their names.
 */
#ifndef HOOKE_TEST_H
#define HOOKE_TEST_H

#include "hooke/hooke.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct TestCase {
  const char *name;
  void (*run)(void);
  struct TestCase *next;
} TestCase;

void test_register(TestCase *test);
/* Reports a failed check; printf-like. */
void test_fail(const char *file, int line, const char *format, ...);
/* Ends the test as skipped, with a reason. */
#define SKIP(...)                                                                                  \
  do {                                                                                             \
    test_skip(__VA_ARGS__);                                                                        \
    return;                                                                                        \
  } while (0)
void test_skip(const char *format, ...);
/* A file of the shared test data (HOOKE_TEST_DATA), or NULL where it is not there. */
const char *test_data(const char *name);
/* JSON written with 'single' quotes, which need no backslash in C, as it should be; valid until the
 * next call in this thread. */
const char *test_json(const char *text);
/* A new empty folder, removed when the program ends. */
const char *test_folder(void);

#define TEST(name)                                                                                 \
  static void name(void);                                                                          \
  static TestCase case_##name = {#name, name, NULL};                                               \
  __attribute__((constructor)) static void register_##name(void) {                                 \
    test_register(&case_##name);                                                                   \
  }                                                                                                \
  static void name(void)

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) test_fail(__FILE__, __LINE__, "%s", #condition);                             \
  } while (0)

/* Absolute difference of two numbers. */
#define CHECK_NEAR(a, b, tolerance)                                                                \
  do {                                                                                             \
    double check_a = (a), check_b = (b), check_t = (tolerance);                                    \
    if (!(fabs(check_a - check_b) <= check_t))                                                     \
      test_fail(__FILE__, __LINE__, "%s = %.17g, expected %.17g within %g (off by %g)", #a,        \
                check_a, check_b, check_t, check_a - check_b);                                     \
  } while (0)

/* A call that must succeed; the test ends if it does not. */
#define MUST(call)                                                                                 \
  do {                                                                                             \
    HkError must_error = {0};                                                                      \
    HkError *error = &must_error;                                                                  \
    if ((call) < 0) {                                                                              \
      test_fail(__FILE__, __LINE__, "%s: %s", #call, must_error.text);                             \
      return;                                                                                      \
    }                                                                                              \
  } while (0)

/* A call that must fail with this status and a message that contains text. */
#define FAILS(call, expected, part)                                                                \
  do {                                                                                             \
    HkError fails_error = {0};                                                                     \
    HkError *error = &fails_error;                                                                 \
    HkStatus fails_status = (call);                                                                \
    if (fails_status != (expected) || !strstr(fails_error.text, part))                             \
      test_fail(__FILE__, __LINE__, "%s: status %s, message \"%s\", expected %s with \"%s\"",      \
                #call, hk_status_name(fails_status), fails_error.text, hk_status_name(expected),   \
                part);                                                                             \
  } while (0)

#endif
