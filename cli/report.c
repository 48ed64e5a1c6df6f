/* The printed summary of `hooke run`; see report.h. */
#include "report.h"

#include "describe.h"
#include "json.h"
#include "text.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void report_head(const RunReport *r) {
  const HkScene *scene = r->scene;
  const HkProgress *p = &r->start;
  double interval = 1 / scene->time.frames_per_second;
  printf("%s%s%s\n", r->name, scene->title ? ": " : "", scene->title ? scene->title : "");
  text_row(stdout, "bodies", "%d", r->model.bodies);
  text_row(stdout, "vertices", "%s, %s pinned", text_count(r->model.vertices).c,
           text_count(r->model.pinned).c);
  text_row(stdout, "springs", "%s", text_count(r->model.springs).c);
  describe_method(&r->method);
  text_row(stdout, "step", "%g s, %s a frame", p->h,
           text_count((int64_t)floor(interval / p->h + 0.5)).c);
  describe_stable_step(&r->method, p->stable_h);
  if (isfinite(scene->time.tolerance))
    text_row(stdout, "tolerance", "%g m, to which steps are halved", scene->time.tolerance);
  text_row(stdout, "frames", "%s, %g s at %g a second", text_count(p->frames).c, p->duration,
           scene->time.frames_per_second);
  if (p->frame > 0) text_row(stdout, "goes on at", "frame %s", text_count(p->frame).c);
  if (r->ranks) text_row(stdout, "ranks", "%d", r->ranks);
  text_row(stdout, "machine", "%d thread%s, %s", r->model.threads, r->model.threads > 1 ? "s" : "",
           r->model.vectors);
  text_row(stdout, "folder", "%s", r->folder);
  fflush(stdout);
}

/* ---- Files ----------------------------------------------------------------------------------- */

/* A command or program that opens the files of an output. */
typedef struct Opener {
  const char *output, *file, *how;
} Opener;

static const Opener openers[] = {
    {"energies", "energies.csv", "energies and momenta of each frame, for any spreadsheet"},
    {"probes", "probes.csv", "the probes at each frame, for any spreadsheet"},
    {"solver", "solver.csv", "how the steps of each frame were solved, for any spreadsheet"},
    {"reactions", "reactions.csv",
     "what holds each pin and rests on each obstacle, for any spreadsheet"},
    {"contacts", "contacts.pvd", "open in ParaView: paraview %s/contacts.pvd"},
    {"vtp", "vtp.pvd", "open in ParaView: paraview %s/vtp.pvd"},
    {"vtu", "vtu.pvd", "open in ParaView: paraview %s/vtu.pvd"},
    {"obj", "obj/", "one OBJ file a frame, for any 3D program"},
    {"pc2", "mesh.obj", "for Blender: import it, Mesh Cache modifier with mesh.pc2"},
};

static void print_files(const RunReport *r) {
  char path[4096];
  printf("  files in %s\n", r->folder);
  for (int q = 0; q < r->scene->output_count; q++) {
    const HkSchema *output = r->scene->outputs[q].schema;
    const Opener *known = NULL;
    for (size_t k = 0; k < sizeof openers / sizeof openers[0]; k++)
      if (strcmp(openers[k].output, output->name) == 0) known = &openers[k];
    if (known && strstr(known->how, "%s")) {
      int before = (int)(strstr(known->how, "%s") - known->how);
      text_quote(r->folder, known->how + before + 2, path, sizeof path);
      printf("    %-13s %.*s%s\n", known->file, before, known->how, path);
    } else {
      printf("    %-13s %s\n", known ? known->file : output->name,
             known ? known->how : output->summary);
    }
  }
  text_quote(r->folder, "/run.json", path, sizeof path);
  printf("    %-13s repeats all this: hooke run %s%s\n", "run.json", path,
         r->scene->context.libraries ? " --libraries" : "");
  if (!r->page) return;
  text_quote(r->folder, "/report.html", path, sizeof path);
  printf("    %-13s the motion and all plots in one page, for any browser: %s\n", "report.html",
         path);
}

static int compare_texts(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Lists the files of the folder, sorted, so that the same run prints the same text. */
static void list_files(Json *json, const char *folder) {
  char **names = NULL;
  size_t count = 0;
  DIR *dir = opendir(folder);
  for (struct dirent *e = dir ? readdir(dir) : NULL; e; e = readdir(dir)) {
    if (e->d_name[0] == '.') continue;
    char **grown = realloc(names, (count + 1) * sizeof *grown);
    if (!grown) break;
    names = grown;
    names[count] = strdup(e->d_name);
    if (names[count]) count++;
  }
  if (dir) closedir(dir);
  if (count) qsort(names, count, sizeof *names, compare_texts);
  put_begin(json, "files", '[');
  for (size_t q = 0; q < count; q++) {
    put_text(json, NULL, names[q]);
    free(names[q]);
  }
  put_end(json, ']');
  free(names);
}

/* ---- End ------------------------------------------------------------------------------------- */

static void print_energies(const HkStateInfo *r) {
  char time[40];
  snprintf(time, sizeof time, "t = %g s", r->time);
  printf("    %-13s %11.5g %11.5g %11.5g %11.5g %11.5g\n", time, r->kinetic, r->spring, r->gravity,
         r->other, r->total);
}

void report_end(const RunReport *r) {
  int64_t frames = r->end.frame - r->start.frame;
  double rate = r->seconds > 0 ? (double)r->end.steps / r->seconds : 0;
  if (frames == 0 && strcmp(r->status, "done") == 0)
    printf("done: 0 frames, all were there already; a larger time.duration goes on\n");
  else
    printf("%s: %s frame%s in %s\n", r->status, text_count(frames).c, frames == 1 ? "" : "s",
           text_duration(r->seconds).c);
  text_row(stdout, "steps", "%s, %s a second", text_count(r->end.steps).c, text_rate(rate).c);
  text_row(stdout, "springs", "%s updates a second", text_rate(rate * (double)r->model.springs).c);
  text_row(stdout, "clock", "%s in steps, %s in output", text_duration(r->end.stepping).c,
           text_duration(r->end.writing).c);
  if (r->end.stationary > 0)
    text_row(stdout, "stationary",
             "%s step%s: the equations are met to the tolerance, but it is not known whether the "
             "result is a minimum",
             text_count(r->end.stationary).c, r->end.stationary == 1 ? "" : "s");
  if (r->end.unconverged > 0)
    text_row(stdout, "not converged",
             "%s step%s: their equations are not met to the tolerance; the output solver says when",
             text_count(r->end.unconverged).c, r->end.unconverged == 1 ? "" : "s");
  if (r->contact && r->contacts > 0)
    text_row(stdout, "contacts", "%s at the end, the least gap is %.3g mm",
             text_count(r->contacts).c, 1000 * r->least_gap);
  else if (r->contact)
    text_row(stdout, "contacts", "none at the end");
  if (r->end.halvings > 0)
    text_row(stdout, "step", "halved %d times after blow-ups, now %g s", r->end.halvings, r->end.h);
  printf("  %-15s %11s %11s %11s %11s %11s\n", "energies in J", "kinetic", "spring", "gravity",
         "other", "total");
  print_energies(&r->first);
  if (r->whole) print_energies(&r->last);
  print_files(r);
  fflush(stdout);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void json_energies(Json *json, const char *key, const HkStateInfo *r) {
  put_begin(json, key, '{');
  put_number(json, "time", r->time);
  put_number(json, "kinetic", r->kinetic);
  put_number(json, "spring", r->spring);
  put_number(json, "gravity", r->gravity);
  put_number(json, "other", r->other);
  put_number(json, "total", r->total);
  put_number(json, "strain_min", r->strain_min);
  put_number(json, "strain_max", r->strain_max);
  put_number(json, "speed_max", r->speed_max);
  put_number(json, "dissipated", r->dissipated);
  put_end(json, '}');
}

static void json_contacts(Json *json, const RunReport *r) {
  put_begin(json, "contacts", '{');
  put_integer(json, "count", r->contacts);
  put_number(json, "least_gap", r->least_gap);
  put_number(json, "friction_work", r->friction_work);
  put_end(json, '}');
}

static void json_run(Json *json, const RunReport *r) {
  double seconds = r->seconds > 0 ? r->seconds : NAN, steps = (double)r->end.steps;
  put_text(json, "title", r->scene->title);
  describe_json(json, &r->method);
  if (r->ranks) put_integer(json, "ranks", r->ranks);
  put_integer(json, "threads", r->model.threads);
  put_text(json, "vectors", r->model.vectors);
  put_integer(json, "bodies", r->model.bodies);
  put_integer(json, "vertices", r->model.vertices);
  put_integer(json, "springs", r->model.springs);
  put_integer(json, "pinned", r->model.pinned);
  put_integer(json, "frame", r->end.frame);
  put_integer(json, "frames", r->end.frames);
  put_integer(json, "steps", r->end.steps);
  put_integer(json, "stationary", r->end.stationary);
  put_integer(json, "unconverged", r->end.unconverged);
  put_number(json, "step", r->end.h);
  put_number(json, "stable_step", r->end.stable_h);
  put_integer(json, "halvings", r->end.halvings);
  put_number(json, "duration", r->end.duration);
  put_number(json, "seconds", r->seconds);
  put_number(json, "stepping_seconds", r->end.stepping);
  put_number(json, "writing_seconds", r->end.writing);
  put_number(json, "steps_per_second", steps / seconds);
  put_number(json, "spring_updates_per_second", steps / seconds * (double)r->model.springs);
  json_energies(json, "first", &r->first);
  if (r->whole)
    json_energies(json, "last", &r->last);
  else
    put_text(json, "last", NULL);
  if (r->contact) json_contacts(json, r);
  list_files(json, r->folder);
}

void report_json(const RunReport *r, int exit_code) {
  Json json = {.file = stdout};
  put_begin(&json, NULL, '{');
  put_text(&json, "status", r->status);
  put_integer(&json, "exit_code", exit_code);
  put_text(&json, "message", r->message);
  put_text(&json, "scene", r->name);
  put_text(&json, "folder", r->folder);
  if (r->begun) json_run(&json, r);
  put_end(&json, '}');
  fputc('\n', stdout);
}
