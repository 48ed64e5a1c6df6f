/* Text in pictures; see strokes.h.
 *
 * A letter is a list of strokes with blanks between them. A point of a stroke is two hexadecimal
 * digits, x and y of a grid with the baseline at y = 4, the height of small letters at 11 and of
 * digits at 14. Strokes join their points by straight lines; one that begins with ~ is a smooth
 * curve through them (Catmull-Rom), one that begins with o such a curve that closes.
 *
 * A pixel is covered by clamp(r - d + 1/2, 0, 1), d being the distance of its center from the
 * nearest stroke and r half the width of the pen.
 */
#include "strokes.h"

#include <math.h>
#include <string.h>

typedef struct Letter {
  char letter;
  int advance;
  const char *strokes;
} Letter;

static const Letter letters[] = {
    {'0', 8, "o3E5D69553415091D"},
    {'1', 8, "1C3E34"},
    {'2', 8, "~0B1D3E5D6B59 590464"},
    {'3', 8, "~0C2E4E6C5A39 ~395866442406"},
    {'4', 8, "4E0767 4E44"},
    {'5', 8, "5E1E09 ~093A5967553405"},
    {'6', 8, "~5D3E1B07 o3A59675534150719"},
    {'7', 8, "0E6E24"},
    {'8', 8, "o3E5C391C o39663406"},
    {'9', 8, "~1534576B o38190B1D3E5D6B59"},
    {'+', 8, "0969 3C36"},
    {'-', 8, "0969"},
    {'.', 4, "1414"},
    {'%', 10, "o2E3C2A1C 7E14 o68766456"},
    {'/', 8, "6F02"},
    {'=', 8, "0B6B 0767"},
    {'a', 8, "o3B5A68553415081A 6B64"},
    {'d', 8, "o3B5A68553415081A 6E64"},
    {'e', 8, "0868 ~685A3B1A08153455"},
    {'i', 4, "1B14 1E1E"},
    {'m', 10, "0B04 ~092B49 4944 ~496B89 8984"},
    {'n', 8, "0B04 ~092B4B69 6964"},
    {'p', 8, "o3B5A68553415081A 0B00"},
    {'r', 6, "0B04 ~082A4B"},
    {'s', 7, "~5A3B1A193856553405"},
    {'t', 6, "2E26 ~263454 0B4B"},
};

enum { BASE = 4, DIGIT_HEIGHT = 10, BLANK = 5, MAX_POINTS = 16, PARTS = 6, MAX_PIECES = 192 };
static const double PEN = 0.6; /* half its width, in units of the grid */

/* A straight piece of a stroke, in units of the grid. */
typedef struct Piece {
  double a[2], b[2];
} Piece;

static const Letter *find(char letter) {
  for (size_t q = 0; q < sizeof letters / sizeof letters[0]; q++)
    if (letters[q].letter == letter) return &letters[q];
  return NULL;
}

/* ---- Strokes --------------------------------------------------------------------------------- */

static double digit_value(char digit) {
  return digit <= '9' ? digit - '0' : digit - 'A' + 10;
}

/* Reads the points of one stroke and moves *text past it. */
static int read_points(const char **text, double points[MAX_POINTS][2]) {
  int count = 0;
  for (; **text && **text != ' ' && count < MAX_POINTS; *text += 2, count++) {
    points[count][0] = digit_value((*text)[0]);
    points[count][1] = digit_value((*text)[1]);
  }
  return count;
}

/* Interpolates at t = 0 .. 1 between the second and the third of four points. */
static double smooth(double a, double b, double c, double d, double t) {
  return b + 0.5 * t * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)));
}

static void place(double points[MAX_POINTS][2], int count, bool closed, int at, double t,
                  double p[2]) {
  int index[4];
  for (int q = 0; q < 4; q++) {
    int i = at - 1 + q;
    index[q] = closed ? (i + count) % count : i < 0 ? 0 : i >= count ? count - 1 : i;
  }
  for (int c = 0; c < 2; c++)
    p[c] = smooth(points[index[0]][c], points[index[1]][c], points[index[2]][c],
                  points[index[3]][c], t);
}

static int add_stroke(const char **text, Piece *pieces) {
  double points[MAX_POINTS][2];
  bool closed = **text == 'o', curved = closed || **text == '~';
  if (curved) (*text)++;
  int count = read_points(text, points), used = 0, parts = curved ? PARTS : 1;
  for (int q = 0; q < (closed ? count : count - 1); q++)
    for (int k = 0; k < parts; k++, used++) {
      if (curved) {
        place(points, count, closed, q, (double)k / parts, pieces[used].a);
        place(points, count, closed, q, (k + 1.0) / parts, pieces[used].b);
      } else {
        memcpy(pieces[used].a, points[q], sizeof points[q]);
        memcpy(pieces[used].b, points[q + 1], sizeof points[q + 1]);
      }
    }
  return used;
}

static int add_letter(const Letter *letter, Piece pieces[MAX_PIECES]) {
  int used = 0;
  for (const char *text = letter->strokes; *text;) {
    if (*text == ' ')
      text++;
    else if (used + MAX_POINTS * PARTS <= MAX_PIECES)
      used += add_stroke(&text, pieces + used);
    else
      break;
  }
  return used;
}

/* ---- Pixels ---------------------------------------------------------------------------------- */

static double distance(const Piece *s, double x, double y) {
  double dx = s->b[0] - s->a[0], dy = s->b[1] - s->a[1], square = dx * dx + dy * dy;
  double t = square > 0 ? ((x - s->a[0]) * dx + (y - s->a[1]) * dy) / square : 0;
  t = fmin(fmax(t, 0), 1);
  return hypot(s->a[0] + t * dx - x, s->a[1] + t * dy - y);
}

void strokes_blend(Raster r, int x, int y, Color color, double cover) {
  if (x < 0 || y < 0 || x >= r.width || y >= r.height) return;
  unsigned char *at = r.rgba + 4 * ((int64_t)y * r.width + x);
  const double values[3] = {color.r, color.g, color.b};
  for (int c = 0; c < 3; c++)
    at[c] = (unsigned char)((1 - cover) * at[c] + 255 * cover * values[c] + 0.5);
}

/* Draws one letter whose baseline begins at x, y. */
static void draw_letter(Raster r, const Letter *letter, double x, double y, double unit,
                        Color color) {
  Piece pieces[MAX_PIECES];
  int count = add_letter(letter, pieces);
  int left = (int)floor(x - 2 * unit), right = (int)ceil(x + (letter->advance + 1) * unit);
  int top = (int)floor(y - (DIGIT_HEIGHT + 2) * unit), bottom = (int)ceil(y + (BASE + 1) * unit);
  double pen = fmax(PEN * unit, 0.55); /* a thinner one would be pale */
  for (int row = top; row <= bottom; row++)
    for (int column = left; column <= right; column++) {
      double least = INFINITY;
      for (int q = 0; q < count; q++)
        least = fmin(
            least, distance(&pieces[q], (column + 0.5 - x) / unit, BASE + (y - row - 0.5) / unit));
      double cover = pen - least * unit + 0.5;
      if (cover > 0) strokes_blend(r, column, row, color, fmin(cover, 1));
    }
}

/* ---- Texts ----------------------------------------------------------------------------------- */

double strokes_width(const char *text, double height) {
  double width = 0;
  for (; *text; text++) {
    const Letter *letter = find(*text);
    width += letter ? letter->advance : BLANK;
  }
  return (width - 2) * height / DIGIT_HEIGHT;
}

void strokes_write(Raster raster, const char *text, double x, double y, double height,
                   Color color) {
  double unit = height / DIGIT_HEIGHT;
  for (; *text; text++) {
    const Letter *letter = find(*text);
    if (letter) draw_letter(raster, letter, x, y, unit, color);
    x += (letter ? letter->advance : BLANK) * unit;
  }
}
