/* JSON (RFC 8259) as a tree of values, each with its place in the text.
 *
 *     HkJson scene;
 *     HK_TRY(hk_json_parse("scene.json", text, size, &scene, error));
 *     const HkJson *time = hk_json_get(&scene, "time");
 *     hk_json_clear(&scene);
 *
 * An object holds its keys and values in turn: items[0] is the first key, a text with a place of
 * its own, items[1] is its value, and so on in the order of the text. Texts are UTF-8 without a 0.
 *
 * Building needs no checks on the way: what there was no memory for is HK_JSON_LOST, whatever is
 * put into it is released, and writing a tree with it somewhere is an error.
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
  int line, column; /* from 1, the column in bytes; 0: it came from no text */
  union {
    struct {
      struct HkJson *items;
      int count, room; /* count: of the items; twice the members of an object */
    };
    bool boolean;
    int64_t integer;
    double real; /* finite */
    char *text;
  };
} HkJson;

/* json_parse.c: a text that need not end in 0. Comments, as in C, and the mark of UTF-8 at the
 * start are skipped. Whole numbers that fit an int64_t are HK_JSON_INTEGER, all others the nearest
 * double. Refused, beside what the grammar does not allow: keys that stand twice in an object,
 * \u0000, numbers beyond double, and lists and objects more than 200 deep. */
HkStatus hk_json_parse(const char *name, const char *text, size_t size, HkJson *value,
                       HkError *error);

/* json_write.c: as text, released with free. indent: spaces a level, each item on its own line; 0:
 * no spaces at all. digits: significant ones of reals; 17 give every double back. */
HkStatus hk_json_write(const HkJson *value, int indent, int digits, char **text, HkError *error);

/* Releases what a value holds; it becomes null. */
void hk_json_clear(HkJson *value);

/* ---- Looking; NULL stands for what is not there ---- */

static inline bool hk_json_is(const HkJson *value, HkJsonKind kind) {
  return value && value->kind == kind;
}

static inline bool hk_json_is_number(const HkJson *value) {
  return hk_json_is(value, HK_JSON_INTEGER) || hk_json_is(value, HK_JSON_REAL);
}

static inline double hk_json_number(const HkJson *number) {
  return number->kind == HK_JSON_INTEGER ? (double)number->integer : number->real;
}

/* Elements of a list or members of an object; 0 for all else. */
static inline int hk_json_size(const HkJson *value) {
  if (hk_json_is(value, HK_JSON_OBJECT)) return value->count / 2;
  return hk_json_is(value, HK_JSON_LIST) ? value->count : 0;
}

/* An element, or the value of a member. */
static inline HkJson *hk_json_at(const HkJson *value, int index) {
  return &value->items[value->kind == HK_JSON_OBJECT ? 2 * index + 1 : index];
}

static inline const HkJson *hk_json_key(const HkJson *object, int index) {
  return &object->items[2 * index];
}

/* The value of a key; NULL if it is not there or this is no object. Looks at one key after the
 * other. */
HkJson *hk_json_get(const HkJson *object, const char *key);

/* The same values, bit for bit, and keys in the same order; places do not count. */
bool hk_json_equal(const HkJson *a, const HkJson *b);

/* ---- Building ---- */

HkJson hk_json_boolean(bool value);
HkJson hk_json_integer(int64_t value);
/* null where it is not finite. */
HkJson hk_json_real(double value);
/* A copy. Bytes that are no UTF-8 become U+FFFD. */
HkJson hk_json_text(const char *text);
HkJson hk_json_list(void);
HkJson hk_json_object(void);
HkJson hk_json_copy(const HkJson *value);

/* These take value over. They return where it stands, until the next one is added, or NULL if there
 * was no memory. */
HkJson *hk_json_append(HkJson *list, HkJson value);
/* A key that is not there yet; this is not looked at. */
HkJson *hk_json_add(HkJson *object, const char *key, HkJson value);
/* Replaces the value of a key, at its place in the order, or adds it. */
HkJson *hk_json_set(HkJson *object, const char *key, HkJson value);

void hk_json_remove(HkJson *object, const char *key);

#endif
