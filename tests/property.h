/* Random property tests with shrinking.
 *
 * A property is a function of a stream of numbers that it draws. The numbers drawn are the case: a
 * failing case is shrunk by deleting spans of its numbers and by lowering numbers, and by running
 * the property again on what is left, where a number that is missing is 0 and one that is too large
 * becomes the largest allowed one. The result is the smallest list found that still fails: first by
 * its length, then by its numbers from left to right. Generators therefore map 0 to the simplest
 * choice.
 *
 * HOOKE_PROPERTY_SEED (default: a fixed number) and HOOKE_PROPERTY_CASES set the seed of the first
 * case and the number of cases. Case q has the seed of the first case plus q, so that the seed of a
 * failing case with HOOKE_PROPERTY_CASES=1 repeats it.
 */
#ifndef HOOKE_TEST_PROPERTY_H
#define HOOKE_TEST_PROPERTY_H

#include "test.h"

/* A case while a property runs on it; opaque. */
typedef struct Draw Draw;
typedef void Property(Draw *draw);

/* A whole number from 0 to count - 1; count is 1 or more. */
uint64_t draw_below(Draw *draw, uint64_t count);
/* A whole number from low to high; low is the simplest one. */
int draw_int(Draw *draw, int low, int high);
/* True with this chance of 100; false is simpler. */
bool draw_chance(Draw *draw, int percent);
/* A number of 1024 from low to high; low is the simplest one. */
double draw_number(Draw *draw, double low, double high);
/* d * 10^e with a digit d from 1 to 9 and e from low to high; 10^low is the simplest one. */
double draw_decades(Draw *draw, int low, int high);

/* A list whose elements are deleted as a whole:
 *
 *     for (DrawList list = {.max = 5}; draw_more(draw, &list);) draw_element(draw);
 */
typedef struct DrawList {
  int count, max; /* elements so far, at most */
  int64_t span;   /* of the present element, from 1; 0: none */
} DrawList;
bool draw_more(Draw *draw, DrawList *list);

/* Appends to the text that shows the case to a reader; printf-like. */
void draw_note(Draw *draw, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The text so far. */
const char *draw_text(const Draw *draw);
/* Says that the property does not hold for this case, and why; the first reason counts. */
void draw_fail(Draw *draw, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool draw_failed(const Draw *draw);

#define DRAW_CHECK(draw, condition)                                                                \
  do {                                                                                             \
    if (!(condition)) draw_fail(draw, "%s:%d: %s", __FILE__, __LINE__, #condition);                \
  } while (0)

/* A case for which a property does not hold, after shrinking. */
typedef struct Counterexample {
  uint64_t seed;     /* of the case before shrinking */
  uint64_t *numbers; /* the numbers drawn */
  int64_t count;
  char *text, *reason;
} Counterexample;

/* Runs a property on cases; returns whether it holds for all of them, else the first case that
 * fails, shrunk, which is released by counterexample_destroy. */
bool property_holds(Property *property, uint64_t seed, int64_t cases, Counterexample *failed);
void counterexample_destroy(Counterexample *failed);

/* Runs a property on this number of cases, or a quarter of them under sanitizers, or as the
 * environment says; a case that fails is printed and fails the test. */
void property_check(Property *property, int64_t cases);

#endif
