/* JSON -> HkScene. */
#include "scene/parse.h"

#include "base/file.h"
#include "base/memory.h"
#include "scene/parts.h"
#include "scene/store.h"

#include <stdlib.h>
#include <string.h>

/* Reads a nested part, object[key], with the part's schema, if the key exists. */
static HkStatus read_part(HkReader *r, const HkJson *object, const char *key,
                          const HkSchema *schema, void *params) {
  const HkJson *value = hk_json_get(object, key);
  if (!value) return HK_OK;
  size_t mark = hk_reader_key(r, key);
  HK_TRY(hk_read_params(r, value, schema, params, NULL));
  hk_reader_up(r, mark);
  return HK_OK;
}

static HkStatus read_mass(HkReader *r, const HkJson *object, HkMass *mass) {
  const HkJson *value = hk_json_get(object, "mass");
  if (!value || hk_json_is(value, HK_JSON_OBJECT))
    return read_part(r, object, "mass", &hk_part_mass, mass);
  size_t mark = hk_reader_key(r, "mass"); /* a bare number is the total */
  if (!hk_json_is_number(value))
    return hk_reader_fail(r, value,
                          "expected a number (kg) or an object such as {\"per_vertex\": 0.1}");
  mass->total = hk_json_number(value);
  if (!(mass->total > 0)) return hk_reader_fail(r, value, "expected a number above 0 (kg)");
  hk_reader_up(r, mark);
  return HK_OK;
}

static HkStatus read_geometry(HkReader *r, const HkJson *object, HkScene *scene, HkBody *body) {
  const HkJson *shape = hk_json_get(object, "shape"), *mesh = hk_json_get(object, "mesh");
  if ((shape != NULL) == (mesh != NULL))
    return hk_reader_fail(r, object, "give either \"shape\" or \"mesh\"%s",
                          shape ? ", not both" : "");
  size_t mark = hk_reader_key(r, shape ? "shape" : "mesh");
  if (shape)
    HK_TRY(hk_read_method(r, shape, HK_SHAPE, &body->shape));
  else if (!hk_json_is(mesh, HK_JSON_TEXT))
    HK_TRY(hk_read_inline_mesh(r, mesh, &scene->context, &body->mesh));
  else if (!(body->mesh_file = hk_strdup(mesh->text)))
    return hk_fail_memory(r->error, strlen(mesh->text), "a text");
  hk_reader_up(r, mark);
  return HK_OK;
}

/* false, true, or an object. */
static HkStatus read_contact(HkReader *r, const HkJson *object, HkBodyContact *contact) {
  const HkJson *value = hk_json_get(object, "contact");
  if (value && hk_json_is(value, HK_JSON_BOOLEAN))
    contact->enabled = value->boolean;
  else
    HK_TRY(read_part(r, object, "contact", &hk_part_contact, contact));
  return HK_OK;
}

static HkStatus read_body(HkReader *r, const HkJson *object, HkScene *scene) {
  static const char *const extra[] = {"mesh", "shape",  "transform", "springs",
                                      "mass", "repair", "contact",   NULL};
  HkBody body = hk_body_default();
  HkStatus status = hk_read_params(r, object, &hk_part_body, &body, extra);
  if (status >= 0) status = read_geometry(r, object, scene, &body);
  if (status >= 0) status = read_part(r, object, "transform", &hk_part_transform, &body.transform);
  if (status >= 0) status = read_part(r, object, "springs", &hk_part_springs, &body.springs);
  if (status >= 0) status = read_mass(r, object, &body.mass);
  if (status >= 0) status = read_part(r, object, "repair", &hk_part_repair, &body.repair);
  if (status >= 0) status = read_contact(r, object, &body.contact);
  for (int b = 0; status >= 0 && b < scene->body_count; b++)
    if (body.name && scene->bodies[b].name && strcmp(body.name, scene->bodies[b].name) == 0)
      status = hk_reader_fail(r, object, "there is a body '%s' already", body.name);
  if (status >= 0) return hk_scene_take_body(scene, &body, NULL, r->error);
  hk_body_clear(&body);
  return status;
}

/* Reads object["motion"], if it exists. */
static HkStatus read_motion(HkReader *r, const HkJson *object, HkMethod *motion) {
  const HkJson *value = hk_json_get(object, "motion");
  if (!value) return HK_OK;
  size_t mark = hk_reader_key(r, "motion");
  HK_TRY(hk_read_method(r, value, HK_MOTION, motion));
  hk_reader_up(r, mark);
  return HK_OK;
}

static HkStatus read_pin(HkReader *r, const HkJson *object, HkScene *scene) {
  static const char *const extra[] = {"motion", NULL};
  HkPin pin = hk_pin_default();
  HkStatus status = hk_read_params(r, object, &hk_part_pin, &pin, extra);
  if (status >= 0) status = read_motion(r, object, &pin.motion);
  if (status >= 0 && pin.select.kind == HK_SELECT_NONE)
    status = hk_reader_fail(r, object, "\"select\" is missing: which vertices?");
  if (status >= 0) status = hk_scene_add_pin(scene, &pin, NULL, r->error);
  hk_method_clear(&pin.motion);
  hk_params_clear(&hk_part_pin, &pin);
  return status;
}

/* Reads the values that all obstacles have; keys of the shape have been read. */
static HkStatus read_obstacle_part(HkReader *r, const HkJson *object, HkObstacle *obstacle) {
  enum { MAX_PARAMS = 62 };
  const char *extra[MAX_PARAMS + 3] = {"type", "motion"};
  const HkSchema *shape = obstacle->shape.schema;
  for (int q = 0; q < shape->param_count && q < MAX_PARAMS; q++)
    extra[2 + q] = shape->params[q].name;
  return hk_read_params(r, object, &hk_part_obstacle, obstacle, extra);
}

/* The name of a shape alone, or an object that holds type and values of the shape beside those that
 * all obstacles have. */
static HkStatus read_obstacle(HkReader *r, const HkJson *value, HkScene *scene) {
  static const char *const extra[] = {
      "type", "name", "motion", "friction", "friction_kinetic", "two_sided", "contact", NULL};
  HkObstacle obstacle = hk_obstacle_default();
  HkStatus status = hk_read_method_among(r, value, HK_OBSTACLE, extra, &obstacle.shape);
  if (status >= 0 && hk_json_is(value, HK_JSON_OBJECT)) {
    status = read_obstacle_part(r, value, &obstacle);
    if (status >= 0) status = read_motion(r, value, &obstacle.motion);
  }
  if (status >= 0) status = hk_scene_add_obstacle(scene, &obstacle, NULL, r->error);
  hk_method_clear(&obstacle.shape);
  hk_method_clear(&obstacle.motion);
  hk_params_clear(&hk_part_obstacle, &obstacle);
  return status;
}

/* Two names of bodies and obstacles; the model knows whether they exist. */
static HkStatus read_between(HkReader *r, const HkJson *object, HkPair *pair) {
  const HkJson *list = hk_json_get(object, "between");
  if (!list)
    return hk_reader_fail(r, object,
                          "\"between\" is missing: give the names of two bodies or obstacles");
  size_t mark = hk_reader_key(r, "between");
  if (!hk_json_is(list, HK_JSON_LIST) || list->count != 2 ||
      !hk_json_is(&list->items[0], HK_JSON_TEXT) || !hk_json_is(&list->items[1], HK_JSON_TEXT))
    return hk_reader_fail(r, list, "expected a list of two names, such as [\"cloth\", \"table\"]");
  for (int q = 0; q < 2; q++) pair->between[q] = list->items[q].text;
  hk_reader_up(r, mark);
  return HK_OK;
}

static HkStatus read_pair(HkReader *r, const HkJson *object, HkScene *scene) {
  static const char *const extra[] = {"between", NULL};
  HkPair pair = hk_pair_default();
  HK_TRY(hk_read_params(r, object, &hk_part_pair, &pair, extra));
  HK_TRY(read_between(r, object, &pair));
  return hk_scene_add_pair(scene, &pair, NULL, r->error);
}

static HkStatus read_probe(HkReader *r, const HkJson *object, HkScene *scene) {
  HkProbe probe = {0};
  HkStatus status = hk_read_params(r, object, &hk_part_probe, &probe, NULL);
  if (status >= 0 && probe.select.kind == HK_SELECT_NONE)
    status = hk_reader_fail(r, object, "\"select\" is missing: which vertices?");
  if (status >= 0) status = hk_scene_add_probe(scene, &probe, NULL, r->error);
  hk_params_clear(&hk_part_probe, &probe);
  return status;
}

/* A method is read on its own and then appended with its parameters. */
static HkStatus read_listed(HkReader *r, const HkJson *value, HkScene *scene, HkFamily family) {
  HkMethod method = {0};
  HkStatus status = hk_read_method(r, value, family, &method);
  bool is_force = family == HK_FORCE;
  int index = 0;
  if (status >= 0)
    status = (is_force ? hk_scene_add_force : hk_scene_add_output)(scene, method.schema->name,
                                                                   &index, r->error);
  if (status < 0) {
    hk_method_clear(&method);
    return status;
  }
  HkMethod *at = is_force ? &scene->forces[index] : &scene->outputs[index];
  hk_method_clear(at);
  *at = method;
  return HK_OK;
}

static HkStatus read_force(HkReader *r, const HkJson *value, HkScene *scene) {
  return read_listed(r, value, scene, HK_FORCE);
}

static HkStatus read_output(HkReader *r, const HkJson *value, HkScene *scene) {
  return read_listed(r, value, scene, HK_OUTPUT);
}

typedef HkStatus ReadFn(HkReader *r, const HkJson *value, HkScene *scene);

static HkStatus read_elements(HkReader *r, const HkJson *list, ReadFn *read, HkScene *scene) {
  for (int q = 0; q < hk_json_size(list); q++) {
    size_t mark = hk_reader_index(r, q);
    HK_TRY(read(r, &list->items[q], scene));
    hk_reader_up(r, mark);
  }
  return HK_OK;
}

static HkStatus read_list(HkReader *r, const HkJson *root, const char *key, ReadFn *read,
                          HkScene *scene) {
  const HkJson *list = hk_json_get(root, key);
  if (!list) return HK_OK;
  size_t mark = hk_reader_key(r, key);
  if (!hk_json_is(list, HK_JSON_LIST)) return hk_reader_fail(r, list, "expected a list");
  HK_TRY(read_elements(r, list, read, scene));
  hk_reader_up(r, mark);
  return HK_OK;
}

/* The list alone, or {"method": ..., "list": [...]}. A pin is pins[0] in messages either way. */
static HkStatus read_pins(HkReader *r, const HkJson *root, HkScene *scene) {
  static const char *const extra[] = {"list", NULL};
  const HkJson *pins = hk_json_get(root, "pins"), *list = hk_json_get(pins, "list");
  HkPinsPart part;
  if (!pins || hk_json_is(pins, HK_JSON_LIST)) return read_list(r, root, "pins", read_pin, scene);
  size_t mark = hk_reader_key(r, "pins");
  if (!hk_json_is(pins, HK_JSON_OBJECT))
    return hk_reader_fail(r, pins, "expected a list, or an object with \"method\" and \"list\"");
  hk_params_default(&hk_part_pins, &part);
  HK_TRY(hk_read_params(r, pins, &hk_part_pins, &part, extra));
  scene->pin_method = (HkPinMethod)part.method;
  if (list && !hk_json_is(list, HK_JSON_LIST)) {
    hk_reader_key(r, "list");
    return hk_reader_fail(r, list, "expected a list");
  }
  HK_TRY(read_elements(r, list, read_pin, scene));
  hk_reader_up(r, mark);
  return HK_OK;
}

/* Adds the default outputs if the scene has no "outputs". */
static HkStatus default_outputs(HkReader *r, const HkJson *root, HkScene *scene) {
  if (hk_json_get(root, "outputs")) return HK_OK;
  HK_TRY(hk_scene_add_output(scene, "energies", NULL, r->error));
  HK_TRY(hk_scene_add_output(scene, "vtp", NULL, r->error));
  return scene->probe_count ? hk_scene_add_output(scene, "probes", NULL, r->error) : HK_OK;
}

HkStatus hk_read_scene_values(HkReader *r, const HkJson *root, HkScene *scene,
                              const char *const *others) {
  HkStatus status = hk_read_params(r, root, &hk_part_scene, scene, others);
  HkStatus stored = hk_store_params(scene, &hk_part_scene, scene, r->error);
  return status < 0 ? status : stored;
}

static HkStatus read_scene(HkReader *r, const HkJson *root, HkScene *scene) {
  static const char *const extra[] = {"$schema", "time",      "integrator", "bodies",
                                      "pins",    "obstacles", "pairs",      "forces",
                                      "outputs", "probes",    NULL};
  if (hk_is_course_format(root)) {
    HK_TRY(hk_read_course(r, root, scene));
  } else {
    HK_TRY(hk_read_scene_values(r, root, scene, extra));
    HK_TRY(read_list(r, root, "bodies", read_body, scene));
    HK_TRY(read_pins(r, root, scene));
  }
  HK_TRY(read_list(r, root, "obstacles", read_obstacle, scene));
  HK_TRY(read_list(r, root, "pairs", read_pair, scene));
  HK_TRY(read_list(r, root, "forces", read_force, scene));
  if (scene->store->is_course_format) HK_TRY(hk_complete_course(scene, r->error));
  HK_TRY(read_list(r, root, "probes", read_probe, scene));
  HK_TRY(read_part(r, root, "time", &hk_part_time, &scene->time));
  const HkJson *integrator = hk_json_get(root, "integrator");
  if (integrator) {
    size_t mark = hk_reader_key(r, "integrator");
    HK_TRY(hk_read_method(r, integrator, HK_STEP, &scene->step));
    hk_reader_up(r, mark);
  }
  HK_TRY(read_list(r, root, "outputs", read_output, scene));
  HK_TRY(default_outputs(r, root, scene));
  if (scene->body_count == 0)
    return hk_reader_fail(r, root,
                          "the scene has no bodies; add \"bodies\": [{\"shape\": \"grid\"}]");
  return HK_OK;
}

/* The run.json that a run leaves behind holds its scene. */
static HkJson *scene_of(HkJson *root, HkReader *r) {
  HkJson *scene = hk_json_get(root, "scene");
  if (!hk_json_get(root, "hooke") || !hk_json_is(scene, HK_JSON_OBJECT)) return root;
  hk_reader_key(r, "scene");
  r->root = strlen(r->path);
  return scene;
}

static HkStatus parse(const char *text, size_t size, const char *name, const char *const *sets,
                      int set_count, HkScene *scene, HkError *error) {
  HkJson root;
  HkReader r = {.name = name, .error = error};
  HK_TRY(hk_json_parse(name, text, size, &root, error));
  HkJson *object = scene_of(&root, &r);
  HkStatus status = HK_OK;
  for (int q = 0; q < set_count && status >= 0; q++)
    status = hk_apply_override(object, sets[q], error);
  if (status >= 0) status = read_scene(&r, object, scene);
  if (r.root) scene->store->root = "scene";
  hk_json_clear(&root);
  return status;
}

HkStatus hk_method_parse(HkMethod *method, HkFamily family, const char *text, size_t size,
                         const char *name, HkError *error) {
  HkJson value;
  HkMethod made = {0};
  HkReader r = {.name = name, .error = error};
  if (size > 0 && !text)
    return hk_fail(error, HK_ERROR_INVALID, "a text of %zu bytes is not there", size);
  HK_TRY(hk_json_parse(name, text, size, &value, error));
  HkStatus status = hk_read_method(&r, &value, family, &made);
  hk_json_clear(&value);
  if (status < 0) {
    hk_method_clear(&made);
    return status;
  }
  hk_method_clear(method);
  *method = made;
  return HK_OK;
}

/* A copy of a string that the scene owns; NULL stays NULL. */
static HkStatus keep_text(HkScene *scene, const char *text, const char **copy, HkError *error) {
  *copy = text ? hk_scene_keep(scene, text, strlen(text) + 1, error) : NULL;
  return text && !*copy ? HK_ERROR_MEMORY : HK_OK;
}

/* Keeps the text of the scene and its assignments for later errors. */
static HkStatus keep_source(const char *text, size_t size, const char *name,
                            const char *const *sets, int set_count, HkScene *scene,
                            HkError *error) {
  struct HkSceneStore *store = scene->store;
  HK_TRY(keep_text(scene, name, &store->name, error));
  char *copy = malloc(size + 1);
  if (!copy) return hk_fail_memory(error, size, "a scene");
  if (size) memcpy(copy, text, size);
  copy[size] = 0;
  HK_TRY(hk_store_block(scene, copy, error));
  store->text = copy;
  if (set_count <= 0) return HK_OK;
  const char **list = calloc((size_t)set_count, sizeof *list);
  if (!list) return hk_fail_memory(error, (size_t)set_count * sizeof *list, "a scene");
  HK_TRY(hk_store_block(scene, list, error));
  store->sets = list;
  for (; store->set_count < set_count; store->set_count++)
    HK_TRY(keep_text(scene, sets[store->set_count], &list[store->set_count], error));
  return HK_OK;
}

HkStatus hk_scene_parse(const HkContext *context, const char *text, size_t size, const char *name,
                        const char *folder, const char *const *sets, int set_count, HkScene **scene,
                        HkError *error) {
  *scene = NULL;
  if ((size > 0 && !text) || (set_count > 0 && !sets))
    return hk_fail(error, HK_ERROR_INVALID, "a text of %zu bytes or %d settings are not there",
                   size, set_count);
  HK_TRY(hk_scene_create(context, scene, error));
  HkStatus status = keep_text(*scene, folder, &(*scene)->folder, error);
  if (status >= 0) status = parse(text, size, name, sets, set_count, *scene, error);
  if (status >= 0) status = keep_source(text, size, name, sets, set_count, *scene, error);
  if (status < 0) hk_scene_destroy(scene);
  return status;
}

HkStatus hk_scene_read(const HkContext *context, const char *path, const char *const *sets,
                       int set_count, HkScene **scene, HkError *error) {
  HkContext c = hk_context_or_default(context);
  char *bytes, *folder = hk_strdup(path);
  size_t size;
  *scene = NULL;
  if (!folder) return hk_fail_memory(error, strlen(path), "a path");
  char *slash = strrchr(folder, '/');
  if (slash)
    slash[slash == folder ? 1 : 0] = 0;
  else
    folder[0] = 0;
  HkStatus status = hk_file_read(&c, path, &bytes, &size, error);
  if (status >= 0) {
    status = hk_scene_parse(&c, bytes, size, path, folder, sets, set_count, scene, error);
    hk_free(&c, &bytes);
  }
  free(folder);
  return status;
}
