/* Distances of all pairs; see all_pairs.h. */
#include "all_pairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double dot(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void minus(const double a[3], const double b[3], double c[3]) {
  for (int q = 0; q < 3; q++) c[q] = a[q] - b[q];
}

static void cross(const double a[3], const double b[3], double c[3]) {
  for (int q = 0; q < 3; q++)
    c[q] = a[(q + 1) % 3] * b[(q + 2) % 3] - a[(q + 2) % 3] * b[(q + 1) % 3];
}

static double clamp(double t) {
  return t > 1 ? 1 : t > 0 ? t : 0; /* NAN: 0 */
}

/* ---- Distances ---- */

static double point_segment(const double p[3], const double a[3], const double b[3]) {
  double u[3], r[3];
  minus(b, a, u);
  minus(p, a, r);
  double t = clamp(dot(r, u) / dot(u, u));
  for (int q = 0; q < 3; q++) r[q] -= t * u[q];
  return sqrt(dot(r, r));
}

/* Either the lines are closest within both segments, or an end of one is the closest point. */
double all_pairs_segments(const double a[3], const double b[3], const double c[3],
                          const double d[3]) {
  double u[3], v[3], r[3], n[3];
  minus(b, a, u);
  minus(d, c, v);
  minus(c, a, r);
  cross(u, v, n);
  double nn = dot(n, n), rv[3], ru[3];
  double least = fmin(fmin(point_segment(a, c, d), point_segment(b, c, d)),
                      fmin(point_segment(c, a, b), point_segment(d, a, b)));
  if (!(nn > 0)) return least;
  cross(r, v, rv);
  cross(r, u, ru);
  double s = dot(rv, n) / nn, t = dot(ru, n) / nn;
  if (!(s > 0 && s < 1 && t > 0 && t < 1)) return least;
  for (int q = 0; q < 3; q++) r[q] += t * v[q] - s * u[q];
  return fmin(least, sqrt(dot(r, r)));
}

/* Either the foot of the perpendicular is within the triangle, or an edge is closest. */
double all_pairs_point_triangle(const double p[3], const double a[3], const double b[3],
                                const double c[3]) {
  double u[3], v[3], n[3], r[3], m[3];
  double least = fmin(point_segment(p, a, b), fmin(point_segment(p, b, c), point_segment(p, c, a)));
  minus(b, a, u);
  minus(c, a, v);
  minus(p, a, r);
  cross(u, v, n);
  double nn = dot(n, n);
  if (!(nn > 0)) return least;
  cross(r, v, m);
  double s = dot(m, n) / nn;
  cross(u, r, m);
  double t = dot(m, n) / nn;
  if (!(s > 0 && t > 0 && s + t < 1)) return least;
  return fmin(least, fabs(dot(r, n)) / sqrt(nn));
}

/* ---- Features ---- */

static int compare_edges(const void *a, const void *b) {
  const int32_t *e = a, *g = b;
  if (e[0] != g[0]) return e[0] < g[0] ? -1 : 1;
  return (e[1] > g[1]) - (e[1] < g[1]);
}

static void add_edge(AllPairs *p, int32_t i, int32_t j) {
  int32_t *e = p->edge + 2 * p->edge_count++;
  e[0] = i < j ? i : j;
  e[1] = i < j ? j : i;
}

static void add_triangle(AllPairs *p, const int32_t *v, int32_t first) {
  for (int c = 0; c < 3; c++) p->triangle[3 * p->triangle_count + c] = first + v[c];
  p->triangle_count++;
  for (int c = 0; c < 3; c++) add_edge(p, first + v[c], first + v[(c + 1) % 3]);
}

/* Keeps each edge once; `boundary`: those that were there once. */
static void unite(AllPairs *p, bool boundary) {
  int64_t kept = 0;
  qsort(p->edge, (size_t)p->edge_count, 2 * sizeof *p->edge, compare_edges);
  for (int64_t e = 0, next; e < p->edge_count; e = next) {
    for (next = e + 1; next < p->edge_count; next++)
      if (compare_edges(p->edge + 2 * e, p->edge + 2 * next) != 0) break;
    if (boundary && next > e + 1) continue;
    memmove(p->edge + 2 * kept++, p->edge + 2 * e, 2 * sizeof *p->edge);
  }
  p->edge_count = kept;
}

/* Marks the vertices of solids that are on no triangle and no edge. They touch nothing. */
static void mark_inside(AllPairs *p) {
  const HkModel *m = p->model;
  for (int64_t c = 0; c < m->cell_count; c++)
    for (int64_t k = m->cell_start[c]; k < m->cell_start[c + 1] && m->cell_type[c] == HK_CELL_TET;
         k++)
      p->inside[m->cell_vertex[k]] = true;
  for (int64_t k = 0; k < 3 * p->triangle_count; k++) p->inside[p->triangle[k]] = false;
  for (int64_t k = 0; k < 2 * p->edge_count; k++) p->inside[p->edge[k]] = false;
}

static void *zeroed(int64_t count, size_t size) {
  void *memory = calloc((size_t)count + 1, size);
  if (!memory) abort();
  return memory;
}

void all_pairs_create(AllPairs *p, const HkModel *m, double thickness) {
  int64_t vertices = m->n, triangles = m->face_count, edges = m->cell_count;
  for (int k = 0; k < m->obstacle_count; k++) {
    vertices += m->obstacles[k].features.vertex_count;
    triangles += m->obstacles[k].features.triangle_count;
    edges += m->obstacles[k].features.edge_count;
  }
  *p = (AllPairs){.model = m, .vertex_count = vertices};
  p->edge = zeroed(2 * (edges + 3 * triangles), sizeof *p->edge);
  p->triangle = zeroed(3 * triangles, sizeof *p->triangle);
  p->radius = zeroed(vertices, sizeof *p->radius);
  p->owner = zeroed(vertices, sizeof *p->owner);
  p->inside = zeroed(vertices, sizeof *p->inside);
  p->x = zeroed(3 * vertices, sizeof *p->x);
  for (int64_t v = 0; v < m->n; v++) {
    p->radius[v] = 0.5 * thickness;
    p->owner[v] = -1;
  }
  for (int64_t f = 0; f < m->face_count; f++) add_triangle(p, m->face + 3 * f, 0);
  for (int64_t c = 0; c < m->cell_count; c++) {
    const int32_t *v = m->cell_vertex + m->cell_start[c];
    if (m->cell_type[c] == HK_CELL_LINE) add_edge(p, v[0], v[1]);
  }
  if (m->dimension == 2) {
    unite(p, true);
    p->triangle_count = 0;
    return;
  }
  int32_t first = (int32_t)m->n;
  for (int k = 0; k < m->obstacle_count; k++) {
    const HkObstacleFeatures *o = &m->obstacles[k].features;
    for (int32_t t = 0; t < o->triangle_count; t++) add_triangle(p, o->triangle + 3 * t, first);
    for (int32_t e = 0; e < o->edge_count; e++)
      add_edge(p, first + o->edge[2 * e], first + o->edge[2 * e + 1]);
    for (int32_t v = first; v < first + o->vertex_count; v++) {
      p->radius[v] = o->radius;
      p->owner[v] = k;
    }
    first += o->vertex_count;
  }
  unite(p, false);
  mark_inside(p);
}

void all_pairs_destroy(AllPairs *p) {
  free(p->edge);
  free(p->triangle);
  free(p->radius);
  free(p->owner);
  free(p->inside);
  free(p->x);
  *p = (AllPairs){0};
}

/* ---- All pairs ---- */

void all_pairs_place(const AllPairs *p, const double *x, double t) {
  const HkModel *m = p->model;
  memcpy(p->x, x, 3 * (size_t)m->n * sizeof *x);
  double *to = p->x + 3 * m->n;
  for (int k = 0; k < m->obstacle_count && m->dimension == 3; k++) {
    const HkObstacleFeatures *o = &m->obstacles[k].features;
    double R[9], T[3];
    hk_obstacle_pose(&m->obstacles[k], t, R, T);
    for (int32_t v = 0; v < o->vertex_count; v++, to += 3)
      for (int q = 0; q < 3; q++) to[q] = dot(R + 3 * q, o->x + 3 * v) + T[q];
  }
}

bool all_pairs_meet(const AllPairs *p, int32_t a, int32_t b) {
  return p->owner[a] < 0 || p->owner[b] < 0;
}

double all_pairs_least_gap(const AllPairs *p, const double *x, double t) {
  double least = INFINITY;
  all_pairs_place(p, x, t);
  const double *at = p->x;
  for (int64_t e = 0; e < p->edge_count; e++)
    for (int64_t g = e + 1; g < p->edge_count; g++) {
      const int32_t *a = p->edge + 2 * e, *b = p->edge + 2 * g;
      if (a[0] == b[0] || a[0] == b[1] || a[1] == b[0] || a[1] == b[1]) continue;
      if (!all_pairs_meet(p, a[0], b[0])) continue;
      double d = all_pairs_segments(at + 3 * (int64_t)a[0], at + 3 * (int64_t)a[1],
                                    at + 3 * (int64_t)b[0], at + 3 * (int64_t)b[1]);
      least = fmin(least, d - p->radius[a[0]] - p->radius[b[0]]);
    }
  for (int64_t f = 0; f < p->triangle_count; f++)
    for (int32_t v = 0; v < p->vertex_count; v++) {
      const int32_t *c = p->triangle + 3 * f;
      if (v == c[0] || v == c[1] || v == c[2] || p->inside[v]) continue;
      if (!all_pairs_meet(p, v, c[0])) continue;
      double d = all_pairs_point_triangle(at + 3 * (int64_t)v, at + 3 * (int64_t)c[0],
                                          at + 3 * (int64_t)c[1], at + 3 * (int64_t)c[2]);
      least = fmin(least, d - p->radius[v] - p->radius[c[0]]);
    }
  return least;
}

/* ---- Linking number ---- */

/* Signed solid angle (divided by 4 pi) under which an edge sees another one. */
static double solid_angle(const double a[3], const double b[3], const double c[3],
                          const double d[3]) {
  const double PI = 3.14159265358979323846;
  double r[4][3], n[4][3], u[3], v[3], w[3], sum = 0;
  minus(c, a, r[0]);
  minus(d, a, r[1]);
  minus(d, b, r[2]);
  minus(c, b, r[3]);
  for (int k = 0; k < 4; k++) {
    cross(r[k], r[(k + 1) % 4], n[k]);
    double length = sqrt(dot(n[k], n[k]));
    if (!(length > 0)) return 0;
    for (int q = 0; q < 3; q++) n[k][q] /= length;
  }
  for (int k = 0; k < 4; k++) sum += asin(fmax(-1, fmin(1, dot(n[k], n[(k + 1) % 4]))));
  minus(d, c, v);
  minus(b, a, u);
  cross(v, u, w);
  return copysign(sum, dot(w, r[0])) / (4 * PI);
}

double linking_number(const double *a, int64_t count_a, const double *b, int64_t count_b) {
  double sum = 0;
  for (int64_t i = 0; i < count_a; i++)
    for (int64_t j = 0; j < count_b; j++)
      sum += solid_angle(a + 3 * i, a + 3 * ((i + 1) % count_a), b + 3 * j,
                         b + 3 * ((j + 1) % count_b));
  return sum;
}
