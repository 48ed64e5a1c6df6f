/* Forces and Hessians of one spring, and operations on 3x3 blocks. CUDA kernels and the tests
 * without a GPU compile the same code. media.h has the forces of media.
 *
 * HkReal is float, or double for the device cuda_double. d = xj - xi points from the vertex that
 * gathers to its neighbor, r = 1 / |d|:
 *
 *     f_i += s d,   s = k - k l0 r + c (wj - wi) . d r^2        (0 while a tension-only spring is
 * slack) B = a I + (k - a) r^2 d d^T,   a = max(k - k l0 r, 0)     (d2E/dxi2, projected)
 *
 * Padding of rows is a spring without stiffness from a vertex to itself, which adds exactly 0.
 */
#ifndef HK_BACKEND_GPU_ARITHMETIC_H
#define HK_BACKEND_GPU_ARITHMETIC_H

#include <stdbool.h>

#ifdef __CUDACC__
#define HK_HOST_DEVICE static __host__ __device__ __forceinline__
#else
#include <math.h>
#define HK_HOST_DEVICE static inline
#endif

#ifndef HK_REAL
#define HK_REAL float
#endif
typedef HK_REAL HkReal;

typedef struct HkGpuVector {
  HkReal x, y, z;
} HkGpuVector;

/* k (N/m), k l0 (N), c (N s/m), and the length (m) below which it is slack: l0 of a tension-only
 * spring, -1 of any other. */
typedef struct HkGpuSpring {
  HkReal k, kl0, c, least;
} HkGpuSpring;

/* A symmetric 3x3 block. */
typedef struct HkGpuBlock {
  HkReal xx, yy, zz, xy, xz, yz;
} HkGpuBlock;

HK_HOST_DEVICE HkReal hk_gpu_inverse_sqrt(HkReal a) {
#ifdef __CUDA_ARCH__
  return rsqrt(a); /* in single precision one instruction, exact to 2 units in the last place */
#else
  return sizeof a == sizeof(float) ? (HkReal)(1 / sqrtf((float)a)) : (HkReal)(1 / sqrt((double)a));
#endif
}

HK_HOST_DEVICE HkReal hk_gpu_max(HkReal a, HkReal b) {
  return a > b ? a : b;
}

HK_HOST_DEVICE HkReal hk_gpu_min(HkReal a, HkReal b) {
  return a < b ? a : b;
}

HK_HOST_DEVICE HkGpuVector hk_gpu_vector(HkReal x, HkReal y, HkReal z) {
  HkGpuVector v = {x, y, z};
  return v;
}

HK_HOST_DEVICE HkGpuVector hk_gpu_sub(HkGpuVector a, HkGpuVector b) {
  return hk_gpu_vector(a.x - b.x, a.y - b.y, a.z - b.z);
}

HK_HOST_DEVICE HkReal hk_gpu_dot(HkGpuVector a, HkGpuVector b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

HK_HOST_DEVICE HkGpuVector hk_gpu_cross(HkGpuVector a, HkGpuVector b) {
  return hk_gpu_vector(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

/* y += s x */
HK_HOST_DEVICE void hk_gpu_axpy(HkReal s, HkGpuVector x, HkGpuVector *y) {
  y->x += s * x.x;
  y->y += s * x.y;
  y->z += s * x.z;
}

/* ---- Springs ---- */

/* Returns 1 / |d|, finite also if d is 0. */
HK_HOST_DEVICE HkReal hk_gpu_inverse_length(HkGpuVector d) {
  return hk_gpu_inverse_sqrt(d.x * d.x + (d.y * d.y + (d.z * d.z + (HkReal)1e-30)));
}

/* f += s d of a spring without damping that is not tension-only. */
HK_HOST_DEVICE void hk_gpu_spring_force(HkGpuVector d, HkReal k, HkReal kl0, HkGpuVector *f) {
  hk_gpu_axpy(k - kl0 * hk_gpu_inverse_length(d), d, f);
}

/* f += s d of any spring; dw = wj - wi is the relative velocity for its damping. */
HK_HOST_DEVICE void hk_gpu_damped_spring_force(HkGpuVector d, HkGpuVector dw, HkGpuSpring p,
                                               HkGpuVector *f) {
  HkReal r = hk_gpu_inverse_length(d);
  HkReal s = p.k - p.kl0 * r + p.c * hk_gpu_dot(dw, d) * r * r;
  hk_gpu_axpy(p.least >= 0 && (p.least * r > 1 || s < 0) ? 0 : s, d, f);
}

/* Returns the spring with its damper of an implicit step (force/dampers.c): k' = k + c / tau, k'
 * l0' = k l0 + c / tau l_b, l_b >= l0 if the spring is tension-only; c' = 0. */
HK_HOST_DEVICE HkGpuSpring hk_gpu_with_damper_from(HkGpuSpring p, HkReal l_b, HkReal tau) {
  HkReal rate = p.c / tau;
  p.k += rate;
  p.kl0 += rate * l_b;
  p.c = 0;
  if (p.least >= 0 && p.k > 0) p.least = p.kl0 / p.k;
  return p;
}

/* Returns the spring with its damper for l_b = |b|, b the difference of the ends at the start of
 * the step. */
HK_HOST_DEVICE HkGpuSpring hk_gpu_with_damper(HkGpuSpring p, HkGpuVector b, HkReal tau) {
  return hk_gpu_with_damper_from(p, hk_gpu_max(1 / hk_gpu_inverse_length(b), p.least), tau);
}

/* H += tau2 B and f += tau2 s d, without damping. */
HK_HOST_DEVICE void hk_gpu_spring_force_and_hessian(HkGpuVector d, HkGpuSpring p, HkReal tau2,
                                                    HkGpuVector *f, HkGpuBlock *H) {
  HkReal r = hk_gpu_inverse_length(d);
  HkReal taut = p.least * r > 1 ? 0 : tau2;
  HkReal s = taut * (p.k - p.kl0 * r);
  hk_gpu_axpy(s, d, f);
  HkReal a = hk_gpu_max(s, 0), b = (taut * p.k - a) * r * r;
  H->xx += a + b * d.x * d.x;
  H->yy += a + b * d.y * d.y;
  H->zz += a + b * d.z * d.z;
  H->xy += b * d.x * d.y;
  H->xz += b * d.x * d.z;
  H->yz += b * d.y * d.z;
}

/* tau2 B = a I + b d d^T. kept: part of the negative curvature of a spring under pressure that
 * counts, 0 for the projected B, 1 for the true one. */
HK_HOST_DEVICE void hk_gpu_spring_coefficients(HkGpuVector d, HkGpuSpring p, HkReal tau2,
                                               HkReal kept, HkReal *a, HkReal *b) {
  HkReal r = hk_gpu_inverse_length(d);
  HkReal taut = p.least * r > 1 ? 0 : tau2;
  HkReal across = taut * (p.k - p.kl0 * r);
  *a = hk_gpu_max(across, kept * across);
  *b = (taut * p.k - *a) * r * r;
}

/* q += tau2 B (p_i - p_j), u = p_i - p_j; kept as of hk_gpu_spring_coefficients. */
HK_HOST_DEVICE void hk_gpu_spring_product(HkGpuVector d, HkGpuSpring p, HkReal tau2, HkReal kept,
                                          HkGpuVector u, HkGpuVector *q) {
  HkReal a, b;
  hk_gpu_spring_coefficients(d, p, tau2, kept, &a, &b);
  hk_gpu_axpy(a, u, q);
  hk_gpu_axpy(b * hk_gpu_dot(d, u), d, q);
}

/* Returns the change of the energy (J) of a spring when the difference d of its ends changes by
 * `moved`, without cancellation of nearly equal numbers: force/springs.c. */
HK_HOST_DEVICE HkReal hk_gpu_spring_energy_change(HkGpuVector d, HkGpuVector moved, HkGpuSpring p) {
  HkGpuVector e = {d.x + moved.x, d.y + moved.y, d.z + moved.z};
  HkGpuVector both = {d.x + e.x, d.y + e.y, d.z + e.z};
  HkReal l = 1 / hk_gpu_inverse_length(d), after = 1 / hk_gpu_inverse_length(e);
  HkReal l0 = p.k > 0 ? p.kl0 / p.k : 0, longer = hk_gpu_dot(moved, both) / (l + after);
  bool slack = p.least > l, slack_after = p.least > after;
  if (slack && slack_after) return 0;
  if (slack) return p.k / 2 * (after - l0) * (after - l0);
  if (slack_after) return -p.k / 2 * (l - l0) * (l - l0);
  return p.k / 2 * longer * ((l - l0) + (after - l0));
}

/* ---- Blocks ---- */

/* Returns the x of H x = b, by cofactors; H is positive definite. */
HK_HOST_DEVICE HkGpuVector hk_gpu_solve(const HkGpuBlock *H, HkGpuVector b) {
  HkReal xx = H->yy * H->zz - H->yz * H->yz, xy = H->xz * H->yz - H->xy * H->zz;
  HkReal xz = H->xy * H->yz - H->xz * H->yy, yy = H->xx * H->zz - H->xz * H->xz;
  HkReal yz = H->xy * H->xz - H->xx * H->yz, zz = H->xx * H->yy - H->xy * H->xy;
  HkReal scale = 1 / (H->xx * xx + H->xy * xy + H->xz * xz);
  return hk_gpu_vector((xx * b.x + xy * b.y + xz * b.z) * scale,
                       (xy * b.x + yy * b.y + yz * b.z) * scale,
                       (xz * b.x + yz * b.y + zz * b.z) * scale);
}

/* Returns the inverse of a positive definite block. */
HK_HOST_DEVICE HkGpuBlock hk_gpu_invert(const HkGpuBlock *H) {
  HkReal xx = H->yy * H->zz - H->yz * H->yz, xy = H->xz * H->yz - H->xy * H->zz;
  HkReal xz = H->xy * H->yz - H->xz * H->yy;
  HkReal scale = 1 / (H->xx * xx + H->xy * xy + H->xz * xz);
  HkGpuBlock I = {xx * scale,
                  (H->xx * H->zz - H->xz * H->xz) * scale,
                  (H->xx * H->yy - H->xy * H->xy) * scale,
                  xy * scale,
                  xz * scale,
                  (H->xy * H->xz - H->xx * H->yz) * scale};
  return I;
}

HK_HOST_DEVICE HkGpuVector hk_gpu_times(const HkGpuBlock *H, HkGpuVector b) {
  return hk_gpu_vector(H->xx * b.x + H->xy * b.y + H->xz * b.z,
                       H->xy * b.x + H->yy * b.y + H->yz * b.z,
                       H->xz * b.x + H->yz * b.y + H->zz * b.z);
}

/* H += s I */
HK_HOST_DEVICE void hk_gpu_add_identity(HkReal s, HkGpuBlock *H) {
  H->xx += s;
  H->yy += s;
  H->zz += s;
}

/* H += s a a^T */
HK_HOST_DEVICE void hk_gpu_add_outer(HkReal s, HkGpuVector a, HkGpuBlock *H) {
  H->xx += s * a.x * a.x;
  H->yy += s * a.y * a.y;
  H->zz += s * a.z * a.z;
  H->xy += s * a.x * a.y;
  H->xz += s * a.x * a.z;
  H->yz += s * a.y * a.z;
}

/* H += B */
HK_HOST_DEVICE void hk_gpu_add_block(const HkGpuBlock *B, HkGpuBlock *H) {
  H->xx += B->xx;
  H->yy += B->yy;
  H->zz += B->zz;
  H->xy += B->xy;
  H->xz += B->xz;
  H->yz += B->yz;
}

/* ---- Positions (m) relative to the model's origin, and absolute ones ---- */

HK_HOST_DEVICE void hk_gpu_absolute_position(HkGpuVector x, const double origin[3], HkReal *place) {
  place[0] = (HkReal)((double)x.x + origin[0]);
  place[1] = (HkReal)((double)x.y + origin[1]);
  place[2] = (HkReal)((double)x.z + origin[2]);
}

HK_HOST_DEVICE HkGpuVector hk_gpu_relative_position(const HkReal *place, const double origin[3]) {
  return hk_gpu_vector((HkReal)((double)place[0] - origin[0]),
                       (HkReal)((double)place[1] - origin[1]),
                       (HkReal)((double)place[2] - origin[2]));
}

#endif
