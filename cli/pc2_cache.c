/* Samples of a PC2 file; see pc2_cache.h. The layout, which src/output/pc2.c writes, all little
 * endian:
 *
 *     "POINTCACHE2\0"  i32 version  i32 points  f32 start  f32 rate  i32 samples
 *     f32 x y z of every point, sample after sample
 */
#include "pc2_cache.h"

#include <string.h>
#include <sys/types.h>

enum { HEAD = 32, POINTS_AT = 16, SAMPLES_AT = 28 };

static uint32_t word_at(const unsigned char *bytes) {
  return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

/* Returns the number of complete samples by the length of the file; no sample is empty. */
static int64_t count_whole(FILE *file, int64_t vertices) {
  if (vertices == 0 || fseeko(file, 0, SEEK_END) != 0) return 0;
  int64_t size = (int64_t)ftello(file);
  return size > HEAD ? (size - HEAD) / (12 * vertices) : 0;
}

bool pc2_open(FILE *file, int64_t vertices, Pc2Cache *cache) {
  unsigned char head[HEAD];
  *cache = (Pc2Cache){.file = file, .vertices = vertices};
  bool good = file && fread(head, 1, sizeof head, file) == sizeof head &&
              memcmp(head, "POINTCACHE2", 12) == 0 && word_at(head + POINTS_AT) == vertices;
  if (!good) {
    pc2_close(cache);
    return false;
  }
  cache->count = word_at(head + SAMPLES_AT);
  cache->whole = count_whole(file, vertices);
  return true;
}

bool pc2_read(const Pc2Cache *cache, int64_t index, float *x) {
  int64_t numbers = 3 * cache->vertices;
  if (index < 0 || index >= cache->count || index >= cache->whole) return false;
  if (fseeko(cache->file, (off_t)(HEAD + 4 * numbers * index), SEEK_SET) != 0 ||
      fread(x, 4, (size_t)numbers, cache->file) != (size_t)numbers)
    return false;
  for (int64_t q = 0; q < numbers; q++) {
    uint32_t bits = word_at((const unsigned char *)(x + q));
    memcpy(x + q, &bits, sizeof bits);
  }
  return true;
}

void pc2_close(Pc2Cache *cache) {
  if (cache->file) fclose(cache->file);
  cache->file = NULL;
}
