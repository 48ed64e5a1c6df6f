/* A library of forces with one force: a magnet that attracts all vertices to a point p.
 *
 *     E = -s sum 1 / q,   q = sqrt(r^2 + d^2),   r = |x_i - p|
 *     f = -s (x - p) / q^3
 *     H = s / q^3 (I - n n^T) + s (1 - 3 r^2 / q^2) / q^3 n n^T,   n = (x - p) / r
 *
 * The second term of H is negative beyond r = d / sqrt(2), and the projected Hessian drops it
 * there. Settings: "strength=S at=X,Y,Z distance=D" with s in J m, p and d in m.
 *
 *     cc -shared -fPIC -O2 magnet.c -o magnet.so -lm
 */
#include <hooke/extend.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct Magnet {
  const HkForceHost *host;
  double strength, at[3], distance;
} Magnet;

/* Writes x - p into d and returns q. */
static double offset(const Magnet *m, const double *x, double d[3]) {
  double square = m->distance * m->distance;
  for (int c = 0; c < 3; c++) {
    d[c] = x[c] - m->at[c];
    square += d[c] * d[c];
  }
  return sqrt(square);
}

static double energy(void *user, const HkForceAt *at) {
  const Magnet *m = user;
  double sum = 0, d[3];
  for (int64_t i = 0; i < at->vertices; i++) sum -= m->strength / offset(m, at->x + 3 * i, d);
  return sum;
}

static void add(void *user, const HkForceAt *at, double *f) {
  const Magnet *m = user;
  double d[3];
  for (int64_t i = 0; i < at->vertices; i++) {
    double q = offset(m, at->x + 3 * i, d);
    for (int c = 0; c < 3; c++) f[3 * i + c] -= m->strength * d[c] / (q * q * q);
  }
}

static void hessian(void *user, const HkForceAt *at, HkForceBlockSink *sink) {
  const Magnet *m = user;
  double d[3], H[9];
  for (int64_t i = 0; i < at->vertices; i++) {
    double q = offset(m, at->x + 3 * i, d), r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    double across = m->strength / (q * q * q), along = across * (1 - 3 * r2 / (q * q));
    if (at->projected) along = fmax(along, 0);
    double outer = r2 > 0 ? (along - across) / r2 : 0;
    for (int c = 0; c < 9; c++) H[c] = outer * d[c / 3] * d[c % 3] + (c % 4 == 0 ? across : 0);
    m->host->add_block(sink, (int32_t)i, (int32_t)i, H);
  }
}

/* All settings, in this order; the library decides how they look. */
static HkStatus parse(Magnet *m, const char *settings, HkError *error) {
  static const char format[] = "strength=%lf at=%lf,%lf,%lf distance=%lf%n";
  int length = 0;
  int count = sscanf(settings ? settings : "", format, &m->strength, &m->at[0], &m->at[1],
                     &m->at[2], &m->distance, &length);
  if (count != 5 || settings[length] != 0 || !(m->distance > 0))
    return m->host->fail(error, HK_ERROR_INVALID,
                         "expected \"strength=S at=X,Y,Z distance=D\" with numbers and D above 0");
  return HK_OK;
}

static HkStatus create(const HkForceHost *host, const HkModel *model, const char *settings,
                       HkForceFunctions *functions, void **user, HkError *error) {
  Magnet *m = calloc(1, sizeof *m);
  (void)model;
  if (!m) return host->fail(error, HK_ERROR_MEMORY, "out of memory");
  m->host = host;
  HkStatus status = parse(m, settings, error);
  if (status < 0) {
    free(m);
    return status;
  }
  functions->energy = energy;
  functions->add = add;
  functions->hessian = hessian;
  functions->destroy = free;
  *user = m;
  return HK_OK;
}

const HkForceLibrary *hooke_force_library(void) {
  static const HkLibraryForce forces[] = {{"magnet", "attracts all vertices to a point", create}};
  static const HkForceLibrary library = {HK_FORCE_LIBRARY_VERSION, sizeof library, 1, forces};
  return &library;
}
