/* Parses and writes text independently of the program's locale: 0.5 is never 0,5. */
#ifndef HK_BASE_TEXT_H
#define HK_BASE_TEXT_H

#include "base/status.h"

#include <locale.h>

/* Between enter and leave, printf and strtod of this thread use the C locale. Every public function
 * that reads or writes text calls both. */
typedef struct HkLocale {
  locale_t c, old;
} HkLocale;
HkLocale hk_locale_enter(void);
void hk_locale_leave(HkLocale *locale);

/* A position in a text that need not end in 0, with its line for error messages. */
typedef struct HkCursor {
  const char *at, *end;
  const char *line_start;
  const char *name; /* of the file */
  int line;
} HkCursor;

HkCursor hk_cursor(const char *name, const void *bytes, size_t size);
int hk_cursor_column(const HkCursor *c);

/* Skips spaces, tabs and carriage returns, but not the end of the line. */
void hk_skip_blanks(HkCursor *c);
/* Skips blanks, ends of lines, and comments from mark (0: none) to the end of the line. */
void hk_skip_space(HkCursor *c, char mark);
/* Moves to the start of the next line. */
void hk_skip_line(HkCursor *c);
/* Skips blanks; returns whether the cursor is at the end of the line or of the text. */
bool hk_at_line_end(HkCursor *c);
bool hk_at_end(const HkCursor *c);

/* Finds the next word on this line, up to a blank or the end of the line; returns false if there is
 * none. */
bool hk_next_word(HkCursor *c, const char **word, size_t *length);
bool hk_word_is(const char *word, size_t length, const char *text);

/* Parse a finite number, or a whole number, after blanks on this line; `what` names it in error
 * messages. */
HkStatus hk_next_double(HkCursor *c, double *value, const char *what, HkError *error);
HkStatus hk_next_int(HkCursor *c, int64_t *value, const char *what, HkError *error);

/* Parses a whole word as a decimal number of any length to the nearest double; returns false if it
 * is not a number or not finite. */
bool hk_parse_double(const char *word, size_t length, double *value);

/* Returns HK_ERROR_FORMAT at the cursor. */
HkStatus hk_cursor_fail(const HkCursor *c, HkError *error, const char *format, ...) HK_PRINTF(3, 4);

/* Returns the length in bytes of the UTF-8 character at `at`; 0 if it is invalid (overlong forms,
 * surrogates and values beyond U+10FFFF included). */
int hk_utf8_length(const char *at, const char *end);
bool hk_is_utf8(const char *text);

/* Returns a copy made with malloc; NULL for NULL. */
char *hk_strdup(const char *text);

#endif
