/* The obstacles of a report: surfaces once, poses for each frame.
 *
 *     data-obstacle-heads      four integers an obstacle: vertices, triangles, 1 if it is part of a
 *                              plane, number of poses (1: it does not move; else one a frame)
 *     data-obstacle-x          positions at time 0, then normals: six numbers a vertex
 *     data-obstacle-triangles  three vertices, then the shade (0, 1): four integers a triangle
 *     data-obstacle-poses      x = R x0 + T: R by rows, then T, 12 numbers a pose
 *
 * All obstacles together get SCENERY_BYTES; what does not fit is left out, and counted.
 */
#include "report/page.h"

#include <string.h>

static const double SCENERY_BYTES = 2e6;

typedef struct Lists {
  const HkContext *context;
  double *number; /* positions and normals, or poses */
  int32_t *integer;
  int64_t number_count, integer_count, number_capacity, integer_capacity;
  bool failed;
} Lists;

static void add_numbers(Lists *l, const double *values, int64_t count) {
  int64_t need = l->number_count + count;
  if (l->failed || hk_grow(l->context, &l->number, &l->number_capacity, need, sizeof *l->number,
                           "a report", NULL) < 0) {
    l->failed = true;
    return;
  }
  memcpy(l->number + l->number_count, values, (size_t)count * sizeof *values);
  l->number_count = need;
}

static void add_integer(Lists *l, int64_t value) {
  int64_t need = l->integer_count + 1;
  if (l->failed || hk_grow(l->context, &l->integer, &l->integer_capacity, need, sizeof *l->integer,
                           "a report", NULL) < 0) {
    l->failed = true;
    return;
  }
  l->integer[l->integer_count++] = (int32_t)value;
}

static void clear(Lists *l) {
  hk_free(l->context, &l->number);
  hk_free(l->context, &l->integer);
}

static bool moves(const HkModel *m, int obstacle) {
  return obstacle < m->obstacle_count && !m->obstacles[obstacle].motion.type->rests;
}

static int64_t pose_count(const HkPage *page, int obstacle) {
  return moves(page->model, obstacle) ? hk_thin_count(&page->recording.frames) : 1;
}

static double bytes_of(const HkPage *page, const HkSurface *s, int obstacle) {
  return 48 * (double)s->vertex_count + 16 * (double)s->triangle_count +
         96 * (double)pose_count(page, obstacle);
}

static void add_poses(const HkPage *page, int obstacle, Lists *poses) {
  const HkRecording *r = &page->recording;
  for (int64_t f = 0; f < pose_count(page, obstacle); f++) {
    bool any = hk_thin_count(&r->frames) > f;
    double time = any ? r->head[f * HK_HEAD_COUNT + HK_HEAD_TIME] : 0, pose[12];
    hk_model_obstacle_pose(page->model, obstacle, time, pose, pose + 9);
    add_numbers(poses, pose, 12);
  }
}

static void add_surface(const HkPage *page, int obstacle, const HkSurface *s, Lists *shapes,
                        Lists *heads) {
  const int64_t head[4] = {s->vertex_count, s->triangle_count, s->endless,
                           pose_count(page, obstacle)};
  for (int q = 0; q < 4; q++) add_integer(heads, head[q]);
  for (int64_t v = 0; v < s->vertex_count; v++) {
    add_numbers(shapes, s->x + 3 * v, 3);
    add_numbers(shapes, s->normal + 3 * v, 3);
  }
  for (int64_t t = 0; t < s->triangle_count; t++) {
    for (int k = 0; k < 3; k++) add_integer(shapes, s->triangle[3 * t + k]);
    add_integer(shapes, s->shade[t]);
  }
  add_poses(page, obstacle, heads);
}

/* Goes over the obstacles that fit and returns how many do not; puts them into lists unless those
 * are NULL. */
static int collect(const HkPage *page, Lists *shapes, Lists *heads) {
  double bytes = 0;
  int left_out = 0;
  for (int k = 0; k < hk_model_obstacle_count(page->model); k++) {
    HkSurface s;
    if (hk_model_obstacle_surface(page->model, k, &s, NULL) < 0) {
      left_out++;
      continue;
    }
    bool fits = bytes + bytes_of(page, &s, k) <= SCENERY_BYTES;
    if (fits) bytes += bytes_of(page, &s, k);
    if (fits && shapes) add_surface(page, k, &s, shapes, heads);
    left_out += !fits;
    hk_surface_destroy(page->model, &s);
  }
  return left_out;
}

int hk_scenery_left_out(const HkPage *page) {
  return collect(page, NULL, NULL);
}

void hk_scenery_put(HkStream *s, const HkPage *page) {
  Lists shapes = {.context = &page->context}, heads = {.context = &page->context};
  collect(page, &shapes, &heads);
  bool good = !shapes.failed && !heads.failed;
  hk_page_put_integers(s, "obstacle-heads", heads.integer, good ? heads.integer_count : 0);
  hk_page_put_doubles(s, "obstacle-x", shapes.number, good ? shapes.number_count : 0);
  hk_page_put_integers(s, "obstacle-triangles", shapes.integer, good ? shapes.integer_count : 0);
  hk_page_put_doubles(s, "obstacle-poses", heads.number, good ? heads.number_count : 0);
  clear(&shapes);
  clear(&heads);
}
