/* The JSON Schema of scene files, for editors, made from the registries: a new method or parameter
 * is in it at once. */
#include "scene/parse.h"

#include "scene/parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_t *reference(const char *name) {
  return json_pack("{s:s+}", "$ref", "#/$defs/", name);
}

static json_t *numbers(int count) {
  return json_pack("{s:s, s:{s:s}, s:i, s:i}", "type", "array", "items", "type", "number",
                   "minItems", count, "maxItems", count);
}

static void describe(json_t *object, const HkParam *p) {
  char text[512];
  bool bare = !p->unit[0] || strcmp(p->unit, "1") == 0;
  snprintf(text, sizeof text, "%s%s%s%s", p->help, bare ? "" : " [", bare ? "" : p->unit,
           bare ? "" : "]");
  json_object_set_new(object, "description", json_string(text));
}

static void set_range(json_t *object, const HkParam *p) {
  if (p->min > -HK_MAX) json_object_set_new(object, "minimum", json_real(p->min));
  if (p->max < HK_MAX) json_object_set_new(object, "maximum", json_real(p->max));
  if (isfinite(p->standard[0])) json_object_set_new(object, "default", json_real(p->standard[0]));
}

static json_t *choice_schema(const HkParam *p) {
  json_t *words = json_array();
  char word[128];
  for (int q = 0; hk_choice_word(p->choices, q, word, sizeof word), word[0]; q++)
    json_array_append_new(words, json_string(word));
  for (int q = 0; hk_choice_word(p->choices, q, word, sizeof word), word[0]; q++)
    if (strspn(word, "0123456789") == strlen(word)) /* 26 stands for "26" */
      json_array_append_new(words, json_integer(atoi(word)));
  return json_pack("{s:o}", "enum", words);
}

/* Factors may be one number for all three. */
static json_t *vector_schema(const HkParam *p) {
  if (strcmp(p->unit, "1") != 0) return numbers(3);
  return json_pack("{s:[o, {s:s}]}", "oneOf", numbers(3), "type", "number");
}

static json_t *param_schema(const HkParam *p) {
  json_t *object = NULL;
  switch (p->kind) {
  case HK_PARAM_NUMBER:
    object = json_pack("{s:s}", "type", "number");
    set_range(object, p);
    break;
  case HK_PARAM_INTEGER:
    object = json_pack("{s:s}", "type", "integer");
    set_range(object, p);
    break;
  case HK_PARAM_BOOLEAN:
    object = json_pack("{s:s, s:b}", "type", "boolean", "default", p->standard[0] != 0);
    break;
  case HK_PARAM_VECTOR: object = vector_schema(p); break;
  case HK_PARAM_CHOICE: object = choice_schema(p); break;
  case HK_PARAM_TEXT: object = json_pack("{s:s}", "type", "string"); break;
  case HK_PARAM_TABLE:
    object = json_pack("{s:s, s:o}", "type", "array", "items", numbers(p->columns));
    break;
  case HK_PARAM_SELECT: object = reference("select"); break;
  case HK_PARAM_METHOD: object = reference(hk_family_name(p->family)); break;
  }
  describe(object, p);
  return object;
}

static json_t *object_schema(const HkSchema *schema) {
  json_t *properties = json_object();
  for (int q = 0; q < schema->param_count; q++)
    json_object_set_new(properties, schema->params[q].name, param_schema(&schema->params[q]));
  return json_pack("{s:s, s:s, s:o, s:b}", "type", "object", "description", schema->summary,
                   "properties", properties, "additionalProperties", 0);
}

static json_t *properties_of(json_t *schema) {
  return json_object_get(schema, "properties");
}

/* A name alone, or an object with "type" and the parameters of that method. */
static json_t *family_schema(HkFamily family) {
  json_t *ways = json_array(), *names = json_array();
  const HkSchema *schema;
  for (int q = 0; (schema = hk_schema_at(family, q)); q++) {
    json_t *object = object_schema(schema);
    json_object_set_new(properties_of(object), "type", json_pack("{s:s}", "const", schema->name));
    bool is_default = hk_is_nested_family(family) && /* which needs no "type" */
                      strcmp(hk_family_default(family), schema->name) == 0;
    if (!is_default) json_object_set_new(object, "required", json_pack("[s]", "type"));
    json_array_append_new(ways, object);
    json_array_append_new(names, json_string(schema->name));
  }
  json_array_append_new(ways, json_pack("{s:o}", "enum", names));
  return json_pack("{s:o}", "oneOf", ways);
}

static json_t *list_of(const char *name) {
  return json_pack("{s:s, s:o}", "type", "array", "items", reference(name));
}

static json_t *select_schema(void) {
  static const char *const extreme =
      "{\"type\": \"object\", \"additionalProperties\": false, \"properties\": {"
      "\"axis\": {\"enum\": [\"x\", \"y\", \"z\"]},"
      "\"tolerance\": {\"type\": \"number\", \"minimum\": 0, \"description\": \"[m]\"}}}";
  json_t *object = json_pack(
      "{s:s, s:b, s:{s:{s:s, s:s}, s:{s:b}, s:{s:s, s:{s:s, s:i}, s:s},"
      " s:{s:s, s:b, s:[s,s], s:{s:o, s:o}}, s:{s:s, s:b, s:[s], s:{s:o, s:{s:s, s:i}}}}}",
      "type", "object", "additionalProperties", 0, "properties", "body", "type", "string",
      "description", "name of the body; all bodies if not given", "all", "const", 1, "indices",
      "type", "array", "items", "type", "integer", "minimum", 0, "description",
      "vertices counted from 0, as in the mesh file", "box", "type", "object",
      "additionalProperties", 0, "required", "min", "max", "properties", "min", numbers(3), "max",
      numbers(3), "sphere", "type", "object", "additionalProperties", 0, "required", "radius",
      "properties", "center", numbers(3), "radius", "type", "number", "minimum", 0);
  json_t *p = properties_of(object);
  json_object_set_new(p, "lowest", json_loads(extreme, 0, NULL));
  json_object_set_new(p, "highest", json_loads(extreme, 0, NULL));
  json_object_set_new(p, "nearest", numbers(3));
  json_object_set_new(p, "vertices",
                      json_pack("{s:s, s:{s:s, s:i}, s:s}", "type", "array", "items", "type",
                                "integer", "minimum", 0, "description",
                                "vertices counted from 0 over all bodies, as in outputs"));
  json_object_set_new(p, "set",
                      json_pack("{s:s, s:s}", "type", "string", "description",
                                "a named set of the mesh, such as corners"));
  json_t *name = json_pack("{s:s, s:s}", "type", "string", "description",
                           "\"all\", or a named set of the mesh");
  return json_pack("{s:[o, o], s:s}", "oneOf", name, object, "description",
                   "which vertices: give one way, and \"body\" if it should be one body only");
}

static json_t *body_schema(void) {
  json_t *body = object_schema(&hk_part_body), *p = properties_of(body);
  json_t *mesh = json_pack("{s:[{s:s}, {s:s}], s:s}", "oneOf", "type", "string", "type", "object",
                           "description", "mesh file, relative to the scene file, or a mesh");
  json_object_set_new(p, "mesh", mesh);
  json_object_set_new(p, "shape", reference("shape"));
  json_object_set_new(p, "transform", object_schema(&hk_part_transform));
  json_object_set_new(p, "springs", object_schema(&hk_part_springs));
  json_object_set_new(p, "mass",
                      json_pack("{s:[o, {s:s, s:s}]}", "oneOf", object_schema(&hk_part_mass),
                                "type", "number", "description", "total mass [kg]"));
  json_object_set_new(p, "repair", object_schema(&hk_part_repair));
  return body;
}

/* The list alone, or with what holds for all pins. */
static json_t *pins_schema(void) {
  json_t *object = object_schema(&hk_part_pins);
  json_object_set_new(properties_of(object), "list", list_of("pin"));
  return json_pack("{s:[o, o]}", "oneOf", list_of("pin"), object);
}

static json_t *definitions(void) {
  json_t *d = json_object();
  for (int family = 0; family < HK_PART; family++)
    json_object_set_new(d, hk_family_name((HkFamily)family), family_schema((HkFamily)family));
  json_object_set_new(d, "select", select_schema());
  json_object_set_new(d, "body", body_schema());
  json_t *pin = object_schema(&hk_part_pin);
  json_object_set_new(properties_of(pin), "motion", reference("motion"));
  json_object_set_new(d, "pin", pin);
  json_object_set_new(d, "probe", object_schema(&hk_part_probe));
  return d;
}

HkStatus hk_scene_schema(char **text, HkError *error) {
  json_t *root = object_schema(&hk_part_scene), *p = properties_of(root);
  json_object_set_new(root, "$schema", json_string("https://json-schema.org/draft/2020-12/schema"));
  json_object_set_new(root, "title", json_string("Hooke scene"));
  json_object_set_new(root, "required", json_pack("[s]", "bodies"));
  json_object_set_new(p, "$schema", json_pack("{s:s}", "type", "string"));
  json_object_set_new(p, "time", object_schema(&hk_part_time));
  json_object_set_new(p, "integrator", reference("integrator"));
  json_object_set_new(p, "bodies", list_of("body"));
  json_object_set_new(p, "pins", pins_schema());
  json_object_set_new(p, "forces", list_of("force"));
  json_object_set_new(p, "outputs", list_of("output"));
  json_object_set_new(p, "probes", list_of("probe"));
  json_object_set_new(root, "$defs", definitions());
  *text = json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
  json_decref(root);
  if (!*text) return hk_fail_memory(error, 0, "the schema");
  return HK_OK;
}
