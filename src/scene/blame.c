/* Errors of a scene that is being put together; see blame.h. */
#include "scene/blame.h"

#include "scene/locate.h"

#include <stdio.h>
#include <string.h>

static bool find(const HkScene *scene, const char *path, int *line, int *column) {
  char whole[1024];
  if (!scene->source_text) return false;
  const char *root = scene->source_root ? scene->source_root : "";
  snprintf(whole, sizeof whole, "%s%s%s", root, root[0] ? "." : "", path);
  return hk_locate(scene->source_text, strlen(scene->source_text), whole, NULL, line, column);
}

HkStatus hk_scene_blame(const HkScene *scene, const char *path, const HkError *inner,
                        HkError *error) {
  char deeper[768];
  const char *text = inner->text, *blamed = path;
  int line = 0, column = 0;
  size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyz_.");
  if (length > 0 && strncmp(text + length, ": ", 2) == 0 && !inner->file[0]) {
    snprintf(deeper, sizeof deeper, "%s.%.*s", path, (int)length, text);
    blamed = deeper;
    text += length + 2;
  }
  /* A key that is not there is missed in what should hold it. */
  if (!find(scene, blamed, &line, &column)) find(scene, path, &line, &column);
  return hk_fail_at(error, inner->status, scene->source_name, line, column, "%s: %s", blamed, text);
}
