/* Checks whether a scene fits into memory before its model is compiled, which takes minutes for
 * large meshes.
 *
 * It counts only bodies of shapes, whose sizes are known without reading a file. Model, state and
 * simulation exist at the same time. A scene on ranks is not checked: each rank holds a part whose
 * size shows only after the partition, and models and simulations check their parts themselves.
 */
#include "model/build.h"
#include "run/run.h"
#include "step/need.h"

/* Adds a body to p, and the bytes of its part of the model to *bytes. */
static void add_body(const HkBody *body, HkProportions *p, double *bytes) {
  HkMeshCounts counts;
  if (!body->shape.schema || hk_shape_count(&body->shape, &counts, NULL) < 0) return;
  p->n += (double)counts.vertices;
  p->springs += hk_body_springs(body, &counts);
  p->damped |= body->springs.damping > 0;
  *bytes += hk_body_need(body, &counts, true);
  if ((double)counts.vertices <= p->core) return;
  p->core = (double)counts.vertices;
  p->width = (double)counts.section;
  p->solid = counts.solid;
}

HkStatus hk_run_check_memory(const HkScene *scene, HkError *error) {
  HkProportions p = {.dimension = scene->dimension};
  const HkStepType *type = hk_step_type(scene->step.schema);
  double bytes = 0;
  if (scene->context.ranks) return HK_OK;
  for (int q = 0; q < scene->body_count; q++) add_body(&scene->bodies[q], &p, &bytes);
  bytes += (type && type->remembers ? 4 : 2) * p.n * 3 * sizeof(double);
  bytes += hk_step_need(&p, &scene->step);
  HkContext c = hk_context_or_default(&scene->context);
  return hk_step_check(&c, &p, &scene->step, bytes, error);
}
