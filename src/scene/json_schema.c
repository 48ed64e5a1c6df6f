/* The JSON Schema of scene files, for editors, made from the registries: a new method or parameter
 * is in it at once. */
#include "scene/parse.h"

#include "scene/parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_text(HkJson *object, const char *key, const char *text) {
  hk_json_add(object, key, hk_json_text(text));
}

/* {key: value} */
static HkJson pair(const char *key, HkJson value) {
  HkJson object = hk_json_object();
  hk_json_add(&object, key, value);
  return object;
}

/* {"type": type} */
static HkJson typed(const char *type) {
  return pair("type", hk_json_text(type));
}

/* {"type": "array", "items": items} */
static HkJson array_of(HkJson items) {
  HkJson object = typed("array");
  hk_json_add(&object, "items", items);
  return object;
}

static HkJson described(HkJson schema, const char *description) {
  add_text(&schema, "description", description);
  return schema;
}

static HkJson at_least_zero(const char *type) {
  HkJson object = typed(type);
  hk_json_add(&object, "minimum", hk_json_integer(0));
  return object;
}

static HkJson one_of(HkJson first, HkJson second) {
  HkJson ways = hk_json_list();
  hk_json_append(&ways, first);
  hk_json_append(&ways, second);
  return pair("oneOf", ways);
}

/* Returns a list of the words, which end with NULL. */
static HkJson words(const char *const *word) {
  HkJson list = hk_json_list();
  for (; *word; word++) hk_json_append(&list, hk_json_text(*word));
  return list;
}

static HkJson reference(const char *name) {
  char text[128];
  snprintf(text, sizeof text, "#/$defs/%s", name);
  return pair("$ref", hk_json_text(text));
}

static HkJson numbers(int count) {
  HkJson object = array_of(typed("number"));
  hk_json_add(&object, "minItems", hk_json_integer(count));
  hk_json_add(&object, "maxItems", hk_json_integer(count));
  return object;
}

/* ---- Parameters ---- */

static void describe(HkJson *object, const HkParam *p) {
  char text[512];
  bool bare = !p->unit[0] || strcmp(p->unit, "1") == 0;
  snprintf(text, sizeof text, "%s%s%s%s", p->help, bare ? "" : " [", bare ? "" : p->unit,
           bare ? "" : "]");
  add_text(object, "description", text);
}

static HkJson number_schema(const char *type, const HkParam *p) {
  HkJson object = typed(type);
  if (p->min > -HK_MAX) hk_json_add(&object, "minimum", hk_json_real(p->min));
  if (p->max < HK_MAX) hk_json_add(&object, "maximum", hk_json_real(p->max));
  if (isfinite(p->default_value[0]))
    hk_json_add(&object, "default", hk_json_real(p->default_value[0]));
  return object;
}

static HkJson boolean_schema(const HkParam *p) {
  HkJson object = typed("boolean");
  hk_json_add(&object, "default", hk_json_boolean(p->default_value[0] != 0));
  return object;
}

static HkJson choice_schema(const HkParam *p) {
  HkJson list = hk_json_list();
  char word[128];
  for (int q = 0; hk_choice_word(p->choices, q, word, sizeof word), word[0]; q++)
    hk_json_append(&list, hk_json_text(word));
  for (int q = 0; hk_choice_word(p->choices, q, word, sizeof word), word[0]; q++)
    if (strspn(word, "0123456789") == strlen(word)) /* 26 stands for "26" */
      hk_json_append(&list, hk_json_integer(atoi(word)));
  for (int q = 0; q < 2; q++)
    if (hk_choice_index(p->choices, q ? "true" : "false") >= 0)
      hk_json_append(&list, hk_json_boolean(q == 1));
  return pair("enum", list);
}

/* Factors may be one number for all three. */
static HkJson vector_schema(const HkParam *p) {
  return strcmp(p->unit, "1") != 0 ? numbers(3) : one_of(numbers(3), typed("number"));
}

static HkJson param_schema(const HkParam *p) {
  HkJson object = {.kind = HK_JSON_NULL};
  switch (p->kind) {
  case HK_PARAM_NUMBER: object = number_schema("number", p); break;
  case HK_PARAM_INTEGER: object = number_schema("integer", p); break;
  case HK_PARAM_BOOLEAN: object = boolean_schema(p); break;
  case HK_PARAM_VECTOR: object = vector_schema(p); break;
  case HK_PARAM_CHOICE: object = choice_schema(p); break;
  case HK_PARAM_TEXT: object = typed("string"); break;
  case HK_PARAM_TABLE: object = array_of(numbers(p->columns)); break;
  case HK_PARAM_SELECT: object = reference("select"); break;
  case HK_PARAM_METHOD: object = reference(hk_family_name(p->family)); break;
  }
  describe(&object, p);
  return object;
}

static HkJson object_schema(const HkSchema *schema) {
  HkJson object = typed("object"), properties = hk_json_object();
  for (int q = 0; q < schema->param_count; q++) {
    const HkParam *p = &schema->params[q];
    hk_json_add(&properties, p->name, param_schema(p));
    if (p->old_name) hk_json_add(&properties, p->old_name, param_schema(p));
  }
  add_text(&object, "description", schema->summary);
  hk_json_add(&object, "properties", properties);
  hk_json_add(&object, "additionalProperties", hk_json_boolean(false));
  return object;
}

/* A further property of what object_schema made, or another schema for one that is there. */
static void set_property(HkJson *schema, const char *key, HkJson property) {
  HkJson *properties = hk_json_get(schema, "properties");
  if (properties)
    hk_json_set(properties, key, property);
  else
    hk_json_clear(&property);
}

/* ---- Families and selections ---- */

/* A name alone, or an object with "type" and the parameters of that method. */
static HkJson family_schema(HkFamily family) {
  static const char *const type[] = {"type", NULL};
  HkJson ways = hk_json_list(), names = hk_json_list();
  const HkSchema *schema;
  for (int q = 0; (schema = hk_schema_at(family, q)); q++) {
    HkJson object = object_schema(schema);
    set_property(&object, "type", pair("const", hk_json_text(schema->name)));
    bool is_default = hk_is_nested_family(family) && /* which needs no "type" */
                      strcmp(hk_family_default(family), schema->name) == 0;
    if (!is_default) hk_json_add(&object, "required", words(type));
    hk_json_append(&ways, object);
    hk_json_append(&names, hk_json_text(schema->name));
  }
  hk_json_append(&ways, pair("enum", names));
  return pair("oneOf", ways);
}

static HkJson list_of(const char *name) {
  return array_of(reference(name));
}

/* An object with these properties and no others; required: ended by NULL, or NULL for none. */
static HkJson closed_object(const char *const *required, HkJson properties) {
  HkJson object = typed("object");
  hk_json_add(&object, "additionalProperties", hk_json_boolean(false));
  if (required) hk_json_add(&object, "required", words(required));
  hk_json_add(&object, "properties", properties);
  return object;
}

static HkJson box_schema(void) {
  static const char *const required[] = {"min", "max", NULL};
  HkJson p = hk_json_object();
  hk_json_add(&p, "min", numbers(3));
  hk_json_add(&p, "max", numbers(3));
  return closed_object(required, p);
}

static HkJson sphere_schema(void) {
  static const char *const required[] = {"radius", NULL};
  HkJson p = hk_json_object();
  hk_json_add(&p, "center", numbers(3));
  hk_json_add(&p, "radius", at_least_zero("number"));
  return closed_object(required, p);
}

static HkJson extreme_schema(void) {
  static const char *const axes[] = {"x", "y", "z", NULL};
  HkJson p = pair("axis", pair("enum", words(axes)));
  hk_json_add(&p, "tolerance", described(at_least_zero("number"), "[m]"));
  return closed_object(NULL, p);
}

static HkJson select_schema(void) {
  HkJson vertices = array_of(at_least_zero("integer")), p = hk_json_object();
  hk_json_add(&p, "body", described(typed("string"), "name of the body; all bodies if not given"));
  hk_json_add(&p, "all", pair("const", hk_json_boolean(true)));
  hk_json_add(&p, "indices",
              described(hk_json_copy(&vertices), "vertices counted from 0, as in the mesh file"));
  hk_json_add(&p, "box", box_schema());
  hk_json_add(&p, "sphere", sphere_schema());
  hk_json_add(&p, "lowest", extreme_schema());
  hk_json_add(&p, "highest", extreme_schema());
  hk_json_add(&p, "nearest", numbers(3));
  hk_json_add(&p, "vertices",
              described(vertices, "vertices counted from 0 over all bodies, as in outputs"));
  hk_json_add(&p, "set", described(typed("string"), "a named set of the mesh, such as corners"));
  HkJson name = described(typed("string"), "\"all\", or a named set of the mesh");
  return described(one_of(name, closed_object(NULL, p)),
                   "which vertices: give one way, and \"body\" if it should be one body only");
}

/* ---- The whole schema ---- */

static HkJson body_schema(void) {
  HkJson body = object_schema(&hk_part_body);
  set_property(&body, "mesh",
               described(one_of(typed("string"), typed("object")),
                         "mesh file, relative to the scene file, or a mesh"));
  set_property(&body, "shape", reference("shape"));
  set_property(&body, "transform", object_schema(&hk_part_transform));
  set_property(&body, "springs", object_schema(&hk_part_springs));
  set_property(&body, "mass",
               one_of(object_schema(&hk_part_mass), described(typed("number"), "total mass [kg]")));
  set_property(&body, "repair", object_schema(&hk_part_repair));
  set_property(&body, "contact",
               one_of(object_schema(&hk_part_contact),
                      described(typed("boolean"), "false: the body touches nothing")));
  return body;
}

/* The list alone, or with what holds for all pins. */
static HkJson pins_schema(void) {
  HkJson object = object_schema(&hk_part_pins);
  set_property(&object, "list", list_of("pin"));
  return one_of(list_of("pin"), object);
}

/* A shape with what all obstacles have, or the name of a shape alone. */
static HkJson obstacle_schema(void) {
  HkJson schema = family_schema(HK_OBSTACLE), *ways = hk_json_get(&schema, "oneOf");
  for (int q = 0; q < hk_json_size(ways); q++) {
    HkJson *way = hk_json_at(ways, q);
    if (!hk_json_get(way, "properties")) continue;
    for (int k = 0; k < hk_part_obstacle.param_count; k++)
      set_property(way, hk_part_obstacle.params[k].name, param_schema(&hk_part_obstacle.params[k]));
    set_property(way, "motion", reference("motion"));
  }
  return schema;
}

static HkJson pair_schema(void) {
  static const char *const required[] = {"between", NULL};
  HkJson object = object_schema(&hk_part_pair), names = array_of(typed("string"));
  hk_json_add(&names, "minItems", hk_json_integer(2));
  hk_json_add(&names, "maxItems", hk_json_integer(2));
  set_property(&object, "between",
               described(names, "names of two bodies or obstacles; \"ground\" is that of contact"));
  hk_json_add(&object, "required", words(required));
  return object;
}

static HkJson definitions(void) {
  HkJson d = hk_json_object(), pin = object_schema(&hk_part_pin);
  for (int family = 0; family < HK_PART; family++)
    hk_json_add(&d, hk_family_name((HkFamily)family),
                family == HK_OBSTACLE ? obstacle_schema() : family_schema((HkFamily)family));
  hk_json_add(&d, "select", select_schema());
  hk_json_add(&d, "body", body_schema());
  set_property(&pin, "motion", reference("motion"));
  hk_json_add(&d, "pin", pin);
  hk_json_add(&d, "pair", pair_schema());
  hk_json_add(&d, "probe", object_schema(&hk_part_probe));
  return d;
}

HkStatus hk_scene_schema(char **text, HkError *error) {
  static const char *const required[] = {"bodies", NULL};
  HkJson root = object_schema(&hk_part_scene);
  add_text(&root, "$schema", "https://json-schema.org/draft/2020-12/schema");
  add_text(&root, "title", "Hooke scene");
  hk_json_add(&root, "required", words(required));
  set_property(&root, "$schema", typed("string"));
  set_property(&root, "time", object_schema(&hk_part_time));
  set_property(&root, "integrator", reference("integrator"));
  set_property(&root, "bodies", list_of("body"));
  set_property(&root, "pins", pins_schema());
  set_property(&root, "obstacles", list_of("obstacle"));
  set_property(&root, "pairs", list_of("pair"));
  set_property(&root, "forces", list_of("force"));
  set_property(&root, "outputs", list_of("output"));
  set_property(&root, "probes", list_of("probe"));
  hk_json_add(&root, "$defs", definitions());
  HkStatus status = hk_json_write(&root, 2, 15, text, error);
  hk_json_clear(&root);
  return status;
}
