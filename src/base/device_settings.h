/* Settings of a device, from the methods of a simulation. Each method that devices support fills in
 * its part (to_device in HkStepType, HkMinimizeType and HkLinearType).
 */
#ifndef HK_BASE_DEVICE_SETTINGS_H
#define HK_BASE_DEVICE_SETTINGS_H

#include "base/status.h"

/* Integrator, and minimizer of an implicit step, that a device runs. */
typedef enum HkDeviceStep {
  HK_DEVICE_SYMPLECTIC,
  HK_DEVICE_VERLET,
  HK_DEVICE_BLOCK_DESCENT, /* backward Euler by vertex_block_descent */
  HK_DEVICE_JACOBI,        /* backward Euler by jacobi with Chebyshev's acceleration */
  HK_DEVICE_NEWTON,        /* backward Euler by newton with pcg */
  HK_DEVICE_BDF2,          /* bdf2 by newton with pcg and multigrid */
  HK_DEVICE_LINEAR         /* linear_implicit_euler by pcg with multigrid */
} HkDeviceStep;

/* Preconditioner of conjugate gradients that a device runs. */
typedef enum HkDevicePreconditioner {
  HK_DEVICE_NO_PRECONDITIONER, /* devices do not support it */
  HK_DEVICE_BLOCK_JACOBI,
  HK_DEVICE_MULTIGRID
} HkDevicePreconditioner;

typedef struct HkDeviceSettings {
  HkDeviceStep step;
  double h;
  bool checked;       /* double precision in place of single precision */
  bool uses_velocity; /* a force depends on velocities */
  int iterations;     /* of a minimizer, at most */
  double tolerance;   /* of a minimizer; 0: it makes all iterations */
  bool leads;         /* the first guess depends on the step before */
  int passes;         /* minimizations a step: step/implicit.h; 0 or 1: one */
  HkDevicePreconditioner preconditioner;
  int linear_iterations;
  double linear_tolerance; /* smallest relative residual of a linear system */
  double forcing;
  double rho, weight; /* of jacobi */
} HkDeviceSettings;

static inline bool hk_device_has_multigrid(const HkDeviceSettings *settings) {
  return settings->step >= HK_DEVICE_NEWTON && settings->preconditioner == HK_DEVICE_MULTIGRID;
}

/* Returns whether steps leave the velocities of the step before, as those of the CPU do: the first
 * guess, or the integrator, depends on them. */
static inline bool hk_device_remembers(const HkDeviceSettings *settings) {
  bool needed = settings->leads || settings->step == HK_DEVICE_BDF2;
  return needed && hk_device_has_multigrid(settings) && settings->step != HK_DEVICE_LINEAR;
}

/* Returns whether steps depend on the positions of the step before. */
static inline bool hk_device_needs_x_old(const HkDeviceSettings *settings) {
  return settings->step == HK_DEVICE_BDF2;
}

/* Returns whether states are in double precision on the device. Multigrid computes positions and
 * gradients so, and only its levels in single precision. */
static inline bool hk_device_is_double(const HkDeviceSettings *settings) {
  return settings->checked || hk_device_has_multigrid(settings);
}

/* Writes the parameters of a method into the settings; an error names what devices do not support.
 */
typedef HkStatus HkToDeviceFn(const void *params, HkDeviceSettings *settings, HkError *error);

#endif
