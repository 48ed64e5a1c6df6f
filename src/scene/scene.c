/* HkScene: creation, additions, destruction. */
#include "base/memory.h"
#include "scene/parts.h"
#include "scene/store.h"

#include <stdlib.h>
#include <string.h>

/* Returns a body with the defaults of parts.c. */
HkBody hk_body_default(void) {
  HkBody body;
  hk_params_default(&hk_part_body, &body);
  hk_params_default(&hk_part_transform, &body.transform);
  hk_params_default(&hk_part_springs, &body.springs);
  hk_params_default(&hk_part_mass, &body.mass);
  hk_params_default(&hk_part_repair, &body.repair);
  hk_params_default(&hk_part_contact, &body.contact);
  return body;
}

HkPin hk_pin_default(void) {
  HkPin pin;
  hk_params_default(&hk_part_pin, &pin);
  return pin;
}

HkObstacle hk_obstacle_default(void) {
  HkObstacle obstacle;
  hk_params_default(&hk_part_obstacle, &obstacle);
  return obstacle;
}

HkPair hk_pair_default(void) {
  HkPair pair = {0};
  hk_params_default(&hk_part_pair, &pair);
  return pair;
}

HkTime hk_time_default(void) {
  HkTime time;
  hk_params_default(&hk_part_time, &time);
  return time;
}

HkStatus hk_scene_create(const HkContext *context, HkScene **scene, HkError *error) {
  *scene = calloc(1, sizeof **scene);
  if (!*scene) return hk_fail_memory(error, sizeof **scene, "a scene");
  hk_params_default(&hk_part_scene, *scene);
  (*scene)->context = hk_context_or_default(context);
  (*scene)->time = hk_time_default();
  (*scene)->store = calloc(1, sizeof *(*scene)->store);
  HkStatus status = HK_OK;
  if (!(*scene)->store) status = hk_fail_memory(error, sizeof *(*scene)->store, "a scene");
  if (status >= 0) status = hk_method_choose(&(*scene)->step, HK_STEP, "symplectic_euler", error);
  if (status < 0) hk_scene_destroy(scene);
  return status;
}

void hk_scene_destroy(HkScene **scene) {
  HkScene *s = *scene;
  if (!s) return;
  for (int b = 0; b < s->body_count; b++) hk_method_clear(&s->bodies[b].shape);
  for (int p = 0; p < s->pin_count; p++) hk_method_clear(&s->pins[p].motion);
  for (int k = 0; k < s->obstacle_count; k++) {
    hk_method_clear(&s->obstacles[k].shape);
    hk_method_clear(&s->obstacles[k].motion);
  }
  for (int f = 0; f < s->force_count; f++) hk_method_clear(&s->forces[f]);
  for (int o = 0; o < s->output_count; o++) hk_method_clear(&s->outputs[o]);
  hk_method_clear(&s->step);
  hk_store_destroy(s->store);
  free(s->bodies);
  free(s->pins);
  free(s->obstacles);
  free(s->pairs);
  free(s->forces);
  free(s->outputs);
  free(s->probes);
  free(s);
  *scene = NULL;
}

const void *hk_scene_keep(HkScene *scene, const void *data, size_t size, HkError *error) {
  void *copy = malloc(size ? size : 1);
  if (!copy) {
    hk_fail_memory(error, size, "a scene");
    return NULL;
  }
  if (size) memcpy(copy, data, size);
  return hk_store_block(scene, copy, error) < 0 ? NULL : copy;
}

/* ---- Additions: a copy is made and then moved into the scene --------------------------------- */

/* Appends a zeroed element to a list and returns it, or NULL. */
static void *append(void *list, int count, size_t size, HkError *error) {
  void *old, *grown;
  memcpy(&old, list, sizeof old);
  grown = realloc(old, ((size_t)count + 1) * size);
  if (!grown) {
    hk_fail_memory(error, ((size_t)count + 1) * size, "a scene");
    return NULL;
  }
  memcpy(list, &grown, sizeof grown);
  return memset((char *)grown + (size_t)count * size, 0, size);
}

void hk_body_clear(HkBody *body) {
  hk_method_clear(&body->shape);
  hk_mesh_destroy(&body->mesh);
  hk_params_clear(&hk_part_springs, &body->springs);
  hk_params_clear(&hk_part_mass, &body->mass);
  hk_params_clear(&hk_part_body, body);
}

static HkStatus copy_body(const HkBody *from, HkBody *to, HkError *error) {
  HK_TRY(hk_params_copy(&hk_part_body, from, to, error));
  to->shape = (HkMethod){0};
  to->mesh = NULL;
  to->springs.file = NULL;
  to->springs.table = (HkTable){0};
  to->mass.added = (HkTable){0};
  HkStatus status = hk_params_copy(&hk_part_springs, &from->springs, &to->springs, error);
  if (status >= 0) status = hk_params_copy(&hk_part_mass, &from->mass, &to->mass, error);
  if (status >= 0) status = hk_method_copy(&from->shape, &to->shape, error);
  if (status >= 0 && from->mesh) status = hk_mesh_copy(from->mesh, &to->mesh, error);
  if (status < 0) hk_body_clear(to);
  return status;
}

HkStatus hk_scene_take_body(HkScene *scene, HkBody *body, int *index, HkError *error) {
  HkBody *at = append(&scene->bodies, scene->body_count, sizeof *at, error);
  if (!at) {
    hk_body_clear(body);
    return HK_ERROR_MEMORY;
  }
  HkStatus springs = hk_store_params(scene, &hk_part_springs, &body->springs, error);
  HkStatus mass = hk_store_params(scene, &hk_part_mass, &body->mass, error);
  HkStatus own = hk_store_params(scene, &hk_part_body, body, error);
  HkStatus mesh = hk_store_mesh(scene, body->mesh, error);
  if (springs < 0 || mass < 0 || own < 0 || mesh < 0) {
    hk_method_clear(&body->shape);
    return HK_ERROR_MEMORY;
  }
  *at = *body;
  if (index) *index = scene->body_count;
  scene->body_count++;
  return HK_OK;
}

HkStatus hk_scene_add_body(HkScene *scene, const HkBody *body, int *index, HkError *error) {
  HkBody copy;
  HK_TRY(copy_body(body, &copy, error));
  return hk_scene_take_body(scene, &copy, index, error);
}

HkStatus hk_scene_add_pin(HkScene *scene, const HkPin *pin, int *index, HkError *error) {
  HkPin copy;
  HK_TRY(hk_params_copy(&hk_part_pin, pin, &copy, error));
  HkStatus status = hk_method_copy(&pin->motion, &copy.motion, error);
  HkPin *at = status < 0 ? NULL : append(&scene->pins, scene->pin_count, sizeof *at, error);
  HkStatus stored = hk_store_params(scene, &hk_part_pin, &copy, error);
  if (!at || stored < 0) {
    hk_method_clear(&copy.motion);
    return status < 0 ? status : HK_ERROR_MEMORY;
  }
  *at = copy;
  if (index) *index = scene->pin_count;
  scene->pin_count++;
  return HK_OK;
}

HkStatus hk_scene_add_obstacle(HkScene *scene, const HkObstacle *obstacle, int *index,
                               HkError *error) {
  HkObstacle copy;
  HK_TRY(hk_params_copy(&hk_part_obstacle, obstacle, &copy, error));
  copy.motion = (HkMethod){0};
  HkStatus status = hk_method_copy(&obstacle->shape, &copy.shape, error);
  if (status >= 0) status = hk_method_copy(&obstacle->motion, &copy.motion, error);
  HkObstacle *at =
      status < 0 ? NULL : append(&scene->obstacles, scene->obstacle_count, sizeof *at, error);
  HkStatus stored = hk_store_params(scene, &hk_part_obstacle, &copy, error);
  if (!at || stored < 0) {
    hk_method_clear(&copy.shape);
    hk_method_clear(&copy.motion);
    return status < 0 ? status : HK_ERROR_MEMORY;
  }
  *at = copy;
  if (index) *index = scene->obstacle_count;
  scene->obstacle_count++;
  return HK_OK;
}

HkStatus hk_scene_add_pair(HkScene *scene, const HkPair *pair, int *index, HkError *error) {
  HkPair copy = *pair;
  for (int q = 0; q < 2; q++) {
    const char *name = pair->between[q];
    copy.between[q] = name ? hk_scene_keep(scene, name, strlen(name) + 1, error) : NULL;
    if (name && !copy.between[q]) return HK_ERROR_MEMORY;
  }
  HkPair *at = append(&scene->pairs, scene->pair_count, sizeof *at, error);
  if (!at) return HK_ERROR_MEMORY;
  *at = copy;
  if (index) *index = scene->pair_count;
  scene->pair_count++;
  return HK_OK;
}

static HkStatus add_method(HkMethod **list, int *count, HkFamily family, const char *name,
                           int *index, HkError *error) {
  HkMethod *at = append(list, *count, sizeof *at, error);
  if (!at) return HK_ERROR_MEMORY;
  HK_TRY(hk_method_choose(at, family, name, error));
  if (index) *index = *count;
  ++*count;
  return HK_OK;
}

HkStatus hk_scene_add_force(HkScene *scene, const char *name, int *index, HkError *error) {
  return add_method(&scene->forces, &scene->force_count, HK_FORCE, name, index, error);
}

HkStatus hk_scene_add_output(HkScene *scene, const char *name, int *index, HkError *error) {
  return add_method(&scene->outputs, &scene->output_count, HK_OUTPUT, name, index, error);
}

HkStatus hk_scene_add_probe(HkScene *scene, const HkProbe *probe, int *index, HkError *error) {
  HkProbe copy;
  HK_TRY(hk_params_copy(&hk_part_probe, probe, &copy, error));
  HkProbe *at = append(&scene->probes, scene->probe_count, sizeof *at, error);
  HkStatus stored = hk_store_params(scene, &hk_part_probe, &copy, error);
  if (!at || stored < 0) return HK_ERROR_MEMORY;
  *at = copy;
  if (index) *index = scene->probe_count;
  scene->probe_count++;
  return HK_OK;
}

void hk_text_destroy(char **text) {
  free(*text);
  *text = NULL;
}
