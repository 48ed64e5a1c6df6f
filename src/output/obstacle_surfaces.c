/* The obstacles of a model for drawing: surfaces and poses. The ground of the force contact, which
 * is a plane across the axis up, is the last of them. */
#include "base/vec.h"
#include "contact/contacts.h"
#include "model/model.h"
#include "obstacle/surface.h"

#include <string.h>

extern const HkForceType hk_force_contact;

/* The parameters of a force contact with a ground, or NULL. */
static const HkContactParams *ground_of(const HkModel *m) {
  for (int f = 0; f < m->force_count; f++) {
    const HkContactParams *p = m->forces[f].method.params;
    if (m->forces[f].type == &hk_force_contact && p->ground) return p;
  }
  return NULL;
}

int hk_model_obstacle_count(const HkModel *m) {
  return m->obstacle_count + (ground_of(m) != NULL);
}

const char *hk_model_obstacle_name(const HkModel *m, int obstacle) {
  if (obstacle >= 0 && obstacle < m->obstacle_count) return m->obstacles[obstacle].name;
  return obstacle == m->obstacle_count && ground_of(m) ? "ground" : NULL;
}

/* The box (m) of the bodies at the start, and of the features of all obstacles. */
static void find_box(const HkModel *m, double low[3], double high[3]) {
  for (int c = 0; c < 3; c++) {
    low[c] = INFINITY;
    high[c] = -INFINITY;
  }
  for (int64_t q = 0; q < 3 * m->n; q++) {
    low[q % 3] = fmin(low[q % 3], m->x0[q]);
    high[q % 3] = fmax(high[q % 3], m->x0[q]);
  }
  for (int k = 0; k < m->obstacle_count; k++) {
    const HkObstacleFeatures *f = &m->obstacles[k].features;
    for (int64_t q = 0; q < 3 * (int64_t)f->vertex_count; q++) {
      low[q % 3] = fmin(low[q % 3], f->x[q] - f->radius);
      high[q % 3] = fmax(high[q % 3], f->x[q] + f->radius);
    }
  }
}

static void draw(const HkModel *m, int obstacle, HkSurfaceBuilder *b) {
  double low[3], high[3], size = 0;
  find_box(m, low, high);
  for (int c = 0; c < 3; c++) size = fmax(size, high[c] - low[c]);
  if (obstacle == m->obstacle_count) {
    double n[3], point[3];
    hk_model_up(m, n);
    for (int c = 0; c < 3; c++) point[c] = n[c] * ground_of(m)->height;
    hk_surface_add_plane(b, point, n, low, high);
    return;
  }
  const HkCompiledObstacle *o = &m->obstacles[obstacle];
  if (o->type->draw)
    o->type->draw(o->data, low, high, b);
  else
    hk_surface_add_features(b, &o->features, size);
}

HkStatus hk_model_obstacle_surface(const HkModel *m, int obstacle, HkSurface *surface,
                                   HkError *error) {
  *surface = (HkSurface){0};
  HkSurfaceBuilder b = {.context = &m->context, .surface = surface, .error = error};
  if (!hk_model_obstacle_name(m, obstacle))
    return hk_fail(error, HK_ERROR_INVALID, "there is no obstacle %d; there are %d", obstacle,
                   hk_model_obstacle_count(m));
  draw(m, obstacle, &b);
  if (b.status < 0) hk_surface_clear(&m->context, surface);
  return b.status;
}

void hk_surface_destroy(const HkModel *m, HkSurface *surface) {
  hk_surface_clear(&m->context, surface);
}

void hk_model_obstacle_pose(const HkModel *m, int obstacle, double time, double R[9], double T[3]) {
  hk_mat_identity(1, R);
  memset(T, 0, 3 * sizeof *T);
  if (obstacle >= 0 && obstacle < m->obstacle_count)
    hk_obstacle_pose(&m->obstacles[obstacle], time, R, T);
}
