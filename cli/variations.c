/* Values of options --vary; see variations.h.
 *
 * A name is a path into the scene, in which [*] stands for every body, or one of the short names
 * that hooke.sweep of the Python package has, too. Values are separated by commas, but for those
 * within brackets, braces and quotes.
 */
#include "variations.h"

#include "command.h"
#include "text.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const int64_t MAX_COMBINATIONS = 1000000;

/* ---- Reading --------------------------------------------------------------------------------- */

static char *copy_part(const char *text, size_t length) {
  char *copy = malloc(length + 1);
  if (!copy) return NULL;
  memcpy(copy, text, length);
  copy[length] = 0;
  return copy;
}

/* Returns the length of the value at the beginning of a text: up to a comma of the top level. */
static size_t value_length(const char *text) {
  int depth = 0;
  bool quoted = false;
  size_t at = 0;
  for (; text[at]; at++) {
    if (quoted && text[at] == '\\' && text[at + 1]) {
      at++;
      continue;
    }
    if (text[at] == '"') quoted = !quoted;
    if (quoted) continue;
    if (strchr("[{", text[at])) depth++;
    if (strchr("]}", text[at])) depth--;
    if (text[at] == ',' && depth <= 0) break;
  }
  return at;
}

static int add_value(Variation *v, const char *text, size_t length, const char *whole) {
  if (length == 0)
    return complain(EXIT_USAGE, "--vary %s: a value is missing; give NAME=VALUE,VALUE,...", whole);
  char **grown = realloc(v->values, ((size_t)v->count + 1) * sizeof *grown);
  if (grown) v->values = grown;
  char *value = grown ? copy_part(text, length) : NULL;
  if (!value) return complain(EXIT_MEMORY, "no memory for the options");
  v->values[v->count++] = value;
  return EXIT_GOOD;
}

static int read_one(Variation *v, const char *text) {
  const char *equals = strchr(text, '=');
  if (!equals || equals == text)
    return complain(EXIT_USAGE, "--vary %s: give NAME=VALUE,VALUE,..., such as k=10,100", text);
  v->name = copy_part(text, (size_t)(equals - text));
  if (!v->name) return complain(EXIT_MEMORY, "no memory for the options");
  const char *at = equals + 1;
  for (;;) {
    size_t length = value_length(at);
    int code = add_value(v, at, length, text);
    if (code != EXIT_GOOD || !at[length]) return code;
    at += length + 1;
  }
}

/* ---- Names ----------------------------------------------------------------------------------- */

/* Short names, with the path that they stand for and with paths that are removed, as a scene has
 * one or the other; %d is the number of a body. */
static const struct {
  const char *name, *path;
  const char *removed[4];
} short_names[] = {
    {"h", "time.step", {NULL}},
    {"step", "time.step", {NULL}},
    {"duration", "time.duration", {NULL}},
    {"k", "bodies[%d].springs.k", {"bodies[%d].springs.EA"}},
    {"EA", "bodies[%d].springs.EA", {"bodies[%d].springs.k"}},
    {"damping", "bodies[%d].springs.damping", {NULL}},
    {"mass",
     "bodies[%d].mass.total",
     {"bodies[%d].mass.per_vertex", "bodies[%d].mass.length_density",
      "bodies[%d].mass.area_density", "bodies[%d].mass.volume_density"}},
};
enum { SHORT_NAMES = sizeof short_names / sizeof short_names[0], MASS = SHORT_NAMES - 1 };

/* Returns the short name that has this index, or -1. */
static int short_of(const char *name) {
  for (int s = 0; s < SHORT_NAMES; s++)
    if (strcmp(short_names[s].name, name) == 0) return s;
  return -1;
}

/* Whether one name sets, or removes, what the other one sets. */
static bool is_same(const char *name, const char *other) {
  int a = short_of(name), b = short_of(other);
  const char *path = a < 0 ? name : short_names[a].path;
  if (strcmp(path, b < 0 ? other : short_names[b].path) == 0) return true;
  for (int q = 0; b >= 0 && q < 4 && short_names[b].removed[q]; q++)
    if (strcmp(path, short_names[b].removed[q]) == 0) return true;
  return false;
}

static int check_names(const Variations *v) {
  for (int a = 0; a < v->count; a++) {
    const char *name = v->list[a].name, *star = name ? strstr(name, "[*]") : NULL;
    if (star && strncmp(name, "bodies[*]", strlen("bodies[*]")) != 0)
      return complain(EXIT_USAGE, "--vary %s: [*] stands for every body; give the number", name);
    for (int b = 0; b < a; b++) {
      const char *other = v->list[b].name;
      if (name && other && strcmp(name, other) == 0)
        return complain(EXIT_USAGE, "--vary %s: is given twice; put all values behind one", name);
      if (name && other && is_same(name, other))
        return complain(EXIT_USAGE, "--vary %s: sets what %s sets; give one of them", name, other);
    }
  }
  return EXIT_GOOD;
}

int variations_parse(Variations *v, const TextList *texts) {
  *v = (Variations){.combinations = 1};
  if (texts->count == 0)
    return complain(EXIT_USAGE, "give at least one --vary NAME=VALUE,VALUE,..., such as k=10,100");
  v->list = calloc((size_t)texts->count, sizeof *v->list);
  if (!v->list) return complain(EXIT_MEMORY, "no memory for the options");
  for (int q = 0; q < texts->count; q++) {
    Variation *one = &v->list[v->count++];
    int code = read_one(one, texts->texts[q]);
    if (code != EXIT_GOOD) return code;
    int64_t values = one->count > 1 ? one->count : 1;
    if (v->combinations > MAX_COMBINATIONS / values)
      return complain(EXIT_USAGE,
                      "--vary: there are more than %lld combinations; give fewer values",
                      (long long)MAX_COMBINATIONS);
    v->combinations *= values;
  }
  return check_names(v);
}

void variations_release(Variations *v) {
  for (int q = 0; q < v->count; q++) {
    for (int k = 0; k < v->list[q].count; k++) free(v->list[q].values[k]);
    free(v->list[q].values);
    free(v->list[q].name);
  }
  free(v->list);
  free(v->mass_is_number);
  *v = (Variations){0};
}

const char *variations_value(const Variations *variations, int64_t combination, int index) {
  const Variation *list = variations->list;
  for (int q = variations->count - 1; q > index; q--) combination /= list[q].count;
  return list[index].values[combination % list[index].count];
}

/* ---- Assignments ----------------------------------------------------------------------------- */

/* Appends "PATH=VALUE", where the first %d or * of the path becomes a number. */
static bool append(TextList *sets, const char *path, int number, const char *value) {
  const char *mark = strstr(path, "%d"), *star = strstr(path, "[*]");
  const char *end = mark ? mark + 2 : star ? star + 2 : path + strlen(path);
  int before = (int)(mark ? mark - path : star ? star + 1 - path : end - path);
  size_t size = strlen(path) + strlen(value) + 16;
  const char **grown = realloc(sets->texts, ((size_t)sets->count + 1) * sizeof *grown);
  if (grown) sets->texts = grown;
  char *text = grown ? malloc(size) : NULL;
  if (!text) return false;
  if (mark || star)
    snprintf(text, size, "%.*s%d%s=%s", before, path, number, end, value);
  else
    snprintf(text, size, "%s=%s", path, value);
  sets->texts[sets->count++] = text;
  return true;
}

static bool append_short(const Variations *v, int s, const char *value, TextList *sets) {
  const char *path = short_names[s].path;
  bool of_bodies = strstr(path, "%d") != NULL;
  for (int body = 0; body < (of_bodies ? v->bodies : 1); body++) {
    bool as_number = s == MASS && v->mass_is_number && v->mass_is_number[body];
    for (int q = 0; q < 4 && short_names[s].removed[q] && !as_number; q++)
      if (!append(sets, short_names[s].removed[q], body, "null")) return false;
    if (!append(sets, as_number ? "bodies[%d].mass" : path, body, value)) return false;
  }
  return true;
}

static bool append_path(const Variations *v, const char *path, const char *value, TextList *sets) {
  bool of_bodies = strstr(path, "[*]") != NULL;
  for (int body = 0; body < (of_bodies ? v->bodies : 1); body++)
    if (!append(sets, path, body, value)) return false;
  return true;
}

static bool append_variation(const Variations *v, const char *name, const char *value,
                             TextList *sets) {
  int s = short_of(name);
  return s >= 0 ? append_short(v, s, value, sets) : append_path(v, name, value, sets);
}

bool variations_assign(const Variations *v, int64_t combination, const TextList *base,
                       TextList *sets) {
  *sets = (TextList){.texts = calloc((size_t)base->count + 1, sizeof *sets->texts)};
  if (!sets->texts) return false;
  for (int q = 0; q < base->count; q++) sets->texts[sets->count++] = base->texts[q];
  for (int q = 0; q < v->count; q++)
    if (!append_variation(v, v->list[q].name, variations_value(v, combination, q), sets))
      return false;
  return true;
}

void assignments_release(const TextList *base, TextList *sets) {
  for (int q = base->count; q < sets->count; q++) free((char *)sets->texts[q]);
  free(sets->texts);
  *sets = (TextList){0};
}
