/* Whole files in and out, with clear errors. */
#ifndef HK_BASE_FILE_H
#define HK_BASE_FILE_H

#include "base/memory.h"

#include <stdio.h>

/* Reads a whole file; a 0 byte stands behind the last one. Freed with hk_free. */
HkStatus hk_file_read(const HkContext *context, const char *path, char **bytes, size_t *size,
                      HkError *error);

/* A file being written. Errors stick: write freely, look once at the end. */
typedef struct HkWriter {
  FILE *file;
  const char *path; /* borrowed, for error messages */
  char temporary[4096];
} HkWriter;

/* Writes to path.tmp; hk_writer_commit renames it, so that path is whole or not there. */
HkStatus hk_writer_open(HkWriter *w, const char *path, HkError *error);
HkStatus hk_writer_commit(HkWriter *w, HkError *error);
/* As hk_writer_commit, and after a loss of power the file is the old one or the new one. */
HkStatus hk_writer_commit_durable(HkWriter *w, HkError *error);
/* Closes and removes the temporary file; harmless after a commit. */
void hk_writer_abandon(HkWriter *w);

/* 64-bit checksum, eight bytes at a time; h starts as HK_HASH_START and runs through. */
#define HK_HASH_START 0x51ed270b9f1c3a57ull
uint64_t hk_hash(uint64_t h, const void *bytes, size_t size);

#endif
