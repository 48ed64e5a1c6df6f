/* run.json: everything that is needed to repeat a run; it is a scene file itself.
 *
 * It holds no times and no thread count, so that the same run leaves the same bytes.
 */
#include "model/part.h"
#include "run/folder.h"
#include "run/run.h"
#include "scene/parse.h"

#include <stdlib.h>
#include <string.h>

/* Makes file names of bodies, pins, obstacles and forces absolute: run.json is in another folder
 * than the scene. */
static void make_absolute(HkJson *object, const char *key, const char *folder) {
  const HkJson *name = hk_json_get(object, key);
  char joined[4096];
  if (!hk_json_is(name, HK_JSON_TEXT) || name->text[0] == '/') return;
  snprintf(joined, sizeof joined, "%s/%s", folder && folder[0] ? folder : ".", name->text);
  char *absolute = realpath(joined, NULL);
  if (absolute && hk_is_utf8(absolute)) hk_json_set(object, key, hk_json_text(absolute));
  free(absolute);
}

static void make_files_absolute(HkJson *scene, const char *folder) {
  const HkJson *bodies = hk_json_get(scene, "bodies");
  for (int q = 0; q < hk_json_size(bodies); q++) {
    HkJson *body = hk_json_at(bodies, q);
    make_absolute(body, "mesh", folder);
    make_absolute(hk_json_get(body, "springs"), "file", folder);
  }
  const HkJson *obstacles = hk_json_get(scene, "obstacles");
  for (int q = 0; q < hk_json_size(obstacles); q++) {
    make_absolute(hk_json_at(obstacles, q), "file", folder);
    make_absolute(hk_json_get(hk_json_at(obstacles, q), "motion"), "file", folder);
  }
  const HkJson *pins = hk_json_get(scene, "pins"), *list = hk_json_get(pins, "list");
  for (int q = 0; q < hk_json_size(list ? list : pins); q++)
    make_absolute(hk_json_get(hk_json_at(list ? list : pins, q), "motion"), "file", folder);
  const HkJson *forces = hk_json_get(scene, "forces");
  for (int q = 0; q < hk_json_size(forces); q++)
    make_absolute(hk_json_at(forces, q), "file", folder);
}

/* Hashes the scene without time.duration: a resumed run may be longer, but must be equal in all
 * else. */
static HkStatus hash_scene(const HkJson *scene, uint64_t *hash, HkError *error) {
  HkJson copy = hk_json_copy(scene), *time = hk_json_get(&copy, "time");
  char *text;
  if (time) hk_json_remove(time, "duration");
  HkStatus status = hk_json_write(&copy, 0, 17, &text, error);
  if (status >= 0) *hash = hk_hash(HK_HASH_START, text, strlen(text));
  free(text);
  hk_json_clear(&copy);
  return status;
}

/* Returns the record, which owns the scene. */
static HkJson record_of(const HkRun *run, HkJson scene) {
  char model[32];
  const HkModel *m = run->model;
  int64_t springs = m->part ? m->part->all_springs : m->springs.count;
  HkJson root = hk_json_object();
  snprintf(model, sizeof model, "%016llx", (unsigned long long)run->model->fingerprint);
  hk_json_add(&root, "hooke", hk_json_text(HK_VERSION));
  hk_json_add(&root, "model", hk_json_text(model));
  hk_json_add(&root, "vertices", hk_json_integer(hk_model_total(run->model)));
  hk_json_add(&root, "springs", hk_json_integer(springs));
  hk_json_add(&root, "frames", hk_json_integer(run->frames));
  hk_json_add(&root, "step", hk_json_real(run->sim->h));
  hk_json_add(&root, "steps_per_frame", hk_json_integer(run->substeps));
  hk_json_add(&root, "scene", scene);
  return root;
}

HkStatus hk_run_make_record(HkRun *run, const HkScene *scene, HkError *error) {
  HkJson object = hk_scene_json(scene);
  make_files_absolute(&object, scene->folder);
  HkStatus status = hash_scene(&object, &run->scene_hash, error);
  HkJson root = record_of(run, object);
  if (status >= 0) status = hk_json_write(&root, 2, 17, &run->record, error);
  hk_json_clear(&root);
  return status;
}

/* The step may have changed since the record was made: by a blow-up, or by the checkpoint of a run
 * that had one. */
static HkStatus update_step(HkRun *run, HkError *error) {
  HkJson root;
  char *text;
  HK_TRY(hk_json_parse("run.json", run->record, strlen(run->record), &root, error));
  hk_json_set(&root, "step", hk_json_real(run->sim->h));
  hk_json_set(&root, "steps_per_frame", hk_json_integer(run->substeps));
  HkStatus status = hk_json_write(&root, 2, 17, &text, error);
  hk_json_clear(&root);
  if (status < 0) return status;
  free(run->record);
  run->record = text;
  return HK_OK;
}

HkStatus hk_run_write_record(HkRun *run, HkError *error) {
  char path[4096];
  HkWriter w;
  if (run->halvings) HK_TRY(update_step(run, error));
  HK_TRY(hk_folder_path(run->folder, "run.json", path, sizeof path, error));
  HK_TRY(hk_writer_open(&w, path, error));
  fprintf(w.file, "%s\n", run->record);
  return hk_writer_commit_durable(&w, error);
}
