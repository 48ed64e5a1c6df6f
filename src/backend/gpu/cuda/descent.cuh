/* Backward Euler by vertex block descent (minimize/vertex_block_descent.c) and by Jacobi's method
 * with Chebyshev's acceleration (minimize/jacobi.c), in rows:
 *
 *     H p = r,   r = m' (y' - x) + h^2 sum s d + damping
 *
 * for each vertex; H has the projected Hessians of the springs. Descent does x += p in place, all
 * vertices of a color at once. Jacobi does x+ = x_old + omega (x + weight p - x_old), all vertices
 * at once, into another array. The second array of positions holds b, the positions at the start of
 * the step. If media have anisotropic terms, y is the minimum of a quadratic majorizer with Hessian
 * S + m': media.cuh.
 */
#ifndef HK_CUDA_DESCENT_CUH
#define HK_CUDA_DESCENT_CUH

#include "around.cuh"
#include "backend/gpu/stage.h"

namespace HK_SPACE {

struct DescentArgs {
  int n, first, last; /* places of this color */
  HkReal h;
  int flat;
  Real4 *x;
  const Real4 *b;
  const Real4 *y;     /* y' and m', or the majorizer's minimum and m' */
  const HkReal *form; /* S in six planes; NULL: 0 */
  const Real4 *before; /* bdf2 with damped springs: x one step before b; NULL: b alone counts */
  HkReal now, old;     /* HkGpuStage */
  const HkReal *v;     /* velocities at b if the step is one linear system; NULL otherwise */
};

static __device__ __forceinline__ void store_block(HkReal *to, int64_t n, int64_t q,
                                                   const HkGpuBlock &B) {
  to[q] = B.xx;
  to[q + n] = B.yy;
  to[q + 2 * n] = B.zz;
  to[q + 3 * n] = B.xy;
  to[q + 4 * n] = B.xz;
  to[q + 5 * n] = B.yz;
}

static __device__ __forceinline__ HkGpuBlock load_block(const HkReal *from, int64_t n, int64_t q) {
  return HkGpuBlock{__ldcs(from + q),         __ldcs(from + q + n),     __ldcs(from + q + 2 * n),
                    __ldcs(from + q + 3 * n), __ldcs(from + q + 4 * n), __ldcs(from + q + 5 * n)};
}

/* Computes y' and m' of each vertex; b = x, x = ahead = x + h v. */
__global__ void begin_step(int n, HkReal h, const HkGpuMoment *moment, const HkReal *mass, Real4 *x,
                           const HkReal *v, Real4 *b, Real4 *ahead, Real4 *y) {
  int64_t q = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  let_next_come();
  wait_for_last();
  if (q >= n) return;
  Real4 at = x[q], next = at;
  HkGpuVector u = plane_load(v, n, q), goal;
  HkReal weight = hk_gpu_anchor(&moment->medium, mass[q], h, three(at), u, &goal);
  b[q] = at;
  y[q] = Real4{goal.x, goal.y, goal.z, weight};
  if (at.w > 0) next = Real4{at.x + h * u.x, at.y + h * u.y, at.z + h * u.z, at.w};
  x[q] = next;
  if (ahead) ahead[q] = next;
}

__global__ void anchor_grips(Grips g, HkReal h, const HkReal *table, const Real4 *b, Real4 *y) {
  int64_t q = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  let_next_come();
  wait_for_last();
  if (q >= g.count) return;
  int64_t i = g.place[q];
  Real4 at = y[i];
  HkGpuVector goal = three(at);
  for (int e = g.start[q]; e < g.start[q + 1]; e++)
    hk_gpu_anchor_grip(table + HK_DEVICE_GRIP_REALS * g.grip[e], h, three(b[i]), &at.w, &goal);
  y[i] = Real4{goal.x, goal.y, goal.z, at.w};
}

/* Sets constrained vertices: x is their position at the end of the step, b such that (x - b) / h is
 * their velocity. */
__global__ void begin_pins(Pins p, int n, HkReal h, const Real4 *x, const HkReal *v, Real4 *b,
                           Real4 *ahead) {
  int64_t q = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  let_next_come();
  wait_for_last();
  if (q >= p.count || !p.held[q]) return;
  int64_t i = p.place[q];
  HkGpuVector u = plane_load(v, n, i);
  Real4 at = x[i];
  b[i] = Real4{at.x - h * u.x, at.y - h * u.y, at.z - h * u.z, 0};
  if (ahead) ahead[i] = at;
}

/* Position of a vertex, and its position at the start of the step if springs are damped. */
template <bool GENERAL> struct Looking {
  HkGpuVector x, b;
  HkReal h;
};

template <bool GENERAL>
static __device__ __forceinline__ Looking<GENERAL> look_from(const DescentArgs &a, uint32_t q,
                                                             const Real4 &x) {
  Looking<GENERAL> from = {three(x), {0, 0, 0}, a.h};
  if (GENERAL) from.b = three(a.b[q]);
  return from;
}

/* r and H += the terms of the spring p to the vertex at place j, whose position is `near`. */
template <bool GENERAL>
static __device__ __forceinline__ void look_at(const DescentArgs &a, const Looking<GENERAL> &from,
                                               uint32_t j, const Real4 &near, const HkGpuSpring &p,
                                               HkGpuVector *r, HkGpuBlock *H) {
  HkGpuSpring spring = p;
  if (GENERAL && p.c > 0) spring = hk_gpu_with_damper(p, hk_gpu_sub(three(a.b[j]), from.b), from.h);
  hk_gpu_spring_force_and_hessian(hk_gpu_sub(three(near), from.x), spring, from.h * from.h, r, H);
}

/* Returns the damped spring p of vertex i with its damper, or without it where it is idle: its c is
 * above 0 then. b: the difference of the ends in a.b, other(): the place of the neighbor. */
template <class F>
static __device__ __forceinline__ HkGpuSpring
with_damper(const DescentArgs &a, const HkGpuSpring &p, const HkGpuVector &b, uint32_t i, F other) {
  if (!a.before && !a.v) return hk_gpu_with_damper(p, b, a.h);
  const uint32_t j = other();
  if (a.v && hk_gpu_is_idle(p, b, hk_gpu_sub(plane_load(a.v, a.n, j), plane_load(a.v, a.n, i))))
    return p;
  if (!a.before) return hk_gpu_with_damper(p, b, a.h);
  HkGpuVector old = hk_gpu_sub(three(a.before[j]), three(a.before[i]));
  return hk_gpu_with_damper_from(p, hk_gpu_length_before(p, a.now, b, a.old, old), a.h);
}

/* Adds r and H up over the LANES threads of a vertex. */
template <int LANES>
static __device__ __forceinline__ void add_lanes(HkGpuVector *r, HkGpuBlock *H) {
#pragma unroll
  for (int o = LANES / 2; o > 0; o /= 2) {
    HkReal *all[] = {&r->x, &r->y, &r->z, &H->xx, &H->yy, &H->zz, &H->xy, &H->xz, &H->yz};
#pragma unroll
    for (int k = 0; k < 9; k++) *all[k] += __shfl_xor_sync(~0u, *all[k], o);
  }
}

/* Constrains z in two dimensions. */
static __device__ __forceinline__ void flatten(HkGpuVector *r, HkGpuBlock *H) {
  r->z = H->xz = H->yz = 0;
  H->zz = 1;
}

/* r and H += the terms of inertia and media. */
static __device__ __forceinline__ void add_form(const DescentArgs &a, uint32_t q, const Real4 &x,
                                                const Real4 &y, HkGpuVector *r, HkGpuBlock *H) {
  HkGpuBlock S;
  if (a.form) S = load_block(a.form, a.n, q);
  hk_gpu_add_majorizer(y.w, three(y), a.form ? &S : NULL, three(x), r, H);
}

/* Computes r and H of the vertex at place q, in rows or bricks. */
template <int PARAMETERS, bool GENERAL>
static __device__ __forceinline__ void
look_around(const Springs &s, const DescentArgs &a, const HkGpuSpring *palette, const Brick &brick,
            uint32_t q, const Real4 &x, const Real4 &y, HkGpuVector *r, HkGpuBlock *H) {
  Looking<GENERAL> from = look_from<GENERAL>(a, q, x);
  visit_all<PARAMETERS>(
      s, (uint32_t)a.n, brick, q, a.x,
      [&](uint32_t j, const Real4 &near, const Beside<PARAMETERS> &beside, uint32_t number) {
        look_at(a, from, j, near, spring_of<PARAMETERS>(s, palette, beside, number), r, H);
      });
  add_form(a, q, x, y, r, H);
}

/* Returns p of the vertex that LANES threads share; valid in the first of them. */
template <bool GENERAL, int PARAMETERS, int LANES, int SLOTS>
static __device__ __forceinline__ HkGpuVector own_step(const Springs &s, const DescentArgs &a,
                                                       const HkGpuSpring *palette,
                                                       const Row<PARAMETERS, LANES, SLOTS> &row,
                                                       uint32_t q, const Real4 &x) {
  Real4 y = a.y[q];
  HkGpuVector r = {0, 0, 0};
  HkGpuBlock H = {0, 0, 0, 0, 0, 0};
  Looking<GENERAL> from = look_from<GENERAL>(a, q, x);
  visit_row(s, row, a.x,
            [&](uint32_t j, const Real4 &near, const Beside<PARAMETERS> &beside, uint32_t number) {
              look_at(a, from, j, near, spring_of<PARAMETERS>(s, palette, beside, number), &r, &H);
            });
  add_lanes<LANES>(&r, &H);
  add_form(a, q, x, y, &r, &H);
  if (a.flat) flatten(&r, &H);
  return hk_gpu_solve(&H, r);
}

template <int PARAMETERS, bool GENERAL, int LANES, int SLOTS>
__global__ void __launch_bounds__(ROW_THREADS)
    descend(__grid_constant__ const Springs s, __grid_constant__ const DescentArgs a) {
  __shared__ HkGpuSpring palette[HK_GPU_PALETTE_SIZE];
  const uint32_t t = blockIdx.x * blockDim.x + threadIdx.x;
  const uint32_t wanted = (uint32_t)a.first + t / LANES;
  const uint32_t q = wanted < (uint32_t)a.last ? wanted : (uint32_t)a.last - 1;
  const int lane = (int)(t % LANES);
  Row<PARAMETERS, LANES, SLOTS> row;
  load_palette(s, palette);
  load_row(s, q, lane, &row);
  __syncthreads();
  let_next_come();
  wait_for_last();
  Real4 x = a.x[q];
  HkGpuVector p = own_step<GENERAL>(s, a, palette, row, q, x);
  if (lane > 0 || wanted >= (uint32_t)a.last || x.w == 0) return;
  a.x[q] = Real4{x.x + p.x, x.y + p.y, x.z + p.z, x.w};
}

/* next = before + omega (x + weight p - before) */
template <int PARAMETERS, bool GENERAL, int LANES, int SLOTS>
__global__ void __launch_bounds__(ROW_THREADS)
    relax(__grid_constant__ const Springs s, __grid_constant__ const DescentArgs a, HkReal weight,
          HkReal omega, const Real4 *before, Real4 *next) {
  __shared__ HkGpuSpring palette[HK_GPU_PALETTE_SIZE];
  const uint32_t t = blockIdx.x * blockDim.x + threadIdx.x, n = (uint32_t)a.n;
  const uint32_t q = t / LANES < n ? t / LANES : n - 1;
  const int lane = (int)(t % LANES);
  Row<PARAMETERS, LANES, SLOTS> row;
  load_palette(s, palette);
  load_row(s, q, lane, &row);
  __syncthreads();
  let_next_come();
  wait_for_last();
  Real4 x = a.x[q], old = before[q];
  HkGpuVector p = own_step<GENERAL>(s, a, palette, row, q, x);
  if (lane > 0 || t / LANES >= n) return;
  HkReal part = x.w > 0 ? weight : 0, by = x.w > 0 ? omega : 1;
  next[q] = Real4{old.x + by * (x.x + part * p.x - old.x), old.y + by * (x.y + part * p.y - old.y),
                  old.z + by * (x.z + part * p.z - old.z), x.w};
  if (x.w == 0) next[q] = x;
}

/* Returns the largest value over the threads of a block in thread 0. */
static __device__ __forceinline__ double block_max(double a) {
  __shared__ double part[32];
  for (int o = 16; o > 0; o /= 2) a = fmax(a, __shfl_xor_sync(~0u, a, o));
  __syncthreads();
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = a;
  __syncthreads();
  for (int w = 0; threadIdx.x == 0 && w < (int)blockDim.x / 32; w++) a = fmax(a, part[w]);
  return a;
}

/* Computes the parts of the stopping criterion, SUM_BLOCKS of each (minimize/stopping.c): sums of
 * |dg/dx_i|^2 / m_i and of m_i |x_i - b_i|^2 over the free vertices, the largest displacement
 * H_ii^-1 r_i of a single vertex in m, and the largest coordinate. x.w is 1 / m_i. */
template <int PARAMETERS, bool GENERAL>
__global__ void convergence_parts(__grid_constant__ const Springs s,
                                  __grid_constant__ const DescentArgs a, double *part) {
  __shared__ HkGpuSpring palette[HK_GPU_PALETTE_SIZE];
  load_palette(s, palette);
  __syncthreads();
  double sum[2] = {0, 0}, most[2] = {0, 0};
  for_vertices(s, (uint32_t)a.n, [&](uint32_t q, const Brick &brick) {
    Real4 x = a.x[q], y = a.y[q];
    HkGpuVector r = {0, 0, 0}, moved = hk_gpu_sub(three(x), three(a.b[q]));
    HkGpuBlock H = {0, 0, 0, 0, 0, 0};
    if (x.w == 0) return;
    look_around<PARAMETERS, GENERAL>(s, a, palette, brick, q, x, y, &r, &H);
    double diagonal = ((double)H.xx + (double)H.yy + (double)H.zz) / 3;
    if (a.flat) flatten(&r, &H);
    double square = (double)hk_gpu_dot(r, r);
    sum[0] += square * (double)x.w;
    sum[1] += (double)hk_gpu_dot(moved, moved) / (double)x.w;
    most[0] = fmax(most[0], sqrt(square) / diagonal);
    most[1] = fmax(most[1], fmax(fabs((double)x.x), fmax(fabs((double)x.y), fabs((double)x.z))));
  });
  for (int k = 0; k < 2; k++) {
    double all = block_sum(sum[k]), largest = block_max(most[k]);
    if (threadIdx.x > 0) continue;
    part[k * SUM_BLOCKS + blockIdx.x] = all;
    part[(k + 2) * SUM_BLOCKS + blockIdx.x] = largest;
  }
}

/* v = (x - b) / h */
__global__ void end_step(int n, HkReal h, const Real4 *x, const Real4 *b, HkReal *v) {
  int64_t q = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  let_next_come();
  wait_for_last();
  if (q >= n || x[q].w == 0) return;
  HkGpuVector d = hk_gpu_sub(three(x[q]), three(b[q]));
  plane_store(v, n, q, hk_gpu_vector(d.x / h, d.y / h, d.z / h));
}

} // namespace HK_SPACE

#endif
