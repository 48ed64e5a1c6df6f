/* The registry: which methods each family has, which one is its default, and what makes the steps
 * on each kind of device.
 *
 * It stands above all folders, which declare what they ask of it (base/schema.h, step/stepper.h)
 * and define their own lists. Nothing below includes a folder for the sake of its list.
 */
#include "backend/remote.h"
#include "base/schema.h"
#include "linear/linear.h"
#include "step/cpu.h"
#include "step/ranks.h"

const HkSchema *hk_schema_at(HkFamily family, int index) {
  if (index < 0) return NULL;
  switch (family) {
  case HK_SHAPE: return hk_shape_schema(index);
  case HK_FORCE: return hk_force_schema(index);
  case HK_MOTION: return hk_motion_schema(index);
  case HK_OBSTACLE: return hk_obstacle_schema(index);
  case HK_STEP: return hk_step_schema(index);
  case HK_MINIMIZE: return hk_minimize_schema(index);
  case HK_LINEAR: return hk_linear_schema(index);
  case HK_PRECONDITION: return hk_precondition_schema(index);
  case HK_OUTPUT: return hk_output_schema(index);
  case HK_PART: return hk_part_schema(index);
  case HK_FAMILY_COUNT: break;
  }
  return NULL;
}

bool hk_schema_is_of(HkFamily family, const HkSchema *schema) {
  for (int k = 0; hk_schema_at(family, k); k++)
    if (hk_schema_at(family, k) == schema) return true;
  return family == HK_LINEAR && hk_linear_type(schema); /* that of a caller */
}

const char *hk_family_default(HkFamily family) {
  switch (family) {
  case HK_MOTION: return "fixed";
  case HK_STEP: return "symplectic_euler";
  case HK_MINIMIZE: return "newton";
  case HK_LINEAR: return hk_linear_default();
  case HK_PRECONDITION: return "block_jacobi";
  default: return NULL;
  }
}

const HkStepperType *hk_stepper_type(HkDeviceKind device) {
  if (device == HK_CPU) return &hk_stepper_cpu;
  return device == HK_PETSC ? &hk_stepper_ranks : &hk_stepper_remote;
}
