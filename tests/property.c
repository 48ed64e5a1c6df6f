/* Random property tests with shrinking; see property.h. */
#include "property.h"

#include <stdarg.h>
#include <time.h>

enum { SHRINK_RUNS_MAX = 3000, SHRINK_SECONDS_MAX = 60, SANITIZED_SHARE = 4 };
static const uint64_t DEFAULT_SEED = 1678; /* ut tensio, sic vis */

typedef struct Span {
  int64_t begin, end;
} Span;

struct Draw {
  uint64_t random;
  const uint64_t *replay; /* NULL: numbers are random */
  int64_t replay_count;
  uint64_t *numbers; /* drawn so far */
  int64_t count, capacity;
  Span *spans;
  int64_t span_count, span_capacity;
  char *text, *reason; /* reason NULL: the property holds so far */
  size_t used;
};

static void *resized(void *p, size_t bytes) {
  p = realloc(p, bytes);
  if (!p) abort();
  return p;
}

/* ---- Drawing ---- */

/* SplitMix64. */
static uint64_t next_random(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

uint64_t draw_below(Draw *draw, uint64_t count) {
  uint64_t number = 0;
  if (!draw->replay)
    number = next_random(&draw->random) % count;
  else if (draw->count < draw->replay_count)
    number = draw->replay[draw->count];
  if (number >= count) number = count - 1;
  if (draw->count == draw->capacity) {
    draw->capacity = 2 * draw->capacity + 64;
    draw->numbers = resized(draw->numbers, (size_t)draw->capacity * sizeof *draw->numbers);
  }
  return draw->numbers[draw->count++] = number;
}

int draw_int(Draw *draw, int low, int high) {
  return low + (int)draw_below(draw, (uint64_t)(high - low) + 1);
}

bool draw_chance(Draw *draw, int percent) {
  return draw_below(draw, 100) >= (uint64_t)(100 - percent);
}

double draw_number(Draw *draw, double low, double high) {
  enum { PARTS = 1024 };
  return low + (high - low) * ((double)draw_below(draw, PARTS + 1) / PARTS);
}

double draw_decades(Draw *draw, int low, int high) {
  int exponent = draw_int(draw, low, high);
  char text[32]; /* the nearest double of a decimal number, which formats in few digits */
  snprintf(text, sizeof text, "%de%d", draw_int(draw, 1, 9), exponent);
  return strtod(text, NULL);
}

bool draw_more(Draw *draw, DrawList *list) {
  if (list->span > 0) draw->spans[list->span - 1].end = draw->count;
  list->span = 0;
  int64_t begin = draw->count;
  if (list->count >= list->max || !draw_chance(draw, 70)) return false;
  if (draw->span_count == draw->span_capacity) {
    draw->span_capacity = 2 * draw->span_capacity + 64;
    draw->spans = resized(draw->spans, (size_t)draw->span_capacity * sizeof *draw->spans);
  }
  draw->spans[draw->span_count] = (Span){begin, begin};
  list->span = ++draw->span_count;
  list->count++;
  return true;
}

/* ---- Words ---- */

static char *format_text(const char *format, va_list arguments) {
  va_list again;
  va_copy(again, arguments);
  size_t size = (size_t)vsnprintf(NULL, 0, format, again) + 1;
  va_end(again);
  char *text = resized(NULL, size);
  vsnprintf(text, size, format, arguments);
  return text;
}

void draw_note(Draw *draw, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char *more = format_text(format, arguments);
  va_end(arguments);
  size_t length = strlen(more);
  draw->text = resized(draw->text, draw->used + length + 1);
  memcpy(draw->text + draw->used, more, length + 1);
  draw->used += length;
  free(more);
}

const char *draw_text(const Draw *draw) {
  return draw->text ? draw->text : "";
}

void draw_fail(Draw *draw, const char *format, ...) {
  if (draw->reason) return;
  va_list arguments;
  va_start(arguments, format);
  draw->reason = format_text(format, arguments);
  va_end(arguments);
}

bool draw_failed(const Draw *draw) {
  return draw->reason != NULL;
}

/* ---- Shrinking ---- */

static void clear(Draw *draw) {
  free(draw->numbers);
  free(draw->spans);
  free(draw->text);
  free(draw->reason);
  *draw = (Draw){0};
}

static bool is_smaller(const Draw *a, const Draw *b) {
  if (a->count != b->count) return a->count < b->count;
  for (int64_t q = 0; q < a->count; q++)
    if (a->numbers[q] != b->numbers[q]) return a->numbers[q] < b->numbers[q];
  return false;
}

typedef struct Shrinking {
  Property *property;
  Draw best;
  int64_t runs;
  time_t end;
} Shrinking;

/* Runs the property on numbers; keeps them if it fails on them and they are smaller. */
static bool try_numbers(Shrinking *s, const uint64_t *numbers, int64_t count) {
  if (s->runs >= SHRINK_RUNS_MAX || time(NULL) > s->end) return false;
  s->runs++;
  Draw draw = {.replay = numbers, .replay_count = count};
  s->property(&draw);
  if (!draw.reason || !is_smaller(&draw, &s->best)) {
    clear(&draw);
    return false;
  }
  clear(&s->best);
  s->best = draw;
  return true;
}

static bool try_without(Shrinking *s, int64_t begin, int64_t end) {
  const Draw *d = &s->best;
  if (begin >= end || end > d->count) return false;
  uint64_t *numbers = resized(NULL, (size_t)d->count * sizeof *numbers);
  memcpy(numbers, d->numbers, (size_t)begin * sizeof *numbers);
  memcpy(numbers + begin, d->numbers + end, (size_t)(d->count - end) * sizeof *numbers);
  bool better = try_numbers(s, numbers, d->count - (end - begin));
  free(numbers);
  return better;
}

static bool try_value(Shrinking *s, int64_t at, uint64_t value) {
  const Draw *d = &s->best;
  if (at >= d->count || value >= d->numbers[at]) return false;
  uint64_t *numbers = resized(NULL, (size_t)d->count * sizeof *numbers);
  memcpy(numbers, d->numbers, (size_t)d->count * sizeof *numbers);
  numbers[at] = value;
  bool better = try_numbers(s, numbers, d->count);
  free(numbers);
  return better;
}

static bool delete_spans(Shrinking *s) {
  enum { LONGEST = 32 };
  bool better = false;
  for (int64_t q = s->best.span_count; q-- > 0;)
    if (q < s->best.span_count)
      better |= try_without(s, s->best.spans[q].begin, s->best.spans[q].end);
  for (int64_t length = LONGEST; length > 0; length /= 2)
    for (int64_t at = s->best.count - length; at >= 0; at--)
      better |= try_without(s, at, at + length);
  return better;
}

/* Zero first, then by bisection between a number that passes and one that fails. */
static bool lower_numbers(Shrinking *s) {
  bool better = false;
  for (int64_t at = 0; at < s->best.count; at++) {
    if (try_value(s, at, 0)) {
      better = true;
      continue;
    }
    uint64_t passes = 0;
    while (at < s->best.count && s->best.numbers[at] > passes + 1) {
      uint64_t middle = passes + (s->best.numbers[at] - passes) / 2;
      if (try_value(s, at, middle))
        better = true;
      else
        passes = middle;
    }
  }
  return better;
}

/* ---- Running ---- */

bool property_holds(Property *property, uint64_t seed, int64_t cases, Counterexample *failed) {
  for (int64_t q = 0; q < cases; q++) {
    Draw draw = {.random = seed + (uint64_t)q};
    next_random(&draw.random); /* seeds that follow each other give unrelated cases */
    draw.random ^= next_random(&draw.random);
    property(&draw);
    if (!draw.reason) {
      clear(&draw);
      continue;
    }
    Shrinking s = {.property = property, .best = draw, .end = time(NULL) + SHRINK_SECONDS_MAX};
    for (bool better = true; better;) {
      better = delete_spans(&s);
      better |= lower_numbers(&s);
    }
    *failed = (Counterexample){.seed = seed + (uint64_t)q,
                               .numbers = s.best.numbers,
                               .count = s.best.count,
                               .text = s.best.text,
                               .reason = s.best.reason};
    free(s.best.spans);
    return false;
  }
  return true;
}

void counterexample_destroy(Counterexample *failed) {
  free(failed->numbers);
  free(failed->text);
  free(failed->reason);
  *failed = (Counterexample){0};
}

void property_check(Property *property, int64_t cases) {
  const char *seed_text = getenv("HOOKE_PROPERTY_SEED");
  const char *cases_text = getenv("HOOKE_PROPERTY_CASES");
  uint64_t seed = seed_text ? strtoull(seed_text, NULL, 10) : DEFAULT_SEED;
#ifdef TEST_SANITIZED
  cases = (cases + SANITIZED_SHARE - 1) / SANITIZED_SHARE;
#endif
  if (cases_text) cases = strtoll(cases_text, NULL, 10);
  Counterexample failed = {0};
  if (property_holds(property, seed, cases, &failed)) return;
  test_fail(__FILE__, __LINE__,
            "%s\n    smallest case: %s\n    repeat: HOOKE_PROPERTY_SEED=%llu "
            "HOOKE_PROPERTY_CASES=1",
            failed.reason, failed.text ? failed.text : "", (unsigned long long)failed.seed);
  counterexample_destroy(&failed);
}
