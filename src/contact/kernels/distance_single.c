/* Distances of points from triangles and of edges from each other, and what displacements take from
 * them; see contact/distance.h.
 *
 * The closest points lie within both features, or one of them is a corner. So the distance is the
 * least of those of all corners from the other feature's edges and of the one within, if there is
 * one. That is |n . r| / |n| with n = u x v of two edges u and v. Where these are nearly parallel n
 * is rounded by sigma = |u| |v| / |n| times as much as they are, and the parameters of the closest
 * points by sigma^2: points that are outside by no more count as within, and their distance is
 * lessened by what rounding may have added. Lanes have no branches.
 */
#include "contact/distance.h"

#include "base/simd.h"

#define TINY 1e-37f /* divides in place of squares of lengths that are 0 */

HK_INLINE HkFloats dot(const HkFloats a[3], const HkFloats b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

HK_INLINE void subtract(const HkFloats a[3], const HkFloats b[3], HkFloats out[3]) {
  for (int q = 0; q < 3; q++) out[q] = a[q] - b[q];
}

HK_INLINE HkFloats least(HkFloats a, HkFloats b) {
  return hk_floats_select(a < b, a, b);
}

HK_INLINE HkFloats most(HkFloats a, HkFloats b) {
  return hk_floats_select(a > b, a, b);
}

HK_INLINE HkFloats inverse(HkFloats square) {
  return hk_floats_all(1) / most(square, hk_floats_all(TINY));
}

/* Square of the distance of r from the segment from 0 to u. */
HK_INLINE HkFloats from_segment(const HkFloats r[3], const HkFloats u[3], HkFloats inverse_uu) {
  HkFloats none = hk_floats_all(0), one = hk_floats_all(1);
  HkFloats s = least(most(dot(r, u) * inverse_uu, none), one), d[3];
  for (int q = 0; q < 3; q++) d[q] = r[q] - s * u[q];
  return dot(d, d);
}

/* Two edges u and v, and r between points of them. */
typedef struct Plane {
  HkFloats distance;  /* |n . r| / |n|, a lower bound */
  HkFloats s, t;      /* r less s u and t v is along n */
  HkFloats tolerance; /* of s and t */
  HkFloatMask exists; /* n is not 0 */
} Plane;

HK_INLINE Plane find_plane(const HkFloats u[3], const HkFloats v[3], const HkFloats r[3],
                           HkFloats over_u, HkFloats over_v) {
  const float ROUNDING = 16.0f / (1 << 24);
  HkFloats n[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};
  HkFloats uu = dot(u, u), uv = dot(u, v), vv = dot(v, v), ur = dot(u, r), vr = dot(v, r);
  HkFloats nn = dot(n, n), over = inverse(nn), rr = dot(r, r), along = dot(n, r);
  HkFloats sigma = uu * vv * over;
  HkFloats error = ROUNDING * hk_floats_sqrt(rr * sigma);
  Plane p = {.exists = nn > hk_floats_all(0)};
  p.distance = most(hk_floats_sqrt(along * along * over) - error, hk_floats_all(0));
  p.s = (vv * ur - uv * vr) * over;
  p.t = (uu * vr - uv * ur) * over;
  p.tolerance = ROUNDING * sigma * (1 + hk_floats_sqrt(rr * most(over_u, over_v)));
  return p;
}

/* The lesser one where the closest points are within, else the one beside. */
HK_INLINE HkFloats choose(HkFloatMask inside, HkFloats within, HkFloats beside) {
  return hk_floats_select(inside & (within < beside), within, beside);
}

HK_INLINE HkFloats from_triangle(HkFloats x[4][3]) {
  HkFloats r[3], u[3], v[3], w[3], from_u[3];
  subtract(x[0], x[1], r);
  subtract(x[2], x[1], u);
  subtract(x[3], x[1], v);
  subtract(v, u, w);
  subtract(r, u, from_u);
  HkFloats over_u = inverse(dot(u, u)), over_v = inverse(dot(v, v));
  HkFloats square = from_segment(r, u, over_u);
  square = least(square, from_segment(r, v, over_v));
  square = least(square, from_segment(from_u, w, inverse(dot(w, w))));
  Plane p = find_plane(u, v, r, over_u, over_v);
  HkFloatMask inside =
      p.exists & (p.s >= -p.tolerance) & (p.t >= -p.tolerance) & (p.s + p.t <= 1 + p.tolerance);
  return choose(inside, p.distance, hk_floats_sqrt(square));
}

/* x_0 + s u and x_2 + t v */
HK_INLINE HkFloats between_edges(HkFloats x[4][3]) {
  HkFloats r[3], u[3], v[3], d[3];
  subtract(x[2], x[0], r);
  subtract(x[1], x[0], u);
  subtract(x[3], x[2], v);
  HkFloats over_u = inverse(dot(u, u)), over_v = inverse(dot(v, v));
  HkFloats square = from_segment(r, u, over_u);
  subtract(x[3], x[0], d);
  square = least(square, from_segment(d, u, over_u));
  subtract(x[0], x[2], d);
  square = least(square, from_segment(d, v, over_v));
  subtract(x[1], x[2], d);
  square = least(square, from_segment(d, v, over_v));
  Plane p = find_plane(u, v, r, over_u, over_v); /* r = s u + t v and n */
  HkFloatMask inside = p.exists & (p.s >= -p.tolerance) & (p.s <= 1 + p.tolerance) &
                       (-p.t >= -p.tolerance) & (-p.t <= 1 + p.tolerance);
  return choose(inside, p.distance, hk_floats_sqrt(square));
}

HK_INLINE void gather(const float *place, const int32_t at[4][HK_DISTANCE_BATCH], int first,
                      HkFloats x[4][3]) {
  for (int k = 0; k < 4; k++) hk_floats_gather(place, at[k] + first, x[k]);
}

static void points(const float *place, const int32_t at[4][HK_DISTANCE_BATCH],
                   float distance[HK_DISTANCE_BATCH]) {
  for (int l = 0; l < HK_DISTANCE_BATCH; l += HK_FLOATS) {
    HkFloats x[4][3];
    gather(place, at, l, x);
    hk_floats_store(distance + l, from_triangle(x));
  }
}

static void edges(const float *place, const int32_t at[4][HK_DISTANCE_BATCH],
                  float distance[HK_DISTANCE_BATCH]) {
  for (int l = 0; l < HK_DISTANCE_BATCH; l += HK_FLOATS) {
    HkFloats x[4][3];
    gather(place, at, l, x);
    hk_floats_store(distance + l, between_edges(x));
  }
}

/* The longest difference of displacements between sides of `split` and of 4 - split vertices. */
HK_INLINE void find_closing(const float *place, const int32_t at[4][HK_DISTANCE_BATCH], int split,
                            float out[HK_DISTANCE_BATCH]) {
  for (int l = 0; l < HK_DISTANCE_BATCH; l += HK_FLOATS) {
    HkFloats e[4][3], square = hk_floats_all(0);
    gather(place, at, l, e);
    for (int a = 0; a < split; a++)
      for (int b = split; b < 4; b++) {
        HkFloats d[3];
        subtract(e[a], e[b], d);
        square = most(square, dot(d, d));
      }
    hk_floats_store(out + l, hk_floats_sqrt(square));
  }
}

static void point_closing(const float *place, const int32_t at[4][HK_DISTANCE_BATCH],
                          float out[HK_DISTANCE_BATCH]) {
  find_closing(place, at, 1, out);
}

static void edge_closing(const float *place, const int32_t at[4][HK_DISTANCE_BATCH],
                         float out[HK_DISTANCE_BATCH]) {
  find_closing(place, at, 2, out);
}

const HkDistanceKernels HK_KERNEL(hk_distance_kernels) = {.distance = {points, edges},
                                                          .closing = {point_closing, edge_closing}};
