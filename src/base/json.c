/* A tree of JSON values: reading, building, freeing; see json.h.
 *
 * The items of a list are one array of values, not of pointers: a number costs 32 bytes and no
 * allocation.
 */
#include "base/json.h"

#include "base/text.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool has_items(const HkJson *value) {
  return value->kind == HK_JSON_LIST || value->kind == HK_JSON_OBJECT;
}

void hk_json_clear(HkJson *value) {
  if (value->kind == HK_JSON_TEXT) free(value->text);
  if (has_items(value)) {
    for (int q = 0; q < value->count; q++) hk_json_clear(&value->items[q]);
    free(value->items);
  }
  *value = (HkJson){.kind = HK_JSON_NULL};
}

/* Returns the index of a key among the items, or -1. */
static int find_key(const HkJson *object, const char *key) {
  if (!hk_json_is(object, HK_JSON_OBJECT)) return -1;
  for (int q = 0; q < object->count; q += 2)
    if (strcmp(object->items[q].text, key) == 0) return q;
  return -1;
}

HkJson *hk_json_get(const HkJson *object, const char *key) {
  int q = find_key(object, key);
  return q < 0 ? NULL : &object->items[q + 1];
}

bool hk_json_equal(const HkJson *a, const HkJson *b) {
  if (a->kind != b->kind) return false;
  switch (a->kind) {
  case HK_JSON_NULL:
  case HK_JSON_LOST: return true;
  case HK_JSON_BOOLEAN: return a->boolean == b->boolean;
  case HK_JSON_INTEGER: return a->integer == b->integer;
  case HK_JSON_REAL: return memcmp(&a->real, &b->real, sizeof a->real) == 0;
  case HK_JSON_TEXT: return strcmp(a->text, b->text) == 0;
  case HK_JSON_LIST:
  case HK_JSON_OBJECT: break;
  }
  if (a->count != b->count) return false;
  for (int q = 0; q < a->count; q++)
    if (!hk_json_equal(&a->items[q], &b->items[q])) return false;
  return true;
}

/* ---- Building ---- */

HkJson hk_json_boolean(bool value) {
  return (HkJson){.kind = HK_JSON_BOOLEAN, .boolean = value};
}

HkJson hk_json_integer(int64_t value) {
  return (HkJson){.kind = HK_JSON_INTEGER, .integer = value};
}

HkJson hk_json_real(double value) {
  if (!isfinite(value)) return (HkJson){.kind = HK_JSON_NULL};
  return (HkJson){.kind = HK_JSON_REAL, .real = value};
}

/* Returns a copy with U+FFFD for each byte that is not valid UTF-8; NULL if out of memory. */
static char *copy_mended(const char *text) {
  const char *end = text + strlen(text);
  if (hk_is_utf8(text)) return hk_strdup(text);
  size_t length = (size_t)(end - text), used = 0;
  char *copy = length < SIZE_MAX / 3 ? malloc(3 * length + 1) : NULL;
  while (copy && text < end) {
    int good = hk_utf8_length(text, end);
    memcpy(copy + used, good ? text : "\xef\xbf\xbd", good ? (size_t)good : 3);
    used += good ? (size_t)good : 3;
    text += good ? good : 1;
  }
  if (copy) copy[used] = 0;
  return copy;
}

HkJson hk_json_text(const char *text) {
  char *copy = copy_mended(text);
  return (HkJson){.kind = copy ? HK_JSON_TEXT : HK_JSON_LOST, .text = copy};
}

HkJson hk_json_list(void) {
  return (HkJson){.kind = HK_JSON_LIST};
}

HkJson hk_json_object(void) {
  return (HkJson){.kind = HK_JSON_OBJECT};
}

static HkJson *lose(HkJson *value) {
  hk_json_clear(value);
  value->kind = HK_JSON_LOST;
  return NULL;
}

/* The copy is HK_JSON_LOST if any part of it could not be copied. */
HkJson hk_json_copy(const HkJson *value) {
  HkJson copy = *value;
  if (value->kind == HK_JSON_TEXT) {
    copy.text = hk_strdup(value->text);
    if (!copy.text) copy.kind = HK_JSON_LOST;
  }
  if (!has_items(value)) return copy;
  copy.items = value->count ? malloc((size_t)value->count * sizeof *copy.items) : NULL;
  copy.capacity = value->count;
  copy.count = 0;
  bool good = copy.items || value->count == 0;
  while (good && copy.count < value->count) {
    copy.items[copy.count] = hk_json_copy(&value->items[copy.count]);
    good = copy.items[copy.count++].kind != HK_JSON_LOST;
  }
  if (!good) lose(&copy);
  return copy;
}

/* Grows the capacity by `more` items; returns the first free one, or NULL if out of memory. */
static HkJson *reserve(HkJson *value, int more) {
  enum { MIN_CAPACITY = 4 };
  if (value->count > INT_MAX / 2 - more) return NULL;
  if (!value->items || value->count + more > value->capacity) {
    int capacity = value->count < MIN_CAPACITY / 2 ? MIN_CAPACITY : 2 * value->count;
    HkJson *items = NULL;
    if ((size_t)capacity <= SIZE_MAX / sizeof *items)
      items = realloc(value->items, (size_t)capacity * sizeof *items);
    if (!items) return NULL;
    value->items = items;
    value->capacity = capacity;
  }
  return &value->items[value->count];
}

HkJson *hk_json_append(HkJson *list, HkJson value) {
  HkJson *item = list->kind == HK_JSON_LIST ? reserve(list, 1) : NULL;
  if (!item) {
    hk_json_clear(&value);
    return lose(list);
  }
  *item = value;
  list->count++;
  return item;
}

HkJson *hk_json_add(HkJson *object, const char *key, HkJson value) {
  HkJson *member = object->kind == HK_JSON_OBJECT ? reserve(object, 2) : NULL;
  if (member) member[0] = hk_json_text(key);
  if (!member || member[0].kind == HK_JSON_LOST) {
    hk_json_clear(&value);
    return lose(object);
  }
  member[1] = value;
  object->count += 2;
  return &member[1];
}

HkJson *hk_json_set(HkJson *object, const char *key, HkJson value) {
  HkJson *at = hk_json_get(object, key);
  if (!at) return hk_json_add(object, key, value);
  hk_json_clear(at);
  *at = value;
  return at;
}

void hk_json_remove(HkJson *object, const char *key) {
  int q = find_key(object, key);
  if (q < 0) return;
  hk_json_clear(&object->items[q]);
  hk_json_clear(&object->items[q + 1]);
  object->count -= 2;
  memmove(&object->items[q], &object->items[q + 2],
          (size_t)(object->count - q) * sizeof *object->items);
}
