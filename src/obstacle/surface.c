/* Surfaces of obstacles for drawing; see surface.h.
 *
 * Features with a radius r are drawn as what they are: a ball around each vertex, a tube around
 * each edge, and each triangle twice, moved by r and -r along its normal. Triangles without a
 * radius get smooth normals: the normal at a corner is the mean, weighted by area, of those faces
 * around the vertex that are within 40 degrees of its own face, so that the side of a cylinder is
 * round and its rim sharp. A plane is a checkerboard of about 25 x 25 squares with sides of
 * 1, 2 or 5 times a power of 10 m.
 */
#include "obstacle/surface.h"

#include "base/memory.h"
#include "base/vec.h"

#include <string.h>

static const double CREASE = 0.766; /* cosine of 40 degrees */
static const double THREAD = 0.002; /* radius of edges without one, in parts of the scene's size */
/* Segments around balls and tubes where there are few, some and many features. */
enum { FEW = 8, FINE = 48, SOME = 200, MEDIUM = 16, COARSE = 6, ROUND_MAX = 20000 };
enum { SQUARES = 12 }; /* from the middle of a plane to its edge */

/* ---- Building ---- */

static void grow(HkSurfaceBuilder *b, void *array, int64_t *capacity, int64_t count, size_t size) {
  if (b->status >= 0)
    b->status = hk_grow(b->context, array, capacity, count, size, "a surface", b->error);
}

int32_t hk_surface_add_vertex(HkSurfaceBuilder *b, const double x[3], const double n[3]) {
  HkSurface *s = b->surface;
  int64_t at = s->vertex_count;
  if (b->status >= 0 && at >= INT32_MAX / 3)
    b->status = hk_fail(b->error, HK_ERROR_MEMORY, "a surface has too many vertices");
  grow(b, &s->x, &b->capacity[0], 3 * (at + 1), sizeof *s->x);
  grow(b, &s->normal, &b->capacity[1], 3 * (at + 1), sizeof *s->normal);
  if (b->status < 0) return 0;
  memcpy(s->x + 3 * at, x, 3 * sizeof *x);
  memcpy(s->normal + 3 * at, n, 3 * sizeof *n);
  s->vertex_count++;
  return (int32_t)at;
}

void hk_surface_add_triangle(HkSurfaceBuilder *b, int32_t i, int32_t j, int32_t k, uint8_t shade) {
  HkSurface *s = b->surface;
  int64_t at = s->triangle_count;
  grow(b, &s->triangle, &b->capacity[2], 3 * (at + 1), sizeof *s->triangle);
  grow(b, &s->shade, &b->capacity[3], at + 1, sizeof *s->shade);
  if (b->status < 0) return;
  const int32_t corners[3] = {i, j, k};
  memcpy(s->triangle + 3 * at, corners, sizeof corners);
  s->shade[at] = shade;
  s->triangle_count++;
}

void hk_surface_clear(const HkContext *context, HkSurface *s) {
  hk_free(context, &s->x);
  hk_free(context, &s->normal);
  hk_free(context, &s->triangle);
  hk_free(context, &s->shade);
  *s = (HkSurface){0};
}

/* ---- Balls and tubes ---- */

/* Adds two triangles of the vertices a, a + 1 of one row and b, b + 1 of the next. */
static void add_quad(HkSurfaceBuilder *b, int32_t row, int32_t next, uint8_t shade) {
  hk_surface_add_triangle(b, row, next, next + 1, shade);
  hk_surface_add_triangle(b, row, next + 1, row + 1, shade);
}

/* Unit vectors u and w such that u, w, axis are a right-handed frame. */
static void make_frame(const double axis[3], double u[3], double w[3]) {
  int least = 0;
  for (int c = 1; c < 3; c++)
    if (fabs(axis[c]) < fabs(axis[least])) least = c;
  double e[3] = {0, 0, 0}, across[3];
  e[least] = 1;
  hk_cross(e, axis, across);
  hk_unit(across, u);
  hk_cross(axis, u, w);
}

static void add_ball(HkSurfaceBuilder *b, const double center[3], double r, int segments) {
  int rows = segments / 2;
  int32_t before = 0;
  for (int i = 0; i <= rows; i++) {
    double z = cos(M_PI * i / rows), ring = sin(M_PI * i / rows);
    int32_t first = 0;
    for (int j = 0; j <= segments; j++) {
      double a = 2 * M_PI * j / segments, n[3] = {ring * cos(a), z, -ring * sin(a)}, x[3];
      for (int c = 0; c < 3; c++) x[c] = center[c] + r * n[c];
      int32_t at = hk_surface_add_vertex(b, x, n);
      if (j == 0) first = at;
      if (i > 0 && j > 0) add_quad(b, before + j - 1, at - 1, 0);
    }
    before = first;
  }
}

/* A tube without caps. */
static void add_tube(HkSurfaceBuilder *b, const double from[3], const double to[3], double r,
                     int segments) {
  double axis[3], d[3], u[3], w[3];
  hk_sub(to, from, d);
  if (!hk_unit(d, axis)) return;
  make_frame(axis, u, w);
  int32_t first = 0;
  for (int end = 0; end < 2; end++)
    for (int j = 0; j <= segments; j++) {
      double a = 2 * M_PI * j / segments, n[3], x[3];
      for (int c = 0; c < 3; c++) {
        n[c] = cos(a) * u[c] + sin(a) * w[c];
        x[c] = (end ? to[c] : from[c]) + r * n[c];
      }
      int32_t at = hk_surface_add_vertex(b, x, n);
      if (end == 0 && j == 0) first = at;
    }
  for (int j = 0; j < segments && b->status >= 0; j++) {
    int32_t low = first + j, high = first + segments + 1 + j;
    hk_surface_add_triangle(b, low, low + 1, high + 1, 0);
    hk_surface_add_triangle(b, low, high + 1, high, 0);
  }
}

/* ---- Triangles ---- */

/* Faces around each vertex, and the normals of all faces, with twice the area as their length. */
typedef struct Faces {
  const HkObstacleFeatures *features;
  int64_t *start;
  int32_t *around;
  double *normal;
} Faces;

static void find_normal(const HkObstacleFeatures *f, int32_t t, double n[3]) {
  const double *x[3];
  double u[3], v[3];
  for (int k = 0; k < 3; k++) x[k] = f->x + 3 * (int64_t)f->triangle[3 * (int64_t)t + k];
  hk_sub(x[1], x[0], u);
  hk_sub(x[2], x[0], v);
  hk_cross(u, v, n);
}

static void find_faces(HkSurfaceBuilder *b, Faces *a) {
  const HkObstacleFeatures *f = a->features;
  int64_t corners = 3 * (int64_t)f->triangle_count;
  if (b->status >= 0)
    b->status = hk_alloc(b->context, &a->start, (int64_t)f->vertex_count + 2, sizeof *a->start,
                         "a surface", b->error);
  if (b->status >= 0)
    b->status = hk_alloc(b->context, &a->around, corners, sizeof *a->around, "a surface", b->error);
  if (b->status >= 0)
    b->status = hk_alloc(b->context, &a->normal, corners, sizeof *a->normal, "a surface", b->error);
  if (b->status < 0) return;
  for (int64_t q = 0; q < corners; q++) a->start[f->triangle[q] + 2]++;
  for (int32_t v = 0; v < f->vertex_count; v++) a->start[v + 2] += a->start[v + 1];
  for (int64_t q = 0; q < corners; q++)
    a->around[a->start[f->triangle[q] + 1]++] = (int32_t)(q / 3);
  for (int32_t t = 0; t < f->triangle_count; t++) find_normal(f, t, a->normal + 3 * (int64_t)t);
}

static void smooth_normal(const Faces *a, int32_t face, int32_t vertex, double n[3]) {
  const double *own = a->normal + 3 * (int64_t)face;
  double sum[3] = {0, 0, 0}, size = hk_norm(own);
  for (int64_t q = a->start[vertex]; q < a->start[vertex + 1]; q++) {
    const double *other = a->normal + 3 * (int64_t)a->around[q];
    if (hk_dot(own, other) >= CREASE * size * hk_norm(other)) hk_axpy(1, other, sum);
  }
  if (!hk_unit(sum, n)) memset(n, 0, 3 * sizeof *n);
}

static void add_smooth_triangles(HkSurfaceBuilder *b, const HkObstacleFeatures *f) {
  Faces a = {.features = f};
  find_faces(b, &a);
  for (int32_t t = 0; t < f->triangle_count && b->status >= 0; t++) {
    int32_t corner[3];
    for (int k = 0; k < 3; k++) {
      int32_t vertex = f->triangle[3 * (int64_t)t + k];
      double n[3];
      smooth_normal(&a, t, vertex, n);
      corner[k] = hk_surface_add_vertex(b, f->x + 3 * (int64_t)vertex, n);
    }
    hk_surface_add_triangle(b, corner[0], corner[1], corner[2], 0);
  }
  hk_free(b->context, &a.start);
  hk_free(b->context, &a.around);
  hk_free(b->context, &a.normal);
}

static void add_moved_triangles(HkSurfaceBuilder *b, const HkObstacleFeatures *f) {
  for (int32_t t = 0; t < f->triangle_count && b->status >= 0; t++)
    for (int side = 1; side >= -1; side -= 2) {
      double across[3], n[3];
      int32_t corner[3];
      find_normal(f, t, across);
      if (!hk_unit(across, n)) continue;
      for (int c = 0; c < 3; c++) n[c] *= side;
      for (int k = 0; k < 3; k++) {
        const double *at = f->x + 3 * (int64_t)f->triangle[3 * (int64_t)t + k];
        double x[3] = {at[0], at[1], at[2]};
        hk_axpy(f->radius, n, x);
        corner[k] = hk_surface_add_vertex(b, x, n);
      }
      hk_surface_add_triangle(b, corner[0], corner[side > 0 ? 1 : 2], corner[side > 0 ? 2 : 1], 0);
    }
}

void hk_surface_add_features(HkSurfaceBuilder *b, const HkObstacleFeatures *f, double size) {
  int64_t round = (int64_t)f->vertex_count + f->edge_count;
  int segments = round <= FEW ? FINE : round <= SOME ? MEDIUM : COARSE;
  double r = f->radius > 0 ? f->radius : THREAD * size;
  bool has_faces = f->triangle_count > 0;
  if (has_faces && f->radius == 0)
    add_smooth_triangles(b, f);
  else
    add_moved_triangles(b, f);
  if ((has_faces && f->radius == 0) || (has_faces && round > ROUND_MAX)) return;
  for (int32_t v = 0; v < f->vertex_count; v++) add_ball(b, f->x + 3 * (int64_t)v, r, segments);
  for (int32_t e = 0; e < f->edge_count; e++)
    add_tube(b, f->x + 3 * (int64_t)f->edge[2 * (int64_t)e],
             f->x + 3 * (int64_t)f->edge[2 * (int64_t)e + 1], r, segments);
}

/* ---- Planes ---- */

static double round_size(double size) {
  double decade = pow(10, floor(log10(size))), part = size / decade;
  return decade * (part < 1.5 ? 1 : part < 3.5 ? 2 : part < 7.5 ? 5 : 10);
}

void hk_surface_add_plane(HkSurfaceBuilder *b, const double point[3], const double n[3],
                          const double low[3], const double high[3]) {
  double u[3], w[3], d[3], middle[3], size = 0;
  for (int c = 0; c < 3; c++) {
    size = fmax(size, high[c] - low[c]);
    middle[c] = 0.5 * (low[c] + high[c]);
  }
  if (!(size > 0) || !isfinite(size)) size = 1;
  double side = round_size(size / 5);
  make_frame(n, u, w);
  hk_sub(middle, point, d);
  double across = floor(hk_dot(d, u) / side + 0.5), along = floor(hk_dot(d, w) / side + 0.5);
  for (int i = -SQUARES; i < SQUARES; i++)
    for (int j = -SQUARES; j < SQUARES; j++) {
      int32_t corner[4];
      if (hypot(i + 0.5, j + 0.5) > SQUARES) continue;
      for (int k = 0; k < 4; k++) {
        double x[3] = {point[0], point[1], point[2]};
        hk_axpy(side * (across + i + (k & 1)), u, x);
        hk_axpy(side * (along + j + (k >> 1)), w, x);
        corner[k] = hk_surface_add_vertex(b, x, n);
      }
      uint8_t shade = (uint8_t)((i + j + (int)fmod(across + along, 2)) & 1);
      hk_surface_add_triangle(b, corner[0], corner[1], corner[3], shade);
      hk_surface_add_triangle(b, corner[0], corner[3], corner[2], shade);
    }
  b->surface->endless = true;
}
