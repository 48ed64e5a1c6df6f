/* Assignments such as time.step=0.01, bodies[0].springs.k=1e5 and integrator=verlet change the JSON
 * of a scene before it is read, so that a value from outside is checked as one from the file is.
 * Missing objects are created. */
#include "scene/parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Removes lines and columns: an assigned value is not in the file. */
static void forget_places(HkJson *value) {
  value->line = value->column = 0;
  bool items = value->kind == HK_JSON_LIST || value->kind == HK_JSON_OBJECT;
  for (int q = 0; items && q < value->count; q++) forget_places(&value->items[q]);
}

/* Parses the text after '=' as JSON, or returns it as a string if it is not valid JSON. */
static HkJson value_of(const char *text) {
  HkJson value;
  HkStatus status = hk_json_parse("value", text, strlen(text), &value, NULL);
  if (status == HK_ERROR_MEMORY) return (HkJson){.kind = HK_JSON_LOST};
  if (status < 0) return hk_json_text(text);
  forget_places(&value);
  return value;
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
  hk_fail(error, HK_ERROR_INVALID, "%s: %s", assignment, why);
  if (error)
    snprintf(error->key, sizeof error->key, "%.*s", (int)strcspn(assignment, "="), assignment);
  return HK_ERROR_INVALID;
}

/* Returns the member or element that a component names, or NULL. */
static HkJson *child(HkJson *parent, const char *key, long index) {
  if (!hk_json_is(parent, HK_JSON_LIST)) return key[0] ? hk_json_get(parent, key) : NULL;
  return index >= 0 && index < parent->count ? &parent->items[index] : NULL;
}

/* Replaces a value by an object that contains it under a key. */
static HkStatus wrap(HkJson *value, const char *key, HkError *error) {
  HkJson object = hk_json_object();
  object.line = value->line;
  object.column = value->column;
  HkJson *inner = hk_json_add(&object, key, *value);
  *value = object;
  return inner ? HK_OK : hk_fail_memory(error, 0, "a value of the scene");
}

/* Goes on in the pins of a scene, which may be a list or hold it: pins[0] is meant in both forms,
 * and pins.method makes the list an object's "list". */
static HkStatus enter_pins(HkJson **pins, const char *rest, HkError *error) {
  char key[256];
  long index;
  if (!next_component(&rest, key, sizeof key, &index)) return HK_OK;
  HkJson *list = hk_json_get(*pins, "list");
  if (index >= 0 && hk_json_is(list, HK_JSON_LIST)) *pins = list;
  if (index >= 0 || !hk_json_is(*pins, HK_JSON_LIST)) return HK_OK;
  return wrap(*pins, "list", error);
}

/* Descends by one component of the path; creates a missing object. */
static HkStatus enter(HkJson **at, const char *key, long index, const char *assignment,
                      HkError *error) {
  HkJson *next = child(*at, key, index);
  /* A method given by its name alone becomes an object, so that it can take parameters. */
  if (hk_json_is(next, HK_JSON_TEXT)) HK_TRY(wrap(next, "type", error));
  if (!next && hk_json_is(*at, HK_JSON_OBJECT) && key[0]) {
    next = hk_json_add(*at, key, hk_json_object());
    if (!next) return hk_fail_memory(error, 0, "a value of the scene");
  }
  if (!hk_json_is(next, HK_JSON_OBJECT) && !hk_json_is(next, HK_JSON_LIST))
    return fail(error, assignment, "there is nothing of that name to go into; lists count from 0");
  *at = next;
  return HK_OK;
}

/* Sets a member or an element, which then owns the value. */
static HkStatus put(HkJson *parent, const char *key, long index, HkJson value,
                    const char *assignment, HkError *error) {
  HkJson *old = child(parent, key, index);
  if (old) {
    hk_json_clear(old);
    *old = value;
    return HK_OK;
  }
  if (hk_json_is(parent, HK_JSON_OBJECT) && key[0])
    return hk_json_add(parent, key, value) ? HK_OK
                                           : hk_fail_memory(error, 0, "a value of the scene");
  hk_json_clear(&value);
  return fail(error, assignment, "there is no such place in the scene");
}

HkStatus hk_apply_override(HkJson *root, const char *assignment, HkError *error) {
  const char *equals = strchr(assignment, '=');
  char path_text[512], key[256] = "";
  if (!equals || equals == assignment || (size_t)(equals - assignment) >= sizeof path_text)
    return fail(error, assignment, "expected PATH=VALUE, such as time.step=0.01");
  if (!hk_is_utf8(assignment)) return fail(error, assignment, "the value is no valid text");
  memcpy(path_text, assignment, (size_t)(equals - assignment));
  path_text[equals - assignment] = 0;
  const char *path = path_text;
  HkJson *at = root;
  long index;
  for (;;) {
    if (!next_component(&path, key, sizeof key, &index))
      return fail(error, assignment,
                  "the path makes no sense, expected such as bodies[0].springs.k");
    if (*path == 0) break;
    bool at_root = at == root;
    HK_TRY(enter(&at, key, index, assignment, error));
    if (at_root && strcmp(key, "pins") == 0) HK_TRY(enter_pins(&at, path, error));
  }
  HkJson value = value_of(equals + 1);
  if (value.kind == HK_JSON_LOST) return hk_fail_memory(error, 0, "a value of the scene");
  return put(at, key, index, value, assignment, error);
}
