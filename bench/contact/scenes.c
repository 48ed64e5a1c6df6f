/* The scenes of scenes.h. */
#include "scenes.h"

#include "model/state.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Degrees a second by which each end of the twisted sheet turns. */
static const double TWIST_SPEED = 144;

enum { TEXT_MAX = 1 << 16 };

typedef struct Text {
  char text[TEXT_MAX];
  size_t length;
} Text;

__attribute__((format(printf, 2, 3))) static void put(Text *t, const char *format, ...) {
  va_list values;
  va_start(values, format);
  int count = vsnprintf(t->text + t->length, TEXT_MAX - t->length, format, values);
  va_end(values);
  t->length += (size_t)count;
  if (t->length >= TEXT_MAX) t->length = TEXT_MAX - 1; /* the parser then finds no end */
}

static void put_sheet(Text *t, int number, int side, double width, double angle, const double at[3],
                      const char *more) {
  put(t,
      "%s{'name': 'sheet%d', 'shape': {'type': 'grid', 'nx': %d, 'ny': %d, 'width': %g, 'height': "
      "%g, 'plane': 'xz', 'cells': 'triangles', 'centered': true}, 'transform': {'axis': [0, 1, "
      "0], 'angle': %g, 'translate': [%g, %g, %g]}, 'springs': {'EA': 4, 'shear': true, "
      "'EA_shear': 1.5, 'bending': true, 'EA_bending': 0.1}, 'mass': {'area_density': 0.2}%s}",
      number ? "," : "", number, side, side, width, width, angle, at[0], at[1], at[2], more);
}

static void put_stack(Text *t, const SceneChoice *c, int sheets, double first, double spacing,
                      const char *more) {
  for (int k = 0; k < sheets; k++) {
    const double at[3] = {0.003 * (k % 5), first + spacing * k, 0.002 * (k % 5)};
    put_sheet(t, k, c->side, 0.5, 17 * k, at, more);
  }
}

static void put_bodies(Text *t, const SceneChoice *c) {
  const double above[3] = {0.013, 0.16, 0.007}, middle[3] = {0.013, 0, 0.007}, none[3] = {0};
  if (c->scene == SCENE_STACK)
    put_stack(t, c, 5, 0.003, 0.003, "");
  else if (c->scene == SCENE_REST)
    put_stack(t, c, 5, 0.0014, 0.0019, "");
  else if (c->scene == SCENE_LARGE)
    put_stack(t, c, c->sheets, 0.105, 0.0025, ", 'velocity': [0, -1, 0]");
  else
    put_sheet(t, 0, c->side, 1, 0,
              c->scene == SCENE_SPHERE  ? above
              : c->scene == SCENE_DRAPE ? middle
                                        : none,
              "");
}

static void put_pins(Text *t, const SceneChoice *c) {
  if (c->scene == SCENE_DRAPE)
    put(t, ", 'pins': [{'select': {'sphere': {'center': [0, 0, 0], 'radius': 0.15}}}]");
  if (c->scene != SCENE_TWIST) return;
  put(t, ", 'pins': [");
  for (int end = 0; end < 2; end++)
    put(t,
        "%s{'select': '%s', 'motion': {'type': 'rotation', 'axis': [1, 0, 0], 'speed': %g, "
        "'angle': 180}}",
        end ? "," : "", end ? "right" : "left", end ? -TWIST_SPEED : TWIST_SPEED);
  put(t, "]");
}

static void put_contact(Text *t, const SceneChoice *c) {
  if (!c->contact) return;
  put(t, ", {'type': 'contact', 'thickness': 1e-3, 'distance': 1e-3, 'untangle': true");
  if (c->scene == SCENE_SPHERE) put(t, ", 'ground': true, 'height': -0.3");
  if (c->scene == SCENE_STACK || c->scene == SCENE_REST) put(t, ", 'ground': true, 'height': 0");
  put(t, "}");
}

static void put_obstacles(Text *t, const SceneChoice *c) {
  if (!c->contact) return;
  if (c->scene == SCENE_SPHERE)
    put(t, ", 'obstacles': [{'type': 'ball', 'center': [0, 0, 0], 'radius': 0.15}]");
  if (c->scene == SCENE_LARGE)
    put(t, ", 'obstacles': [{'type': 'cylinder', 'from': [-0.4, 0, 0], 'to': [0.4, 0, 0], "
           "'radius': 0.1}]");
}

static void put_scene(Text *t, const SceneChoice *c) {
  put(t, "{'bodies': [");
  put_bodies(t, c);
  put(t, "]");
  put_pins(t, c);
  put_obstacles(t, c);
  put(t, ", 'forces': [%s{'type': 'drag', 'per_mass': 0.5}",
      c->scene == SCENE_TWIST ? "" : "'gravity', ");
  put_contact(t, c);
  put(t,
      "], 'time': {'duration': 10, 'step': %g}, 'integrator': {'type': 'backward_euler', "
      "'minimizer': {'type': 'newton', 'iterations': 100, 'tolerance': %g, 'linear': {'type': "
      "'pcg', 'preconditioner': 'multigrid'}}}}",
      CONTACT_STEP, c->tolerance);
  for (size_t q = 0; q < t->length; q++)
    if (t->text[q] == '\'') t->text[q] = '"';
}

SceneFacts scene_facts(SceneName scene) {
  static const SceneFacts facts[SCENE_COUNT] = {{"sphere", 1, 36}, {"stack", 5, 4},
                                                {"twist", 1, 40},  {"drape", 1, 44},
                                                {"rest", 5, 20},   {"large", 50, 0}};
  return facts[scene];
}

const char *scene_text(const SceneChoice *choice) {
  static Text text;
  text.length = 0;
  put_scene(&text, choice);
  return text.text;
}

HkStatus world_make(World *w, const SceneChoice *choice, HkError *error) {
  HkContext context = hk_context_default();
  const char *name = scene_facts(choice->scene).name;
  context.threads = choice->threads;
  *w = (World){0};
  const char *text = scene_text(choice);
  HkStatus status =
      hk_scene_parse(&context, text, strlen(text), name, NULL, NULL, 0, &w->scene, error);
  if (status >= 0) status = hk_model_compile(w->scene, &w->model, error);
  if (status >= 0) status = hk_sim_create(w->model, NULL, CONTACT_STEP, &w->sim, error);
  if (status >= 0) status = hk_state_create(w->model, &w->state, error);
  return status;
}

void world_destroy(World *w) {
  hk_state_destroy(&w->state);
  hk_sim_destroy(&w->sim);
  hk_model_destroy(&w->model);
  hk_scene_destroy(&w->scene);
}

void world_copy(const HkState *from, HkState *to) {
  size_t bytes = (size_t)from->n * 3 * sizeof(double);
  to->time = from->time;
  to->steps = from->steps;
  memcpy(to->x, from->x, bytes);
  memcpy(to->v, from->v, bytes);
  if (from->pin_count == to->pin_count && from->pin_count > 0)
    memcpy(to->pin_held, from->pin_held, (size_t)from->pin_count);
  bool history = from->v_old && to->v_old && from->x_old && to->x_old;
  to->h_old = history ? from->h_old : 0;
  if (!history) return;
  memcpy(to->x_old, from->x_old, bytes);
  memcpy(to->v_old, from->v_old, bytes);
}

/* The two coarse vertices whose mean is the fine vertex (i, j). Diagonals alternate as in
 * mesh/shapes/grid.c. */
static void parents(int i, int j, int side, int64_t pair[2]) {
  int64_t q = i / 2 + (int64_t)side * (j / 2);
  bool right = i % 2, up = j % 2, odd = (i / 2 + j / 2) % 2;
  pair[0] = right && up && odd ? q + 1 : q;
  pair[1] = right && up && odd ? q + side : q + right + (up ? side : 0);
}

static void refine(const double *from, int side, int sheets, double *to) {
  int fine = 2 * side - 1;
  for (int64_t s = 0; s < sheets; s++, from += 3 * (int64_t)side * side)
    for (int j = 0; j < fine; j++)
      for (int i = 0; i < fine; i++, to += 3) {
        int64_t pair[2];
        parents(i, j, side, pair);
        for (int c = 0; c < 3; c++) to[c] = 0.5 * (from[3 * pair[0] + c] + from[3 * pair[1] + c]);
      }
}

void world_refine(const HkState *coarse, int side, int sheets, HkState *fine) {
  fine->time = coarse->time;
  fine->steps = coarse->steps;
  fine->h_old = 0;
  refine(coarse->x, side, sheets, fine->x);
  refine(coarse->v, side, sheets, fine->v);
}

void world_twist(World *w, double time) {
  const double WIDTH = 1, radians = 3.14159265358979323846 / 180;
  HkState *s = w->state;
  s->time = time;
  for (int64_t v = 0; v < s->n; v++) {
    double *x = s->x + 3 * v, *u = s->v + 3 * v;
    double part = -2 * x[0] / WIDTH; /* 1 at the left end, -1 at the right one */
    double angle = part * TWIST_SPEED * radians * time, z = x[2];
    double off = 1e-4 * sin(12.9898 * (double)v) * (1 - part * part); /* out of the helicoid */
    x[1] = -sin(angle) * z + off * cos(angle);
    x[2] = cos(angle) * z + off * sin(angle);
    u[0] = 0;
    u[1] = -part * TWIST_SPEED * radians * x[2];
    u[2] = part * TWIST_SPEED * radians * x[1];
  }
}
