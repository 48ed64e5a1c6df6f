/* A file that is complete or absent; see target.h. */
#include "target.h"

#include "text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static HkStatus fail(const Target *target, HkError *error) {
  return text_fail(error, HK_ERROR_IO, "%.1000s: cannot write: %s", target->path, strerror(errno));
}

HkStatus target_open(Target *target, const char *path, HkError *error) {
  struct stat info;
  *target = (Target){0};
  int length = snprintf(target->path, sizeof target->path, "%s", path);
  if (length >= (int)sizeof target->path)
    return text_fail(error, HK_ERROR_IO, "%.200s...: the path is too long", path);
  snprintf(target->temporary, sizeof target->temporary, "%s.tmp", path);
  if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
    errno = EISDIR;
    return fail(target, error);
  }
  FILE *file = fopen(target->temporary, "wb");
  if (!file) return fail(target, error);
  fclose(file);
  remove(target->temporary); /* removed until there is data to write */
  target->open = true;
  return HK_OK;
}

HkStatus target_commit(Target *target, HkError *error) {
  if (rename(target->temporary, target->path) != 0) return fail(target, error);
  target->open = false;
  return HK_OK;
}

void target_abandon(Target *target) {
  if (target->open) remove(target->temporary);
  target->open = false;
}
