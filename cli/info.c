/* hooke info: what a scene or a mesh file holds. One step of a scene is made: the first step
 * allocates factorizations and other workspaces, so that the memory of a run is known. */
#include "cells.h"
#include "command.h"
#include "describe.h"
#include "hooke/run.h"
#include "json.h"
#include "source.h"
#include "text.h"

#include <math.h>
#include <string.h>

typedef struct Settings {
  TextList sets;
  bool libraries, json;
} Settings;

static const Option options[] = {
    OPTION_LIST(Settings, sets, 's', "--set", "PATH=VALUE",
                "set a value of the scene first; may be repeated"),
    OPTION_LIBRARIES(Settings),
    OPTION_FLAG(Settings, json, 0, "--json", "print one JSON object instead of text"),
};

/* ---- Scenes ---------------------------------------------------------------------------------- */

typedef struct SceneFacts {
  const char *name;
  const HkScene *scene;
  const HkModel *bodies;
  const HkMethod *method;
  HkModelInfo model;
  HkProgress plan;
  size_t state_bytes, work_bytes;
} SceneFacts;

static double all_bytes(const SceneFacts *f) {
  return (double)f->model.bytes + (double)f->state_bytes + (double)f->work_bytes;
}

static void print_methods(const char *label, const HkMethod *methods, int count) {
  printf("  %-13s ", label);
  for (int q = 0; q < count; q++) printf("%s%s", q ? ", " : "", methods[q].schema->name);
  printf("%s\n", count ? "" : "none");
}

static void print_obstacles(const HkScene *scene) {
  if (scene->obstacle_count == 0) return;
  printf("  %-13s ", "obstacles");
  for (int q = 0; q < scene->obstacle_count; q++)
    printf("%s%s", q ? ", " : "", scene->obstacles[q].shape.schema->name);
  printf("\n");
}

/* Thickness against the edges of each body, and what it touches with. */
static void print_touching(const HkModel *model, const HkScene *scene) {
  HkContactInfo c;
  for (int q = 0; hk_model_contact(model, q, &c); q++) {
    const char *label = q == 0 ? "contact" : "";
    bool body = q < scene->body_count;
    if (!c.touches)
      text_row(stdout, label, "%s touches nothing", c.name);
    else if (body)
      text_row(stdout, label, "%s: thickness %g m, edges from %g m, mean %g m, ratio %.3g%s",
               c.name, c.thickness, c.edge_min, c.edge_mean, c.thickness / c.edge_min,
               c.self ? "" : ", not itself");
    else if (c.points > 0)
      text_row(stdout, label, "%s: radius %g m", c.name, 0.5 * c.thickness);
    else
      text_row(stdout, label, "%s: touches vertices", c.name);
    if (c.triangles + c.edges + c.points > 0)
      text_row(stdout, "", "  %s triangles, %s edges, %s points", text_count(c.triangles).c,
               text_count(c.edges).c, text_count(c.points).c);
    if (body && c.touches && c.thickness >= c.edge_min)
      text_row(stdout, "", "  thicker than its shortest edge: it can touch others, but not itself");
  }
}

/* Coefficients of friction of each, and of the pairs that the scene lists. */
static void print_friction(const HkModel *model, const HkScene *scene) {
  HkContactInfo c, d;
  for (int q = 0; hk_model_contact(model, q, &c); q++)
    text_row(stdout, q == 0 ? "friction" : "", "%s: %g, sliding %g", c.name, c.friction,
             c.friction_kinetic);
  for (int q = 0; hk_model_contact(model, q, &c); q++)
    for (int r = q; hk_model_contact(model, r, &d); r++) {
      double rest, slide;
      bool listed = false, touch = hk_model_friction(model, q, r, &rest, &slide);
      for (int p = 0; p < scene->pair_count; p++) {
        const char *const *n = scene->pairs[p].between;
        listed |= (strcmp(n[0], c.name) == 0 && strcmp(n[1], d.name) == 0) ||
                  (strcmp(n[1], c.name) == 0 && strcmp(n[0], d.name) == 0);
      }
      if (listed && touch)
        text_row(stdout, "", "%s and %s: %g, sliding %g", c.name, d.name, rest, slide);
      else if (listed)
        text_row(stdout, "", "%s and %s: no contact", c.name, d.name);
    }
}

static void print_box(const double *min, const double *max) {
  for (int c = 0; c < 3; c++)
    text_row(stdout, c == 0 ? "box" : "", "%c from %g to %g m", "xyz"[c], min[c], max[c]);
}

/* Prints "name (count)" of all sets, as many on a line as fit. */
static void print_sets(const HkModel *model, int body) {
  const char *set;
  int64_t count;
  int used = 0;
  for (int q = 0; (set = hk_model_set_name(model, body, q, &count)); q++) {
    char text[128];
    int length = snprintf(text, sizeof text, "%s (%s)", set, text_count(count).c);
    bool wraps = q > 0 && used + length + 2 > 62;
    if (q > 0) printf(wraps ? ",\n" : ", ");
    if (q == 0 || wraps) printf("  %-13s ", q == 0 ? "sets" : "");
    used = wraps || q == 0 ? length : used + length + 2;
    printf("%s", text);
  }
  if (used > 0) printf("\n");
}

static void print_bodies(const SceneFacts *f) {
  const char *name;
  int64_t count;
  for (int b = 0; (name = hk_model_body(f->bodies, b, NULL, &count)); b++) {
    text_row(stdout, "body", "%s, %s vertices", name, text_count(count).c);
    print_sets(f->bodies, b);
  }
}

static void print_time(const SceneFacts *f) {
  const HkTime *time = &f->scene->time;
  double steps = floor(1 / time->frames_per_second / f->plan.h + 0.5);
  const char *picked = time->default_step <= f->plan.stable_h ? ", the default of the scene"
                       : isinf(f->plan.stable_h) ? ", since there is no largest stable one"
                                                 : ", picked by stability";
  describe_method(f->method);
  describe_stable_step(f->method, f->plan.stable_h);
  text_row(stdout, "step", "%g s, %s a frame%s", f->plan.h, text_count((int64_t)steps).c,
           time->step > 0 ? "" : picked);
  if (isfinite(time->tolerance))
    text_row(stdout, "tolerance", "%g m, to which steps are halved", time->tolerance);
  text_row(stdout, "frames", "%s, %g s at %g a second", text_count(f->plan.frames).c,
           f->plan.duration, time->frames_per_second);
}

static void print_memory(const SceneFacts *f) {
  const HkModelInfo *m = &f->model;
  double all = all_bytes(f);
  text_row(stdout, "memory", "%s model, %s state, %s workspace", text_bytes(m->bytes).c,
           text_bytes(f->state_bytes).c, text_bytes(f->work_bytes).c);
  if (m->springs > 0)
    text_row(stdout, "in all", "%s, %.0f bytes a vertex, %.0f a spring", text_bytes((size_t)all).c,
             all / (double)m->vertices, all / (double)m->springs);
  else
    text_row(stdout, "in all", "%s, %.0f bytes a vertex", text_bytes((size_t)all).c,
             all / (double)m->vertices);
}

static void print_scene(const SceneFacts *f) {
  const HkModelInfo *m = &f->model;
  const char *title = f->scene->title;
  printf("%s%s%s\n", f->name, title ? ": " : "", title ? title : "");
  print_bodies(f);
  text_row(stdout, "vertices", "%s", text_count(m->vertices).c);
  text_row(stdout, "springs", "%s", text_count(m->springs).c);
  text_row(stdout, "faces", "%s", text_count(m->faces).c);
  text_row(stdout, "dimension", "%d", m->dimension);
  print_box(m->box_min, m->box_max);
  text_row(stdout, "mass", "%g kg", m->mass);
  text_row(stdout, "of a vertex", "%s", text_range(m->mass_min, m->mass_max, "kg").c);
  if (m->springs > 0) {
    text_row(stdout, "stiffness", "%s", text_range(m->k_min, m->k_max, "N/m").c);
    text_row(stdout, "rest lengths", "%s", text_range(m->length_min, m->length_max, "m").c);
  }
  text_row(stdout, "pins", "%d, on %s vertices%s", f->scene->pin_count, text_count(m->pinned).c,
           f->scene->pin_method == HK_PINS_REACTION ? ", by reaction" : "");
  print_obstacles(f->scene);
  print_methods("forces", f->scene->forces, f->scene->force_count);
  print_touching(f->bodies, f->scene);
  print_friction(f->bodies, f->scene);
  print_time(f);
  print_methods("outputs", f->scene->outputs, f->scene->output_count);
  print_memory(f);
}

static void json_methods(Json *json, const char *key, const HkMethod *methods, int count) {
  put_begin(json, key, '[');
  for (int q = 0; q < count; q++) put_text(json, NULL, methods[q].schema->name);
  put_end(json, ']');
}

static void json_obstacles(Json *json, const HkScene *scene) {
  put_begin(json, "obstacles", '[');
  for (int q = 0; q < scene->obstacle_count; q++)
    put_text(json, NULL, scene->obstacles[q].shape.schema->name);
  put_end(json, ']');
}

static void json_contact(Json *json, const HkModel *model) {
  HkContactInfo c;
  put_begin(json, "contact", '[');
  for (int q = 0; hk_model_contact(model, q, &c); q++) {
    put_begin(json, NULL, '{');
    put_text(json, "name", c.name);
    put_text(json, "touches", c.touches ? c.self ? "all" : "others" : "nothing");
    put_number(json, "thickness", c.thickness);
    put_number(json, "shortest_edge", c.edge_min);
    put_number(json, "mean_edge", c.edge_mean);
    put_integer(json, "points", c.points);
    put_integer(json, "edges", c.edges);
    put_integer(json, "triangles", c.triangles);
    put_number(json, "friction", c.friction);
    put_number(json, "friction_kinetic", c.friction_kinetic);
    put_end(json, '}');
  }
  put_end(json, ']');
}

static void json_bodies(Json *json, const HkModel *model) {
  const char *name, *set;
  int64_t count;
  put_begin(json, "bodies", '[');
  for (int b = 0; (name = hk_model_body(model, b, NULL, &count)); b++) {
    put_begin(json, NULL, '{');
    put_text(json, "name", name);
    put_integer(json, "vertices", count);
    put_begin(json, "sets", '{');
    for (int q = 0; (set = hk_model_set_name(model, b, q, &count)); q++)
      put_integer(json, set, count);
    put_end(json, '}');
    put_end(json, '}');
  }
  put_end(json, ']');
}

static void json_scene(const SceneFacts *f) {
  const HkModelInfo *m = &f->model;
  Json json = {.file = stdout};
  put_begin(&json, NULL, '{');
  put_text(&json, "scene", f->name);
  put_text(&json, "title", f->scene->title);
  json_bodies(&json, f->bodies);
  put_integer(&json, "vertices", m->vertices);
  put_integer(&json, "springs", m->springs);
  put_integer(&json, "faces", m->faces);
  put_integer(&json, "dimension", m->dimension);
  put_numbers(&json, "box_min", m->box_min, 3);
  put_numbers(&json, "box_max", m->box_max, 3);
  put_number(&json, "mass", m->mass);
  put_numbers(&json, "mass_range", (double[]){m->mass_min, m->mass_max}, 2);
  put_numbers(&json, "stiffness_range", (double[]){m->k_min, m->k_max}, 2);
  put_numbers(&json, "rest_length_range", (double[]){m->length_min, m->length_max}, 2);
  put_integer(&json, "pins", f->scene->pin_count);
  put_integer(&json, "pinned", m->pinned);
  json_obstacles(&json, f->scene);
  json_methods(&json, "forces", f->scene->forces, f->scene->force_count);
  json_contact(&json, f->bodies);
  describe_json(&json, f->method);
  put_number(&json, "stable_step", f->plan.stable_h);
  put_number(&json, "step", f->plan.h);
  put_integer(&json, "frames", f->plan.frames);
  put_number(&json, "duration", f->plan.duration);
  json_methods(&json, "outputs", f->scene->outputs, f->scene->output_count);
  put_integer(&json, "model_bytes", (int64_t)m->bytes);
  put_integer(&json, "state_bytes", (int64_t)f->state_bytes);
  put_integer(&json, "workspace_bytes", (int64_t)f->work_bytes);
  put_number(&json, "bytes_per_vertex", all_bytes(f) / (double)m->vertices);
  put_number(&json, "bytes_per_spring", m->springs ? all_bytes(f) / (double)m->springs : NAN);
  put_end(&json, '}');
  fputc('\n', stdout);
}

/* Makes a step from the start, so that all memory of a run is allocated, and returns the bytes of
 * the state. A step that fails prints a message and does not end the command. */
static size_t try_step(const HkContext *context, HkRun *run) {
  HkError error = {0};
  HkState *state;
  HkStatus status = hk_state_create(hk_run_model(run), &state, &error);
  if (status >= 0) status = hk_sim_step(hk_run_sim(run), state, &error);
  char text[sizeof error.text + 64];
  snprintf(text, sizeof text, "the first step fails: %s", error.text);
  if (status < 0) context->log(context->log_user, HK_LOG_WARNING, text);
  size_t bytes = hk_state_bytes(state ? state : hk_run_state(run));
  hk_state_destroy(&state);
  return bytes;
}

static int show_scene(const HkContext *context, const Settings *settings, const char *name) {
  HkError error = {0};
  HkScene *scene;
  HkRun *run = NULL;
  HkRunOptions nothing_written = hk_run_options_default();
  HkStatus status = source_read(context, name, &settings->sets, &scene, &error);
  if (status >= 0) status = hk_run_create(scene, &nothing_written, &run, &error);
  if (status >= 0) {
    size_t state_bytes = try_step(context, run);
    SceneFacts facts = {name,
                        scene,
                        hk_run_model(run),
                        hk_sim_method(hk_run_sim(run)),
                        hk_model_info(hk_run_model(run)),
                        hk_run_progress(run),
                        state_bytes,
                        hk_sim_bytes(hk_run_sim(run))};
    if (settings->json)
      json_scene(&facts);
    else
      print_scene(&facts);
  }
  hk_run_destroy(&run);
  hk_scene_destroy(&scene);
  return status < 0 ? complain_of(&error) : EXIT_GOOD;
}

/* ---- Meshes ---------------------------------------------------------------------------------- */

static void bounding_box(HkMesh *mesh, double *min, double *max) {
  const double *x = hk_mesh_vertices(mesh);
  for (int c = 0; c < 3; c++) {
    min[c] = INFINITY;
    max[c] = -INFINITY;
  }
  for (int64_t q = 0; q < 3 * hk_mesh_vertex_count(mesh); q++) {
    if (x[q] < min[q % 3]) min[q % 3] = x[q];
    if (x[q] > max[q % 3]) max[q % 3] = x[q];
  }
}

static void print_mesh(const char *name, HkMesh *mesh) {
  int64_t cells[CELL_TYPES], count;
  double min[3], max[3];
  bounding_box(mesh, min, max);
  cells_count(mesh, cells);
  printf("%s\n", name);
  text_row(stdout, "vertices", "%s", text_count(hk_mesh_vertex_count(mesh)).c);
  for (int q = 0; q < CELL_TYPES; q++)
    if (cells[q] > 0) text_row(stdout, cells_name(q), "%s", text_count(cells[q]).c);
  print_box(min, max);
  for (int q = 0; q < hk_mesh_set_count(mesh); q++) {
    const char *set = hk_mesh_set_name(mesh, q);
    hk_mesh_set(mesh, set, &count);
    text_row(stdout, q == 0 ? "sets" : "", "%s, %s vertices", set, text_count(count).c);
  }
}

static void json_mesh(const char *name, HkMesh *mesh) {
  Json json = {.file = stdout};
  int64_t cells[CELL_TYPES], count;
  double min[3], max[3];
  bounding_box(mesh, min, max);
  cells_count(mesh, cells);
  put_begin(&json, NULL, '{');
  put_text(&json, "mesh", name);
  put_integer(&json, "vertices", hk_mesh_vertex_count(mesh));
  put_begin(&json, "cells", '{');
  for (int q = 0; q < CELL_TYPES; q++)
    if (cells[q] > 0) put_integer(&json, cells_name(q), cells[q]);
  put_end(&json, '}');
  put_numbers(&json, "box_min", min, 3);
  put_numbers(&json, "box_max", max, 3);
  put_begin(&json, "sets", '{');
  for (int q = 0; q < hk_mesh_set_count(mesh); q++) {
    const char *set = hk_mesh_set_name(mesh, q);
    hk_mesh_set(mesh, set, &count);
    put_integer(&json, set, count);
  }
  put_end(&json, '}');
  put_end(&json, '}');
  fputc('\n', stdout);
}

static int show_mesh(const HkContext *context, const Settings *settings, const char *path) {
  HkError error = {0};
  HkMesh *mesh;
  if (settings->sets.count > 0)
    return complain(EXIT_USAGE, "--set is for scenes, %s is a mesh", path);
  if (hk_mesh_read(context, path, &mesh, &error) < 0) return complain_of(&error);
  if (settings->json)
    json_mesh(path, mesh);
  else
    print_mesh(path, mesh);
  hk_mesh_destroy(&mesh);
  return EXIT_GOOD;
}

static int run(const void *chosen, char **words, int word_count) {
  const Settings *settings = chosen;
  (void)word_count;
  HkContext context = hk_context_default();
  context.log = text_log;
  context.libraries = settings->libraries;
  return source_is_mesh(words[0]) ? show_mesh(&context, settings, words[0])
                                  : show_scene(&context, settings, words[0]);
}

const Command command_info = {
    .name = "info",
    .arguments = "SCENE|MESH",
    .summary = "describe a scene or a mesh",
    .text = "Of a scene: counts, sizes, masses, stiffness, the largest stable step and the "
            "memory it takes. Of a mesh file, known by its ending: vertices, cells, sets. "
            "Makes one step, so that the memory is that of a run. Writes no file.",
    .examples = "  hooke info flag\n"
                "  hooke info my.json --set 'bodies[0].springs.k=1e5'\n"
                "  hooke info bunny.obj\n"
                "  hooke info my.json --json\n",
    COMMAND_OPTIONS(Settings, options),
    .least = 1,
    .most = 1,
    .words = WORDS_SCENE_FILE,
    .run = run,
};
