/* A file that is complete or absent: it is written as NAME.tmp and renamed at the end. */
#ifndef HOOKE_CLI_TARGET_H
#define HOOKE_CLI_TARGET_H

#include "hooke/hooke.h"

typedef struct Target {
  char path[4000], temporary[4096];
  bool open;
} Target;

/* Opens the temporary file, so that an error is found before the work begins. */
HkStatus target_open(Target *target, const char *path, HkError *error);
/* Renames the temporary file. */
HkStatus target_commit(Target *target, HkError *error);
/* Removes the temporary file; harmless after a commit. */
void target_abandon(Target *target);

#endif
