/* The gradient of what an implicit step minimises, from the forces with a potential; see
 * gradient_kernels.h. */
#include "minimize/gradient_kernels.h"

#include "base/simd.h"

/* Three coordinates of each vertex, in the lanes of vectors; s times as much is added. */
HK_INLINE void add(const double *from, int64_t q, double s, HkDoubles g[3]) {
  HkDoubles v[3];
  if (!from) return;
  hk_doubles_load3(from + 3 * q, v);
  for (int c = 0; c < 3; c++) g[c] = g[c] + s * v[c];
}

/* |g_i|^2 / m_i of HK_DOUBLES vertices from q on. */
HK_INLINE HkDoubles finish(const HkGradientArgs *a, int64_t q) {
  HkDoubles g[3], x[3], y[3], sum = {0}, none = {0};
  HkDoubles mass = hk_doubles_load(a->mass + q), inverse = hk_doubles_load(a->inverse + q);
  hk_doubles_load3(a->g + 3 * q, g);
  add(a->f, q, 1, g);
  add(a->drag, q, -1, g);
  hk_doubles_load3(a->x + 3 * q, x);
  hk_doubles_load3(a->y + 3 * q, y);
  for (int c = 0; c < 3; c++) {
    g[c] = mass * (x[c] - y[c] - a->fall[c]) - a->square * g[c];
    g[c] = hk_doubles_select(inverse > none, g[c], none);
  }
  if (a->flat) g[2] = none;
  for (int c = 0; c < 3; c++) sum = sum + g[c] * g[c];
  hk_doubles_store3(a->g + 3 * q, g);
  return sum / mass;
}

/* |g_q|^2 / m_q of one vertex. */
static double finish_one(const HkGradientArgs *a, int64_t q) {
  double sum = 0;
  for (int c = 0; c < 3; c++) {
    int64_t i = 3 * q + c;
    double g = a->g[i];
    if (a->f) g += a->f[i];
    if (a->drag) g -= a->drag[i];
    bool counts = a->inverse[q] > 0 && !(a->flat && c == 2);
    a->g[i] = counts ? a->mass[q] * (a->x[i] - a->y[i] - a->fall[c]) - a->square * g : 0;
    sum += a->g[i] * a->g[i];
  }
  return sum / a->mass[q];
}

/* Eight partial sums whatever the SIMD width, so that the bits do not depend on it. */
enum { SUMS = 8, VECTORS = SUMS / HK_DOUBLES };

static double gradient(const HkGradientArgs *a, int64_t begin, int64_t end) {
  HkDoubles sums[VECTORS];
  double lane[SUMS], result = 0;
  int64_t q = begin;
  for (int v = 0; v < VECTORS; v++) sums[v] = hk_doubles_all(0);
  for (; q + SUMS <= end; q += SUMS)
    for (int v = 0; v < VECTORS; v++) sums[v] = sums[v] + finish(a, q + v * HK_DOUBLES);
  for (int v = 0; v < VECTORS; v++) hk_doubles_store(lane + v * HK_DOUBLES, sums[v]);
  for (int l = 0; l < SUMS; l++) result += lane[l];
  for (; q < end; q++) result += finish_one(a, q);
  return result;
}

const HkGradientKernels HK_KERNEL(hk_gradient_kernels) = {gradient};
