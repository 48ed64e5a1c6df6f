/* Methods that a device supports, with their settings; an error names any other one. */
#include "backend/remote.h"
#include "linear/krylov.h"
#include "step/implicit.h"
#include "step/kick.h"

#include <string.h>

/* Devices support pcg with block_jacobi only. */
static HkStatus pick_linear(const HkMethod *linear, HkDeviceSettings *settings, HkError *error) {
  const char *name = linear->schema->name;
  if (strcmp(name, "pcg") != 0)
    return hk_fail(error, HK_ERROR_UNSUPPORTED,
                   "devices do not support the linear solver '%s'; choose pcg with block_jacobi",
                   name);
  const HkPcgParams *p = linear->params;
  if (p->preconditioner.schema && strcmp(p->preconditioner.schema->name, "block_jacobi") != 0)
    return hk_fail(error, HK_ERROR_UNSUPPORTED,
                   "devices do not support the preconditioner '%s'; choose block_jacobi",
                   p->preconditioner.schema->name);
  settings->linear_iterations = p->iterations;
  return HK_OK;
}

static HkStatus pick_implicit(const HkSim *sim, HkDeviceSettings *settings, HkError *error) {
  const HkImplicitParams *implicit = sim->method.params;
  const HkMethod *minimizer = &implicit->minimizer;
  const char *name = minimizer->schema->name;
  const HkStopping *stopping = minimizer->params;
  settings->iterations = stopping->iterations;
  settings->tolerance = stopping->tolerance;
  if (implicit->passes > 1)
    return hk_fail(error, HK_ERROR_UNSUPPORTED,
                   "devices solve each step once; leave out 'passes' of backward_euler");
  if (strcmp(name, "vertex_block_descent") == 0) {
    settings->step = HK_DEVICE_BLOCK_DESCENT;
  } else if (strcmp(name, "jacobi") == 0) {
    const HkJacobiParams *p = minimizer->params;
    settings->step = HK_DEVICE_JACOBI;
    settings->weight = p->weight;
    settings->rho = p->rho;
  } else if (strcmp(name, "newton") == 0) {
    const HkNewtonParams *p = minimizer->params;
    settings->step = HK_DEVICE_NEWTON;
    settings->forcing = p->forcing;
    HK_TRY(pick_linear(&p->linear, settings, error));
  } else {
    return hk_fail(
        error, HK_ERROR_UNSUPPORTED,
        "devices do not support the minimizer '%s'; choose vertex_block_descent, jacobi or newton",
        name);
  }
  return HK_OK;
}

HkStatus hk_device_settings(const HkSim *sim, HkDeviceSettings *settings, HkError *error) {
  const char *name = sim->type->schema.name;
  settings->checked = sim->model->context.device == HK_CUDA_DOUBLE;
  if (sim->model->time.tolerance > 0)
    return hk_fail(error, HK_ERROR_UNSUPPORTED,
                   "devices do not support time.tolerance; leave it out and set time.step");
  if (strcmp(name, "backward_euler") == 0) return pick_implicit(sim, settings, error);
  if (strcmp(name, "symplectic_euler") == 0)
    settings->step = HK_DEVICE_SYMPLECTIC;
  else if (strcmp(name, "verlet") == 0)
    settings->step = HK_DEVICE_VERLET;
  else
    return hk_fail(error, HK_ERROR_UNSUPPORTED,
                   "devices do not support the integrator '%s'; choose symplectic_euler, verlet or "
                   "backward_euler",
                   name);
  settings->checked |= ((const HkKickParams *)sim->method.params)->precision == HK_KICK_DOUBLE;
  return HK_OK;
}
