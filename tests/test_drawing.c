/* What `hooke render` (cli/) draws with: colors, letters, coils; and what it reads frames from. */
#include "test.h"

#include "coil.h"
#include "colors.h"
#include "legend.h"
#include "vector.h"
#include "vtk_arrays.h"

#include <stdlib.h>
#include <string.h>

/* ---- Colors --------------------------------------------------------------------------------- */

static double linear(double s) {
  return s <= 0.04045 ? s / 12.92 : pow((s + 0.055) / 1.055, 2.4);
}

static double root(double t) {
  return t > pow(6.0 / 29, 3) ? cbrt(t) : t / (3 * pow(6.0 / 29, 2)) + 4.0 / 29;
}

/* sRGB to L*a*b*, by the definitions of sRGB and CIE, the other way round than the program. */
static void lab_of(Color c, double lab[3]) {
  double r = linear(c.r), g = linear(c.g), b = linear(c.b);
  double x = (0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / 0.95047;
  double y = 0.2126729 * r + 0.7151522 * g + 0.0721750 * b;
  double z = (0.0193339 * r + 0.1191920 * g + 0.9503041 * b) / 1.08883;
  lab[0] = 116 * root(y) - 16;
  lab[1] = 500 * (root(x) - root(y));
  lab[2] = 200 * (root(y) - root(z));
}

static double lightness(Color c) {
  double lab[3];
  lab_of(c, lab);
  return lab[0];
}

TEST(lch_gives_the_colors_of_the_screen) {
  Color red = color_lch(53.2408, 104.5518, 39.999), white = color_lch(100, 0, 0);
  CHECK_NEAR(red.r, 1, 2e-3);
  CHECK_NEAR(red.g, 0, 2e-2);
  CHECK_NEAR(red.b, 0, 2e-2);
  CHECK_NEAR(white.r + white.g + white.b, 3, 3e-3);
  Color gray = color_lch(53.389, 0, 0);
  CHECK_NEAR(gray.g, 0.5, 1e-4);
}

TEST(chroma_that_no_screen_shows_is_made_less_and_lightness_stays) {
  CHECK(!color_is_shown(60, 150, 200));
  for (int hue = 0; hue < 360; hue += 15) CHECK_NEAR(lightness(color_lch(60, 150, hue)), 60, 0.2);
}

TEST(lightness_of_speed_is_linear) {
  for (double t = 0; t <= 1; t += 0.05)
    CHECK_NEAR(lightness(color_map(COLOR_SPEED, t)), 24 + 62 * t, 0.2);
}

TEST(strain_is_as_light_on_both_sides_and_lightest_at_zero) {
  for (double s = 0.1; s <= 1; s += 0.1) {
    double stretched = lightness(color_map(COLOR_STRAIN, 0.5 + s / 2));
    CHECK_NEAR(stretched, lightness(color_map(COLOR_STRAIN, 0.5 - s / 2)), 0.2);
    CHECK_NEAR(stretched, 82 - 42 * s, 0.2);
  }
  Color none = color_map(COLOR_STRAIN, 0.5), most = color_map(COLOR_STRAIN, 1),
        least = color_map(COLOR_STRAIN, 0);
  CHECK(fabs(none.r - none.b) < 0.02 && most.r > most.b + 0.3 && least.b > least.r + 0.3);
}

/* Equal steps along a map look equally large. */
TEST(maps_are_even) {
  for (int by = COLOR_STRAIN; by <= COLOR_SPEED; by++) {
    double least = INFINITY, most = 0, before[3], now[3];
    lab_of(color_map((ColorBy)by, 0), before);
    for (int q = 1; q <= 40; q++, memcpy(before, now, sizeof now)) {
      lab_of(color_map((ColorBy)by, q / 40.0), now);
      double step = hypot(hypot(now[0] - before[0], now[1] - before[1]), now[2] - before[2]);
      least = fmin(least, step);
      most = fmax(most, step);
    }
    CHECK(most / least < 1.05);
  }
}

TEST(bodies_differ_in_color) {
  for (int p = 0; p < 6; p++)
    for (int q = 0; q < p; q++) {
      double a[3], b[3];
      lab_of(color_palette(p), a);
      lab_of(color_palette(q), b);
      CHECK(hypot(a[1] - b[1], a[2] - b[2]) > 20);
    }
}

static double end_of(const double *values, int count) {
  Spread spread = {0};
  for (int q = 0; q < count; q++) spread_add(&spread, values[q]);
  return spread_end(&spread);
}

TEST(scales_end_at_round_numbers) {
  CHECK_NEAR(end_of((double[]){0.013, -0.017}, 2), 0.02, 1e-15);
  CHECK_NEAR(end_of((double[]){1, 3.1}, 2), 4, 1e-12);
  CHECK_NEAR(end_of((double[]){700}, 1), 800, 1e-9);
  CHECK_NEAR(end_of((double[]){0.5, NAN, INFINITY}, 3), 0.5, 1e-12);
  CHECK_NEAR(end_of((double[]){0, 0}, 2), 1e-6, 1e-18);
}

TEST(scales_leave_out_what_is_rare) {
  Spread spread = {0};
  for (int q = 0; q < 995; q++) spread_add(&spread, 0.018 * q / 994);
  for (int q = 0; q < 5; q++) spread_add(&spread, 40);
  CHECK_NEAR(spread_end(&spread), 0.02, 1e-12);
}

/* ---- Coils ----------------------------------------------------------------------------------- */

TEST(coils_end_at_the_masses_and_keep_to_their_radius) {
  float a[] = {1, 2, 3}, b[] = {1.5F, -1, 4}, x[3], widest = 0;
  double axis[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
  vector_normalize(axis);
  for (int part = 0; part <= COIL_PARTS; part++) {
    coil_point(a, b, 0.1, part, x);
    double d[3] = {x[0] - a[0], x[1] - a[1], x[2] - a[2]}, cross[3];
    vector_cross(d, axis, cross);
    widest = fmaxf(widest, (float)sqrt(vector_dot(cross, cross)));
    if (part == 0) CHECK(memcmp(x, a, sizeof a) == 0);
  }
  CHECK(memcmp(x, b, sizeof b) == 0);
  CHECK_NEAR(widest, 0.1, 1e-4);
}

/* ---- Letters --------------------------------------------------------------------------------- */

enum { WIDE = 240, HIGH = 60 };

static void blank(unsigned char *rgba, int count) {
  memset(rgba, 255, 4 * (size_t)count);
}

/* Dark pixels, and whether all of them are in the columns from left to right. */
static int dark(const unsigned char *rgba, double left, double right, bool *inside) {
  int count = 0;
  *inside = true;
  for (int q = 0; q < WIDE * HIGH; q++) {
    if (rgba[4 * q] > 200) continue;
    count++;
    if (q % WIDE + 1 < left || q % WIDE > right) *inside = false;
  }
  return count;
}

TEST(texts_are_as_wide_as_they_say) {
  static const char *const texts[] = {"0123456789", "strain %", "speed m/s", "t = 1.25 s", "+0.5"};
  unsigned char rgba[4 * WIDE * HIGH];
  bool inside;
  for (size_t q = 0; q < sizeof texts / sizeof texts[0]; q++) {
    double width = strokes_width(texts[q], 20);
    blank(rgba, WIDE * HIGH);
    strokes_write((Raster){rgba, WIDE, HIGH}, texts[q], 10, 40, 20, (Color){0, 0, 0});
    CHECK(dark(rgba, 10 - 2, 10 + width + 2, &inside) > 60);
    CHECK(inside);
  }
}

TEST(digits_differ) {
  unsigned char rgba[10][4 * WIDE * HIGH];
  for (int p = 0; p < 10; p++) {
    char text[] = {(char)('0' + p), 0};
    blank(rgba[p], WIDE * HIGH);
    strokes_write((Raster){rgba[p], WIDE, HIGH}, text, 10, 40, 20, (Color){0, 0, 0});
    for (int q = 0; q < p; q++) {
      int differ = 0;
      for (int k = 0; k < 4 * WIDE * HIGH; k++) differ += abs(rgba[p][k] - rgba[q][k]) > 128;
      CHECK(differ > 40);
    }
  }
}

TEST(letters_outside_the_picture_are_cut_off) {
  unsigned char rgba[4 * WIDE * HIGH];
  blank(rgba, WIDE * HIGH);
  strokes_write((Raster){rgba, WIDE, HIGH}, "88", -12, 12, 30, (Color){0, 0, 0});
  strokes_write((Raster){rgba, WIDE, HIGH}, "88", WIDE - 10, HIGH + 9, 30, (Color){0, 0, 0});
  bool inside;
  CHECK(dark(rgba, 0, WIDE, &inside) > 20);
}

TEST(legends_show_the_ends_of_the_scale) {
  unsigned char rgba[4 * WIDE * HIGH];
  blank(rgba, WIDE * HIGH);
  legend_draw((Raster){rgba, WIDE, HIGH}, COLOR_STRAIN, 0.05);
  int red = 0, blue = 0;
  for (int q = 0; q < WIDE * HIGH; q++) {
    red += rgba[4 * q] > rgba[4 * q + 2] + 60;
    blue += rgba[4 * q + 2] > rgba[4 * q] + 60;
  }
  CHECK(red >= 3 && blue >= 3);
  blank(rgba, WIDE * HIGH);
  legend_draw((Raster){rgba, WIDE, HIGH}, COLOR_NONE, 0.05);
  bool inside;
  CHECK(dark(rgba, 0, WIDE, &inside) == 0);
}

/* ---- Arrays of VTK files --------------------------------------------------------------------- */

static HkStatus read_text(const char *text, int64_t count, float *values, HkError *error) {
  /* No byte more than the text has: sanitizers notice a reader that goes beyond it. */
  size_t size = strlen(text) + 1;
  VtkFile file = {.path = "test.vtp", .text = malloc(size)};
  memcpy(file.text, text, size);
  HkStatus status = vtk_read(&file, "Points", count, values, error);
  vtk_close(&file);
  return status;
}

/* 8 bytes of length and the numbers 1 and -2. */
#define ARRAY(type, code)                                                                          \
  "<x><DataArray type=\"Float32\" Name=\"velocity\" format=\"binary\">\nAAAA\n</DataArray>"        \
  "<DataArray type=\"" type "\" Name=\"Points\" NumberOfTuples=\"2\" format=\"binary\">\n" code    \
  "\n</DataArray>\n"

TEST(arrays_of_both_widths_are_read) {
  float values[2];
  MUST(read_text(ARRAY("Float32", "CAAAAAAAAAAAAIA/AAAAwA=="), 2, values, error));
  CHECK(values[0] == 1 && values[1] == -2);
  MUST(read_text(ARRAY("Float64", "EAAAAAAAAAAAAAAAAADwPwAAAAAAAADA"), 2, values, error));
  CHECK(values[0] == 1 && values[1] == -2);
}

TEST(arrays_that_are_not_whole_are_refused) {
  float values[3];
  FAILS(read_text(ARRAY("Float32", "CAAAAAAAAAAAAIA/AAAAwA=="), 3, values, error), HK_ERROR_FORMAT,
        "no whole array 'Points'");
  FAILS(read_text(ARRAY("Float32", "CAAAAAAAAAAAAIA/AA"), 2, values, error), HK_ERROR_FORMAT,
        "test.vtp");
  FAILS(read_text(ARRAY("Float32", ""), 2, values, error), HK_ERROR_FORMAT, "test.vtp");
  FAILS(read_text("<DataArray type=\"Float32\" Name=\"Points\"", 2, values, error), HK_ERROR_FORMAT,
        "test.vtp");
  FAILS(read_text("", 2, values, error), HK_ERROR_FORMAT, "test.vtp");
}

TEST(arrays_cut_anywhere_are_refused) {
  static const char whole[] = ARRAY("Float32", "CAAAAAAAAAAAAIA/AAAAwA==");
  const char *end = strstr(whole, "wA==") + 2;
  char text[sizeof whole];
  float values[2];
  for (size_t cut = 0; whole + cut < end; cut++) {
    memcpy(text, whole, cut);
    text[cut] = 0;
    FAILS(read_text(text, 2, values, error), HK_ERROR_FORMAT, "no whole array 'Points'");
  }
}
