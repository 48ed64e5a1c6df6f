/* Forces of media (gravity, wind, drag, buoyancy) on one vertex and one face; host and GPU compile
 * the same code.
 *
 * All forces on single vertices at one time form one medium, the wind on faces one air; the host
 * sends both in tables. media_implicit.h derives the terms of backward Euler from them.
 */
#ifndef HK_BACKEND_GPU_MEDIA_H
#define HK_BACKEND_GPU_MEDIA_H

#include "backend/gpu/arithmetic.h"

/* ---- Forces on single vertices ---- */

enum { HK_GPU_FLUIDS = 2, HK_GPU_WAVES = 3 };

/* A fluid at rest: force/buoyancy.c. */
typedef struct HkGpuFluid {
  HkReal level, thickness; /* m, relative to the origin of the positions */
  HkReal lift;             /* m/s^2: buoyancy of a submerged vertex per mass */
} HkGpuFluid;

/* Wind on faces at one time: force/face_wind.c. Phases are those at the origin of the positions. */
typedef struct HkGpuAir {
  HkReal drag, lift; /* a third of 1/2 rho Cd, and of rho Cl; both 0: no wind on faces */
  HkGpuVector velocity;
  HkGpuVector wave[HK_GPU_WAVES], side[HK_GPU_WAVES];
  HkReal phase[HK_GPU_WAVES];
} HkGpuAir;

/* Force of all media on a vertex of mass m with velocity w, at one time:
 *
 *     f = m g + linear_push + m mass_push - (linear + m per_mass + quadratic |w|) w + buoyancy
 */
typedef struct HkGpuMedium {
  HkGpuVector g;                      /* m/s^2 */
  HkGpuVector linear_push;            /* N: force of wind on a vertex at rest */
  HkGpuVector mass_push;              /* m/s^2: force per mass of wind on a vertex at rest */
  HkReal linear, per_mass, quadratic; /* N s/m, 1/s, N s^2/m^2 */
  HkGpuVector up;
  HkGpuFluid fluid[HK_GPU_FLUIDS];
  HkReal fluids; /* number of valid entries of fluid */
} HkGpuMedium;

/* Parameters of forces at one time; contains HkReals only. */
typedef struct HkGpuMoment {
  HkGpuMedium medium;
  HkGpuAir air;
} HkGpuMoment;

enum { HK_GPU_MOMENT_REALS = sizeof(HkGpuMoment) / sizeof(HkReal) };

/* Returns the part, 0 to 1, of a vertex at `height` (m) that is below the fluid's level. */
HK_HOST_DEVICE HkReal hk_gpu_submerged_part(const HkGpuFluid *p, HkReal height) {
  return hk_gpu_min(hk_gpu_max((p->level - height) / p->thickness + (HkReal)0.5, 0), 1);
}

/* Terms of a medium, as flags: kernels skip terms that are absent. */
enum { HK_GPU_LINEAR_DRAG = 1, HK_GPU_QUADRATIC_DRAG = 2, HK_GPU_BUOYANCY = 4 };

/* Returns f / m in m/s^2 of a vertex of inverse mass b at x with velocity w; parts: flags
 * HK_GPU_LINEAR_DRAG, HK_GPU_QUADRATIC_DRAG, HK_GPU_BUOYANCY. */
HK_HOST_DEVICE HkGpuVector hk_gpu_medium_acceleration(const HkGpuMedium *p, int parts, HkReal b,
                                                      HkGpuVector x, HkGpuVector w) {
  HkGpuVector a = p->g;
  if (parts & HK_GPU_LINEAR_DRAG) {
    hk_gpu_axpy(1, p->mass_push, &a);
    hk_gpu_axpy(b, p->linear_push, &a);
    hk_gpu_axpy(-(p->linear * b + p->per_mass), w, &a);
  }
  if (parts & HK_GPU_QUADRATIC_DRAG) {
    HkReal square = hk_gpu_dot(w, w);
    hk_gpu_axpy(-p->quadratic * b * square * hk_gpu_inverse_sqrt(square + (HkReal)1e-30), w, &a);
  }
  if (parts & HK_GPU_BUOYANCY)
    for (int q = 0; (HkReal)q < p->fluids; q++)
      hk_gpu_axpy(p->fluid[q].lift * hk_gpu_submerged_part(&p->fluid[q], hk_gpu_dot(p->up, x)),
                  p->up, &a);
  return a;
}

/* ---- Wind on a face ---- */

HK_HOST_DEVICE void hk_gpu_sine(HkReal a, HkReal *sine) {
#ifdef __CUDA_ARCH__
  *sine = sin(a);
#else
  *sine = sizeof a == sizeof(float) ? (HkReal)sinf((float)a) : (HkReal)sin((double)a);
#endif
}

/* *r becomes the velocity (m/s) of the air relative to a face with corners x and velocities w, *a
 * its area vector (m^2). */
HK_HOST_DEVICE void hk_gpu_relative_wind(const HkGpuAir *air, const HkGpuVector x[3],
                                         const HkGpuVector w[3], HkGpuVector *r, HkGpuVector *a) {
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

/* f += a third of the force (N) of the air on a face with corners x and velocities w. */
HK_HOST_DEVICE void hk_gpu_face_force(const HkGpuAir *air, const HkGpuVector x[3],
                                      const HkGpuVector w[3], HkGpuVector *f) {
  HkGpuVector r, a;
  hk_gpu_relative_wind(air, x, w, &r, &a);
  HkReal rr = hk_gpu_dot(r, r), ra = hk_gpu_dot(r, a), square = rr * hk_gpu_dot(a, a);
  HkReal z = square > 0 ? ra * hk_gpu_inverse_sqrt(square) : 0;
  hk_gpu_axpy(air->drag * (ra < 0 ? -ra : ra) - air->lift * z * ra, r, f);
  hk_gpu_axpy(air->lift * z * rr, a, f);
}

#endif
