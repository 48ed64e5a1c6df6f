/* Reading and writing text without the program's locale: 0.5 is never 0,5. */
#ifndef HK_BASE_TEXT_H
#define HK_BASE_TEXT_H

#include "base/status.h"

#include <locale.h>

/* Between enter and leave, printf and strtod of this thread use the C locale. Every public call
 * that reads or writes text stands between the two. */
typedef struct HkLocale {
  locale_t c, old;
} HkLocale;
HkLocale hk_locale_enter(void);
void hk_locale_leave(HkLocale *locale);

/* Walks over text that need not end in 0, with the line for error messages. */
typedef struct HkCursor {
  const char *at, *end;
  const char *line_start;
  const char *name; /* of the file */
  int line;
} HkCursor;

HkCursor hk_cursor(const char *name, const void *bytes, size_t size);
int hk_cursor_column(const HkCursor *c);

/* Spaces, tabs and carriage returns; not the end of the line. */
void hk_skip_blanks(HkCursor *c);
/* Blanks, ends of lines and comments that start with mark (0: none) and run to the end of the line.
 */
void hk_skip_space(HkCursor *c, char mark);
/* To the start of the next line. */
void hk_skip_line(HkCursor *c);
/* True at the end of the line or of the text, blanks skipped. */
bool hk_at_line_end(HkCursor *c);
bool hk_at_end(const HkCursor *c);

/* The next word up to a blank or the end of the line, on this line; false if there is none. */
bool hk_next_word(HkCursor *c, const char **word, size_t *length);
bool hk_word_is(const char *word, size_t length, const char *text);

/* A finite number or a whole number after blanks, on this line. what stands in the error message.
 */
HkStatus hk_next_double(HkCursor *c, double *value, const char *what, HkError *error);
HkStatus hk_next_int(HkCursor *c, int64_t *value, const char *what, HkError *error);

/* The nearest double of a decimal number that is nothing else, of any length; false if it is none
 * or not finite. */
bool hk_parse_double(const char *word, size_t length, double *value);

/* Error at the cursor's place. */
HkStatus hk_cursor_fail(const HkCursor *c, HkError *error, const char *format, ...) HK_PRINTF(3, 4);

/* Bytes of the UTF-8 character that begins here, before the end; 0 if it is none (overlong forms,
 * surrogates and what lies beyond U+10FFFF included). */
int hk_utf8_length(const char *at, const char *end);
bool hk_is_utf8(const char *text);

/* Copies with malloc; NULL stays NULL. */
char *hk_strdup(const char *text);

#endif
