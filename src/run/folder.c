/* The folder of a run; see folder.h. */
#include "run/folder.h"

#include "model/build.h"
#include "output/checkpoint.h"
#include "output/output.h"
#include "report/page.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

HkStatus hk_folder_path(const char *folder, const char *name, char *path, size_t size,
                        HkError *error) {
  int length = snprintf(path, size, "%s/%s", folder, name);
  if (length < 0 || (size_t)length >= size)
    return hk_fail_at(error, HK_ERROR_IO, folder, 0, 0, "the path is too long");
  return HK_OK;
}

static bool is_folder(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* Synchronizes the entry of a new folder in its parent with the disk; a parent that cannot be read
 * is skipped. */
static void sync_parent(const char *path) {
  char parent[4096];
  snprintf(parent, sizeof parent, "%s/..", path);
  hk_sync(parent, NULL);
}

HkStatus hk_folder_make(const char *path, HkError *error) {
  char part[4096];
  size_t length = strlen(path);
  if (length == 0 || length >= sizeof part)
    return hk_fail_at(error, HK_ERROR_IO, path, 0, 0, "is no usable folder name");
  memcpy(part, path, length + 1);
  for (char *p = part + 1;; p++) {
    if (*p && *p != '/') continue;
    char keep = *p;
    *p = 0;
    int reason = mkdir(part, 0777) == 0 ? 0 : errno; /* is_folder may change errno */
    if (!reason) sync_parent(part);
    if (reason && !is_folder(part)) {
      errno = reason == EEXIST ? ENOTDIR : reason; /* a file has that name */
      return hk_fail_errno(error, "make the folder", part);
    }
    *p = keep;
    if (!keep) return HK_OK;
  }
}

HkStatus hk_folder_lock(const char *folder, int *lock, HkError *error) {
  *lock = open(folder, O_RDONLY | O_CLOEXEC);
  if (*lock < 0) return hk_fail_errno(error, "open", folder);
  if (flock(*lock, LOCK_EX | LOCK_NB) == 0) return HK_OK;
  int reason = errno;
  hk_folder_unlock(lock);
  if (reason != EWOULDBLOCK) return HK_OK;
  return hk_fail_at(
      error, HK_ERROR_INVALID, folder, 0, 0,
      "another run is writing into this folder; wait until it ends, or choose another "
      "folder with -o");
}

void hk_folder_unlock(int *lock) {
  if (*lock >= 0) close(*lock);
  *lock = -1;
}

bool hk_folder_has(const char *folder, const char *name) {
  char path[4096];
  struct stat info;
  return hk_folder_path(folder, name, path, sizeof path, NULL) >= 0 && stat(path, &info) == 0;
}

static void remove_file(const char *folder, const char *name) {
  char path[4096];
  if (hk_folder_path(folder, name, path, sizeof path, NULL) >= 0) unlink(path);
}

bool hk_folder_is_empty(const char *folder) {
  DIR *dir = opendir(folder);
  bool empty = true;
  if (!dir) return true;
  for (struct dirent *e = readdir(dir); e && empty; e = readdir(dir))
    empty = strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
            strcmp(e->d_name, HK_CHECKPOINT_NAME ".tmp") == 0;
  closedir(dir);
  return empty;
}

/* Returns whether a name is frame_000123.ending, or of ranks frame_000123.pending or
 * frame_000123_0001.ending, each with or without .tmp: users do not choose such names. */
static bool is_frame(const char *name, const char *ending) {
  static const char start[] = "frame_";
  size_t head = sizeof start - 1,
         digits = strspn(name + (strlen(name) < head ? 0 : head), "0123456789");
  if (strncmp(name, start, head) != 0 || digits < 6) return false;
  const char *rest = name + head + digits;
  if (*rest == '_') rest += 1 + strspn(rest + 1, "0123456789");
  if (*rest++ != '.') return false;
  if (*rest == 'p' && *ending == 'v') rest++; /* VTK's lists of pieces: pvtu of vtu */
  size_t length = strlen(ending);
  return strncmp(rest, ending, length) == 0 &&
         (rest[length] == 0 || strcmp(rest + length, ".tmp") == 0);
}

static void remove_frames(const char *folder, const char *ending) {
  DIR *dir = opendir(folder);
  if (!dir) return;
  for (struct dirent *e = readdir(dir); e; e = readdir(dir))
    if (is_frame(e->d_name, ending)) remove_file(folder, e->d_name);
  closedir(dir);
}

void hk_folder_clear(const char *folder, bool is_run) {
  char path[4096];
  const HkSchema *output;
  for (int q = 0; (output = hk_schema_at(HK_OUTPUT, q)); q++) {
    if (hk_folder_path(folder, output->name, path, sizeof path, NULL) >= 0)
      remove_frames(path, hk_output_ending(hk_output_type(output)));
    for (const char *const *file = hk_output_type(output)->files; is_run && *file; file++)
      remove_file(folder, *file);
  }
  if (is_run) remove_file(folder, HK_PAGE_NAME);
  if (is_run) remove_file(folder, HK_LEDGER_NAME);
}

/* Returns an error if a file that the scene reads is in the folder of the run. */
static HkStatus check_input(const char *folder, const HkScene *scene, const char *file,
                            HkError *error) {
  char path[4096];
  if (!file || hk_join_path(scene->folder, file, path, sizeof path, NULL) < 0) return HK_OK;
  char *input = realpath(path, NULL), *here = realpath(folder, NULL);
  size_t length = here ? strlen(here) : 0;
  bool inside = input && here && strncmp(input, here, length) == 0 && input[length] == '/';
  free(input);
  free(here);
  if (!inside) return HK_OK;
  return hk_fail_at(error, HK_ERROR_INVALID, folder, 0, 0,
                    "holds %s, which the scene reads and the run might replace; choose another "
                    "folder",
                    file);
}

/* Returns the parameter "file" of a method, or NULL. */
static const char *file_of(const HkMethod *method) {
  const HkParam *p = method->schema ? hk_param_find(method->schema, "file") : NULL;
  if (!p || p->kind != HK_PARAM_TEXT) return NULL;
  return *(const char *const *)((const char *)method->params + p->offset);
}

HkStatus hk_folder_claim(const char *folder, const HkScene *scene, bool force, bool *is_run,
                         HkError *error) {
  for (int b = 0; b < scene->body_count; b++) {
    HK_TRY(check_input(folder, scene, scene->bodies[b].mesh_file, error));
    HK_TRY(check_input(folder, scene, scene->bodies[b].springs.file, error));
  }
  for (int k = 0; k < scene->obstacle_count; k++)
    HK_TRY(check_input(folder, scene, file_of(&scene->obstacles[k].shape), error));
  for (int k = 0; k < scene->obstacle_count; k++)
    HK_TRY(check_input(folder, scene, file_of(&scene->obstacles[k].motion), error));
  for (int k = 0; k < scene->pin_count; k++)
    HK_TRY(check_input(folder, scene, file_of(&scene->pins[k].motion), error));
  *is_run = hk_folder_has(folder, "run.json") || hk_folder_has(folder, HK_CHECKPOINT_NAME) ||
            hk_folder_has(folder, HK_CHECKPOINT_PREVIOUS);
  if (*is_run && !force)
    return hk_fail_at(
        error, HK_ERROR_INVALID, folder, 0, 0,
        "holds a run already; the option resume continues it, force replaces it; or choose "
        "another folder");
  if (!*is_run && !force && !hk_folder_is_empty(folder))
    return hk_fail_at(
        error, HK_ERROR_INVALID, folder, 0, 0,
        "is not empty and holds no run; choose another folder, or the option force to write "
        "into this one");
  return HK_OK;
}
