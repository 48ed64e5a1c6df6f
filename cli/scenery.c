/* The drawn obstacles of a model; see scenery.h. */
#include "scenery.h"

#include "text.h"

#include <math.h>
#include <stdlib.h>

typedef struct Thing {
  HkSurface surface;
  double R[9], T[3]; /* x = R x0 + T at the time of the frame */
} Thing;

struct Scenery {
  const HkModel *model;
  int count;
  Thing *things;
};

HkStatus scenery_create(const HkModel *model, Scenery **scenery, HkError *error) {
  Scenery *s = *scenery = calloc(1, sizeof *s);
  if (!s) return text_fail(error, HK_ERROR_MEMORY, "no memory for drawing obstacles");
  int count = hk_model_obstacle_count(model);
  s->model = model;
  s->things = calloc((size_t)count + 1, sizeof *s->things);
  HkStatus status =
      s->things ? HK_OK : text_fail(error, HK_ERROR_MEMORY, "no memory for drawing obstacles");
  for (; s->count < count && status >= 0; s->count++)
    status = hk_model_obstacle_surface(model, s->count, &s->things[s->count].surface, error);
  if (status < 0) scenery_destroy(scenery);
  return status;
}

void scenery_destroy(Scenery **scenery) {
  Scenery *s = *scenery;
  if (!s) return;
  for (int q = 0; q < s->count; q++) hk_surface_destroy(s->model, &s->things[q].surface);
  free(s->things);
  free(s);
  *scenery = NULL;
}

void scenery_pose(Scenery *s, double time) {
  for (int q = 0; q < s->count; q++)
    hk_model_obstacle_pose(s->model, q, time, s->things[q].R, s->things[q].T);
}

static void turn(const double R[9], const double *x, float out[3]) {
  for (int r = 0; r < 3; r++)
    out[r] = (float)(R[3 * r] * x[0] + R[3 * r + 1] * x[1] + R[3 * r + 2] * x[2]);
}

static void place(const Thing *t, const double *x, float out[3]) {
  turn(t->R, x, out);
  for (int r = 0; r < 3; r++) out[r] += (float)t->T[r];
}

void scenery_extend(const Scenery *s, const Camera *camera, Window window, Extent *extent) {
  for (int q = 0; q < s->count; q++) {
    const Thing *t = &s->things[q];
    for (int64_t v = 0; v < t->surface.vertex_count && !t->surface.endless; v++) {
      float x[3];
      place(t, t->surface.x + 3 * v, x);
      extent_add(extent, camera, window, x, 1);
    }
  }
}

static void put_corner(const Thing *t, int64_t triangle, int corner, Corner *out) {
  int64_t vertex = t->surface.triangle[3 * triangle + corner];
  int index = !t->surface.endless          ? PALETTE_OBSTACLE
              : t->surface.shade[triangle] ? PALETTE_DARK_SQUARE
                                           : PALETTE_LIGHT_SQUARE;
  place(t, t->surface.x + 3 * vertex, out->x);
  turn(t->R, t->surface.normal + 3 * vertex, out->normal);
  out->value = (float)(-1 - index);
}

int64_t scenery_corners(const Scenery *s, bool endless, int64_t first, int64_t triangles,
                        Corner *corners) {
  int64_t before = 0, count = 0;
  for (int q = 0; q < s->count && count < 3 * triangles; q++) {
    const Thing *t = &s->things[q];
    if (t->surface.endless != endless) continue;
    int64_t from = first > before ? first - before : 0;
    for (int64_t k = from; k < t->surface.triangle_count && count < 3 * triangles; k++)
      for (int c = 0; c < 3; c++) put_corner(t, k, c, &corners[count++]);
    before += t->surface.triangle_count;
    if (first < before) first = before; /* the next obstacle is taken from its start */
  }
  return count;
}

double scenery_ground(const Scenery *s, int up) {
  double height = NAN;
  for (int q = 0; q < s->count; q++) {
    const Thing *t = &s->things[q];
    float x[3], n[3];
    if (!t->surface.endless || t->surface.vertex_count == 0) continue;
    place(t, t->surface.x, x);
    turn(t->R, t->surface.normal, n);
    if (n[up] > 0.999F && !(x[up] <= height)) height = x[up];
  }
  return height;
}
