/* Files that the page uploads and downloads. They are in the folder of the session, with names
 * without folders. */
#include "session.h"

#include "base/status.h"
#include "base/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SAVED_WORD = 0x56534b48, PUT_HEAD = 12, MAX_NAME_BYTES = 200 };

/* Returns whether a name is a file in the folder that is not hidden. */
static bool is_plain(const char *name) {
  if (name[0] == 0 || name[0] == '.' || strlen(name) > MAX_NAME_BYTES) return false;
  for (const char *c = name; *c; c++)
    if (*c == '/' || *c == '\\' || (unsigned char)*c < ' ') return false;
  return true;
}

static HkStatus find_path(const Play *p, const char *name, char *path, size_t size,
                          HkError *error) {
  if (!is_plain(name)) return hk_fail(error, HK_ERROR_INVALID, "'%s' is no name of a file", name);
  if ((size_t)snprintf(path, size, "%s/%s", p->folder, name) >= size)
    return hk_fail(error, HK_ERROR_INVALID, "the name of the file is too long");
  return HK_OK;
}

static uint32_t load_le32(const unsigned char *p) {
  return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static HkStatus write_file(const char *path, const void *bytes, size_t size, HkError *error) {
  FILE *file = fopen(path, "wb");
  bool good = file && fwrite(bytes, 1, size, file) == size;
  if (file && fclose(file) != 0) good = false;
  return good ? HK_OK : hk_fail(error, HK_ERROR_IO, "cannot keep the file: %s", strerror(errno));
}

HkStatus file_put(Play *p, const unsigned char *message, size_t size, HkJson *request,
                  HkError *error) {
  char name[MAX_NAME_BYTES + 1], path[4096];
  uint32_t length = size >= PUT_HEAD ? load_le32(message + 8) : 0;
  if (size >= PUT_HEAD) hk_json_set(request, "id", hk_json_integer(load_le32(message + 4)));
  if (length == 0 || length > MAX_NAME_BYTES || PUT_HEAD + (size_t)length > size)
    return hk_fail(error, HK_ERROR_FORMAT, "the message is no file with a name");
  memcpy(name, message + PUT_HEAD, length);
  name[length] = 0;
  HK_TRY(find_path(p, name, path, sizeof path, error));
  HK_TRY(write_file(path, message + PUT_HEAD + length, size - PUT_HEAD - length, error));
  HkJson answer = answer_start(request);
  hk_json_add(&answer, "name", hk_json_text(name));
  return answer_text(p, &answer, error);
}

/* Opens a regular file for reading: opening or reading a pipe may block forever. */
static HkStatus open_regular(const char *path, const char *name, FILE **file, HkError *error) {
  int handle = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  struct stat info;
  bool known = handle >= 0 && fstat(handle, &info) == 0;
  bool regular = known && S_ISREG(info.st_mode);
  *file = regular ? fdopen(handle, "rb") : NULL;
  if (*file) return HK_OK;
  HkStatus status =
      hk_fail(error, HK_ERROR_IO, "%s: %s", name,
              known && !regular ? "is a folder, a pipe or a device, not a file" : strerror(errno));
  if (handle >= 0) close(handle);
  return status;
}

/* Reads an open file to its end. */
static HkStatus read_all(FILE *file, char **text, size_t *size, HkError *error) {
  long end = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
  if (end < 0 || end > PLAY_MAX_MESSAGE_BYTES || fseek(file, 0, SEEK_SET) != 0)
    return hk_fail(error, HK_ERROR_IO, "cannot read the file");
  *size = (size_t)end;
  *text = malloc(*size + 1);
  if (!*text) return hk_fail_memory(error, *size, "a file");
  (*text)[*size] = 0;
  if (fread(*text, 1, *size, file) == *size) return HK_OK;
  free(*text);
  *text = NULL;
  return hk_fail(error, HK_ERROR_IO, "cannot read the file");
}

HkStatus file_read(const Play *p, const char *name, char **text, size_t *size, HkError *error) {
  char path[4096];
  *text = NULL;
  HK_TRY(find_path(p, name, path, sizeof path, error));
  FILE *file;
  HK_TRY(open_regular(path, name, &file, error));
  HkStatus status = read_all(file, text, size, error);
  fclose(file);
  return status;
}

HkStatus file_read_home(const Play *p, char **text, HkError *error) {
  size_t size;
  FILE *file;
  *text = NULL;
  HK_TRY(open_regular(p->home, p->home, &file, error));
  HkStatus status = read_all(file, text, &size, error);
  fclose(file);
  return status;
}

/* ---- Files that a scene names ---- */

enum { PATH_LENGTH = 4096 };

#ifdef __wasi__
/* In the browser all files are in the memory of the session. */
static bool is_inside(const char *folder, const char *file) {
  (void)folder;
  (void)file;
  return true;
}
#else
/* Returns whether a path, with all links resolved, is in the folder or below it. A missing file
 * counts as inside if its name cannot lead outside: opening it returns the error. */
static bool is_inside(const char *folder, const char *file) {
  char path[PATH_LENGTH], *base = realpath(folder[0] ? folder : ".", NULL), *end = NULL;
  bool absolute = file[0] == '/';
  int length = snprintf(path, sizeof path, "%s%s%s", absolute || !folder[0] ? "" : folder,
                        absolute || !folder[0] ? "" : "/", file);
  bool inside = false;
  if (length < PATH_LENGTH) end = realpath(path, NULL);
  if (base && end) {
    size_t size = strlen(base);
    inside = strncmp(base, end, size) == 0 && (end[size] == '/' || size == 1);
  } else if (base && length < PATH_LENGTH) {
    inside = !absolute && strstr(file, "..") == NULL;
  }
  free(base);
  free(end);
  return inside;
}

#endif

/* Returns whether a scene names the file itself. */
static bool is_named(const HkScene *scene, const char *file) {
  for (int q = 0; scene && q < scene->body_count; q++) {
    const HkBody *body = &scene->bodies[q];
    if (body->mesh_file && strcmp(body->mesh_file, file) == 0) return true;
    if (body->springs.file && strcmp(body->springs.file, file) == 0) return true;
  }
  return false;
}

HkStatus file_check(const HkScene *scene, const char *folder, const HkScene *trusted,
                    HkError *error) {
  for (int q = 0; q < scene->body_count; q++) {
    const char *files[] = {scene->bodies[q].mesh_file, scene->bodies[q].springs.file};
    for (int f = 0; f < 2; f++)
      if (files[f] && !is_named(trusted, files[f]) && !is_inside(folder, files[f]))
        return hk_fail(error, HK_ERROR_INVALID,
                       "'%.400s' is outside of the folder of the scene; only files beside or "
                       "below the scene that was opened can be read",
                       files[f]);
  }
  return HK_OK;
}

/* ---- Downloads ---- */

static void write_obj(const Play *p, FILE *file) {
  const double *x = hk_state_x(p->stage.state);
  int64_t n = hk_state_vertex_count(p->stage.state), faces;
  const int32_t *face = hk_model_faces(p->stage.model, &faces);
  HkSpringView s = hk_model_springs(p->stage.model);
  fprintf(file, "# %s at t = %g s, by Hooke %s\n", p->name, hk_state_time(p->stage.state),
          hk_version());
  for (int64_t q = 0; q < n; q++)
    fprintf(file, "v %.9g %.9g %.9g\n", x[3 * q], x[3 * q + 1], x[3 * q + 2]);
  for (int64_t q = 0; q < faces; q++)
    fprintf(file, "f %d %d %d\n", face[3 * q] + 1, face[3 * q + 1] + 1, face[3 * q + 2] + 1);
  for (int64_t q = 0; q < s.count && faces == 0; q++)
    fprintf(file, "l %d %d\n", s.i[q] + 1, s.j[q] + 1);
}

/* Positions and velocities as doubles, in the byte order of the machine. */
static void write_state(const Play *p, FILE *file) {
  size_t count = 3 * (size_t)hk_state_vertex_count(p->stage.state);
  fwrite(hk_state_x(p->stage.state), sizeof(double), count, file);
  fwrite(hk_state_v(p->stage.state), sizeof(double), count, file);
}

static HkStatus make_file(const Play *p, const char *what, const char *path, HkError *error) {
  if (strcmp(what, "checkpoint") == 0) return hk_state_save(p->stage.state, path, error);
  FILE *file = fopen(path, "wb");
  if (!file) return hk_fail(error, HK_ERROR_IO, "cannot make the file: %s", strerror(errno));
  HkStatus status = HK_OK;
  char *scene = NULL;
  if (strcmp(what, "obj") == 0) {
    write_obj(p, file);
  } else if (strcmp(what, "state") == 0) {
    write_state(p, file);
  } else if (strcmp(what, "scene") == 0) {
    status = saved_scene(p, &scene, error);
    if (scene) fprintf(file, "%s\n", scene);
    free(scene);
  } else {
    status = hk_fail(error, HK_ERROR_INVALID, "save what? obj, state, checkpoint or scene");
  }
  bool bad = ferror(file) != 0;
  if ((fclose(file) != 0 || bad) && status >= 0)
    status = hk_fail(error, HK_ERROR_IO, "cannot make the file: %s", strerror(errno));
  return status;
}

HkStatus file_save(Play *p, const HkJson *request, HkError *error) {
  const char *what = request_text(request, "what"), *name = "saved.tmp";
  char path[4096], *text = NULL;
  size_t size = 0;
  HK_TRY(find_path(p, name, path, sizeof path, error));
  HkStatus status = make_file(p, what ? what : "", path, error);
  if (status >= 0) status = file_read(p, name, &text, &size, error);
  remove(path);
  if (status < 0) return status;
  unsigned char *bytes = answer_bytes(p, SAVED_WORD, request, size);
  if (bytes) memcpy(bytes, text, size);
  free(text);
  return bytes ? HK_OK : hk_fail_memory(error, size, "a file");
}
