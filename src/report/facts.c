/* The facts of a report about its run, as JSON; see page.h.
 *
 * Numbers that are not finite are null. Long texts are truncated.
 */
#include "base/isa.h"
#include "base/machine.h"
#include "report/page.h"
#include "scene/parse.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_TEXT_BYTES = 4000, MAX_SCENE_BYTES = 200000 };

/* ---- Values ---- */

static HkJson hexadecimal(uint64_t value) {
  char text[32];
  snprintf(text, sizeof text, "%016llx", (unsigned long long)value);
  return hk_json_text(text);
}

static HkJson vector(const double v[3]) {
  HkJson list = hk_json_list();
  for (int c = 0; c < 3; c++) hk_json_append(&list, hk_json_real(v[c]));
  return list;
}

/* Returns at most `most` bytes of a text, with whole characters; null for NULL. */
static HkJson text_json(const char *text, size_t most) {
  if (!text) return (HkJson){.kind = HK_JSON_NULL};
  size_t length = strlen(text);
  if (length <= most) return hk_json_text(text);
  for (length = most; length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80;) length--;
  char *copy = malloc(length + 1);
  if (!copy) return (HkJson){.kind = HK_JSON_LOST};
  memcpy(copy, text, length);
  copy[length] = 0;
  HkJson value = hk_json_text(copy);
  free(copy);
  return value;
}

static void add_text(HkJson *object, const char *key, const char *text) {
  hk_json_add(object, key, text_json(text, MAX_TEXT_BYTES));
}

static void add_integer(HkJson *object, const char *key, int64_t value) {
  hk_json_add(object, key, hk_json_integer(value));
}

static void add_real(HkJson *object, const char *key, double value) {
  hk_json_add(object, key, hk_json_real(value));
}

/* ---- Methods ---- */

/* Returns the value of a parameter, or its size; null if it is not given. */
static HkJson value_json(const HkParam *p, const void *params) {
  const void *at = (const char *)params + p->offset;
  char text[64] = "some vertices";
  bool given = true;
  switch (p->kind) {
  case HK_PARAM_TEXT: return text_json(*(char *const *)at, MAX_TEXT_BYTES);
  case HK_PARAM_METHOD: return (HkJson){.kind = HK_JSON_NULL}; /* they are listed by themselves */
  case HK_PARAM_SELECT: given = ((const HkSelect *)at)->kind != HK_SELECT_NONE; break;
  case HK_PARAM_TABLE:
    given = ((const HkTable *)at)->rows > 0;
    snprintf(text, sizeof text, "a table of %d rows", ((const HkTable *)at)->rows);
    break;
  default: return hk_param_json(p, params);
  }
  return text_json(given ? text : NULL, MAX_TEXT_BYTES);
}

static void add_method(HkJson *list, const char *family, const HkMethod *method);

/* Appends the methods nested in one. */
static void add_nested(HkJson *list, const HkMethod *method) {
  for (int q = 0; q < method->schema->param_count; q++) {
    const HkParam *p = &method->schema->params[q];
    if (p->kind != HK_PARAM_METHOD) continue;
    const HkMethod *inner = (const HkMethod *)((const char *)method->params + p->offset);
    if (inner->schema) add_method(list, hk_family_name(p->family), inner);
  }
}

static void add_method(HkJson *list, const char *family, const HkMethod *method) {
  const HkSchema *schema = method->schema;
  HkJson object = hk_json_object(), params = hk_json_list();
  add_text(&object, "family", family);
  add_text(&object, "name", schema->name);
  add_text(&object, "summary", schema->summary);
  add_text(&object, "formula", schema->formula);
  for (int q = 0; q < schema->param_count; q++) {
    const HkParam *p = &schema->params[q];
    HkJson value = value_json(p, method->params), param = hk_json_object();
    add_text(&param, "name", p->name);
    add_text(&param, "unit", p->unit);
    add_text(&param, "help", p->help);
    bool given = value.kind != HK_JSON_NULL;
    hk_json_add(&param, "value", value);
    if (given)
      hk_json_append(&params, param);
    else
      hk_json_clear(&param);
  }
  hk_json_add(&object, "params", params);
  hk_json_append(list, object);
  add_nested(list, method);
}

/* The integrator with what is nested in it, the forces, how pins move, and the obstacles, each with
 * its motion. */
static HkJson methods_json(const HkModel *m, const HkPageRun *run) {
  HkJson list = hk_json_list();
  if (run->method && run->method->schema) add_method(&list, hk_family_name(HK_STEP), run->method);
  for (int q = 0; q < m->force_count; q++)
    if (m->forces[q].method.schema)
      add_method(&list, hk_family_name(HK_FORCE), &m->forces[q].method);
  for (int q = 0; q < m->motion_count; q++)
    if (m->motions[q].method.schema)
      add_method(&list, hk_family_name(HK_MOTION), &m->motions[q].method);
  for (int q = 0; q < m->obstacle_count; q++) {
    add_method(&list, hk_family_name(HK_OBSTACLE), &m->obstacles[q].method);
    add_method(&list, hk_family_name(HK_MOTION), &m->obstacles[q].motion.method);
  }
  return list;
}

/* ---- Parts ---- */

static HkJson machine_json(const HkModel *m) {
  char processor[256], name[512];
  HkIsa isa = HK_ISA_PORTABLE;
  hk_isa_pick(&isa, NULL);
  hk_machine_processor(processor, sizeof processor);
  hk_machine_system(name, sizeof name);
  HkJson object = hk_json_object();
  add_text(&object, "processor", processor);
  add_integer(&object, "cores", hk_thread_count());
  add_integer(&object, "threads", m->threads);
  add_text(&object, "vectors", hk_isa_name(isa));
  add_text(&object, "system", name);
  return object;
}

static HkJson model_json(const HkModel *m) {
  HkModelInfo info = hk_model_info(m);
  HkJson object = hk_json_object();
  add_integer(&object, "bodies", info.bodies);
  add_integer(&object, "vertices", info.vertices);
  add_integer(&object, "springs", info.springs);
  add_integer(&object, "faces", info.faces);
  add_integer(&object, "pinned", info.pinned);
  add_integer(&object, "dimension", info.dimension);
  add_integer(&object, "up", m->up);
  add_real(&object, "mass", info.mass);
  add_real(&object, "mass_min", info.mass_min);
  add_real(&object, "mass_max", info.mass_max);
  add_real(&object, "k_min", info.k_min);
  add_real(&object, "k_max", info.k_max);
  add_real(&object, "length_min", info.length_min);
  add_real(&object, "length_max", info.length_max);
  hk_json_add(&object, "box_min", vector(info.box_min));
  hk_json_add(&object, "box_max", vector(info.box_max));
  return object;
}

/* A stable step that is null has no largest value, and stability says what holds; 0 is none. */
static HkJson run_json(const HkPageRun *run) {
  HkJson object = hk_json_object();
  add_integer(&object, "frame", run->frame);
  add_integer(&object, "frames", run->frames);
  add_real(&object, "interval", run->interval);
  add_real(&object, "step", run->h);
  add_integer(&object, "steps_per_frame", run->substeps);
  add_real(&object, "stable_step", run->stable_h);
  hk_json_add(&object, "stability", hk_json_text(hk_method_stability(run->method)));
  add_integer(&object, "halvings", run->halvings);
  return object;
}

static HkJson drawn_json(const HkSketch *s) {
  HkJson object = hk_json_object(), kinds = hk_json_list();
  for (int q = 0; q < HK_SPRING_KINDS; q++) hk_json_append(&kinds, hk_json_integer(s->kinds[q]));
  add_integer(&object, "vertices", s->n);
  add_integer(&object, "faces", s->face_count);
  add_integer(&object, "springs", s->spring_count);
  hk_json_add(&object, "kinds", kinds);
  return object;
}

static HkJson thin_json(const HkThin *t) {
  HkJson object = hk_json_object();
  add_integer(&object, "count", hk_thin_count(t));
  add_integer(&object, "stride", t->stride);
  return object;
}

static HkJson rows_json(const HkRecording *r) {
  HkJson object = thin_json(&r->rows), columns = hk_json_list();
  for (int q = 0; q < HK_ROW_COUNT; q++) hk_json_append(&columns, hk_json_text(hk_row_names[q]));
  hk_json_add(&object, "columns", columns);
  return object;
}

static HkJson frames_json(const HkRecording *r) {
  HkJson object = thin_json(&r->frames);
  add_integer(&object, "first", r->first);
  add_integer(&object, "last", r->last);
  return object;
}

static const char *status_of(const HkPageRun *run) {
  if (run->failed == HK_ERROR_BLOWUP) return "blowup";
  if (run->failed < 0) return "failed";
  return run->frame < run->frames ? "stopped" : "done";
}

static void add_date(HkJson *object) {
  time_t now = time(NULL);
  struct tm parts;
  char text[64] = "";
  if (gmtime_r(&now, &parts)) strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &parts);
  add_text(object, "date", text);
}

HkJson hk_page_facts(const HkPage *page, const HkPageRun *run) {
  HkJson root = hk_json_object();
  add_integer(&root, "format", HK_PAGE_FORMAT);
  add_text(&root, "hooke", HK_VERSION);
  hk_json_add(&root, "hash", hexadecimal(page->hash));
  hk_json_add(&root, "fingerprint", hexadecimal(page->model->fingerprint));
  add_text(&root, "title", page->title);
  add_text(&root, "command", page->command);
  add_date(&root);
  add_text(&root, "status", status_of(run));
  add_text(&root, "message", run->failed < 0 ? run->failure : NULL);
  hk_json_add(&root, "run", run_json(run));
  hk_json_add(&root, "model", model_json(page->model));
  hk_json_add(&root, "machine", machine_json(page->model));
  hk_json_add(&root, "methods", methods_json(page->model, run));
  hk_json_add(&root, "drawn", drawn_json(&page->sketch));
  hk_json_add(&root, "frames", frames_json(&page->recording));
  hk_json_add(&root, "rows", rows_json(&page->recording));
  hk_json_add(&root, "notes", hk_page_notes(page));
  hk_json_add(&root, "scene", text_json(page->scene, MAX_SCENE_BYTES));
  add_integer(&root, "scene_bytes", (int64_t)strlen(page->scene));
  hk_json_add(&root, "source", text_json(page->source, MAX_SCENE_BYTES));
  return root;
}
