/* Newton's method on the g of an implicit step, over the operations of a device: the method of
 * minimize/newton.c with an iterative linear solver, and the stopping rule of minimize/stopping.c.
 * CUDA and the tests without a GPU compile the same code. It runs on the host; for the worlds of a
 * batch it runs on the device, in every thread of a block alike: world_newton.h defines
 * HK_GPU_METHOD and HK_GPU_OP, so that operations are called directly.
 *
 *     H(x) p = -dg/dx,   x+ = x + a p + a^2 c,   a = 1, 0.7, 0.49 ... by Armijo's rule
 *     m(x) = |M^-1 dg/dx|_M / |x - x_n|_M <= tolerance
 *
 * `kept` is the part of the negative curvature of springs under pressure that H contains: 1 for the
 * true Hessian, 0 for its positive definite projection; it is 1 - projection of newton.c. An
 * iterate that meets the tolerance is followed by a direction of the true Hessian, which proves a
 * minimum if it is short. c is a second-order correction for the springs that p turns. With
 * multigrid and a large tolerance directions are rough (hk_newton_is_rough), and a = 2, 4 ...
 * follow where g falls.
 *
 * Differences to the CPU: a tension-only spring that p pulls taut is met by the line search alone;
 * no factorization takes over from conjugate gradients; where g rises, the gradient decides only
 * after short directions, not wherever the rise is within the rounding of g; and in worlds of a
 * batch a direction that is to prove a minimum is solved as far as the proof needs.
 */
#ifndef HK_BACKEND_GPU_NEWTON_H
#define HK_BACKEND_GPU_NEWTON_H

#include "backend/gpu/newton_types.h"

#include <float.h>
#include <math.h>

#ifndef HK_GPU_OP
#define HK_GPU_OP(n, operation) (n)->ops->operation
#endif

/* Largest rise of g from the positions at the start of a step to the guess, in parts of the inertia
 * of the step: guess of step/implicit.c. */
#define HK_GPU_GUESS_MAX_RISE 30

HK_GPU_METHOD bool hk_gpu_newton_solved(const HkGpuNewton *n) {
  return n->info.reason == HK_STOP_CONVERGED || n->info.reason == HK_STOP_STATIONARY ||
         n->info.reason == HK_STOP_ROUNDING;
}

/* reason_at of stopping.c */
HK_GPU_METHOD HkStop hk_gpu_newton_reason(const HkGpuNewton *n) {
  const HkGpuLook *k = &n->look;
  double tolerance = n->settings->tolerance, r = k->residual;
  if (tolerance == 0) return HK_STOP_ITERATIONS;
  if (r <= tolerance * k->moved && !n->goes_on) {
    bool near = r <= HK_CONVERGED_MAX * k->moved;
    if (near && (n->proved || (n->convex_known && k->pressure <= 1.0 / 3)))
      return HK_STOP_CONVERGED;
    return r <= k->rounding ? HK_STOP_ROUNDING : HK_STOP_STATIONARY;
  }
  return r <= k->rounding ? HK_STOP_ROUNDING : HK_STOP_ITERATIONS;
}

/* hk_minimizer_look of stopping.c: returns whether the minimization ends. */
HK_GPU_METHOD bool hk_gpu_newton_ends(HkGpuNewton *n, int iteration) {
  const HkGpuLook *k = &n->look;
  double tolerance = n->settings->tolerance;
  double shortest = tolerance < HK_CONVERGED_MAX ? tolerance : HK_CONVERGED_MAX;
  n->proved = n->proves && n->length <= shortest * k->moved;
  n->goes_on = tolerance > HK_CONVERGED_MAX && !hk_decreases_end(&n->decreases, k->moved);
  n->info.iterations = iteration;
  n->info.evaluations++;
  n->info.gradient = k->residual == 0 ? 0 : k->residual / k->moved;
  if (isinf(n->info.gradient) && k->residual <= k->rounding) n->info.gradient = 0;
  if (!isfinite(k->residual)) n->info.gradient = NAN;
  n->info.reason = hk_gpu_newton_reason(n);
  bool last = iteration >= n->settings->iterations || !isfinite(k->residual);
  bool provable = n->info.reason == HK_STOP_STATIONARY && n->info.gradient <= HK_CONVERGED_MAX;
  if (provable && ++n->stationary < HK_STATIONARY_MAX) return last;
  return hk_gpu_newton_solved(n) || last;
}

/* Finds p; *projection becomes that of the Hessian that it belongs to. */
HK_GPU_METHOD HkStatus hk_gpu_newton_direction(HkGpuNewton *n, double accuracy, double *projection,
                                               HkGpuSolved *solved, HkError *error) {
  bool proves = n->info.reason == HK_STOP_STATIONARY;
  n->rough = hk_newton_is_rough(n->settings->tolerance, n->multigrid) && !proves;
  bool by_decrease = n->rough && n->info.iterations > 0;
  double wanted = proves ? 0 : n->rough ? 1 : n->projection.now;
  bool projected = wanted == 1;
  *projection = wanted;
  n->definite = n->exact = false;
  if (!projected) {
    HkStatus status =
        HK_GPU_OP(n, solve)(n->ops->device, 1 - wanted, accuracy, by_decrease, solved, error);
    if (status < 0) return status;
    n->info.linear_iterations += solved->iterations;
    n->definite = !solved->indefinite;
    n->exact = n->definite && solved->converged && wanted == 0;
    bool useful = !solved->indefinite || (solved->iterations > 1 && solved->slope < 0);
    projected = wanted > 0 ? solved->indefinite : !useful;
  }
  if (projected) {
    *projection = 1;
    n->info.projections++;
    HkStatus status =
        HK_GPU_OP(n, solve)(n->ops->device, 0.0, accuracy, by_decrease, solved, error);
    if (status < 0) return status;
    n->info.linear_iterations += solved->iterations;
  }
  n->info.residual = solved->residual;
  hk_projection_adapt(&n->projection, wanted, n->definite, n->exact);
  return HK_OK;
}

/* gradient_falls of newton.c: whether the last proposal is good by its gradient where the change of
 * g is rounding. It leaves x there if so. */
HK_GPU_METHOD HkStatus hk_gpu_newton_falls(HkGpuNewton *n, bool *falls, HkError *error) {
  HkGpuLook before = n->look, after;
  double least = HK_FALLS_RESOLVED * before.resolution * sqrt(n->total_mass);
  double longest = HK_FALLS_SHORT * before.moved > least ? HK_FALLS_SHORT * before.moved : least;
  *falls = false;
  if (!n->exact || n->length > longest) return HK_OK;
  HkStatus status = HK_GPU_OP(n, take)(n->ops->device, 1, error);
  if (status >= 0) status = HK_GPU_OP(n, look)(n->ops->device, &after, error);
  if (status < 0) return status;
  n->info.evaluations++;
  *falls = after.residual <= HK_FALLS_LESS * before.residual;
  if (*falls) return HK_OK;
  status = HK_GPU_OP(n, undo)(n->ops->device, error);
  return status < 0 ? status : HK_GPU_OP(n, look)(n->ops->device, &after, error);
}

/* lengthen of newton.c: after the proposal x + p, by which g changes by n->change, moves x by a p
 * with the longest a that lowers g further. */
HK_GPU_METHOD HkStatus hk_gpu_newton_lengthen(HkGpuNewton *n, HkError *error) {
  HkStatus status = HK_OK;
  for (int a = HK_NEWTON_GROW; a <= HK_NEWTON_LONGEST; a *= HK_NEWTON_GROW) {
    double change;
    status = HK_GPU_OP(n, propose)(n->ops->device, a, false, &change, error);
    if (status < 0) return status;
    if (!(change < n->change)) break;
    n->step = a;
    n->change = change;
  }
  return HK_GPU_OP(n, take)(n->ops->device, n->step, error);
}

/* Line search along p, then along the parabola of p and c; n->step is 0 if no step lowers g. */
HK_GPU_METHOD HkStatus hk_gpu_newton_search(HkGpuNewton *n, double projection, double slope,
                                            HkError *error) {
  double change;
  bool falls = false;
  n->step = 1;
  HkStatus status = HK_GPU_OP(n, propose)(n->ops->device, 1, false, &change, error);
  if (status < 0) return status;
  n->change = change;
  if (change <= HK_ARMIJO * slope)
    return n->rough ? hk_gpu_newton_lengthen(n, error)
                    : HK_GPU_OP(n, take)(n->ops->device, 1, error);
  status = hk_gpu_newton_falls(n, &falls, error);
  if (status < 0 || falls) return status;
  HkGpuSolved corrected;
  status = HK_GPU_OP(n, correct)(n->ops->device, 1 - projection, HK_CORRECTION_RESIDUAL, &corrected,
                                 error);
  if (status < 0) return status;
  n->info.linear_iterations += corrected.iterations;
  for (int trial = 0; trial < HK_NEWTON_TRIALS_MAX; trial++, n->step *= HK_NEWTON_SHRINK) {
    status = HK_GPU_OP(n, propose)(n->ops->device, n->step, true, &change, error);
    if (status < 0) return status;
    n->change = change;
    if (change <= HK_ARMIJO * n->step * slope) return HK_GPU_OP(n, take)(n->ops->device, 1, error);
  }
  n->step = 0;
  return HK_OK;
}

/* One iteration from x. */
HK_GPU_METHOD HkStatus hk_gpu_newton_advance(HkGpuNewton *n, double accuracy, HkError *error) {
  HkGpuSolved solved;
  double projection;
  bool near = n->info.reason == HK_STOP_STATIONARY && n->info.gradient <= HK_CONVERGED_MAX;
  n->step = n->change = 0;
  HkStatus status = hk_gpu_newton_direction(n, accuracy, &projection, &solved, error);
  if (status < 0) return status;
  n->length = solved.length;
  if (solved.slope < 0) status = hk_gpu_newton_search(n, projection, solved.slope, error);
  hk_decreases_add(&n->decreases, n->change < 0 ? -n->change : 0);
  n->proves = near && n->exact && accuracy <= HK_PROOF_RESIDUAL && n->step == 1;
  return status;
}

/* Minimizes g from the x of the device; n->info says how it ended. Sets all members of n but ops,
 * settings, convex_known, total_mass and proof_residual. */
HK_GPU_METHOD HkStatus hk_gpu_newton_minimize(HkGpuNewton *n, HkError *error) {
  const HkStepInfo none = {0};
  n->info = none;
  n->projection = hk_projection_begin(false);
  n->decreases = hk_decreases_begin();
  n->stationary = 0;
  n->proves = false;
  n->length = INFINITY;
  for (int it = 0;; it++) {
    HkStatus status = HK_GPU_OP(n, look)(n->ops->device, &n->look, error);
    if (status < 0) return status;
    if (hk_gpu_newton_ends(n, it)) return HK_OK;
    double accuracy = hk_newton_forcing(n->settings->forcing, n->info.gradient, it == 0);
    if (n->info.reason == HK_STOP_STATIONARY && accuracy < n->proof_residual)
      accuracy = n->proof_residual;
    status = HK_GPU_OP(n, prepare)(n->ops->device, it == 0, error);
    if (status >= 0) status = hk_gpu_newton_advance(n, accuracy, error);
    if (status < 0) return status;
    if (n->step > 0) continue;
    if (!hk_gpu_newton_solved(n)) n->info.reason = HK_STOP_STALLED;
    return HK_OK;
  }
}

/* Adds the work of a pass of step/implicit.c; residual and reason are those of the last pass. */
static inline void hk_gpu_newton_add_pass(HkStepInfo *sum, const HkStepInfo *last) {
  HkStepInfo before = *sum;
  *sum = *last;
  sum->iterations += before.iterations;
  sum->linear_iterations += before.linear_iterations;
  sum->evaluations += before.evaluations;
  sum->projections += before.projections;
}

#endif
