/* Buffered output to a file: text, numbers, base64, raw bytes.
 *
 * After an error nothing more is written. Callers call hk_stream_end at the end and check the file
 * once (hk_writer_commit or hk_output_append_flush).
 */
#ifndef HK_BASE_STREAM_H
#define HK_BASE_STREAM_H

#include "base/memory.h"

#include <stdio.h>
#include <string.h>

enum { HK_STREAM_BLOCK = 1 << 18, HK_STREAM_PIECE = 1 << 16 };

typedef struct HkStream {
  FILE *file;  /* borrowed */
  char *block; /* HK_STREAM_BLOCK bytes */
  size_t used;
  int reason; /* errno of the first failure, 0 while there is none */
} HkStream;

/* Allocates the buffer; the stream serves many files, one after the other. */
HkStatus hk_stream_create(const HkContext *context, HkStream *s, HkError *error);
void hk_stream_destroy(const HkContext *context, HkStream *s);

void hk_stream_begin(HkStream *s, FILE *file);
/* Writes the rest of the buffer; sets errno to that of the first failure, if there was one. */
void hk_stream_end(HkStream *s);

/* Writes the buffer to the file. */
void hk_stream_empty(HkStream *s);

/* Returns the address of size <= HK_STREAM_PIECE free bytes; the caller fills them and increases
 * s->used. */
static inline char *hk_stream_reserve(HkStream *s, size_t size) {
  if (s->used + size > HK_STREAM_BLOCK) hk_stream_empty(s);
  return s->block + s->used;
}

static inline void hk_stream_char(HkStream *s, char character) {
  *hk_stream_reserve(s, 1) = character;
  s->used++;
}

/* At most HK_STREAM_PIECE bytes at a time. */
void hk_stream_printf(HkStream *s, const char *format, ...) HK_PRINTF(2, 3);
/* Writes raw bytes, any number of them. */
void hk_stream_bytes(HkStream *s, const void *bytes, size_t size);
void hk_stream_int(HkStream *s, int64_t value);
/* Writes nine digits as "%.9g" does, or 17 as "%.17g" if precise. */
void hk_stream_double(HkStream *s, double value, bool precise);
/* Writes size <= HK_STREAM_PIECE / 4 * 3 bytes as base64 (RFC 4648), padded if size is not a
 * multiple of 3. */
void hk_stream_base64(HkStream *s, const void *bytes, size_t size);

/* Stores little endian on every machine. */
static inline void hk_store_le32(unsigned char *p, uint32_t value) {
  for (int q = 0; q < 4; q++) p[q] = (unsigned char)(value >> 8 * q);
}

static inline void hk_store_le64(unsigned char *p, uint64_t value) {
  for (int q = 0; q < 8; q++) p[q] = (unsigned char)(value >> 8 * q);
}

static inline void hk_store_float(unsigned char *p, double value) {
  float narrow = (float)value;
  uint32_t bits;
  memcpy(&bits, &narrow, sizeof bits);
  hk_store_le32(p, bits);
}

static inline void hk_store_double(unsigned char *p, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  hk_store_le64(p, bits);
}

#endif
