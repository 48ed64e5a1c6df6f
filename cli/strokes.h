/* Text in pictures, drawn with a round pen in a built-in stroke font. */
#ifndef HOOKE_CLI_STROKES_H
#define HOOKE_CLI_STROKES_H

#include "colors.h"

/* Pixels, row by row from the top, four bytes each. */
typedef struct Raster {
  unsigned char *rgba;
  int width, height;
} Raster;

/* Returns the width of a text in pixels for a height of its digits. */
double strokes_width(const char *text, double height);
/* Writes a text from x on, on a line y pixels below the top. Letters that the legend of a picture
 * does not need are left blank. */
void strokes_write(Raster raster, const char *text, double x, double y, double height, Color color);
/* Blends a color over a pixel; cover: the covered part of the pixel, 0 .. 1. */
void strokes_blend(Raster raster, int x, int y, Color color, double cover);

#endif
