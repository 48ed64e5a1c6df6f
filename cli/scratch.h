/* Temporary folders. */
#ifndef HOOKE_CLI_SCRATCH_H
#define HOOKE_CLI_SCRATCH_H

#include <stdbool.h>
#include <stddef.h>

enum { SCRATCH_PATH = 4096 };

/* Creates a folder in `parent`, or in the folder for temporary files if it is NULL, that only its
 * owner can read, and writes its path; returns false with errno if it fails. */
bool scratch_make(const char *parent, char folder[SCRATCH_PATH]);
/* Removes a folder with all that is in it; links are removed, not followed. */
void scratch_remove(const char *folder);

#endif
