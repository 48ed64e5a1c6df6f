/* The files of `hooke compare`, see comparison.h.
 *
 *     CSV: method,iteration,seconds,relative_error,gradient     one row an iteration, 0: the start
 *     SVG: relative error against iterations, and against milliseconds
 */
#include "comparison.h"

#include "command.h"
#include "plot.h"
#include "text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const double FLOOR = 1e-12; /* smaller errors are drawn at the lower edge */

static int cannot_write(const char *path) {
  return complain(EXIT_FILE, "%s: cannot write: %s", path, strerror(errno));
}

static int close_file(FILE *file, const char *path) {
  bool bad = ferror(file) != 0;
  return fclose(file) != 0 || bad ? cannot_write(path) : EXIT_GOOD;
}

int comparison_csv(const Comparison *c, const char *path) {
  FILE *file = fopen(path, "w");
  if (!file) return cannot_write(path);
  fputs("method,iteration,seconds,relative_error,gradient\n", file);
  for (int q = 0; q < c->count; q++) {
    const Result *r = &c->results[q];
    for (int k = 0; k < r->count; k++)
      fprintf(file, "%s,%d,%.9g,%.17g,%.17g\n", r->name, r->points[k].iteration,
              r->points[k].seconds, comparison_error(c, r, k), r->points[k].gradient);
  }
  return close_file(file, path);
}

/* The lines of both panels. The start is left out: it has no place on a logarithmic axis. */
typedef struct Lines {
  double *numbers;
  PlotLine *by_iteration, *by_time;
  const char **names;
  int count;
} Lines;

static void release(Lines *l) {
  free(l->numbers);
  free(l->by_iteration);
  free(l->by_time);
  free(l->names);
}

static bool allocate(Lines *l, const Comparison *c) {
  size_t points = 1, results = (size_t)c->count + 1;
  for (int q = 0; q < c->count; q++) points += (size_t)c->results[q].count;
  *l = (Lines){.numbers = malloc(3 * points * sizeof *l->numbers),
               .by_iteration = malloc(results * sizeof *l->by_iteration),
               .by_time = malloc(results * sizeof *l->by_time),
               .names = malloc(results * sizeof *l->names)};
  return l->numbers && l->by_iteration && l->by_time && l->names;
}

static void fill(Lines *l, const Comparison *c) {
  double *next = l->numbers;
  for (int q = 0; q < c->count; q++) {
    const Result *r = &c->results[q];
    int count = r->count - 1;
    if (count <= 0) continue;
    double *iterations = next, *milliseconds = next + count, *errors = next + 2 * count;
    for (int k = 0; k < count; k++) {
      iterations[k] = r->points[k + 1].iteration;
      milliseconds[k] = 1e3 * r->points[k + 1].seconds;
      errors[k] = comparison_error(c, r, k + 1);
    }
    next += 3 * count;
    l->names[l->count] = r->name;
    l->by_iteration[l->count] = (PlotLine){iterations, errors, count};
    l->by_time[l->count] = (PlotLine){milliseconds, errors, count};
    l->count++;
  }
}

int comparison_svg(const Comparison *c, const char *path) {
  static const char y_label[] =
      "relative error (g \xe2\x88\x92 g*) / (g\xe2\x82\x80 \xe2\x88\x92 g*)";
  char title[512], subtitle[256];
  Lines lines;
  FILE *file = allocate(&lines, c) ? fopen(path, "w") : NULL;
  if (!file) {
    int code = lines.numbers && lines.names && lines.by_time && lines.by_iteration
                   ? cannot_write(path)
                   : complain(EXIT_MEMORY, "no memory for the picture");
    release(&lines);
    return code;
  }
  fill(&lines, c);
  snprintf(title, sizeof title, "One backward Euler step of %s", c->scene);
  snprintf(subtitle, sizeof subtitle, "%s vertices, %s springs, from %g s to %g s",
           text_count(c->model.vertices).c, text_count(c->model.springs).c, c->time,
           c->time + c->h);
  PlotPanel panels[] = {{"iterations", y_label, lines.by_iteration},
                        {"milliseconds", y_label, lines.by_time}};
  Plot plot = {.title = title,
               .subtitle = subtitle,
               .names = lines.names,
               .line_count = lines.count,
               .panels = panels,
               .panel_count = 2,
               .y_floor = FLOOR};
  plot_write(file, &plot);
  release(&lines);
  return close_file(file, path);
}
