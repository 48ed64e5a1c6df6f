/* One world of a batch on a device: its explicit steps, and what its implicit steps share with them
 * (world_newton.h). The threads of a block make up a team that moves one world; CUDA and the tests
 * without a GPU compile the same code, the tests with teams of one thread.
 *
 * A thread owns the vertices rank, rank + size, ...: what a vertex gathers, and what only its owner
 * reads, need no synchronization. Positions and velocities, which neighbors read, stand in shared
 * memory. Between two phases that read and write them stands hk_team_sync.
 *
 * The graph is that of all worlds: sliced ELLPACK with slices of HK_GPU_ROW vertices, in the order
 * of the model. A word holds a neighbor, 16 bits, below the type of the spring, 16 bits; type 0 has
 * no stiffness and pads rows. Each world has a table of its types: k, k l0, c, least.
 */
#ifndef HK_BACKEND_GPU_WORLD_H
#define HK_BACKEND_GPU_WORLD_H

#include "backend/device.h"
#include "backend/gpu/media_implicit.h"

/* HK_WORLD_CALL: a function that is called, not inlined, so that its inner loops have all
 * registers. */
#ifdef __CUDACC__
#define HK_WORLD static __device__
#define HK_WORLD_CALL static __device__ __noinline__
#define HK_WORLD_SIZE static inline __host__ __device__
#else
#define HK_WORLD static inline
#define HK_WORLD_CALL static inline
#define HK_WORLD_SIZE static inline
#endif

/* ---- Teams ---- */

enum { HK_TEAM_SUMS = 3, HK_TEAM_WARPS = 32, HK_TEAM_SETS = 2 };

#ifdef __CUDACC__
static __shared__ double hk_team_sums[HK_TEAM_SETS][HK_TEAM_SUMS * HK_TEAM_WARPS];
extern __shared__ __align__(16) char hk_team_memory[]; /* begins with the positions of a world */
#endif

/* The positions of a world in a form that lets a GPU address them, and what follows them, as shared
 * memory; and the order to load the words of several springs before the first one is used. */
#ifdef __CUDA_ARCH__
#define HK_TEAM_POSITIONS(world) ((HkGpuVector *)hk_team_memory)
#define HK_TEAM_UNROLL _Pragma("unroll 4")
#else
#define HK_TEAM_POSITIONS(world) ((world)->x)
#define HK_TEAM_UNROLL
#endif

HK_WORLD int hk_team_rank(void) {
#ifdef __CUDA_ARCH__
  return (int)threadIdx.x;
#else
  return 0;
#endif
}

HK_WORLD int hk_team_size(void) {
#ifdef __CUDA_ARCH__
  return (int)blockDim.x;
#else
  return 1;
#endif
}

HK_WORLD void hk_team_sync(void) {
#ifdef __CUDA_ARCH__
  __syncthreads();
#endif
}

/* Adds up `count` values over the team, or takes their largest; every thread gets the results. The
 * order is that of a tree over the ranks, so that a run repeats bit for bit. */
HK_WORLD void hk_team_reduce(double *value, int count, bool largest) {
#ifdef __CUDA_ARCH__
  const unsigned ALL = 0xffffffffu;
  int lane = hk_team_rank() % 32, warp = hk_team_rank() / 32, warps = (hk_team_size() + 31) / 32;
  for (int q = 0; q < count; q++) {
    double a = value[q];
    for (int k = 16; k > 0; k /= 2) {
      double b = __shfl_xor_sync(ALL, a, k);
      a = largest ? (b > a || b != b ? b : a) : a + b;
    }
    if (lane == 0) hk_team_sums[0][q * HK_TEAM_WARPS + warp] = a;
  }
  __syncthreads();
  for (int q = 0; q < count; q++) {
    double a = lane < warps ? hk_team_sums[0][q * HK_TEAM_WARPS + lane] : 0;
    for (int k = 16; k > 0; k /= 2) {
      double b = __shfl_xor_sync(ALL, a, k);
      a = largest ? (b > a || b != b ? b : a) : a + b;
    }
    value[q] = a;
  }
  __syncthreads();
#else
  (void)value;
  (void)count;
  (void)largest;
#endif
}

/* ---- A world ---- */

typedef struct HkGpuWorld {
  int n;
  bool flat;    /* two dimensions: z stays */
  bool general; /* a spring is damped or tension-only */
  int parts;    /* flags of media.h */
  HkReal h;
  double origin[3]; /* x is relative to it */
  const int32_t *row_start;
  const uint32_t *word;
  const uint16_t *neighbor; /* of each word */
  const double *type;       /* 4 numbers each */
  const double *mass;       /* kg */
  int pin_count;
  const int32_t *pin_vertex, *pin_motion;
  const double *pin_x0;
  const uint8_t *held;
  const int32_t *grip_start, *grip; /* grips of each vertex; grip_start NULL: there are none */
  const double *grips;              /* rows of device.h, of the step */

  /* Shared memory. */
  HkGpuVector *x, *w;  /* w: predicted velocities, or the direction of an implicit step */
  HkGpuMedium *medium; /* of the step */
  HkGpuVector *v;      /* neighbors read it in explicit steps; of owners alone in implicit ones */

  /* Owners alone. */
  HkReal *inverse;   /* 1 / kg; 0: constrained */
  HkGpuVector *next; /* velocities of a kick */
} HkGpuWorld;

/* For loops over the vertices, or pins, that a thread owns. The first argument is a new variable.
 */
/* NOLINTBEGIN(bugprone-macro-parentheses) */
#define HK_TEAM_EACH(q, count)                                                                     \
  for (int q = hk_team_rank(), q##_end = (int)(count); q < q##_end; q += hk_team_size())
/* NOLINTEND(bugprone-macro-parentheses) */

/* The words of a vertex: first, and how many. */
HK_WORLD int hk_world_words(const HkGpuWorld *s, int q, int *first) {
  int group = q / HK_GPU_ROW;
  *first = s->row_start[group] + q % HK_GPU_ROW;
  return (s->row_start[group + 1] - s->row_start[group]) / HK_GPU_ROW;
}

/* The neighbor in a word, and the spring to it. */
HK_WORLD int hk_world_neighbor(const HkGpuWorld *s, uint32_t word, HkGpuSpring *p) {
  const double *type = s->type + 4 * (word >> 16);
  p->k = (HkReal)type[0];
  p->kl0 = (HkReal)type[1];
  p->c = (HkReal)type[2];
  p->least = (HkReal)type[3];
  return (int)(word & 0xffff);
}

/* ---- Explicit steps ---- */

/* The force of the springs on vertex q at velocities w. */
HK_WORLD HkGpuVector hk_world_pull(const HkGpuWorld *s, int q, const HkGpuVector *w) {
  HkGpuVector f = {0, 0, 0};
  int first, count = hk_world_words(s, q, &first);
  for (int k = 0; k < count; k++) {
    HkGpuSpring p;
    int j = hk_world_neighbor(s, s->word[first + HK_GPU_ROW * k], &p);
    HkGpuVector d = hk_gpu_sub(s->x[j], s->x[q]);
    if (s->general)
      hk_gpu_damped_spring_force(d, hk_gpu_sub(w[j], w[q]), p, &f);
    else
      hk_gpu_spring_force(d, p.k, p.kl0, &f);
  }
  return f;
}

/* The row of a grip of this step. */
HK_WORLD void hk_world_grip(const HkGpuWorld *s, int entry, HkReal row[HK_DEVICE_GRIP_REALS]) {
  const double *from = s->grips + HK_DEVICE_GRIP_REALS * s->grip[entry];
  for (int k = 0; k < HK_DEVICE_GRIP_REALS; k++) row[k] = (HkReal)from[k];
}

/* f += the force of the grips on vertex q, k (T - x) - c w + F. */
HK_WORLD void hk_world_add_grips(const HkGpuWorld *s, int q, const HkGpuVector *w, HkGpuVector *f) {
  if (!s->grip_start) return;
  for (int e = s->grip_start[q]; e < s->grip_start[q + 1]; e++) {
    HkReal row[HK_DEVICE_GRIP_REALS];
    hk_world_grip(s, e, row);
    hk_gpu_axpy(row[6], hk_gpu_sub(hk_gpu_vector(row[0], row[1], row[2]), s->x[q]), f);
    hk_gpu_axpy(-row[7], w[q], f);
    hk_gpu_axpy(1, hk_gpu_vector(row[3], row[4], row[5]), f);
  }
}

/* v += h a, x += drift v with forces at velocities w; or predicted = v + h a. */
HK_WORLD void hk_world_kick(HkGpuWorld *s, HkReal h, HkReal drift, const HkGpuVector *w,
                            HkGpuVector *predicted) {
  HK_TEAM_EACH(q, s->n) {
    HkReal b = s->inverse[q];
    HkGpuVector a = hk_gpu_medium_acceleration(s->medium, s->parts, b, s->x[q], w[q]);
    HkGpuVector f = hk_world_pull(s, q, w);
    hk_world_add_grips(s, q, w, &f);
    hk_gpu_axpy(b, f, &a);
    if (s->flat) a.z = 0;
    s->next[q] = s->v[q];
    if (b > 0) hk_gpu_axpy(h, a, &s->next[q]);
  }
  hk_team_sync();
  HK_TEAM_EACH(q, s->n) {
    if (predicted) predicted[q] = s->next[q];
    if (!predicted) s->v[q] = s->next[q];
    if (!predicted && s->inverse[q] > 0) hk_gpu_axpy(drift, s->v[q], &s->x[q]);
  }
  hk_team_sync();
}

/* Moves constrained vertices to where their motions have them; motions NULL: none moves. */
HK_WORLD void hk_world_place_pins(HkGpuWorld *s, const double *motions) {
  HK_TEAM_EACH(q, motions ? s->pin_count : 0) {
    const double *A = motions + HK_DEVICE_MOTION_REALS * s->pin_motion[q];
    const double *x0 = s->pin_x0 + 3 * q;
    double at[3], moves[3];
    if (!s->held[q]) continue;
    for (int c = 0; c < 3; c++) {
      at[c] = A[9 + c] - s->origin[c];
      moves[c] = A[21 + c];
      for (int k = 0; k < 3; k++) {
        at[c] += A[3 * c + k] * x0[k];
        moves[c] += A[12 + 3 * c + k] * x0[k];
      }
    }
    int i = s->pin_vertex[q];
    s->x[i] = hk_gpu_vector((HkReal)at[0], (HkReal)at[1], (HkReal)at[2]);
    s->v[i] = hk_gpu_vector((HkReal)moves[0], (HkReal)moves[1], (HkReal)moves[2]);
  }
  hk_team_sync();
}

/* Symplectic Euler, or Verlet: drift, kick, drift. uses_velocity: forces depend on velocities, so
 * that Verlet predicts those of the middle. */
HK_WORLD void hk_world_step_explicit(HkGpuWorld *s, bool verlet, bool uses_velocity,
                                     const double *middle, const double *end) {
  const HkGpuVector *w = s->v;
  if (verlet) {
    HK_TEAM_EACH(q, s->n) if (s->inverse[q] > 0) hk_gpu_axpy(s->h / 2, s->v[q], &s->x[q]);
    hk_team_sync();
    hk_world_place_pins(s, middle);
    if (uses_velocity) {
      hk_world_kick(s, s->h / 2, 0, w, s->w);
      w = s->w;
    }
  }
  hk_world_kick(s, s->h, verlet ? s->h / 2 : s->h, w, NULL);
  hk_world_place_pins(s, end);
}

/* ---- States ---- */

/* Reads positions (m) and velocities (m/s), three numbers a vertex. */
HK_WORLD void hk_world_load(HkGpuWorld *s, const double *x, const double *v) {
  HK_TEAM_EACH(q, s->n) {
    const double *at = x + 3 * q, *u = v + 3 * q, *o = s->origin;
    s->x[q] = hk_gpu_vector((HkReal)(at[0] - o[0]), (HkReal)(at[1] - o[1]), (HkReal)(at[2] - o[2]));
    s->v[q] = hk_gpu_vector((HkReal)u[0], (HkReal)u[1], (HkReal)u[2]);
    s->inverse[q] = 1 / (HkReal)s->mass[q];
  }
  hk_team_sync();
  HK_TEAM_EACH(q, s->pin_count) if (s->held[q]) s->inverse[s->pin_vertex[q]] = 0;
  hk_team_sync();
}

/* Writes them back; returns the kinetic energy (J). */
HK_WORLD double hk_world_store(const HkGpuWorld *s, double *x, double *v) {
  double kinetic = 0;
  HK_TEAM_EACH(q, s->n) {
    HkGpuVector at = s->x[q], u = s->v[q];
    double *X = x + 3 * q, *V = v + 3 * q;
    X[0] = (double)at.x + s->origin[0];
    X[1] = (double)at.y + s->origin[1];
    X[2] = (double)at.z + s->origin[2];
    V[0] = (double)u.x;
    V[1] = (double)u.y;
    V[2] = (double)u.z;
    kinetic += 0.5 * s->mass[q] * (V[0] * V[0] + V[1] * V[1] + V[2] * V[2]);
  }
  hk_team_reduce(&kinetic, 1, false);
  return kinetic;
}

/* Takes the medium and the grips of a step from rows of HkDeviceWorldsTimes. */
HK_WORLD void hk_world_set_forces(HkGpuWorld *s, const double *moment, const double *grips) {
  HkReal *to = (HkReal *)s->medium;
  if (hk_team_rank() == 0) s->grips = grips;
  HK_TEAM_EACH(q, sizeof *s->medium / sizeof(HkReal)) to[q] = (HkReal)moment[q];
  hk_team_sync();
}

#endif
