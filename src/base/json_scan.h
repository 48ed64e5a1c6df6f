/* The tokens of JSON, for json_parse.c: each call takes one from the cursor or says what is wrong.
 */
#ifndef HK_BASE_JSON_SCAN_H
#define HK_BASE_JSON_SCAN_H

#include "base/json.h"
#include "base/text.h"

/* "not valid JSON: ...", at a place of the cursor's line. */
HkStatus hk_json_fail(const HkCursor *c, const char *at, HkError *error, const char *format, ...)
    HK_PRINTF(4, 5);

/* Blanks, ends of lines and comments. */
HkStatus hk_scan_space(HkCursor *c, HkError *error);

/* These set the kind and the content of the value. The cursor stands at a minus or a digit, */
HkStatus hk_scan_number(HkCursor *c, HkJson *value, HkError *error);
/* or at a quote. */
HkStatus hk_scan_string(HkCursor *c, HkJson *value, HkError *error);

static inline bool hk_is_digit(char c) {
  return c >= '0' && c <= '9';
}

#endif
