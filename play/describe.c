/* The registries and the current scene as JSON. */
#include "session.h"

#include "base/schema.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double UNBOUNDED = 1e300;

/* Names of families in a scene, in the order of HkFamily. */
static const char *const families[HK_FAMILY_COUNT] = {
    "shape",     "force",  "motion",         "obstacle", "integrator",
    "minimizer", "linear", "preconditioner", "output",   "part"};
static const char *const kinds[] = {"number", "integer", "boolean", "vector", "choice",
                                    "text",   "table",   "select",  "method"};

static HkJson list_of(const double *values, int count) {
  HkJson list = hk_json_list();
  for (int q = 0; q < count; q++) hk_json_append(&list, hk_json_real(values[q]));
  return list;
}

static HkJson choice_text(const HkParam *p, int index) {
  char word[64];
  hk_choice_word(p->choices, index, word, sizeof word);
  return hk_json_text(word);
}

/* ---- Registries ---- */

static HkJson default_of(const HkParam *p) {
  switch (p->kind) {
  case HK_PARAM_NUMBER: return hk_json_real(p->default_value[0]);
  case HK_PARAM_INTEGER: return hk_json_integer((int64_t)p->default_value[0]);
  case HK_PARAM_BOOLEAN: return hk_json_boolean(p->default_value[0] != 0);
  case HK_PARAM_VECTOR: return list_of(p->default_value, 3);
  case HK_PARAM_CHOICE: return choice_text(p, (int)p->default_value[0]);
  default: return hk_json_real(NAN);
  }
}

static HkJson choices_of(const HkParam *p) {
  HkJson list = hk_json_list();
  int count = 1;
  for (const char *c = p->choices; *c; c++) count += *c == '|';
  for (int q = 0; q < count; q++) hk_json_append(&list, choice_text(p, q));
  return list;
}

static HkJson param_of(const HkParam *p) {
  HkJson o = hk_json_object();
  hk_json_add(&o, "name", hk_json_text(p->name));
  hk_json_add(&o, "unit", hk_json_text(p->unit));
  hk_json_add(&o, "help", hk_json_text(p->help));
  hk_json_add(&o, "kind", hk_json_text(kinds[p->kind]));
  hk_json_add(&o, "default", default_of(p));
  hk_json_add(&o, "min", hk_json_real(p->min > -UNBOUNDED ? p->min : NAN));
  hk_json_add(&o, "max", hk_json_real(p->max < UNBOUNDED ? p->max : NAN));
  if (p->kind == HK_PARAM_CHOICE) hk_json_add(&o, "choices", choices_of(p));
  if (p->kind == HK_PARAM_METHOD) hk_json_add(&o, "family", hk_json_text(families[p->family]));
  return o;
}

static HkJson schema_of(const HkSchema *s) {
  HkJson o = hk_json_object(), params = hk_json_list();
  for (int q = 0; q < s->param_count; q++) hk_json_append(&params, param_of(&s->params[q]));
  hk_json_add(&o, "name", hk_json_text(s->name));
  hk_json_add(&o, "summary", hk_json_text(s->summary ? s->summary : ""));
  hk_json_add(&o, "formula", s->formula ? hk_json_text(s->formula) : hk_json_real(NAN));
  hk_json_add(&o, "params", params);
  return o;
}

static HkJson scenes(void) {
  HkJson list = hk_json_list();
  const char *text, *name, *title;
  for (int q = 0; (text = hk_scene_builtin(q, &name, &title)); q++) {
    HkJson o = hk_json_object();
    hk_json_add(&o, "name", hk_json_text(name));
    hk_json_add(&o, "title", hk_json_text(title));
    hk_json_add(&o, "text", hk_json_text(text));
    hk_json_append(&list, o);
  }
  return list;
}

/* Whether the page may offer a method: it never loads a shared library, and is one process. */
static bool is_offered(HkFamily family, const HkSchema *schema) {
  if (schema->needs_ranks) return false;
  return family != HK_FORCE || strcmp(schema->name, "library") != 0;
}

HkStatus describe_registry(Play *p, const HkJson *request, HkError *error) {
  HkJson answer = answer_start(request), all = hk_json_object();
  for (int f = 0; f < HK_FAMILY_COUNT; f++) {
    HkJson list = hk_json_list();
    const HkSchema *s;
    for (int q = 0; (s = hk_schema_at((HkFamily)f, q)); q++)
      if (is_offered((HkFamily)f, s)) hk_json_append(&list, schema_of(s));
    hk_json_add(&all, families[f], list);
  }
  hk_json_add(&answer, "version", hk_json_text(hk_version()));
  hk_json_add(&answer, "families", all);
  hk_json_add(&answer, "scenes", scenes());
  return answer_text(p, &answer, error);
}

/* ---- The scene as it is ---- */

static HkJson method_of(const HkMethod *method);

static HkJson value_of(const HkParam *p, const void *params) {
  const void *at = (const char *)params + p->offset;
  switch (p->kind) {
  case HK_PARAM_NUMBER: return hk_json_real(*(const double *)at);
  case HK_PARAM_INTEGER: return hk_json_integer(*(const int *)at);
  case HK_PARAM_BOOLEAN: return hk_json_boolean(*(const bool *)at);
  case HK_PARAM_VECTOR: return list_of(at, 3);
  case HK_PARAM_CHOICE: return choice_text(p, *(const int *)at);
  case HK_PARAM_METHOD: return method_of(at);
  default: return hk_json_real(NAN);
  }
}

static HkJson method_of(const HkMethod *method) {
  HkJson o = hk_json_object();
  if (!method->schema) return o;
  hk_json_add(&o, "type", hk_json_text(method->schema->name));
  for (int q = 0; q < method->schema->param_count; q++) {
    const HkParam *p = &method->schema->params[q];
    hk_json_add(&o, p->name, value_of(p, method->params));
  }
  return o;
}

static HkJson forces_of(const Play *p) {
  HkJson list = hk_json_list();
  for (int q = 0; q < p->stage.scene->force_count; q++)
    hk_json_append(&list, method_of(&p->stage.scene->forces[q]));
  return list;
}

static HkJson lines_of(const char *text) {
  HkJson list = hk_json_list();
  char line[1024];
  while (*text) {
    size_t length = strcspn(text, "\n");
    snprintf(line, sizeof line, "%.*s", (int)length, text);
    hk_json_append(&list, hk_json_text(line));
    text += length + (text[length] == '\n');
  }
  return list;
}

static void describe_model(const Play *p, HkJson *answer) {
  HkModelInfo m = hk_model_info(p->stage.model);
  hk_json_add(answer, "vertices", hk_json_integer(m.vertices));
  hk_json_add(answer, "springs", hk_json_integer(m.springs));
  hk_json_add(answer, "triangles", hk_json_integer(m.faces));
  hk_json_add(answer, "bodies", hk_json_integer(m.bodies));
  hk_json_add(answer, "dimension", hk_json_integer(m.dimension));
  hk_json_add(answer, "box_min", list_of(m.box_min, 3));
  hk_json_add(answer, "box_max", list_of(m.box_max, 3));
  hk_json_add(answer, "mass", hk_json_real(m.mass));
  hk_json_add(answer, "length_min", hk_json_real(m.length_min));
  hk_json_add(answer, "threads", hk_json_integer(m.threads));
  hk_json_add(answer, "vectors", hk_json_text(m.vectors));
}

/* Why no body of the scene can be thrown at a target; "" where one can. */
static HkJson refusal_of_throw(const Play *p) {
  HkError error = {0};
  return hk_json_text(throw_check(p, &error) < 0 ? error.text : "");
}

HkStatus describe_scene(Play *p, const HkJson *request, HkError *error) {
  const HkScene *scene = p->stage.scene;
  HkJson answer = answer_start(request), sets = hk_json_list();
  double stable = NAN;
  char *text;
  hk_sim_stable_step(p->stage.sim, p->stage.state, &stable, NULL);
  HkStatus status = hk_scene_format(scene, &text, error);
  if (status < 0) {
    hk_json_clear(&answer);
    return status;
  }
  for (int q = 0; q < p->set_count; q++) hk_json_append(&sets, hk_json_text(p->sets[q]));
  hk_json_add(&answer, "title", hk_json_text(scene->title ? scene->title : p->name));
  hk_json_add(&answer, "name", hk_json_text(p->name));
  hk_json_add(&answer, "scene", hk_json_text(text));
  hk_json_add(&answer, "sets", sets);
  describe_model(p, &answer);
  hk_json_add(&answer, "step", hk_json_real(hk_sim_h(p->stage.sim)));
  hk_json_add(&answer, "stable_step", hk_json_real(stable));
  hk_json_add(&answer, "stability", hk_json_text(hk_method_stability(hk_sim_method(p->stage.sim))));
  hk_json_add(&answer, "fps", hk_json_real(scene->time.frames_per_second));
  hk_json_add(&answer, "integrator", method_of(hk_sim_method(p->stage.sim)));
  hk_json_add(&answer, "forces", forces_of(p));
  hk_json_add(&answer, "pinned", hand_list(p));
  hk_json_add(&answer, "obstacles", obstacles_list(p));
  hk_json_add(&answer, "throw_refusal", refusal_of_throw(p));
  hk_json_add(&answer, "notes", lines_of(p->notes));
  hk_text_destroy(&text);
  return answer_text(p, &answer, error);
}
