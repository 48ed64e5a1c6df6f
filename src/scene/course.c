/* The small scene format of a well-known graphics course:
 *
 *     {"obj": "flag.obj", "b": [1, 2, 3], "k": 100000, "m": 1, "png": "flag.png"}
 *
 * b: fixed vertices, counted from 1; k: stiffness of every edge (N/m); m: mass of every vertex
 * (kg), and where it is absent the lumped area at 1 kg/m^2; png: a texture, not used here. Gravity
 * is 9.8 m/s^2 along -y unless "forces" holds a gravity of its own. Steps are those of the course:
 * backward Euler at 1/30 s. The file does not hold the step, so 1/30 s is a default: another
 * integrator that is not stable at it gets a smaller one. Each step is solved by Hooke's default
 * minimizer, since the 50 iterations of the local/global method that the course makes leave most
 * steps of its own scenes far from their solution.
 */
#include "scene/blame.h"
#include "scene/parse.h"
#include "scene/parts.h"
#include "scene/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Course {
  char *obj, *png;
  double k, m;
} Course;

static const HkParam params[] = {
    HK_TEXT(Course, obj, "mesh file"),
    HK_TEXT(Course, png, "texture, not used"),
    HK_NUMBER(Course, k, "N/m", 100000, 0, HK_MAX, "stiffness of every edge"),
    HK_NUMBER(Course, m, "kg", NAN, 0, HK_MAX, "mass of every vertex"),
};
static const HkSchema schema = {.name = "the course's scene format", HK_PARAMS(Course, params)};

static const char *const extra[] = {"b",      "$schema",   "title", "dimension",  "up",
                                    "time",   "forces",    "pins",  "integrator", "outputs",
                                    "probes", "obstacles", "pairs", NULL};

bool hk_is_course_format(const HkJson *root) {
  bool obj = hk_json_get(root, "obj"), own = hk_json_get(root, "b") || hk_json_get(root, "k");
  return hk_json_get(root, "bodies") ? obj && own : obj || own;
}

/* ---- Reading --------------------------------------------------------------------------------- */

static HkStatus read_pins(HkReader *r, const HkJson *list, HkScene *scene) {
  if (!list || (hk_json_is(list, HK_JSON_LIST) && list->count == 0)) return HK_OK;
  size_t mark = hk_reader_key(r, "b");
  if (!hk_json_is(list, HK_JSON_LIST))
    return hk_reader_fail(r, list, "expected a list of vertices counted from 1");
  size_t count = (size_t)list->count;
  int32_t *indices = malloc(count * sizeof *indices);
  if (!indices) return hk_fail_memory(r->error, count * sizeof *indices, "b");
  HkStatus status = HK_OK;
  for (int q = 0; q < list->count && status >= 0; q++) {
    const HkJson *value = &list->items[q];
    int64_t index = hk_json_is(value, HK_JSON_INTEGER) ? value->integer : 0;
    size_t inner = hk_reader_index(r, q);
    if (index < 1 || index > INT32_MAX)
      status = hk_reader_fail(r, value, "expected the number of a vertex, counted from 1");
    else
      hk_reader_up(r, inner);
    indices[q] = (int32_t)(index - 1);
  }
  HkPin pin = hk_pin_default();
  pin.select = (HkSelect){.kind = HK_SELECT_INDICES, .indices = indices, .count = list->count};
  if (status >= 0) status = hk_scene_add_pin(scene, &pin, NULL, r->error);
  free(indices);
  if (status >= 0) hk_reader_up(r, mark);
  return status;
}

/* "pins" holds how implicit steps treat the vertices of b, and no pins of its own. */
static HkStatus read_pin_method(HkReader *r, const HkJson *root, HkScene *scene) {
  const HkJson *pins = hk_json_get(root, "pins");
  HkPinsPart part;
  if (!pins) return HK_OK;
  size_t mark = hk_reader_key(r, "pins");
  if (!hk_json_is(pins, HK_JSON_OBJECT))
    return hk_reader_fail(r, pins,
                          "expected an object such as {\"method\": \"reaction\"}; in this format "
                          "\"b\" lists the vertices that are pinned");
  hk_params_default(&hk_part_pins, &part);
  HK_TRY(hk_read_params(r, pins, &hk_part_pins, &part, NULL));
  scene->pin_method = (HkPinMethod)part.method;
  hk_reader_up(r, mark);
  return HK_OK;
}

static HkStatus check(HkReader *r, const HkJson *root, const Course *course) {
  if (!course->obj) return hk_reader_fail(r, root, "\"obj\" is missing: which mesh file?");
  if (isnan(course->m) || course->m > 0) return HK_OK;
  hk_reader_key(r, "m");
  return hk_reader_fail(r, hk_json_get(root, "m"), "expected a number above 0 (kg)");
}

static HkStatus build(HkReader *r, const HkJson *root, const Course *course, HkScene *scene) {
  HkBody body = hk_body_default();
  body.mesh_file = course->obj;
  body.springs.k = course->k;
  if (isnan(course->m))
    body.mass.area_density = 1;
  else
    body.mass.per_vertex = course->m;
  HK_TRY(hk_scene_add_body(scene, &body, NULL, r->error));
  HK_TRY(hk_method_choose(&scene->step, HK_STEP, "backward_euler", r->error));
  scene->time.default_step = 1.0 / 30;
  HK_TRY(read_pin_method(r, root, scene));
  return read_pins(r, hk_json_get(root, "b"), scene);
}

/* The keys of a scene that are plain values; all others are read elsewhere. */
static HkStatus read_scene_values(HkReader *r, const HkJson *root, HkScene *scene) {
  static const char *const others[] = {"obj",        "b",       "k",         "m",      "png",
                                       "time",       "forces",  "pins",      "probes", "$schema",
                                       "integrator", "outputs", "obstacles", "pairs",  NULL};
  return hk_read_scene_values(r, root, scene, others);
}

HkStatus hk_read_course(HkReader *r, const HkJson *root, HkScene *scene) {
  Course course;
  scene->store->is_course_format = true;
  hk_params_default(&schema, &course);
  HkStatus status = hk_read_params(r, root, &schema, &course, extra);
  if (status >= 0) status = check(r, root, &course);
  if (status >= 0) status = read_scene_values(r, root, scene);
  if (status >= 0) status = build(r, root, &course, scene);
  hk_params_clear(&schema, &course);
  return status;
}

HkStatus hk_complete_course(HkScene *scene, HkError *error) {
  for (int q = 0; q < scene->force_count; q++)
    if (strcmp(scene->forces[q].schema->name, "gravity") == 0) return HK_OK;
  int gravity;
  HK_TRY(hk_scene_add_force(scene, "gravity", &gravity, error));
  return hk_method_set_number(&scene->forces[gravity], "g", 9.8, error);
}

/* ---- Errors of the model in the words of the file -------------------------------------------- */

void hk_course_words(char *path, char *text, size_t size) {
  /* advice: replaces what a message says behind its first semicolon; NULL: that holds here too. */
  static const struct {
    const char *path, *key, *advice;
  } words[] = {
      {"bodies[0].mesh", "obj", NULL},
      {"bodies[0].mass", "m", "give \"m\", the mass of every vertex in kg"},
      {"bodies[0].springs", "obj", "merge them in the mesh file"},
      {"bodies[0]", "obj", NULL},
      {"pins[0]", "b", NULL},
  };
  for (size_t q = 0; q < sizeof words / sizeof words[0]; q++) {
    if (strncmp(path, words[q].path, strlen(words[q].path)) != 0) continue;
    char *advice = strchr(text, ';');
    size_t used = advice ? (size_t)(advice - text) : strlen(text);
    memcpy(path, words[q].key, strlen(words[q].key) + 1);
    if (advice && words[q].advice) snprintf(text + used, size - used, "; %s", words[q].advice);
    return;
  }
}

HkStatus hk_course_check_pins(const HkScene *scene, int64_t vertex_count, HkError *error) {
  const HkSelect *b = &scene->pins[0].select;
  if (scene->body_count != 1 || !scene->bodies[0].mesh_file) return HK_OK; /* it was edited */
  for (int64_t q = 0; b->kind == HK_SELECT_INDICES && q < b->count; q++) {
    HkError inner = {0};
    char path[32];
    if (b->indices[q] < vertex_count) continue;
    hk_fail(&inner, HK_ERROR_INVALID, "there is no vertex %lld: %s has the vertices 1 to %lld",
            (long long)b->indices[q] + 1, scene->bodies[0].mesh_file, (long long)vertex_count);
    snprintf(path, sizeof path, "b[%lld]", (long long)q);
    return hk_scene_blame(scene, path, &inner, error);
  }
  return HK_OK;
}
