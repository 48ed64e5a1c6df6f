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
  HK_DEVICE_NEWTON         /* backward Euler by newton with pcg and block_jacobi */
} HkDeviceStep;

typedef struct HkDeviceSettings {
  HkDeviceStep step;
  double h;
  bool checked;       /* double precision in place of single precision */
  bool uses_velocity; /* a force depends on velocities */
  int iterations;     /* of a minimizer, at most */
  double tolerance;   /* of a minimizer; 0: it makes all iterations */
  int linear_iterations;
  double forcing;
  double rho, weight; /* of jacobi */
} HkDeviceSettings;

/* Writes the parameters of a method into the settings; an error names what devices do not support.
 */
typedef HkStatus HkToDeviceFn(const void *params, HkDeviceSettings *settings, HkError *error);

#endif
