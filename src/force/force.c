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

HkForceArgs hk_force_args(const HkModel *model, int index, double t, const double *x,
                          const double *v, double *partial) {
  const HkCompiledForce *force = &model->forces[index];
  return (HkForceArgs){model, force->method.params, force->data, t, x, v, partial};
}

void hk_forces_sum(const HkModel *model, double t, const double *x, const double *v,
                   double *partial, double *f) {
  memset(f, 0, (size_t)model->n * 3 * sizeof *f);
  for (int q = 0; q < model->force_count; q++) {
    HkForceArgs a = hk_force_args(model, q, t, x, v, partial);
    model->forces[q].type->add(&a, f);
  }
}
