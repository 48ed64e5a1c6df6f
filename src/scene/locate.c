/* Places in a JSON text; see locate.h. The text has been accepted by jansson, so its grammar is not
 * checked again; the walk only never leaves the text. */
#include "scene/locate.h"

#include <stdlib.h>
#include <string.h>

void hk_blank_comments(char *text, size_t size) {
  for (size_t q = 0; q < size; q++) {
    if (text[q] == '"') {
      for (q++; q < size && text[q] != '"' && text[q] != '\n'; q++)
        if (text[q] == '\\') q++;
    } else if (text[q] == '/' && q + 1 < size && text[q + 1] == '/') {
      for (; q < size && text[q] != '\n'; q++) text[q] = ' ';
    } else if (text[q] == '/' && q + 1 < size && text[q + 1] == '*') {
      size_t start = q;
      for (q += 2; q < size && !(text[q] == '/' && text[q - 1] == '*' && q > start + 2);) q++;
      /* A comment without an end stays, so that the error is found at its start. */
      for (size_t p = start; p <= q && q < size; p++)
        if (text[p] != '\n') text[p] = ' ';
    }
  }
}

typedef struct Walk {
  const char *at, *end;
} Walk;

static void skip_space(Walk *w) {
  while (w->at < w->end && strchr(" \t\r\n", *w->at)) w->at++;
}

static void skip_string(Walk *w) {
  for (w->at++; w->at < w->end && *w->at != '"'; w->at++)
    if (*w->at == '\\' && w->at + 1 < w->end) w->at++;
  if (w->at < w->end) w->at++;
}

/* Past a value of any kind. */
static void skip_value(Walk *w) {
  int depth = 0;
  skip_space(w);
  while (w->at < w->end) {
    char c = *w->at;
    if (c == '"') {
      skip_string(w);
    } else if (c == '{' || c == '[') {
      depth++;
      w->at++;
    } else if (c == '}' || c == ']') {
      if (depth == 0) return;
      depth--;
      w->at++;
    } else if (c == ',' && depth == 0) {
      return;
    } else {
      w->at++;
      continue;
    }
    if (depth == 0) return;
  }
}

/* Into the member of an object; *key is where its name stands. */
static bool enter_member(Walk *w, const char *name, size_t length, const char **key) {
  skip_space(w);
  if (w->at >= w->end || *w->at != '{') return false;
  for (w->at++; w->at < w->end;) {
    skip_space(w);
    if (w->at >= w->end || *w->at != '"') return false;
    *key = w->at;
    skip_string(w);
    bool found = (size_t)(w->at - *key) == length + 2 && memcmp(*key + 1, name, length) == 0;
    skip_space(w);
    if (w->at < w->end && *w->at == ':') w->at++;
    skip_space(w);
    if (found) return true;
    skip_value(w);
    skip_space(w);
    if (w->at >= w->end || *w->at != ',') return false;
    w->at++;
  }
  return false;
}

static bool enter_element(Walk *w, long index) {
  skip_space(w);
  if (w->at >= w->end || *w->at != '[') return false;
  w->at++;
  for (; index > 0; index--) {
    skip_value(w);
    skip_space(w);
    if (w->at >= w->end || *w->at != ',') return false;
    w->at++;
  }
  skip_space(w);
  return w->at < w->end && *w->at != ']';
}

bool hk_locate(const char *text, size_t size, const char *path, const char *key, int *line,
               int *column) {
  Walk w = {text, text + size};
  const char *name;
  skip_space(&w);
  while (*path) {
    if (*path == '[') {
      char *end;
      if (w.at < w.end && *w.at == '{' && !enter_member(&w, "list", 4, &name)) return false;
      long index = strtol(path + 1, &end, 10);
      if (!enter_element(&w, index)) return false;
      path = *end == ']' ? end + 1 : end;
    } else {
      if (*path == '.') path++;
      size_t length = strcspn(path, ".[");
      if (!enter_member(&w, path, length, &name)) return false;
      path += length;
    }
  }
  if (key && !enter_member(&w, key, strlen(key), &name)) return false;
  const char *place = key ? name : w.at;
  *line = 1;
  *column = 1;
  for (const char *p = text; p < place && p < w.end; p++) {
    (*column)++;
    if (*p == '\n') {
      (*line)++;
      *column = 1;
    }
  }
  return true;
}
