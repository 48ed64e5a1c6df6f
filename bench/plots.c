/* Plots of the measures.
 *
 *     time_per_step.svg     ms of a step to an error of 1e-2 and 1e-3, against vertices
 *     cost_per_vertex.svg   the same in microseconds a vertex
 *     error_over_time.svg   the error of each method over the time of one step
 */
#include "bench.h"

#include "plot.h"
#include "race.h"

#include <math.h>
#include <string.h>

enum { MAX_LINES = 12, MAX_SIZES = 16 };

/* One line: a method of Hooke, or the peer. */
typedef struct Line {
  const char *name;
  double x[RACE_GOALS][MAX_SIZES], y[RACE_GOALS][MAX_SIZES];
  int count[RACE_GOALS];
} Line;

typedef struct Lines {
  Line list[MAX_LINES];
  int count;
} Lines;

static const char peer_name[] = "CHOLMOD Newton";

/* Adds a point, sorted by x; a second value at the same x replaces the first. */
static void add_point(Lines *lines, const char *name, int goal, double x, double y) {
  int q = 0;
  while (q < lines->count && strcmp(lines->list[q].name, name) != 0) q++;
  if (q == MAX_LINES || isnan(y)) return;
  Line *line = &lines->list[q];
  if (q == lines->count) {
    *line = (Line){.name = name};
    lines->count++;
  }
  int at = line->count[goal];
  while (at > 0 && line->x[goal][at - 1] >= x) at--;
  bool replaces = at < line->count[goal] && line->x[goal][at] == x;
  if (!replaces && line->count[goal] == MAX_SIZES) return;
  for (int k = line->count[goal]; k > at && !replaces; k--) {
    line->x[goal][k] = line->x[goal][k - 1];
    line->y[goal][k] = line->y[goal][k - 1];
  }
  line->x[goal][at] = x;
  line->y[goal][at] = y;
  line->count[goal] += !replaces;
}

/* Collects the times of all cloths, for each step or for each vertex and step. */
static void collect(const Bench *b, Lines *lines, bool per_vertex) {
  for (int q = 0; q < b->count; q++) {
    const Measure *m = &b->measures[q];
    if (strncmp(m->problem, "cloth", 5) != 0 || isnan(m->goal)) continue;
    int goal = m->goal < 0.005;
    double scale = per_vertex ? 1e3 / m->vertices : 1;
    add_point(lines, m->method, goal, m->vertices, scale * m->ms);
    add_point(lines, peer_name, goal, m->vertices, scale * m->peer_ms);
  }
}

static bool draw(const Bench *b, const char *file_name, const Plot *plot) {
  char path[1024];
  snprintf(path, sizeof path, "%s/%s", b->folder, file_name);
  FILE *file = fopen(path, "w");
  if (!file) {
    perror(path);
    return false;
  }
  plot_write(file, plot);
  return fclose(file) == 0;
}

static bool draw_sizes(const Bench *b, bool per_vertex) {
  Lines lines = {.count = 0};
  PlotLine drawn[RACE_GOALS][MAX_LINES];
  const char *names[MAX_LINES];
  collect(b, &lines, per_vertex);
  if (lines.count == 0) return true;
  for (int q = 0; q < lines.count; q++) {
    const Line *line = &lines.list[q];
    names[q] = line->name;
    for (int g = 0; g < RACE_GOALS; g++)
      drawn[g][q] = (PlotLine){line->x[g], line->y[g], line->count[g]};
  }
  const char *unit = per_vertex ? "microseconds a vertex" : "ms a step";
  PlotPanel panels[RACE_GOALS] = {{"vertices (error 0.01)", unit, drawn[0]},
                                  {"vertices (error 0.001)", unit, drawn[1]}};
  Plot plot = {.title = per_vertex ? "Cost of an implicit step per vertex" : "One implicit step",
               .subtitle = "cloth of N x N vertices, median over consecutive steps",
               .names = names,
               .line_count = lines.count,
               .panels = panels,
               .panel_count = RACE_GOALS,
               .y_fits = true};
  return draw(b, per_vertex ? "cost_per_vertex.svg" : "time_per_step.svg", &plot);
}

/* Plots the errors of the first problem that has curves. */
static bool draw_errors(const Bench *b) {
  PlotLine drawn[MAX_LINES];
  const char *names[MAX_LINES];
  int count = 0;
  char subtitle[128];
  for (int q = 0; q < b->curve_count && count < MAX_LINES; q++) {
    const Curve *c = &b->curves[q];
    if (strcmp(c->problem, b->curves[0].problem) != 0) continue;
    names[count] = c->name;
    drawn[count++] = (PlotLine){c->ms, c->error, c->count};
  }
  if (count == 0) return true;
  snprintf(subtitle, sizeof subtitle, "%s, a step in the middle of the run", b->curves[0].problem);
  PlotPanel panel = {"milliseconds", "|x \xe2\x88\x92 x*| / |x* \xe2\x88\x92 x\xe2\x82\x99|",
                     drawn};
  Plot plot = {.title = "Error against time in one implicit step",
               .subtitle = subtitle,
               .names = names,
               .line_count = count,
               .panels = &panel,
               .panel_count = 1,
               .y_floor = 1e-4};
  return draw(b, "error_over_time.svg", &plot);
}

bool plots_write(const Bench *b) {
  bool steps = draw_sizes(b, false), vertices = draw_sizes(b, true);
  return draw_errors(b) && steps && vertices;
}
