/* Geometry of contact: the exact tests against integers, closest points against the conditions of a
 * minimum. */
#include "base/vec.h"
#include "contact/barrier.h"
#include "contact/gap.h"
#include "contact/orient.h"
#include "model_by_hand.h"
#include "test.h"

#include <math.h>
#include <string.h>

__extension__ typedef __int128 Wide;

/* ---- Exact tests: points with integer coordinates, whose determinants fit into 128 bits ---- */

typedef struct Point {
  int64_t c[3];
} Point;

static Point draw_point(uint64_t *seed, int64_t size) {
  Point p;
  for (int k = 0; k < 3; k++) p.c[k] = (int64_t)floor(test_random(seed) * (double)size);
  return p;
}

static void to_doubles(const Point *p, double scale, double x[3]) {
  for (int k = 0; k < 3; k++) x[k] = scale * (double)p->c[k];
}

static Wide det(const Point *a, const Point *b, const Point *c, const Point *d) {
  const Point *rows[3] = {a, b, c};
  Wide e[3][3];
  for (int r = 0; r < 3; r++)
    for (int k = 0; k < 3; k++) e[r][k] = rows[r]->c[k] - d->c[k];
  return e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) -
         e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
         e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]);
}

static int sign_of(Wide v) {
  return v > 0 ? 1 : v < 0 ? -1 : 0;
}

/* d = a + i (b - a) + j (c - a), moved by one unit or by none: at the plane or nearly so. */
static Point near_plane(const Point *a, const Point *b, const Point *c, uint64_t *seed) {
  int64_t i = (int64_t)(4 * test_random(seed)), j = (int64_t)(4 * test_random(seed));
  Point p;
  for (int k = 0; k < 3; k++) p.c[k] = a->c[k] + i * (b->c[k] - a->c[k]) + j * (c->c[k] - a->c[k]);
  if (test_random(seed) > 0) p.c[(int)(1.5 * (1 + test_random(seed)))] += 1;
  return p;
}

TEST(orientations_are_exact) {
  uint64_t seed = 1;
  int zeros = 0;
  for (int trial = 0; trial < 20000; trial++) {
    const int64_t SIZES[] = {3, 1000, (int64_t)1 << 36}; /* dets below 2^123 */
    int64_t size = SIZES[trial % 3];
    Point p[4];
    for (int a = 0; a < 3; a++) p[a] = draw_point(&seed, size);
    p[3] = near_plane(&p[0], &p[1], &p[2], &seed);
    double x[4][3], scale = ldexp(1, -20 - trial % 60);
    for (int a = 0; a < 4; a++) to_doubles(&p[a], scale, x[a]);
    int expected = sign_of(det(&p[0], &p[1], &p[2], &p[3]));
    zeros += expected == 0;
    CHECK(hk_orient(x[0], x[1], x[2], x[3]) == expected);
    CHECK(hk_orient(x[1], x[0], x[2], x[3]) == -expected);
  }
  CHECK(zeros > 1000);
}

/* By the point where the line meets the plane, p + t (q - p), t = D_p / (D_p - D_q): it lies in the
 * triangle if its barycentric coordinates, with the denominator cleared, are not negative. Only for
 * segments that do not lie in the plane. */
static bool meets(const Point *p, const Point *q, const Point t[3]) {
  Wide Dp = det(&t[0], &t[1], &t[2], p), Dq = det(&t[0], &t[1], &t[2], q), N[3], u[3], v[3];
  if (sign_of(Dp) * sign_of(Dq) > 0) return false;
  for (int k = 0; k < 3; k++) {
    u[k] = t[1].c[k] - t[0].c[k];
    v[k] = t[2].c[k] - t[0].c[k];
  }
  for (int k = 0; k < 3; k++)
    N[k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
  Wide down = Dp - Dq;
  int side = sign_of(down);
  for (int e = 0; e < 3; e++) {
    const Point *a = &t[e], *b = &t[(e + 1) % 3];
    Wide area = 0;
    for (int k = 0; k < 3; k++) {
      int i = (k + 1) % 3, j = (k + 2) % 3;
      Wide ei = b->c[i] - a->c[i], ej = b->c[j] - a->c[j];
      /* down times the hit, relative to a */
      Wide hi = down * (p->c[i] - a->c[i]) + Dp * (q->c[i] - p->c[i]);
      Wide hj = down * (p->c[j] - a->c[j]) + Dp * (q->c[j] - p->c[j]);
      area += N[k] * (ei * hj - ej * hi);
    }
    if (sign_of(area) * side < 0) return false;
  }
  return true;
}

TEST(segments_meet_triangles_exactly) {
  uint64_t seed = 2;
  int hits = 0, misses = 0;
  for (int trial = 0; trial < 40000; trial++) {
    Point t[3], p = draw_point(&seed, 6), q = draw_point(&seed, 6);
    for (int a = 0; a < 3; a++) t[a] = draw_point(&seed, 6);
    Wide Dp = det(&t[0], &t[1], &t[2], &p), Dq = det(&t[0], &t[1], &t[2], &q);
    if (Dp == 0 && Dq == 0) continue;
    double x[5][3], scale = ldexp(1, -trial % 40);
    to_doubles(&p, scale, x[0]);
    to_doubles(&q, scale, x[1]);
    for (int a = 0; a < 3; a++) to_doubles(&t[a], scale, x[2 + a]);
    bool expected = meets(&p, &q, t);
    CHECK(hk_segment_meets_triangle(x[0], x[1], x[2], x[3], x[4]) == expected);
    hits += expected;
    misses += !expected;
  }
  CHECK(hits > 1000 && misses > 1000);
}

TEST(segments_in_the_plane_of_a_triangle_are_found) {
  static const struct {
    double p[3], q[3];
    bool meets;
  } cases[] = {
      {{0.2, 0.2, 1}, {0.3, 0.3, 1}, true}, /* inside */
      {{-1, 0.2, 1}, {2, 0.2, 1}, true},    /* across */
      {{-1, 0, 1}, {-0.5, 0, 1}, false},    /* on the line of an edge, before it */
      {{-1, 0, 1}, {0.5, 0, 1}, true},      /* on an edge */
      {{1, 1, 1}, {2, 0.5, 1}, false},      /* beside */
      {{0.5, 0.5, 1}, {2, 2, 1}, true},     /* touches the long edge */
      {{1, 0, 1}, {2, -1, 1}, true},        /* touches a corner */
  };
  const double a[3] = {0, 0, 1}, b[3] = {1, 0, 1}, c[3] = {0, 1, 1}, line[3] = {2, 0, 1};
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    CHECK(hk_segment_meets_triangle(cases[k].p, cases[k].q, a, b, c) == cases[k].meets);
    CHECK(hk_segment_meets_triangle(cases[k].q, cases[k].p, c, b, a) == cases[k].meets);
  }
  CHECK(!hk_segment_meets_triangle(cases[0].p, cases[0].q, a, b, line));
}

/* ---- Closest points ---- */

/* The distance of sum w x over the allowed weights is convex: no small change of allowed weights
 * makes it shorter. */
static void check_least(const double x[12], const double w[4], double distance, bool edges) {
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) {
      bool one_side = edges ? i / 2 == j / 2 : i > 0 && j > 0;
      if (i == j || !one_side) continue;
      for (double step = 1e-1; step > 1e-5; step /= 10) {
        double v[4], d[3] = {0, 0, 0};
        memcpy(v, w, sizeof v);
        bool negative = !(edges && i < 2); /* these weights lie between -1 and 0 */
        double room = negative ? -v[i] : v[i], move = fmin(step, room);
        v[i] += negative ? move : -move;
        v[j] += negative ? -move : move;
        for (int a = 0; a < 4; a++) hk_axpy(v[a], x + 3 * a, d);
        CHECK(hk_norm(d) >= distance - 1e-14);
      }
    }
}

static void check_weights(const double w[4], bool edges) {
  double first = edges ? w[0] + w[1] : w[0], rest = edges ? w[2] + w[3] : w[1] + w[2] + w[3];
  CHECK_NEAR(first, 1, 1e-15);
  CHECK_NEAR(rest, -1, 1e-14);
  for (int a = 0; a < 4; a++) {
    bool positive = a == 0 || (edges && a == 1);
    CHECK(positive ? w[a] >= 0 && w[a] <= 1 : w[a] <= 0 && w[a] >= -1);
  }
}

TEST(closest_points_are_closest) {
  uint64_t seed = 3;
  for (int trial = 0; trial < 3000; trial++) {
    double x[12], w[4], d[3], sum[3] = {0, 0, 0};
    for (int c = 0; c < 12; c++) x[c] = test_random(&seed);
    if (trial % 5 == 1) /* parallel edges, and a triangle without area */
      for (int c = 0; c < 3; c++) x[9 + c] = x[6 + c] + (1 + trial % 3) * (x[3 + c] - x[c]);
    for (int c = 0; c < 3 && trial % 7 == 1; c++) x[9 + c] = x[6 + c]; /* an edge without length */
    for (int edges = 0; edges < 2; edges++) {
      double distance = edges ? hk_gap_edges(x, w, d) : hk_gap_point_triangle(x, w, d);
      memset(sum, 0, sizeof sum);
      for (int a = 0; a < 4; a++) hk_axpy(w[a], x + 3 * a, sum);
      for (int c = 0; c < 3; c++) CHECK_NEAR(sum[c], d[c], 1e-15);
      CHECK_NEAR(hk_norm(d), distance, 1e-15);
      check_weights(w, edges);
      check_least(x, w, distance, edges);
    }
  }
}

TEST(parallel_edges_are_closest_in_the_middle_of_their_overlap) {
  const double x[12] = {0, 0, 0, 2, 0, 0, 1, 1, 0, 5, 1, 0};
  double w[4], d[3];
  CHECK_NEAR(hk_gap_edges(x, w, d), 1, 1e-15);
  CHECK_NEAR(w[1], 0.75, 1e-15); /* of 1 to 2 the middle, 1.5 */
  CHECK_NEAR(-w[3], 0.125, 1e-15);
}

/* ---- Barrier ---- */

TEST(the_barrier_is_convex_and_its_derivatives_are_those_of_differences) {
  for (double s = 1e-6; s < 1.2; s *= 1.05) {
    double step = 1e-5 * s, slope = hk_barrier_slope(s), curvature = hk_barrier_curvature(s);
    double up = hk_barrier(s + step), down = hk_barrier(s - step);
    CHECK_NEAR((up - down) / (2 * step), slope, 1e-8 * (1 + fabs(slope)));
    double slope_up = hk_barrier_slope(s + step), slope_down = hk_barrier_slope(s - step);
    CHECK_NEAR((slope_up - slope_down) / (2 * step), curvature, 1e-8 * (1 + fabs(curvature)));
    CHECK(hk_barrier(s) >= 0 && slope <= 0 && curvature >= 0);
  }
  CHECK(isinf(hk_barrier(0)) && isinf(hk_barrier(-1)) && hk_barrier(1) == 0);
  CHECK(hk_barrier_slope(1 - 1e-9) > -1e-15 && hk_barrier_curvature(1 - 1e-9) < 1e-8);
}
