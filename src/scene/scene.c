/* HkScene: creation, additions, destruction. */
#include "base/memory.h"
#include "base/text.h"
#include "scene/parts.h"

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
  return body;
}

HkPin hk_pin_default(void) {
  HkPin pin;
  hk_params_default(&hk_part_pin, &pin);
  return pin;
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
  HkStatus status = hk_method_choose(&(*scene)->step, HK_STEP, "symplectic_euler", error);
  if (status < 0) hk_scene_destroy(scene);
  return status;
}

static void clear_body(HkBody *body) {
  hk_method_clear(&body->shape);
  hk_mesh_destroy(&body->mesh);
  hk_params_clear(&hk_part_springs, &body->springs);
  hk_params_clear(&hk_part_mass, &body->mass);
  hk_params_clear(&hk_part_body, body);
}

static void clear_pin(HkPin *pin) {
  hk_method_clear(&pin->motion);
  hk_params_clear(&hk_part_pin, pin);
}

void hk_scene_destroy(HkScene **scene) {
  HkScene *s = *scene;
  if (!s) return;
  for (int q = 0; q < s->body_count; q++) clear_body(&s->bodies[q]);
  for (int q = 0; q < s->pin_count; q++) clear_pin(&s->pins[q]);
  for (int q = 0; q < s->force_count; q++) hk_method_clear(&s->forces[q]);
  for (int q = 0; q < s->output_count; q++) hk_method_clear(&s->outputs[q]);
  for (int q = 0; q < s->probe_count; q++) hk_params_clear(&hk_part_probe, &s->probes[q]);
  hk_method_clear(&s->step);
  hk_params_clear(&hk_part_scene, s);
  free(s->folder);
  free(s->source_name);
  free(s->source_text);
  free(s->source_root);
  for (int q = 0; q < s->source_set_count; q++) free(s->source_sets[q]);
  free(s->source_sets);
  free(s->bodies);
  free(s->pins);
  free(s->forces);
  free(s->outputs);
  free(s->probes);
  free(s);
  *scene = NULL;
}

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

HkStatus hk_scene_add_body(HkScene *scene, HkBody *body, HkError *error) {
  HkBody copy;
  HK_TRY(hk_params_copy(&hk_part_body, body, &copy, error));
  copy.springs.file = NULL;
  copy.springs.table = (HkTable){0};
  copy.mass.added = (HkTable){0};
  HkStatus status = hk_params_copy(&hk_part_springs, &body->springs, &copy.springs, error);
  if (status >= 0) status = hk_params_copy(&hk_part_mass, &body->mass, &copy.mass, error);
  HkBody *at = status < 0 ? NULL : append(&scene->bodies, scene->body_count, sizeof *at, error);
  if (!at) {
    hk_params_clear(&hk_part_springs, &copy.springs);
    hk_params_clear(&hk_part_mass, &copy.mass);
    hk_params_clear(&hk_part_body, &copy);
    return status < 0 ? status : HK_ERROR_MEMORY;
  }
  *at = copy;
  body->mesh = NULL;
  body->shape = (HkMethod){0};
  scene->body_count++;
  return HK_OK;
}

HkStatus hk_scene_add_pin(HkScene *scene, HkPin *pin, HkError *error) {
  HkPin copy;
  HK_TRY(hk_params_copy(&hk_part_pin, pin, &copy, error));
  HkPin *at = append(&scene->pins, scene->pin_count, sizeof *at, error);
  if (!at) {
    hk_params_clear(&hk_part_pin, &copy);
    return HK_ERROR_MEMORY;
  }
  *at = copy;
  pin->motion = (HkMethod){0};
  scene->pin_count++;
  return HK_OK;
}

HkMethod *hk_scene_add_force(HkScene *scene, const char *name, HkError *error) {
  HkMethod *at = append(&scene->forces, scene->force_count, sizeof *at, error);
  if (!at || hk_method_choose(at, HK_FORCE, name, error) < 0) return NULL;
  scene->force_count++;
  return at;
}

HkMethod *hk_scene_add_output(HkScene *scene, const char *name, HkError *error) {
  HkMethod *at = append(&scene->outputs, scene->output_count, sizeof *at, error);
  if (!at || hk_method_choose(at, HK_OUTPUT, name, error) < 0) return NULL;
  scene->output_count++;
  return at;
}

HkStatus hk_scene_add_probe(HkScene *scene, const char *name, const HkSelect *select,
                            HkError *error) {
  HkProbe copy = {.name = hk_strdup(name)};
  if (name && !copy.name) return hk_fail_memory(error, strlen(name), "a probe");
  HkStatus status = hk_select_copy(select, &copy.select, error);
  HkProbe *at = status < 0 ? NULL : append(&scene->probes, scene->probe_count, sizeof *at, error);
  if (!at) {
    hk_params_clear(&hk_part_probe, &copy);
    return status < 0 ? status : HK_ERROR_MEMORY;
  }
  *at = copy;
  scene->probe_count++;
  return HK_OK;
}

void hk_text_destroy(char **text) {
  free(*text);
  *text = NULL;
}
