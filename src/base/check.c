/* Checks parameter structs that a caller has filled in C against their tables; see schema.h.
 *
 * Values that come from JSON or from hk_method_set_* are checked when they are set. Scenes and
 * parameter structs may also be edited freely, so they are checked once more where they are used.
 */
#include "base/schema.h"

#include <stdio.h>

static HkStatus fail_number(const char *key, double value, const char *expected, HkError *error) {
  return hk_fail_key(error, HK_ERROR_INVALID, key, "%g is out of range, expected %s", value,
                     expected);
}

static HkStatus check_range(const char *key, double value, double min, double max, HkError *error) {
  char range[96];
  if (value >= min && value <= max) return HK_OK;
  if (min <= -HK_MAX)
    snprintf(range, sizeof range, "a finite number");
  else if (max >= HK_MAX)
    snprintf(range, sizeof range, "a number of at least %g", min);
  else
    snprintf(range, sizeof range, "%g to %g", min, max);
  return fail_number(key, value, range, error);
}

static HkStatus check_vector(const char *key, const double *value, HkError *error) {
  for (int c = 0; c < 3; c++)
    if (!isfinite(value[c])) return fail_number(key, value[c], "finite numbers", error);
  return HK_OK;
}

HkStatus hk_table_check_rows(const HkTable *table, int columns, const char *name, HkError *error) {
  if (table->rows < 0 || (table->rows > 0 && !table->values))
    return hk_fail_key(error, HK_ERROR_INVALID, name, "a table of %d rows without values",
                       table->rows);
  for (int64_t q = 0; q < (int64_t)table->rows * columns; q++)
    if (!isfinite(table->values[q]))
      return hk_fail_key(error, HK_ERROR_INVALID, name,
                         "row %lld holds a number that is not finite", (long long)(q / columns));
  return HK_OK;
}

HkStatus hk_select_check_list(const HkSelect *s, HkError *error) {
  const int64_t MAX_INDICES = INT64_MAX / (int64_t)sizeof *s->indices;
  if (s->count >= 0 && s->count <= MAX_INDICES && (s->count == 0 || s->indices)) return HK_OK;
  return hk_fail_key(error, HK_ERROR_INVALID, "select", "%lld indices %s", (long long)s->count,
                     s->count > 0 && !s->indices ? "are promised, but there is no list of them"
                                                 : "cannot be");
}

HkStatus hk_select_check(const HkSelect *s, HkError *error) {
  bool extreme = s->kind == HK_SELECT_LOWEST || s->kind == HK_SELECT_HIGHEST;
  if (s->kind < HK_SELECT_NONE || s->kind > HK_SELECT_VERTICES)
    return hk_fail_key(error, HK_ERROR_INVALID, "select", "there is no kind %d", (int)s->kind);
  HK_TRY(hk_select_check_list(s, error));
  if (extreme && (s->axis < 0 || s->axis > 2))
    return hk_fail_key(error, HK_ERROR_INVALID, "select",
                       "there is no axis %d; 0 is x, 1 is y, 2 is z", s->axis);
  if (s->kind == HK_SELECT_SET && !s->set)
    return hk_fail_key(error, HK_ERROR_INVALID, "select", "a vertex set needs its name");
  /* A box or a radius may be infinite, which means something; NaN does not. */
  for (int c = 0; c < 3; c++)
    if (isnan(s->point[c]) || isnan(s->other[c]))
      return hk_fail_key(error, HK_ERROR_INVALID, "select",
                         "a point has a coordinate that is no number");
  if (isnan(s->value))
    return hk_fail_key(error, HK_ERROR_INVALID, "select", "a distance is no number");
  return HK_OK;
}

static HkStatus check_param(const HkParam *p, const void *value, const char *key, HkError *error) {
  switch (p->kind) {
  case HK_PARAM_NUMBER:
    if (isnan(p->default_value[0]) && isnan(*(const double *)value)) return HK_OK; /* not given */
    return check_range(key, *(const double *)value, p->min, p->max, error);
  case HK_PARAM_INTEGER: return check_range(key, *(const int *)value, p->min, p->max, error);
  case HK_PARAM_CHOICE: {
    int last = 0;
    for (const char *c = p->choices; *c; c++) last += *c == '|';
    return check_range(key, *(const int *)value, 0, last, error);
  }
  case HK_PARAM_VECTOR: return check_vector(key, value, error);
  case HK_PARAM_TABLE: return hk_table_check_rows(value, p->columns, key, error);
  case HK_PARAM_METHOD: return hk_method_check(value, p->family, key, error);
  case HK_PARAM_SELECT: /* hk_model_select checks it when it is used */
  case HK_PARAM_BOOLEAN:
  case HK_PARAM_TEXT: break;
  }
  return HK_OK;
}

HkStatus hk_params_check(const HkSchema *schema, const void *params, const char *path,
                         HkError *error) {
  for (int k = 0; k < schema->param_count; k++) {
    const HkParam *p = &schema->params[k];
    char key[sizeof error->key];
    snprintf(key, sizeof key, "%s%s%s", path, path[0] ? "." : "", p->name);
    HK_TRY(check_param(p, (const char *)params + p->offset, key, error));
  }
  return HK_OK;
}

HkStatus hk_method_check(const HkMethod *method, HkFamily family, const char *path,
                         HkError *error) {
  if (!method->schema) return HK_OK;
  if (!hk_schema_is_of(family, method->schema))
    return hk_fail_key(error, HK_ERROR_INVALID, path, "'%s' is not %s %s", method->schema->name,
                       hk_article(hk_family_noun(family)), hk_family_noun(family));
  if (!method->params && method->schema->param_count > 0)
    return hk_fail_key(error, HK_ERROR_INVALID, path,
                       "%s has no parameters; choose it by hk_method_choose", method->schema->name);
  return hk_params_check(method->schema, method->params, path, error);
}
