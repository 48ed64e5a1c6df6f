/* Parameter structs that describe themselves; see schema.h. */
#include "base/schema.h"

#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *field(const HkParam *param, void *params) {
  return (char *)params + param->offset;
}

const char *hk_family_name(HkFamily family) {
  static const char *const names[] = {"shape",      "force",     "motion", "obstacle",
                                      "integrator", "minimizer", "linear", "preconditioner",
                                      "output",     "part"};
  return family >= 0 && family < HK_FAMILY_COUNT ? names[family] : "unknown family";
}

const char *hk_family_noun(HkFamily family) {
  return family == HK_LINEAR ? "linear solver" : hk_family_name(family);
}

const char *hk_article(const char *noun) {
  return *noun && strchr("aeiou", *noun) ? "an" : "a";
}

int hk_schema_count(HkFamily family) {
  int count = 0;
  while (hk_schema_at(family, count)) count++;
  return count;
}

const HkSchema *hk_schema_find(HkFamily family, const char *name) {
  const HkSchema *schema;
  for (int q = 0; (schema = hk_schema_at(family, q)); q++)
    if (strcmp(schema->name, name) == 0) return schema;
  return NULL;
}

HkStatus hk_fail_device(HkFamily family, const char *name, const char *instead, HkError *error) {
  return hk_fail(error, HK_ERROR_UNSUPPORTED, "devices do not support the %s '%s'; choose %s",
                 hk_family_noun(family), name, instead);
}

const HkParam *hk_param_find(const HkSchema *schema, const char *name) {
  for (int q = 0; q < schema->param_count; q++) {
    const HkParam *p = &schema->params[q];
    if (strcmp(p->name, name) == 0 || (p->old_name && strcmp(p->old_name, name) == 0)) return p;
  }
  return NULL;
}

void hk_params_default(const HkSchema *schema, void *params) {
  memset(params, 0, schema->size);
  for (int q = 0; q < schema->param_count; q++) {
    const HkParam *p = &schema->params[q];
    void *at = field(p, params);
    switch (p->kind) {
    case HK_PARAM_NUMBER: *(double *)at = p->default_value[0]; break;
    case HK_PARAM_INTEGER:
    case HK_PARAM_CHOICE: *(int *)at = (int)p->default_value[0]; break;
    case HK_PARAM_BOOLEAN: *(bool *)at = p->default_value[0] != 0; break;
    case HK_PARAM_VECTOR: memcpy(at, p->default_value, sizeof p->default_value); break;
    case HK_PARAM_TEXT:
    case HK_PARAM_TABLE:
    case HK_PARAM_SELECT:
    case HK_PARAM_METHOD: break;
    }
  }
}

void hk_select_clear(HkSelect *select) {
  free((char *)select->body);
  free((char *)select->set);
  free(select->indices);
  memset(select, 0, sizeof *select);
}

void hk_params_clear(const HkSchema *schema, void *params) {
  for (int q = 0; q < schema->param_count; q++) {
    const HkParam *p = &schema->params[q];
    void *at = field(p, params);
    if (p->kind == HK_PARAM_TEXT) {
      free(*(char **)at);
      *(char **)at = NULL;
    } else if (p->kind == HK_PARAM_TABLE) {
      free(((HkTable *)at)->values);
      *(HkTable *)at = (HkTable){0};
    } else if (p->kind == HK_PARAM_SELECT) {
      hk_select_clear(at);
    } else if (p->kind == HK_PARAM_METHOD) {
      hk_method_clear(at);
    }
  }
}

HkStatus hk_select_copy(const HkSelect *from, HkSelect *to, HkError *error) {
  *to = (HkSelect){0};
  HK_TRY(hk_select_check_list(from, error));
  *to = *from;
  to->body = hk_strdup(from->body);
  to->set = hk_strdup(from->set);
  to->indices = NULL;
  size_t bytes = (size_t)from->count * sizeof *from->indices;
  if (from->indices && bytes) {
    to->indices = malloc(bytes);
    if (to->indices) memcpy(to->indices, from->indices, bytes);
  }
  if ((from->body && !to->body) || (from->set && !to->set) ||
      (from->indices && bytes && !to->indices)) {
    hk_select_clear(to);
    return hk_fail_memory(error, bytes, "a selection");
  }
  return HK_OK;
}

HkStatus hk_params_copy(const HkSchema *schema, const void *from, void *to, HkError *error) {
  HkStatus status = HK_OK;
  memcpy(to, from, schema->size);
  for (int q = 0; q < schema->param_count; q++) {
    const HkParam *p = &schema->params[q];
    const void *source = (const char *)from + p->offset;
    void *at = field(p, to);
    if (p->kind == HK_PARAM_TEXT) {
      char *text = *(char *const *)source;
      *(char **)at = hk_strdup(text);
      if (text && !*(char **)at) status = hk_fail_memory(error, strlen(text), p->name);
    } else if (p->kind == HK_PARAM_TABLE) {
      const HkTable *table = source;
      HkTable *copy = at;
      size_t bytes = (size_t)table->rows * (size_t)p->columns * sizeof(double);
      *copy = (HkTable){0};
      HkStatus sound = hk_table_check_rows(table, p->columns, p->name, error);
      if (sound < 0) {
        status = sound;
        continue;
      }
      if (!bytes) continue;
      copy->values = malloc(bytes);
      if (!copy->values) {
        status = hk_fail_memory(error, bytes, p->name);
        continue;
      }
      memcpy(copy->values, table->values, bytes);
      copy->rows = table->rows;
    } else if (p->kind == HK_PARAM_SELECT) {
      HkStatus copied = hk_select_copy(source, at, error);
      if (copied < 0) status = copied;
    } else if (p->kind == HK_PARAM_METHOD) {
      HkStatus copied = hk_method_copy(source, at, error);
      if (copied < 0) status = copied;
    }
  }
  if (status < 0) hk_params_clear(schema, to);
  return status;
}

int hk_choice_index(const char *choices, const char *word) {
  size_t length = strlen(word);
  int index = 0;
  for (const char *at = choices;; index++) {
    size_t n = strcspn(at, "|");
    if (n == length && memcmp(at, word, n) == 0) return index;
    if (!at[n]) return -1;
    at += n + 1;
  }
}

void hk_choice_word(const char *choices, int index, char *word, size_t size) {
  const char *at = choices;
  for (; index > 0 && *at; index--) {
    at += strcspn(at, "|");
    if (*at) at++;
  }
  snprintf(word, size, "%.*s", (int)strcspn(at, "|"), at);
}

HkStatus hk_param_set_number(const HkParam *p, void *params, double value, HkError *error) {
  void *at = field(p, params);
  double min = p->min, max = p->max;
  if (p->kind == HK_PARAM_CHOICE) {
    max = 0;
    for (const char *c = p->choices; *c; c++) max += *c == '|';
  }
  bool whole = p->kind != HK_PARAM_NUMBER;
  if (!(value >= min && value <= max) || (whole && value != floor(value))) {
    char range[96];
    if (min <= -HK_MAX)
      snprintf(range, sizeof range, "at most %g", max);
    else if (max >= HK_MAX)
      snprintf(range, sizeof range, "at least %g", min);
    else
      snprintf(range, sizeof range, "from %g to %g", min, max);
    return hk_fail_key(error, HK_ERROR_INVALID, p->name, "%g is out of range, expected %s %s%s%s",
                       value, whole ? "a whole number" : "a number", range,
                       p->unit[0] && strcmp(p->unit, "1") != 0 ? " " : "",
                       strcmp(p->unit, "1") != 0 ? p->unit : "");
  }
  switch (p->kind) {
  case HK_PARAM_NUMBER: *(double *)at = value; return HK_OK;
  case HK_PARAM_INTEGER:
  case HK_PARAM_CHOICE: *(int *)at = (int)value; return HK_OK;
  case HK_PARAM_BOOLEAN: *(bool *)at = value != 0; return HK_OK;
  default: return hk_fail(error, HK_ERROR_INVALID, "%s is not a number", p->name);
  }
}

/* ---- Methods ----------------------------------------------------------------------------------
 */

void hk_method_clear(HkMethod *method) {
  if (method->schema && method->params) hk_params_clear(method->schema, method->params);
  free(method->params);
  *method = (HkMethod){0};
}

/* A name of another family is misplaced rather than misspelled. */
static HkStatus fail_unknown_method(HkFamily family, const char *name, HkError *error) {
  const char *names[64], *kind = hk_family_noun(family);
  int count = 0;
  for (HkFamily other = 0; other < HK_PART; other++)
    if (hk_schema_find(other, name))
      return hk_fail(error, HK_ERROR_INVALID, "there is no %s '%s'; that is %s %s", kind, name,
                     hk_article(hk_family_noun(other)), hk_family_noun(other));
  for (; count < 64 && hk_schema_at(family, count); count++)
    names[count] = hk_schema_at(family, count)->name;
  const char *near = hk_text_nearest(name, names, count);
  if (near)
    return hk_fail(error, HK_ERROR_INVALID, "there is no %s '%s'; did you mean '%s'?", kind, name,
                   near);
  char known[1024] = "";
  for (int q = 0, used = 0; q < count && used < (int)sizeof known - 1; q++)
    used += snprintf(known + used, sizeof known - (size_t)used, "%s%s", q ? ", " : "", names[q]);
  return hk_fail(error, HK_ERROR_INVALID, "there is no %s '%.200s'; there are %s", kind, name,
                 known);
}

HkStatus hk_method_choose(HkMethod *method, HkFamily family, const char *name, HkError *error) {
  const HkSchema *schema = hk_schema_find(family, name);
  if (!schema) return fail_unknown_method(family, name, error);
  void *params = malloc(schema->size ? schema->size : 1);
  if (!params) return hk_fail_memory(error, schema->size, name);
  hk_params_default(schema, params);
  hk_method_clear(method);
  *method = (HkMethod){schema, params};
  return HK_OK;
}

HkStatus hk_method_copy(const HkMethod *from, HkMethod *to, HkError *error) {
  *to = (HkMethod){0};
  if (!from->schema) return HK_OK;
  void *params = malloc(from->schema->size ? from->schema->size : 1);
  if (!params) return hk_fail_memory(error, from->schema->size, from->schema->name);
  HkStatus status = hk_params_copy(from->schema, from->params, params, error);
  if (status < 0) {
    free(params);
    return status;
  }
  *to = (HkMethod){from->schema, params};
  return HK_OK;
}

/* Returns the parameter of one of two kinds, or NULL with an error. */
static const HkParam *param_of(const HkMethod *method, const char *name, HkParamKind kind,
                               HkParamKind other, HkError *error) {
  if (!method->schema) {
    hk_fail(error, HK_ERROR_INVALID, "no method was chosen, so '%s' cannot be set", name);
    return NULL;
  }
  const HkParam *p = hk_param_find(method->schema, name);
  if (!p)
    hk_fail(error, HK_ERROR_INVALID, "%s has no parameter '%s'", method->schema->name, name);
  else if (p->kind != kind && p->kind != other) {
    hk_fail(error, HK_ERROR_INVALID, "%s.%s is of another kind", method->schema->name, name);
    p = NULL;
  }
  return p;
}

HkStatus hk_method_set_number(HkMethod *method, const char *param, double value, HkError *error) {
  const HkParam *p = method->schema ? hk_param_find(method->schema, param) : NULL;
  HkParamKind kind = p ? p->kind : HK_PARAM_NUMBER;
  if (kind != HK_PARAM_INTEGER && kind != HK_PARAM_BOOLEAN && kind != HK_PARAM_CHOICE)
    kind = HK_PARAM_NUMBER;
  p = param_of(method, param, kind, kind, error);
  return p ? hk_param_set_number(p, method->params, value, error) : HK_ERROR_INVALID;
}

HkStatus hk_method_set_vector(HkMethod *method, const char *param, const double value[3],
                              HkError *error) {
  const HkParam *p = param_of(method, param, HK_PARAM_VECTOR, HK_PARAM_VECTOR, error);
  if (!p) return HK_ERROR_INVALID;
  for (int c = 0; c < 3; c++)
    if (!isfinite(value[c]))
      return hk_fail_key(error, HK_ERROR_INVALID, param, "%g is not a finite number", value[c]);
  memcpy(field(p, method->params), value, 3 * sizeof(double));
  return HK_OK;
}

HkStatus hk_method_set_text(HkMethod *method, const char *param, const char *value,
                            HkError *error) {
  const HkParam *p = param_of(method, param, HK_PARAM_TEXT, HK_PARAM_CHOICE, error);
  if (!p) return HK_ERROR_INVALID;
  void *at = field(p, method->params);
  if (p->kind == HK_PARAM_CHOICE) {
    int index = value ? hk_choice_index(p->choices, value) : -1;
    if (index < 0)
      return hk_fail_key(error, HK_ERROR_INVALID, param, "'%s' is none of %s", value ? value : "",
                         p->choices);
    *(int *)at = index;
    return HK_OK;
  }
  char *copy = hk_strdup(value);
  if (value && !copy) return hk_fail_memory(error, strlen(value), param);
  free(*(char **)at);
  *(char **)at = copy;
  return HK_OK;
}

HkStatus hk_method_set_table(HkMethod *method, const char *param, const double *values, int rows,
                             HkError *error) {
  const HkParam *p = param_of(method, param, HK_PARAM_TABLE, HK_PARAM_TABLE, error);
  if (!p) return HK_ERROR_INVALID;
  HK_TRY(hk_table_check_rows(&(HkTable){(double *)values, rows}, p->columns, param, error));
  size_t count = (size_t)rows * (size_t)p->columns;
  double *copy = count ? malloc(count * sizeof *copy) : NULL;
  if (count && !copy) return hk_fail_memory(error, count * sizeof *copy, param);
  if (count) memcpy(copy, values, count * sizeof *copy);
  HkTable *table = field(p, method->params);
  free(table->values);
  *table = (HkTable){copy, rows};
  return HK_OK;
}

HkStatus hk_method_set_select(HkMethod *method, const char *param, const HkSelect *value,
                              HkError *error) {
  const HkParam *p = param_of(method, param, HK_PARAM_SELECT, HK_PARAM_SELECT, error);
  if (!p) return HK_ERROR_INVALID;
  HkSelect copy;
  HK_TRY(hk_select_check(value, error));
  HK_TRY(hk_select_copy(value, &copy, error));
  HkSelect *at = field(p, method->params);
  hk_select_clear(at);
  *at = copy;
  return HK_OK;
}

HkMethod *hk_method_set_method(HkMethod *method, const char *param, const char *name,
                               HkError *error) {
  const HkParam *p = param_of(method, param, HK_PARAM_METHOD, HK_PARAM_METHOD, error);
  HkMethod *at = p ? field(p, method->params) : NULL;
  return at && hk_method_choose(at, p->family, name, error) >= 0 ? at : NULL;
}
