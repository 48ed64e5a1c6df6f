/* The sine for loops over many angles: without branches and calls, so that processors overlap
 * several evaluations, and with the same bits on every machine.
 *
 *     k = angle / pi, rounded;   r = angle - k pi;   sin angle = (-1)^k (r - r^3 / 3! + ...)
 *
 * With |r| <= pi / 2 the series to r^17 has an error below 5e-14. pi is split into two parts, of
 * which k times the first is exact for angles up to 3e6.
 */
#ifndef HK_BASE_SINE_H
#define HK_BASE_SINE_H

/* A whole number near a, |a| < 2^51: added to 1.5 * 2^52 there are no digits left behind the
 * point. */
static inline double hk_rounded(double a) {
  const double LARGE = 6755399441055744.0;
  return (a + LARGE) - LARGE;
}

static inline double hk_sine(double angle) {
  const double FIRST = 0x1.921fb544p+1, REST = 0x1.0b4611a626331p-33; /* of pi */
  double k = hk_rounded(angle * 0.31830988618379067), odd = k - 2 * hk_rounded(0.5 * k);
  double r = (angle - k * FIRST) - k * REST, s = r * r, s2 = s * s, s4 = s2 * s2;
  /* By pairs: a chain of eight products would take twice as long. */
  double low = (1 - s * (1.0 / 6)) + s2 * (1.0 / 120 - s * (1.0 / 5040));
  double high =
      (1.0 / 362880 - s * (1.0 / 39916800)) + s2 * (1.0 / 6227020800 - s * (1.0 / 1307674368000));
  double sum = low + s4 * (high + s4 * (1.0 / 355687428096000));
  return (1 - 2 * odd * odd) * r * sum;
}

static inline double hk_cosine(double angle) {
  return hk_sine(angle + 1.5707963267948966);
}

#endif
