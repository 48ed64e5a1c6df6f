/* Frozen turbulence: a pattern of waves in space that the mean wind carries along (Taylor),
 *
 *     u'(x, t) = strength |U| sum_m A_m e_m sin(k_m . (x - U t)),
 *     du'/dx   = strength |U| sum_m A_m cos(k_m . (x - U t)) e_m k_m^T
 *
 * with U the mean velocity, d = U / |U|, p the horizontal direction across it, q = d x p and, for
 * K = 2 pi / wavelength,
 *
 *     k_1 = K d,   k_2 = K R_2 (d + q) / sqrt 2,   k_3 = K R_3 (d + p) / sqrt 2
 *     e_1 = p,     e_2 = p,                        e_3 = q
 *
 * A_m and R_m being those of the gusts. Each e_m is perpendicular to its k_m, so the trace of
 * du'/dx is 0: the air keeps its volume. |u'| is at most strength |U|. Most of it is along p,
 * perpendicular to a flag on a vertical pole, which makes the flag wave.
 */
#include "force/turbulence.h"

#include "base/sine.h"
#include "base/vec.h"

#include <math.h>
#include <string.h>

/* Returns |velocity|, and its direction in d, without overflow of squares. */
static double split(const double velocity[3], double d[3]) {
  double speed = hk_norm(velocity), scale = 1;
  if (isinf(speed)) {
    scale = fmax(fmax(fabs(velocity[0]), fabs(velocity[1])), fabs(velocity[2]));
    double scaled[3] = {velocity[0] / scale, velocity[1] / scale, velocity[2] / scale};
    speed = hk_norm(scaled);
  }
  for (int c = 0; c < 3; c++) d[c] = speed > 0 ? velocity[c] / scale / speed : 0;
  return scale * speed;
}

/* p becomes a unit vector perpendicular to the wind direction d, horizontal unless d is vertical; q
 * = d x p. */
static void frame(const double d[3], int up, double p[3], double q[3]) {
  for (int tried = 0; tried < 3; tried++) {
    int axis = (up + tried) % 3;
    double unit[3] = {axis == 0, axis == 1, axis == 2};
    hk_cross(unit, d, p);
    if (hk_norm(p) > 1e-6) break;
  }
  double length = hk_norm(p);
  for (int c = 0; c < 3; c++) p[c] /= length;
  hk_cross(d, p, q);
}

HkTurbulence hk_turbulence(const double velocity[3], double strength, double wavelength, int up,
                           double t) {
  HkTurbulence w = {0};
  double d[3], p[3], q[3], speed = split(velocity, d);
  if (strength == 0 || speed == 0) return w;
  frame(d, up, p, q);
  const double *lean[HK_GUST_WAVES] = {d, q, p}, *side[HK_GUST_WAVES] = {p, p, q};
  double K = 2 * acos(-1.0) / wavelength;
  for (int m = 0; m < HK_GUST_WAVES; m++) {
    double sum[3] = {d[0], d[1], d[2]};
    hk_axpy(1, lean[m], sum);
    hk_axpy(K * hk_gust_ratio[m] / hk_norm(sum), sum, w.wave[m]);
    hk_axpy(strength * speed * hk_gust_amplitude[m], side[m], w.side[m]);
    w.phase[m] = hk_dot(w.wave[m], velocity) * t;
  }
  w.count = HK_GUST_WAVES;
  return w;
}

void hk_turbulence_add(const HkTurbulence *w, const double x[3], double u[3], double *gradient) {
  double angle[HK_GUST_WAVES], sine[HK_GUST_WAVES];
  if (gradient) memset(gradient, 0, 9 * sizeof *gradient);
  if (w->count == 0) return;
  for (int m = 0; m < HK_GUST_WAVES; m++) {
    angle[m] = hk_dot(w->wave[m], x) - w->phase[m];
    sine[m] = hk_sine(angle[m]);
  }
  for (int m = 0; m < HK_GUST_WAVES; m++) {
    hk_axpy(sine[m], w->side[m], u);
    if (gradient) hk_mat_add_outer(hk_cosine(angle[m]), w->side[m], w->wave[m], gradient);
  }
}
