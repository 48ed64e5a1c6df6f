/* Random scenes from the registries; see random_scene.h. */
#include "random_scene.h"

#include "base/schema.h"

/* Sizes that keep a step below a millisecond or so. */
enum { SIZE_SPAN = 4, LARGE_SPAN = 40, LARGE_PERCENT = 4, ITERATIONS_SPAN = 40, INTEGER_SPAN = 5 };
enum { GIVEN_PERCENT = 35, ROWS_MAX = 4 };

typedef struct Context {
  Draw *draw;
  bool live;         /* selections that every model has */
  bool conservative; /* no damping */
} Context;

/* ---- JSON ---- */

/* A comma unless a list or an object begins. */
static void comma(Draw *draw) {
  const char *text = draw_text(draw);
  size_t length = strlen(text);
  char last = length > 0 ? text[length - 1] : '[';
  if (last != '{' && last != '[') draw_note(draw, ", ");
}

static void key(Draw *draw, const char *name) {
  comma(draw);
  draw_note(draw, "\"%s\": ", name);
}

static void number(Draw *draw, double value) {
  draw_note(draw, "%.17g", value);
}

static void vector(Draw *draw, double size) {
  double x[3];
  for (int c = 0; c < 3; c++) x[c] = draw_chance(draw, 60) ? size * draw_number(draw, 0, 1) : 0;
  if (draw_chance(draw, 30)) x[draw_below(draw, 3)] *= -1;
  draw_note(draw, "[%.17g, %.17g, %.17g]", x[0], x[1], x[2]);
}

/* ---- Selections ---- */

static void indices(Draw *draw, const char *name) {
  draw_note(draw, "{\"%s\": [%d", name, draw_int(draw, 0, 3));
  for (DrawList list = {.max = 3}; draw_more(draw, &list);)
    draw_note(draw, ", %d", draw_int(draw, 0, 3));
  draw_note(draw, "]}");
}

static void selection(const Context *c) {
  static const char *const sets[] = {"top", "left", "corners", "boundary", "center", "ends"};
  Draw *draw = c->draw;
  switch (draw_below(draw, c->live ? 3 : 8)) {
  case 0: indices(draw, "vertices"); break;
  case 1: draw_note(draw, "{\"highest\": {\"axis\": \"y\", \"tolerance\": 1e-6}}"); break;
  case 2:
    draw_note(draw, "{\"nearest\": ");
    vector(draw, 1);
    draw_note(draw, "}");
    break;
  case 3: draw_note(draw, "{\"lowest\": {\"axis\": \"x\", \"tolerance\": 0.1}}"); break;
  case 4:
    draw_note(draw, "{\"sphere\": {\"center\": ");
    vector(draw, 1);
    draw_note(draw, ", \"radius\": %g}}", draw_decades(draw, -2, 1));
    break;
  case 5:
    draw_note(draw, "{\"box\": {\"min\": [-1, -1, -1], \"max\": ");
    vector(draw, 1);
    draw_note(draw, "}}");
    break;
  case 6: draw_note(draw, "\"%s\"", sets[draw_below(draw, sizeof sets / sizeof sets[0])]); break;
  default: draw_note(draw, "\"all\"");
  }
}

/* ---- Parameters ---- */

static void method(const Context *c, HkFamily family, const char *name);

/* Around the default over six decades, within the range. */
static void number_of(Draw *draw, const HkParam *p) {
  double size = fabs(p->default_value[0]), scale = size > 0 ? size : 1; /* NAN: 1 */
  double value = scale * draw_decades(draw, -3, 2);
  if (p->min < 0 && draw_chance(draw, 30)) value = -value;
  number(draw, fmin(fmax(value, p->min), p->max));
}

static void integer_of(Draw *draw, HkFamily family, const HkParam *p) {
  int span = strcmp(p->name, "iterations") == 0 ? ITERATIONS_SPAN : INTEGER_SPAN;
  if (family == HK_SHAPE) span = SIZE_SPAN;
  draw_note(draw, "%d", draw_int(draw, (int)p->min, (int)fmin(p->max, p->min + span)));
}

static void word_of(Draw *draw, const HkParam *p) {
  int count = 1;
  char word[64];
  for (const char *q = p->choices; *q; q++) count += *q == '|';
  hk_choice_word(p->choices, (int)draw_below(draw, (uint64_t)count), word, sizeof word);
  draw_note(draw, "\"%s\"", word);
}

/* Sizes of shapes are above 0. */
static void vector_of(Draw *draw, HkFamily family) {
  double size = draw_decades(draw, -1, 1);
  if (family == HK_SHAPE)
    draw_note(draw, "[%g, %g, %g]", size, size, 0.5 * size);
  else
    vector(draw, size);
}

/* The first column rises, as times do. */
static void table_of(Draw *draw, const HkParam *p) {
  double t = 0;
  draw_note(draw, "[");
  for (int row = 0, rows = draw_int(draw, 1, ROWS_MAX); row < rows; row++) {
    draw_note(draw, "%s[%.17g", row ? ", " : "", t);
    for (int q = 1; q < p->columns; q++) draw_note(draw, ", %.17g", draw_number(draw, 0, 1));
    draw_note(draw, "]");
    t += draw_decades(draw, -3, 0);
  }
  draw_note(draw, "]");
}

/* Counts decide what a case costs, and some methods need their selection or table. */
static bool is_always_given(const HkParam *p) {
  return p->kind == HK_PARAM_INTEGER || p->kind == HK_PARAM_SELECT || p->kind == HK_PARAM_TABLE;
}

static void parameter(const Context *c, HkFamily family, const HkParam *p) {
  Draw *draw = c->draw;
  if (p->kind == HK_PARAM_TEXT) return; /* names of files */
  if (c->conservative && strcmp(p->name, "damping") == 0) return;
  if (!is_always_given(p) && !draw_chance(draw, GIVEN_PERCENT)) return;
  key(draw, p->name);
  switch (p->kind) {
  case HK_PARAM_NUMBER: number_of(draw, p); break;
  case HK_PARAM_INTEGER: integer_of(draw, family, p); break;
  case HK_PARAM_BOOLEAN: draw_note(draw, draw_chance(draw, 50) ? "true" : "false"); break;
  case HK_PARAM_VECTOR: vector_of(draw, family); break;
  case HK_PARAM_CHOICE: word_of(draw, p); break;
  case HK_PARAM_TABLE: table_of(draw, p); break;
  case HK_PARAM_SELECT: selection(c); break;
  default: method(c, p->family, NULL);
  }
}

static void method(const Context *c, HkFamily family, const char *name) {
  const HkSchema *schema = name ? hk_schema_find(family, name) : NULL;
  if (!schema)
    schema = hk_schema_at(family, (int)draw_below(c->draw, (uint64_t)hk_schema_count(family)));
  draw_note(c->draw, "{\"type\": \"%s\"", schema->name);
  for (int q = 0; q < schema->param_count; q++) parameter(c, family, &schema->params[q]);
  draw_note(c->draw, "}");
}

void draw_method(Draw *draw, HkFamily family, const char *name) {
  method(&(Context){.draw = draw}, family, name);
}

void draw_force(Draw *draw, bool conservative, bool live) {
  static const char *const with_potential[] = {"gravity", "handle", "point_load"};
  const char *name = with_potential[draw_below(draw, 3)];
  /* The first force are the springs, which are always there; the last two are contact, which needs
   * positions without intersections (contact_scenes.h), and one that needs a library. */
  if (!conservative)
    name = hk_schema_at(HK_FORCE, draw_int(draw, 1, hk_schema_count(HK_FORCE) - 3))->name;
  method(&(Context){draw, live, conservative}, HK_FORCE, name);
}

void draw_motion(Draw *draw) {
  draw_method(draw, HK_MOTION, NULL);
}

/* ---- Scenes ---- */

static void springs(Draw *draw, const RandomSceneOptions *options) {
  key(draw, "springs");
  draw_note(draw, "{\"%s\": %g", draw_chance(draw, 30) ? "EA" : "k", draw_decades(draw, 0, 6));
  if (draw_chance(draw, 40)) draw_note(draw, ", \"shear\": true");
  if (draw_chance(draw, 40)) draw_note(draw, ", \"bending\": true");
  if (draw_chance(draw, 20)) draw_note(draw, ", \"k_bending\": %g", draw_decades(draw, -3, 3));
  if (draw_chance(draw, 20)) draw_note(draw, ", \"tension_only\": true");
  if (draw_chance(draw, 20)) draw_note(draw, ", \"rest_scale\": %g", draw_number(draw, 0.5, 1.5));
  double damping = draw_chance(draw, 25) ? draw_decades(draw, -3, 1) : 0;
  if (damping > 0 && !options->conservative) draw_note(draw, ", \"damping\": %g", damping);
  draw_note(draw, "}");
}

static void mass(Draw *draw) {
  static const char *const kinds[] = {"total", "per_vertex", "length_density", "area_density",
                                      "volume_density"};
  uint64_t kind = draw_chance(draw, 10) ? draw_below(draw, 5) : draw_below(draw, 2);
  key(draw, "mass");
  draw_note(draw, "{\"%s\": %g", kinds[kind], draw_decades(draw, -3, 2));
  if (draw_chance(draw, 20))
    draw_note(draw, ", \"added\": [[%d, %g]]", draw_int(draw, 0, 2), draw_decades(draw, -3, 2));
  draw_note(draw, "}");
}

static void body(Draw *draw, const RandomSceneOptions *options) {
  draw_note(draw, "{");
  key(draw, "shape");
  if (options->live || draw_chance(draw, LARGE_PERCENT)) { /* several blocks of a parallel loop */
    int span = options->live ? SIZE_SPAN : LARGE_SPAN;
    draw_note(draw, "{\"type\": \"grid\", \"nx\": %d, \"ny\": %d}", draw_int(draw, 2, 2 + span),
              draw_int(draw, 2, 2 + span));
  } else
    draw_method(draw, HK_SHAPE, NULL);
  springs(draw, options);
  if (options->live) {
    key(draw, "mass");
    draw_note(draw, "{\"per_vertex\": %g}", draw_decades(draw, -3, 1));
  } else
    mass(draw);
  static const char *const vectors[] = {"velocity", "spin"};
  for (int q = 0; q < 2; q++)
    if (draw_chance(draw, 25)) {
      key(draw, vectors[q]);
      vector(draw, draw_decades(draw, -1, 1));
    }
  if (draw_chance(draw, 25))
    draw_note(draw, ", \"stretch\": [%g, 1, 1]", draw_number(draw, 0.5, 1.5));
  if (draw_chance(draw, 5))
    draw_note(draw, ", \"contact\": false");
  else if (draw_chance(draw, 10))
    draw_note(draw, ", \"contact\": {\"thickness\": %g, \"self\": %s, \"friction\": %g}",
              draw_decades(draw, -4, -2), draw_chance(draw, 50) ? "true" : "false",
              draw_decades(draw, -2, 0));
  if (draw_chance(draw, 25)) {
    draw_note(draw, ", \"transform\": {\"translate\": ");
    vector(draw, draw_decades(draw, 0, 3));
    draw_note(draw, "}");
  }
  draw_note(draw, "}");
}

static void pins(Draw *draw, const RandomSceneOptions *options) {
  const Context c = {.draw = draw, .live = options->live};
  key(draw, "pins");
  draw_note(draw, "{\"method\": \"%s\", \"list\": [",
            draw_chance(draw, 20) ? "reaction" : "eliminate");
  int most = draw_chance(draw, 25) ? 2 : 1; /* two may select the same vertex, which is refused */
  for (DrawList list = {.max = most}; draw_more(draw, &list);) {
    comma(draw);
    draw_note(draw, "{\"select\": ");
    selection(&c);
    if (draw_chance(draw, 40)) {
      key(draw, "motion");
      draw_motion(draw);
    }
    if (!options->live && draw_chance(draw, 20))
      draw_note(draw, ", \"release\": %g", draw_decades(draw, -3, 0));
    draw_note(draw, "}");
  }
  draw_note(draw, "]}");
}

/* Those of files are refused: names of files are not drawn. */
static void obstacles(Draw *draw) {
  key(draw, "obstacles");
  draw_note(draw, "[");
  for (DrawList list = {.max = 2}; draw_more(draw, &list);) {
    comma(draw);
    const HkSchema *shape =
        hk_schema_at(HK_OBSTACLE, (int)draw_below(draw, (uint64_t)hk_schema_count(HK_OBSTACLE)));
    draw_note(draw, "{\"type\": \"%s\"", shape->name);
    const Context c = {.draw = draw};
    for (int q = 0; q < shape->param_count; q++) parameter(&c, HK_OBSTACLE, &shape->params[q]);
    if (draw_chance(draw, 30)) draw_note(draw, ", \"friction\": %g", draw_decades(draw, -2, 0));
    if (draw_chance(draw, 30)) draw_note(draw, ", \"two_sided\": true");
    if (draw_chance(draw, 10)) draw_note(draw, ", \"contact\": false");
    if (draw_chance(draw, 20)) draw_note(draw, ", \"name\": \"b%d\"", draw_int(draw, 0, 2));
    if (draw_chance(draw, 40)) {
      key(draw, "motion");
      draw_motion(draw);
    }
    draw_note(draw, "}");
  }
  draw_note(draw, "]");
}

/* Names of bodies, obstacles and nothing at all. */
static void pairs(Draw *draw) {
  static const char *const names[] = {"body0", "body1", "ground", "obstacle0", "b1", "nobody"};
  key(draw, "pairs");
  draw_note(draw, "[");
  for (DrawList list = {.max = 2}; draw_more(draw, &list);) {
    comma(draw);
    draw_note(draw, "{\"between\": [\"%s\", \"%s\"]", names[draw_below(draw, 6)],
              names[draw_below(draw, 6)]);
    if (draw_chance(draw, 50)) draw_note(draw, ", \"friction\": %g", draw_decades(draw, -2, 0));
    if (draw_chance(draw, 30)) draw_note(draw, ", \"contact\": false");
    draw_note(draw, "}");
  }
  draw_note(draw, "]");
}

void draw_scene(Draw *draw, const RandomSceneOptions *options) {
  draw_note(draw, "{\"outputs\": []");
  if (draw_chance(draw, 8)) draw_note(draw, ", \"dimension\": 2");
  if (draw_chance(draw, 15)) draw_note(draw, ", \"up\": \"z\"");
  draw_note(draw, ", \"time\": {\"step\": %g", draw_decades(draw, -4, -2));
  if (draw_chance(draw, 8) && !options->fixed_step)
    draw_note(draw, ", \"tolerance\": %g", draw_decades(draw, -3, 0));
  draw_note(draw, "}");
  key(draw, "integrator");
  draw_method(draw, HK_STEP, options->integrator);
  key(draw, "bodies");
  draw_note(draw, "[");
  body(draw, options);
  for (DrawList list = {.max = options->live ? 0 : 1}; draw_more(draw, &list);) {
    comma(draw);
    body(draw, options);
  }
  draw_note(draw, "]");
  pins(draw, options);
  if (!options->live && draw_chance(draw, 30)) obstacles(draw);
  if (!options->live && draw_chance(draw, 10)) pairs(draw);
  key(draw, "forces");
  draw_note(draw, "[");
  for (DrawList list = {.max = 3}; draw_more(draw, &list);) {
    comma(draw);
    draw_force(draw, options->conservative, options->live);
  }
  draw_note(draw, "]}");
}
