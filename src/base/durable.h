/* Files that survive a power failure: they are synchronized to the disk in order and verified by
 * checksums.
 */
#ifndef HK_BASE_DURABLE_H
#define HK_BASE_DURABLE_H

#include "base/status.h"

/* Checksum of a sequence of bytes that is independent of how it is split into pieces. Starts as
 * {0}. */
typedef struct HkSum {
  uint64_t hash; /* of all whole words */
  uint64_t word; /* the bytes after the last whole word */
  int64_t size;  /* bytes so far */
} HkSum;

void hk_sum_add(HkSum *sum, const void *bytes, size_t size);
uint64_t hk_sum_value(const HkSum *sum);
bool hk_sum_is(const HkSum *a, const HkSum *b);

/* Adds the bytes of a file from `begin` to `end` (< 0: to its end). */
HkStatus hk_sum_file(HkSum *sum, const char *path, int64_t begin, int64_t end, HkError *error);

/* Synchronizes a file, or the entries of a folder, with the disk. */
HkStatus hk_sync(const char *path, HkError *error);
/* Synchronizes the whole file system of a folder with the disk, which is faster than hk_sync for
 * many files; HK_ERROR_UNSUPPORTED if the system has no such call. */
HkStatus hk_sync_all(const char *folder, HkError *error);

#endif
