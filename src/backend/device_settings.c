/* The settings of a simulation for a device; its methods fill them in (to_device). */
#include "backend/remote.h"

HkStatus hk_device_settings(const HkSim *sim, HkDeviceSettings *settings, HkError *error) {
  settings->checked = sim->model->context.device == HK_CUDA_DOUBLE;
  if (sim->model->time.tolerance > 0)
    return hk_fail(error, HK_ERROR_UNSUPPORTED,
                   "devices do not support time.tolerance; leave it out and set time.step");
  if (!sim->type->to_device)
    return hk_fail_device(HK_STEP, sim->type->schema.name,
                          "symplectic_euler, verlet or backward_euler", error);
  return sim->type->to_device(sim->method.params, settings, error);
}
