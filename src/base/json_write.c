/* HkJson -> text.
 *
 * Reals are written with "%.Ng", a ".0" where neither point nor exponent says that they are reals,
 * and exponents without plus and zeros: 0.1, 3.0, 1e20, 1e-7. In texts a backslash precedes only
 * what RFC 8259 requires: the quote, the backslash and characters below U+0020.
 */
#include "base/json.h"

#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* After a failed allocation all further output is dropped. */
typedef struct Writer {
  char *text;
  size_t used, capacity;
  int indent, digits;
  bool failed;
} Writer;

static void put(Writer *w, const char *bytes, size_t size) {
  if (w->failed) return;
  if (!w->text || w->capacity - w->used < size) {
    size_t capacity = w->capacity < 512 ? 512 : w->capacity;
    bool fits = capacity < SIZE_MAX / 8 && size < SIZE_MAX / 8;
    do capacity *= 2;
    while (fits && capacity - w->used < size);
    char *grown = fits ? realloc(w->text, capacity) : NULL;
    w->failed = !grown;
    if (!grown) return;
    w->text = grown;
    w->capacity = capacity;
  }
  memcpy(w->text + w->used, bytes, size);
  w->used += size;
}

static void put_string(Writer *w, const char *string) {
  put(w, string, strlen(string));
}

static void put_line(Writer *w, int depth) {
  static const char blanks[] = "                ";
  if (w->indent == 0) return;
  put(w, "\n", 1);
  for (size_t left = (size_t)w->indent * (size_t)depth; left > 0;) {
    size_t piece = left < sizeof blanks - 1 ? left : sizeof blanks - 1;
    put(w, blanks, piece);
    left -= piece;
  }
}

static void put_integer(Writer *w, int64_t value) {
  char text[32];
  put(w, text, (size_t)snprintf(text, sizeof text, "%lld", (long long)value));
}

static void put_real(Writer *w, double value) {
  char text[64];
  snprintf(text, sizeof text - 2, "%.*g", w->digits, value);
  char *to = strchr(text, 'e'), *from;
  if (to) {
    from = ++to;
    if (*from == '-') to++;
    from++; /* the sign, which "%e" always writes */
    while (*from == '0') from++;
    memmove(to, from, strlen(from) + 1);
  } else if (!strchr(text, '.')) {
    memcpy(text + strlen(text), ".0", 3);
  }
  put_string(w, text);
}

static void put_text(Writer *w, const char *text) {
  static const char characters[] = "\"\\\b\f\n\r\t", escapes[] = "\"\\bfnrt";
  put(w, "\"", 1);
  for (;;) {
    size_t plain = 0;
    while ((unsigned char)text[plain] >= 0x20 && text[plain] != '"' && text[plain] != '\\') plain++;
    put(w, text, plain);
    text += plain;
    if (!*text) break;
    const char *known = strchr(characters, *text);
    char escape[8] = {'\\', known ? escapes[known - characters] : 0};
    if (!known) snprintf(escape, sizeof escape, "\\u%04X", (unsigned)(unsigned char)*text);
    put_string(w, escape);
    text++;
  }
  put(w, "\"", 1);
}

static void put_value(Writer *w, const HkJson *value, int depth);

static void put_items(Writer *w, const HkJson *value, int depth) {
  bool object = value->kind == HK_JSON_OBJECT;
  put(w, object ? "{" : "[", 1);
  for (int q = 0; q < hk_json_size(value); q++) {
    if (q) put(w, ",", 1);
    put_line(w, depth + 1);
    if (object) {
      put_text(w, hk_json_key(value, q)->text);
      put(w, ": ", w->indent ? 2 : 1);
    }
    put_value(w, hk_json_at(value, q), depth + 1);
  }
  if (value->count) put_line(w, depth);
  put(w, object ? "}" : "]", 1);
}

static void put_value(Writer *w, const HkJson *value, int depth) {
  switch (value->kind) {
  case HK_JSON_NULL: put_string(w, "null"); break;
  case HK_JSON_BOOLEAN: put_string(w, value->boolean ? "true" : "false"); break;
  case HK_JSON_INTEGER: put_integer(w, value->integer); break;
  case HK_JSON_REAL: put_real(w, value->real); break;
  case HK_JSON_TEXT: put_text(w, value->text); break;
  case HK_JSON_LIST:
  case HK_JSON_OBJECT: put_items(w, value, depth); break;
  case HK_JSON_LOST: w->failed = true; break;
  }
}

HkStatus hk_json_write(const HkJson *value, int indent, int digits, char **text, HkError *error) {
  Writer w = {.indent = indent, .digits = digits};
  HkLocale locale = hk_locale_enter();
  put_value(&w, value, 0);
  put(&w, "", 1);
  hk_locale_leave(&locale);
  if (w.failed) {
    free(w.text);
    w.text = NULL;
  }
  *text = w.text;
  return w.failed ? hk_fail_memory(error, w.used, "a JSON text") : HK_OK;
}
