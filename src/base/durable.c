/* Files that survive a loss of power; see durable.h.
 *
 * The checksum is hk_hash's: h = (h ^ word) * odd, h ^= h >> 32, for each word of eight bytes. Both
 * parts are bijections of h, so that a change within one word is always noticed. The length counts
 * too, so that zeros at the end are noticed.
 */
#define _GNU_SOURCE /* syncfs */
#include "base/durable.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WORD = 8, BLOCK = 65536 };

void hk_sum_add(HkSum *sum, const void *bytes, size_t size) {
  const unsigned char *p = bytes;
  size_t begun = (size_t)(sum->size % WORD);
  sum->size += (int64_t)size;
  if (begun > 0) {
    size_t part = size < WORD - begun ? size : WORD - begun;
    memcpy((unsigned char *)&sum->word + begun, p, part);
    if (begun + part < WORD) return;
    sum->hash = hk_hash(sum->hash, &sum->word, WORD);
    sum->word = 0;
    p += part;
    size -= part;
  }
  size_t rest = size % WORD;
  sum->hash = hk_hash(sum->hash, p, size - rest);
  memcpy(&sum->word, p + size - rest, rest);
}

uint64_t hk_sum_value(const HkSum *sum) {
  return hk_hash(hk_hash(sum->hash, &sum->word, WORD), &sum->size, sizeof sum->size);
}

bool hk_sum_is(const HkSum *a, const HkSum *b) {
  return a->hash == b->hash && a->word == b->word && a->size == b->size;
}

static HkStatus read_part(HkSum *sum, int file, const char *path, int64_t begin, int64_t end,
                          HkError *error) {
  char block[BLOCK];
  while (end < 0 || begin < end) {
    size_t want = end >= 0 && end - begin < BLOCK ? (size_t)(end - begin) : BLOCK;
    ssize_t got = pread(file, block, want, (off_t)begin);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return hk_fail_errno(error, "read", path);
    if (got == 0 && end >= 0)
      return hk_fail_at(error, HK_ERROR_FORMAT, path, 0, 0, "is shorter than it was");
    if (got == 0) break;
    hk_sum_add(sum, block, (size_t)got);
    begin += got;
  }
  return HK_OK;
}

HkStatus hk_sum_file(HkSum *sum, const char *path, int64_t begin, int64_t end, HkError *error) {
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return hk_fail_errno(error, "open", path);
  struct stat info;
  bool regular = fstat(file, &info) == 0 && S_ISREG(info.st_mode);
  HkStatus status =
      regular ? read_part(sum, file, path, begin, end, error)
              : hk_fail_at(error, HK_ERROR_IO, path, 0, 0, "is a pipe or a device, not a file");
  close(file);
  return status;
}

/* File systems without fsync return EINVAL or ENOTSUP, which is ignored. */
static HkStatus sync_by(int (*sync)(int), const char *path, HkError *error) {
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return hk_fail_errno(error, "open", path);
  bool good = sync(file) == 0 || errno == EINVAL || errno == ENOTSUP || errno == EROFS;
  HkStatus status = good ? HK_OK : hk_fail_errno(error, "write", path);
  close(file);
  return status;
}

HkStatus hk_sync(const char *path, HkError *error) {
  return sync_by(fsync, path, error);
}

HkStatus hk_sync_all(const char *folder, HkError *error) {
#ifdef __linux__
  return sync_by(syncfs, folder, error);
#else
  return hk_fail_at(error, HK_ERROR_UNSUPPORTED, folder, 0, 0,
                    "cannot be written to the disk at once");
#endif
}
