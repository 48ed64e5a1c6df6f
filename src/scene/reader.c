/* Reads and checks values from JSON; see reader.h. */
#include "scene/reader.h"

#include "scene/parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t hk_reader_key(HkReader *r, const char *key) {
  size_t mark = strlen(r->path);
  snprintf(r->path + mark, sizeof r->path - mark, "%s%s", mark ? "." : "", key);
  return mark;
}

size_t hk_reader_index(HkReader *r, int index) {
  size_t mark = strlen(r->path);
  snprintf(r->path + mark, sizeof r->path - mark, "[%d]", index);
  return mark;
}

void hk_reader_up(HkReader *r, size_t mark) {
  r->path[mark] = 0;
}

HkStatus hk_reader_fail(HkReader *r, const HkJson *value, const char *format, ...) {
  char message[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  HkErrorPlace place = {.file = r->name, value->line, value->column, .key = r->path};
  if (value->line == 0) /* assigned from outside the file */
    place = (HkErrorPlace){.key = r->path + r->root + (r->root > 0)};
  return hk_fail_in(r->error, HK_ERROR_FORMAT, &place, "%s", message);
}

static const char *kind_of(const HkJson *value) {
  switch (value->kind) {
  case HK_JSON_OBJECT: return "an object";
  case HK_JSON_LIST: return "a list";
  case HK_JSON_TEXT: return "a string";
  case HK_JSON_INTEGER:
  case HK_JSON_REAL: return "a number";
  case HK_JSON_BOOLEAN: return "true or false";
  case HK_JSON_NULL: return "null";
  case HK_JSON_LOST: break;
  }
  return "something else";
}

static HkStatus fail_unknown_key(HkReader *r, const HkJson *key, const HkSchema *schema,
                                 const char *const *extra) {
  const char *names[128];
  int count = 0;
  for (int q = 0; q < schema->param_count && count < 100; q++)
    names[count++] = schema->params[q].name;
  for (int q = 0; extra && extra[q] && count < 128; q++) names[count++] = extra[q];
  const char *near = hk_text_nearest(key->text, names, count);
  char message[1024];
  int used = snprintf(message, sizeof message, "unknown key in %s", schema->name);
  if (near) {
    snprintf(message + used, sizeof message - (size_t)used, "; did you mean '%s'?", near);
  } else {
    for (int q = 0; q < count && used < (int)sizeof message - 1; q++)
      used += snprintf(message + used, sizeof message - (size_t)used, "%s%s",
                       q ? ", " : "; it knows ", names[q]);
    if (count == 0) snprintf(message + used, sizeof message - (size_t)used, ", which has none");
  }
  size_t mark = hk_reader_key(r, key->text);
  HkStatus status = hk_reader_fail(r, key, "%s", message);
  hk_reader_up(r, mark);
  return status;
}

HkStatus hk_read_number(HkReader *r, const HkJson *value, const char *unit, double *number) {
  if (!hk_json_is_number(value)) {
    bool bare = !unit[0] || strcmp(unit, "1") == 0;
    return hk_reader_fail(r, value, "expected a number%s%s%s, got %s", bare ? "" : " (",
                          bare ? "" : unit, bare ? "" : ")", kind_of(value));
  }
  *number = hk_json_number(value);
  return HK_OK;
}

static HkStatus read_numbers(HkReader *r, const HkJson *value, int count, const char *unit,
                             double *numbers) {
  bool bare = !unit[0] || strcmp(unit, "1") == 0;
  if (!hk_json_is(value, HK_JSON_LIST) || value->count != count)
    return hk_reader_fail(r, value, "expected a list of %d numbers%s%s%s, got %s%s", count,
                          bare ? "" : " (", bare ? "" : unit, bare ? "" : ")", kind_of(value),
                          hk_json_is(value, HK_JSON_LIST) ? " of another length" : "");
  for (int q = 0; q < count; q++) {
    size_t mark = hk_reader_index(r, q);
    HK_TRY(hk_read_number(r, &value->items[q], unit, &numbers[q]));
    hk_reader_up(r, mark);
  }
  return HK_OK;
}

HkStatus hk_read_vector(HkReader *r, const HkJson *value, double vector[3]) {
  return read_numbers(r, value, 3, "", vector);
}

static HkStatus read_table(HkReader *r, const HkJson *value, const HkParam *p, HkTable *table) {
  if (!hk_json_is(value, HK_JSON_LIST))
    return hk_reader_fail(r, value, "expected a list of rows, got %s", kind_of(value));
  size_t bytes = (size_t)value->count * (size_t)p->columns * sizeof *table->values;
  double *values = bytes ? malloc(bytes) : NULL;
  if (bytes && !values) return hk_fail_memory(r->error, bytes, p->name);
  for (int q = 0; q < value->count; q++) {
    size_t mark = hk_reader_index(r, q);
    HkStatus status = read_numbers(r, &value->items[q], p->columns, p->unit,
                                   values + (size_t)q * (size_t)p->columns);
    if (status < 0) {
      free(values);
      return status;
    }
    hk_reader_up(r, mark);
  }
  free(table->values);
  *table = (HkTable){values, value->count};
  return HK_OK;
}

static HkStatus read_choice(HkReader *r, const HkJson *value, const HkParam *p, int *choice) {
  char number[32] = ""; /* 26 stands for the word "26", true for the word "true" */
  if (hk_json_is(value, HK_JSON_INTEGER))
    snprintf(number, sizeof number, "%lld", (long long)value->integer);
  const char *word = hk_json_is(value, HK_JSON_TEXT) ? value->text : number;
  if (hk_json_is(value, HK_JSON_BOOLEAN)) word = value->boolean ? "true" : "false";
  int index = hk_choice_index(p->choices, word);
  if (index < 0) {
    char words[256];
    snprintf(words, sizeof words, "%s", p->choices);
    for (char *c = words; *c; c++)
      if (*c == '|') *c = '/';
    if (word[0]) return hk_reader_fail(r, value, "'%s' is none of %s", word, words);
    return hk_reader_fail(r, value, "expected one of %s, got %s", words, kind_of(value));
  }
  *choice = index;
  return HK_OK;
}

static HkStatus read_text(HkReader *r, const HkJson *value, const char **text) {
  if (!hk_json_is(value, HK_JSON_TEXT))
    return hk_reader_fail(r, value, "expected a string, got %s", kind_of(value));
  char *copy = hk_strdup(value->text);
  if (!copy) return hk_fail_memory(r->error, strlen(value->text), "a text");
  free((char *)*text);
  *text = copy;
  return HK_OK;
}

static HkStatus read_scalar(HkReader *r, const HkJson *value, const HkParam *p, void *params) {
  double number = 0;
  HkError inner = {0};
  if (p->kind == HK_PARAM_BOOLEAN) {
    if (!hk_json_is(value, HK_JSON_BOOLEAN))
      return hk_reader_fail(r, value, "expected true or false, got %s", kind_of(value));
    number = value->boolean;
  } else {
    HK_TRY(hk_read_number(r, value, p->unit, &number));
  }
  if (hk_param_set_number(p, params, number, &inner) >= 0) return HK_OK;
  return hk_reader_fail(r, value, "%s", inner.text + inner.message);
}

/* Factors along x, y and z may be one number for all. */
static HkStatus read_vector_param(HkReader *r, const HkJson *value, const HkParam *p,
                                  double *vector) {
  if (!hk_json_is_number(value) || strcmp(p->unit, "1") != 0)
    return read_numbers(r, value, 3, p->unit, vector);
  vector[0] = vector[1] = vector[2] = hk_json_number(value);
  return HK_OK;
}

static HkStatus read_param(HkReader *r, const HkJson *value, const HkParam *p, void *params) {
  void *at = (char *)params + p->offset;
  if (hk_json_is(value, HK_JSON_NULL)) return HK_OK; /* as if it were not given */
  switch (p->kind) {
  case HK_PARAM_NUMBER:
  case HK_PARAM_INTEGER:
  case HK_PARAM_BOOLEAN: return read_scalar(r, value, p, params);
  case HK_PARAM_VECTOR: return read_vector_param(r, value, p, at);
  case HK_PARAM_CHOICE: return read_choice(r, value, p, at);
  case HK_PARAM_TEXT: return read_text(r, value, at);
  case HK_PARAM_TABLE: return read_table(r, value, p, at);
  case HK_PARAM_SELECT: return hk_read_select(r, value, at);
  case HK_PARAM_METHOD: return hk_read_method(r, value, p->family, at);
  }
  return HK_OK;
}

static bool is_listed(const char *key, const char *const *list) {
  for (; list && *list; list++)
    if (strcmp(key, *list) == 0) return true;
  return false;
}

HkStatus hk_read_params(HkReader *r, const HkJson *object, const HkSchema *schema, void *params,
                        const char *const *extra) {
  if (!hk_json_is(object, HK_JSON_OBJECT))
    return hk_reader_fail(r, object, "expected an object, got %s", kind_of(object));
  for (int q = 0; q < hk_json_size(object); q++) {
    const HkJson *key = hk_json_key(object, q);
    if (is_listed(key->text, extra)) continue;
    const HkParam *p = hk_param_find(schema, key->text);
    if (!p) return fail_unknown_key(r, key, schema, extra);
    size_t mark = hk_reader_key(r, key->text);
    HK_TRY(read_param(r, hk_json_at(object, q), p, params));
    hk_reader_up(r, mark);
  }
  return HK_OK;
}

HkStatus hk_read_method(HkReader *r, const HkJson *value, HkFamily family, HkMethod *method) {
  static const char *const extra[] = {"type", NULL};
  return hk_read_method_among(r, value, family, extra, method);
}

HkStatus hk_read_method_among(HkReader *r, const HkJson *value, HkFamily family,
                              const char *const *extra, HkMethod *method) {
  const HkJson *type = hk_json_is(value, HK_JSON_OBJECT) ? hk_json_get(value, "type") : value;
  const char *noun = hk_family_noun(family), *default_name = hk_family_default(family);
  if (!type && hk_is_nested_family(family)) { /* parameters of the default */
    HK_TRY(hk_method_choose(method, family, default_name, r->error));
    return hk_read_params(r, value, method->schema, method->params, NULL);
  }
  if (!type)
    return hk_reader_fail(r, value, "\"type\" is missing: which %s? give one, such as '%s'", noun,
                          family == HK_STEP ? "backward_euler" : hk_schema_at(family, 0)->name);
  size_t mark = strlen(r->path);
  if (type != value) hk_reader_key(r, "type");
  if (!hk_json_is(type, HK_JSON_TEXT))
    return hk_reader_fail(r, type, "expected the name of %s %s, got %s", hk_article(noun), noun,
                          kind_of(type));
  HkError inner = {0};
  HkStatus status = hk_method_choose(method, family, type->text, &inner);
  if (status < 0) return hk_reader_fail(r, type, "%s", inner.text);
  hk_reader_up(r, mark);
  if (type == value) return HK_OK;
  return hk_read_params(r, value, method->schema, method->params, extra);
}

/* ---- Selections ---- */

typedef struct Box {
  double min[3], max[3];
} Box;
static const HkParam box_params[] = {
    HK_VECTOR(Box, min, "m", NAN, NAN, NAN, "lowest corner"),
    HK_VECTOR(Box, max, "m", NAN, NAN, NAN, "highest corner"),
};
static const HkSchema box_schema = {.name = "box", HK_PARAMS(Box, box_params)};

typedef struct Sphere {
  double center[3], radius;
} Sphere;
static const HkParam sphere_params[] = {
    HK_VECTOR(Sphere, center, "m", 0, 0, 0, "center"),
    HK_NUMBER(Sphere, radius, "m", NAN, 0, HK_MAX, "radius"),
};
static const HkSchema sphere_schema = {.name = "sphere", HK_PARAMS(Sphere, sphere_params)};

typedef struct Extreme {
  int axis;
  double tolerance;
} Extreme;
static const HkParam extreme_params[] = {
    HK_CHOICE(Extreme, axis, 1, "x|y|z", "along which axis"),
    HK_NUMBER(Extreme, tolerance, "m", 1e-6, 0, HK_MAX, "how far from the extreme"),
};
static const HkSchema extreme_schema = {.name = "lowest or highest",
                                        HK_PARAMS(Extreme, extreme_params)};

static HkStatus read_indices(HkReader *r, const HkJson *list, HkSelect *s) {
  if (!hk_json_is(list, HK_JSON_LIST))
    return hk_reader_fail(r, list, "expected a list, got %s", kind_of(list));
  size_t bytes = (size_t)list->count * sizeof *s->indices;
  s->indices = malloc(bytes ? bytes : 1);
  if (!s->indices) return hk_fail_memory(r->error, bytes, "indices");
  for (int q = 0; q < list->count; q++) {
    const HkJson *value = &list->items[q];
    size_t mark = hk_reader_index(r, q);
    int64_t index = hk_json_is(value, HK_JSON_INTEGER) ? value->integer : -1;
    if (index < 0 || index > INT32_MAX)
      return hk_reader_fail(r, value, "expected the number of a vertex, counted from 0");
    hk_reader_up(r, mark);
    s->indices[q] = (int32_t)index;
  }
  s->count = list->count;
  return HK_OK;
}

static HkStatus read_box(HkReader *r, const HkJson *value, HkSelect *s) {
  Box box;
  hk_params_default(&box_schema, &box);
  HK_TRY(hk_read_params(r, value, &box_schema, &box, NULL));
  for (int c = 0; c < 3; c++)
    if (!(box.min[c] <= box.max[c]))
      return hk_reader_fail(r, value, "give min and max with min <= max");
  memcpy(s->point, box.min, sizeof box.min);
  memcpy(s->other, box.max, sizeof box.max);
  return HK_OK;
}

static HkStatus read_sphere(HkReader *r, const HkJson *value, HkSelect *s) {
  Sphere sphere;
  hk_params_default(&sphere_schema, &sphere);
  HK_TRY(hk_read_params(r, value, &sphere_schema, &sphere, NULL));
  if (isnan(sphere.radius)) return hk_reader_fail(r, value, "the radius is missing");
  memcpy(s->point, sphere.center, sizeof sphere.center);
  s->value = sphere.radius;
  return HK_OK;
}

static HkStatus read_extreme(HkReader *r, const HkJson *value, HkSelect *s) {
  Extreme extreme;
  hk_params_default(&extreme_schema, &extreme);
  HK_TRY(hk_read_params(r, value, &extreme_schema, &extreme, NULL));
  s->axis = extreme.axis;
  s->value = extreme.tolerance;
  return HK_OK;
}

static HkStatus read_all(HkReader *r, const HkJson *value, HkSelect *s) {
  (void)s;
  bool yes = hk_json_is(value, HK_JSON_BOOLEAN) && value->boolean;
  return yes ? HK_OK : hk_reader_fail(r, value, "expected true");
}

static HkStatus read_nearest(HkReader *r, const HkJson *value, HkSelect *s) {
  return hk_read_vector(r, value, s->point);
}

static HkStatus read_set(HkReader *r, const HkJson *value, HkSelect *s) {
  return read_text(r, value, &s->set);
}

static const struct {
  const char *key;
  HkSelectKind kind;
  HkStatus (*read)(HkReader *r, const HkJson *value, HkSelect *s);
} ways[] = {
    {"all", HK_SELECT_ALL, read_all},
    {"indices", HK_SELECT_INDICES, read_indices},
    {"box", HK_SELECT_BOX, read_box},
    {"sphere", HK_SELECT_SPHERE, read_sphere},
    {"lowest", HK_SELECT_LOWEST, read_extreme},
    {"highest", HK_SELECT_HIGHEST, read_extreme},
    {"nearest", HK_SELECT_NEAREST, read_nearest},
    {"set", HK_SELECT_SET, read_set},
    {"vertices", HK_SELECT_VERTICES, read_indices},
};
enum { WAYS = sizeof ways / sizeof ways[0] };

HkStatus hk_read_select(HkReader *r, const HkJson *value, HkSelect *select) {
  hk_select_clear(select);
  if (hk_json_is(value, HK_JSON_TEXT)) { /* "all", or the name of a set */
    bool all = strcmp(value->text, "all") == 0;
    select->kind = all ? HK_SELECT_ALL : HK_SELECT_SET;
    return all ? HK_OK : read_text(r, value, &select->set);
  }
  if (!hk_json_is(value, HK_JSON_OBJECT))
    return hk_reader_fail(r, value,
                          "expected the name of a set or an object such as {\"indices\": [0]}, "
                          "got %s",
                          kind_of(value));
  const char *keys[WAYS + 1] = {0};
  for (int q = 0; q < WAYS; q++) keys[q] = ways[q].key;
  HK_TRY(hk_read_params(r, value, &hk_part_select, select, keys));
  for (int q = 0; q < WAYS; q++) {
    const HkJson *way = hk_json_get(value, ways[q].key);
    if (!way) continue;
    if (select->kind != HK_SELECT_NONE)
      return hk_reader_fail(r, value,
                            "give only one of all, indices, box, sphere, lowest, highest, "
                            "nearest, set, vertices");
    select->kind = ways[q].kind;
    size_t mark = hk_reader_key(r, ways[q].key);
    HK_TRY(ways[q].read(r, way, select));
    hk_reader_up(r, mark);
  }
  if (select->kind == HK_SELECT_NONE)
    return hk_reader_fail(r, value,
                          "give one of all, indices, box, sphere, lowest, highest, nearest, set, "
                          "vertices");
  return HK_OK;
}
