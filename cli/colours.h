/* Colours of pictures: maps for strain and speed, computed by formula in CIE L*a*b*, a palette, and
 * the range of values that a map spans. */
#ifndef HOOKE_CLI_COLOURS_H
#define HOOKE_CLI_COLOURS_H

#include <stdbool.h>
#include <stdint.h>

typedef enum ColourBy { COLOUR_NONE, COLOUR_STRAIN, COLOUR_SPEED } ColourBy;

/* sRGB, 0 .. 1 each. */
typedef struct Colour {
  double r, g, b;
} Colour;

/* Lightness 0 .. 100, chroma, hue in degrees; the chroma is made less where no screen shows it. */
Colour colour_lch(double lightness, double chroma, double hue);
/* Whether a screen can show it as it is. */
bool colour_is_shown(double lightness, double chroma, double hue);

/* Place t = 0 .. 1 of the map: strain from blue (shortened) over light grey at 1/2 to red
 * (stretched), speed from dark violet over red to yellow. */
Colour colour_map(ColourBy by, double t);

/* Numbers of the palette that is drawn with instead of a map. */
enum { PALETTE_BODIES = 16, PALETTE_MASS = PALETTE_BODIES, PALETTE_PIN, PALETTE_LINE };
Colour colour_palette(int index);

/* The map in the first row, the palette in the second, as RGBA. */
enum { RAMP_WIDTH = 256, RAMP_HEIGHT = 2 };
void colour_ramp(ColourBy by, unsigned char rgba[RAMP_HEIGHT * RAMP_WIDTH * 4]);

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
