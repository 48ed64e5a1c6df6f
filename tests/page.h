/* A page without a browser: requests to a Play as text in single quotes, and their answers, for
 * tests. */
#ifndef HOOKE_TEST_PAGE_H
#define HOOKE_TEST_PAGE_H

#include "base/json.h"
#include "play.h"
#include "test.h"

typedef struct Page {
  Play *play;
  char folder[64];
} Page;

Page open_page(void);
void close_page(Page *page);
bool send_bytes(Page *page, const void *bytes, size_t size, bool binary);
/* Sends a request whose quotes are ' in text; returns whether the answer is binary. */
bool ask(Page *page, const char *text);
/* The answer as text; to be cleared. */
HkJson answer_of(Page *page);
HkJson ask_text(Page *page, const char *text);
/* The words of an error, or "". */
const char *error_in(const HkJson *answer);
double number_in(const HkJson *answer, const char *key);
void expect_good(Page *page, const char *text);
void expect_error(Page *page, const char *text, const char *words);

typedef struct Frame {
  uint32_t vertices, flags;
  double number[20];
  const float *x, *value;
  const float *pose; /* 12 numbers an obstacle: R by rows, T */
} Frame;

enum {
  TIME,
  STEP,
  KINETIC,
  SPRING,
  GRAVITY,
  OTHER,
  TOTAL,
  MADE = 14,
  ALL,
  GRABBED,
  OBSTACLES = 19
};
enum { BLOWN = 1, LATE = 16 };

/* The frame that a request is answered with; valid until the next one. */
Frame frame(Page *page, const char *text);

#endif
