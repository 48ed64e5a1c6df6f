/* The barrier of a gap: an energy that grows without bound as two things come to touch.
 *
 *     f(s) = -(s - 1)^2 ln s   for 0 < s < 1,   0 from s = 1 on,   s = g / ghat
 *
 * g (m) is the gap, ghat (m) the gap from which on two things push each other apart. A pair has the
 * energy B = k ghat^2 f, with k in N/m: dB/dg = k ghat f' (N), d2B/dg2 = k f'' (N/m). f is convex
 * and has two continuous derivatives.
 */
#ifndef HK_CONTACT_BARRIER_H
#define HK_CONTACT_BARRIER_H

#include <math.h>

/* INFINITY where s is not above 0. */
static inline double hk_barrier(double s) {
  if (s >= 1) return 0;
  return s > 0 ? -(s - 1) * (s - 1) * log(s) : INFINITY;
}

/* f' <= 0 */
static inline double hk_barrier_slope(double s) {
  if (s >= 1) return 0;
  return s > 0 ? -2 * (s - 1) * log(s) - (s - 1) * (s - 1) / s : -INFINITY;
}

/* f'' >= 0 */
static inline double hk_barrier_curvature(double s) {
  if (s >= 1) return 0;
  double inverse = (s - 1) / s;
  return s > 0 ? -2 * log(s) - 4 * inverse + inverse * inverse : INFINITY;
}

/* f(s + d) - f(s), accurate where d is small: by the slopes and curvatures at both ends, whose
 * error is of the fifth order in d / s. */
static inline double hk_barrier_change(double s, double d) {
  const double SMALL = 1e-3;
  double to = s + d;
  if (!(fabs(d) < SMALL * s) || s >= 1 || to >= 1) return hk_barrier(to) - hk_barrier(s);
  double slopes = hk_barrier_slope(s) + hk_barrier_slope(to);
  double bend = hk_barrier_curvature(to) - hk_barrier_curvature(s);
  return d * (0.5 * slopes - d * bend / 12);
}

#endif
