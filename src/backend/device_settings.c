/* The settings of a simulation for a device; its methods fill them in (to_device). */
#include "backend/device_model.h"
#include "backend/remote.h"

HkStatus hk_device_settings(const HkSim *sim, HkDeviceSettings *settings, HkError *error) {
  settings->checked = sim->device == HK_CUDA_DOUBLE;
  if (sim->model->time.tolerance > 0)
    return hk_fail(error, HK_ERROR_UNSUPPORTED,
                   "devices do not support time.tolerance; leave it out and set time.step");
  if (!sim->type->to_device)
    return hk_fail_device(HK_STEP, sim->type->schema.name,
                          "symplectic_euler, verlet, backward_euler, bdf2 or linear_implicit_euler",
                          error);
  HK_TRY(sim->type->to_device(sim->method.params, settings, error));
  /* Second order needs a second pass where only a part of -df/dv is symmetric (step/implicit.c). */
  if (settings->passes == 0)
    settings->passes = hk_device_has_air(sim->model) ? sim->type->order : 1;
  return HK_OK;
}
