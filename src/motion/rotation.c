/* A pin that turns about an axis.
 *
 *     x(t) = c + R(p) (x0 - c),   v(t) = w x (x(t) - c),   a(t) = w x v(t),   p = speed t, w = p' u
 *
 * with R(p) the right-handed rotation by p about the unit vector u = axis / |axis| and c a point on
 * the axis. Where an angle is given, the pin stops after it: p runs to +angle or, for a negative
 * speed, to -angle, and from then on w = 0.
 */
#include "base/vec.h"
#include "motion/motion.h"

#include <string.h>

typedef struct Rotation {
  double axis[3], center[3];
  double speed, angle;
} Rotation;

static const HkParam params[] = {
    HK_VECTOR(Rotation, axis, "", 0, 1, 0, "direction of the axis, of any length but 0"),
    HK_VECTOR(Rotation, center, "m", 0, 0, 0, "a point on the axis"),
    HK_NUMBER(Rotation, speed, "degrees/s", 90, -1e12, 1e12, "against the clock around the axis"),
    HK_NUMBER(Rotation, angle, "degrees", NAN, 0, 1e12,
              "the pin stops after this turn; never if not given"),
};

static HkStatus check(const void *chosen, HkError *error) {
  double unit[3];
  if (hk_unit(((const Rotation *)chosen)->axis, unit)) return HK_OK;
  return hk_fail_key(error, HK_ERROR_INVALID, "axis", "0 0 0 points nowhere, give a direction");
}

static void at(const void *chosen, double t, const double x0[3], double x[3], double v[3],
               double a[3]) {
  const double radians = M_PI / 180;
  const Rotation *p = chosen;
  double unit[3], R[9], w[3], arm[3], turned[3] = {0, 0, 0};
  double degrees = p->speed * t, speed = p->speed;
  if (fabs(degrees) >= p->angle) {
    degrees = copysign(p->angle, degrees);
    speed = 0;
  }
  hk_unit(p->axis, unit);
  /* Whole turns are removed before the multiplication by pi: long times lose no digits. */
  hk_mat_rotation(unit, radians * fmod(degrees, 360), R);
  hk_sub(x0, p->center, arm);
  hk_mat_add_product(R, arm, turned);
  memcpy(x, p->center, 3 * sizeof *x);
  hk_axpy(1, turned, x);
  for (int c = 0; c < 3; c++) w[c] = radians * speed * unit[c];
  hk_cross(w, turned, v);
  if (a) hk_cross(w, v, a);
}

const HkMotionType hk_motion_rotation = {
    .schema = {.name = "rotation",
               .summary = "the pin turns about an axis",
               .formula = "x(t) = center + R(axis, speed t) (x0 - center)",
               HK_PARAMS(Rotation, params)},
    .check = check,
    .at = at,
};
