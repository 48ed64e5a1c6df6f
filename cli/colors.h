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

/* Lightness 0 .. 100, chroma, hue in degrees; the chroma is made less where no screen shows it. */
Color color_lch(double lightness, double chroma, double hue);
/* Whether a screen can show it as it is. */
bool color_is_shown(double lightness, double chroma, double hue);

/* Place t = 0 .. 1 of the map: strain from blue (shortened) over light gray at 1/2 to red
 * (stretched), speed from dark violet over red to yellow. */
Color color_map(ColorBy by, double t);

/* Numbers of the palette that is drawn with instead of a map. */
enum { PALETTE_BODIES = 16, PALETTE_MASS = PALETTE_BODIES, PALETTE_PIN, PALETTE_LINE };
Color color_palette(int index);

/* The map in the first row, the palette in the second, as RGBA. */
enum { RAMP_WIDTH = 256, RAMP_HEIGHT = 2 };
void color_ramp(ColorBy by, unsigned char rgba[RAMP_HEIGHT * RAMP_WIDTH * 4]);

/* How many values there are of which size, in bins that widen with it. */
enum { SPREAD_BINS = 1280 };
typedef struct Spread {
  int64_t count[SPREAD_BINS], all;
  double largest;
} Spread;

void spread_add(Spread *spread, double value);
/* The end of a scale: a round number below which all but a hundredth of the values lie; 1e-6 at
 * least, so that rounding does not look like something. */
double spread_end(const Spread *spread);

#endif
