/* Reads and writes whole files; see file.h. */
#include "base/file.h"

#include "base/durable.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Opens a regular file: reading a pipe may block forever, and a device may have no end. */
static HkStatus open_regular(const char *path, FILE **file, struct stat *info, HkError *error) {
  int handle =
      open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); /* opening a pipe does not block */
  if (handle < 0) return hk_fail_errno(error, "open", path);
  bool known = fstat(handle, info) == 0;
  if (known && S_ISREG(info->st_mode) && (*file = fdopen(handle, "rb"))) return HK_OK;
  HkStatus status = HK_ERROR_IO;
  if (known && S_ISDIR(info->st_mode))
    status = hk_fail_at(error, HK_ERROR_IO, path, 0, 0, "is a folder, not a file");
  else if (known && !S_ISREG(info->st_mode))
    status = hk_fail_at(error, HK_ERROR_IO, path, 0, 0,
                        "is a pipe or a device, not a file; write what it gives into a file first");
  else
    status = hk_fail_errno(error, "open", path);
  close(handle);
  return status;
}

HkStatus hk_join_path(const char *folder, const char *file, char *path, size_t size,
                      HkError *error) {
  bool plain = file[0] == '/' || !folder || !folder[0];
  int length = snprintf(path, size, "%s%s%s", plain ? "" : folder, plain ? "" : "/", file);
  if (length < 0 || (size_t)length >= size)
    return hk_fail_at(error, HK_ERROR_IO, file, 0, 0, "the path is too long");
  return HK_OK;
}

HkStatus hk_file_read(const HkContext *context, const char *path, char **bytes, size_t *size,
                      HkError *error) {
  *bytes = NULL;
  *size = 0;
  FILE *file;
  struct stat info;
  HK_TRY(open_regular(path, &file, &info, error));
  int64_t capacity = 0;
  HkStatus status = HK_OK;
  /* One byte more than the file's size, so that one read reaches its end. */
  int64_t guess = (int64_t)info.st_size + 2;
  status = hk_memory_check(context, (double)guess, path, "give a smaller file", error);
  if (status >= 0) status = hk_grow(context, bytes, &capacity, guess, 1, path, error);
  while (status >= 0) {
    size_t got = fread(*bytes + *size, 1, (size_t)capacity - *size - 1, file);
    *size += got;
    if (got == 0) break;
    if ((int64_t)*size + 1 >= capacity)
      status = hk_grow(context, bytes, &capacity, capacity + 1, 1, path, error);
  }
  if (status >= 0 && ferror(file)) status = hk_fail_errno(error, "read", path);
  fclose(file);
  if (status < 0) {
    hk_free(context, bytes);
    *size = 0;
    return status;
  }
  (*bytes)[*size] = 0;
  return HK_OK;
}

HkStatus hk_writer_open(HkWriter *w, const char *path, HkError *error) {
  w->path = path;
  int length = snprintf(w->temporary, sizeof w->temporary, "%s.tmp", path);
  if (length < 0 || (size_t)length >= sizeof w->temporary) {
    w->file = NULL;
    return hk_fail_at(error, HK_ERROR_IO, path, 0, 0, "the path is too long");
  }
  w->file = fopen(w->temporary, "wb");
  if (!w->file) return hk_fail_errno(error, "write", path);
  return HK_OK;
}

HkStatus hk_writer_commit(HkWriter *w, HkError *error) {
  bool bad = fflush(w->file) != 0 || ferror(w->file);
  int reason = errno;
  if (fclose(w->file) != 0 && !bad) {
    bad = true;
    reason = errno;
  }
  w->file = NULL;
  if (!bad && rename(w->temporary, w->path) != 0) {
    bad = true;
    reason = errno;
  }
  if (!bad) return HK_OK;
  unlink(w->temporary);
  errno = reason;
  return hk_fail_errno(error, "write", w->path);
}

HkStatus hk_writer_commit_durable(HkWriter *w, HkError *error) {
  bool bad = fflush(w->file) != 0 || ferror(w->file);
  int reason = errno; /* of the write that failed, for hk_writer_commit */
  if (!bad && fsync(fileno(w->file)) != 0 && errno != EINVAL && errno != EROFS) {
    HkStatus status = hk_fail_errno(error, "write", w->path);
    hk_writer_abandon(w);
    return status;
  }
  if (bad) errno = reason;
  HK_TRY(hk_writer_commit(w, error));
  char folder[sizeof w->temporary];
  const char *slash = strrchr(w->path, '/');
  snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - w->path) : 1,
           slash ? w->path : ".");
  return hk_sync(folder[0] ? folder : "/", error);
}

void hk_writer_abandon(HkWriter *w) {
  if (!w->file) return;
  fclose(w->file);
  w->file = NULL;
  unlink(w->temporary);
}

uint64_t hk_hash(uint64_t h, const void *bytes, size_t size) {
  const unsigned char *p = bytes;
  while (size > 0) {
    uint64_t word = 0;
    size_t step = size < sizeof word ? size : sizeof word;
    memcpy(&word, p, step);
    h = (h ^ word) * 0x9e3779b97f4a7c15ull;
    h ^= h >> 32;
    p += step;
    size -= step;
  }
  return h;
}
