/* Backward Euler of one world of a batch on a device, by Newton's method of newton.h with conjugate
 * gradients preconditioned by block Jacobi; host and GPU compile the same code (world.h), in double
 * precision.
 *
 * Every thread of a team runs the method with the same numbers, which come from sums over the team,
 * so that all threads take the same branches. In a solve the springs are
 *
 *     h^2 B = a I + b d d^T
 *
 * with a and b as floats, evaluated once; d, the vectors and all sums are in double precision. Both
 * ends of a spring round a and b alike, so that H stays symmetric: it differs from the Hessian by
 * 1e-7 of each spring, which changes directions by less than their forcing term. The gradient and
 * the change of g have no such error.
 */
#ifndef HK_BACKEND_GPU_WORLD_NEWTON_H
#define HK_BACKEND_GPU_WORLD_NEWTON_H

#include "backend/gpu/world.h"

#define HK_GPU_METHOD HK_WORLD
#define HK_GPU_OP(n, operation) hk_world_##operation

#include "backend/gpu/fine_level.h"
#include "backend/gpu/newton_types.h"

#ifdef __cplusplus
#define HK_WORLD_ALIGN(bytes) alignas(bytes)
#else
#define HK_WORLD_ALIGN(bytes) _Alignas(bytes)
#endif

/* a and b of a spring; aligned, so that a GPU loads both at once. */
typedef struct HkGpuCoefficients {
  HK_WORLD_ALIGN(8) float a;
  float b;
} HkGpuCoefficients;

/* The inverse of a diagonal block, in single precision: a preconditioner needs no more. */
typedef struct HkGpuInverse {
  float xx, yy, zz, xy, xz, yz;
} HkGpuInverse;

/* What an implicit step of a world holds; arrays of owners but for start and world->w. */
typedef struct HkGpuWorldSolve {
  HkGpuWorld *world;
  const HkDeviceSettings *settings;
  HkGpuVector *start;    /* positions at the start of the step; neighbors read them for dampers */
  HkGpuVector *y;        /* minimum of inertia and media */
  HkReal *weight;        /* kg: m' of hk_gpu_anchor */
  HkGpuVector *gradient; /* -dg/dx */
  HkGpuVector *r, *q, *d, *along;
  HkGpuInverse *diagonal;          /* inverse blocks */
  HkGpuCoefficients *coefficients; /* in the order of the words */
} HkGpuWorldSolve;

/* The operations of newton.h on an HkGpuWorldSolve. */
HK_WORLD HkStatus hk_world_look(void *device, HkGpuLook *look, HkError *error);
HK_WORLD HkStatus hk_world_prepare(void *device, bool first, HkError *error);
HK_WORLD HkStatus hk_world_solve(void *device, double kept, double tolerance, bool by_decrease,
                                 HkGpuSolved *solved, HkError *error);
HK_WORLD HkStatus hk_world_correct(void *device, double kept, double tolerance, HkGpuSolved *solved,
                                   HkError *error);
HK_WORLD HkStatus hk_world_propose(void *device, double a, bool curved, double *change,
                                   HkError *error);
HK_WORLD HkStatus hk_world_take(void *device, double a, HkError *error);
HK_WORLD HkStatus hk_world_undo(void *device, HkError *error);

#include "backend/gpu/newton.h"

/* The spring in a word with its damper; *d becomes the difference of its ends. */
HK_WORLD HkGpuSpring hk_world_implicit_spring(const HkGpuWorldSolve *s, int q, uint32_t word,
                                              int *j, HkGpuVector *d) {
  const HkGpuWorld *w = s->world;
  HkGpuSpring p;
  *j = hk_world_neighbor(w, word, &p);
  *d = hk_gpu_sub(w->x[*j], w->x[q]);
  return w->general ? hk_gpu_with_damper(p, hk_gpu_sub(s->start[*j], s->start[q]), w->h) : p;
}

/* ---- Gradient ---- */

HK_WORLD HkGpuInverse hk_world_invert(const HkGpuBlock *H) {
  HkGpuBlock I = hk_gpu_invert(H);
  HkGpuInverse inverse = {(float)I.xx, (float)I.yy, (float)I.zz,
                          (float)I.xy, (float)I.xz, (float)I.yz};
  return inverse;
}

HK_WORLD HkGpuVector hk_world_precondition(const HkGpuInverse *D, HkGpuVector r) {
  HkGpuBlock I = {(HkReal)D->xx, (HkReal)D->yy, (HkReal)D->zz,
                  (HkReal)D->xy, (HkReal)D->xz, (HkReal)D->yz};
  return hk_gpu_times(&I, r);
}

/* Gathers -dg/dx and the inverse of the diagonal block of a free vertex. */
HK_WORLD HkGpuGathered hk_world_gather(HkGpuWorldSolve *s, int q) {
  const HkGpuWorld *w = s->world;
  HkGpuGathered g = {{0, 0, 0}, {0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0}, 0, 0};
  int first, count = hk_world_words(w, q, &first);
  hk_gpu_add_majorizer(s->weight[q], s->y[q], NULL, w->x[q], &g.r, &g.H);
  for (int k = 0; k < count; k++) {
    int j;
    HkGpuVector d;
    HkGpuSpring p = hk_world_implicit_spring(s, q, w->word[first + HK_GPU_ROW * k], &j, &d);
    if (j != q) hk_gpu_gather_spring(d, p, w->h * w->h, 0, false, &g);
  }
  if (w->flat) {
    g.r.z = g.H.xz = g.H.yz = 0;
    g.H.zz = 1;
  }
  g.stiffness += s->weight[q];
  return g;
}

HK_WORLD HkStatus hk_world_look(void *device, HkGpuLook *look, HkError *error) {
  HkGpuWorldSolve *s = (HkGpuWorldSolve *)device;
  const HkGpuWorld *w = s->world;
  double sum[3] = {0, 0, 0}, most[2] = {0, 0}; /* residual, moved, weights; pressure, furthest */
  (void)error;
  HK_TEAM_EACH(q, w->n) {
    s->gradient[q] = hk_gpu_vector(0, 0, 0);
    if (!(w->inverse[q] > 0)) continue;
    HkGpuGathered g = hk_world_gather(s, q);
    HkGpuVector x = w->x[q], d = hk_gpu_sub(x, s->start[q]);
    double mass = w->mass[q], pressure = (double)g.pressure / mass;
    s->gradient[q] = g.r;
    s->diagonal[q] = hk_world_invert(&g.H);
    sum[0] += (double)hk_gpu_dot(g.r, g.r) / mass;
    sum[1] += (double)hk_gpu_dot(d, d) * mass;
    sum[2] += (double)g.stiffness * (double)g.stiffness / mass;
    double far = fmax(fabs((double)x.x), fmax(fabs((double)x.y), fabs((double)x.z)));
    most[0] = fmax(most[0], pressure);
    most[1] = fmax(most[1], far);
  }
  hk_team_reduce(&w->team, sum, 3, false);
  hk_team_reduce(&w->team, most, 2, true);
  look->residual = sqrt(sum[0]);
  look->moved = sqrt(sum[1]);
  look->pressure = most[0];
  look->resolution = DBL_EPSILON * most[1];
  look->rounding = look->resolution * sqrt(sum[2]);
  return HK_OK;
}

/* The diagonal blocks are those of the last look. */
HK_WORLD HkStatus hk_world_prepare(void *device, bool first, HkError *error) {
  (void)device;
  (void)first;
  (void)error;
  return HK_OK;
}

/* Evaluates the springs of H; kept as of hk_gpu_spring_coefficients. */
HK_WORLD void hk_world_linearize(HkGpuWorldSolve *s, HkReal kept) {
  const HkGpuWorld *w = s->world;
  const HkReal LARGEST = (HkReal)1e37; /* d of a spring without length is 0 */
  HK_TEAM_EACH(q, w->n) {
    int first, count = hk_world_words(w, q, &first);
    for (int k = 0; k < count; k++) {
      int j, at = first + HK_GPU_ROW * k;
      HkGpuVector d;
      HkReal a, b;
      HkGpuSpring p = hk_world_implicit_spring(s, q, w->word[at], &j, &d);
      hk_gpu_spring_coefficients(d, p, w->h * w->h, kept, &a, &b);
      s->coefficients[at].a = (float)a;
      s->coefficients[at].b = (float)hk_gpu_min(b, LARGEST);
    }
  }
}

/* q = H p of the vertices that a thread owns, with p in world->w; returns its part of p . q. */
HK_WORLD double hk_world_multiply(HkGpuWorldSolve *s) {
  const HkGpuWorld *w = s->world;
  double pq = 0;
  HK_TEAM_EACH(q, w->n) {
    HkGpuVector sum = {0, 0, 0}, own = w->w[q], x = w->x[q];
    if (!(w->inverse[q] > 0)) continue;
    int first, count = hk_world_words(w, q, &first);
    hk_gpu_axpy(s->weight[q], own, &sum);
    for (int k = 0; k < count; k++) {
      int at = first + HK_GPU_ROW * k, j = (int)(w->word[at] & 0xffff);
      HkGpuCoefficients c = s->coefficients[at];
      HkGpuVector d = hk_gpu_sub(w->x[j], x), u = hk_gpu_sub(own, w->w[j]);
      hk_gpu_axpy((HkReal)c.a, u, &sum);
      hk_gpu_axpy((HkReal)c.b * hk_gpu_dot(d, u), d, &sum);
    }
    if (w->flat) sum.z = 0;
    s->q[q] = sum;
    pq += (double)hk_gpu_dot(own, sum);
  }
  return pq;
}

/* p = D^-1 r + beta p; constrained vertices have p = 0. */
HK_WORLD void hk_world_search(HkGpuWorldSolve *s, HkReal beta) {
  HkGpuWorld *w = s->world;
  HK_TEAM_EACH(q, w->n) {
    bool is_free = w->inverse[q] > 0;
    HkGpuVector p =
        is_free ? hk_world_precondition(&s->diagonal[q], s->r[q]) : hk_gpu_vector(0, 0, 0);
    if (is_free && beta != 0) hk_gpu_axpy(beta, w->w[q], &p);
    w->w[q] = p;
  }
  hk_team_sync();
}

/* d += step p, r -= alpha q; sum becomes r . r and r . D^-1 r. */
HK_WORLD void hk_world_descend(HkGpuWorldSolve *s, HkReal step, HkReal alpha, double sum[2]) {
  const HkGpuWorld *w = s->world;
  sum[0] = sum[1] = 0;
  HK_TEAM_EACH(q, w->n) {
    if (!(w->inverse[q] > 0)) continue;
    hk_gpu_axpy(step, w->w[q], &s->d[q]);
    hk_gpu_axpy(-alpha, s->q[q], &s->r[q]);
    sum[0] += (double)hk_gpu_dot(s->r[q], s->r[q]);
    sum[1] += (double)hk_gpu_dot(s->r[q], hk_world_precondition(&s->diagonal[q], s->r[q]));
  }
  hk_team_reduce(&w->team, sum, 2, false);
}

/* d = H^-1 r; r is lost. */
HK_WORLD HkGpuSolved hk_world_solve_system(HkGpuWorldSolve *s, double kept, double tolerance) {
  HkGpuWorld *w = s->world;
  const HkDeviceSettings *settings = s->settings;
  HkGpuPcgSums sums = {0, 0, 0};
  double part[2];
  hk_world_linearize(s, (HkReal)kept);
  HK_TEAM_EACH(q, w->n) s->d[q] = s->q[q] = hk_gpu_vector(0, 0, 0);
  hk_world_descend(s, 0, 0, part);
  double next = part[1];
  if (tolerance < settings->linear_tolerance) tolerance = settings->linear_tolerance;
  HkGpuPcg pcg = hk_gpu_pcg_begin(tolerance, sqrt(part[0]), settings->linear_iterations);
  for (bool first = true, ends = pcg.size == 0; !ends; first = false) {
    double beta = first ? 0 : next / sums.rz;
    sums.rz = next;
    hk_world_search(s, (HkReal)beta);
    sums.pq = hk_world_multiply(s);
    hk_team_reduce(&w->team, &sums.pq, 1, false);
    HkReal alpha = sums.pq > 0 ? (HkReal)(sums.rz / sums.pq) : 0;
    hk_world_descend(s, first && sums.pq <= 0 ? 1 : alpha, alpha, part);
    sums.rr = part[0];
    next = part[1];
    ends = hk_gpu_pcg_ends(&pcg, &sums);
  }
  part[0] = part[1] = 0;
  HK_TEAM_EACH(q, w->n) {
    if (!(w->inverse[q] > 0)) continue;
    part[0] += (double)hk_gpu_dot(s->d[q], s->d[q]) * w->mass[q];
    part[1] -= (double)hk_gpu_dot(s->d[q], s->gradient[q]);
  }
  hk_team_reduce(&w->team, part, 2, false);
  pcg.solved.length = sqrt(part[0]);
  pcg.solved.slope = part[1];
  return pcg.solved;
}

HK_WORLD HkStatus hk_world_solve(void *device, double kept, double tolerance, bool by_decrease,
                                 HkGpuSolved *solved, HkError *error) {
  HkGpuWorldSolve *s = (HkGpuWorldSolve *)device;
  (void)by_decrease;
  (void)error;
  HK_TEAM_EACH(q, s->world->n) s->r[q] = s->gradient[q];
  *solved = hk_world_solve_system(s, kept, tolerance);
  return HK_OK;
}

/* Puts d where neighbors read it. */
HK_WORLD void hk_world_share_direction(HkGpuWorldSolve *s) {
  hk_team_sync();
  HK_TEAM_EACH(q, s->world->n) s->world->w[q] = s->d[q];
  hk_team_sync();
}

HK_WORLD HkStatus hk_world_correct(void *device, double kept, double tolerance, HkGpuSolved *solved,
                                   HkError *error) {
  HkGpuWorldSolve *s = (HkGpuWorldSolve *)device;
  const HkGpuWorld *w = s->world;
  (void)error;
  hk_world_share_direction(s);
  HK_TEAM_EACH(q, w->n) {
    int first, count = hk_world_words(w, q, &first);
    s->along[q] = s->d[q];
    s->r[q] = hk_gpu_vector(0, 0, 0);
    for (int k = 0; k < count && w->inverse[q] > 0; k++) {
      int j;
      HkGpuVector d;
      HkGpuSpring p = hk_world_implicit_spring(s, q, w->word[first + HK_GPU_ROW * k], &j, &d);
      if (j != q) hk_gpu_spring_turned(d, hk_gpu_sub(w->w[j], w->w[q]), p, w->h * w->h, &s->r[q]);
    }
    if (w->flat) s->r[q].z = 0;
  }
  hk_team_sync(); /* world->w is the direction of the solve from now on */
  *solved = hk_world_solve_system(s, kept, tolerance);
  HK_TEAM_EACH(q, w->n) s->q[q] = s->d[q];
  return HK_OK;
}

HK_WORLD HkStatus hk_world_propose(void *device, double a, bool curved, double *change,
                                   HkError *error) {
  HkGpuWorldSolve *s = (HkGpuWorldSolve *)device;
  const HkGpuWorld *w = s->world;
  (void)error;
  HK_TEAM_EACH(q, curved ? w->n : 0) {
    s->d[q] = hk_gpu_vector(0, 0, 0);
    hk_gpu_axpy((HkReal)a, s->along[q], &s->d[q]);
    hk_gpu_axpy((HkReal)(a * a), s->q[q], &s->d[q]);
  }
  hk_world_share_direction(s);
  double sum = 0;
  HK_TEAM_EACH(q, w->n) {
    int first, count = hk_world_words(w, q, &first);
    HkGpuVector own = w->w[q], from = hk_gpu_sub(w->x[q], s->y[q]);
    if (w->inverse[q] > 0)
      sum += (double)s->weight[q] *
             ((double)hk_gpu_dot(own, from) + 0.5 * (double)hk_gpu_dot(own, own));
    for (int k = 0; k < count; k++) {
      int j;
      HkGpuVector d;
      HkGpuSpring p = hk_world_implicit_spring(s, q, w->word[first + HK_GPU_ROW * k], &j, &d);
      sum +=
          0.5 * (double)(w->h * w->h * hk_gpu_spring_energy_change(d, hk_gpu_sub(w->w[j], own), p));
    }
  }
  hk_team_reduce(&w->team, &sum, 1, false);
  *change = sum;
  return HK_OK;
}

HK_WORLD void hk_world_move(HkGpuWorldSolve *s, HkReal sign) {
  HkGpuWorld *w = s->world;
  hk_team_sync();
  HK_TEAM_EACH(q, w->n) hk_gpu_axpy(sign, s->d[q], &w->x[q]);
  hk_team_sync();
}

/* No direction is rough without multigrid: a is 1. */
HK_WORLD HkStatus hk_world_take(void *device, double a, HkError *error) {
  (void)a;
  (void)error;
  hk_world_move((HkGpuWorldSolve *)device, 1);
  return HK_OK;
}

HK_WORLD HkStatus hk_world_undo(void *device, HkError *error) {
  (void)error;
  hk_world_move((HkGpuWorldSolve *)device, -1);
  return HK_OK;
}

/* ---- A step ---- */

/* The guess of step/implicit.c without the velocity of the step before: x, which holds the
 * positions without forces, or the positions at the start of the step. */
HK_WORLD void hk_world_guess(HkGpuWorldSolve *s) {
  HkGpuWorld *w = s->world;
  double inertia = 0, rise;
  HK_TEAM_EACH(q, w->n) {
    s->d[q] = hk_gpu_vector(0, 0, 0);
    if (!(w->inverse[q] > 0)) continue;
    s->d[q] = hk_gpu_sub(w->x[q], s->start[q]);
    w->x[q] = s->start[q];
    inertia += 0.5 * w->mass[q] * (double)hk_gpu_dot(s->d[q], s->d[q]);
  }
  hk_team_reduce(&w->team, &inertia, 1, false);
  hk_world_propose(s, 1, false, &rise, NULL);
  if (rise <= HK_GPU_GUESS_MAX_RISE * inertia) hk_world_take(s, 1, NULL);
}

/* Sets y, m' and the positions without forces, and places pins. */
HK_WORLD void hk_world_begin_implicit(HkGpuWorldSolve *s, const double *end) {
  HkGpuWorld *w = s->world;
  HK_TEAM_EACH(q, w->n) {
    s->start[q] = w->x[q];
    s->weight[q] = hk_gpu_anchor(w->medium, (HkReal)w->mass[q], w->h, w->x[q], w->v[q], &s->y[q]);
    for (int e = w->grip_start ? w->grip_start[q] : 0; w->grip_start && e < w->grip_start[q + 1];
         e++) {
      HkReal row[HK_DEVICE_GRIP_REALS];
      hk_world_grip(w, e, row);
      hk_gpu_anchor_grip(row, w->h, s->start[q], &s->weight[q], &s->y[q]);
    }
    if (w->inverse[q] > 0) hk_gpu_axpy(w->h, w->v[q], &w->x[q]);
  }
  hk_team_sync();
  hk_world_place_pins(w, end);
  HK_TEAM_EACH(q, end ? w->pin_count : 0) {
    int i = w->pin_vertex[q];
    if (!w->held[q]) continue;
    s->start[i] = w->x[i];
    hk_gpu_axpy(-w->h, w->v[i], &s->start[i]);
  }
  hk_team_sync();
}

/* One step of backward Euler; returns how it was solved. */
HK_WORLD HkStepInfo hk_world_step_implicit(HkGpuWorldSolve *s, double total_mass,
                                           const double *end) {
  HkGpuWorld *w = s->world;
  HkGpuNewtonOps ops = {0};
  HkGpuNewton newton = {0};
  ops.device = s;
  newton.ops = &ops;
  newton.settings = s->settings;
  newton.convex_known = true;
  newton.total_mass = total_mass;
  hk_world_begin_implicit(s, end);
  hk_world_guess(s);
  hk_gpu_newton_minimize(&newton, NULL);
  HK_TEAM_EACH(q, w->n) {
    if (!(w->inverse[q] > 0)) continue;
    HkGpuVector d = hk_gpu_sub(w->x[q], s->start[q]);
    w->v[q] = hk_gpu_vector(d.x / w->h, d.y / w->h, d.z / w->h);
  }
  hk_team_sync();
  return newton.info;
}

#endif
