/* run.json: everything needed to repeat a run. `hooke run run.json` does.
 *
 * It holds no times and no thread count, so that the same run leaves the same bytes.
 */
#include "run/folder.h"
#include "run/run.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* File names of bodies become absolute: run.json stands in another folder than the scene. */
static void make_absolute(json_t *object, const char *key, const char *folder) {
  json_t *name = json_object_get(object, key);
  char joined[4096];
  if (!json_is_string(name) || json_string_value(name)[0] == '/') return;
  snprintf(joined, sizeof joined, "%s/%s", folder && folder[0] ? folder : ".",
           json_string_value(name));
  char *absolute = realpath(joined, NULL);
  if (absolute) json_object_set_new(object, key, json_string(absolute));
  free(absolute);
}

static void make_files_absolute(json_t *scene, const char *folder) {
  size_t index;
  json_t *body;
  json_array_foreach(json_object_get(scene, "bodies"), index, body) {
    make_absolute(body, "mesh", folder);
    make_absolute(json_object_get(body, "springs"), "file", folder);
  }
}

/* A resumed run may be longer, but must be the same in all else. */
static uint64_t hash_scene(json_t *scene) {
  json_t *copy = json_deep_copy(scene);
  json_object_del(json_object_get(copy, "time"), "duration");
  char *text = json_dumps(copy, JSON_COMPACT | JSON_REAL_PRECISION(17));
  uint64_t h = text ? hk_hash(HK_HASH_START, text, strlen(text)) : 0;
  free(text);
  json_decref(copy);
  return h;
}

HkStatus hk_run_make_record(HkRun *run, const HkScene *scene, HkError *error) {
  char *text, model[32];
  HK_TRY(hk_scene_format(scene, &text, error));
  json_t *object = json_loads(text, 0, NULL);
  hk_text_destroy(&text);
  if (!object) return hk_fail_memory(error, 0, "run.json");
  make_files_absolute(object, scene->folder);
  run->scene_hash = hash_scene(object);
  snprintf(model, sizeof model, "%016llx", (unsigned long long)run->model->fingerprint);
  json_t *root =
      json_pack("{s:s, s:s, s:I, s:I, s:I, s:f, s:I, s:o}", "hooke", HK_VERSION, "model", model,
                "vertices", (json_int_t)run->model->n, "springs",
                (json_int_t)run->model->spring_count, "frames", (json_int_t)run->frames, "step",
                run->sim->h, "steps_per_frame", (json_int_t)run->substeps, "scene", object);
  run->record = root ? json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) : NULL;
  json_decref(root);
  return run->record ? HK_OK : hk_fail_memory(error, 0, "run.json");
}

/* The step may have changed since the record was made: by a blow-up, or by the checkpoint of a run
 * that had one. */
static HkStatus update_step(HkRun *run, HkError *error) {
  json_t *root = json_loads(run->record, 0, NULL);
  json_object_set_new(root, "step", json_real(run->sim->h));
  json_object_set_new(root, "steps_per_frame", json_integer(run->substeps));
  free(run->record);
  run->record = root ? json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) : NULL;
  json_decref(root);
  return run->record ? HK_OK : hk_fail_memory(error, 0, "run.json");
}

HkStatus hk_run_write_record(HkRun *run, HkError *error) {
  char path[4096];
  HkWriter w;
  if (run->halvings) HK_TRY(update_step(run, error));
  HK_TRY(hk_folder_path(run->folder, "run.json", path, sizeof path, error));
  HK_TRY(hk_writer_open(&w, path, error));
  fprintf(w.file, "%s\n", run->record);
  return hk_writer_commit(&w, error);
}
