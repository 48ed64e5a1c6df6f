/* Writing JSON; see json.h. */
#include "json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Returns the bytes of the UTF-8 character at p; 0 if it is invalid, such as overlong forms,
 * surrogates and code points above U+10FFFF. */
static int character_length(const unsigned char *p) {
  if (p[0] < 0x80) return 1;
  int length = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
  if (p[0] < 0xc2 || p[0] > 0xf4) return 0;
  for (int q = 1; q < length; q++)
    if ((p[q] & 0xc0) != 0x80) return 0;
  if (p[0] == 0xe0 && p[1] < 0xa0) return 0;
  if (p[0] == 0xed && p[1] > 0x9f) return 0;
  if (p[0] == 0xf0 && p[1] < 0x90) return 0;
  if (p[0] == 0xf4 && p[1] > 0x8f) return 0;
  return length;
}

static void write_string(FILE *file, const char *text) {
  const unsigned char *p = (const unsigned char *)text;
  fputc('"', file);
  while (*p) {
    int length = character_length(p);
    if (length == 0)
      fputs("\\ufffd", file);
    else if (*p == '"' || *p == '\\')
      fprintf(file, "\\%c", *p);
    else if (*p < 0x20 || *p == 0x7f)
      fprintf(file, "\\u%04x", *p);
    else
      fwrite(p, 1, (size_t)length, file);
    p += length ? length : 1;
  }
  fputc('"', file);
}

static void lead(Json *json, const char *key) {
  if (json->some) fputs(", ", json->file);
  if (key) {
    write_string(json->file, key);
    fputs(": ", json->file);
  }
  json->some = true;
}

void put_begin(Json *json, const char *key, char bracket) {
  lead(json, key);
  fputc(bracket, json->file);
  json->some = false;
}

void put_end(Json *json, char bracket) {
  fputc(bracket, json->file);
  json->some = true;
}

void put_text(Json *json, const char *key, const char *value) {
  lead(json, key);
  if (value)
    write_string(json->file, value);
  else
    fputs("null", json->file);
}

void put_number(Json *json, const char *key, double value) {
  char text[40] = "null";
  lead(json, key);
  for (int digits = 15; isfinite(value) && digits <= 17; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, value);
    if (strtod(text, NULL) == value) break;
  }
  fputs(text, json->file);
}

void put_numbers(Json *json, const char *key, const double *values, int count) {
  put_begin(json, key, '[');
  for (int q = 0; q < count; q++) put_number(json, NULL, values[q]);
  put_end(json, ']');
}

void put_integer(Json *json, const char *key, int64_t value) {
  lead(json, key);
  fprintf(json->file, "%lld", (long long)value);
}

void put_boolean(Json *json, const char *key, bool value) {
  lead(json, key);
  fputs(value ? "true" : "false", json->file);
}
