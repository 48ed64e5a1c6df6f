/* Colors of pictures: maps for strain and speed, computed by formula in CIE L*a*b*, a palette, and
 * the range of values that a map spans. */
#ifndef HOOKE_CLI_COLORS_H
#define HOOKE_CLI_COLORS_H

#include <stdbool.h>
#include <stdint.h>

typedef enum ColorBy { COLOR_NONE, COLOR_STRAIN, COLOR_SPEED } ColorBy;

/* sRGB, 0 .. 1 each. */
typedef struct Color {
  double r, g, b;
} Color;

/* Returns the color of a lightness 0 .. 100, chroma and hue in degrees; the chroma is reduced to
 * the gamut of sRGB. */
Color color_lch(double lightness, double chroma, double hue);
/* Returns whether the color is in the gamut of sRGB. */
bool color_is_shown(double lightness, double chroma, double hue);

/* Returns the color at t = 0 .. 1 of a map: strain from blue (shortened) over light gray at 1/2 to
 * red (stretched), speed from dark violet over red to yellow. */
Color color_map(ColorBy by, double t);

/* Indices of the palette, which replaces the map without --color. */
enum {
  PALETTE_BODIES = 16,
  PALETTE_MASS = PALETTE_BODIES,
  PALETTE_PIN,
  PALETTE_LINE,
  PALETTE_OBSTACLE,
  PALETTE_LIGHT_SQUARE,
  PALETTE_DARK_SQUARE,
  PALETTE_COUNT
};
Color color_palette(int index);

/* A texture as RGBA: the map in the first row, the palette in the second. */
enum { RAMP_WIDTH = 256, RAMP_HEIGHT = 2 };
void color_ramp(ColorBy by, unsigned char rgba[RAMP_HEIGHT * RAMP_WIDTH * 4]);

/* Histogram of absolute values, with logarithmic bins. */
enum { SPREAD_BINS = 1280 };
typedef struct Spread {
  int64_t count[SPREAD_BINS], all;
  double largest;
} Spread;

void spread_add(Spread *spread, double value);
/* Returns the end of a color scale: a round number that all but a hundredth of the values do not
 * exceed, at least 1e-6, so that rounding errors are not visible. */
double spread_end(const Spread *spread);

#endif
