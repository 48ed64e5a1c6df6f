/* Errors of a scene that is being compiled; see blame.h. */
#include "scene/blame.h"

#include "base/json.h"
#include "scene/parse.h"
#include "scene/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The value at a path such as bodies[0].springs.k, or NULL. An index into an object is one into its
 * "list": pins[0] is found in {"pins": {"list": [...]}} too. */
static const HkJson *follow(const HkJson *value, const char *path) {
  while (value && *path) {
    if (*path == '[') {
      char *end;
      long index = strtol(path + 1, &end, 10);
      if (value->kind == HK_JSON_OBJECT) value = hk_json_get(value, "list");
      value = index >= 0 && index < hk_json_size(value) ? hk_json_at(value, (int)index) : NULL;
      path = *end == ']' ? end + 1 : end;
    } else {
      char key[256];
      if (*path == '.') path++;
      size_t length = strcspn(path, ".[");
      snprintf(key, sizeof key, "%.*s", (int)length, path);
      value = hk_json_get(value, key);
      path += length;
    }
  }
  return value;
}

/* The place of the value at the wanted path or, if it is not there, of what should hold it. The
 * text was good once, and is parsed and changed again. False if a value from outside is meant. */
static bool find(const HkScene *scene, const char *wanted, const char *otherwise, int *line,
                 int *column) {
  HkJson text;
  HkStatus status = HK_OK;
  if (!scene->store->text || hk_json_parse(scene->store->name, scene->store->text,
                                           strlen(scene->store->text), &text, NULL) < 0)
    return true;
  HkJson *root = scene->store->root ? hk_json_get(&text, scene->store->root) : &text;
  for (int q = 0; root && q < scene->store->set_count && status >= 0; q++)
    status = hk_apply_override(root, scene->store->sets[q], NULL);
  const HkJson *value = follow(root, wanted);
  if (!value) value = follow(root, otherwise);
  if (value) {
    *line = value->line;
    *column = value->column;
  }
  hk_json_clear(&text);
  return !value || *line > 0;
}

HkStatus hk_scene_blame(const HkScene *scene, const char *path, const HkError *inner,
                        HkError *error) {
  char key[2 * sizeof inner->key + 2], text[sizeof inner->text];
  const char *outer = path;
  HkErrorPlace place = {.file = scene->store->name, .key = key};
  snprintf(key, sizeof key, "%.256s%s%s", path, path[0] && inner->key[0] ? "." : "", inner->key);
  snprintf(text, sizeof text, "%s", inner->text + (inner->file[0] ? 0 : inner->message));
  if (scene->store->is_course_format) {
    hk_course_words(key, text, sizeof text);
    outer = ""; /* a key that is not there is blamed on the whole file */
  }
  if (!find(scene, key, outer, &place.line, &place.column)) place.file = NULL;
  return hk_fail_in(error, inner->status, &place, "%s", text);
}
