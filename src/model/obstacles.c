/* Obstacles of a model: compiled from the scene, placed by their motions. */
#include "model/build.h"

#include "base/vec.h"
#include "scene/blame.h"
#include "scene/parts.h"

#include <stdio.h>
#include <string.h>

/* ---- Compiling ---- */

static const char *name_of(const HkObstacle *obstacle, int index, char *buffer, size_t size) {
  if (obstacle->name) return obstacle->name;
  snprintf(buffer, size, "obstacle%d", index);
  return buffer;
}

/* Tables of friction and outputs name bodies and obstacles: a name means one of them. */
static HkStatus check_name(const HkModel *m, const char *name, HkError *error) {
  const char *taken = NULL;
  for (int b = 0; b < m->body_count; b++)
    if (strcmp(m->bodies[b].name, name) == 0) taken = "a body";
  for (int k = 0; k < m->obstacle_count; k++)
    if (strcmp(m->obstacles[k].name, name) == 0) taken = "an obstacle";
  if (!taken) return HK_OK;
  return hk_fail_key(error, HK_ERROR_INVALID, "name",
                     "there is %s '%s' already; give the obstacle another name", taken, name);
}

static HkStatus copy_name(const HkContext *context, const char *name, char **copy, HkError *error) {
  size_t bytes = strlen(name) + 1;
  HK_TRY(hk_alloc(context, copy, (int64_t)bytes, 1, "a name", error));
  memcpy(*copy, name, bytes);
  return HK_OK;
}

static HkStatus check_obstacle(const HkObstacle *obstacle, HkError *error) {
  HK_TRY(hk_params_check(&hk_part_obstacle, obstacle, "", error));
  if (!obstacle->shape.schema)
    return hk_fail(error, HK_ERROR_INVALID, "no shape was chosen; choose one, such as 'ball'");
  return hk_method_check(&obstacle->shape, HK_OBSTACLE, "", error);
}

static HkStatus compile_obstacle(HkModel *m, const HkObstacle *from, HkCompiledObstacle *to,
                                 HkError *error) {
  HK_TRY(hk_method_copy(&from->shape, &to->method, error));
  to->type = hk_obstacle_type(to->method.schema);
  to->friction = from->friction;
  to->friction_kinetic = from->friction_kinetic;
  to->two_sided = from->two_sided;
  to->contact = from->contact;
  HK_TRY(hk_motion_compile(m, &from->motion, &to->motion, error));
  return to->type->create(&m->context, m->folder, to->method.params, &to->features, &to->data,
                          error);
}

static HkStatus add_obstacle(HkModel *m, const HkObstacle *from, int index, HkError *error) {
  char buffer[32];
  const char *name = name_of(from, index, buffer, sizeof buffer);
  HkCompiledObstacle *to = &m->obstacles[m->obstacle_count];
  HK_TRY(check_obstacle(from, error));
  HK_TRY(check_name(m, name, error));
  HK_TRY(copy_name(&m->context, name, &to->name, error));
  m->obstacle_count++;
  return compile_obstacle(m, from, to, error);
}

/* Keeps an error with a line in a file of the obstacle; adds the key in the scene to all others. */
static HkStatus blame(const HkScene *scene, int index, const HkError *inner, HkError *error) {
  char path[64];
  if (inner->line > 0) {
    if (error) *error = *inner;
    return inner->status;
  }
  snprintf(path, sizeof path, "obstacles[%d]%s", index, inner->file[0] ? ".file" : "");
  return hk_scene_blame(scene, path, inner, error);
}

HkStatus hk_model_add_obstacles(HkModel *m, const HkScene *scene, HkError *error) {
  HK_TRY(hk_alloc(&m->context, &m->obstacles, scene->obstacle_count, sizeof *m->obstacles,
                  "obstacles", error));
  for (int k = 0; k < scene->obstacle_count; k++) {
    HkError inner = {0};
    if (add_obstacle(m, &scene->obstacles[k], k, &inner) < 0) return blame(scene, k, &inner, error);
  }
  return HK_OK;
}

void hk_obstacles_release(HkModel *m) {
  for (int k = 0; k < m->obstacle_count; k++) {
    HkCompiledObstacle *o = &m->obstacles[k];
    hk_method_clear(&o->motion.method);
    if (m->origin) continue; /* the rest is the origin's */
    if (o->data && o->type->destroy) o->type->destroy(&m->context, o->data);
    hk_obstacle_features_clear(&m->context, &o->features);
    hk_method_clear(&o->method);
    hk_free(&m->context, &o->name);
  }
  hk_free(&m->context, &m->obstacles);
  m->obstacle_count = 0;
}

/* ---- Measures ---- */

static size_t data_bytes(const HkCompiledObstacle *o) {
  return o->data && o->type->bytes ? o->type->bytes(o->data) : 0;
}

size_t hk_obstacles_bytes(const HkModel *m) {
  size_t bytes = (size_t)m->obstacle_count * sizeof *m->obstacles;
  for (int k = 0; k < m->obstacle_count; k++) {
    const HkCompiledObstacle *o = &m->obstacles[k];
    bytes += strlen(o->name) + 1 + hk_obstacle_features_bytes(&o->features) + data_bytes(o);
  }
  return bytes;
}

/* Names, motions and friction are left out: a state fits a model in which they differ. */
uint64_t hk_obstacles_hash(const HkModel *m, uint64_t h) {
  for (int k = 0; k < m->obstacle_count; k++) {
    const HkCompiledObstacle *o = &m->obstacles[k];
    const HkObstacleFeatures *f = &o->features;
    const char *type = o->method.schema->name;
    h = hk_hash(h, type, strlen(type));
    h = hk_hash(h, f->x, (size_t)f->vertex_count * 3 * sizeof *f->x);
    h = hk_hash(h, f->edge, (size_t)f->edge_count * 2 * sizeof *f->edge);
    h = hk_hash(h, f->triangle, (size_t)f->triangle_count * 3 * sizeof *f->triangle);
    h = hk_hash(h, &f->radius, sizeof f->radius);
    h = hk_hash(h, o->data, data_bytes(o));
  }
  return h;
}

/* ---- Motion ---- */

void hk_obstacle_place(const HkCompiledObstacle *o, double t, const double x0[3], double x[3]) {
  double v[3];
  o->motion.type->at(o->motion.method.params, t, x0, x, v, NULL);
}

void hk_obstacle_pose(const HkCompiledObstacle *o, double t, double R[9], double T[3]) {
  static const double origin[3] = {0, 0, 0};
  hk_obstacle_place(o, t, origin, T);
  for (int c = 0; c < 3; c++) {
    double e[3] = {0, 0, 0}, x[3];
    e[c] = 1;
    hk_obstacle_place(o, t, e, x);
    for (int r = 0; r < 3; r++) R[3 * r + c] = x[r] - T[r];
  }
}
