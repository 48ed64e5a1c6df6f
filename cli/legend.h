/* Text in a picture: the color scale and the time. */
#ifndef HOOKE_CLI_LEGEND_H
#define HOOKE_CLI_LEGEND_H

#include "camera.h"
#include "strokes.h"

/* Returns the part of a picture of width x height pixels that the legend leaves for the scene. */
Window legend_window(ColorBy by, int width, int height);
/* Draws the color scale with its values up to end (1 for strain, m/s for speed). */
void legend_draw(Raster raster, ColorBy by, double end);
/* Writes "t = 1.25 s" into a corner. */
void legend_clock(Raster raster, double time);

#endif
