/* Reads scenes; see source.h. */
#include "source.h"

#include "complaint.h"
#include "text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

void source_stem(const char *path, char *stem, size_t size) {
  const char *slash = strrchr(path, '/');
  snprintf(stem, size, "%s", slash ? slash + 1 : path);
  char *dot = strrchr(stem, '.');
  if (dot && dot != stem) *dot = 0;
}

bool source_is_mesh(const char *path) {
  const char *dot = strrchr(path, '.'), *name;
  if (!dot || strchr(dot, '/')) return false;
  for (int q = 0; (name = hk_mesh_format(q, NULL, NULL)); q++)
    if (strcasecmp(name, dot + 1) == 0) return true;
  return false;
}

const char *source_builtin(const char *name) {
  const char *text, *at, *title;
  for (int q = 0; (text = hk_scene_builtin(q, &at, &title)); q++)
    if (strcmp(at, name) == 0) return text;
  return NULL;
}

const char *source_nearest(const char *name) {
  enum { MAX_NAMES = 64 };
  const char *names[MAX_NAMES], *title;
  char stem[256];
  int count = 0;
  while (count < MAX_NAMES && hk_scene_builtin(count, &names[count], &title)) count++;
  source_stem(name, stem, sizeof stem);
  return hk_text_nearest(stem, names, count);
}

/* Returns whether a file cannot be a scene: it does not begin with a JSON object or a comment, and
 * does not end in .json. */
static bool is_no_scene(const char *path) {
  const char *dot = strrchr(path, '.');
  struct stat info;
  if (!dot || strchr(dot, '/') || strcasecmp(dot, ".json") == 0) return false;
  if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) return false; /* a pipe would block here */
  FILE *file = fopen(path, "rb");
  int letter = file ? fgetc(file) : '{';
  while (letter != EOF && strchr(" \t\r\n\xef\xbb\xbf", letter) && letter) letter = fgetc(file);
  if (file) fclose(file);
  return letter != '{' && letter != '/';
}

static HkStatus refuse_ending(const char *path, HkError *error) {
  char known[256] = "";
  const char *name;
  for (int q = 0; (name = hk_mesh_format(q, NULL, NULL)); q++) {
    size_t used = strlen(known);
    snprintf(known + used, sizeof known - used, "%s.%s", q ? ", " : "", name);
  }
  return text_fail(
      error, HK_ERROR_UNSUPPORTED,
      "%.500s: is neither a scene, which is a JSON object, nor a mesh in a format that "
      "Hooke reads: %s",
      path, known);
}

/* Returns whether a path is a file; a folder with the name of a built-in scene is not. */
static bool is_file(const char *path, bool builtin) {
  struct stat info;
  if (stat(path, &info) == 0) return !builtin || !S_ISDIR(info.st_mode);
  return errno != ENOENT && errno != ENOTDIR;
}

HkStatus source_missing(const char *name, HkError *error) {
  const char *near = source_nearest(name);
  if (near)
    return text_fail(error, HK_ERROR_IO,
                     "%.500s: there is no such file and no built-in scene of that name; did you "
                     "mean '%s'?",
                     name, near);
  return text_fail(
      error, HK_ERROR_IO,
      "%.500s: there is no such file and no built-in scene of that name; 'hooke scenes' "
      "lists the built-in scenes",
      name);
}

HkStatus source_read(const HkContext *context, const char *name, const TextList *sets,
                     HkScene **scene, HkError *error) {
  *scene = NULL;
  complaint_sets(sets);
  if (source_is_mesh(name))
    return text_fail(error, HK_ERROR_INVALID,
                     "%.400s: is a mesh, not a scene; a scene around it: {\"bodies\": [{\"mesh\": "
                     "\"%.400s\"}], \"forces\": [\"gravity\"]}",
                     name, name);
  const char *text = source_builtin(name);
  if (is_file(name, text != NULL) && is_no_scene(name)) return refuse_ending(name, error);
  if (is_file(name, text != NULL))
    return hk_scene_read(context, name, sets->texts, sets->count, scene, error);
  if (text)
    return hk_scene_parse(context, text, strlen(text), name, "", sets->texts, sets->count, scene,
                          error);
  return source_missing(name, error);
}
