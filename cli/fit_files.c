/* The files of `hooke fit`; see fit_files.h.
 *
 *     scene.json     the scene with what was found; runs as it is: hooke run DIR/scene.json
 *     springs0.csv   rows 'i j k l0 damping' of body 0, if numbers of springs were fitted
 *     loss.csv       stage,frames,iteration,evaluations,seconds,rms,gradient
 *     report.html    a page for any browser
 */
#include "fit_files.h"

#include "plot.h"
#include "target.h"
#include "text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Files ----------------------------------------------------------------------------------- */

typedef struct Out {
  Target target;
  FILE *file;
} Out;

static HkStatus out_open(Out *out, const char *folder, const char *name, HkError *error) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  if (target_open(&out->target, path, error) < 0) return HK_ERROR_IO;
  out->file = fopen(out->target.temporary, "w");
  if (out->file) return HK_OK;
  text_fail(error, HK_ERROR_IO, "%s: cannot write: %s", path, strerror(errno));
  return HK_ERROR_IO;
}

static HkStatus out_close(Out *out, HkError *error) {
  bool good = fflush(out->file) == 0 && !ferror(out->file);
  int why = errno;
  good = fclose(out->file) == 0 && good;
  if (good) return target_commit(&out->target, error);
  target_abandon(&out->target);
  return text_fail(error, HK_ERROR_IO, "%s: cannot write: %s", out->target.path, strerror(why));
}

/* ---- Scene ----------------------------------------------------------------------------------- */

static bool fits_springs(const FitNumbers *numbers) {
  return numbers->springs[FIT_K] || numbers->springs[FIT_L0] || numbers->springs[FIT_DAMPING];
}

static double spring_value(const FitNumbers *numbers, int s, const double *of_model, int64_t k) {
  return numbers->springs[s] ? numbers->springs[s][k] : of_model[k];
}

static HkStatus write_springs(const FitResult *r, int body, const char *name, HkError *error) {
  const FitNumbers *numbers = r->motion->numbers;
  HkSpringView view = hk_model_springs(r->motion->model);
  int64_t first, count;
  Out out = {.file = NULL};
  hk_model_body(r->motion->model, body, &first, &count);
  HkStatus status = out_open(&out, r->folder, name, error);
  if (status < 0) return status;
  fprintf(out.file, "# i j k l0 damping: springs of body %d, in N/m, m and N s/m\n", body);
  for (int64_t s = 0; s < view.count; s++) {
    if (view.i[s] < first || view.i[s] >= first + count) continue;
    fprintf(out.file, "%lld %lld %.17g %.17g %.17g\n", (long long)(view.i[s] - first),
            (long long)(view.j[s] - first), spring_value(numbers, FIT_K, view.k, s),
            spring_value(numbers, FIT_L0, view.l0, s),
            view.damping ? spring_value(numbers, FIT_DAMPING, view.damping, s) : 0);
  }
  return out_close(&out, error);
}

/* The name of a file that the scene finds from any folder; NULL: out of memory. */
static char *absolute(const char *folder, const char *name) {
  char joined[4096];
  if (name[0] == '/') return strdup(name);
  snprintf(joined, sizeof joined, "%s/%s", folder && folder[0] ? folder : ".", name);
  char *path = realpath(joined, NULL);
  return path ? path : strdup(name);
}

/* Makes the parameter "file" of a method absolute, if it has one. */
static HkStatus free_of_folder(const HkScene *scene, HkMethod *method, HkError *error) {
  for (int q = 0; method->schema && q < method->schema->param_count; q++) {
    const HkParam *p = &method->schema->params[q];
    if (p->kind != HK_PARAM_TEXT || strcmp(p->name, "file") != 0) continue;
    const char *name = *(const char *const *)((const char *)method->params + p->offset);
    char *path = name ? absolute(scene->folder, name) : NULL;
    HkStatus status = path ? hk_method_set_text(method, "file", path, error) : HK_OK;
    free(path);
    if (status < 0) return status;
  }
  return HK_OK;
}

static HkStatus no_memory(HkError *error) {
  text_fail(error, HK_ERROR_MEMORY, "out of memory for the scene");
  return HK_ERROR_MEMORY;
}

static HkStatus free_bodies(HkScene *scene, const FitNumbers *numbers, char **kept,
                            HkError *error) {
  for (int b = 0; b < scene->body_count; b++) {
    HkBody *body = &scene->bodies[b];
    if (body->mesh_file) {
      kept[2 * b] = absolute(scene->folder, body->mesh_file);
      body->mesh_file = kept[2 * b];
    }
    if (fits_springs(numbers)) {
      char name[32];
      snprintf(name, sizeof name, "springs%d.csv", b);
      kept[2 * b + 1] = strdup(name);
    } else if (body->springs.file) {
      kept[2 * b + 1] = absolute(scene->folder, body->springs.file);
    } else {
      continue;
    }
    if (!kept[2 * b + 1]) return no_memory(error);
    body->springs.file = kept[2 * b + 1];
    if (fits_springs(numbers)) body->springs.table.rows = 0; /* the file has its springs, too */
  }
  return HK_OK;
}

static HkStatus free_methods(HkScene *scene, HkError *error) {
  HkStatus status = HK_OK;
  for (int q = 0; q < scene->force_count && status >= 0; q++)
    status = free_of_folder(scene, &scene->forces[q], error);
  for (int q = 0; q < scene->pin_count && status >= 0; q++)
    status = free_of_folder(scene, &scene->pins[q].motion, error);
  for (int q = 0; q < scene->obstacle_count && status >= 0; q++) {
    status = free_of_folder(scene, &scene->obstacles[q].shape, error);
    if (status >= 0) status = free_of_folder(scene, &scene->obstacles[q].motion, error);
  }
  return status;
}

/* The scene with names of files that hold in the folder, as text. */
static HkStatus format_scene(const FitResult *r, char **text, HkError *error) {
  HkScene *scene = r->motion->numbers->scene, shown = *scene;
  int bodies = scene->body_count;
  char **kept = calloc((size_t)(2 * bodies) + 1, sizeof *kept);
  shown.bodies = calloc((size_t)bodies + 1, sizeof *shown.bodies);
  HkStatus status = HK_ERROR_MEMORY;
  if (kept && shown.bodies) {
    memcpy(shown.bodies, scene->bodies, (size_t)bodies * sizeof *shown.bodies);
    status = free_bodies(&shown, r->motion->numbers, kept, error);
    if (status >= 0) status = free_methods(scene, error);
    if (status >= 0) status = hk_scene_format(&shown, text, error);
    for (int q = 0; q < 2 * bodies; q++) free(kept[q]);
  } else {
    status = no_memory(error);
  }
  free(kept);
  free(shown.bodies);
  return status;
}

HkStatus fit_write_scene(const FitResult *r, HkError *error) {
  const HkScene *scene = r->motion->numbers->scene;
  char *text = NULL, name[32];
  Out out = {.file = NULL};
  HkStatus status = format_scene(r, &text, error);
  for (int b = 0; b < scene->body_count && fits_springs(r->motion->numbers) && status >= 0; b++) {
    snprintf(name, sizeof name, "springs%d.csv", b);
    status = write_springs(r, b, name, error);
  }
  if (status >= 0) status = out_open(&out, r->folder, "scene.json", error);
  if (status >= 0) {
    fprintf(out.file, "%s\n", text);
    status = out_close(&out, error);
  }
  hk_text_destroy(&text);
  return status;
}

/* ---- Losses ---------------------------------------------------------------------------------- */

HkStatus fit_write_losses(const FitResult *r, HkError *error) {
  Out out = {.file = NULL};
  HkStatus status = out_open(&out, r->folder, "loss.csv", error);
  if (status < 0) return status;
  fputs("stage,frames,iteration,evaluations,seconds,rms,gradient\n", out.file);
  for (int64_t k = 0; k < r->count; k++) {
    const FitRow *row = &r->rows[k];
    fprintf(out.file, "%d,%lld,%d,%d,%.3f,%.17g,%.17g\n", row->stage, (long long)row->frames,
            row->iteration, row->evaluations, row->seconds, row->rms, row->projected);
  }
  return out_close(&out, error);
}

/* ---- Report ---------------------------------------------------------------------------------- */

static void put_html(FILE *file, const char *text) {
  for (; *text; text++) {
    if (*text == '&')
      fputs("&amp;", file);
    else if (*text == '<')
      fputs("&lt;", file);
    else if (*text == '>')
      fputs("&gt;", file);
    else
      fputc(*text, file);
  }
}

static int compare_numbers(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* One number, or the least, the middle and the largest of many. */
static void put_range(FILE *file, const double *values, int64_t count, int components) {
  double *sorted = count > components ? malloc((size_t)count * sizeof *sorted) : NULL;
  if (!sorted) {
    for (int64_t k = 0; k < (count < 3 ? count : 3); k++)
      fprintf(file, "%s%.6g", k ? ", " : "", values[k]);
    return;
  }
  memcpy(sorted, values, (size_t)count * sizeof *sorted);
  qsort(sorted, (size_t)count, sizeof *sorted, compare_numbers);
  fprintf(file, "%.4g &hellip; <b>%.4g</b> &hellip; %.4g", sorted[0], sorted[count / 2],
          sorted[count - 1]);
  free(sorted);
}

static int64_t at_bounds(const FitNumbers *numbers, const FitName *name) {
  int64_t sum = 0;
  for (int64_t k = name->first; k < name->first + name->count; k++)
    sum += numbers->p[k] <= numbers->min[k] || numbers->p[k] >= numbers->max[k];
  return sum;
}

static void put_numbers(FILE *file, const FitNumbers *numbers) {
  fputs("<table><tr><th>number</th><th>unit</th><th>how many</th><th>start</th><th>found</th>"
        "<th>at a bound</th></tr>\n",
        file);
  for (int q = 0; q < numbers->name_count; q++) {
    const FitName *name = &numbers->names[q];
    fputs("<tr><td>", file);
    put_html(file, name->text);
    fputs("</td><td>", file);
    put_html(file, name->unit);
    fprintf(file, "</td><td>%lld</td><td>", (long long)name->count);
    put_range(file, numbers->start + name->first, name->count, name->components);
    fputs("</td><td>", file);
    put_range(file, numbers->p + name->first, name->count, name->components);
    fprintf(file, "</td><td>%lld</td></tr>\n", (long long)at_bounds(numbers, name));
  }
  fputs("</table>\n", file);
}

static void put_losses(FILE *file, const FitResult *r) {
  double *x = malloc(((size_t)r->count + 1) * sizeof *x),
         *y = malloc(((size_t)r->count + 1) * sizeof *y);
  const char *name = "root of the mean square distance, over the frames that count";
  for (int64_t k = 0; x && y && k < r->count; k++) {
    x[k] = (double)(k + 1);
    y[k] = r->rows[k].rms;
  }
  if (x && y && r->count > 0) {
    PlotLine line = {x, y, (int)r->count};
    PlotPanel panel = {"iterations of all stages", "distance (m)", &line};
    plot_write(file, &(Plot){.title = "Loss",
                             .subtitle = "it rises where a stage takes more frames into account",
                             .names = &name,
                             .line_count = 1,
                             .panels = &panel,
                             .panel_count = 1,
                             .y_fits = true});
  }
  free(x);
  free(y);
}

static void put_frames(FILE *file, const FitResult *r) {
  const FitTarget *t = r->motion->target;
  static const char *const names[] = {"before", "after"};
  PlotLine lines[] = {{t->times, r->rms_before, (int)t->frames},
                      {t->times, r->rms_after, (int)t->frames}};
  PlotPanel panel = {"time (s)", "distance (m)", lines};
  plot_write(file, &(Plot){.title = "Frames",
                           .subtitle = "root of the mean square distance of each frame",
                           .names = names,
                           .line_count = 2,
                           .panels = &panel,
                           .panel_count = 1,
                           .y_fits = true});
}

HkStatus fit_write_report(const FitResult *r, HkError *error) {
  Out out = {.file = NULL};
  HkStatus status = out_open(&out, r->folder, "report.html", error);
  if (status < 0) return status;
  fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Fit of ",
        out.file);
  put_html(out.file, r->name);
  fputs("</title><style>body{font:15px/1.5 Verdana,\"DejaVu Sans\",sans-serif;max-width:1250px;"
        "margin:2em auto;padding:0 1em;color:#222}table{border-collapse:collapse;margin:1em 0}"
        "td,th{border:1px solid #ccc;padding:.3em .7em;text-align:left}svg{max-width:100%;"
        "height:auto}</style></head><body>\n<h1>Fit of ",
        out.file);
  put_html(out.file, r->name);
  fputs(" to ", out.file);
  put_html(out.file, r->target);
  fputs("</h1>\n<p>", out.file);
  put_html(out.file, r->summary);
  fputs("</p>\n", out.file);
  put_numbers(out.file, r->motion->numbers);
  put_losses(out.file, r);
  put_frames(out.file, r);
  fputs("</body></html>\n", out.file);
  return out_close(&out, error);
}
