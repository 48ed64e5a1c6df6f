/* The gradient of what an implicit step minimizes, from the forces with a potential; see
 * gradient_kernels.h. */
#include "minimize/gradient_kernels.h"

#include "base/simd.h"

/* Three coordinates of each vertex, in the lanes of vectors; s times as much is added. */
HK_INLINE void add(const double *from, int64_t i, double s, HkDoubles g[3]) {
  HkDoubles v[3];
  if (!from) return;
  hk_doubles_load3(from + 3 * i, v);
  for (int c = 0; c < 3; c++) g[c] = g[c] + s * v[c];
}

/* |g_i|^2 / m_i of HK_DOUBLES vertices from i on. */
HK_INLINE HkDoubles finish(const HkGradientArgs *a, int64_t i) {
  HkDoubles g[3], x[3], y[3], sum = {0}, none = {0};
  HkDoubles mass = hk_doubles_load(a->mass + i), inverse = hk_doubles_load(a->inverse + i);
  hk_doubles_load3(a->g + 3 * i, g);
  add(a->f, i, 1, g);
  add(a->drag, i, -1, g);
  hk_doubles_load3(a->x + 3 * i, x);
  hk_doubles_load3(a->y + 3 * i, y);
  for (int c = 0; c < 3; c++) {
    g[c] = mass * (x[c] - y[c] - a->fall[c]) - a->square * g[c];
    g[c] = hk_doubles_select(inverse > none, g[c], none);
  }
  if (a->flat) g[2] = none;
  for (int c = 0; c < 3; c++) sum = sum + g[c] * g[c];
  hk_doubles_store3(a->g + 3 * i, g);
  return sum / mass;
}

/* |g_i|^2 / m_i of one vertex. */
static double finish_one(const HkGradientArgs *a, int64_t vertex) {
  double sum = 0;
  for (int c = 0; c < 3; c++) {
    int64_t i = 3 * vertex + c;
    double g = a->g[i];
    if (a->f) g += a->f[i];
    if (a->drag) g -= a->drag[i];
    bool counts = a->inverse[vertex] > 0 && !(a->flat && c == 2);
    a->g[i] = counts ? a->mass[vertex] * (a->x[i] - a->y[i] - a->fall[c]) - a->square * g : 0;
    sum += a->g[i] * a->g[i];
  }
  return sum / a->mass[vertex];
}

/* Eight partial sums whatever the SIMD width, so that the bits do not depend on it. */
enum { SUMS = 8, VECTORS = SUMS / HK_DOUBLES };

static double gradient(const HkGradientArgs *a, int64_t begin, int64_t end) {
  HkDoubles sums[VECTORS];
  double lane[SUMS], result = 0;
  int64_t i = begin;
  for (int v = 0; v < VECTORS; v++) sums[v] = hk_doubles_all(0);
  for (; i + SUMS <= end; i += SUMS)
    for (int v = 0; v < VECTORS; v++) sums[v] = sums[v] + finish(a, i + v * HK_DOUBLES);
  for (int v = 0; v < VECTORS; v++) hk_doubles_store(lane + v * HK_DOUBLES, sums[v]);
  for (int l = 0; l < SUMS; l++) result += lane[l];
  for (; i < end; i++) result += finish_one(a, i);
  return result;
}

const HkGradientKernels HK_KERNEL(hk_gradient_kernels) = {gradient};
