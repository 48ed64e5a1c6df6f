/* HkScene -> JSON with all values, defaults included. Reading the text gives the same scene. */
#include "scene/parse.h"

#include "scene/parts.h"

#include <string.h>

static HkJson vector_json(const double *v, int count) {
  HkJson list = hk_json_list();
  for (int q = 0; q < count; q++) hk_json_append(&list, hk_json_real(v[q]));
  return list;
}

static HkJson indices_json(const HkSelect *s) {
  HkJson list = hk_json_list();
  for (int64_t q = 0; q < s->count; q++) hk_json_append(&list, hk_json_integer(s->indices[q]));
  return list;
}

static HkJson box_json(const HkSelect *s) {
  HkJson object = hk_json_object();
  hk_json_add(&object, "min", vector_json(s->point, 3));
  hk_json_add(&object, "max", vector_json(s->other, 3));
  return object;
}

static HkJson sphere_json(const HkSelect *s) {
  HkJson object = hk_json_object();
  hk_json_add(&object, "center", vector_json(s->point, 3));
  hk_json_add(&object, "radius", hk_json_real(s->value));
  return object;
}

static HkJson extreme_json(const HkSelect *s) {
  static const char *const axes[] = {"x", "y", "z"};
  HkJson object = hk_json_object();
  hk_json_add(&object, "axis", hk_json_text(axes[s->axis]));
  hk_json_add(&object, "tolerance", hk_json_real(s->value));
  return object;
}

static HkJson select_json(const HkSelect *s) {
  HkJson object = hk_json_object();
  if (s->body) hk_json_add(&object, "body", hk_json_text(s->body));
  switch (s->kind) {
  case HK_SELECT_NONE: break;
  case HK_SELECT_ALL: hk_json_add(&object, "all", hk_json_boolean(true)); break;
  case HK_SELECT_INDICES: hk_json_add(&object, "indices", indices_json(s)); break;
  case HK_SELECT_VERTICES: hk_json_add(&object, "vertices", indices_json(s)); break;
  case HK_SELECT_BOX: hk_json_add(&object, "box", box_json(s)); break;
  case HK_SELECT_SPHERE: hk_json_add(&object, "sphere", sphere_json(s)); break;
  case HK_SELECT_LOWEST: hk_json_add(&object, "lowest", extreme_json(s)); break;
  case HK_SELECT_HIGHEST: hk_json_add(&object, "highest", extreme_json(s)); break;
  case HK_SELECT_NEAREST: hk_json_add(&object, "nearest", vector_json(s->point, 3)); break;
  case HK_SELECT_SET: hk_json_add(&object, "set", hk_json_text(s->set)); break;
  }
  return object;
}

static HkJson table_json(const HkTable *table, int columns) {
  HkJson rows = hk_json_list();
  for (int q = 0; q < table->rows; q++)
    hk_json_append(&rows, vector_json(table->values + q * columns, columns));
  return rows;
}

/* The words "true" and "false" are written as they are read: without quotes. */
static HkJson choice_json(const char *word) {
  bool yes = strcmp(word, "true") == 0, no = strcmp(word, "false") == 0;
  return yes || no ? hk_json_boolean(yes) : hk_json_text(word);
}

HkJson hk_param_json(const HkParam *p, const void *params) {
  static const HkJson none = {.kind = HK_JSON_NULL};
  const void *at = (const char *)params + p->offset;
  const HkSelect *select = at;
  const HkMethod *method = at;
  const char *const *text = at;
  char word[128];
  switch (p->kind) {
  case HK_PARAM_NUMBER: return hk_json_real(*(const double *)at);
  case HK_PARAM_INTEGER: return hk_json_integer(*(const int *)at);
  case HK_PARAM_BOOLEAN: return hk_json_boolean(*(const bool *)at);
  case HK_PARAM_VECTOR: return vector_json(at, 3);
  case HK_PARAM_CHOICE:
    hk_choice_word(p->choices, *(const int *)at, word, sizeof word);
    return choice_json(word);
  case HK_PARAM_TEXT: return *text ? hk_json_text(*text) : none;
  case HK_PARAM_TABLE: return table_json(at, p->columns);
  case HK_PARAM_SELECT: return select->kind == HK_SELECT_NONE ? none : select_json(select);
  case HK_PARAM_METHOD: return method->schema ? hk_method_json(method) : none;
  }
  return none;
}

static void add_params(HkJson *object, const HkSchema *schema, const void *params) {
  for (int q = 0; q < schema->param_count; q++) {
    HkJson value = hk_param_json(&schema->params[q], params);
    if (value.kind != HK_JSON_NULL) hk_json_add(object, schema->params[q].name, value);
  }
}

static HkJson params_json(const HkSchema *schema, const void *params) {
  HkJson object = hk_json_object();
  add_params(&object, schema, params);
  return object;
}

HkJson hk_method_json(const HkMethod *method) {
  HkJson object = hk_json_object();
  hk_json_add(&object, "type", hk_json_text(method->schema->name));
  add_params(&object, method->schema, method->params);
  return object;
}

static HkJson body_json(const HkBody *body) {
  HkJson object = params_json(&hk_part_body, body);
  if (body->shape.schema) hk_json_add(&object, "shape", hk_method_json(&body->shape));
  if (body->mesh) hk_json_set(&object, "mesh", hk_write_inline_mesh(body->mesh));
  hk_json_add(&object, "transform", params_json(&hk_part_transform, &body->transform));
  hk_json_add(&object, "springs", params_json(&hk_part_springs, &body->springs));
  hk_json_add(&object, "mass", params_json(&hk_part_mass, &body->mass));
  hk_json_add(&object, "repair", params_json(&hk_part_repair, &body->repair));
  hk_json_add(&object, "contact", params_json(&hk_part_contact, &body->contact));
  return object;
}

static HkJson pin_json(const HkPin *pin) {
  HkJson object = params_json(&hk_part_pin, pin);
  if (pin->motion.schema) hk_json_add(&object, "motion", hk_method_json(&pin->motion));
  return object;
}

/* Returns the list alone if the method is the default one. */
static HkJson pins_json(const HkScene *scene) {
  HkJson list = hk_json_list();
  for (int q = 0; q < scene->pin_count; q++) hk_json_append(&list, pin_json(&scene->pins[q]));
  if (scene->pin_method == HK_PINS_ELIMINATE) return list;
  HkJson object = params_json(&hk_part_pins, &(HkPinsPart){.method = (int)scene->pin_method});
  hk_json_add(&object, "list", list);
  return object;
}

static HkJson obstacle_json(const HkObstacle *obstacle) {
  HkJson object = obstacle->shape.schema ? hk_method_json(&obstacle->shape) : hk_json_object();
  add_params(&object, &hk_part_obstacle, obstacle);
  if (obstacle->motion.schema) hk_json_add(&object, "motion", hk_method_json(&obstacle->motion));
  return object;
}

static HkJson pair_json(const HkPair *pair) {
  HkJson object = params_json(&hk_part_pair, pair), names = hk_json_list();
  for (int q = 0; q < 2; q++)
    hk_json_append(&names, hk_json_text(pair->between[q] ? pair->between[q] : ""));
  hk_json_add(&object, "between", names);
  return object;
}

static HkJson methods_json(const HkMethod *methods, int count) {
  HkJson list = hk_json_list();
  for (int q = 0; q < count; q++) hk_json_append(&list, hk_method_json(&methods[q]));
  return list;
}

HkJson hk_scene_json(const HkScene *scene) {
  HkJson root = params_json(&hk_part_scene, scene);
  HkJson bodies = hk_json_list(), obstacles = hk_json_list(), pairs = hk_json_list(),
         probes = hk_json_list();
  for (int q = 0; q < scene->body_count; q++) hk_json_append(&bodies, body_json(&scene->bodies[q]));
  for (int q = 0; q < scene->obstacle_count; q++)
    hk_json_append(&obstacles, obstacle_json(&scene->obstacles[q]));
  for (int q = 0; q < scene->pair_count; q++) hk_json_append(&pairs, pair_json(&scene->pairs[q]));
  for (int q = 0; q < scene->probe_count; q++)
    hk_json_append(&probes, params_json(&hk_part_probe, &scene->probes[q]));
  hk_json_add(&root, "time", params_json(&hk_part_time, &scene->time));
  hk_json_add(&root, "integrator", hk_method_json(&scene->step));
  hk_json_add(&root, "bodies", bodies);
  hk_json_add(&root, "pins", pins_json(scene));
  hk_json_add(&root, "obstacles", obstacles);
  hk_json_add(&root, "pairs", pairs);
  hk_json_add(&root, "forces", methods_json(scene->forces, scene->force_count));
  hk_json_add(&root, "outputs", methods_json(scene->outputs, scene->output_count));
  hk_json_add(&root, "probes", probes);
  return root;
}

HkStatus hk_method_format(const HkMethod *method, char **text, HkError *error) {
  *text = NULL;
  if (!method->schema)
    return hk_fail(error, HK_ERROR_INVALID, "no method was chosen, so there is no text of it");
  HkJson root = hk_method_json(method);
  HkStatus status = hk_json_write(&root, 0, 17, text, error);
  hk_json_clear(&root);
  return status;
}

HkStatus hk_scene_format(const HkScene *scene, char **text, HkError *error) {
  HkJson root = hk_scene_json(scene);
  HkStatus status = hk_json_write(&root, 2, 17, text, error);
  hk_json_clear(&root);
  return status;
}
