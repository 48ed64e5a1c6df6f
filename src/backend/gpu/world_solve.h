/* The linear systems of Newton's method in one world of a batch (world_newton.h): conjugate
 * gradients with block Jacobi, in single precision where that is enough.
 *
 *     H d = b,   H = M' + sum h^2 B,   h^2 B = a I + b d d^T of a spring
 *
 * a and b are floats, evaluated once. Both ends of a spring round them alike, so that H stays
 * symmetric and each spring of it differs by 1e-7 from that of the Hessian.
 *
 * A round solves H c = r / |r| in floats (d of a spring is a difference of doubles, rounded), adds
 * |r| c to d, and computes the residual r = b - H d in double precision: iterative refinement,
 *
 *     J. H. Wilkinson, Rounding Errors in Algebraic Processes, 1963.
 *
 * Rounds go on until the residual meets the tolerance; for forcing terms of Newton's method one is
 * enough. The residual in floats follows the true one down to about 1e-7 times the condition number
 * of H, so that a round ends at HK_ROUND_LEAST. Where a round leaves more than HK_ROUND_GAIN of the
 * residual, conjugate gradients in double precision go on from there. They also do where floats
 * overflow, or find a direction of negative curvature that has none in double precision.
 */
#ifndef HK_BACKEND_GPU_WORLD_SOLVE_H
#define HK_BACKEND_GPU_WORLD_SOLVE_H

#include "backend/gpu/newton_types.h"
#include "backend/gpu/world.h"

#ifdef __cplusplus
#define HK_WORLD_ALIGN(bytes) alignas(bytes)
#else
#define HK_WORLD_ALIGN(bytes) _Alignas(bytes)
#endif

/* Relative residual at which a round of floats ends. */
#define HK_ROUND_LEAST 1e-4
/* Part of the residual that a round may leave if another one is to follow. */
#define HK_ROUND_GAIN 0.1
/* Part of the tolerance by which the true residual may exceed that of the iteration. */
#define HK_ROUND_EXCESS 0.1

/* a and b of a spring; aligned, so that a GPU loads both at once. */
typedef struct HkGpuCoefficients {
  HK_WORLD_ALIGN(8) float a;
  float b;
} HkGpuCoefficients;

/* The inverse of a diagonal block, in single precision: a preconditioner needs no more. */
typedef struct HkGpuInverse {
  float xx, yy, zz, xy, xz, yz;
} HkGpuInverse;

typedef struct HkGpuFloats {
  float x, y, z;
} HkGpuFloats;

/* Vectors of conjugate gradients: direction, residual, product, solution. */
typedef struct HkGpuSingleVectors {
  HkGpuFloats *p, *r, *q, *d;
} HkGpuSingleVectors;

typedef struct HkGpuDoubleVectors {
  HkGpuVector *p, *r, *q, *d;
} HkGpuDoubleVectors;

/* Why conjugate gradients ended: by the rule of conjugate_gradients.h, with a short residual, by
 * p.Hp <= 0, by an overflow. */
typedef enum HkGpuPcgEnd {
  HK_PCG_ENDED,
  HK_PCG_SHORT,
  HK_PCG_NEGATIVE,
  HK_PCG_NOT_FINITE
} HkGpuPcgEnd;

/* What an implicit step of a world holds. Owners alone read the arrays, except `start`, world->x,
 * world->w. */
typedef struct HkGpuWorldSolve {
  HkGpuWorld *world;
  const HkDeviceSettings *settings;
  HkGpuVector *start;    /* positions at the start of the step; neighbors read them for dampers */
  HkGpuVector *y;        /* minimum of inertia and media */
  HkReal *weight;        /* kg: m' of hk_gpu_anchor; 0: constrained */
  HkGpuVector *gradient; /* -dg/dx */
  HkGpuVector *b;        /* of the system */
  HkGpuVector *along;
  HkGpuDoubleVectors precise;      /* p is world->w */
  HkGpuInverse *diagonal;          /* inverse blocks */
  HkGpuCoefficients *coefficients; /* in the order of the words */
} HkGpuWorldSolve;

/* ---- Memory ---- */

enum {
  HK_WORLD_IMPLICIT_BYTES = sizeof(HkGpuVector) + 4 * sizeof(HkGpuFloats) /* shared, a vertex */
};

/* The vectors that follow the positions x of n vertices: p in double precision, and all of those in
 * floats, which begin in its memory. */
HK_WORLD HkGpuVector *hk_world_double_direction(HkGpuVector *x, int64_t n) {
  return x + n;
}

HK_WORLD HkGpuSingleVectors hk_world_single_vectors(HkGpuVector *x, int64_t n) {
  HkGpuFloats *p = (HkGpuFloats *)(void *)(x + n);
  HkGpuSingleVectors v = {p, p + n, p + 2 * n, p + 3 * n};
  return v;
}

/* Gives the vectors that neighbors read the memory of n vertices at `at`. */
HK_WORLD void hk_world_use_shared(HkGpuWorldSolve *s, void *at, int64_t n) {
  s->world->x = (HkGpuVector *)at;
  s->world->w = hk_world_double_direction(s->world->x, n);
}

/* Bytes of the arrays in a block's workspace. */
static inline size_t hk_world_workspace_bytes(int64_t n, int64_t words) {
  enum { VECTORS = 9, REALS = 2, ALIGNMENT = 256 };
  size_t bytes =
      (size_t)words * sizeof(HkGpuCoefficients) +
      (size_t)n * (VECTORS * sizeof(HkGpuVector) + REALS * sizeof(HkReal) + sizeof(HkGpuInverse));
  return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Gives the other arrays the workspace `at`. */
HK_WORLD void hk_world_use_workspace(HkGpuWorldSolve *s, void *at, int64_t n, int64_t words) {
  s->coefficients = (HkGpuCoefficients *)at;
  HkGpuVector *vector = (HkGpuVector *)(void *)(s->coefficients + words);
  HkGpuVector **vectors[] = {&s->world->v, &s->start,     &s->y,         &s->gradient, &s->b,
                             &s->along,    &s->precise.r, &s->precise.q, &s->precise.d};
  for (size_t q = 0; q < sizeof vectors / sizeof vectors[0]; q++, vector += n) *vectors[q] = vector;
  s->world->inverse = (HkReal *)(void *)vector;
  s->weight = s->world->inverse + n;
  s->diagonal = (HkGpuInverse *)(void *)(s->weight + n);
}

/* ---- The system ---- */

/* What conjugate gradients read of a world, as copies that a GPU keeps in registers. */
typedef struct HkGpuSystem {
  int n;
  bool flat;
  HkGpuVector *x;
  const int32_t *row_start;
  const uint16_t *neighbor;
  const HkGpuCoefficients *coefficients;
  const HkReal *weight;
  const HkGpuInverse *diagonal;
} HkGpuSystem;

HK_WORLD HkGpuSystem hk_world_system(const HkGpuWorldSolve *s) {
  const HkGpuWorld *w = s->world;
  HkGpuSystem system = {w->n,         w->flat,     HK_TEAM_POSITIONS(w),
                        w->row_start, w->neighbor, s->coefficients,
                        s->weight,    s->diagonal};
  return system;
}

HK_WORLD HkGpuDoubleVectors hk_world_double_vectors(const HkGpuWorldSolve *s) {
  HkGpuDoubleVectors v = s->precise;
  v.p = hk_world_double_direction(HK_TEAM_POSITIONS(s->world), s->world->n);
  return v;
}

/* Neighbors are the same for all worlds and do not change: a GPU keeps them in its first level
 * cache, which the other arrays, of one world and read once an iteration, leave alone. None of them
 * changes within a function that reads them so. */
HK_WORLD int hk_world_system_neighbor(const HkGpuSystem *s, int at) {
#ifdef __CUDA_ARCH__
  return __ldg(s->neighbor + at);
#else
  return s->neighbor[at];
#endif
}

HK_WORLD HkGpuCoefficients hk_world_coefficients(const HkGpuSystem *s, int at) {
#ifdef __CUDA_ARCH__
  float2 c = __ldcg((const float2 *)(s->coefficients + at));
  HkGpuCoefficients both = {c.x, c.y};
  return both;
#else
  return s->coefficients[at];
#endif
}

HK_WORLD HkReal hk_world_weight(const HkGpuSystem *s, int i) {
#ifdef __CUDA_ARCH__
  return __ldcg(s->weight + i);
#else
  return s->weight[i];
#endif
}

HK_WORLD HkGpuInverse hk_world_inverse(const HkGpuSystem *s, int i) {
#ifdef __CUDA_ARCH__
  const float2 *D = (const float2 *)(s->diagonal + i);
  float2 a = __ldcg(D), b = __ldcg(D + 1), c = __ldcg(D + 2);
  HkGpuInverse inverse = {a.x, a.y, b.x, b.y, c.x, c.y};
  return inverse;
#else
  return s->diagonal[i];
#endif
}

#define HK_PCG_REAL float
#define HK_PCG_VECTOR HkGpuFloats
#define HK_PCG_VECTORS HkGpuSingleVectors
#define HK_PCG(name) hk_world_single_##name
#include "backend/gpu/world_pcg.h"

#define HK_PCG_REAL HkReal
#define HK_PCG_VECTOR HkGpuVector
#define HK_PCG_VECTORS HkGpuDoubleVectors
#define HK_PCG(name) hk_world_double_##name
#include "backend/gpu/world_pcg.h"

/* The spring in a word with its damper; *d becomes the difference of its ends. */
HK_WORLD HkGpuSpring hk_world_implicit_spring(const HkGpuWorldSolve *s, int q, uint32_t word,
                                              int *j, HkGpuVector *d) {
  const HkGpuWorld *w = s->world;
  HkGpuSpring p;
  *j = hk_world_neighbor(w, word, &p);
  *d = hk_gpu_sub(w->x[*j], w->x[q]);
  return w->general ? hk_gpu_with_damper(p, hk_gpu_sub(s->start[*j], s->start[q]), w->h) : p;
}

/* Evaluates the springs of H; kept as of hk_gpu_spring_coefficients. */
HK_WORLD_CALL void hk_world_linearize(HkGpuWorldSolve *s, HkReal kept) {
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

/* Puts a vector where neighbors read it, as p of the system in double precision. */
HK_WORLD void hk_world_share(HkGpuWorldSolve *s, const HkGpuVector *from) {
  hk_team_sync();
  HK_TEAM_EACH(q, s->world->n) s->world->w[q] = from[q];
  hk_team_sync();
}

/* r = b - H d in double precision; returns |r|. */
HK_WORLD_CALL double hk_world_residual(HkGpuWorldSolve *s) {
  HkGpuDoubleVectors v = hk_world_double_vectors(s);
  HkGpuSystem system = hk_world_system(s);
  double sum = 0;
  hk_world_share(s, v.d);
  hk_world_double_multiply(&system, &v);
  HK_TEAM_EACH(q, s->world->n) {
    if (!(s->weight[q] > 0)) continue;
    v.r[q] = hk_gpu_sub(s->b[q], v.q[q]);
    sum += (double)hk_gpu_dot(v.r[q], v.r[q]);
  }
  hk_team_reduce(&sum, 1, false);
  return sqrt(sum);
}

/* Solves H c = r / size in floats, with size = |r|; c is d of the floats. */
HK_WORLD_CALL HkGpuPcgEnd hk_world_round(HkGpuWorldSolve *s, double size, HkGpuPcg *pcg) {
  const HkGpuFloats none = {0, 0, 0};
  HkGpuSystem system = hk_world_system(s);
  HkGpuSingleVectors f = hk_world_single_vectors(system.x, system.n);
  HK_TEAM_EACH(q, system.n) {
    HkGpuVector r = s->precise.r[q];
    HkGpuFloats scaled = {(float)((double)r.x / size), (float)((double)r.y / size),
                          (float)((double)r.z / size)};
    f.r[q] = scaled;
    f.d[q] = f.q[q] = none;
  }
  return hk_world_single_iterate(&system, &f, size, HK_ROUND_LEAST, pcg);
}

/* d += size c after a round. */
HK_WORLD void hk_world_add(HkGpuWorldSolve *s, double size) {
  const HkGpuFloats *c = hk_world_single_vectors(s->world->x, s->world->n).d;
  HK_TEAM_EACH(q, s->world->n) {
    HkGpuVector v = {(HkReal)c[q].x, (HkReal)c[q].y, (HkReal)c[q].z};
    hk_gpu_axpy((HkReal)size, v, &s->precise.d[q]);
  }
}

/* Whether p.Hp <= 0 in double precision for the last direction of a round; p becomes r of the
 * system in double precision. */
HK_WORLD_CALL bool hk_world_is_negative(HkGpuWorldSolve *s) {
  HkGpuSystem system = hk_world_system(s);
  HkGpuDoubleVectors v = hk_world_double_vectors(s);
  const HkGpuFloats *single = hk_world_single_vectors(system.x, system.n).p;
  HK_TEAM_EACH(q, system.n) {
    HkGpuFloats p = single[q];
    s->precise.r[q] = hk_gpu_vector((HkReal)p.x, (HkReal)p.y, (HkReal)p.z);
  }
  hk_world_share(s, s->precise.r);
  double pq = (double)hk_world_double_multiply(&system, &v);
  hk_team_reduce(&pq, 1, false);
  return pq <= 0;
}

/* Iterates in double precision from d with its residual r. */
HK_WORLD_CALL void hk_world_solve_precisely(HkGpuWorldSolve *s, HkGpuPcg *pcg) {
  HkGpuDoubleVectors v = hk_world_double_vectors(s);
  HkGpuSystem system = hk_world_system(s);
  HK_TEAM_EACH(q, system.n) v.q[q] = hk_gpu_vector(0, 0, 0);
  HkGpuPcgEnd end = hk_world_double_iterate(&system, &v, 1, 0, pcg);
  hk_team_sync(); /* the sums of the team are free again */
  pcg->solved.indefinite = end == HK_PCG_NEGATIVE;
  if (end != HK_PCG_NEGATIVE || pcg->solved.iterations > 0) return;
  HK_TEAM_EACH(q, s->world->n) v.d[q] = v.p[q];
}

/* Rounds of floats, then double precision if they do not suffice; size is |b|. */
HK_WORLD void hk_world_refine(HkGpuWorldSolve *s, double size, HkGpuPcg *pcg) {
  double most = (1 + HK_ROUND_EXCESS) * pcg->tolerance * size, left = size, before;
  HkGpuPcgEnd end;
  do {
    before = left;
    end = hk_world_round(s, before, pcg);
    bool first = pcg->solved.iterations == 0;
    bool negative = end == HK_PCG_NEGATIVE && hk_world_is_negative(s);
    if (end != HK_PCG_NOT_FINITE && !(negative && first)) hk_world_add(s, before);
    if (negative) {
      pcg->solved.indefinite = true;
      HK_TEAM_EACH(q, first ? s->world->n : 0) {
        s->precise.d[q] = hk_gpu_vector(0, 0, 0);
        hk_gpu_axpy((HkReal)before, s->precise.r[q], &s->precise.d[q]);
      }
      return;
    }
    left = hk_world_residual(s);
    pcg->square = left * left;
    pcg->solved.residual = left / size;
    pcg->solved.converged = end == HK_PCG_ENDED && left <= most;
    if (pcg->solved.converged || pcg->solved.iterations >= pcg->iterations_max) return;
  } while (left > 0 && left <= HK_ROUND_GAIN * before &&
           (end == HK_PCG_ENDED || end == HK_PCG_SHORT));
  hk_world_solve_precisely(s, pcg);
}

/* d = H^-1 b */
HK_WORLD_CALL HkGpuSolved hk_world_solve_system(HkGpuWorldSolve *s, double kept, double tolerance) {
  const HkGpuWorld *w = s->world;
  double sum[2] = {0, 0};
  hk_world_linearize(s, (HkReal)kept);
  HK_TEAM_EACH(q, w->n) {
    s->precise.d[q] = hk_gpu_vector(0, 0, 0);
    s->precise.r[q] = s->b[q];
    sum[0] += (double)hk_gpu_dot(s->b[q], s->b[q]);
  }
  hk_team_reduce(sum, 1, false);
  double size = sqrt(sum[0]), least = s->settings->linear_tolerance;
  HkGpuPcg pcg =
      hk_gpu_pcg_begin(tolerance < least ? least : tolerance, size, s->settings->linear_iterations);
  if (size > 0) hk_world_refine(s, size, &pcg);
  sum[0] = sum[1] = 0;
  HK_TEAM_EACH(q, w->n) {
    if (!(s->weight[q] > 0)) continue;
    HkGpuVector d = s->precise.d[q];
    sum[0] += (double)hk_gpu_dot(d, d) * w->mass[q];
    sum[1] -= (double)hk_gpu_dot(d, s->gradient[q]);
  }
  hk_team_reduce(sum, 2, false);
  pcg.solved.length = sqrt(sum[0]);
  pcg.solved.slope = sum[1];
  return pcg.solved;
}

#endif
