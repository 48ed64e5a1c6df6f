/* JSON (RFC 8259) as a tree of values, each with its line and column in the text.
 *
 *     HkJson scene;
 *     HK_TRY(hk_json_parse("scene.json", text, size, &scene, error));
 *     const HkJson *time = hk_json_get(&scene, "time");
 *     hk_json_clear(&scene);
 *
 * An object alternates keys and values: items[0] is the first key, a text with its own line and
 * column, items[1] is its value, and so on in the order of the text. Texts are UTF-8 without a 0.
 *
 * Building needs no checks: a value that could not be allocated is HK_JSON_LOST, values added to it
 * are freed, and writing a tree that contains one is an error.
 */
#ifndef HK_BASE_JSON_H
#define HK_BASE_JSON_H

#include "base/status.h"

typedef enum HkJsonKind {
  HK_JSON_NULL,
  HK_JSON_BOOLEAN,
  HK_JSON_INTEGER,
  HK_JSON_REAL,
  HK_JSON_TEXT,
  HK_JSON_LIST,
  HK_JSON_OBJECT,
  HK_JSON_LOST,
} HkJsonKind;

typedef struct HkJson {
  HkJsonKind kind;
  int line, column; /* from 1, the column in bytes; 0: not parsed from a text */
  union {
    struct {
      struct HkJson *items;
      int count, capacity; /* items; twice the number of members of an object */
    };
    bool boolean;
    int64_t integer;
    double real; /* finite */
    char *text;
  };
} HkJson;

/* json_parse.c: parses a text that need not end in 0. Comments, as in C, and a byte order mark are
 * skipped. Whole numbers that fit an int64_t are HK_JSON_INTEGER, all others the nearest double.
 * Errors beyond those of the grammar: duplicate keys of an object, \u0000, numbers beyond the range
 * of double, and more than 200 nested lists and objects. */
HkStatus hk_json_parse(const char *name, const char *text, size_t size, HkJson *value,
                       HkError *error);

/* json_write.c: writes a value as text, which the caller frees with free. indent: spaces a level,
 * each item on its own line; 0: no spaces. digits: significant digits of reals; 17 reproduce every
 * double. */
HkStatus hk_json_write(const HkJson *value, int indent, int digits, char **text, HkError *error);

/* Frees the content of a value, which becomes null. */
void hk_json_clear(HkJson *value);

/* ---- Reading; NULL stands for a missing value ---- */

static inline bool hk_json_is(const HkJson *value, HkJsonKind kind) {
  return value && value->kind == kind;
}

static inline bool hk_json_is_number(const HkJson *value) {
  return hk_json_is(value, HK_JSON_INTEGER) || hk_json_is(value, HK_JSON_REAL);
}

static inline double hk_json_number(const HkJson *number) {
  return number->kind == HK_JSON_INTEGER ? (double)number->integer : number->real;
}

/* Returns the number of elements of a list or members of an object; 0 for other kinds. */
static inline int hk_json_size(const HkJson *value) {
  if (hk_json_is(value, HK_JSON_OBJECT)) return value->count / 2;
  return hk_json_is(value, HK_JSON_LIST) ? value->count : 0;
}

/* Returns an element of a list, or the value of a member of an object. */
static inline HkJson *hk_json_at(const HkJson *value, int index) {
  return &value->items[value->kind == HK_JSON_OBJECT ? 2 * index + 1 : index];
}

static inline const HkJson *hk_json_key(const HkJson *object, int index) {
  return &object->items[2 * index];
}

/* Returns the value of a key, by linear search; NULL if the object has no such key or is not an
 * object. */
HkJson *hk_json_get(const HkJson *object, const char *key);

/* Returns whether values are equal bit for bit and keys in the same order; lines and columns do not
 * count. */
bool hk_json_equal(const HkJson *a, const HkJson *b);

/* ---- Building ---- */

HkJson hk_json_boolean(bool value);
HkJson hk_json_integer(int64_t value);
/* Returns null if value is not finite. */
HkJson hk_json_real(double value);
/* Returns a copy of text, in which U+FFFD replaces invalid UTF-8. */
HkJson hk_json_text(const char *text);
HkJson hk_json_list(void);
HkJson hk_json_object(void);
HkJson hk_json_copy(const HkJson *value);

/* Appends a value, which the list then owns. Returns its address, which is valid until the next
 * addition, or NULL if out of memory. */
HkJson *hk_json_append(HkJson *list, HkJson value);
/* Appends a member, whose value the object then owns, without checking that its key is new; returns
 * as hk_json_append does. */
HkJson *hk_json_add(HkJson *object, const char *key, HkJson value);
/* Replaces the value of a key without changing the order, or appends a member; returns as
 * hk_json_append does. */
HkJson *hk_json_set(HkJson *object, const char *key, HkJson value);

void hk_json_remove(HkJson *object, const char *key);

#endif
