/* Backward Euler of one vertex and one face in a medium, once for host and card.
 *
 * An implicit step minimizes g of minimize/problem.h, where forces without a potential are linear
 * about ahead, where the step would end without forces, and the velocity v:
 *
 *     f(x) = f - C (x - ahead) / h,   C = -df/dv, its positive part
 *
 * What is the same in every direction is one mass m' at one place y'. The rest, quadratic drag,
 * buoyancy and the damping of wind on faces, is gathered before each sweep into one form for each
 * vertex,
 *
 *     1/2 (x - y)^T (m' + S) (x - y)
 *
 * that touches g at the present x and lies above it elsewhere. So vertices may go by it one by one
 * or all at once, and g sinks until both have the same minimum: faces, whose damping ties three
 * vertices together, need no colors of their own. Newton's method takes the true derivatives.
 */
#ifndef HK_BACKEND_GPU_MEDIA_IMPLICIT_H
#define HK_BACKEND_GPU_MEDIA_IMPLICIT_H

#include "backend/gpu/media.h"

/* ---- The same in every direction ---- */

/* Inertia and all forces that are the same in every direction, as one mass m' at y':
 *
 *     1/2 m |x - y|^2 - h^2 (m g + push) . x + 1/2 h c |x - b|^2 = 1/2 m' |x - y'|^2 + constant
 *     m' = m + h c,   y' = (m y + h^2 (m g + push) + h c b) / m',   y = b + h v
 *
 * b is where the step began, c = linear + m per_mass. */
HK_BOTH HkReal hk_gpu_anchor(const HkGpuMedium *p, HkReal m, HkReal h, HkGpuVector b, HkGpuVector v,
                             HkGpuVector *y) {
  HkReal c = h * (p->linear + m * p->per_mass), weight = m + c;
  HkGpuVector moved = {0, 0, 0}; /* y' - b, in which b need not be rounded */
  hk_gpu_axpy(m * h, v, &moved);
  hk_gpu_axpy(h * h * m, p->g, &moved);
  hk_gpu_axpy(h * h * m, p->mass_push, &moved);
  hk_gpu_axpy(h * h, p->linear_push, &moved);
  *y = b;
  hk_gpu_axpy(1 / weight, moved, y);
  return weight;
}

/* The same of a grip, f = k (T - x) - c v + F, on top: row is T, F, k, c of device.h. */
HK_BOTH void hk_gpu_anchor_grip(const HkReal *row, HkReal h, HkGpuVector b, HkReal *weight,
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

/* ... and of a force that stays as it is. */
HK_BOTH void hk_gpu_anchor_push(HkGpuVector push, HkReal h, HkReal weight, HkGpuVector *y) {
  hk_gpu_axpy(h * h / weight, push, y);
}

/* ---- Quadratic drag ---- */

/* Returns the force (N) at v; *H += h C, C = quadratic (|v| I + v v^T / |v|). */
HK_BOTH HkGpuVector hk_gpu_resist(const HkGpuMedium *p, HkReal h, HkGpuVector v, HkGpuBlock *H) {
  HkReal square = hk_gpu_dot(v, v), inverse = hk_gpu_inverse_root(square + (HkReal)1e-30);
  HkReal c = p->quadratic * square * inverse;
  hk_gpu_add_identity(h * c, H);
  hk_gpu_add_outer(h * p->quadratic * inverse, v, H);
  return hk_gpu_vector(-c * v.x, -c * v.y, -c * v.z);
}

/* ---- Buoyancy ---- */

/* depth / thickness + 1/2, not clamped. */
HK_BOTH HkReal hk_gpu_depth(const HkGpuFluid *p, HkReal height) {
  return (p->level - height) / p->thickness + (HkReal)0.5;
}

/* r += h^2 f at x, and H += the curvature of the lowest parabola over the height that touches the
 * energy there and lies above it: lift / thickness in the layer that gets wet, and
 * lift / (thickness + 2 d) at a distance d from it. */
HK_BOTH void hk_gpu_float(const HkGpuMedium *p, HkReal mass, HkReal h, HkGpuVector x,
                          HkGpuVector *r, HkGpuBlock *H) {
  HkReal height = hk_gpu_dot(p->up, x);
  for (int q = 0; (HkReal)q < p->fluids; q++) {
    const HkGpuFluid *fluid = &p->fluid[q];
    HkReal lift = h * h * mass * fluid->lift, wet = hk_gpu_wet(fluid, height);
    HkReal beyond = hk_gpu_depth(fluid, height) - wet;
    hk_gpu_axpy(lift * wet, p->up, r);
    hk_gpu_add_outer(lift / (fluid->thickness * (1 + 2 * (beyond < 0 ? -beyond : beyond))), p->up,
                     H);
  }
}

/* q += h^2 (-df/dx) u */
HK_BOTH void hk_gpu_float_product(const HkGpuMedium *p, HkReal mass, HkReal h, HkGpuVector x,
                                  HkGpuVector u, HkGpuVector *q) {
  HkReal height = hk_gpu_dot(p->up, x);
  for (int k = 0; (HkReal)k < p->fluids; k++) {
    const HkGpuFluid *fluid = &p->fluid[k];
    HkReal depth = hk_gpu_depth(fluid, height);
    if (depth > 0 && depth < 1)
      hk_gpu_axpy(h * h * mass * fluid->lift / fluid->thickness * hk_gpu_dot(p->up, u), p->up, q);
  }
}

/* By how much h^2 E grows beyond its slope when x moves: force/buoyancy.c. */
HK_BOTH HkReal hk_gpu_float_change(const HkGpuMedium *p, HkReal mass, HkReal h, HkGpuVector x,
                                   HkGpuVector moved) {
  HkReal height = hk_gpu_dot(p->up, x), rise = hk_gpu_dot(p->up, moved), sum = 0;
  for (int q = 0; (HkReal)q < p->fluids; q++) {
    const HkGpuFluid *fluid = &p->fluid[q];
    HkReal wet = hk_gpu_wet(fluid, height), after = hk_gpu_wet(fluid, height + rise);
    HkReal beyond = hk_gpu_depth(fluid, height) - wet;
    HkReal beyond_after = hk_gpu_depth(fluid, height + rise) - after;
    sum += h * h * mass * fluid->lift *
           (rise * (wet - after) + fluid->thickness * (after - wet) * (beyond + beyond_after)) / 2;
  }
  return sum;
}

/* ---- Both ---- */

/* r += -dg/dx of a vertex at x, and S += the form of it, by its medium alone. */
HK_BOTH void hk_gpu_lean(const HkGpuMedium *p, int parts, HkReal mass, HkReal h, HkGpuVector x,
                         HkGpuVector ahead, HkGpuVector v, HkGpuVector *r, HkGpuBlock *S) {
  if (parts & HK_GPU_DRAGS_MORE) {
    HkGpuBlock C = {0, 0, 0, 0, 0, 0};
    hk_gpu_resist(p, h, v, &C);
    hk_gpu_axpy(-1, hk_gpu_times(&C, hk_gpu_sub(x, ahead)), r);
    hk_gpu_add_block(&C, S);
  }
  if (parts & HK_GPU_FLOATS) hk_gpu_float(p, mass, h, x, r, S);
}

/* q += the true second derivative of that times u. */
HK_BOTH void hk_gpu_lean_product(const HkGpuMedium *p, int parts, HkReal mass, HkReal h,
                                 HkGpuVector x, HkGpuVector v, HkGpuVector u, HkGpuVector *q) {
  if (parts & HK_GPU_DRAGS_MORE) {
    HkGpuBlock C = {0, 0, 0, 0, 0, 0};
    hk_gpu_resist(p, h, v, &C);
    hk_gpu_axpy(1, hk_gpu_times(&C, u), q);
  }
  if (parts & HK_GPU_FLOATS) hk_gpu_float_product(p, mass, h, x, u, q);
}

/* By how much that part of g grows beyond its slope when x moves. */
HK_BOTH HkReal hk_gpu_lean_change(const HkGpuMedium *p, int parts, HkReal mass, HkReal h,
                                  HkGpuVector x, HkGpuVector v, HkGpuVector moved) {
  HkReal sum = 0;
  if (parts & HK_GPU_DRAGS_MORE) {
    HkGpuBlock C = {0, 0, 0, 0, 0, 0};
    hk_gpu_resist(p, h, v, &C);
    sum += hk_gpu_dot(moved, hk_gpu_times(&C, moved)) / 2;
  }
  if (parts & HK_GPU_FLOATS) sum += hk_gpu_float_change(p, mass, h, x, moved);
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
 * of which the 2x2 block of e and t and the number across both are made positive. */
HK_BOTH HkGpuBlock hk_gpu_face_damping(const HkGpuAir *air, HkReal h, const HkGpuVector x[3],
                                       const HkGpuVector w[3]) {
  HkGpuBlock P = {0, 0, 0, 0, 0, 0};
  HkGpuVector e, n;
  hk_gpu_flow(air, x, w, &e, &n);
  HkReal rr = hk_gpu_dot(e, e), aa = hk_gpu_dot(n, n);
  if (!(rr > 0 && aa > 0)) return P;
  HkReal one = hk_gpu_inverse_root(rr), other = hk_gpu_inverse_root(aa);
  e = hk_gpu_vector(one * e.x, one * e.y, one * e.z);
  n = hk_gpu_vector(other * n.x, other * n.y, other * n.z);
  HkReal z = hk_gpu_dot(e, n), size = z < 0 ? -z : z, scale = h * (rr * one) * (aa * other);
  HkReal D = scale * air->drag, L = scale * air->lift, s = z > 0 ? 1 : z < 0 ? -1 : 0;
  HkGpuVector t = n;
  hk_gpu_axpy(-z, e, &t);
  HkReal cc = hk_gpu_dot(t, t), inverse = cc > (HkReal)1e-12 ? hk_gpu_inverse_root(cc) : 0;
  t = hk_gpu_vector(inverse * t.x, inverse * t.y, inverse * t.z); /* 0: any direction is as good */
  HkReal along = 2 * D * size, across = D * size + L * (1 - 2 * z * z);
  HkReal both = cc * inverse * (D * s + L * z) / 2, rest = hk_gpu_most(D * size - L * z * z, 0);
  HkReal half = (along - across) / 2, square = half * half + both * both;
  HkReal spread = square > 0 ? square * hk_gpu_inverse_root(square) : 0;
  HkReal low = (along + across) / 2 - spread, high = low + 2 * spread;
  if (low < 0) { /* high (M - low) / (high - low) is what is left of M */
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

/* r += -dg/dx of a corner whose face has moved by a mean `moved` from ahead, and S += the form of
 * it. The damping has P / 3 for each two corners; P for each alone lies above it. */
HK_BOTH void hk_gpu_lean_face(const HkGpuBlock *P, HkGpuVector moved, HkGpuVector *r,
                              HkGpuBlock *S) {
  hk_gpu_axpy(-1, hk_gpu_times(P, moved), r);
  hk_gpu_add_block(P, S);
}

/* ---- The form ---- */

/* y, where the form has its minimum, of r and S at x beside m' at the anchor. */
HK_BOTH HkGpuVector hk_gpu_touch(HkReal weight, HkGpuVector anchor, HkGpuVector x, HkGpuVector r,
                                 const HkGpuBlock *S) {
  HkGpuBlock K = *S;
  hk_gpu_add_identity(weight, &K);
  hk_gpu_axpy(weight, hk_gpu_sub(anchor, x), &r);
  HkGpuVector step = hk_gpu_solve(&K, r);
  return hk_gpu_vector(x.x + step.x, x.y + step.y, x.z + step.z);
}

/* r and H of a vertex at x by that form; S NULL: there is nothing but m'. */
HK_BOTH void hk_gpu_add_form(HkReal weight, HkGpuVector y, const HkGpuBlock *S, HkGpuVector x,
                             HkGpuVector *r, HkGpuBlock *H) {
  HkGpuVector d = hk_gpu_sub(y, x);
  hk_gpu_axpy(weight, d, r);
  hk_gpu_add_identity(weight, H);
  if (!S) return;
  hk_gpu_axpy(1, hk_gpu_times(S, d), r);
  hk_gpu_add_block(S, H);
}

#endif
