/* The folder of a run. */
#ifndef HK_RUN_FOLDER_H
#define HK_RUN_FOLDER_H

#include "base/status.h"

/* Creates the folder and its missing parents. */
HkStatus hk_folder_make(const char *path, HkError *error);
/* Locks the folder for a run; HK_ERROR_INVALID if another run has locked it. hk_folder_unlock, or
 * any end of the process, releases *lock; it is -1 if the file system has no locks. */
HkStatus hk_folder_lock(const char *folder, int *lock, HkError *error);
void hk_folder_unlock(int *lock);
/* Writes "folder/name" into path. */
HkStatus hk_folder_path(const char *folder, const char *name, char *path, size_t size,
                        HkError *error);
/* Returns whether the folder is empty, except for files of a run that was killed while it started.
 */
bool hk_folder_is_empty(const char *folder);
bool hk_folder_has(const char *folder, const char *name);
/* Removes the frame files that an earlier run left and, if the folder is known to be a run's, the
 * other files of all outputs and the report. */
void hk_folder_clear(const char *folder, bool is_run);

/* Checks whether a new run may begin in the folder; *is_run becomes whether it has an earlier run.
 * It returns an error for a folder that is not empty unless force is true, and always for one with
 * a file that the scene reads. */
HkStatus hk_folder_claim(const char *folder, const HkScene *scene, bool force, bool *is_run,
                         HkError *error);

#endif
