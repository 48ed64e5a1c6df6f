/* Loading a scene, and changing it while it plays.
 *
 * Every change is an assignment PATH=VALUE into the scene, as on the command line; a change makes
 * the scene anew from its text and all assignments so far, and goes on from the positions,
 * velocities and time where the old one was. Assignments to the integrator and to the time leave
 * the model as it is, which matters when it is large.
 */
#include "session.h"

#include "base/clock.h"
#include "base/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void stage_clear(Stage *s) {
  hk_state_destroy(&s->state);
  hk_state_destroy(&s->safe);
  hk_sim_destroy(&s->sim);
  hk_model_destroy(&s->model);
  hk_scene_destroy(&s->scene);
}

/* ---- Texts ---- */

static char *copy_text(const char *text) {
  size_t size = strlen(text) + 1;
  char *copy = malloc(size);
  if (copy) memcpy(copy, text, size);
  return copy;
}

/* A scene around a mesh: it hangs from its highest vertices. */
static HkStatus scene_of_mesh(const char *name, char **text, HkError *error) {
  static const char *const rest =
      "{\"bodies\": [{\"springs\": {\"EA\": 100, \"shear\": true, \"bending\": true, "
      "\"EA_bending\": 5, \"damping\": 0.01}, \"mass\": 1}], "
      "\"pins\": [{\"select\": {\"highest\": {\"axis\": \"y\", \"tolerance\": 0.001}}}], "
      "\"forces\": [\"gravity\"], \"integrator\": \"backward_euler\"}";
  HkJson scene;
  HK_TRY(hk_json_parse(name, rest, strlen(rest), &scene, error));
  hk_json_set(&scene, "title", hk_json_text(name));
  hk_json_set(hk_json_at(hk_json_get(&scene, "bodies"), 0), "mesh", hk_json_text(name));
  HkStatus status = hk_json_write(&scene, 0, 17, text, error);
  hk_json_clear(&scene);
  return status;
}

static bool ends_with(const char *text, const char *end) {
  size_t length = strlen(text), tail = strlen(end);
  return length >= tail && strcmp(text + length - tail, end) == 0;
}

static bool is_at_home(const Play *p, const HkJson *request) {
  const HkJson *home = hk_json_get(request, "home");
  return p->home && hk_json_is(home, HK_JSON_BOOLEAN) && home->boolean;
}

static const char *home_name(const Play *p) {
  const char *slash = strrchr(p->home, '/');
  return slash ? slash + 1 : p->home;
}

/* The text of the scene of the command line, or of one around its mesh. */
static HkStatus home_text(const Play *p, char **text, HkError *error) {
  *text = NULL;
  return ends_with(p->home, ".json") ? file_read_home(p, text, error)
                                     : scene_of_mesh(home_name(p), text, error);
}

/* The text of the scene that a request names, and its name. */
static HkStatus find_text(Play *p, const HkJson *request, char **text, const char **name,
                          HkError *error) {
  const char *builtin = request_text(request, "builtin"), *file = request_text(request, "file");
  const char *scene = request_text(request, "scene"), *found;
  size_t size;
  *text = NULL;
  if (is_at_home(p, request)) {
    *name = home_name(p);
    return home_text(p, text, error);
  }
  *name = builtin ? builtin : file ? file : request_text(request, "name");
  if (!*name) *name = "scene";
  if (file && ends_with(file, ".json")) return file_read(p, file, text, &size, error);
  if (file) return scene_of_mesh(file, text, error);
  for (int q = 0; builtin && (found = hk_scene_builtin(q, name, NULL)); q++)
    if (strcmp(*name, builtin) == 0) scene = found;
  *name = builtin ? builtin : *name;
  if (!scene && builtin)
    return hk_fail(error, HK_ERROR_INVALID, "there is no built-in scene '%s'", builtin);
  if (!scene) return hk_fail(error, HK_ERROR_INVALID, "load what? give builtin, scene or file");
  *text = copy_text(scene);
  return *text ? HK_OK : hk_fail_memory(error, strlen(scene), "a scene");
}

/* ---- Assignments ---- */

static void free_sets(char **sets, int count) {
  for (int q = 0; q < count; q++) free(sets[q]);
  free(sets);
}

/* Whether an assignment is to a path, or to something in it. */
static bool is_below(const char *assignment, const char *path) {
  size_t length = strlen(path);
  return strncmp(assignment, path, length) == 0 && strchr("=.[", assignment[length]);
}

/* An element of a list if it is a text, else "". */
static const char *text_at(const HkJson *list, int index) {
  const HkJson *item = hk_json_at(list, index);
  return hk_json_is(item, HK_JSON_TEXT) ? item->text : "";
}

static bool is_replaced(const char *old, const HkJson *assign, const HkJson *remove) {
  for (int q = 0; q < hk_json_size(assign); q++) {
    const char *text = text_at(assign, q);
    size_t length = strcspn(text, "=");
    if (length > 0 && strncmp(old, text, length) == 0 && old[length] == '=') return true;
  }
  for (int q = 0; q < hk_json_size(remove); q++)
    if (is_below(old, text_at(remove, q))) return true;
  return false;
}

/* The old assignments but for those that are replaced or removed, then the new ones. */
static HkStatus join_sets(char **old, int old_count, const HkJson *assign, const HkJson *remove,
                          char ***sets, int *count, HkError *error) {
  size_t most = (size_t)(old_count + hk_json_size(assign));
  *count = 0;
  *sets = calloc(most + 1, sizeof **sets);
  bool good = *sets != NULL;
  for (int q = 0; q < old_count && good; q++) {
    if (is_replaced(old[q], assign, remove)) continue;
    (*sets)[*count] = copy_text(old[q]);
    good = (*sets)[(*count)++] != NULL;
  }
  for (int q = 0; q < hk_json_size(assign) && good; q++) {
    (*sets)[*count] = copy_text(text_at(assign, q));
    good = (*sets)[(*count)++] != NULL;
  }
  if (good) return HK_OK;
  free_sets(*sets, *count);
  return hk_fail_memory(error, most * sizeof **sets, "changes of a scene");
}

/* ---- Building ---- */

/* Writes the folder of the scene's files: that of the scene of the command line, or the session's.
 */
static void find_folder(const Play *p, bool at_home, char *folder, size_t size) {
  snprintf(folder, size, "%s", at_home ? p->home : p->folder);
  char *slash = at_home ? strrchr(folder, '/') : NULL;
  if (slash) slash[slash == folder ? 1 : 0] = 0;
}

static HkStatus parse(Play *p, bool at_home, const char *text, const char *name, char **sets,
                      int set_count, HkScene **scene, HkError *error) {
  char folder[4096];
  find_folder(p, at_home, folder, sizeof folder);
  return hk_scene_parse(&p->context, text, strlen(text), name, folder, (const char *const *)sets,
                        set_count, scene, error);
}

/* Assignments come from the page, and so may name any file; what the scene of the command line
 * names by itself was chosen by whoever started the program. */
static HkStatus check_files(Play *p, bool at_home, const char *text, const char *name,
                            const HkScene *scene, HkError *error) {
  char folder[4096];
  HkScene *given = NULL;
  HkError ignored = {0};
  find_folder(p, at_home, folder, sizeof folder);
  if (at_home) parse(p, at_home, text, name, NULL, 0, &given, &ignored);
  HkStatus status = file_check(scene, folder, given, error);
  hk_scene_destroy(&given);
  return status;
}

static bool is_stopped(void *play) {
  const Play *p = play;
  return atomic_load(&p->stopped) || (p->deadline > 0 && hk_wall_time() > p->deadline);
}

static HkStatus build(Play *p, bool at_home, const char *text, const char *name, char **sets,
                      int set_count, Stage *s, HkError *error) {
  *s = (Stage){0};
  HkStatus status = parse(p, at_home, text, name, sets, set_count, &s->scene, error);
  if (status >= 0) status = check_files(p, at_home, text, name, s->scene, error);
  if (status >= 0) status = hk_model_compile(s->scene, &s->model, error);
  if (status >= 0) status = hk_sim_create(s->model, NULL, 0, &s->sim, error);
  if (status >= 0) hk_sim_set_cancel(s->sim, is_stopped, p);
  if (status >= 0) status = hk_state_create(s->model, &s->state, error);
  if (status >= 0) status = hk_state_create(s->model, &s->safe, error);
  if (status < 0) stage_clear(s);
  return status;
}

/* Puts a new scene in the place of the old one. */
static HkStatus take(Play *p, Stage *s, char *text, char *name, char **sets, int set_count,
                     HkError *error) {
  int64_t pins;
  hk_model_pins(s->model, &pins);
  uint8_t *released = calloc((size_t)pins + 1, 1);
  if (!released) return hk_fail_memory(error, (size_t)pins, "pins");
  stage_clear(&p->stage);
  p->stage = *s;
  free(p->released);
  p->released = released;
  if (text != p->text) free(p->text);
  if (name != p->name) free(p->name);
  free_sets(p->sets, p->set_count);
  p->text = text;
  p->name = name;
  p->sets = sets;
  p->set_count = set_count;
  p->owed = 0;
  p->blown = false;
  return HK_OK;
}

HkStatus stage_load(Play *p, const HkJson *request, HkError *error) {
  const char *given;
  char *text, *name = NULL, **sets = NULL;
  int set_count = 0;
  Stage stage = {0};
  p->notes[0] = 0;
  HkStatus status = find_text(p, request, &text, &given, error);
  if (status >= 0 && !(name = copy_text(given))) status = hk_fail_memory(error, 0, "a name");
  if (status >= 0)
    status = join_sets(NULL, 0, hk_json_get(request, "sets"), NULL, &sets, &set_count, error);
  bool at_home = is_at_home(p, request);
  if (status >= 0) status = build(p, at_home, text, name, sets, set_count, &stage, error);
  if (status >= 0) status = take(p, &stage, text, name, sets, set_count, error);
  if (status >= 0) {
    p->at_home = at_home;
    p->hand.vertex = -1;
    p->pin_count = 0;
    p->steps = 0;
    obstacles_forget(p);
    throw_forget(p);
    return HK_OK;
  }
  stage_clear(&stage);
  free(text);
  free(name);
  if (sets) free_sets(sets, set_count);
  return status;
}

HkStatus stage_check_home(Play *p, const char *name, HkError *error) {
  char *text;
  HkScene *scene = NULL;
  HkModel *model = NULL;
  HkStatus status = home_text(p, &text, error);
  if (status >= 0) status = parse(p, true, text, name, NULL, 0, &scene, error);
  if (status >= 0) status = hk_model_compile(scene, &model, error);
  hk_model_destroy(&model);
  hk_scene_destroy(&scene);
  free(text);
  return status;
}

/* ---- Changing ---- */

/* Returns whether the assignments leave the model unchanged. */
static bool is_of_integrator(const HkJson *list) {
  for (int q = 0; q < hk_json_size(list); q++) {
    const char *text = text_at(list, q);
    if (!is_below(text, "integrator") && strcmp(text, "integrator") != 0 &&
        strncmp(text, "time.step", 9) != 0)
      return false;
  }
  return true;
}

/* Another integrator for the same model and state. */
static HkStatus change_integrator(Play *p, char **sets, int set_count, HkError *error) {
  HkScene *scene = NULL;
  HkSim *sim = NULL;
  HkStatus status = parse(p, p->at_home, p->text, p->name, sets, set_count, &scene, error);
  if (status >= 0)
    status = hk_sim_create(p->stage.model, &scene->step, scene->time.step, &sim, error);
  if (status < 0) {
    hk_scene_destroy(&scene);
    return status;
  }
  hk_sim_set_cancel(sim, is_stopped, p);
  hk_sim_destroy(&p->stage.sim);
  hk_scene_destroy(&p->stage.scene);
  p->stage.scene = scene;
  p->stage.sim = sim;
  free_sets(p->sets, p->set_count);
  p->sets = sets;
  p->set_count = set_count;
  hk_state_set_time(p->stage.state, hk_state_time(p->stage.state)); /* no step before is known */
  return HK_OK;
}

/* Whether another model pins the same vertices as the present one. */
static bool has_same_pins(const Play *p, const HkModel *other) {
  int64_t count, other_count;
  const int32_t *pin = hk_model_pins(p->stage.model, &count);
  const int32_t *other_pin = hk_model_pins(other, &other_count);
  return count == other_count &&
         (count == 0 || memcmp(pin, other_pin, (size_t)count * sizeof *pin) == 0);
}

/* Releases those pins of the model again that were released by hand in one of the same pins. */
static HkStatus release_again(const Play *p, const HkModel *model, HkState *state, HkError *error) {
  int64_t pins;
  const int32_t *pin = hk_model_pins(model, &pins);
  for (int64_t q = 0; q < pins; q++)
    if (p->released[q]) HK_TRY(hk_state_release_pin(state, model, pin[q], error));
  return HK_OK;
}

/* Copies the state of the old scene to a new one with the same number of vertices. */
static HkStatus carry(const Play *p, Stage *s, HkError *error) {
  int64_t n = hk_state_vertex_count(p->stage.state);
  if (hk_state_vertex_count(s->state) != n)
    return hk_fail(error, HK_ERROR_INVALID,
                   "this changes the number of vertices; load the scene again");
  memcpy(hk_state_x(s->state), hk_state_x(p->stage.state), 3 * (size_t)n * sizeof(double));
  memcpy(hk_state_v(s->state), hk_state_v(p->stage.state), 3 * (size_t)n * sizeof(double));
  hk_state_set_time(s->state, hk_state_time(p->stage.state));
  return has_same_pins(p, s->model) ? release_again(p, s->model, s->state, error) : HK_OK;
}

static HkStatus change_model(Play *p, char **sets, int set_count, HkError *error) {
  Stage stage;
  HK_TRY(build(p, p->at_home, p->text, p->name, sets, set_count, &stage, error));
  HkStatus status = carry(p, &stage, error);
  bool same_pins = has_same_pins(p, stage.model);
  uint8_t *released = p->released;
  if (same_pins) p->released = NULL; /* take() makes new ones */
  if (status >= 0) status = take(p, &stage, p->text, p->name, sets, set_count, error);
  if (status < 0) {
    stage_clear(&stage);
    p->released = released;
    return status;
  }
  if (same_pins) {
    free(p->released);
    p->released = released;
  }
  HK_TRY(obstacles_again(p, error));
  return hand_again(p, error);
}

HkStatus stage_set(Play *p, const HkJson *request, HkError *error) {
  const HkJson *assign = hk_json_get(request, "assign"), *remove = hk_json_get(request, "remove");
  char **sets;
  int set_count;
  p->notes[0] = 0;
  HK_TRY(join_sets(p->sets, p->set_count, assign, remove, &sets, &set_count, error));
  HkStatus status = is_of_integrator(assign) && is_of_integrator(remove)
                        ? change_integrator(p, sets, set_count, error)
                        : change_model(p, sets, set_count, error);
  if (status < 0 && sets != p->sets) free_sets(sets, set_count);
  if (status >= 0) p->blown = false;
  if (status >= 0) throw_again(p);
  return status;
}

HkStatus stage_reset(Play *p, HkError *error) {
  HkState *state;
  HK_TRY(hk_state_create(p->stage.model, &state, error));
  HkStatus status = hand_restart(p, hk_state_x(state), error);
  if (status >= 0) status = obstacles_restart(p, error);
  if (status >= 0) status = release_again(p, p->stage.model, state, error);
  if (status >= 0) status = throw_start(p, state, error);
  if (status >= 0) status = hk_state_copy(state, p->stage.state, error);
  if (status >= 0) status = hk_state_copy(state, p->stage.safe, error);
  hk_state_destroy(&state);
  p->owed = 0;
  p->steps = 0;
  p->blown = false;
  return status;
}
