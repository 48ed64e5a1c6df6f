/* Reading checked values from JSON; see reader.h. */
#include "scene/reader.h"

#include "scene/locate.h"
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

size_t hk_reader_index(HkReader *r, size_t index) {
  size_t mark = strlen(r->path);
  snprintf(r->path + mark, sizeof r->path - mark, "[%zu]", index);
  return mark;
}

void hk_reader_up(HkReader *r, size_t mark) {
  r->path[mark] = 0;
}

/* Whether a path is that of an assignment, or below it; bodies.0 is bodies[0], and pins.list[0] is
 * pins[0]. */
static bool is_set_by(const char *path, const char *assignment) {
  for (;;) {
    assignment += strspn(assignment, ".[]");
    path += strspn(path, ".[]");
    size_t length = strcspn(assignment, ".[]=");
    if (length == 4 && memcmp(assignment, "list", 4) == 0 && strspn(path, "0123456789")) {
      assignment += length;
      continue;
    }
    if (length == 0) return true;
    if (length != strcspn(path, ".[]") || memcmp(path, assignment, length) != 0) return false;
    assignment += length;
    path += length;
  }
}

/* Error at the value of the present path, or at a key in it. */
static HkStatus fail_at_path(HkReader *r, const char *key, const char *message) {
  int line = 0, column = 0;
  bool outside = false, found = hk_locate(r->text, r->size, r->path, key, &line, &column);
  size_t mark = key ? hk_reader_key(r, key) : strlen(r->path);
  for (int q = 0; q < r->set_count; q++) outside |= is_set_by(r->path + r->root, r->sets[q]);
  if (outside) /* what stands at that place in the text is not what is wrong */
    hk_fail(r->error, HK_ERROR_FORMAT, "--set %s: %s", r->path + r->root + (r->root > 0), message);
  else
    hk_fail_at(r->error, HK_ERROR_FORMAT, r->name, found ? line : 0, found ? column : 0, "%s%s%s",
               r->path, r->path[0] ? ": " : "", message);
  hk_reader_up(r, mark);
  return HK_ERROR_FORMAT;
}

HkStatus hk_reader_fail(HkReader *r, const char *format, ...) {
  char message[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  return fail_at_path(r, NULL, message);
}

static const char *kind_of(const json_t *value) {
  switch (json_typeof(value)) {
  case JSON_OBJECT: return "an object";
  case JSON_ARRAY: return "a list";
  case JSON_STRING: return "a string";
  case JSON_INTEGER:
  case JSON_REAL: return "a number";
  case JSON_TRUE:
  case JSON_FALSE: return "true or false";
  case JSON_NULL: return "null";
  }
  return "something else";
}

static HkStatus fail_unknown_key(HkReader *r, const char *key, const HkSchema *schema,
                                 const char *const *extra) {
  const char *names[128];
  int count = 0;
  for (int q = 0; q < schema->param_count && count < 100; q++)
    names[count++] = schema->params[q].name;
  for (int q = 0; extra && extra[q] && count < 128; q++) names[count++] = extra[q];
  const char *near = hk_nearest_word(key, names, count);
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
  return fail_at_path(r, key, message);
}

HkStatus hk_read_number(HkReader *r, json_t *value, const char *unit, double *number) {
  if (!json_is_number(value)) {
    bool bare = !unit[0] || strcmp(unit, "1") == 0;
    return hk_reader_fail(r, "expected a number%s%s%s, got %s", bare ? "" : " (", bare ? "" : unit,
                          bare ? "" : ")", kind_of(value));
  }
  *number = json_number_value(value);
  return HK_OK;
}

static HkStatus read_numbers(HkReader *r, json_t *value, size_t count, const char *unit,
                             double *numbers) {
  bool bare = !unit[0] || strcmp(unit, "1") == 0;
  if (!json_is_array(value) || json_array_size(value) != count)
    return hk_reader_fail(r, "expected a list of %zu numbers%s%s%s, got %s%s", count,
                          bare ? "" : " (", bare ? "" : unit, bare ? "" : ")", kind_of(value),
                          json_is_array(value) ? " of another length" : "");
  for (size_t q = 0; q < count; q++) {
    size_t mark = hk_reader_index(r, q);
    HK_TRY(hk_read_number(r, json_array_get(value, q), unit, &numbers[q]));
    hk_reader_up(r, mark);
  }
  return HK_OK;
}

HkStatus hk_read_vector(HkReader *r, json_t *value, double vector[3]) {
  return read_numbers(r, value, 3, "", vector);
}

static HkStatus read_table(HkReader *r, json_t *value, const HkParam *p, HkTable *table) {
  if (!json_is_array(value))
    return hk_reader_fail(r, "expected a list of rows, got %s", kind_of(value));
  size_t rows = json_array_size(value), columns = (size_t)p->columns;
  double *values = rows ? malloc(rows * columns * sizeof *values) : NULL;
  if (rows && !values) return hk_fail_memory(r->error, rows * columns * sizeof *values, p->name);
  for (size_t q = 0; q < rows; q++) {
    size_t mark = hk_reader_index(r, q);
    HkStatus status =
        read_numbers(r, json_array_get(value, q), columns, p->unit, values + q * columns);
    if (status < 0) {
      free(values);
      return status;
    }
    hk_reader_up(r, mark);
  }
  free(table->values);
  *table = (HkTable){values, (int)rows};
  return HK_OK;
}

static HkStatus read_choice(HkReader *r, json_t *value, const HkParam *p, int *choice) {
  char number[32] = ""; /* 26 stands for the word "26" */
  if (json_is_integer(value))
    snprintf(number, sizeof number, "%lld", (long long)json_integer_value(value));
  const char *word = json_is_string(value) ? json_string_value(value) : number;
  int index = hk_choice_index(p->choices, word);
  if (index < 0) {
    char words[256];
    snprintf(words, sizeof words, "%s", p->choices);
    for (char *c = words; *c; c++)
      if (*c == '|') *c = '/';
    if (word[0]) return hk_reader_fail(r, "'%s' is none of %s", word, words);
    return hk_reader_fail(r, "expected one of %s, got %s", words, kind_of(value));
  }
  *choice = index;
  return HK_OK;
}

static HkStatus read_text(HkReader *r, json_t *value, const char **text) {
  if (!json_is_string(value)) return hk_reader_fail(r, "expected a string, got %s", kind_of(value));
  char *copy = hk_strdup(json_string_value(value));
  if (!copy) return hk_fail_memory(r->error, json_string_length(value), "a text");
  free((char *)*text);
  *text = copy;
  return HK_OK;
}

static HkStatus read_scalar(HkReader *r, json_t *value, const HkParam *p, void *params) {
  double number = 0;
  HkError inner = {0};
  if (p->kind == HK_PARAM_BOOLEAN) {
    if (!json_is_boolean(value))
      return hk_reader_fail(r, "expected true or false, got %s", kind_of(value));
    number = json_is_true(value);
  } else {
    HK_TRY(hk_read_number(r, value, p->unit, &number));
  }
  if (hk_param_set_number(p, params, number, &inner) >= 0) return HK_OK;
  /* The message begins with the parameter's name, which the path has already. */
  const char *rest = strchr(inner.text, ':');
  return hk_reader_fail(r, "%s", rest ? rest + 2 : inner.text);
}

/* Factors along x, y and z may be one number for all. */
static HkStatus read_vector_param(HkReader *r, json_t *value, const HkParam *p, double *vector) {
  if (!json_is_number(value) || strcmp(p->unit, "1") != 0)
    return read_numbers(r, value, 3, p->unit, vector);
  vector[0] = vector[1] = vector[2] = json_number_value(value);
  return HK_OK;
}

static HkStatus read_param(HkReader *r, json_t *value, const HkParam *p, void *params) {
  void *at = (char *)params + p->offset;
  if (json_is_null(value)) return HK_OK; /* as if it were not given */
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

HkStatus hk_read_params(HkReader *r, json_t *object, const HkSchema *schema, void *params,
                        const char *const *extra) {
  if (!json_is_object(object))
    return hk_reader_fail(r, "expected an object, got %s", kind_of(object));
  const char *key;
  json_t *value;
  json_object_foreach(object, key, value) {
    const HkParam *p = hk_param_find(schema, key);
    if (!p && is_listed(key, extra)) continue;
    if (!p) return fail_unknown_key(r, key, schema, extra);
    size_t mark = hk_reader_key(r, key);
    HK_TRY(read_param(r, value, p, params));
    hk_reader_up(r, mark);
  }
  return HK_OK;
}

HkStatus hk_read_method(HkReader *r, json_t *value, HkFamily family, HkMethod *method) {
  static const char *const extra[] = {"type", NULL};
  json_t *type = json_is_object(value) ? json_object_get(value, "type") : value;
  const char *noun = hk_family_noun(family), *standard = hk_family_default(family);
  if (!type && hk_is_nested_family(family)) { /* parameters of the default */
    HK_TRY(hk_method_choose(method, family, standard, r->error));
    return hk_read_params(r, value, method->schema, method->params, NULL);
  }
  if (!type)
    return hk_reader_fail(r, "\"type\" is missing: which %s? give one, such as '%s'", noun,
                          family == HK_STEP ? "backward_euler" : hk_schema_at(family, 0)->name);
  size_t mark = strlen(r->path);
  if (type != value) hk_reader_key(r, "type");
  if (!json_is_string(type))
    return hk_reader_fail(r, "expected the name of %s %s, got %s", hk_article(noun), noun,
                          kind_of(type));
  HkError inner = {0};
  HkStatus status = hk_method_choose(method, family, json_string_value(type), &inner);
  if (status < 0) return hk_reader_fail(r, "%s", inner.text);
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
    HK_VECTOR(Sphere, center, "m", 0, 0, 0, "centre"),
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

static HkStatus read_indices(HkReader *r, json_t *list, HkSelect *s) {
  if (!json_is_array(list)) return hk_reader_fail(r, "expected a list, got %s", kind_of(list));
  size_t count = json_array_size(list);
  s->indices = malloc((count ? count : 1) * sizeof *s->indices);
  if (!s->indices) return hk_fail_memory(r->error, count * sizeof *s->indices, "indices");
  for (size_t q = 0; q < count; q++) {
    json_t *value = json_array_get(list, q);
    size_t mark = hk_reader_index(r, q);
    json_int_t index = json_is_integer(value) ? json_integer_value(value) : -1;
    if (index < 0 || index > INT32_MAX)
      return hk_reader_fail(r, "expected the number of a vertex, counted from 0");
    hk_reader_up(r, mark);
    s->indices[q] = (int32_t)index;
  }
  s->count = (int64_t)count;
  return HK_OK;
}

static HkStatus read_box(HkReader *r, json_t *value, HkSelect *s) {
  Box box;
  hk_params_default(&box_schema, &box);
  HK_TRY(hk_read_params(r, value, &box_schema, &box, NULL));
  for (int c = 0; c < 3; c++)
    if (!(box.min[c] <= box.max[c])) return hk_reader_fail(r, "give min and max with min <= max");
  memcpy(s->point, box.min, sizeof box.min);
  memcpy(s->other, box.max, sizeof box.max);
  return HK_OK;
}

static HkStatus read_sphere(HkReader *r, json_t *value, HkSelect *s) {
  Sphere sphere;
  hk_params_default(&sphere_schema, &sphere);
  HK_TRY(hk_read_params(r, value, &sphere_schema, &sphere, NULL));
  if (isnan(sphere.radius)) return hk_reader_fail(r, "the radius is missing");
  memcpy(s->point, sphere.center, sizeof sphere.center);
  s->value = sphere.radius;
  return HK_OK;
}

static HkStatus read_extreme(HkReader *r, json_t *value, HkSelect *s) {
  Extreme extreme;
  hk_params_default(&extreme_schema, &extreme);
  HK_TRY(hk_read_params(r, value, &extreme_schema, &extreme, NULL));
  s->axis = extreme.axis;
  s->value = extreme.tolerance;
  return HK_OK;
}

static HkStatus read_all(HkReader *r, json_t *value, HkSelect *s) {
  (void)s;
  return json_is_true(value) ? HK_OK : hk_reader_fail(r, "expected true");
}

static HkStatus read_nearest(HkReader *r, json_t *value, HkSelect *s) {
  return hk_read_vector(r, value, s->point);
}

static HkStatus read_set(HkReader *r, json_t *value, HkSelect *s) {
  return read_text(r, value, &s->set);
}

static const struct {
  const char *key;
  HkSelectKind kind;
  HkStatus (*read)(HkReader *r, json_t *value, HkSelect *s);
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

HkStatus hk_read_select(HkReader *r, json_t *value, HkSelect *select) {
  hk_select_clear(select);
  if (json_is_string(value)) { /* "all", or the name of a set */
    bool all = strcmp(json_string_value(value), "all") == 0;
    select->kind = all ? HK_SELECT_ALL : HK_SELECT_SET;
    return all ? HK_OK : read_text(r, value, &select->set);
  }
  if (!json_is_object(value))
    return hk_reader_fail(r,
                          "expected the name of a set or an object such as {\"indices\": [0]}, "
                          "got %s",
                          kind_of(value));
  const char *keys[WAYS + 1] = {0};
  for (int q = 0; q < WAYS; q++) keys[q] = ways[q].key;
  HK_TRY(hk_read_params(r, value, &hk_part_select, select, keys));
  for (int q = 0; q < WAYS; q++) {
    json_t *way = json_object_get(value, ways[q].key);
    if (!way) continue;
    if (select->kind != HK_SELECT_NONE)
      return hk_reader_fail(r, "give only one of all, indices, box, sphere, lowest, highest, "
                               "nearest, set, vertices");
    select->kind = ways[q].kind;
    size_t mark = hk_reader_key(r, ways[q].key);
    HK_TRY(ways[q].read(r, way, select));
    hk_reader_up(r, mark);
  }
  if (select->kind == HK_SELECT_NONE)
    return hk_reader_fail(r,
                          "give one of all, indices, box, sphere, lowest, highest, nearest, set, "
                          "vertices");
  return HK_OK;
}
