/* The linear system of a step of linear_implicit_euler (step/beta.c with beta = 1), over the
 * operations of a device. CUDA and the tests without a GPU compile the same code; it runs on the
 * host.
 *
 *     (M + h^2 K+ + h C) p = M h v + h^2 (f + C v),   p = h v+,   x+ = x + p
 *
 * K+ = -df/dx with springs under pressure slack across their length, C = -df/dv, f at x and v. It
 * is the first Newton direction of backward Euler from x with the projected Hessian, with media
 * linearized about x. Conjugate gradients begin again from the true residual while that pays, as
 * hk_krylov_solve does.
 */
#ifndef HK_BACKEND_GPU_LINEAR_STEP_H
#define HK_BACKEND_GPU_LINEAR_STEP_H

#include "backend/gpu/conjugate_gradients.h"
#include "base/device_settings.h"
#include "hooke/hooke.h"

#include <float.h>
#include <math.h>

/* The operations of a device; each returns an error of the device. */
typedef struct HkGpuLinearOps {
  void *device;
  /* Adds H^-1 r to p, to a residual relative to |r|. */
  HkStatus (*solve)(void *device, double tolerance, HkGpuSolved *solved, HkError *error);
  /* r = b - H p; *size becomes |r|. */
  HkStatus (*residual)(void *device, double *size, HkError *error);
} HkGpuLinearOps;

/* Returns the relative residual that rounding leaves (rounding_of of beta.c): weighted = |d_i h
 * v_i|, d_i the bound of the stiffness at a vertex (kg), and size = |b|. */
static inline double hk_gpu_linear_rounding(double weighted, double size) {
  const double MAX_ROUNDING_RESIDUAL = 1e-5;
  double part = 2 * DBL_EPSILON * weighted / size;
  if (!(size > 0) || !isfinite(part)) return 0;
  return part < MAX_ROUNDING_RESIDUAL ? part : MAX_ROUNDING_RESIDUAL;
}

/* Solves H p = b; before, p is 0, r is b and size |b|; weighted as above. */
static inline HkStatus hk_gpu_linear_step(const HkGpuLinearOps *ops,
                                          const HkDeviceSettings *settings, double size,
                                          double weighted, HkStepInfo *info, HkError *error) {
  const HkStepInfo none = {0};
  double tolerance = settings->linear_tolerance, last = INFINITY;
  double rounding = hk_gpu_linear_rounding(weighted, size);
  if (tolerance < rounding) tolerance = rounding;
  if (tolerance < DBL_EPSILON) tolerance = DBL_EPSILON;
  *info = none;
  info->iterations = 1;
  info->reason = isfinite(size) ? HK_STOP_CONVERGED : HK_STOP_STALLED;
  info->residual = size > 0 ? 1 : 0;
  if (!isfinite(size)) info->residual = info->gradient = NAN; /* forces are not finite */
  if (!isfinite(size) || size == 0) return HK_OK;
  for (;;) {
    HkGpuSolved solved = {0};
    double left = info->residual;
    HkStatus status = ops->solve(ops->device, tolerance / left, &solved, error);
    info->linear_iterations += solved.iterations;
    if (status >= 0) status = ops->residual(ops->device, &info->residual, error);
    if (status < 0) return status;
    info->residual /= size;
    bool all = info->linear_iterations >= settings->linear_iterations;
    info->reason = info->residual <= tolerance ? HK_STOP_CONVERGED
                   : all                       ? HK_STOP_ITERATIONS
                                               : HK_STOP_STALLED;
    if (info->residual <= tolerance || all || !(info->residual < last / 2)) return HK_OK;
    last = info->residual;
  }
}

#endif
