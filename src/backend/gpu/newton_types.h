/* What Newton's method of newton.h works with: an iterate, the operations of a device, the method.
 */
#ifndef HK_BACKEND_GPU_NEWTON_TYPES_H
#define HK_BACKEND_GPU_NEWTON_TYPES_H

#include "backend/gpu/conjugate_gradients.h"
#include "base/device_settings.h"
#include "hooke/hooke.h"
#include "minimize/newton_rules.h"

/* What is known of an iterate x; norms are |.|_M over the free vertices, in kg^(1/2) m. */
typedef struct HkGpuLook {
  double residual;   /* |M^-1 dg/dx|_M */
  double moved;      /* |x - x_n|_M */
  double pressure;   /* largest 2 h^2 sum k (l0 / l - 1) / m_i over the springs under pressure */
  double rounding;   /* of the residual, by the rounding of the coordinates */
  double resolution; /* m, the rounding of the coordinates */
} HkGpuLook;

/* The operations of a device; each returns an error of the device. */
typedef struct HkGpuNewtonOps {
  void *device;
  /* Evaluates dg/dx and the springs of level 0 at x. */
  HkStatus (*look)(void *device, HkGpuLook *look, HkError *error);
  /* Computes the hierarchy of the projected Hessian at x; first: of the first iterate of a step. */
  HkStatus (*prepare)(void *device, bool first, HkError *error);
  /* p = -H^-1 dg/dx to a relative residual; by_decrease: of HkGpuPcg, also for a correction that
   * follows. */
  HkStatus (*solve)(void *device, double kept, double tolerance, bool by_decrease,
                    HkGpuSolved *solved, HkError *error);
  /* c = the second-order correction of x + p. */
  HkStatus (*correct)(void *device, double kept, double tolerance, HkGpuSolved *solved,
                      HkError *error);
  /* Proposes x + a p, or x + a p + a^2 c if `curved`, and returns the change of g (kg m^2). */
  HkStatus (*propose)(void *device, double a, bool curved, double *change, HkError *error);
  /* Moves x by a p, or by the last proposal if that was curved and a is 1. undo moves it back after
   * a = 1. Proposals x + a p and moves by a p with a other than 1 are made along rough directions
   * (hk_newton_is_rough) only. */
  HkStatus (*take)(void *device, double a, HkError *error);
  HkStatus (*undo)(void *device, HkError *error);
} HkGpuNewtonOps;

typedef struct HkGpuNewton {
  const HkGpuNewtonOps *ops;
  const HkDeviceSettings *settings;
  bool convex_known; /* H is convex where springs are under little pressure: hk_problem_is_convex */
  bool multigrid;    /* is the preconditioner */
  double total_mass; /* kg */
  double proof_residual; /* least forcing term of a direction that is to prove a minimum; 0: that of
                          * any direction */
  HkStepInfo info;

  HkGpuLook look;
  HkProjection projection;
  HkDecreases decreases;
  bool rough;           /* the next direction */
  int stationary;       /* iterates with m <= tolerance so far that were not proved */
  bool definite, exact; /* of the last direction */
  double step, length;  /* step length a and |p|_M of the last direction */
  double change;        /* of g by the last step (kg m^2) */
  bool proves, proved, goes_on;
} HkGpuNewton;

#endif
