/* Lines over logarithmic axes as SVG; see plot.h.
 *
 * A value v between low and high is at log(v / low) / log(high / low) of its axis. The limits of x
 * are 1, 2 or 5 times a power of ten, those of y powers of ten; the axis of an error ends at twice
 * a power of ten, so that errors near 1 are not at the edge. Lines differ by color and by dash, so
 * that they differ in grayscale, too.
 */
#include "plot.h"

#include <math.h>
#include <string.h>

/* Pixels. */
enum {
  LEFT = 74,
  RIGHT = 22,
  TOP = 74,
  PANEL_WIDTH = 500,
  PANEL_HEIGHT = 380,
  GAP = 88,
  BELOW_AXIS = 76,
  LEGEND_ROW = 22,
  SAMPLE = 36,
  LETTER = 8, /* width of a letter of the legend, at most */
  MARKED_MAX_POINTS = 30
};

static const double MAX_Y = 1e3; /* the axis ends there for methods that diverge */

static const char *const colors[] = {"#0072b2", "#d55e00", "#009e73", "#7b3294",
                                     "#222222", "#4aa3dd", "#e69f00", "#cc5c9a",
                                     "#7f7f00", "#8c564b", "#888888"};
static const char *const dashes[] = {"none", "8 3", "2 2.5", "9 3 2 3"};

enum {
  COLOR_COUNT = sizeof colors / sizeof colors[0],
  DASH_COUNT = sizeof dashes / sizeof dashes[0]
};

typedef struct Axis {
  double low, high; /* values */
  double from, to;  /* pixels */
} Axis;

static double at(const Axis *a, double value) {
  return a->from + (a->to - a->from) * log(value / a->low) / log(a->high / a->low);
}

static bool is_drawable(double value) {
  return value > 0 && isfinite(value);
}

/* ---- Axes ------------------------------------------------------------------------------------ */

/* Returns the nearest of 1, 2, 5 times a power of ten that is not above `value`, or not below if
 * up. */
static double round_nicely(double value, bool up) {
  static const double steps[] = {1, 2, 5, 10};
  double power = pow(10, floor(log10(value) + 1e-9));
  for (int q = 0; q < 4 && up; q++)
    if (steps[q] * power >= value * (1 - 1e-9)) return steps[q] * power;
  for (int q = 3; q > 0; q--)
    if (steps[q] * power <= value * (1 + 1e-9)) return steps[q] * power;
  return power;
}

/* Extends an axis to the values that can be drawn. */
static void widen(Axis *a, const double *values, int count) {
  for (int k = 0; k < count; k++) {
    if (!is_drawable(values[k])) continue;
    a->low = fmin(a->low, values[k]);
    a->high = fmax(a->high, values[k]);
  }
}

static Axis find_x(const Plot *plot, const PlotPanel *panel) {
  Axis a = {.low = INFINITY, .high = 0};
  for (int q = 0; q < plot->line_count; q++) widen(&a, panel->lines[q].x, panel->lines[q].count);
  if (!(a.high > 0)) return (Axis){.low = 1, .high = 10};
  a = (Axis){.low = round_nicely(a.low, false), .high = round_nicely(a.high, true)};
  if (a.high < 5 * a.low) a.high = 10 * a.low;
  return a;
}

static Axis find_y(const Plot *plot) {
  Axis a = {.low = plot->y_fits ? INFINITY : 1, .high = plot->y_fits ? 0 : 1};
  for (int p = 0; p < plot->panel_count; p++)
    for (int q = 0; q < plot->line_count; q++)
      widen(&a, plot->panels[p].lines[q].y, plot->panels[p].lines[q].count);
  if (plot->y_fits && !(a.high > 0)) a = (Axis){.low = 1, .high = 1};
  double low = pow(10, floor(log10(a.low) + 1e-9)), high = pow(10, ceil(log10(a.high) - 1e-9));
  if (plot->y_fits) return (Axis){.low = low, .high = high > low ? high : 10 * low};
  low = fmin(fmax(a.low, plot->y_floor), 0.1);
  high = fmin(a.high, MAX_Y);
  return (Axis){.low = pow(10, floor(log10(low) + 1e-9)),
                .high = 2 * pow(10, ceil(log10(high) - 1e-9))};
}

/* Prints numbers from least to 100000 as decimals, others as powers of 10. */
static void put_number(FILE *file, double value, double least) {
  if (value > 0.99 * least && value < 100001)
    fprintf(file, "%g", value);
  else
    fprintf(file, "10<tspan dy=\"-6\" font-size=\"9\">%s%d</tspan>", value < 1 ? "&#8722;" : "",
            (int)fabs(floor(log10(value) + 0.5)));
}

static void draw_line(FILE *file, const char *kind, double x1, double y1, double x2, double y2) {
  fprintf(file, "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", kind, x1,
          y1, x2, y2);
}

/* Lines at 1, 2 .. 9 times each power of ten, numbers at 1, and at 2 and 5 if the axis spans at
 * most two powers. */
static void draw_x_axis(FILE *file, const Axis *x, const Axis *y) {
  bool roomy = x->high / x->low < 101;
  int first = (int)floor(log10(x->low) + 1e-9), last = (int)floor(log10(x->high) + 1e-9);
  for (int power = first; power <= last; power++)
    for (int q = 1; q < 10; q++) {
      double value = q * pow(10, power);
      if (value < x->low * (1 - 1e-9) || value > x->high * (1 + 1e-9)) continue;
      draw_line(file, q == 1 ? "major" : "minor", at(x, value), y->from, at(x, value), y->to);
      if (q != 1 && !(roomy && (q == 2 || q == 5))) continue;
      fprintf(file, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">", at(x, value),
              y->from + 18);
      put_number(file, value, 0.001);
      fprintf(file, "</text>\n");
    }
}

/* Lines at every power of ten, numbers at as many as fit. */
static void draw_y_axis(FILE *file, const Axis *x, const Axis *y) {
  int first = (int)floor(log10(y->low) + 0.5), last = (int)floor(log10(y->high) + 0.5);
  int every = last - first > 9 ? 3 : last - first > 6 ? 2 : 1;
  for (int q = first; q <= last; q++) {
    double place = at(y, pow(10, q));
    bool named = (last - q) % every == 0;
    draw_line(file, named ? "major" : "minor", x->from, place, x->to, place);
    if (!named) continue;
    fprintf(file, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">", x->from - 7, place + 4);
    put_number(file, pow(10, q), 0.1);
    fprintf(file, "</text>\n");
  }
}

static void put_text(FILE *file, const char *text) {
  for (; *text; text++) {
    if (*text == '&')
      fputs("&amp;", file);
    else if (*text == '<')
      fputs("&lt;", file);
    else if (*text == '>')
      fputs("&gt;", file);
    else if ((unsigned char)*text >= ' ')
      fputc(*text, file);
  }
}

static void draw_labels(FILE *file, const PlotPanel *panel, const Axis *x, const Axis *y) {
  double middle = 0.5 * (y->from + y->to), left = x->from - 52;
  fprintf(file, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">", 0.5 * (x->from + x->to),
          y->from + 42);
  put_text(file, panel->x_label);
  fprintf(file,
          "</text>\n<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\" "
          "transform=\"rotate(-90 %.1f %.1f)\">",
          left, middle, left, middle);
  put_text(file, panel->y_label);
  fprintf(file, "</text>\n");
}

/* ---- Lines ----------------------------------------------------------------------------------- */

static void put_style(FILE *file, int index) {
  const char *dash = dashes[index % DASH_COUNT];
  fprintf(file, "stroke=\"%s\"", colors[index % COLOR_COUNT]);
  if (strcmp(dash, "none") != 0) fprintf(file, " stroke-dasharray=\"%s\"", dash);
}

/* Draws the points that are distinguishable; returns how many points of the line are drawn. */
static int draw_path(FILE *file, const PlotLine *line, const Axis *x, const Axis *y, int index) {
  double last_x = NAN, last_y = NAN;
  int drawn = 0, k = 0;
  for (; k < line->count; k++) {
    if (!is_drawable(line->x[k]) || isnan(line->y[k])) continue;
    bool ends = line->y[k] <= y->low;
    double px = at(x, line->x[k]), py = at(y, fmin(fmax(line->y[k], y->low), y->high));
    bool near = fabs(px - last_x) < 0.4 && fabs(py - last_y) < 0.4;
    if (drawn == 0) {
      fprintf(file, "<path fill=\"none\" stroke-width=\"1.8\" stroke-linejoin=\"round\" ");
      put_style(file, index);
      fprintf(file, " d=\"M%.1f %.1f", px, py);
    } else if (!near || ends || k == line->count - 1) {
      fprintf(file, " L%.1f %.1f", px, py);
    }
    if (drawn == 0 || !near) {
      last_x = px;
      last_y = py;
    }
    drawn++;
    if (ends) break;
  }
  if (drawn > 0) fprintf(file, "\"/>\n");
  return k < line->count ? k + 1 : k;
}

/* Dots, where they do not merge into the line. */
static void draw_dots(FILE *file, const PlotLine *line, int count, const Axis *x, const Axis *y,
                      int index) {
  if (count > MARKED_MAX_POINTS) return;
  for (int k = 0; k < count; k++)
    if (is_drawable(line->x[k]) && !isnan(line->y[k]))
      fprintf(file, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.6\" fill=\"%s\"/>\n", at(x, line->x[k]),
              at(y, fmin(fmax(line->y[k], y->low), y->high)), colors[index % COLOR_COUNT]);
}

static void draw_panel(FILE *file, const Plot *plot, int index, Axis y) {
  const PlotPanel *panel = &plot->panels[index];
  Axis x = find_x(plot, panel);
  x.from = LEFT + index * (PANEL_WIDTH + GAP);
  x.to = x.from + PANEL_WIDTH;
  draw_x_axis(file, &x, &y);
  draw_y_axis(file, &x, &y);
  fprintf(file, "<rect class=\"frame\" x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\"/>\n",
          x.from, y.to, PANEL_WIDTH, PANEL_HEIGHT);
  draw_labels(file, panel, &x, &y);
  for (int q = 0; q < plot->line_count; q++) {
    fprintf(file, "<g><title>");
    put_text(file, plot->names[q]);
    fprintf(file, "</title>\n");
    int count = draw_path(file, &panel->lines[q], &x, &y, q);
    draw_dots(file, &panel->lines[q], count, &x, &y, q);
    fprintf(file, "</g>\n");
  }
}

/* ---- The whole ------------------------------------------------------------------------------- */

typedef struct Legend {
  int columns, rows, column_width;
} Legend;

static Legend find_legend(const Plot *plot, int width) {
  int longest = 0, columns_width = width - LEFT - RIGHT;
  for (int q = 0; q < plot->line_count; q++)
    if ((int)strlen(plot->names[q]) > longest) longest = (int)strlen(plot->names[q]);
  Legend l = {.column_width = SAMPLE + 8 + LETTER * longest + 16};
  l.columns = columns_width / l.column_width > 0 ? columns_width / l.column_width : 1;
  l.rows = (plot->line_count + l.columns - 1) / l.columns;
  /* No more columns than the rows need. */
  if (l.rows > 0) l.columns = (plot->line_count + l.rows - 1) / l.rows;
  return l;
}

static void draw_legend(FILE *file, const Plot *plot, const Legend *l, int top) {
  for (int q = 0; q < plot->line_count; q++) {
    int x = LEFT + q / l->rows * l->column_width, y = top + q % l->rows * LEGEND_ROW;
    fprintf(file, "<path fill=\"none\" stroke-width=\"2.2\" ");
    put_style(file, q);
    fprintf(file, " d=\"M%d %d H%d\"/>\n<text x=\"%d\" y=\"%d\">", x, y, x + SAMPLE, x + SAMPLE + 8,
            y + 4);
    put_text(file, plot->names[q]);
    fprintf(file, "</text>\n");
  }
}

void plot_write(FILE *file, const Plot *plot) {
  int width = LEFT + plot->panel_count * (PANEL_WIDTH + GAP) - GAP + RIGHT;
  Legend legend = find_legend(plot, width);
  int legend_top = TOP + PANEL_HEIGHT + BELOW_AXIS;
  int height = legend_top + legend.rows * LEGEND_ROW;
  Axis y = find_y(plot);
  y.from = TOP + PANEL_HEIGHT;
  y.to = TOP;
  fprintf(file,
          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
          "viewBox=\"0 0 %d %d\">\n"
          "<style>text{font-family:\"DejaVu Sans\",Verdana,Helvetica,Arial,sans-serif;"
          "font-size:12px;fill:#222}.minor{stroke:#eee}.major{stroke:#ccc}"
          ".frame{fill:none;stroke:#444}</style>\n"
          "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n<text x=\"%d\" y=\"28\" "
          "style=\"font-size:16px\">",
          width, height, width, height, width, height, LEFT);
  put_text(file, plot->title);
  fprintf(file, "</text>\n<text x=\"%d\" y=\"50\">", LEFT);
  put_text(file, plot->subtitle);
  fprintf(file, "</text>\n");
  for (int q = 0; q < plot->panel_count; q++) draw_panel(file, plot, q, y);
  draw_legend(file, plot, &legend, legend_top);
  fprintf(file, "</svg>\n");
}
