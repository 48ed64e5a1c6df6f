/* HkScene -> JSON, with every value in it. Reading the text gives the same scene. */
#include "scene/parse.h"

#include "scene/parts.h"

#include <stdlib.h>
#include <string.h>

static json_t *vector_json(const double *v, int count) {
  json_t *list = json_array();
  for (int q = 0; q < count; q++) json_array_append_new(list, json_real(v[q]));
  return list;
}

static json_t *extreme_json(const HkSelect *s) {
  const char *axes[] = {"x", "y", "z"};
  return json_pack("{s:s, s:f}", "axis", axes[s->axis], "tolerance", s->value);
}

static json_t *select_json(const HkSelect *s) {
  json_t *object = json_object(), *list;
  if (s->body) json_object_set_new(object, "body", json_string(s->body));
  switch (s->kind) {
  case HK_SELECT_NONE: break;
  case HK_SELECT_ALL: json_object_set_new(object, "all", json_true()); break;
  case HK_SELECT_INDICES:
  case HK_SELECT_VERTICES:
    list = json_array();
    for (int64_t q = 0; q < s->count; q++) json_array_append_new(list, json_integer(s->indices[q]));
    json_object_set_new(object, s->kind == HK_SELECT_INDICES ? "indices" : "vertices", list);
    break;
  case HK_SELECT_BOX:
    json_object_set_new(
        object, "box",
        json_pack("{s:o, s:o}", "min", vector_json(s->point, 3), "max", vector_json(s->other, 3)));
    break;
  case HK_SELECT_SPHERE:
    json_object_set_new(
        object, "sphere",
        json_pack("{s:o, s:f}", "center", vector_json(s->point, 3), "radius", s->value));
    break;
  case HK_SELECT_LOWEST: json_object_set_new(object, "lowest", extreme_json(s)); break;
  case HK_SELECT_HIGHEST: json_object_set_new(object, "highest", extreme_json(s)); break;
  case HK_SELECT_NEAREST: json_object_set_new(object, "nearest", vector_json(s->point, 3)); break;
  case HK_SELECT_SET: json_object_set_new(object, "set", json_string(s->set)); break;
  }
  return object;
}

static json_t *method_json(const HkMethod *method);

/* NULL for what is not given. */
static json_t *param_json(const HkParam *p, const void *params) {
  const void *at = (const char *)params + p->offset;
  const HkTable *table = at;
  char word[128];
  switch (p->kind) {
  case HK_PARAM_NUMBER:
    return isfinite(*(const double *)at) ? json_real(*(const double *)at) : NULL;
  case HK_PARAM_INTEGER: return json_integer(*(const int *)at);
  case HK_PARAM_BOOLEAN: return json_boolean(*(const bool *)at);
  case HK_PARAM_VECTOR: return vector_json(at, 3);
  case HK_PARAM_CHOICE:
    hk_choice_word(p->choices, *(const int *)at, word, sizeof word);
    return json_string(word);
  case HK_PARAM_TEXT: return *(char *const *)at ? json_string(*(char *const *)at) : NULL;
  case HK_PARAM_TABLE: {
    json_t *rows = json_array();
    for (int q = 0; q < table->rows; q++)
      json_array_append_new(rows, vector_json(table->values + q * p->columns, p->columns));
    return rows;
  }
  case HK_PARAM_SELECT:
    return ((const HkSelect *)at)->kind == HK_SELECT_NONE ? NULL : select_json(at);
  case HK_PARAM_METHOD: return ((const HkMethod *)at)->schema ? method_json(at) : NULL;
  }
  return NULL;
}

static json_t *params_json(const HkSchema *schema, const void *params) {
  json_t *object = json_object();
  for (int q = 0; q < schema->param_count; q++) {
    json_t *value = param_json(&schema->params[q], params);
    if (value) json_object_set_new(object, schema->params[q].name, value);
  }
  return object;
}

static json_t *method_json(const HkMethod *method) {
  json_t *object = json_pack("{s:s}", "type", method->schema->name);
  json_t *params = params_json(method->schema, method->params);
  json_object_update(object, params);
  json_decref(params);
  return object;
}

static json_t *body_json(const HkBody *body) {
  json_t *object = params_json(&hk_part_body, body);
  if (body->shape.schema) json_object_set_new(object, "shape", method_json(&body->shape));
  if (body->mesh) json_object_set_new(object, "mesh", hk_write_inline_mesh(body->mesh));
  json_object_set_new(object, "transform", params_json(&hk_part_transform, &body->transform));
  json_object_set_new(object, "springs", params_json(&hk_part_springs, &body->springs));
  json_object_set_new(object, "mass", params_json(&hk_part_mass, &body->mass));
  json_object_set_new(object, "repair", params_json(&hk_part_repair, &body->repair));
  return object;
}

static json_t *pin_json(const HkPin *pin) {
  json_t *object = params_json(&hk_part_pin, pin);
  if (pin->motion.schema) json_object_set_new(object, "motion", method_json(&pin->motion));
  return object;
}

/* The list alone says that the method is the usual one. */
static json_t *pins_json(const HkScene *scene) {
  json_t *list = json_array();
  for (int q = 0; q < scene->pin_count; q++) json_array_append_new(list, pin_json(&scene->pins[q]));
  if (scene->pin_method == HK_PINS_ELIMINATE) return list;
  json_t *object = params_json(&hk_part_pins, &(HkPinsPart){.method = (int)scene->pin_method});
  json_object_set_new(object, "list", list);
  return object;
}

static json_t *methods_json(const HkMethod *methods, int count) {
  json_t *list = json_array();
  for (int q = 0; q < count; q++) json_array_append_new(list, method_json(&methods[q]));
  return list;
}

static json_t *scene_json(const HkScene *scene) {
  json_t *root = params_json(&hk_part_scene, scene);
  json_t *bodies = json_array(), *probes = json_array();
  for (int q = 0; q < scene->body_count; q++)
    json_array_append_new(bodies, body_json(&scene->bodies[q]));
  for (int q = 0; q < scene->probe_count; q++)
    json_array_append_new(probes, params_json(&hk_part_probe, &scene->probes[q]));
  json_object_set_new(root, "time", params_json(&hk_part_time, &scene->time));
  json_object_set_new(root, "integrator", method_json(&scene->step));
  json_object_set_new(root, "bodies", bodies);
  json_object_set_new(root, "pins", pins_json(scene));
  json_object_set_new(root, "forces", methods_json(scene->forces, scene->force_count));
  json_object_set_new(root, "outputs", methods_json(scene->outputs, scene->output_count));
  json_object_set_new(root, "probes", probes);
  return root;
}

HkStatus hk_scene_format(const HkScene *scene, char **text, HkError *error) {
  json_t *root = scene_json(scene);
  *text = root ? json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) : NULL;
  json_decref(root);
  if (!*text)
    return hk_fail(error, HK_ERROR_INVALID,
                   "the scene cannot be written: a text is no valid UTF-8, or there is no memory");
  return HK_OK;
}
