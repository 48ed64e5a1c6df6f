/* The scanner of JSON (RFC 8259) tokens, and of comments as an extension; see json_scan.h.
 *
 *     number  = [-] (0 | 1-9 {0-9}) [. 0-9 {0-9}] [(e | E) [+ | -] 0-9 {0-9}]
 *     string  = " {character | \ one of "\/bfnrt | \u and four hexadecimal digits} "
 *     comment = // up to the end of the line, or as this one
 *
 * Characters are UTF-8 and not below U+0020. Two \u in a row may be the halves of a surrogate pair,
 * U+10000 + (high - D800) 400 + (low - DC00), all of it hexadecimal.
 */
#include "base/json_scan.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

HkStatus hk_json_fail(const HkCursor *c, const char *at, HkError *error, const char *format, ...) {
  char message[512];
  HkCursor place = *c;
  place.at = at;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  return hk_cursor_fail(&place, error, "not valid JSON: %s", message);
}

/* ---- Blanks and comments ---- */

static void begin_line(HkCursor *c, const char *start) {
  c->line_start = start;
  if (c->line < INT_MAX) c->line++;
}

static HkStatus skip_block_comment(HkCursor *c, HkError *error) {
  HkCursor start = *c;
  for (c->at += 2; c->end - c->at >= 2; c->at++) {
    if (c->at[0] == '*' && c->at[1] == '/') {
      c->at += 2;
      return HK_OK;
    }
    if (c->at[0] == '\n') begin_line(c, c->at + 1);
  }
  *c = start;
  return hk_json_fail(c, c->at, error, "this comment has no end; close it with */");
}

HkStatus hk_scan_space(HkCursor *c, HkError *error) {
  while (c->at < c->end) {
    char character = *c->at, next = c->end - c->at > 1 ? c->at[1] : 0;
    if (character == '/' && next == '*') {
      HK_TRY(skip_block_comment(c, error));
    } else if (character == '/' && next == '/') {
      const char *newline = memchr(c->at, '\n', (size_t)(c->end - c->at));
      c->at = newline ? newline : c->end;
    } else if (character == '\n') {
      begin_line(c, ++c->at);
    } else if (character == ' ' || character == '\t' || character == '\r') {
      c->at++;
    } else {
      break;
    }
  }
  return HK_OK;
}

/* ---- Numbers ---- */

static const char *skip_digits(const char *at, const char *end) {
  while (at < end && hk_is_digit(*at)) at++;
  return at;
}

/* Returns false if the number does not fit. */
static bool to_integer(const char *at, const char *end, int64_t *value) {
  bool negative = *at == '-';
  uint64_t n = 0;
  for (at += negative; at < end; at++) {
    if (n > UINT64_MAX / 10 - 1) return false;
    n = 10 * n + (uint64_t)(*at - '0');
  }
  if (n > (uint64_t)INT64_MAX + negative) return false;
  *value = negative && n > 0 ? -(int64_t)(n - 1) - 1 : (int64_t)n;
  return true;
}

HkStatus hk_scan_number(HkCursor *c, HkJson *value, HkError *error) {
  const char *start = c->at, *part = start + (*start == '-'), *at = skip_digits(part, c->end);
  bool whole = true;
  if (at == part) return hk_json_fail(c, at, error, "a digit is missing behind the minus");
  if (*part == '0' && at - part > 1)
    return hk_json_fail(c, start, error, "a number has no 0 in front of its other digits");
  if (at < c->end && *at == '.') {
    whole = false;
    part = at + 1;
    at = skip_digits(part, c->end);
    if (at == part) return hk_json_fail(c, at, error, "a digit is missing behind the point");
  }
  if (at < c->end && (*at == 'e' || *at == 'E')) {
    whole = false;
    part = at + 1;
    if (part < c->end && (*part == '+' || *part == '-')) part++;
    at = skip_digits(part, c->end);
    if (at == part) return hk_json_fail(c, at, error, "a digit is missing in the exponent");
  }
  if (whole && to_integer(start, at, &value->integer)) {
    value->kind = HK_JSON_INTEGER;
  } else if (hk_parse_double(start, (size_t)(at - start), &value->real)) {
    value->kind = HK_JSON_REAL;
  } else {
    bool is_long = at - start > 40;
    return hk_json_fail(c, start, error, "the number %.*s%s is beyond the largest double, 1.8e308",
                        is_long ? 40 : (int)(at - start), start, is_long ? "..." : "");
  }
  c->at = at;
  return HK_OK;
}

/* ---- Strings ---- */

/* Returns the value of four hexadecimal digits, or -1. */
static int32_t hexadecimal(const char *at, const char *end) {
  static const char digits[] = "0123456789abcdefABCDEF";
  int32_t code = 0;
  if (end - at < 4) return -1;
  for (int q = 0; q < 4; q++) {
    const char *digit = at[q] ? strchr(digits, at[q]) : NULL;
    if (!digit) return -1;
    int value = (int)(digit - digits);
    code = 16 * code + (value < 16 ? value : value - 6);
  }
  return code;
}

static char *put_utf8(char *out, int32_t code) {
  static const int lead[] = {0, 0xc0, 0xe0, 0xf0};
  int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  *out++ = (char)(lead[more] | code >> 6 * more);
  while (more-- > 0) *out++ = (char)(0x80 | (code >> 6 * more & 0x3f));
  return out;
}

/* The state of decoding a string. */
typedef struct Decoding {
  const HkCursor *c;
  HkError *error;
  const char *at, *stop;
  char *out;
} Decoding;

static HkStatus decode_unicode(Decoding *d) {
  const char *start = d->at;
  int32_t code = hexadecimal(start + 2, d->stop), low = -1;
  if (code < 0)
    return hk_json_fail(d->c, start, d->error, "\\u requires four hexadecimal digits behind it");
  if (code == 0) return hk_json_fail(d->c, start, d->error, "\\u0000 cannot stand in a string");
  d->at += 6;
  if (code >= 0xd800 && code < 0xe000) {
    if (d->stop - d->at >= 6 && d->at[0] == '\\' && d->at[1] == 'u')
      low = hexadecimal(d->at + 2, d->stop);
    if (code >= 0xdc00 || low < 0xdc00 || low >= 0xe000)
      return hk_json_fail(d->c, start, d->error,
                          "%.6s is half of a pair; the other half is missing", start);
    code = 0x10000 + (code - 0xd800) * 0x400 + (low - 0xdc00);
    d->at += 6;
  }
  d->out = put_utf8(d->out, code);
  return HK_OK;
}

static HkStatus decode_escape(Decoding *d) {
  static const char escapes[] = "\"\\/bfnrt", characters[] = "\"\\/\b\f\n\r\t";
  char c = d->at[1];
  if (c == 'u') return decode_unicode(d);
  const char *known = c ? strchr(escapes, c) : NULL;
  if (!known)
    return hk_json_fail(d->c, d->at, d->error,
                        "a backslash in a string goes with one of \" \\ / b f n r t u; write \\\\ "
                        "for the backslash itself");
  *d->out++ = characters[known - escapes];
  d->at += 2;
  return HK_OK;
}

static HkStatus decode(Decoding *d) {
  while (d->at < d->stop) {
    unsigned char c = (unsigned char)*d->at;
    if (c == '\\') {
      HK_TRY(decode_escape(d));
      continue;
    }
    if (c < 0x20)
      return hk_json_fail(d->c, d->at, d->error,
                          "the control character 0x%02x stands in a string; write \\u%04x", c, c);
    int length = hk_utf8_length(d->at, d->stop);
    if (length == 0)
      return hk_json_fail(d->c, d->at, d->error,
                          "the byte 0x%02x is no UTF-8 here; save the text as UTF-8", c);
    memcpy(d->out, d->at, (size_t)length);
    d->out += length;
    d->at += length;
  }
  *d->out = 0;
  return HK_OK;
}

/* The decoded string is never longer than the text between its quotes. */
HkStatus hk_scan_string(HkCursor *c, HkJson *value, HkError *error) {
  const char *start = c->at + 1, *stop = start;
  while (stop < c->end && *stop != '"' && *stop != '\n')
    stop += *stop == '\\' && c->end - stop > 1 ? 2 : 1;
  if (stop >= c->end || *stop == '\n')
    return hk_json_fail(c, c->at, error,
                        "this string has no end; close it with \" in the same line");
  size_t bytes = (size_t)(stop - start) + 1;
  char *text = malloc(bytes);
  if (!text) return hk_fail_memory(error, bytes, "a string");
  HkStatus status = decode(&(Decoding){c, error, start, stop, text});
  if (status < 0) {
    free(text);
    return status;
  }
  value->kind = HK_JSON_TEXT;
  value->text = text;
  c->at = stop + 1;
  return HK_OK;
}
