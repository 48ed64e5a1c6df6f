/* A chosen method with those nested in it; see describe.h.
 *
 * A nested method that was not given stands for its family's default, with default parameters: its
 * params are NULL here.
 */
#include "describe.h"

#include "text.h"

#include <math.h>
#include <string.h>

static const void *place(const HkParam *p, const void *params) {
  return params ? (const char *)params + p->offset : NULL;
}

/* Returns a number, a boolean or the index of a choice. */
static double number_at(const HkParam *p, const void *params) {
  const void *at = place(p, params);
  if (at && p->kind == HK_PARAM_NUMBER) return *(const double *)at;
  if (at && p->kind == HK_PARAM_BOOLEAN) return *(const bool *)at;
  if (at && (p->kind == HK_PARAM_INTEGER || p->kind == HK_PARAM_CHOICE)) return *(const int *)at;
  return p->default_value[0];
}

/* Appends " name value" of a plain parameter to text; nothing if it is not set. */
static void append_value(const HkParam *p, const void *params, char *text, size_t size) {
  size_t used = strlen(text);
  char value[64] = "";
  double number = number_at(p, params);
  if (p->kind == HK_PARAM_CHOICE)
    text_choice(p->choices, (int)number, value, sizeof value);
  else if (p->kind == HK_PARAM_BOOLEAN)
    snprintf(value, sizeof value, "%s", number != 0 ? "true" : "false");
  else if ((p->kind == HK_PARAM_NUMBER || p->kind == HK_PARAM_INTEGER) && isfinite(number))
    snprintf(value, sizeof value, "%g%s%s", number, strcmp(p->unit, "1") ? " " : "",
             strcmp(p->unit, "1") ? p->unit : "");
  if (value[0] && used < size)
    snprintf(text + used, size - used, "%s %s %s", strchr(text, ':') ? "," : ":", p->name, value);
}

/* Returns the method nested in a parameter. */
static HkMethod nested(const HkParam *p, const void *params) {
  const HkMethod *given = place(p, params);
  if (given && given->schema) return *given;
  const char *name = hk_family_default(p->family);
  return (HkMethod){.schema = name ? hk_schema_find(p->family, name) : NULL};
}

static void print_rows(const char *label, const HkMethod *method) {
  const HkSchema *schema = method->schema;
  char text[512];
  snprintf(text, sizeof text, "%s", schema->name);
  for (int q = 0; q < schema->param_count; q++)
    append_value(&schema->params[q], method->params, text, sizeof text);
  printf("  %-13s ", label);
  text_wrap(stdout, text, 16, text_width(stdout));
  for (int q = 0; q < schema->param_count; q++) {
    const HkParam *p = &schema->params[q];
    if (p->kind != HK_PARAM_METHOD) continue;
    HkMethod inner = nested(p, method->params);
    /* The names of families are too long for the column. */
    const char *name = p->family == HK_PRECONDITION ? "precondition" : hk_family_name(p->family);
    if (inner.schema) print_rows(name, &inner);
  }
}

void describe_method(const HkMethod *method) {
  print_rows("integrator", method);
}

static void put_methods(Json *json, const char *key, const HkMethod *method) {
  put_text(json, key, method->schema->name);
  for (int q = 0; q < method->schema->param_count; q++) {
    const HkParam *p = &method->schema->params[q];
    if (p->kind != HK_PARAM_METHOD) continue;
    HkMethod inner = nested(p, method->params);
    if (inner.schema) put_methods(json, hk_family_name(p->family), &inner);
  }
}

void describe_json(Json *json, const HkMethod *method) {
  put_methods(json, "integrator", method);
}

void describe_stable_step(const HkMethod *integrator, double h) {
  if (isinf(h))
    text_row(stdout, "stable step", "any: %s", hk_method_stability(integrator));
  else if (h > 0)
    text_row(stdout, "stable step", "below %.4g s", h);
  else
    text_row(stdout, "stable step", "none");
}

bool describe_is_implicit(const HkSchema *integrator) {
  for (int q = 0; q < integrator->param_count; q++) {
    const HkParam *p = &integrator->params[q];
    bool solves = p->family == HK_MINIMIZE || p->family == HK_LINEAR;
    if (p->kind == HK_PARAM_METHOD && solves) return true;
  }
  return false;
}

double describe_number(const HkMethod *method, const char *param) {
  for (int q = 0; q < method->schema->param_count; q++)
    if (strcmp(method->schema->params[q].name, param) == 0)
      return number_at(&method->schema->params[q], method->params);
  return NAN;
}
