/* A file that appears whole or not at all: it is written as NAME.tmp and renamed at the end. */
#ifndef HOOKE_CLI_TARGET_H
#define HOOKE_CLI_TARGET_H

#include "hooke/hooke.h"

typedef struct Target {
  char path[4000], temporary[4096];
  bool open;
} Target;

/* Tries whether the file can be written, so that this is known before the work. */
HkStatus target_open(Target *target, const char *path, HkError *error);
/* Renames what was written. */
HkStatus target_commit(Target *target, HkError *error);
/* Removes it; harmless after a commit. */
void target_abandon(Target *target);

#endif
