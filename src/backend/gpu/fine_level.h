/* Arithmetic of level 0 of the multigrid hierarchy: what a vertex gathers from its springs at an
 * iterate of Newton's method, and what the stopping rule adds up. CUDA kernels and the tests
 * without a GPU compile the same code.
 *
 *     r = -dg/dx,   A_ij = -(w w^T + c I),   w w^T = h^2 (k - c) u u^T,   c = h^2 max(k - k l0 / l,
 * 0)
 *
 * r and the diagonal block are HkReals; (w, c) are floats, times the scale of the hierarchy
 * (hierarchy.h).
 */
#ifndef HK_BACKEND_GPU_FINE_LEVEL_H
#define HK_BACKEND_GPU_FINE_LEVEL_H

#include "backend/gpu/level.h"
#include "backend/gpu/newton_types.h"

#include <float.h>
#include <math.h>

/* What a vertex gathers from its springs: -dg/dx (kg m), its diagonal block, the part of the block
 * that ends at constrained vertices, 2 h^2 sum k (l0 / l - 1) of springs under pressure (kg), the
 * bound of its stiffness h^2 sum k (kg), and the square of the length of its longest spring (m^2).
 */
typedef struct HkGpuGathered {
  HkGpuVector r;
  HkGpuBlock H, ground;
  HkReal pressure, stiffness, longest;
} HkGpuGathered;

/* Adds a spring, d = xj - xi; held: the other end is constrained. Returns its (w, c), times scale,
 * or 0 if held. */
HK_HOST_DEVICE HkGpuFour hk_gpu_gather_spring(HkGpuVector d, HkGpuSpring p, HkReal tau2,
                                              HkReal scale, bool held, HkGpuGathered *to) {
  HkReal r = hk_gpu_inverse_length(d);
  HkReal taut = p.least * r > 1 ? 0 : tau2;
  HkReal s = taut * (p.k - p.kl0 * r), a = hk_gpu_max(s, 0), along = taut * p.k - a;
  HkGpuFour spring = {0, 0, 0, 0};
  hk_gpu_axpy(s, d, &to->r);
  hk_gpu_add_identity(a, &to->H);
  hk_gpu_add_outer(along * r * r, d, &to->H);
  if (s < 0 && p.least < 0) to->pressure -= 2 * s;
  to->stiffness += tau2 * p.k;
  to->longest = hk_gpu_max(to->longest, hk_gpu_dot(d, d));
  if (held) {
    hk_gpu_add_identity(a, &to->ground);
    hk_gpu_add_outer(along * r * r, d, &to->ground);
    return spring;
  }
  float square = (float)(scale * along), w = square > 0 ? sqrtf(square) * (float)r : 0;
  spring.x = w * (float)d.x;
  spring.y = w * (float)d.y;
  spring.z = w * (float)d.z;
  spring.w = (float)(scale * a);
  return spring;
}

/* Stores R_i and D_i of level 0 after all springs: own is the block of inertia and media, free says
 * whether the vertex moves. */
HK_HOST_DEVICE void hk_gpu_store_fine_row(const HkGpuMatrix *A, int64_t i, bool free,
                                          const HkGpuGathered *g, const HkGpuBlock *own,
                                          HkReal scale) {
  double s = free ? (double)scale : 0;
  HkGpuBlock R = g->ground;
  hk_gpu_add_block(own, &R);
  HkGpuFour a = {(float)(s * (double)R.xx), (float)(s * (double)R.yy), (float)(s * (double)R.zz),
                 (float)(s * (double)R.xy)};
  A->R[2 * i] = a;
  A->R[2 * i + 1] = hk_gpu_four((float)(s * (double)R.xz), (float)(s * (double)R.yz), 0);
  double m[6] = {s * (double)g->H.xx, s * (double)g->H.yy, s * (double)g->H.zz,
                 s * (double)g->H.xy, s * (double)g->H.xz, s * (double)g->H.yz};
  hk_gpu_store_inverse(A, i, m, 0);
}

/* ---- The stopping rule ---- */

/* What is added up over the free vertices at an iterate: three sums and, from HK_GPU_LOOK_PRESSURE
 * on, three maxima; HK_GPU_LOOK_LONGEST is the square of the length of the longest spring (m^2). */
enum {
  HK_GPU_LOOK_RESIDUAL,
  HK_GPU_LOOK_MOVED,
  HK_GPU_LOOK_WEIGHTS,
  HK_GPU_LOOK_PRESSURE,
  HK_GPU_LOOK_FURTHEST,
  HK_GPU_LOOK_LONGEST,
  HK_GPU_LOOK_VALUES
};

/* Adds a free vertex at x. moved: x - x_n, counted with its weight, the mass; inverse: 1/mass
 * (1/kg). */
HK_HOST_DEVICE void hk_gpu_add_look(const HkGpuGathered *g, HkGpuVector x, HkGpuVector moved,
                                    double weight, double inverse,
                                    double look[HK_GPU_LOOK_VALUES]) {
  double furthest = fmax(fabs((double)x.x), fmax(fabs((double)x.y), fabs((double)x.z)));
  look[HK_GPU_LOOK_RESIDUAL] += (double)hk_gpu_dot(g->r, g->r) * inverse;
  look[HK_GPU_LOOK_MOVED] += (double)hk_gpu_dot(moved, moved) * weight;
  look[HK_GPU_LOOK_WEIGHTS] += (double)g->stiffness * (double)g->stiffness * inverse;
  look[HK_GPU_LOOK_PRESSURE] = fmax(look[HK_GPU_LOOK_PRESSURE], (double)g->pressure * inverse);
  look[HK_GPU_LOOK_FURTHEST] = fmax(look[HK_GPU_LOOK_FURTHEST], furthest);
  look[HK_GPU_LOOK_LONGEST] = fmax(look[HK_GPU_LOOK_LONGEST], (double)g->longest);
}

HK_HOST_DEVICE HkGpuLook hk_gpu_look_of(const double look[HK_GPU_LOOK_VALUES]) {
  HkGpuLook to;
  to.residual = sqrt(look[HK_GPU_LOOK_RESIDUAL]);
  to.moved = sqrt(look[HK_GPU_LOOK_MOVED]);
  to.pressure = look[HK_GPU_LOOK_PRESSURE];
  to.resolution = DBL_EPSILON * look[HK_GPU_LOOK_FURTHEST];
  to.rounding = to.resolution * sqrt(look[HK_GPU_LOOK_WEIGHTS]);
  return to;
}

/* ---- Positions in fixed point ----
 *
 * A coordinate is unit X (m), X an integer modulo 2^32, in 32 bits. The unit follows from the
 * longest spring, now or at rest, not from the size of the model: only differences of the ends of
 * springs are used, which 32 bits hold exactly. Their error is 2^-30 of the longest spring.
 */

/* A vertex in fixed point. own: s > 0 if R_i = s I, -1 if R_i is another block, 0 if the vertex is
 * constrained. */
typedef struct HK_GPU_ALIGN(16) HkGpuFixed {
  int32_t x, y, z;
  float own;
} HkGpuFixed;

/* Stiffness of a spring for differences in units: h^2 k and h^2 k l0 / unit, times the scale of the
 * hierarchy. */
typedef struct HK_GPU_ALIGN(8) HkGpuFixedSpring {
  float k, kl0;
} HkGpuFixedSpring;

/* Returns the unit (m) for the length of the longest spring and the largest coordinate (m), which
 * bounds the unit by the rounding of coordinates; 1 where they are 0 or not finite. */
HK_HOST_DEVICE double hk_gpu_fixed_unit(double longest, double furthest) {
  const double SPRING = 1.0 / 1073741824, ROUNDING = 1.0 / 4503599627370496; /* 2^-30, 2^-52 */
  double unit = longest * SPRING > furthest * ROUNDING ? longest * SPRING : furthest * ROUNDING;
  return unit > 1e-250 && unit < 1e250 ? unit : 1;
}

/* Returns a coordinate (m) in units, modulo 2^32; 0 if it is not finite or out of range. */
HK_HOST_DEVICE int32_t hk_gpu_fixed_coordinate(double x, double units_per_meter) {
  double units = rint(x * units_per_meter);
  if (!(fabs(units) < 4e18)) units = 0;
  return (int32_t)(uint32_t)(uint64_t)(int64_t)units;
}

/* Returns HkGpuFixed.own of row i of level 0. */
HK_HOST_DEVICE float hk_gpu_fixed_own(const HkGpuMatrix *A, int64_t i, bool free) {
  HkGpuFour a = A->R[2 * i], b = A->R[2 * i + 1];
  bool multiple = a.x > 0 && a.x == a.y && a.x == a.z && a.w == 0 && b.x == 0 && b.y == 0;
  return !free ? 0 : multiple ? a.x : -1;
}

/* Returns a - b in units. */
HK_HOST_DEVICE float hk_gpu_fixed_difference(int32_t a, int32_t b) {
  return (float)(int32_t)((uint32_t)a - (uint32_t)b);
}

/* q += B u of the spring p between the positions `from` and `near`, u = x_i - x_j. kept as of
 * hk_gpu_spring_coefficients. */
HK_HOST_DEVICE void hk_gpu_fixed_spring_product(HkGpuFixed from, HkGpuFixed near,
                                                HkGpuFixedSpring p, float kept, HkGpuFour u,
                                                HkGpuFour *q) {
  float x = hk_gpu_fixed_difference(near.x, from.x), y = hk_gpu_fixed_difference(near.y, from.y);
  float z = hk_gpu_fixed_difference(near.z, from.z), square = x * x + (y * y + (z * z + 1e-30f));
#ifdef __CUDA_ARCH__
  float r = rsqrtf(square);
#else
  float r = 1 / sqrtf(square);
#endif
  float across = p.k - p.kl0 * r, least = kept == 0 ? 0 : kept * across;
  float a = across > least ? across : least;
  float along = (p.k - a) * r * ((x * u.x + y * u.y + z * u.z) * r);
  q->x += a * u.x + along * x;
  q->y += a * u.y + along * y;
  q->z += a * u.z + along * z;
}

/* A spring whose tension is computed without cancellation: h^2 k times the scale of the hierarchy,
 * l0 in units, and the nearest integer to l0^2 in units. */
typedef struct HK_GPU_ALIGN(16) HkGpuExactSpring {
  float k, l0;
  int64_t square;
} HkGpuExactSpring;

/* Returns l0 (m) of a spring. */
HK_HOST_DEVICE double hk_gpu_rest_length(HkGpuSpring p) {
  return p.k > 0 ? (double)p.kl0 / (double)p.k : 0;
}

/* l0 (m) is at most 2^30 units. */
HK_HOST_DEVICE HkGpuExactSpring hk_gpu_exact_spring(double k, double l0, double unit) {
  double units = l0 / unit;
  HkGpuExactSpring p = {(float)k, (float)units, (int64_t)(units * units + 0.5)};
  return p;
}

/* hk_gpu_fixed_spring_product with the tension k (l^2 - l0^2) / (l (l + l0)) from an exact
 * difference of squares: relative to k it is exact to the resolution of the positions, not of a
 * float. */
HK_HOST_DEVICE void hk_gpu_exact_spring_product(HkGpuFixed from, HkGpuFixed near,
                                                HkGpuExactSpring p, float kept, HkGpuFour u,
                                                HkGpuFour *q) {
  int32_t dx = (int32_t)((uint32_t)near.x - (uint32_t)from.x);
  int32_t dy = (int32_t)((uint32_t)near.y - (uint32_t)from.y);
  int32_t dz = (int32_t)((uint32_t)near.z - (uint32_t)from.z);
  int64_t longer = (int64_t)dx * dx + (int64_t)dy * dy + (int64_t)dz * dz - p.square;
  float x = (float)dx, y = (float)dy, z = (float)dz;
  float square = x * x + (y * y + (z * z + 1e-30f));
#ifdef __CUDA_ARCH__
  float r = rsqrtf(square);
#else
  float r = 1 / sqrtf(square);
#endif
  float across = p.k * ((float)longer * r) / (square * r + p.l0);
  float least = kept == 0 ? 0 : kept * across, a = across > least ? across : least;
  float along = (p.k - a) * r * ((x * u.x + y * u.y + z * u.z) * r);
  q->x += a * u.x + along * x;
  q->y += a * u.y + along * y;
  q->z += a * u.z + along * z;
}

/* Returns R_i x_i of a vertex in fixed point. */
HK_HOST_DEVICE HkGpuFour hk_gpu_fixed_row_sum_product(const HkGpuMatrix *A, int64_t i, float own,
                                                      HkGpuFour xi) {
  if (own < 0) return hk_gpu_row_sum_product(A, i, xi);
  return hk_gpu_four(own * xi.x, own * xi.y, own * xi.z);
}

/* ---- The line search ---- */

/* f += h^2 times the force of the second-order correction of a spring whose ends turn (force/
 * springs.c, hk_springs_turned); d: the difference of its ends, moved: its change. */
HK_HOST_DEVICE void hk_gpu_spring_turned(HkGpuVector d, HkGpuVector moved, HkGpuSpring p,
                                         HkReal tau2, HkGpuVector *f) {
  HkGpuVector e = {d.x + moved.x, d.y + moved.y, d.z + moved.z};
  HkReal r = hk_gpu_inverse_length(d), l = 1 / r, after = 1 / hk_gpu_inverse_length(e);
  if (p.least > after) return;
  HkReal along = hk_gpu_dot(d, moved) * r, across = hk_gpu_dot(moved, moved) - along * along;
  HkReal reach = l + along, longer = across / (after + (reach < 0 ? -reach : reach));
  hk_gpu_axpy(tau2 * p.k * longer * r, d, f);
}

#endif
