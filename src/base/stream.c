/* Buffered output to a file; see stream.h. */
#include "base/stream.h"

#include "base/decimal.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

HkStatus hk_stream_create(const HkContext *context, HkStream *s, HkError *error) {
  *s = (HkStream){0};
  return hk_alloc(context, &s->block, HK_STREAM_BLOCK, 1, "a block for writing", error);
}

void hk_stream_destroy(const HkContext *context, HkStream *s) {
  hk_free(context, &s->block);
  *s = (HkStream){0};
}

void hk_stream_begin(HkStream *s, FILE *file) {
  s->file = file;
  s->used = 0;
  s->reason = 0;
}

void hk_stream_empty(HkStream *s) {
  if (s->used > 0 && !s->reason) {
    errno = 0;
    if (fwrite(s->block, 1, s->used, s->file) != s->used) s->reason = errno ? errno : EIO;
  }
  s->used = 0;
}

void hk_stream_end(HkStream *s) {
  hk_stream_empty(s);
  if (s->reason) errno = s->reason;
}

void hk_stream_printf(HkStream *s, const char *format, ...) {
  char *at = hk_stream_reserve(s, HK_STREAM_PIECE);
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(at, HK_STREAM_PIECE, format, arguments);
  va_end(arguments);
  if (length > 0) s->used += (size_t)length;
}

void hk_stream_bytes(HkStream *s, const void *bytes, size_t size) {
  const char *from = bytes;
  while (size > 0) {
    size_t piece = size < HK_STREAM_PIECE ? size : HK_STREAM_PIECE;
    memcpy(hk_stream_reserve(s, piece), from, piece);
    s->used += piece;
    from += piece;
    size -= piece;
  }
}

void hk_stream_int(HkStream *s, int64_t value) {
  char digits[20];
  int count = 0;
  uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
  do digits[count++] = (char)('0' + rest % 10);
  while (rest /= 10);
  char *at = hk_stream_reserve(s, sizeof digits + 1);
  s->used += (size_t)count + (value < 0);
  if (value < 0) *at++ = '-';
  while (count > 0) *at++ = digits[--count];
}

void hk_stream_double(HkStream *s, double value, bool precise) {
  char *at = hk_stream_reserve(s, 32);
  int length = precise ? snprintf(at, 32, "%.17g", value) : hk_decimal9(value, at);
  s->used += (size_t)length;
}

void hk_stream_base64(HkStream *s, const void *bytes, size_t size) {
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const unsigned char *p = bytes;
  size_t groups = size / 3, rest = size % 3;
  char *at = hk_stream_reserve(s, 4 * (groups + 1));
  s->used += 4 * (groups + (rest > 0));
  for (size_t q = 0; q < groups; q++, p += 3, at += 4) {
    uint32_t three = (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
    at[0] = letters[three >> 18];
    at[1] = letters[three >> 12 & 63];
    at[2] = letters[three >> 6 & 63];
    at[3] = letters[three & 63];
  }
  if (rest == 0) return;
  uint32_t three = (uint32_t)p[0] << 16 | (rest == 2 ? (uint32_t)p[1] << 8 : 0);
  at[0] = letters[three >> 18];
  at[1] = letters[three >> 12 & 63];
  at[2] = rest == 2 ? letters[three >> 6 & 63] : '=';
  at[3] = '=';
}
