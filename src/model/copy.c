/* Copies of a model for the worlds of a batch.
 *
 * A copy has k, masses, forces and motions of its own: all that live changes change (live.c). The
 * arrays that never change after compiling (x0, v0, springs but for k, neighbors, cells, faces,
 * pins, shapes of obstacles, probes, names) are those of the model that it was copied from, which
 * has to outlive it. They are recognized when a copy is destroyed by having the same address.
 */
#include "force/force.h"
#include "model/build.h"

#include <string.h>

static HkStatus copy_numbers(const HkContext *c, double **array, int64_t count, const char *what,
                             HkError *error) {
  const double *from = *array;
  *array = NULL;
  HK_TRY(hk_alloc(c, array, count, sizeof **array, what, error));
  if (count > 0) memcpy(*array, from, (size_t)count * sizeof **array);
  return HK_OK;
}

static HkStatus copy_motion(const HkCompiledMotion *from, HkCompiledMotion *to, HkError *error) {
  *to = *from;
  return hk_method_copy(&from->method, &to->method, error);
}

static HkStatus copy_motions(const HkModel *from, HkModel *m, HkError *error) {
  HK_TRY(hk_alloc(&m->context, &m->motions, from->motion_count, sizeof *m->motions, "pins", error));
  for (; m->motion_count < from->motion_count; m->motion_count++)
    HK_TRY(copy_motion(&from->motions[m->motion_count], &m->motions[m->motion_count], error));
  return HK_OK;
}

/* Obstacles share everything but their motions. */
static HkStatus copy_obstacles(const HkModel *from, HkModel *m, HkError *error) {
  HK_TRY(hk_alloc(&m->context, &m->obstacles, from->obstacle_count, sizeof *m->obstacles,
                  "obstacles", error));
  for (; m->obstacle_count < from->obstacle_count; m->obstacle_count++) {
    const HkCompiledObstacle *other = &from->obstacles[m->obstacle_count];
    HkCompiledObstacle *o = &m->obstacles[m->obstacle_count];
    *o = *other;
    HK_TRY(copy_motion(&other->motion, &o->motion, error));
  }
  return HK_OK;
}

/* Forces keep their ids, so that memory in states is found again. */
static HkStatus copy_forces(const HkModel *from, HkModel *m, HkError *error) {
  HK_TRY(hk_alloc(&m->context, &m->forces, from->force_count, sizeof *m->forces, "forces", error));
  for (; m->force_count < from->force_count; m->force_count++) {
    const HkCompiledForce *other = &from->forces[m->force_count];
    HkCompiledForce *force = &m->forces[m->force_count];
    if (!hk_force_type(other->method.schema))
      return hk_fail(error, HK_ERROR_UNSUPPORTED,
                     "the force '%s' is the caller's and cannot be copied; make the batch without "
                     "it, and then add it to the model of each world",
                     other->method.schema->name);
    HK_TRY(hk_force_compile(m, &other->method, force, error));
    force->id = other->id;
  }
  m->force_ids = from->force_ids;
  return HK_OK;
}

static HkStatus copy_parts(const HkModel *from, HkModel *m, HkError *error) {
  const HkContext *c = &m->context;
  HK_TRY(copy_numbers(c, &m->mass, m->n, "masses", error));
  HK_TRY(copy_numbers(c, &m->springs.k, m->springs.count, "springs", error));
  HK_TRY(hk_method_copy(&from->step, &m->step, error));
  HK_TRY(copy_motions(from, m, error));
  HK_TRY(copy_obstacles(from, m, error));
  return copy_forces(from, m, error);
}

HkStatus hk_model_copy(const HkModel *from, const HkContext *context, HkModel **copy,
                       HkError *error) {
  *copy = NULL;
  HK_TRY(hk_alloc(context, copy, 1, sizeof **copy, "a model", error));
  HkModel *m = *copy;
  *m = *from;
  m->origin = from;
  m->context = *context;
  m->context.log = NULL; /* what the forces log has been logged by the first compilation */
  m->threads = 1;
  m->motions = NULL;
  m->obstacles = NULL;
  m->forces = NULL;
  m->motion_count = m->obstacle_count = m->force_count = 0;
  m->step = (HkMethod){0};
  HkStatus status = copy_parts(from, m, error);
  m->context.log = context->log;
  if (status < 0) hk_model_destroy(copy);
  return status;
}
