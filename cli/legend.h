/* What is written into a picture: the scale of its colors, and the time. */
#ifndef HOOKE_CLI_LEGEND_H
#define HOOKE_CLI_LEGEND_H

#include "camera.h"
#include "strokes.h"

/* The part of a picture of so many pixels that the legend leaves for the scene. */
Window legend_window(ColorBy by, int width, int height);
/* The colors with the numbers that they stand for, up to end (1 for strain, m/s for speed). */
void legend_draw(Raster raster, ColorBy by, double end);
/* "t = 1.25 s" in a corner. */
void legend_clock(Raster raster, double time);

#endif
