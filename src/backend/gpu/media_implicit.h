/* Terms of backward Euler for one vertex and one face in a medium; host and GPU compile the same
 * code.
 *
 * An implicit step minimizes g of minimize/problem.h, where forces without a potential are
 * linearized about `ahead`, the position at the end of the step without forces, and the velocity v:
 *
 *     f(x) = f - C (x - ahead) / h,   C = -df/dv, its positive part
 *
 * All isotropic terms are one mass m' at one position y'. The other terms, quadratic drag, buoyancy
 * and the damping of wind on faces, are gathered before each sweep into one quadratic majorizer for
 * each vertex,
 *
 *     1/2 (x - y)^T (m' + S) (x - y)
 *
 * which equals g at the current x and is at least g elsewhere. So minimizing it, vertex by vertex
 * or all at once, lowers g until both have the same minimum: faces, whose damping couples three
 * vertices, need no graph coloring of their own. Newton's method uses the true derivatives.
 */
#ifndef HK_BACKEND_GPU_MEDIA_IMPLICIT_H
#define HK_BACKEND_GPU_MEDIA_IMPLICIT_H

#include "backend/gpu/media.h"

/* ---- Isotropic terms ---- */

/* Inertia and all isotropic forces, as one mass m' (returned) at y':
 *
 *     1/2 m |x - y|^2 - h^2 (m g + push) . x + 1/2 h c |x - b|^2 = 1/2 m' |x - y'|^2 + constant
 *     m' = m + h c,   y' = (m y + h^2 (m g + push) + h c b) / m',   y = b + h v
 *
 * b is the position at the start of the step, c = linear + m per_mass. */
HK_HOST_DEVICE HkReal hk_gpu_anchor(const HkGpuMedium *p, HkReal m, HkReal h, HkGpuVector b,
                                    HkGpuVector v, HkGpuVector *y) {
  HkReal c = h * (p->linear + m * p->per_mass), weight = m + c;
  HkGpuVector moved = {0, 0, 0}; /* m' (y' - b), which has no rounding error of b */
  hk_gpu_axpy(m * h, v, &moved);
  hk_gpu_axpy(h * h * m, p->g, &moved);
  hk_gpu_axpy(h * h * m, p->mass_push, &moved);
  hk_gpu_axpy(h * h, p->linear_push, &moved);
  *y = b;
  hk_gpu_axpy(1 / weight, moved, y);
  return weight;
}

/* Adds a grip, f = k (T - x) - c v + F, to m' (*weight) and y'; row is T, F, k, c of device.h. */
HK_HOST_DEVICE void hk_gpu_anchor_grip(const HkReal *row, HkReal h, HkGpuVector b, HkReal *weight,
                                       HkGpuVector *y) {
  HkReal k = h * h * row[6], c = h * row[7], sum = *weight + k + c;
  HkGpuVector target = {row[0], row[1], row[2]}, load = {row[3], row[4], row[5]};
  HkGpuVector moved = {0, 0, 0};
  hk_gpu_axpy(k, hk_gpu_sub(target, *y), &moved);
  hk_gpu_axpy(c, hk_gpu_sub(b, *y), &moved);
  hk_gpu_axpy(h * h, load, &moved);
  hk_gpu_axpy(1 / sum, moved, y);
  *weight = sum;
}

/* Adds a constant force `push` (N) to y'. */
HK_HOST_DEVICE void hk_gpu_anchor_push(HkGpuVector push, HkReal h, HkReal weight, HkGpuVector *y) {
  hk_gpu_axpy(h * h / weight, push, y);
}

/* ---- Quadratic drag ---- */

/* Returns the force (N) at v; *H += h C, C = quadratic (|v| I + v v^T / |v|). */
HK_HOST_DEVICE HkGpuVector hk_gpu_quadratic_drag(const HkGpuMedium *p, HkReal h, HkGpuVector v,
                                                 HkGpuBlock *H) {
  HkReal square = hk_gpu_dot(v, v), inverse = hk_gpu_inverse_sqrt(square + (HkReal)1e-30);
  HkReal c = p->quadratic * square * inverse;
  hk_gpu_add_identity(h * c, H);
  hk_gpu_add_outer(h * p->quadratic * inverse, v, H);
  return hk_gpu_vector(-c * v.x, -c * v.y, -c * v.z);
}

/* ---- Buoyancy ---- */

/* Returns depth / thickness + 1/2 without clamping to 0 .. 1. */
HK_HOST_DEVICE HkReal hk_gpu_relative_depth(const HkGpuFluid *p, HkReal height) {
  return (p->level - height) / p->thickness + (HkReal)0.5;
}

/* r += h^2 f of buoyancy at x; H += the curvature of its majorizer, the lowest parabola over the
 * height that equals the energy at x and is at least the energy elsewhere: lift / thickness in the
 * surface layer, and lift / (thickness + 2 d) at a distance d from it. */
HK_HOST_DEVICE void hk_gpu_buoyancy(const HkGpuMedium *p, HkReal mass, HkReal h, HkGpuVector x,
                                    HkGpuVector *r, HkGpuBlock *H) {
  HkReal height = hk_gpu_dot(p->up, x);
  for (int q = 0; (HkReal)q < p->fluids; q++) {
    const HkGpuFluid *fluid = &p->fluid[q];
    HkReal lift = h * h * mass * fluid->lift, wet = hk_gpu_submerged_part(fluid, height);
    HkReal beyond = hk_gpu_relative_depth(fluid, height) - wet;
    hk_gpu_axpy(lift * wet, p->up, r);
    hk_gpu_add_outer(lift / (fluid->thickness * (1 + 2 * (beyond < 0 ? -beyond : beyond))), p->up,
                     H);
  }
}

/* q += h^2 (-df/dx) u of buoyancy */
HK_HOST_DEVICE void hk_gpu_buoyancy_product(const HkGpuMedium *p, HkReal mass, HkReal h,
                                            HkGpuVector x, HkGpuVector u, HkGpuVector *q) {
  HkReal height = hk_gpu_dot(p->up, x);
  for (int k = 0; (HkReal)k < p->fluids; k++) {
    const HkGpuFluid *fluid = &p->fluid[k];
    HkReal depth = hk_gpu_relative_depth(fluid, height);
    if (depth > 0 && depth < 1)
      hk_gpu_axpy(h * h * mass * fluid->lift / fluid->thickness * hk_gpu_dot(p->up, u), p->up, q);
  }
}

/* Returns the change of h^2 E of buoyancy beyond its linear part when x moves: force/buoyancy.c. */
HK_HOST_DEVICE HkReal hk_gpu_buoyancy_change(const HkGpuMedium *p, HkReal mass, HkReal h,
                                             HkGpuVector x, HkGpuVector moved) {
  HkReal height = hk_gpu_dot(p->up, x), rise = hk_gpu_dot(p->up, moved), sum = 0;
  for (int q = 0; (HkReal)q < p->fluids; q++) {
    const HkGpuFluid *fluid = &p->fluid[q];
    HkReal wet = hk_gpu_submerged_part(fluid, height),
           after = hk_gpu_submerged_part(fluid, height + rise);
    HkReal beyond = hk_gpu_relative_depth(fluid, height) - wet;
    HkReal beyond_after = hk_gpu_relative_depth(fluid, height + rise) - after;
    sum += h * h * mass * fluid->lift *
           (rise * (wet - after) + fluid->thickness * (after - wet) * (beyond + beyond_after)) / 2;
  }
  return sum;
}

/* ---- Quadratic drag and buoyancy ---- */

/* r += -dg/dx of the medium's anisotropic terms for a vertex at x, and S += the Hessian of their
 * majorizer. */
HK_HOST_DEVICE void hk_gpu_medium_gradient(const HkGpuMedium *p, int parts, HkReal mass, HkReal h,
                                           HkGpuVector x, HkGpuVector ahead, HkGpuVector v,
                                           HkGpuVector *r, HkGpuBlock *S) {
  if (parts & HK_GPU_QUADRATIC_DRAG) {
    HkGpuBlock C = {0, 0, 0, 0, 0, 0};
    hk_gpu_quadratic_drag(p, h, v, &C);
    hk_gpu_axpy(-1, hk_gpu_times(&C, hk_gpu_sub(x, ahead)), r);
    hk_gpu_add_block(&C, S);
  }
  if (parts & HK_GPU_BUOYANCY) hk_gpu_buoyancy(p, mass, h, x, r, S);
}

/* q += the true second derivative of the medium's anisotropic terms times u. */
HK_HOST_DEVICE void hk_gpu_medium_product(const HkGpuMedium *p, int parts, HkReal mass, HkReal h,
                                          HkGpuVector x, HkGpuVector v, HkGpuVector u,
                                          HkGpuVector *q) {
  if (parts & HK_GPU_QUADRATIC_DRAG) {
    HkGpuBlock C = {0, 0, 0, 0, 0, 0};
    hk_gpu_quadratic_drag(p, h, v, &C);
    hk_gpu_axpy(1, hk_gpu_times(&C, u), q);
  }
  if (parts & HK_GPU_BUOYANCY) hk_gpu_buoyancy_product(p, mass, h, x, u, q);
}

/* Returns the change of the medium's anisotropic terms of g beyond its linear part when x moves. */
HK_HOST_DEVICE HkReal hk_gpu_medium_change(const HkGpuMedium *p, int parts, HkReal mass, HkReal h,
                                           HkGpuVector x, HkGpuVector v, HkGpuVector moved) {
  HkReal sum = 0;
  if (parts & HK_GPU_QUADRATIC_DRAG) {
    HkGpuBlock C = {0, 0, 0, 0, 0, 0};
    hk_gpu_quadratic_drag(p, h, v, &C);
    sum += hk_gpu_dot(moved, hk_gpu_times(&C, moved)) / 2;
  }
  if (parts & HK_GPU_BUOYANCY) sum += hk_gpu_buoyancy_change(p, mass, h, x, moved);
  return sum;
}

/* ---- Wind on a face ---- */

/* h times the positive part of -df/dv, f a third of the force on a face, by its mean velocity:
 * force/face_wind.c. With e along the wind, t across it towards the normal n = z e + c t, its
 * symmetric part is, by R A,
 *
 *     2 D |z|  e e^T  +  c / 2 (D s + L z) (e t^T + t e^T)  +  (D |z| + L (1 - 2 z^2)) t t^T
 *     +  (D |z| - L z^2) (I - e e^T - t t^T),   s = sign z,  D = drag,  L = lift
 *
 * whose 2x2 block of e and t and whose third eigenvalue are projected to be positive semidefinite.
 */
HK_HOST_DEVICE HkGpuBlock hk_gpu_face_damping(const HkGpuAir *air, HkReal h, const HkGpuVector x[3],
                                              const HkGpuVector w[3]) {
  HkGpuBlock P = {0, 0, 0, 0, 0, 0};
  HkGpuVector e, n;
  hk_gpu_relative_wind(air, x, w, &e, &n);
  HkReal rr = hk_gpu_dot(e, e), aa = hk_gpu_dot(n, n);
  if (!(rr > 0 && aa > 0)) return P;
  HkReal one = hk_gpu_inverse_sqrt(rr), other = hk_gpu_inverse_sqrt(aa);
  e = hk_gpu_vector(one * e.x, one * e.y, one * e.z);
  n = hk_gpu_vector(other * n.x, other * n.y, other * n.z);
  HkReal z = hk_gpu_dot(e, n), size = z < 0 ? -z : z, scale = h * (rr * one) * (aa * other);
  HkReal D = scale * air->drag, L = scale * air->lift, s = z > 0 ? 1 : z < 0 ? -1 : 0;
  HkGpuVector t = n;
  hk_gpu_axpy(-z, e, &t);
  HkReal cc = hk_gpu_dot(t, t), inverse = cc > (HkReal)1e-12 ? hk_gpu_inverse_sqrt(cc) : 0;
  t = hk_gpu_vector(inverse * t.x, inverse * t.y,
                    inverse * t.z); /* 0 if n is along e: any direction serves */
  HkReal along = 2 * D * size, across = D * size + L * (1 - 2 * z * z);
  HkReal both = cc * inverse * (D * s + L * z) / 2, rest = hk_gpu_max(D * size - L * z * z, 0);
  HkReal half = (along - across) / 2, square = half * half + both * both;
  HkReal spread = square > 0 ? square * hk_gpu_inverse_sqrt(square) : 0;
  HkReal low = (along + across) / 2 - spread, high = low + 2 * spread;
  if (low < 0) { /* the positive part of M is high (M - low) / (high - low) */
    HkReal part = high > 0 ? high / (2 * spread) : 0;
    along = part * (along - low);
    across = part * (across - low);
    both *= part;
  }
  hk_gpu_add_identity(rest, &P);
  hk_gpu_add_outer(along - rest - both, e, &P);
  hk_gpu_add_outer(across - rest - both, t, &P);
  hk_gpu_add_outer(both, hk_gpu_vector(e.x + t.x, e.y + t.y, e.z + t.z), &P);
  return P;
}

/* r += -dg/dx of a corner whose face has moved by a mean `moved` from ahead, and S += the Hessian
 * of its majorizer. The damping has P / 3 for each pair of corners; P for each single corner
 * majorizes it. */
HK_HOST_DEVICE void hk_gpu_face_gradient(const HkGpuBlock *P, HkGpuVector moved, HkGpuVector *r,
                                         HkGpuBlock *S) {
  hk_gpu_axpy(-1, hk_gpu_times(P, moved), r);
  hk_gpu_add_block(P, S);
}

/* ---- The majorizer ---- */

/* Returns y, the minimum of the majorizer with gradient -r and Hessian S at x plus m' at the
 * anchor. */
HK_HOST_DEVICE HkGpuVector hk_gpu_majorizer_minimum(HkReal weight, HkGpuVector anchor,
                                                    HkGpuVector x, HkGpuVector r,
                                                    const HkGpuBlock *S) {
  HkGpuBlock K = *S;
  hk_gpu_add_identity(weight, &K);
  hk_gpu_axpy(weight, hk_gpu_sub(anchor, x), &r);
  HkGpuVector step = hk_gpu_solve(&K, r);
  return hk_gpu_vector(x.x + step.x, x.y + step.y, x.z + step.z);
}

/* r and H += those of the majorizer with minimum y for a vertex at x; S NULL: only m'. */
HK_HOST_DEVICE void hk_gpu_add_majorizer(HkReal weight, HkGpuVector y, const HkGpuBlock *S,
                                         HkGpuVector x, HkGpuVector *r, HkGpuBlock *H) {
  HkGpuVector d = hk_gpu_sub(y, x);
  hk_gpu_axpy(weight, d, r);
  hk_gpu_add_identity(weight, H);
  if (!S) return;
  hk_gpu_axpy(1, hk_gpu_times(S, d), r);
  hk_gpu_add_block(S, H);
}

#endif
