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
 * that ends at constrained vertices, 2 h^2 sum k (l0 / l - 1) of springs under pressure (kg), and
 * the bound of its stiffness h^2 sum k (kg). */
typedef struct HkGpuGathered {
  HkGpuVector r;
  HkGpuBlock H, ground;
  HkReal pressure, stiffness;
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
  if (held) {
    hk_gpu_add_identity(a, &to->ground);
    hk_gpu_add_outer(along * r * r, d, &to->ground);
    return spring;
  }
  HkReal square = scale * along;
  HkReal w = square > 0 ? square * hk_gpu_inverse_sqrt(square) * r : 0;
  spring.x = (float)(w * d.x);
  spring.y = (float)(w * d.y);
  spring.z = (float)(w * d.z);
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
 * on, two maxima. */
enum {
  HK_GPU_LOOK_RESIDUAL,
  HK_GPU_LOOK_MOVED,
  HK_GPU_LOOK_WEIGHTS,
  HK_GPU_LOOK_PRESSURE,
  HK_GPU_LOOK_FURTHEST,
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
