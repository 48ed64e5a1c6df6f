/* The sign of a determinant, first in floating point with a bound of its rounding, then exactly.
 *
 * Exact numbers are expansions (J. R. Shewchuk, Adaptive precision floating-point arithmetic and
 * fast robust geometric predicates, 1997): sums of doubles without overlap, the smallest first.
 * Their sign is that of the last one.
 */
#include "contact/orient.h"

#include "base/vec.h"

#include <float.h>
#include <string.h>

/* ---- Expansions ---- */

/* Of a product of three differences, summed three times. */
enum { TERMS_MAX = 192 };

typedef struct Expansion {
  int count;
  double term[TERMS_MAX];
} Expansion;

/* a + b = *high + the returned rounding error. */
static double add_exact(double a, double b, double *high) {
  double sum = a + b, part = sum - a;
  *high = sum;
  return (a - (sum - part)) + (b - part);
}

/* e += b */
static void grow(Expansion *e, double b) {
  int kept = 0;
  for (int k = 0; k < e->count; k++) {
    double low = add_exact(b, e->term[k], &b);
    if (low != 0) e->term[kept++] = low;
  }
  if (b != 0) e->term[kept++] = b;
  e->count = kept;
}

/* e += f g */
static void add_product(Expansion *e, const Expansion *f, const Expansion *g, double sign) {
  for (int i = 0; i < f->count; i++)
    for (int j = 0; j < g->count; j++) {
      double high = f->term[i] * g->term[j];
      grow(e, sign * fma(f->term[i], g->term[j], -high));
      grow(e, sign * high);
    }
}

static Expansion difference(double a, double b) {
  Expansion e = {.count = 0};
  double high, low = add_exact(a, -b, &high);
  grow(&e, low);
  grow(&e, high);
  return e;
}

static int sign_of(const Expansion *e) {
  if (e->count == 0) return 0;
  return e->term[e->count - 1] > 0 ? 1 : -1;
}

/* ---- Determinants ---- */

static int orient_exactly(const double *a, const double *b, const double *c, const double *d) {
  const double *rows[3] = {a, b, c};
  Expansion e[3][3], det = {.count = 0};
  for (int r = 0; r < 3; r++)
    for (int k = 0; k < 3; k++) e[r][k] = difference(rows[r][k], d[k]);
  for (int r = 0; r < 3; r++) {
    const Expansion *u = e[(r + 1) % 3], *v = e[(r + 2) % 3];
    Expansion minor = {.count = 0};
    add_product(&minor, &u[0], &v[1], 1);
    add_product(&minor, &u[1], &v[0], -1);
    add_product(&det, &minor, &e[r][2], 1);
  }
  return sign_of(&det);
}

int hk_orient(const double a[3], const double b[3], const double c[3], const double d[3]) {
  const double UNIT = DBL_EPSILON / 2, BOUND = (7 + 56 * UNIT) * UNIT;
  const double *rows[3] = {a, b, c};
  double e[3][3], det = 0, size = 0;
  for (int r = 0; r < 3; r++) hk_sub(rows[r], d, e[r]);
  for (int k = 0; k < 3; k++) /* a difference is 0 only where it is so exactly */
    if (e[0][k] == 0 && e[1][k] == 0 && e[2][k] == 0) return 0;
  for (int r = 0; r < 3; r++) {
    const double *u = e[(r + 1) % 3], *v = e[(r + 2) % 3];
    double first = u[0] * v[1], second = u[1] * v[0];
    det += (first - second) * e[r][2];
    size += (fabs(first) + fabs(second)) * fabs(e[r][2]);
  }
  if (det > BOUND * size) return 1;
  if (det < -BOUND * size) return -1;
  return orient_exactly(a, b, c, d);
}

/* ---- Segment and triangle ---- */

/* A point off the plane of a triangle: with it the orientation of three points in the plane is that
 * of a tetrahedron. False for a triangle without area. */
static bool leave_plane(const double *a, const double *b, const double *c, double off[3]) {
  double u[3], v[3], n[3];
  hk_sub(b, a, u);
  hk_sub(c, a, v);
  hk_cross(u, v, n);
  int axis = fabs(n[0]) >= fabs(n[1]) ? 0 : 1;
  if (fabs(n[2]) > fabs(n[axis])) axis = 2;
  double size = fmax(fmax(hk_norm(u), hk_norm(v)), fabs(a[axis]));
  for (int k = 0; k < 3; k++) { /* the largest component of n may be rounding alone */
    memcpy(off, a, 3 * sizeof *off);
    off[(axis + k) % 3] += size > 0 ? size : 1;
    if (hk_orient(a, b, c, off) != 0) return true;
  }
  return false;
}

static bool is_between(int s1, int s2, int s3) {
  return (s1 >= 0 && s2 >= 0 && s3 >= 0) || (s1 <= 0 && s2 <= 0 && s3 <= 0);
}

/* Whether two segments of a plane meet; off lies off the plane. Collinear ones meet where an end of
 * one lies between those of the other. */
static bool segments_meet(const double *p, const double *q, const double *a, const double *b,
                          const double *off) {
  int p_side = hk_orient(a, b, p, off), q_side = hk_orient(a, b, q, off);
  int a_side = hk_orient(p, q, a, off), b_side = hk_orient(p, q, b, off);
  if (p_side != 0 || q_side != 0 || a_side != 0 || b_side != 0)
    return p_side * q_side <= 0 && a_side * b_side <= 0;
  for (int c = 0; c < 3; c++) /* collinear: their boxes meet */
    if (fmax(p[c], q[c]) < fmin(a[c], b[c]) || fmax(a[c], b[c]) < fmin(p[c], q[c])) return false;
  return true;
}

static bool meets_in_plane(const double *p, const double *q, const double *a, const double *b,
                           const double *c) {
  double off[3];
  if (!leave_plane(a, b, c, off)) return false;
  if (is_between(hk_orient(a, b, p, off), hk_orient(b, c, p, off), hk_orient(c, a, p, off)))
    return true;
  return segments_meet(p, q, a, b, off) || segments_meet(p, q, b, c, off) ||
         segments_meet(p, q, c, a, off);
}

bool hk_segment_meets_triangle(const double p[3], const double q[3], const double a[3],
                               const double b[3], const double c[3]) {
  int p_side = hk_orient(a, b, c, p), q_side = hk_orient(a, b, c, q);
  if (p_side * q_side > 0) return false;
  if (p_side == 0 && q_side == 0) return meets_in_plane(p, q, a, b, c);
  return is_between(hk_orient(p, q, a, b), hk_orient(p, q, b, c), hk_orient(p, q, c, a));
}
