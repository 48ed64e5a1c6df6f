/* Lines over logarithmic axes as an SVG picture: panels side by side, one legend for all. */
#ifndef HOOKE_CLI_PLOT_H
#define HOOKE_CLI_PLOT_H

#include <stdbool.h>
#include <stdio.h>

/* One line; points that are not positive and finite are left out. */
typedef struct PlotLine {
  const double *x, *y;
  int count;
} PlotLine;

typedef struct PlotPanel {
  const char *x_label, *y_label;
  const PlotLine *lines; /* one for each name of the plot */
} PlotPanel;

typedef struct Plot {
  const char *title, *subtitle;
  const char *const *names; /* of the lines, the same in every panel */
  int line_count;
  const PlotPanel *panels;
  int panel_count;
  bool y_fits;    /* y spans the values; else it is a relative error, 1 at the start */
  double y_floor; /* of an error: what is below is drawn at the lower edge and ends its line */
} Plot;

void plot_write(FILE *file, const Plot *plot);

#endif
