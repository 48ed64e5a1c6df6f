/* --set time.step=0.01, bodies[0].springs.k=1e5, integrator=verlet: changes the JSON of a scene
 * before it is read, so that a value from outside is checked as one from the file is. What is not
 * there yet is made. */
#include "scene/parse.h"

#include <stdlib.h>
#include <string.h>

/* The text behind '=' as JSON, or as a string if it is none. */
static json_t *value_of(const char *text) {
  json_t *value = json_loads(text, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL);
  return value ? value : json_string(text);
}

/* Next component of a path: a key, an index (from 0) in brackets with no key, or a number, which
 * may be both; *index >= 0 if it is an index. */
static bool next_component(const char **path, char *key, size_t size, long *index) {
  const char *p = *path;
  *index = -1;
  if (*p == '.') p++;
  if (*p == '[') {
    char *end;
    *index = strtol(p + 1, &end, 10);
    if (end == p + 1 || *end != ']' || *index < 0) return false;
    key[0] = 0;
    *path = end + 1;
    return true;
  }
  size_t length = strcspn(p, ".[");
  if (length == 0 || length >= size) return false;
  memcpy(key, p, length);
  key[length] = 0;
  *path = p + length;
  if (strspn(key, "0123456789") == length) *index = strtol(key, NULL, 10);
  return true;
}

static HkStatus fail(HkError *error, const char *assignment, const char *why) {
  return hk_fail(error, HK_ERROR_INVALID, "--set %s: %s", assignment, why);
}

/* Sets a member or an element; takes over value. */
static int put(json_t *parent, const char *key, long index, json_t *value) {
  if (json_is_array(parent) && index >= 0) return json_array_set_new(parent, (size_t)index, value);
  if (json_is_object(parent) && key[0]) return json_object_set_new(parent, key, value);
  json_decref(value);
  return -1;
}

/* Where the rest of a path goes on in the pins of a scene, which may be a list or hold it: pins[0]
 * is meant in both forms, and pins.method makes the list an object's "list". NULL: no memory. */
static json_t *enter_pins(json_t *root, json_t *pins, const char *rest) {
  char key[256];
  long index;
  if (!next_component(&rest, key, sizeof key, &index)) return pins;
  json_t *list = json_object_get(pins, "list");
  if (index >= 0 && json_is_array(list)) return list;
  if (index >= 0 || !json_is_array(pins)) return pins;
  json_t *object = json_pack("{s:O}", "list", pins);
  return object && put(root, "pins", -1, object) == 0 ? object : NULL;
}

HkStatus hk_apply_override(json_t *root, const char *assignment, HkError *error) {
  const char *equals = strchr(assignment, '=');
  char path_text[512], key[256] = "";
  if (!equals || equals == assignment || (size_t)(equals - assignment) >= sizeof path_text)
    return fail(error, assignment, "expected PATH=VALUE, such as time.step=0.01");
  memcpy(path_text, assignment, (size_t)(equals - assignment));
  path_text[equals - assignment] = 0;
  const char *path = path_text;
  json_t *at = root;
  long index;
  for (;;) {
    if (!next_component(&path, key, sizeof key, &index))
      return fail(error, assignment,
                  "the path makes no sense, expected such as bodies[0].springs.k");
    if (*path == 0) break;
    json_t *next = json_is_array(at) && index >= 0 ? json_array_get(at, (size_t)index)
                                                   : json_object_get(at, key);
    /* A method given by its name alone becomes an object, so that it can take parameters. */
    if (json_is_string(next)) {
      json_t *object = json_pack("{s:O}", "type", next);
      if (!object || put(at, key, index, object) != 0) return hk_fail_memory(error, 0, "--set");
      next = object;
    }
    if (!next && json_is_object(at) && key[0]) {
      next = json_object();
      if (put(at, key, index, next) != 0) return hk_fail_memory(error, 0, "--set");
    }
    if (!json_is_object(next) && !json_is_array(next))
      return fail(error, assignment,
                  "there is nothing of that name to go into; lists count from 0");
    if (at == root && strcmp(key, "pins") == 0) next = enter_pins(root, next, path);
    if (!next) return hk_fail_memory(error, 0, "--set");
    at = next;
  }
  json_t *value = value_of(equals + 1);
  if (!value) return fail(error, assignment, "the value is no valid text");
  if (put(at, key, index, value) != 0)
    return fail(error, assignment, "there is no such place in the scene");
  return HK_OK;
}
