/* The linear systems of Newton's method in one world of a batch (world_newton.h): conjugate
 * gradients with block Jacobi, in single precision where that is enough.
 *
 *     H d = b,   H = M' + sum h^2 B,   h^2 B = a I + b d d^T of a spring
 *
 * a and b are floats, evaluated once. Both ends of a spring round them alike, so that H stays
 * symmetric and each spring of it differs by 1e-7 from that of the Hessian.
 *
 * A round solves H c = r / |r| in floats (d of a spring is a difference of positions in fixed
 * point, fine_level.h), adds |r| c to d, and computes the residual r = b - H d in double precision:
 * iterative refinement,
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

#include "backend/gpu/fine_level.h"
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

/* a and b of a spring, b times the square of the unit of fixed point; aligned, so that a GPU loads
 * both at once. */
typedef struct HkGpuCoefficients {
  HK_WORLD_ALIGN(8) float a;
  float b;
} HkGpuCoefficients;

/* A position in fixed point. */
typedef struct HkGpuPoint {
  int32_t x, y, z;
} HkGpuPoint;

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
  double unit;                     /* m, of fixed point at x */
} HkGpuWorldSolve;

/* ---- Memory ----
 *
 * Shared memory holds x, four vectors of floats, which begin in the memory of the direction in
 * double precision, and positions in fixed point. If the world is resident, the springs of its
 * systems follow: coefficients and neighbors, which every iteration reads.
 */

HK_WORLD_SIZE size_t hk_world_vertex_bytes(void) {
  return sizeof(HkGpuVector) + 4 * sizeof(HkGpuFloats) + sizeof(HkGpuPoint);
}

/* Bytes of shared memory before the springs of a resident world. */
HK_WORLD_SIZE size_t hk_world_vertices_bytes(int64_t n) {
  const size_t ALIGNMENT = 16;
  return ((size_t)n * hk_world_vertex_bytes() + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

HK_WORLD_SIZE size_t hk_world_shared_bytes(int64_t n, int64_t words, bool resident) {
  size_t springs = (size_t)words * (sizeof(HkGpuCoefficients) + sizeof(uint16_t));
  return hk_world_vertices_bytes(n) + (resident ? springs : 0);
}

/* The vectors that follow the positions x of n vertices. */
HK_WORLD HkGpuVector *hk_world_double_direction(HkGpuVector *x, int64_t n) {
  return x + n;
}

HK_WORLD HkGpuSingleVectors hk_world_single_vectors(HkGpuVector *x, int64_t n) {
  HkGpuFloats *p = (HkGpuFloats *)(void *)(x + n);
  HkGpuSingleVectors v = {p, p + n, p + 2 * n, p + 3 * n};
  return v;
}

HK_WORLD HkGpuPoint *hk_world_points(HkGpuVector *x, int64_t n) {
  return (HkGpuPoint *)(void *)(hk_world_single_vectors(x, n).d + n);
}

/* Gives a world the shared memory `at`. Returns the memory for its neighbors, which the caller
 * fills, or NULL if the world is not resident. */
HK_WORLD uint16_t *hk_world_use_shared(HkGpuWorldSolve *s, void *at, int64_t n, int64_t words,
                                       bool resident) {
  s->world->x = (HkGpuVector *)at;
  s->world->w = hk_world_double_direction(s->world->x, n);
  if (!resident) return NULL;
  s->coefficients = (HkGpuCoefficients *)(void *)((char *)at + hk_world_vertices_bytes(n));
  return (uint16_t *)(void *)(s->coefficients + words);
}

/* Bytes of the arrays in a block's workspace. */
static inline size_t hk_world_workspace_bytes(int64_t n, int64_t words) {
  enum { VECTORS = 9, REALS = 2, ALIGNMENT = 256 };
  size_t bytes =
      (size_t)words * sizeof(HkGpuCoefficients) +
      (size_t)n * (VECTORS * sizeof(HkGpuVector) + REALS * sizeof(HkReal) + sizeof(HkGpuInverse));
  return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Gives the other arrays the workspace `at`, the coefficients too unless the world is resident. */
HK_WORLD void hk_world_use_workspace(HkGpuWorldSolve *s, void *at, int64_t n, int64_t words,
                                     bool resident) {
  HkGpuCoefficients *coefficients = (HkGpuCoefficients *)at;
  if (!resident) s->coefficients = coefficients;
  HkGpuVector *vector = (HkGpuVector *)(void *)(coefficients + words);
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
  HkGpuPoint *point; /* x in fixed point */
  double unit;
  const int32_t *row_start;
  const uint16_t *neighbor;
  const HkGpuCoefficients *coefficients;
  const HkReal *weight;
  const HkGpuInverse *diagonal;
} HkGpuSystem;

HK_WORLD HkGpuSystem hk_world_system(const HkGpuWorldSolve *s) {
  const HkGpuWorld *w = s->world;
  HkGpuVector *x = HK_TEAM_POSITIONS(w);
  HkGpuSystem system = {w->n,      w->flat,      x,           hk_world_points(x, w->n),
                        s->unit,   w->row_start, w->neighbor, s->coefficients,
                        s->weight, s->diagonal};
  return system;
}

HK_WORLD HkGpuDoubleVectors hk_world_double_vectors(const HkGpuWorldSolve *s) {
  HkGpuDoubleVectors v = s->precise;
  v.p = hk_world_double_direction(HK_TEAM_POSITIONS(s->world), s->world->n);
  return v;
}

/* The difference of the positions of j and i, and b of a spring, in units of fixed point. */
HK_WORLD HkGpuFloats hk_world_single_difference(const HkGpuSystem *s, int i, int j) {
  HkGpuPoint a = s->point[i], b = s->point[j];
  HkGpuFloats d = {hk_gpu_fixed_difference(b.x, a.x), hk_gpu_fixed_difference(b.y, a.y),
                   hk_gpu_fixed_difference(b.z, a.z)};
  return d;
}

HK_WORLD float hk_world_single_b(const HkGpuSystem *s, HkGpuCoefficients c) {
  (void)s;
  return c.b;
}

/* The same in m. */
HK_WORLD HkGpuVector hk_world_double_difference(const HkGpuSystem *s, int i, int j) {
  return hk_gpu_sub(s->x[j], s->x[i]);
}

HK_WORLD HkReal hk_world_double_b(const HkGpuSystem *s, HkGpuCoefficients c) {
  return (HkReal)((double)c.b / s->unit / s->unit);
}

/* The arrays of owners are read once an iteration: a GPU keeps them out of its first level cache.
 * None of them changes within a function that reads them so. */
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

/* Evaluates the springs of H and positions in fixed point; kept as of hk_gpu_spring_coefficients.
 */
HK_WORLD_CALL void hk_world_linearize(HkGpuWorldSolve *s, HkReal kept) {
  const HkGpuWorld *w = s->world;
  const HkReal LARGEST = (HkReal)1e37; /* d of a spring without length is 0 */
  HkGpuPoint *point = hk_world_points(w->x, w->n);
  HK_TEAM_EACH(q, w->n) {
    point[q].x = hk_gpu_fixed_coordinate((double)w->x[q].x, 1 / s->unit);
    point[q].y = hk_gpu_fixed_coordinate((double)w->x[q].y, 1 / s->unit);
    point[q].z = hk_gpu_fixed_coordinate((double)w->x[q].z, 1 / s->unit);
    int first, count = hk_world_words(w, q, &first);
    for (int k = 0; k < count; k++) {
      int j, at = first + HK_GPU_ROW * k;
      HkGpuVector d;
      HkReal a, b;
      HkGpuSpring p = hk_world_implicit_spring(s, q, w->word[at], &j, &d);
      hk_gpu_spring_coefficients(d, p, w->h * w->h, kept, &a, &b);
      s->coefficients[at].a = (float)a;
      s->coefficients[at].b = (float)hk_gpu_min(b * (HkReal)s->unit * (HkReal)s->unit, LARGEST);
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
