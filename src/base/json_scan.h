/* The scanner of JSON tokens for json_parse.c: each call consumes one token at the cursor or
 * returns an error.
 */
#ifndef HK_BASE_JSON_SCAN_H
#define HK_BASE_JSON_SCAN_H

#include "base/json.h"
#include "base/text.h"

/* Returns the error "not valid JSON: ..." at a position in the cursor's line. */
HkStatus hk_json_fail(const HkCursor *c, const char *at, HkError *error, const char *format, ...)
    HK_PRINTF(4, 5);

/* Skips blanks, ends of lines and comments. */
HkStatus hk_scan_space(HkCursor *c, HkError *error);

/* Sets kind and content of the value from the number at the cursor, which is at a minus or a digit.
 */
HkStatus hk_scan_number(HkCursor *c, HkJson *value, HkError *error);
/* Sets kind and content of the value from the string at the cursor, which is at a quote. */
HkStatus hk_scan_string(HkCursor *c, HkJson *value, HkError *error);

static inline bool hk_is_digit(char c) {
  return c >= '0' && c <= '9';
}

#endif
