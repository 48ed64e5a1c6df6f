/* Camera of a scene; see camera.h.
 *
 * With r, u, d the coordinates of a point along right, up and toward, and c those of the eye, a
 * point is left of the window's right edge if
 *
 *     r - c_r <= s (c_d - d),   that is   r + s d <= c_r + s c_d
 *
 * where s is the slope of that edge: how far right it is, 1 m in front of the eye. So the camera
 * depends on one number a side, the largest r + s d over all points. The smallest c_d for which
 * both sides fit is
 *
 *     c_d = (max(r + s d) + max(-r + s' d)) / (s + s')
 *
 * and c_r is the middle of its admissible interval. A parallel camera has slope 0: then the numbers
 * are the size of the picture.
 */
#include "camera.h"

#include "vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double HALF_ANGLE = 14;              /* degrees, of the picture's height */
static const double AZIMUTH = 28, ELEVATION = 22; /* degrees: a view from the right and above */
static const double PADDING = 0.02;               /* of the size, for the thickness of things */

static double radians(double degrees) {
  return degrees * acos(-1) / 180;
}

/* ---- The option --camera
 * ---------------------------------------------------------------------- */

/* Reads numbers that are separated by commas; returns their count, or -1. */
static int read_numbers(const char **text, double *numbers, int most) {
  int count = 0;
  for (;;) {
    char *end;
    double value = strtod(*text, &end);
    if (end == *text || !isfinite(value) || count == most) return -1;
    numbers[count++] = value;
    *text = end;
    if (**text != ',') return count;
    (*text)++;
  }
}

bool camera_read(const char *text, int dimension, CameraOptions *options) {
  double numbers[3];
  *options = (CameraOptions){.zoom = 1};
  if (dimension == 3) {
    options->azimuth = AZIMUTH;
    options->elevation = ELEVATION;
  }
  if (!text) return true;
  int count = read_numbers(&text, numbers, 3);
  if (count == 3 && *text == '/') {
    options->placed = true;
    memcpy(options->eye, numbers, sizeof numbers);
    text++;
    bool whole = read_numbers(&text, options->target, 3) == 3 && *text == 0;
    return whole && memcmp(options->eye, options->target, sizeof numbers) != 0;
  }
  if (count < 2 || *text != 0) return false;
  options->azimuth = numbers[0];
  options->elevation = numbers[1];
  if (count == 3) options->zoom = numbers[2];
  return fabs(options->elevation) <= 90 && options->zoom >= 0.01 && options->zoom <= 100;
}

/* ---- Axes ------------------------------------------------------------------------------------ */

/* Computes the axes of the view at azimuth and elevation 0, right-handed, with x to the right
 * unless x is up. */
static void front_axes(int up, double right[3], double upward[3], double front[3]) {
  memset(right, 0, 3 * sizeof *right);
  memset(upward, 0, 3 * sizeof *upward);
  right[up == 0 ? 1 : 0] = 1;
  upward[up] = 1;
  vector_cross(right, upward, front);
}

static void turn(Camera *c, double azimuth, double elevation, int up) {
  double side[3], upward[3], front[3], level[3];
  double a = radians(azimuth), e = radians(elevation);
  front_axes(up, side, upward, front);
  for (int q = 0; q < 3; q++) {
    level[q] = cos(a) * front[q] + sin(a) * side[q];
    c->right[q] = cos(a) * side[q] - sin(a) * front[q];
    c->toward[q] = cos(e) * level[q] + sin(e) * upward[q];
    c->up[q] = cos(e) * upward[q] - sin(e) * level[q];
  }
}

static void look(Camera *c, const CameraOptions *options, int up) {
  double side[3], upward[3], front[3];
  front_axes(up, side, upward, front);
  for (int q = 0; q < 3; q++) c->toward[q] = options->eye[q] - options->target[q];
  vector_normalize(c->toward);
  vector_cross(upward, c->toward, c->right);
  if (!vector_normalize(c->right)) memcpy(c->right, side, sizeof side); /* straight from above */
  vector_cross(c->toward, c->right, c->up);
  memcpy(c->eye, options->eye, sizeof c->eye);
}

Camera camera_aim(const CameraOptions *options, int up, bool parallel, double aspect) {
  Camera c = {.parallel = parallel, .half_height = tan(radians(HALF_ANGLE))};
  c.half_width = c.half_height * aspect;
  if (options->placed)
    look(&c, options, up);
  else
    turn(&c, options->azimuth, options->elevation, up);
  return c;
}

/* ---- Fitting --------------------------------------------------------------------------------- */

/* Slopes of the window's sides: right, left, up, down. */
static void find_slopes(const Camera *c, Window w, double slope[4]) {
  double x = c->parallel ? 0 : c->half_width, y = c->parallel ? 0 : c->half_height;
  slope[0] = x * w.right;
  slope[1] = -x * w.left;
  slope[2] = y * w.top;
  slope[3] = -y * w.bottom;
}

Extent extent_empty(void) {
  Extent e = {.front = -INFINITY, .back = INFINITY};
  for (int q = 0; q < 4; q++) e.side[q] = -INFINITY;
  for (int q = 0; q < 3; q++) {
    e.low[q] = INFINITY;
    e.high[q] = -INFINITY;
  }
  return e;
}

void extent_add(Extent *e, const Camera *c, Window window, const float *x, int64_t count) {
  double slope[4];
  find_slopes(c, window, slope);
  for (int64_t p = 0; p < count; p++, x += 3) {
    double at[3] = {x[0], x[1], x[2]};
    double r = vector_dot(at, c->right), u = vector_dot(at, c->up), d = vector_dot(at, c->toward);
    if (!isfinite(r + u + d)) continue;
    e->side[0] = fmax(e->side[0], r + slope[0] * d);
    e->side[1] = fmax(e->side[1], -r + slope[1] * d);
    e->side[2] = fmax(e->side[2], u + slope[2] * d);
    e->side[3] = fmax(e->side[3], -u + slope[3] * d);
    e->front = fmax(e->front, d);
    e->back = fmin(e->back, d);
    for (int q = 0; q < 3; q++) {
      e->low[q] = fmin(e->low[q], at[q]);
      e->high[q] = fmax(e->high[q], at[q]);
    }
  }
}

/* Returns the largest side of the box, or 1 m if it is a point. */
static double size_of(const Extent *e) {
  double size = 0;
  for (int q = 0; q < 3; q++) size = fmax(size, e->high[q] - e->low[q]);
  return size > 0 ? size : 1;
}

static void fit_perspective(Camera *c, Window w, const double side[4]) {
  double slope[4];
  find_slopes(c, w, slope);
  double d = fmax((side[0] + side[1]) / (slope[0] + slope[1]),
                  (side[2] + side[3]) / (slope[2] + slope[3]));
  double r = (side[0] - slope[0] * d + slope[1] * d - side[1]) / 2;
  double u = (side[2] - slope[2] * d + slope[3] * d - side[3]) / 2;
  for (int q = 0; q < 3; q++) c->eye[q] = r * c->right[q] + u * c->up[q] + d * c->toward[q];
}

static void fit_parallel(Camera *c, Window w, const double side[4], double front, double size) {
  double aspect = c->half_width / c->half_height;
  double across = (side[0] + side[1]) / (w.right - w.left);
  double upright = (side[2] + side[3]) / (w.top - w.bottom);
  c->half_height = fmax(upright, across / aspect);
  c->half_width = c->half_height * aspect;
  double r = (side[0] - side[1]) / 2 - c->half_width * (w.left + w.right) / 2;
  double u = (side[2] - side[3]) / 2 - c->half_height * (w.bottom + w.top) / 2;
  double d = front + size;
  for (int q = 0; q < 3; q++) c->eye[q] = r * c->right[q] + u * c->up[q] + d * c->toward[q];
}

void camera_fit(Camera *c, const CameraOptions *options, Window window, const Extent *seen) {
  Extent origin = extent_empty();
  extent_add(&origin, c, window, (float[]){0, 0, 0}, 1);
  const Extent *e = seen->front >= seen->back ? seen : &origin;
  double size = size_of(e), side[4];
  for (int q = 0; q < 4; q++) side[q] = e->side[q] + PADDING * size;
  if (c->parallel)
    fit_parallel(c, window, side, e->front, size);
  else if (!options->placed)
    fit_perspective(c, window, side);
  c->half_width /= options->zoom;
  c->half_height /= options->zoom;
  double depth = vector_dot(c->eye, c->toward);
  /* A ground or water reaches further than what is on it. */
  c->furthest = fmax(depth - e->back, size) + 2 * size;
  c->nearest = fmax(0.3 * (depth - e->front), 1e-3 * c->furthest);
}

double camera_height(const Camera *c, const Extent *e) {
  double distance = vector_dot(c->eye, c->toward) - (e->front + e->back) / 2;
  return 2 * c->half_height * (c->parallel ? 1 : fmax(distance, c->nearest));
}

/* ---- Matrix ---------------------------------------------------------------------------------- */

void camera_matrix(const Camera *c, float matrix[16]) {
  double n = c->nearest, f = c->furthest, row[4][4] = {{0}};
  for (int q = 0; q < 3; q++) {
    row[0][q] = c->right[q] / c->half_width;
    row[1][q] = c->up[q] / c->half_height;
    row[2][q] = -c->toward[q] * (c->parallel ? 2 : f + n) / (f - n);
    row[3][q] = c->parallel ? 0 : -c->toward[q];
  }
  for (int p = 0; p < 4; p++) row[p][3] = -vector_dot(row[p], c->eye);
  row[2][3] -= (c->parallel ? f + n : 2 * f * n) / (f - n);
  if (c->parallel) row[3][3] = 1;
  for (int p = 0; p < 4; p++)
    for (int q = 0; q < 4; q++) matrix[4 * q + p] = (float)row[p][q];
}
