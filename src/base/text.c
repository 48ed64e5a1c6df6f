/* Parses text; see text.h. */
#include "base/text.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

HkLocale hk_locale_enter(void) {
  HkLocale locale = {newlocale(LC_ALL_MASK, "C", (locale_t)0), (locale_t)0};
  if (locale.c) locale.old = uselocale(locale.c);
  return locale;
}

void hk_locale_leave(HkLocale *locale) {
  if (!locale->c) return;
  uselocale(locale->old);
  freelocale(locale->c);
  locale->c = (locale_t)0;
}

HkCursor hk_cursor(const char *name, const void *bytes, size_t size) {
  const char *at = bytes ? bytes : "";
  return (HkCursor){.at = at, .end = at + size, .line_start = at, .name = name, .line = 1};
}

int hk_cursor_column(const HkCursor *c) {
  ptrdiff_t before = c->at - c->line_start;
  return before < INT_MAX ? (int)before + 1 : INT_MAX;
}

bool hk_at_end(const HkCursor *c) {
  return c->at >= c->end;
}

static inline bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

void hk_skip_blanks(HkCursor *c) {
  while (c->at < c->end && is_blank(*c->at)) c->at++;
}

void hk_skip_line(HkCursor *c) {
  const char *newline = memchr(c->at, '\n', (size_t)(c->end - c->at));
  c->at = newline ? newline + 1 : c->end;
  c->line_start = c->at;
  c->line++;
}

void hk_skip_space(HkCursor *c, char mark) {
  for (;;) {
    hk_skip_blanks(c);
    if (c->at >= c->end) return;
    if (*c->at == '\n' || (mark && *c->at == mark))
      hk_skip_line(c);
    else
      return;
  }
}

bool hk_at_line_end(HkCursor *c) {
  hk_skip_blanks(c);
  return c->at >= c->end || *c->at == '\n';
}

bool hk_next_word(HkCursor *c, const char **word, size_t *length) {
  if (hk_at_line_end(c)) return false;
  *word = c->at;
  while (c->at < c->end && !is_blank(*c->at) && *c->at != '\n') c->at++;
  *length = (size_t)(c->at - *word);
  return true;
}

bool hk_word_is(const char *word, size_t length, const char *text) {
  return strlen(text) == length && memcmp(word, text, length) == 0;
}

HkStatus hk_cursor_fail(const HkCursor *c, HkError *error, const char *format, ...) {
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return hk_fail_at(error, HK_ERROR_FORMAT, c->name, c->line, hk_cursor_column(c), "%s", text);
}

/* Digits that fit a 53-bit mantissa times an exact power of ten are rounded correctly by one
 * multiplication or division (Clinger 1990); all others go to strtod. */
static bool parse_short_double(const char *p, const char *end, double *value) {
  static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                  1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  bool negative = false;
  if (p < end && (*p == '-' || *p == '+')) negative = *p++ == '-';
  uint64_t mantissa = 0;
  int digits = 0, exponent = 0;
  bool any = false;
  for (; p < end && *p >= '0' && *p <= '9'; p++, any = true) {
    mantissa = 10 * mantissa + (uint64_t)(*p - '0');
    if (mantissa) digits++;
    if (digits > 18) return false;
  }
  if (p < end && *p == '.') {
    for (p++; p < end && *p >= '0' && *p <= '9'; p++, any = true) {
      mantissa = 10 * mantissa + (uint64_t)(*p - '0');
      if (mantissa) digits++;
      if (digits > 18) return false;
      exponent--;
    }
  }
  if (!any) return false;
  if (p < end && (*p == 'e' || *p == 'E')) {
    p++;
    bool minus = false;
    if (p < end && (*p == '-' || *p == '+')) minus = *p++ == '-';
    if (p >= end) return false;
    int e = 0;
    for (; p < end && *p >= '0' && *p <= '9'; p++)
      if ((e = 10 * e + (*p - '0')) > 400) return false;
    exponent += minus ? -e : e;
  }
  if (p != end || mantissa > (1ull << 53) || exponent < -22 || exponent > 22) return false;
  double x = (double)mantissa;
  x = exponent < 0 ? x / powers[-exponent] : x * powers[exponent];
  *value = negative ? -x : x;
  return true;
}

bool hk_parse_double(const char *word, size_t length, double *value) {
  if (parse_short_double(word, word + length, value)) return true;
  for (size_t q = 0; q < length; q++)
    if (!strchr("0123456789.-+eE", word[q]) || !word[q]) return false;
  char buffer[128], *stop, *copy = length < sizeof buffer ? buffer : malloc(length + 1);
  if (length == 0 || !copy) return false;
  memcpy(copy, word, length);
  copy[length] = 0;
  *value = strtod(copy, &stop);
  bool good = *stop == 0 && isfinite(*value);
  if (copy != buffer) free(copy);
  return good;
}

HkStatus hk_next_double(HkCursor *c, double *value, const char *what, HkError *error) {
  hk_skip_blanks(c);
  HkCursor before = *c;
  const char *word;
  size_t length;
  if (!hk_next_word(c, &word, &length))
    return hk_cursor_fail(&before, error, "%s is missing: expected a number", what);
  if (!hk_parse_double(word, length, value))
    return hk_cursor_fail(&before, error, "%s: '%.*s' is not a finite number", what,
                          length > 40 ? 40 : (int)length, word);
  return HK_OK;
}

HkStatus hk_next_int(HkCursor *c, int64_t *value, const char *what, HkError *error) {
  hk_skip_blanks(c);
  HkCursor before = *c;
  const char *word;
  size_t length;
  if (!hk_next_word(c, &word, &length))
    return hk_cursor_fail(&before, error, "%s is missing: expected a whole number", what);
  const char *p = word, *end = word + length;
  bool negative = false;
  if (p < end && (*p == '-' || *p == '+')) negative = *p++ == '-';
  int64_t n = 0;
  bool good = p < end && end - p <= 18;
  for (; good && p < end; p++) {
    good = *p >= '0' && *p <= '9';
    n = 10 * n + (*p - '0');
  }
  if (!good)
    return hk_cursor_fail(&before, error, "%s: '%.*s' is not a whole number", what,
                          length > 40 ? 40 : (int)length, word);
  *value = negative ? -n : n;
  return HK_OK;
}

int hk_utf8_length(const char *at, const char *end) {
  if (at >= end) return 0;
  unsigned char first = (unsigned char)at[0], second;
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  int length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (end - at < length) return 0;
  for (int q = 1; q < length; q++)
    if ((at[q] & 0xc0) != 0x80) return 0;
  second = (unsigned char)at[1];
  if (first == 0xe0 && second < 0xa0) return 0; /* would fit two bytes */
  if (first == 0xed && second > 0x9f) return 0; /* surrogates */
  if (first == 0xf0 && second < 0x90) return 0; /* would fit three bytes */
  if (first == 0xf4 && second > 0x8f) return 0; /* beyond U+10FFFF */
  return length;
}

bool hk_is_utf8(const char *text) {
  const char *end = text + strlen(text);
  while (text < end) {
    int length = hk_utf8_length(text, end);
    if (length == 0) return false;
    text += length;
  }
  return true;
}

char *hk_strdup(const char *text) {
  if (!text) return NULL;
  size_t bytes = strlen(text) + 1;
  char *copy = malloc(bytes);
  if (copy) memcpy(copy, text, bytes);
  return copy;
}

/* Words are cut to this length. */
enum { WORD_LIMIT = 63 };

/* Edit distance with transpositions (optimal string alignment): bytes to insert, remove, change or
 * swap with the next one to make b from a. Row p of the table needs the two rows before it. */
static int edit_distance(const char *a, const char *b) {
  int n = (int)strnlen(a, WORD_LIMIT), m = (int)strnlen(b, WORD_LIMIT);
  int rows[3][WORD_LIMIT + 1];
  for (int q = 0; q <= m; q++) rows[0][q] = q;
  for (int p = 1; p <= n; p++) {
    int *now = rows[p % 3], *above = rows[(p + 2) % 3], *before = rows[(p + 1) % 3];
    now[0] = p;
    for (int q = 1; q <= m; q++) {
      int best = above[q - 1] + (a[p - 1] != b[q - 1]);
      if (above[q] + 1 < best) best = above[q] + 1;
      if (now[q - 1] + 1 < best) best = now[q - 1] + 1;
      bool swapped = p > 1 && q > 1 && a[p - 1] == b[q - 2] && a[p - 2] == b[q - 1];
      if (swapped && before[q - 2] + 1 < best) best = before[q - 2] + 1;
      now[q] = best;
    }
  }
  return rows[n % 3][m];
}

const char *hk_text_nearest(const char *word, const char *const *names, int count) {
  const char *best = NULL;
  int allowed = 1 + (int)strnlen(word, WORD_LIMIT) / 4;
  for (int q = 0; q < count; q++) {
    int distance = edit_distance(word, names[q]);
    if (distance > allowed || (best && distance == allowed)) continue;
    best = names[q];
    allowed = distance;
  }
  return best;
}
