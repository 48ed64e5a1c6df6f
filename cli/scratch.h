/* Temporary folders. */
#ifndef HOOKE_CLI_SCRATCH_H
#define HOOKE_CLI_SCRATCH_H

#include <stdbool.h>
#include <stddef.h>

enum { SCRATCH_PATH = 4096 };

/* Makes a new folder in `parent`, or where temporary files belong if that is NULL; only its owner
 * can read it. Writes its path; false: see errno. */
bool scratch_make(const char *parent, char folder[SCRATCH_PATH]);
/* Removes a folder with all that is in it; links are removed, not followed. */
void scratch_remove(const char *folder);

#endif
