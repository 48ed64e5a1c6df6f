/* A pin that stays where it is: x(t) = x0, v(t) = 0, a(t) = 0. */
#include "motion/motion.h"

#include <string.h>

static void at(const void *params, double t, const double x0[3], double x[3], double v[3],
               double a[3]) {
  (void)params;
  (void)t;
  memcpy(x, x0, 3 * sizeof *x);
  memset(v, 0, 3 * sizeof *v);
  if (a) memset(a, 0, 3 * sizeof *a);
}

const HkMotionType hk_motion_fixed = {
    .schema = {.name = "fixed", .summary = "the pin stays where it is", .formula = "x(t) = x0"},
    .rests = true,
    .at = at,
};
