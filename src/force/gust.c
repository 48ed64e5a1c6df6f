/* Gusts: the air speeds up and slows down about its mean,
 *
 *     u(t) = velocity (1 + gust s(t)),   s(t) = sum_m A_m sin(2 pi R_m t / T)
 *
 * with A = 1/2, 3/10, 1/5 and R = 1, sqrt 3, sqrt 7, which are linearly independent over the
 * rational numbers: s has no period, its infimum -1 and supremum 1, the mean 0 and the root mean
 * square sqrt(0.19) = 0.44. It is smooth, it needs no random numbers and s(0) = 0. T is gust_period
 * (s), gust a pure number; a gust above 1 reverses the wind at times.
 */
#include "force/gust.h"

const double hk_gust_ratio[HK_GUST_WAVES] = {1, 1.7320508075688772, 2.6457513110645906};
const double hk_gust_amplitude[HK_GUST_WAVES] = {0.5, 0.3, 0.2};

double hk_gust_signal(double t, double period) {
  double phase = 2 * acos(-1.0) * t / period, s = 0;
  for (int m = 0; m < HK_GUST_WAVES; m++) s += hk_gust_amplitude[m] * sin(hk_gust_ratio[m] * phase);
  return s;
}

void hk_gust_velocity(const double velocity[3], double gust, double period, double t, double u[3]) {
  double factor = 1 + gust * hk_gust_signal(t, period);
  for (int c = 0; c < 3; c++) u[c] = factor * velocity[c];
}
