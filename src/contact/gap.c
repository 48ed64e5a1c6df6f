/* Closest points by the regions of the parameters; see gap.h. */
#include "contact/gap.h"

#include "base/vec.h"

/* d = sum w_a x_a */
static double combine(const double x[12], const double w[4], double d[3]) {
  for (int c = 0; c < 3; c++)
    d[c] = w[0] * x[c] + w[1] * x[3 + c] + w[2] * x[6 + c] + w[3] * x[9 + c];
  return hk_norm(d);
}

static double clamp(double s) {
  return s < 0 ? 0 : s > 1 ? 1 : s;
}

/* Parameter of the point of a segment a b that is closest to p; 0 for a segment without length. */
static double project(const double *p, const double *a, const double *b) {
  double u[3], r[3];
  hk_sub(b, a, u);
  hk_sub(p, a, r);
  double square = hk_dot(u, u);
  return square > 0 ? clamp(hk_dot(u, r) / square) : 0;
}

/* ---- Point and triangle ---- */

/* Barycentric coordinates of the projection of p into the plane of a triangle; false for one
 * without area. */
static bool project_to_plane(const double x[12], double b[3]) {
  double u[3], v[3], r[3];
  hk_sub(x + 6, x + 3, u);
  hk_sub(x + 9, x + 3, v);
  hk_sub(x, x + 3, r);
  double uu = hk_dot(u, u), uv = hk_dot(u, v), vv = hk_dot(v, v);
  double ur = hk_dot(u, r), vr = hk_dot(v, r), det = uu * vv - uv * uv;
  if (!(det > 0)) return false;
  b[1] = (vv * ur - uv * vr) / det;
  b[2] = (uu * vr - uv * ur) / det;
  b[0] = 1 - b[1] - b[2];
  return true;
}

/* The closest point lies in the triangle if the projection does, else on one of its edges. */
double hk_gap_point_triangle(const double x[12], double w[4], double d[3]) {
  double b[3];
  if (project_to_plane(x, b) && b[0] >= 0 && b[1] >= 0 && b[2] >= 0) {
    w[0] = 1;
    for (int k = 0; k < 3; k++) w[1 + k] = -b[k];
    return combine(x, w, d);
  }
  double least = INFINITY;
  for (int k = 0; k < 3; k++) {
    int i = 1 + k, j = 1 + (k + 1) % 3;
    double t = project(x, x + 3 * i, x + 3 * j), trial[4] = {1, 0, 0, 0}, e[3];
    trial[i] = t - 1;
    trial[j] = -t;
    double distance = combine(x, trial, e);
    if (!(distance < least)) continue;
    least = distance;
    for (int a = 0; a < 4; a++) w[a] = trial[a];
    for (int c = 0; c < 3; c++) d[c] = e[c];
  }
  return least;
}

/* ---- Edges ---- */

static double set_edges(const double x[12], double s, double t, double w[4], double d[3]) {
  w[0] = 1 - s;
  w[1] = s;
  w[2] = t - 1;
  w[3] = -t;
  return combine(x, w, d);
}

/* The middle of the part of edge x_0 x_1 that lies beside the other one, which is parallel to it;
 * the end that is nearest where there is none. */
static double middle_of_overlap(const double x[12]) {
  double u[3], r[3], s[2];
  hk_sub(x + 3, x, u);
  double square = hk_dot(u, u);
  if (!(square > 0)) return 0;
  for (int k = 0; k < 2; k++) {
    hk_sub(x + 6 + 3 * k, x, r);
    s[k] = clamp(hk_dot(u, r) / square);
  }
  return 0.5 * (s[0] + s[1]);
}

double hk_gap_edges(const double x[12], double w[4], double d[3]) {
  const double PARALLEL = 1e-12; /* square of the sine of the angle between them */
  double u[3], v[3], r[3];
  hk_sub(x + 3, x, u);
  hk_sub(x + 9, x + 6, v);
  hk_sub(x, x + 6, r);
  double uu = hk_dot(u, u), uv = hk_dot(u, v), vv = hk_dot(v, v);
  double ur = hk_dot(u, r), vr = hk_dot(v, r), det = uu * vv - uv * uv;
  double s = det > PARALLEL * uu * vv ? clamp((uv * vr - ur * vv) / det) : middle_of_overlap(x), t;
  double at[3] = {x[0] + s * u[0], x[1] + s * u[1], x[2] + s * u[2]};
  t = project(at, x + 6, x + 9);
  if (t == 0 || t == 1) { /* at an end of the second edge the first one may give way */
    const double *end = t == 0 ? x + 6 : x + 9;
    s = project(end, x, x + 3);
  }
  return set_edges(x, s, t, w, d);
}
