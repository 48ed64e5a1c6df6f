/* The arithmetic of one vertex and one face in a medium (gravity, winds, drags, fluids), once for
 * host and card.
 *
 * All that acts on a vertex at one time is one medium, all that blows on faces one air; they come
 * in tables from the host. media_implicit.h has what backward Euler makes of them.
 */
#ifndef HK_BACKEND_GPU_MEDIA_H
#define HK_BACKEND_GPU_MEDIA_H

#include "backend/gpu/arithmetic.h"

/* ---- Forces on a vertex alone ---- */

enum { HK_GPU_FLUIDS = 2, HK_GPU_WAVES = 3 };

/* A fluid at rest: force/buoyancy.c. */
typedef struct HkGpuFluid {
  HkReal level, thickness; /* m, relative to the origin of the positions */
  HkReal lift;             /* m/s^2: the lift of a submerged vertex per mass */
} HkGpuFluid;

/* Air that blows on faces, at one time: force/face_wind.c. Phases are those at the origin of the
 * positions. */
typedef struct HkGpuAir {
  HkReal drag, lift; /* a third of 1/2 rho Cd, and of rho Cl; both 0: there is none */
  HkGpuVector velocity;
  HkGpuVector wave[HK_GPU_WAVES], side[HK_GPU_WAVES];
  HkReal phase[HK_GPU_WAVES];
} HkGpuAir;

/* All that acts on each vertex for itself, at one time:
 *
 *     f = m g + linear_push + m mass_push - (linear + m per_mass + quadratic |w|) w + buoyancy
 */
typedef struct HkGpuMedium {
  HkGpuVector g;                      /* m/s^2 */
  HkGpuVector linear_push, mass_push; /* N, m/s^2: what blows at a vertex at rest */
  HkReal linear, per_mass, quadratic; /* N s/m, 1/s, N s^2/m^2 */
  HkGpuVector up;
  HkGpuFluid fluid[HK_GPU_FLUIDS];
  HkReal fluids; /* how many there are */
} HkGpuMedium;

/* What forces know of the time, all of it HkReals. */
typedef struct HkGpuMoment {
  HkGpuMedium medium;
  HkGpuAir air;
} HkGpuMoment;

enum { HK_GPU_MOMENT_REALS = sizeof(HkGpuMoment) / sizeof(HkReal) };

/* Part of a vertex at x that is below the level. */
HK_BOTH HkReal hk_gpu_wet(const HkGpuFluid *p, HkReal height) {
  return hk_gpu_least(hk_gpu_most((p->level - height) / p->thickness + (HkReal)0.5, 0), 1);
}

/* Which parts of a medium there are, so that a kernel need not look at the others. */
enum { HK_GPU_DRAGS = 1, HK_GPU_DRAGS_MORE = 2, HK_GPU_FLOATS = 4 };

/* f / m of a vertex of inverse mass b at x with velocity w; parts: HK_GPU_DRAGS (linear), _MORE
 * (quadratic), HK_GPU_FLOATS. */
HK_BOTH HkGpuVector hk_gpu_medium(const HkGpuMedium *p, int parts, HkReal b, HkGpuVector x,
                                  HkGpuVector w) {
  HkGpuVector a = p->g;
  if (parts & HK_GPU_DRAGS) {
    hk_gpu_axpy(1, p->mass_push, &a);
    hk_gpu_axpy(b, p->linear_push, &a);
    hk_gpu_axpy(-(p->linear * b + p->per_mass), w, &a);
  }
  if (parts & HK_GPU_DRAGS_MORE) {
    HkReal square = hk_gpu_dot(w, w);
    hk_gpu_axpy(-p->quadratic * b * square * hk_gpu_inverse_root(square + (HkReal)1e-30), w, &a);
  }
  if (parts & HK_GPU_FLOATS)
    for (int q = 0; (HkReal)q < p->fluids; q++)
      hk_gpu_axpy(p->fluid[q].lift * hk_gpu_wet(&p->fluid[q], hk_gpu_dot(p->up, x)), p->up, &a);
  return a;
}

/* ---- Wind on a face ---- */

HK_BOTH void hk_gpu_sine(HkReal a, HkReal *sine) {
#ifdef __CUDA_ARCH__
  *sine = sin(a);
#else
  *sine = sizeof a == sizeof(float) ? (HkReal)sinf((float)a) : (HkReal)sin((double)a);
#endif
}

/* r = how the air passes a face with corners x and velocities w, a = its area vector. */
HK_BOTH void hk_gpu_flow(const HkGpuAir *air, const HkGpuVector x[3], const HkGpuVector w[3],
                         HkGpuVector *r, HkGpuVector *a) {
  const HkReal third = (HkReal)1 / 3;
  HkGpuVector center = hk_gpu_vector(0, 0, 0);
  *r = air->velocity;
  for (int q = 0; q < 3; q++) {
    hk_gpu_axpy(-third, w[q], r);
    hk_gpu_axpy(third, x[q], &center);
  }
  for (int m = 0; m < HK_GPU_WAVES; m++) {
    HkReal sine;
    hk_gpu_sine(hk_gpu_dot(air->wave[m], center) - air->phase[m], &sine);
    hk_gpu_axpy(sine, air->side[m], r);
  }
  *a = hk_gpu_cross(hk_gpu_sub(x[1], x[0]), hk_gpu_sub(x[2], x[0]));
  *a = hk_gpu_vector(a->x / 2, a->y / 2, a->z / 2);
}

/* f += a third of the force on a face with corners x and velocities w. */
HK_BOTH void hk_gpu_face(const HkGpuAir *air, const HkGpuVector x[3], const HkGpuVector w[3],
                         HkGpuVector *f) {
  HkGpuVector r, a;
  hk_gpu_flow(air, x, w, &r, &a);
  HkReal rr = hk_gpu_dot(r, r), ra = hk_gpu_dot(r, a), square = rr * hk_gpu_dot(a, a);
  HkReal z = square > 0 ? ra * hk_gpu_inverse_root(square) : 0;
  hk_gpu_axpy(air->drag * (ra < 0 ? -ra : ra) - air->lift * z * ra, r, f);
  hk_gpu_axpy(air->lift * z * rr, a, f);
}

#endif
