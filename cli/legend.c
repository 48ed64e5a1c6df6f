/* Color scale and time in a picture; see legend.h.
 *
 *             [ blue ... gray ... red ]
 *            -5           0          +5
 *                     strain %
 *
 * All measures are parts of the picture's smaller side, so that it looks the same at every size.
 */
#include "legend.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double MARGIN = 0.12; /* of half the picture, around the scene */
static const double TEXT = 0.022;  /* of the smaller side: height of digits */
static const double BAR_LENGTH = 0.55, BAR_HEIGHT = 0.022;
/* Distances in heights of digits: from the edge to the lowest line of text, to the numbers, to the
 * bar, and to the scene, each from the one before. */
static const double LAST_LINE = 1.6, NUMBERS = 1.9, BAR = 1.7, SCENE = 0.8;
static const Color ink = {0.25, 0.27, 0.31};

static double side_of(int width, int height) {
  return width < height ? width : height;
}

/* Returns the height of digits in pixels, at least the smallest legible one. */
static double text_height(int width, int height) {
  return fmax(TEXT * side_of(width, height), 6);
}

Window legend_window(ColorBy by, int width, int height) {
  Window w = {-1 + MARGIN, 1 - MARGIN, -1 + MARGIN, 1 - MARGIN};
  if (by == COLOR_NONE) return w;
  double pixels = (LAST_LINE + NUMBERS + BAR + SCENE) * text_height(width, height) +
                  BAR_HEIGHT * side_of(width, height);
  w.bottom = fmin(-1 + 2 * pixels / height, 0);
  w.top = 1 - MARGIN / 2;
  return w;
}

/* ---- Scale ----------------------------------------------------------------------------------- */

static void write_centered(Raster raster, const char *text, double x, double y) {
  double height = text_height(raster.width, raster.height);
  strokes_write(raster, text, x - strokes_width(text, height) / 2, y, height, ink);
}

/* Draws the bar from left to right; its ends may cover a pixel in part. */
static void draw_bar(Raster raster, ColorBy by, double left, double right, double top,
                     double bottom) {
  for (int y = (int)top; y <= (int)bottom; y++)
    for (int x = (int)left; x <= (int)right; x++) {
      double across = fmin(x + 1, right) - fmax(x, left);
      double upright = fmin(y + 1, bottom) - fmax(y, top);
      double t = (x + 0.5 - left) / (right - left);
      if (across > 0 && upright > 0)
        strokes_blend(raster, x, y, color_map(by, fmin(fmax(t, 0), 1)), across * upright);
    }
}

/* Writes the number at part t of the scale. */
static void name_value(ColorBy by, double end, double t, char *text, size_t size) {
  double value = by == COLOR_STRAIN ? 100 * end * (2 * t - 1) : end * t;
  snprintf(text, size, by == COLOR_STRAIN && value > 0 ? "+%.3g" : "%.3g", value);
}

void legend_draw(Raster raster, ColorBy by, double end) {
  char text[32];
  if (by == COLOR_NONE) return;
  double side = side_of(raster.width, raster.height), middle = raster.width / 2.0;
  double height = text_height(raster.width, raster.height);
  double half = fmin(BAR_LENGTH * side, 0.8 * raster.width) / 2;
  double below = raster.height - LAST_LINE * height;
  double numbers = below - NUMBERS * height, bottom = numbers - BAR * height;
  draw_bar(raster, by, middle - half, middle + half, bottom - BAR_HEIGHT * side, bottom);
  for (int q = 0; q <= 2; q++) {
    name_value(by, end, q / 2.0, text, sizeof text);
    write_centered(raster, text, middle + half * (q - 1), numbers);
  }
  write_centered(raster, by == COLOR_STRAIN ? "strain %" : "speed m/s", middle, below);
}

/* ---- Time ------------------------------------------------------------------------------------ */

void legend_clock(Raster raster, double time) {
  char text[64];
  double height = text_height(raster.width, raster.height);
  snprintf(text, sizeof text, "t = %.2f s", time);
  strokes_write(raster, text, LAST_LINE * height, raster.height - LAST_LINE * height, height, ink);
}
