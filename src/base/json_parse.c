/* JSON text -> HkJson, by recursive descent over the grammar of RFC 8259:
 *
 *     value  = object | list | string | number | true | false | null
 *     object = { [string : value {, string : value}] }
 *     list   = [ [value {, value}] ]
 *
 * with blanks and comments between any two tokens; json_scan.c scans numbers, strings and comments.
 * Items of open lists and objects are on one stack; when a list or object closes, its items move
 * into an array of their exact number, so that the time is linear in the text. Duplicate keys are
 * found by sorting in n log n.
 */
#include "base/json_scan.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 200 };

typedef struct Parser {
  HkCursor c;
  HkError *error;
  HkJson *open; /* items of the lists and objects that are not closed yet, the innermost last */
  size_t count, capacity;
  HkJson *keys; /* scratch buffer: borrowed keys of one object, to be sorted */
  size_t key_room;
  int depth;
} Parser;

/* ---- Errors ---- */

static bool next_is(const Parser *p, char c) {
  return p->c.at < p->c.end && *p->c.at == c;
}

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Returns a description of the text at the cursor for messages: a character, a word, a byte or the
 * end. */
static const char *found(const Parser *p, char text[48]) {
  enum { LONGEST = 24 };
  const char *at = p->c.at, *end = p->c.end;
  int length = hk_utf8_length(at, end);
  if (at >= end) return "the end of the text";
  if (length == 0 || (unsigned char)*at < 0x20 || *at == 0x7f) {
    snprintf(text, 48, "the byte 0x%02x", (unsigned)(unsigned char)*at);
    return text;
  }
  bool is_word = is_letter(*at) || hk_is_digit(*at);
  while (is_word && length < LONGEST && at + length < end &&
         (is_letter(at[length]) || hk_is_digit(at[length])))
    length++;
  snprintf(text, 48, "'%.*s'", length, at);
  return text;
}

/* Returns the error at the cursor: expected ..., found ... */
static HkStatus fail_found(const Parser *p, const char *expected, const char *advice) {
  char text[48];
  return hk_json_fail(&p->c, p->c.at, p->error, "expected %s, found %s%s", expected, found(p, text),
                      advice);
}

static HkStatus fail_value(const Parser *p) {
  char c = p->c.at < p->c.end ? *p->c.at : 0;
  const char *advice = "";
  if (c == '\'') advice = "; strings stand in double quotes";
  if (c == '.' || c == '+') advice = "; a number begins with a digit or a minus";
  if (is_letter(c)) advice = "; a word is true, false or null, or stands in double quotes";
  return fail_found(p, "a value", advice);
}

/* Returns the error of an item that neither a comma nor a closing bracket follows. */
static HkStatus fail_separator(const Parser *p, const HkJson *within) {
  bool object = within->kind == HK_JSON_OBJECT;
  char advice[80] = "; is a comma missing before it?";
  if (p->c.at >= p->c.end)
    return hk_json_fail(&p->c, p->c.at, p->error,
                        "the text ends, and the '%c' of line %d, column %d is not closed",
                        object ? '{' : '[', within->line, within->column);
  if (*p->c.at == '}' || *p->c.at == ']')
    snprintf(advice, sizeof advice, "; the '%c' stands in line %d", object ? '{' : '[',
             within->line);
  return fail_found(p, object ? "',' or '}'" : "',' or ']'", advice);
}

/* ---- Lists and objects ---- */

/* Pushes a value, which the stack then owns. */
static HkStatus push(Parser *p, HkJson *value) {
  if (p->count == p->capacity) {
    size_t capacity = p->capacity ? 2 * p->capacity : 64;
    HkJson *grown = NULL;
    if (capacity <= SIZE_MAX / sizeof *grown) grown = realloc(p->open, capacity * sizeof *grown);
    if (!grown) {
      hk_json_clear(value);
      return hk_fail_memory(p->error, capacity * sizeof *grown, p->c.name);
    }
    p->open = grown;
    p->capacity = capacity;
  }
  p->open[p->count++] = *value;
  return HK_OK;
}

/* Moves the open items from first on into a list or object. */
static HkStatus gather(Parser *p, size_t first, HkJson *value) {
  size_t count = p->count - first, bytes = count * sizeof *p->open;
  if (count > INT_MAX / 2)
    return hk_json_fail(&p->c, p->c.at, p->error, "there are more than a billion items in it");
  value->items = count ? malloc(bytes) : NULL;
  if (count && !value->items) return hk_fail_memory(p->error, bytes, p->c.name);
  if (count) memcpy(value->items, p->open + first, bytes);
  value->count = value->capacity = (int)count;
  p->count = first;
  return HK_OK;
}

static int compare_places(const HkJson *a, const HkJson *b) {
  if (a->line != b->line) return a->line < b->line ? -1 : 1;
  return (a->column > b->column) - (a->column < b->column);
}

/* Compares keys by their letters, then by line and column. */
static int compare_keys(const void *a, const void *b) {
  const HkJson *x = a, *y = b;
  int order = strcmp(x->text, y->text);
  return order ? order : compare_places(x, y);
}

/* Returns an error at the first duplicate key among the open items from first on. */
static HkStatus check_keys(Parser *p, size_t first) {
  size_t count = (p->count - first) / 2;
  const HkJson *twice = NULL;
  if (count < 2) return HK_OK;
  if (count > p->key_room) {
    free(p->keys);
    p->key_room = 0;
    p->keys = malloc(2 * count * sizeof *p->keys);
    if (!p->keys) return hk_fail_memory(p->error, 2 * count * sizeof *p->keys, p->c.name);
    p->key_room = 2 * count;
  }
  for (size_t q = 0; q < count; q++) p->keys[q] = p->open[first + 2 * q];
  qsort(p->keys, count, sizeof *p->keys, compare_keys);
  for (size_t q = 1; q < count; q++)
    if (strcmp(p->keys[q - 1].text, p->keys[q].text) == 0 &&
        (!twice || compare_places(&p->keys[q], twice) < 0))
      twice = &p->keys[q];
  if (!twice) return HK_OK;
  return hk_fail_at(p->error, HK_ERROR_FORMAT, p->c.name, twice->line, twice->column,
                    "not valid JSON: duplicate key '%s'; it stands in line %d, column %d already",
                    twice->text, twice[-1].line, twice[-1].column);
}

static HkStatus parse_value(Parser *p, HkJson *value);

static HkStatus parse_key(Parser *p) {
  HkJson key = {.line = p->c.line, .column = hk_cursor_column(&p->c)};
  if (!next_is(p, '"')) return fail_found(p, "a key in double quotes", "");
  HK_TRY(hk_scan_string(&p->c, &key, p->error));
  HK_TRY(push(p, &key));
  HK_TRY(hk_scan_space(&p->c, p->error));
  if (!next_is(p, ':')) return fail_found(p, "':' behind the key", "");
  p->c.at++;
  return hk_scan_space(&p->c, p->error);
}

/* Parses the items of a list or object, with its brackets. */
static HkStatus parse_items(Parser *p, HkJson *value) {
  bool object = value->kind == HK_JSON_OBJECT;
  char close = object ? '}' : ']';
  size_t first = p->count;
  if (p->depth++ == MAX_DEPTH)
    return hk_json_fail(&p->c, p->c.at, p->error,
                        "lists and objects lie more than %d deep in each other", MAX_DEPTH);
  p->c.at++;
  HK_TRY(hk_scan_space(&p->c, p->error));
  while (!next_is(p, close)) {
    HkJson item;
    if (object) HK_TRY(parse_key(p));
    HK_TRY(parse_value(p, &item));
    HK_TRY(push(p, &item));
    HK_TRY(hk_scan_space(&p->c, p->error));
    if (next_is(p, close)) break;
    if (!next_is(p, ',')) return fail_separator(p, value);
    p->c.at++;
    HK_TRY(hk_scan_space(&p->c, p->error));
    if (next_is(p, close))
      return fail_found(p, object ? "a key" : "a value", "; is there a comma too many before it?");
  }
  p->c.at++;
  p->depth--;
  if (object) HK_TRY(check_keys(p, first));
  return gather(p, first, value);
}

static HkStatus parse_word(Parser *p, HkJson *value) {
  const char *start = p->c.at, *stop = start;
  while (stop < p->c.end && is_letter(*stop)) stop++;
  size_t length = (size_t)(stop - start);
  bool yes = hk_word_is(start, length, "true"), no = hk_word_is(start, length, "false");
  if (!yes && !no && !hk_word_is(start, length, "null")) return fail_value(p);
  value->kind = yes || no ? HK_JSON_BOOLEAN : HK_JSON_NULL;
  value->boolean = yes;
  p->c.at = stop;
  return HK_OK;
}

static HkStatus parse_value(Parser *p, HkJson *value) {
  char c = p->c.at < p->c.end ? *p->c.at : 0;
  *value = (HkJson){.line = p->c.line, .column = hk_cursor_column(&p->c)};
  if (c == '{' || c == '[') {
    value->kind = c == '{' ? HK_JSON_OBJECT : HK_JSON_LIST;
    return parse_items(p, value);
  }
  if (c == '"') return hk_scan_string(&p->c, value, p->error);
  if (c == '-' || hk_is_digit(c)) return hk_scan_number(&p->c, value, p->error);
  return parse_word(p, value);
}

static HkStatus parse_whole(Parser *p, HkJson *value) {
  if (p->c.end - p->c.at >= 3 && memcmp(p->c.at, "\xef\xbb\xbf", 3) == 0) p->c.at += 3;
  HK_TRY(hk_scan_space(&p->c, p->error));
  HK_TRY(parse_value(p, value));
  HkStatus status = hk_scan_space(&p->c, p->error);
  if (status >= 0 && p->c.at < p->c.end) status = fail_found(p, "the end of the text", "");
  if (status < 0) hk_json_clear(value);
  return status;
}

HkStatus hk_json_parse(const char *name, const char *text, size_t size, HkJson *value,
                       HkError *error) {
  Parser p = {.c = hk_cursor(name, text, size), .error = error};
  HkLocale locale = hk_locale_enter();
  HkStatus status = parse_whole(&p, value);
  hk_locale_leave(&locale);
  if (status < 0) *value = (HkJson){.kind = HK_JSON_NULL};
  for (size_t q = 0; q < p.count; q++) hk_json_clear(&p.open[q]);
  free(p.open);
  free(p.keys);
  return status;
}
