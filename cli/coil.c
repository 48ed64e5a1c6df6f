/* Points of a coil; see coil.h.
 *
 *     x(s) = a + t (b - a) + r(s) (sin(2 pi n s) u + cos(2 pi n s) v),   t = lead + s (1 - 2 lead)
 *
 * with n turns, s from 0 to 1, and u, v across the axis and each other. The radius r(s) grows from
 * 0 at one end and falls to 0 at the other; a straight piece precedes and follows the coil.
 */
#include "coil.h"

#include "vector.h"

#include <math.h>
#include <string.h>

static const double LEAD = 0.10; /* of the length, straight at each end */
static const double SLANT = 0.30;
static const double RISES = 7; /* r(s) is constant after 1 / RISES of the turns */

/* Computes two unit vectors perpendicular to an axis and to each other; u is in the plane of a 2D
 * scene. */
static void find_across(const double axis[3], double u[3], double v[3]) {
  double help[3] = {0};
  int least = 0;
  for (int k = 1; k < 3; k++)
    if (fabs(axis[k]) <= fabs(axis[least])) least = k;
  help[least] = 1;
  vector_cross(axis, help, u);
  vector_normalize(u);
  vector_cross(axis, u, v);
  vector_normalize(v);
}

void coil_point(const float a[3], const float b[3], double radius, int part, float x[3]) {
  if (part == 0 || part == COIL_PARTS) {
    memcpy(x, part == 0 ? a : b, 3 * sizeof *x);
    return;
  }
  double axis[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]}, u[3], v[3];
  double s = (double)(part - 1) / (COIL_PARTS - 2), angle = 2 * acos(-1) * COIL_TURNS * s;
  double rise = fmin(1, RISES * fmin(s, 1 - s)), r = rise * radius;
  double t = LEAD + (1 - 2 * LEAD) * (s + rise * SLANT * cos(angle) / COIL_TURNS);
  find_across(axis, u, v);
  for (int k = 0; k < 3; k++)
    x[k] = (float)(a[k] + t * axis[k] + r * (sin(angle) * u[k] + cos(angle) * v[k]));
}
