/* Reads and writes whole files. */
#ifndef HK_BASE_FILE_H
#define HK_BASE_FILE_H

#include "base/memory.h"

#include <stdio.h>

/* Reads a whole file and appends a 0 byte. The caller frees *bytes with hk_free. */
HkStatus hk_file_read(const HkContext *context, const char *path, char **bytes, size_t *size,
                      HkError *error);

/* Writes "folder/file", or `file` if it is absolute or there is no folder. */
HkStatus hk_join_path(const char *folder, const char *file, char *path, size_t size,
                      HkError *error);

/* A file being written. The first error is kept and returned at the end by hk_writer_commit. */
typedef struct HkWriter {
  FILE *file;
  const char *path; /* borrowed, for error messages */
  char temporary[4096];
} HkWriter;

/* Writes to path.tmp, which hk_writer_commit renames, so that path is complete or does not exist.
 */
HkStatus hk_writer_open(HkWriter *w, const char *path, HkError *error);
HkStatus hk_writer_commit(HkWriter *w, HkError *error);
/* As hk_writer_commit; after a power failure the file is either the old or the new one. */
HkStatus hk_writer_commit_durable(HkWriter *w, HkError *error);
/* Closes and removes the temporary file; harmless after a commit. */
void hk_writer_abandon(HkWriter *w);

/* Updates the 64-bit checksum h by eight bytes at a time; h starts as HK_HASH_START. */
#define HK_HASH_START 0x51ed270b9f1c3a57ull
uint64_t hk_hash(uint64_t h, const void *bytes, size_t size);

#endif
