/* The registry of integrators. */
#include "step/sim.h"

#define HK_STEP_TYPE(name) extern const HkStepType hk_step_##name;
#include "step/step.def"
#undef HK_STEP_TYPE

static const HkStepType *const types[] = {
#define HK_STEP_TYPE(name) &hk_step_##name,
#include "step/step.def"
#undef HK_STEP_TYPE
};

enum { TYPE_COUNT = sizeof types / sizeof types[0] };

const HkSchema *hk_step_schema(int index) {
  return index >= 0 && index < TYPE_COUNT ? &types[index]->schema : NULL;
}

const HkStepType *hk_step_type(const HkSchema *schema) {
  for (int k = 0; k < TYPE_COUNT; k++)
    if (&types[k]->schema == schema) return types[k];
  return NULL;
}

const char *hk_method_stability(const HkMethod *step) {
  const HkStepType *type = hk_step_type(step->schema);
  return type && type->stability ? type->stability : "";
}
