/* Pictures of one motion; see picture.h. A picture has, from back to front: the background, the
 * planes among the obstacles, the shadow on the ground or, without one, below the lowest point (if
 * it is seen from above), the other obstacles, the figure, the surface of the water in a scene with
 * buoyancy, and the legend. */
#include "picture.h"

#include "describe.h"
#include "legend.h"
#include "painter.h"
#include "scenery.h"
#include "text.h"
#include "vector.h"

#include <stdlib.h>
#include <string.h>

enum { PIECE = 16384 }; /* faces, rods or balls of one call of the painter */

static const double GROUND = 0.03; /* of the picture's height, below the lowest point */
static const double ABOVE_FLOOR =
    1e-3;                              /* of the picture's height, where the shadow on a floor is */
static const double SOFTNESS = 0.035;  /* of the shadow's width */
static const double WATER_SHOWN = 1.5; /* of the size of the submerged bodies, on both sides */
static const double WATER =
    2.4; /* of half the picture's height: from the center of the water to its edge */
static const double LEAST_SLANT = 0.1; /* a ground that is seen along its surface is not drawn */

struct Picture {
  PictureOptions wanted;
  int up;
  bool flat;    /* 2D */
  double water; /* m, its level, or NAN */
  Window window;
  Camera camera, above; /* above: the camera of the shadow */
  Extent extent;
  Spread spread;
  double end;
  View view, view_above;
  Figure *figure;
  Scenery *scenery;
  Canvas *canvas;
  Painter *painter;
  union {
    Corner corners[3 * PIECE];
    Rod rods[PIECE];
    Ball balls[PIECE];
  } batch;
};

/* ---- Creating -------------------------------------------------------------------------------- */

static double find_water(const HkScene *scene) {
  for (int q = 0; q < scene->force_count; q++)
    if (strcmp(scene->forces[q].schema->name, "buoyancy") == 0)
      return describe_number(&scene->forces[q], "level");
  return NAN;
}

HkStatus picture_create(const Frames *frames, const PictureOptions *wanted, Picture **picture,
                        HkError *error) {
  Picture *p = *picture = calloc(1, sizeof *p);
  unsigned char ramp[RAMP_HEIGHT * RAMP_WIDTH * 4];
  if (!p) return text_fail(error, HK_ERROR_MEMORY, "no memory for a picture");
  p->wanted = *wanted;
  p->up = frames->scene->up;
  p->flat = frames->scene->dimension == 2;
  p->water = find_water(frames->scene);
  p->window = legend_window(wanted->by, wanted->width, wanted->height);
  p->camera = camera_aim(&wanted->camera, p->up, p->flat && !wanted->camera.placed,
                         (double)wanted->width / wanted->height);
  p->extent = extent_empty();
  color_ramp(wanted->by, ramp);
  HkStatus status = canvas_create(wanted->width, wanted->height, &p->canvas, error);
  if (status >= 0) status = painter_create(ramp, &p->painter, error);
  if (status >= 0)
    status =
        figure_create(frames->scene, frames->model, wanted->by, wanted->springs, &p->figure, error);
  if (status >= 0) status = scenery_create(frames->model, &p->scenery, error);
  if (status < 0) picture_destroy(picture);
  return status;
}

void picture_destroy(Picture **picture) {
  if (!*picture) return;
  figure_destroy(&(*picture)->figure);
  scenery_destroy(&(*picture)->scenery);
  painter_destroy(&(*picture)->painter);
  canvas_destroy(&(*picture)->canvas);
  free(*picture);
  *picture = NULL;
}

const char *picture_device(const Picture *p) {
  return canvas_device(p->canvas);
}

/* ---- Cameras --------------------------------------------------------------------------------- */

void picture_measure(Picture *p, const Frame *frame) {
  int64_t vertices = figure_vertices(p->figure);
  extent_add(&p->extent, &p->camera, p->window, frame->x, vertices);
  scenery_pose(p->scenery, frame->time);
  scenery_extend(p->scenery, &p->camera, p->window, &p->extent);
  if (p->wanted.by == COLOR_NONE || p->wanted.end > 0) return;
  figure_pose(p->figure, frame);
  figure_spread(p->figure, &p->spread);
}

static void put(float *to, const double from[3]) {
  for (int q = 0; q < 3; q++) to[q] = (float)from[q];
}

static void make_view(const Camera *c, int up, int width, int height, View *v) {
  double sky[3] = {0}, key[3];
  sky[up] = 1;
  for (int q = 0; q < 3; q++) key[q] = -0.65 * c->right[q] + 0.65 * sky[q] + 0.55 * c->toward[q];
  vector_normalize(key);
  *v = (View){.picture = {(float)width, (float)height, (float)(height / 2.0 / c->half_height), 0}};
  camera_matrix(c, v->matrix);
  put(v->right, c->right);
  put(v->up, c->up);
  put(v->toward, c->toward);
  put(v->eye, c->eye);
  v->eye[3] = c->parallel;
  put(v->key, key);
  put(v->sky, sky);
}

/* Places the camera of the shadow above the box, with a margin for the soft edge. */
static void look_from_above(Picture *p) {
  static const Window inner = {-0.75, 0.75, -0.75, 0.75};
  CameraOptions straight = {.elevation = 90, .zoom = 1};
  Extent extent = extent_empty();
  p->above = camera_aim(&straight, p->up, true, 1);
  for (int corner = 0; corner < 8; corner++) {
    float x[3];
    for (int q = 0; q < 3; q++)
      x[q] = (float)((corner >> q & 1) ? p->extent.high[q] : p->extent.low[q]);
    extent_add(&extent, &p->above, inner, x, 1);
  }
  camera_fit(&p->above, &straight, inner, &extent);
  make_view(&p->above, p->up, SHADOW_PIXELS, SHADOW_PIXELS, &p->view_above);
  p->view_above.picture[3] = 1;
}

/* Extends the extent by the water to the left and right of the submerged bodies. */
static void show_water(Picture *p) {
  Extent *e = &p->extent;
  double size = 0;
  if (isnan(p->water) || p->flat) return;
  for (int q = 0; q < 3; q++) size = fmax(size, e->high[q] - e->low[q]);
  double middle[3] = {(e->low[0] + e->high[0]) / 2, (e->low[1] + e->high[1]) / 2,
                      (e->low[2] + e->high[2]) / 2};
  middle[p->up] = p->water;
  for (int sign = -1; sign <= 1; sign += 2) {
    float x[3];
    for (int q = 0; q < 3; q++)
      x[q] = (float)(middle[q] + sign * WATER_SHOWN * size * p->camera.right[q]);
    extent_add(e, &p->camera, p->window, x, 1);
  }
}

void picture_settle(Picture *p) {
  int width, height;
  canvas_size(p->canvas, &width, &height);
  show_water(p);
  camera_fit(&p->camera, &p->wanted.camera, p->window, &p->extent);
  make_view(&p->camera, p->up, width, height, &p->view);
  look_from_above(p);
  p->end = p->wanted.end > 0 ? p->wanted.end : spread_end(&p->spread);
  figure_scale(p->figure, p->end, camera_height(&p->camera, &p->extent));
}

/* ---- Drawing --------------------------------------------------------------------------------- */

static void draw_figure(Picture *p) {
  int64_t count;
  for (int64_t q = 0; (count = figure_corners(p->figure, q, PIECE, p->batch.corners)) > 0;
       q += PIECE)
    painter_faces(p->painter, p->batch.corners, count);
  for (int64_t q = 0; (count = figure_rods(p->figure, q, PIECE, p->batch.rods)) > 0; q += PIECE)
    painter_rods(p->painter, p->batch.rods, count);
  for (int64_t q = 0; (count = figure_balls(p->figure, q, PIECE, p->batch.balls)) > 0; q += PIECE)
    painter_balls(p->painter, p->batch.balls, count);
}

static void draw_scenery(Picture *p, bool endless) {
  int64_t count;
  for (int64_t q = 0;
       (count = scenery_corners(p->scenery, endless, q, PIECE, p->batch.corners)) > 0; q += PIECE)
    painter_faces(p->painter, p->batch.corners, count);
}

/* Returns a horizontal square at a level, centered below or above the camera c, which looks
 * down. */
static Plane plane_at(const Picture *p, const Camera *c, double level, double half) {
  Plane plane;
  double across[3], along[3];
  for (int q = 0; q < 3; q++) {
    across[q] = half * c->right[q];
    along[q] = half * c->up[q];
  }
  put(plane.middle, c->eye);
  plane.middle[p->up] = (float)level;
  put(plane.across, across);
  put(plane.along, along);
  return plane;
}

static bool has_ground(const Picture *p) {
  return !p->flat && isnan(p->water) && p->camera.toward[p->up] > LEAST_SLANT;
}

static void draw_shadow(Picture *p) {
  painter_begin_shadow(p->painter);
  painter_look(p->painter, &p->view_above);
  draw_scenery(p, false);
  draw_figure(p);
  painter_end_shadow(p->painter, SOFTNESS);
}

HkStatus picture_draw(Picture *p, const Frame *frame, unsigned char *rgba, HkError *error) {
  double height = camera_height(&p->camera, &p->extent);
  double ground = p->extent.low[p->up] - GROUND * height;
  figure_pose(p->figure, frame);
  scenery_pose(p->scenery, frame->time);
  double floor = scenery_ground(p->scenery, p->up);
  if (!isnan(floor)) ground = floor + ABOVE_FLOOR * height;
  if (has_ground(p)) draw_shadow(p);
  painter_begin(p->painter, p->canvas);
  painter_look(p->painter, &p->view);
  draw_scenery(p, true);
  if (has_ground(p)) {
    Plane plane = plane_at(p, &p->above, ground, p->above.half_height);
    painter_plane(p->painter, &plane, PLANE_SHADOW);
  }
  draw_scenery(p, false);
  draw_figure(p);
  if (!p->flat && !isnan(p->water)) {
    Plane plane = plane_at(p, &p->above, p->water, WATER * height / 2);
    painter_plane(p->painter, &plane, PLANE_WATER);
  }
  HkStatus status = canvas_read(p->canvas, rgba, error);
  Raster raster = {rgba, p->wanted.width, p->wanted.height};
  if (status >= 0) legend_draw(raster, p->wanted.by, p->end);
  if (status >= 0 && p->wanted.clock) legend_clock(raster, frame->time);
  return status;
}
