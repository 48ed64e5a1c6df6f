/* Colors of pictures; see colors.h.
 *
 * A color of lightness L, chroma C and hue h is a = C cos h, b = C sin h in CIE L*a*b*, where
 * equal distances look equally different. To the XYZ of CIE 1931 with the white of a screen (D65):
 *
 *     f_y = (L + 16) / 116,  f_x = f_y + a / 500,  f_z = f_y - b / 200
 *     X = X_n g(f_x) ...,    g(f) = f^3 if f > 6/29, else 3 (6/29)^2 (f - 4/29)
 *
 * and by the matrix and the transfer curve of IEC 61966-2-1 to sRGB. The maps are
 *
 *     speed   L = 24 + 62 t,    C = 54,      h = 295 + 160 t
 *     strain  L = 82 - 42 |s|,  C = 50 |s|,  h = 282 if s < 0, else 32,   s = 2 t - 1
 *
 * so that equal steps look equally large; the lightness of speed is linear, also in gray, and that
 * of strain is symmetric about 0. All colors are in the gamut of sRGB.
 */
#include "colors.h"

#include <math.h>
#include <string.h>

/* ---- Color spaces ---------------------------------------------------------------------------- */

static double cube_of(double f) {
  return f > 6.0 / 29 ? f * f * f : 3 * (6.0 / 29) * (6.0 / 29) * (f - 4.0 / 29);
}

static void linear_of_lch(double lightness, double chroma, double hue, double rgb[3]) {
  static const double matrix[3][3] = {{3.2404542, -1.5371385, -0.4985314},
                                      {-0.9692660, 1.8760108, 0.0415560},
                                      {0.0556434, -0.2040259, 1.0572252}};
  double angle = hue * acos(-1) / 180, fy = (lightness + 16) / 116;
  double x = 0.95047 * cube_of(fy + chroma * cos(angle) / 500), y = cube_of(fy);
  double z = 1.08883 * cube_of(fy - chroma * sin(angle) / 200);
  for (int c = 0; c < 3; c++) rgb[c] = matrix[c][0] * x + matrix[c][1] * y + matrix[c][2] * z;
}

bool color_is_shown(double lightness, double chroma, double hue) {
  double rgb[3];
  linear_of_lch(lightness, chroma, hue, rgb);
  for (int c = 0; c < 3; c++)
    if (rgb[c] < -1e-4 || rgb[c] > 1 + 1e-4) return false;
  return true;
}

static double encode(double linear) {
  linear = fmin(fmax(linear, 0), 1);
  return linear <= 0.0031308 ? 12.92 * linear : 1.055 * pow(linear, 1 / 2.4) - 0.055;
}

Color color_lch(double lightness, double chroma, double hue) {
  double rgb[3], shown = 0, not_shown = chroma;
  bool whole = color_is_shown(lightness, chroma, hue);
  for (int q = 0; q < 30 && !whole; q++) {
    double middle = (shown + not_shown) / 2;
    *(color_is_shown(lightness, middle, hue) ? &shown : &not_shown) = middle;
  }
  linear_of_lch(lightness, whole ? chroma : shown, hue, rgb);
  return (Color){encode(rgb[0]), encode(rgb[1]), encode(rgb[2])};
}

/* ---- Maps and palette ------------------------------------------------------------------------ */

Color color_map(ColorBy by, double t) {
  if (by == COLOR_SPEED) return color_lch(24 + 62 * t, 54, 295 + 160 * t);
  double s = 2 * t - 1;
  return color_lch(82 - 42 * fabs(s), 50 * fabs(s), s < 0 ? 282 : 32);
}

/* Hues of successive bodies differ by the golden angle. */
Color color_palette(int index) {
  switch (index) {
  case PALETTE_MASS: return color_lch(36, 10, 260);
  case PALETTE_PIN: return color_lch(30, 4, 260);
  case PALETTE_LINE: return color_lch(50, 8, 260);
  case PALETTE_OBSTACLE: return color_lch(72, 6, 70);
  case PALETTE_LIGHT_SQUARE: return color_lch(94, 2, 90);
  case PALETTE_DARK_SQUARE: return color_lch(88, 2, 90);
  default: return color_lch(61, 52, fmod(40 + 137.508 * index, 360));
  }
}

static void put(unsigned char *rgba, Color color) {
  rgba[0] = (unsigned char)(255 * color.r + 0.5);
  rgba[1] = (unsigned char)(255 * color.g + 0.5);
  rgba[2] = (unsigned char)(255 * color.b + 0.5);
  rgba[3] = 255;
}

void color_ramp(ColorBy by, unsigned char rgba[RAMP_HEIGHT * RAMP_WIDTH * 4]) {
  unsigned char *palette = rgba + RAMP_WIDTH * 4;
  memset(palette, 0, RAMP_WIDTH * 4);
  for (int q = 0; q < RAMP_WIDTH; q++) put(rgba + 4 * q, color_map(by, q / (RAMP_WIDTH - 1.0)));
  for (int q = 0; q < PALETTE_COUNT; q++) put(palette + 4 * q, color_palette(q));
}

/* ---- Ranges ---------------------------------------------------------------------------------- */

/* Bins of the histogram from one power of two to the next, and the lowest exponent. */
enum { FINENESS = 16, LOWEST = -40 };

void spread_add(Spread *spread, double value) {
  int exponent, bin = 0;
  if (!isfinite(value)) return;
  double size = fabs(value), part = frexp(size, &exponent); /* size = part 2^exponent */
  if (size > 0 && exponent >= LOWEST)
    bin = FINENESS * (exponent - LOWEST) + (int)(2 * FINENESS * (part - 0.5));
  spread->count[bin < SPREAD_BINS ? bin : SPREAD_BINS - 1]++;
  spread->all++;
  spread->largest = fmax(spread->largest, size);
}

static double round_up(double value) {
  static const double steps[] = {1, 1.5, 2, 3, 4, 5, 6, 8};
  double power = pow(10, floor(log10(value)));
  for (int q = 0; q < 8; q++)
    if (value <= steps[q] * power * (1 + 1e-9)) return steps[q] * power;
  return 10 * power;
}

double spread_end(const Spread *spread) {
  int64_t left = spread->all / 100;
  int bin = SPREAD_BINS - 1;
  while (bin > 0 && spread->count[bin] <= left) left -= spread->count[bin--];
  double part = 0.5 + (bin % FINENESS + 1.0) / (2 * FINENESS);
  double end = ldexp(part, LOWEST + bin / FINENESS);
  return round_up(fmax(fmin(end, spread->largest), 1e-6));
}
