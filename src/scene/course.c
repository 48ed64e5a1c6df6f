/* The small scene format of a well-known graphics course:
 *
 *     {"obj": "flag.obj", "b": [1, 2, 3], "k": 100000, "m": 1, "png": "flag.png"}
 *
 * b: fixed vertices, counted from 1; k: stiffness of every edge (N/m); m: mass of every vertex
 * (kg), and where it is absent the lumped area at 1 kg/m^2; png: a texture, not used here. Gravity
 * is 9.8 m/s^2 along -y. Steps are those of the course: backward Euler at 1/30 s. The file does not
 * hold the step, so 1/30 s is a default: another integrator that is not stable at it gets a smaller
 * one. Each step is solved by Hooke's default minimizer, since the 50 iterations of the
 * local/global method that the course makes leave most steps of its own scenes far from their
 * solution.
 */
#include "scene/parse.h"

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

bool hk_is_course_format(const HkJson *root) {
  bool own = hk_json_get(root, "b") || hk_json_get(root, "k");
  return hk_json_get(root, "obj") && (own || !hk_json_get(root, "bodies"));
}

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
  HkPin pin = hk_default_pin();
  pin.select = (HkSelect){.kind = HK_SELECT_INDICES, .indices = indices, .count = list->count};
  if (status >= 0) status = hk_scene_add_pin(scene, &pin, r->error);
  free(indices);
  if (status >= 0) hk_reader_up(r, mark);
  return status;
}

static HkStatus build(HkReader *r, const HkJson *root, const Course *course, HkScene *scene) {
  HkBody body = hk_default_body();
  body.mesh_file = course->obj;
  body.springs.k = course->k;
  if (isnan(course->m))
    body.mass.area_density = 1;
  else
    body.mass.per_vertex = course->m;
  HK_TRY(hk_scene_add_body(scene, &body, r->error));
  HkMethod *gravity = hk_scene_add_force(scene, "gravity", r->error);
  if (!gravity) return HK_ERROR_MEMORY;
  HK_TRY(hk_method_set_number(gravity, "g", 9.8, r->error));
  HK_TRY(hk_method_choose(&scene->step, HK_STEP, "backward_euler", r->error));
  scene->time.default_step = 1.0 / 30;
  return read_pins(r, hk_json_get(root, "b"), scene);
}

HkStatus hk_read_course(HkReader *r, const HkJson *root, HkScene *scene) {
  static const char *const extra[] = {"b", "time", "integrator", "outputs", NULL};
  Course course;
  hk_params_default(&schema, &course);
  HkStatus status = hk_read_params(r, root, &schema, &course, extra);
  if (status >= 0) status = build(r, root, &course, scene);
  hk_params_clear(&schema, &course);
  return status;
}
