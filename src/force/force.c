/* The registry of forces and their sum. */
#include "force/force.h"

#include <string.h>

#define HK_FORCE_TYPE(name) extern const HkForceType hk_force_##name;
#include "force/force.def"
#undef HK_FORCE_TYPE

static const HkForceType *const types[] = {
#define HK_FORCE_TYPE(name) &hk_force_##name,
#include "force/force.def"
#undef HK_FORCE_TYPE
};

enum { TYPE_COUNT = sizeof types / sizeof types[0] };

const HkSchema *hk_force_schema(int index) {
  return index >= 0 && index < TYPE_COUNT ? &types[index]->schema : NULL;
}

const HkForceType *hk_force_type(const HkSchema *schema) {
  for (int q = 0; q < TYPE_COUNT; q++)
    if (&types[q]->schema == schema) return types[q];
  return NULL;
}

HkStatus hk_force_work_create(const HkModel *m, HkForceWork *work, size_t *bytes, HkError *error) {
  const HkContext *c = &m->context;
  int64_t longest = m->n > m->spring_count ? m->n : m->spring_count, scratch = 0;
  if (m->face_count > longest) longest = m->face_count;
  for (int q = 0; q < m->force_count; q++) {
    const HkForceType *type = m->forces[q].type;
    int64_t needed = type->scratch ? type->scratch(m) : 0;
    if (needed > scratch) scratch = needed;
  }
  int64_t sums = hk_sum_slots(longest);
  *work = (HkForceWork){0};
  HkStatus status = hk_alloc(c, &work->sums, sums, sizeof *work->sums, "sums", error);
  if (status >= 0)
    status = hk_alloc(c, &work->scratch, scratch, sizeof *work->scratch, "forces", error);
  if (status < 0) hk_force_work_destroy(m, work);
  if (bytes) *bytes += (size_t)(sums + scratch) * sizeof(double);
  return status;
}

void hk_force_work_destroy(const HkModel *m, HkForceWork *work) {
  hk_free(&m->context, &work->sums);
  hk_free(&m->context, &work->scratch);
}

HkForceArgs hk_force_args(const HkModel *model, int index, const HkForceWork *work, double t,
                          const double *x, const double *v) {
  const HkCompiledForce *force = &model->forces[index];
  return (HkForceArgs){model, force->method.params, force->data, t, x, v, *work};
}

void hk_forces_sum(const HkModel *model, const HkForceWork *work, double t, const double *x,
                   const double *v, double *f) {
  memset(f, 0, (size_t)model->n * 3 * sizeof *f);
  for (int q = 0; q < model->force_count; q++) {
    HkForceArgs a = hk_force_args(model, q, work, t, x, v);
    model->forces[q].type->add(&a, f);
  }
}

void hk_forces_potential(const HkModel *model, const HkForceWork *work, double t, const double *x,
                         double *f) {
  memset(f, 0, (size_t)model->n * 3 * sizeof *f);
  for (int q = 0; q < model->force_count; q++) {
    HkForceArgs a = hk_force_args(model, q, work, t, x, NULL);
    if (model->forces[q].type->energy) model->forces[q].type->add(&a, f);
  }
}

double hk_forces_energy_change(const HkModel *model, const HkForceWork *work, double t,
                               const double *x, const double *to) {
  double sum = 0;
  for (int q = 0; q < model->force_count; q++) {
    const HkForceType *type = model->forces[q].type;
    HkForceArgs a = hk_force_args(model, q, work, t, x, NULL), b = a;
    b.x = to;
    if (type->energy_change)
      sum += type->energy_change(&a, to);
    else if (type->energy)
      sum += type->energy(&b) - type->energy(&a);
  }
  return sum;
}
