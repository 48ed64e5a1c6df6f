/* The numbers of an implicit step and where a vertex begins it: y, tau and b of minimize/problem.h
 * as the integrators of src/step choose them. CUDA kernels and the tests without a GPU compile the
 * same code.
 *
 *     backward_euler, linear_implicit_euler   b = x,             u = v,             tau = h
 *     bdf2, r = h / h_old                     b = A x - B x_old, u = A v - B v_old
 *     A = (1 + r)^2 / (1 + 2 r),   B = r^2 / (1 + 2 r),   tau = h (1 + r) / (1 + 2 r)
 *
 * with y = b + tau u, and (x - b) / tau the velocity that belongs to x. The first step of bdf2,
 * without a step before, is one of backward_euler.
 */
#ifndef HK_BACKEND_GPU_STAGE_H
#define HK_BACKEND_GPU_STAGE_H

#include "backend/gpu/arithmetic.h"
#include "base/device_settings.h"

typedef struct HkGpuStage {
  HkReal h, tau;   /* s */
  HkReal now, old; /* A and -B: b = now x + old x_old; old is 0: x_old and v_old do not count */
  HkReal lead;     /* s: x + h v + lead (v - v_old) is the other guess; 0: there is none */
  bool linear;     /* one linear system at x, not a minimization */
} HkGpuStage;

/* h_old: the length of the step before in s; 0: there is none. */
static inline HkGpuStage hk_gpu_stage(const HkDeviceSettings *settings, double h_old) {
  double h = settings->h, r = h_old > 0 ? h / h_old : 0;
  HkGpuStage s = {(HkReal)h, (HkReal)h, 1, 0, (HkReal)(settings->leads ? 0.5 * r * h : 0), false};
  s.linear = settings->step == HK_DEVICE_LINEAR;
  if (settings->step != HK_DEVICE_BDF2 || r == 0) return s;
  s.now = (HkReal)((1 + r) * (1 + r) / (1 + 2 * r));
  s.old = (HkReal)(-r * r / (1 + 2 * r));
  s.tau = (HkReal)(h * (1 + r) / (1 + 2 * r));
  return s;
}

/* Returns now a + old a_old. */
HK_HOST_DEVICE HkGpuVector hk_gpu_stage_combine(const HkGpuStage *s, HkGpuVector a,
                                                HkGpuVector a_old) {
  HkGpuVector sum = {s->now * a.x, s->now * a.y, s->now * a.z};
  if (s->old == 0) return a;
  hk_gpu_axpy(s->old, a_old, &sum);
  return sum;
}

/* Returns l_b of a damper (force/dampers.c): now l + old l_old, lengths of a tension-only spring
 * counted from l0 on; d, d_old: the differences of its ends at the start of the step and one step
 * before. */
HK_HOST_DEVICE HkReal hk_gpu_length_before(HkGpuSpring p, HkReal now, HkGpuVector d, HkReal old,
                                           HkGpuVector d_old) {
  HkReal l = hk_gpu_max(1 / hk_gpu_inverse_length(d), p.least);
  HkReal l_old = hk_gpu_max(1 / hk_gpu_inverse_length(d_old), p.least);
  return hk_gpu_max(now * l + old * l_old, hk_gpu_max(p.least, 0));
}

/* Returns whether a taut tension-only spring exerts no force because its damping exceeds its
 * tension (is_idle of force/springs.c); d: the difference of its ends, w: that of their velocities.
 */
HK_HOST_DEVICE bool hk_gpu_is_idle(HkGpuSpring p, HkGpuVector d, HkGpuVector w) {
  HkReal r = hk_gpu_inverse_length(d);
  if (!(p.least >= 0 && p.c > 0) || p.least * r > 1) return false;
  return p.k - p.kl0 * r + p.c * hk_gpu_dot(w, d) * r * r < 0;
}

#endif
