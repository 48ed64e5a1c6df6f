/* The folder of a run. */
#ifndef HK_RUN_FOLDER_H
#define HK_RUN_FOLDER_H

#include "base/status.h"

/* Makes the folder and those above it where they are not there. */
HkStatus hk_folder_make(const char *path, HkError *error);
/* Locks the folder for a run; HK_ERROR_INVALID if another one has it. *lock is closed by
 * hk_folder_unlock, and by the end of the process, whatever it is; -1 where the file system has no
 * locks. */
HkStatus hk_folder_lock(const char *folder, int *lock, HkError *error);
void hk_folder_unlock(int *lock);
/* "folder/name" into path. */
HkStatus hk_folder_path(const char *folder, const char *name, char *path, size_t size,
                        HkError *error);
/* Nothing is in it but what a start that was killed leaves. */
bool hk_folder_is_empty(const char *folder);
bool hk_folder_has(const char *folder, const char *name);
/* Removes the frame files that an earlier run left and, if the folder is known to be a run's, the
 * other files of all outputs and the report. */
void hk_folder_clear(const char *folder, bool is_run);

/* Sees whether a new run may begin in the folder; *is_run: there is an earlier one. Nothing that a
 * run did not write is lost: a folder with a run, or with anything else, is refused unless force
 * says so, and one with a file that the scene reads in any case. */
HkStatus hk_folder_claim(const char *folder, const HkScene *scene, bool force, bool *is_run,
                         HkError *error);

#endif
