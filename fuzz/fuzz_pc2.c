/* libFuzzer target of the reader of PC2 files (hooke render): whatever the bytes are, a sample is
 * whole or not there.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "pc2_cache.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  enum { VERTICES = 4 };
  static const int64_t samples[] = {0, 1, 2, 1000, INT32_MAX, UINT32_MAX, INT64_MAX, -1};
  Pc2Cache cache;
  FILE *file = size > 0 ? fmemopen((void *)(uintptr_t)bytes, size, "rb") : NULL;
  if (!pc2_open(file, VERTICES, &cache)) return 0;
  for (size_t q = 0; q < sizeof samples / sizeof samples[0]; q++) {
    float x[3 * VERTICES];
    bool there = samples[q] >= 0 && samples[q] < cache.count &&
                 samples[q] < ((int64_t)size - 32) / (12 * VERTICES);
    if (pc2_read(&cache, samples[q], x) != there) abort();
  }
  pc2_close(&cache);
  return 0;
}
