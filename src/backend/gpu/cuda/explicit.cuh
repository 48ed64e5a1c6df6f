/* Kick and drift, as step/kick.h has them:
 *
 *     v+ = v + h (M^-1 f(x, w) + a(x, w)),   x+ = x + drift v+
 *
 * f is the force of springs, faces and grips, a the acceleration by the medium. w are the
 * velocities at which forces are evaluated: v, or in verlet those predicted for the middle of the
 * step. Constrained vertices (inverse mass 0) stay as they are. x+ is written to a second array,
 * since neighbors still read x; so is v+ if springs are damped, since they read the velocities of
 * neighbors.
 *
 * Bytes of a step a vertex, in single precision with plain springs: x 16 and v 12, each read and
 * written, 56; and 2 a half spring by palette in bricks (with 4 + 16 for each vertex of a halo), or
 * 4 in rows.
 */
#ifndef HK_CUDA_EXPLICIT_CUH
#define HK_CUDA_EXPLICIT_CUH

#include "springs.cuh"

namespace HK_SPACE {

struct KickArgs {
  int n;
  HkReal h, drift;
  int flat, parts; /* parts: terms of the medium (backend/gpu/media.h) */
  int predicts;    /* writes only w+ = v + h (...), to v_out */
  const HkGpuMoment *moment;
  const Real4 *x;
  Real4 *x_out;
  const HkReal *v, *w; /* in three planes */
  HkReal *v_out;
  const HkReal *push; /* N, in three planes; NULL: none */
};

static __device__ __forceinline__ HkGpuVector plane_load(const HkReal *p, int64_t n, int64_t q) {
  return hk_gpu_vector(p[q], p[q + n], p[q + 2 * n]);
}

static __device__ __forceinline__ void plane_store(HkReal *p, int64_t n, int64_t q,
                                                   const HkGpuVector &a) {
  p[q] = a.x;
  p[q + n] = a.y;
  p[q + 2 * n] = a.z;
}

/* Returns v+ of a vertex at x with force f (N). */
static __device__ __forceinline__ HkGpuVector kicked(const KickArgs &a, const HkGpuMoment *moment,
                                                     const Real4 &x, const HkGpuVector &f,
                                                     const HkGpuVector &v, const HkGpuVector &w,
                                                     const HkGpuVector &g) {
  HkGpuVector u =
      a.parts ? hk_gpu_medium_acceleration(&moment->medium, a.parts, x.w, three(x), w) : g;
  hk_gpu_axpy(x.w, f, &u);
  if (a.flat) u.z = 0;
  HkGpuVector after = v;
  hk_gpu_axpy(x.w > 0 ? a.h : 0, u, &after);
  return after;
}

static __device__ __forceinline__ Real4 drifted(const Real4 &x, HkReal drift,
                                                const HkGpuVector &v) {
  HkReal by = x.w > 0 ? drift : 0;
  return Real4{x.x + by * v.x, x.y + by * v.y, x.z + by * v.z, x.w};
}

/* Writes v+ and x+ of the vertex at place q. */
static __device__ __forceinline__ void kick_vertex(const KickArgs &a, int64_t q, const Real4 &x,
                                                   HkGpuVector f, const HkGpuVector &v,
                                                   const HkGpuVector &w, const HkGpuVector &g) {
  if (a.push) hk_gpu_axpy(1, plane_load(a.push, a.n, q), &f);
  HkGpuVector after = kicked(a, a.moment, x, f, v, w, g);
  plane_store(a.v_out, a.n, q, after);
  if (!a.predicts) a.x_out[q] = drifted(x, a.drift, after);
}

/* GENERAL springs may be damped or tension-only; all others are plain. */
template <bool GENERAL> struct Palette { typedef Stiff Entry; };
template <> struct Palette<true> { typedef HkGpuSpring Entry; };

/* f += the force of one spring. */
template <int PARAMETERS, bool GENERAL>
static __device__ __forceinline__ void
pull(const Springs &s, const typename Palette<GENERAL>::Entry *palette,
     const Beside<PARAMETERS> &beside, uint32_t number, const HkGpuVector &d, const HkGpuVector &dw,
     HkGpuVector *f) {
  if constexpr (GENERAL) {
    hk_gpu_damped_spring_force(d, dw, spring_of<PARAMETERS>(s, palette, beside, number), f);
  } else {
    Stiff p = stiff_of(s, palette, beside, number);
    hk_gpu_spring_force(d, p.k, p.kl0, f);
  }
}

/* ---- Bricks ---- */

/* Returns the bytes of shared memory of a block: the palette, positions, and velocities if GENERAL.
 */
static size_t brick_shared(int most_local, bool general) {
  return sizeof(HkGpuSpring) * HK_GPU_PALETTE_SIZE + (general ? 2 : 1) * sizeof(Real4) * most_local;
}

/* Smallest number of resident blocks of a multiprocessor: with more of them, a thread has fewer
 * registers, of which numbers in double precision take two. */
template <int PARAMETERS, bool GENERAL, int WORDS> static constexpr int blocks_of() {
  const int most = PARAMETERS == HK_GPU_BY_PALETTE && !GENERAL && WORDS <= 6 ? 3 : 2;
  return sizeof(HkReal) == 8 ? most - 1 : most;
}

/* One block a brick, one thread a vertex. Data that does not change from step to step is loaded
 * before the previous kernel ends. EXACT: every vertex has all slots. */
template <int PARAMETERS, bool GENERAL, int WORDS, bool EXACT>
__global__ void __launch_bounds__(HK_GPU_BRICK, (blocks_of<PARAMETERS, GENERAL, WORDS>()))
    kick_bricks(__grid_constant__ const Springs s, __grid_constant__ const KickArgs a) {
  typedef typename Palette<GENERAL>::Entry Entry;
  extern __shared__ __align__(16) unsigned char shared[];
  Entry *palette = (Entry *)shared;
  Real4 *sx = (Real4 *)(shared + sizeof(HkGpuSpring) * HK_GPU_PALETTE_SIZE);
  const int t = threadIdx.x;
  const Brick brick = brick_at(s, blockIdx.x);
  const bool mine = t < brick.own;
  const uint32_t n = (uint32_t)a.n, q = (uint32_t)(brick.first + t);
  Real4 *sw = sx + brick.own + brick.outside;
  BrickRow<PARAMETERS, WORDS, EXACT> row;
  load_palette(s, palette);
  if (mine) load_row(s, n, q, &row);
  const HkGpuVector g = a.moment->medium.g;
  int next = t < brick.outside ? brick.halo[t] : 0;
  let_next_come();
  wait_for_last();
  Real4 x = {0, 0, 0, 0};
  HkGpuVector v = {0, 0, 0}, w = {0, 0, 0}, f = {0, 0, 0};
  if (mine) {
    x = a.x[q];
    sx[t] = x;
    v = plane_load(a.v, n, q);
    w = a.w == a.v ? v : plane_load(a.w, n, q);
    if (GENERAL) sw[t] = Real4{w.x, w.y, w.z, 0};
  }
  for (int k = t; k < brick.outside; k += blockDim.x) {
    if (k != t) next = brick.halo[k];
    sx[brick.own + k] = a.x[next];
    if (GENERAL) {
      HkGpuVector u = plane_load(a.w, n, next);
      sw[brick.own + k] = Real4{u.x, u.y, u.z, 0};
    }
  }
  __syncthreads();
  if (!mine) return;
  visit_row(s, n, q, &row, [&](uint32_t word, int k, const Beside<PARAMETERS> &beside) {
    HkGpuVector d = hk_gpu_sub(three(near_in(sx, word, k)), three(x)), dw = {0, 0, 0};
    if (GENERAL) dw = hk_gpu_sub(three(near_in(sw, word, k)), w);
    pull<PARAMETERS, GENERAL>(s, palette, beside, number_in(word, k), d, dw, &f);
  });
  kick_vertex(a, q, x, f, v, w, g);
}

/* ---- Rows ---- */

enum { ROW_THREADS = 128 };

/* LANES threads share the springs of a vertex. */
template <int PARAMETERS, bool GENERAL, int LANES, int SLOTS>
__global__ void __launch_bounds__(ROW_THREADS)
    kick_rows(__grid_constant__ const Springs s, __grid_constant__ const KickArgs a) {
  typedef typename Palette<GENERAL>::Entry Entry;
  __shared__ Entry palette[HK_GPU_PALETTE_SIZE];
  const uint32_t t = blockIdx.x * blockDim.x + threadIdx.x, n = (uint32_t)a.n;
  const uint32_t q = t / LANES < n ? t / LANES : n - 1;
  const int lane = (int)(t % LANES);
  Row<PARAMETERS, LANES, SLOTS> row;
  load_palette(s, palette);
  load_row(s, q, lane, &row);
  const HkGpuVector g = a.moment->medium.g;
  __syncthreads();
  let_next_come();
  wait_for_last();
  Real4 x = a.x[q];
  HkGpuVector v = plane_load(a.v, n, q), w = a.w == a.v ? v : plane_load(a.w, n, q);
  HkGpuVector f = {0, 0, 0};
  visit_row(s, row, a.x,
            [&](uint32_t j, const Real4 &near, const Beside<PARAMETERS> &beside, uint32_t number) {
              HkGpuVector dw = {0, 0, 0};
              if (GENERAL) dw = hk_gpu_sub(plane_load(a.w, n, j), w);
              pull<PARAMETERS, GENERAL>(s, palette, beside, number,
                                        hk_gpu_sub(three(near), three(x)), dw, &f);
            });
#pragma unroll
  for (int o = LANES / 2; o > 0; o /= 2) {
    f.x += __shfl_xor_sync(~0u, f.x, o);
    f.y += __shfl_xor_sync(~0u, f.y, o);
    f.z += __shfl_xor_sync(~0u, f.z, o);
  }
  if (lane == 0 && t / LANES < n) kick_vertex(a, q, x, f, v, w, g);
}

/* ---- Two steps in one kernel ---- */

/* Returns the bytes of shared memory: palette, positions before the first step, and after it. */
static size_t twice_shared(int most_local, int most_rows) {
  return sizeof(Stiff) * HK_GPU_PALETTE_SIZE + sizeof(Real4) * (size_t)(most_local + most_rows);
}

/* One block a brick with two halos, one thread a row; for plain springs by palette. The first step
 * moves the brick and its first halo, the second one only the brick, which then drifts by a.drift;
 * `once`: there is no first step. */
template <int WORDS, bool EXACT>
__global__ void __launch_bounds__(HK_GPU_TWO_STEP_MAX_ROWS, WORDS <= 6 ? 2 : 1)
    kick_twice(__grid_constant__ const Springs s, __grid_constant__ const KickArgs a, int once) {
  extern __shared__ __align__(16) unsigned char shared[];
  Stiff *palette = (Stiff *)shared;
  Real4 *before = (Real4 *)(shared + sizeof(Stiff) * HK_GPU_PALETTE_SIZE);
  const int t = threadIdx.x;
  const Brick brick = brick_at(s, blockIdx.x);
  const int rows = brick.own + (once ? 0 : s.near[blockIdx.x]), all = brick.own + brick.outside;
  const bool moves = t < rows;
  const uint32_t n = (uint32_t)a.n, row_of = (uint32_t)s.brick_row[blockIdx.x] + (uint32_t)t;
  Real4 *after = before + all;
  BrickRow<HK_GPU_BY_PALETTE, WORDS, EXACT> row;
  load_palette(s, palette);
  if (moves) load_row(s, (uint32_t)s.rows, row_of, &row);
  int place = brick.first + t;
  if (t >= brick.own) place = t < all ? brick.halo[t - brick.own] : 0;
  const uint32_t q = (uint32_t)place;
  const HkGpuVector first_g = a.moment[0].medium.g, g = a.moment[once ? 0 : 1].medium.g;
  let_next_come();
  wait_for_last();
  Real4 x = {0, 0, 0, 0};
  HkGpuVector v = {0, 0, 0};
  if (t < all) before[t] = x = a.x[q];
  if (moves) v = plane_load(a.v, n, q);
  for (int k = t + (int)blockDim.x; k < all; k += (int)blockDim.x)
    before[k] = a.x[brick.halo[k - brick.own]];
  __syncthreads();
  auto pulled = [&](const Real4 *from) {
    HkGpuVector f = {0, 0, 0};
    visit_row(s, n, q, &row, [&](uint32_t word, int k, const Beside<HK_GPU_BY_PALETTE> &) {
      Stiff p = palette[number_in(word, k)];
      hk_gpu_spring_force(hk_gpu_sub(three(near_in(from, word, k)), three(x)), p.k, p.kl0, &f);
    });
    return f;
  };
  if (!once) {
    if (moves) {
      v = kicked(a, a.moment, x, pulled(before), v, v, first_g);
      after[t] = x = drifted(x, a.h, v);
    }
    __syncthreads();
  }
  if (t >= brick.own) return;
  HkGpuVector f = pulled(once ? before : after);
  v = kicked(a, a.moment + (once ? 0 : 1), x, f, v, v, g);
  plane_store(a.v_out, n, q, v);
  a.x_out[q] = drifted(x, a.drift, v);
}

/* ---- Drift ---- */

/* x += drift v; constrained vertices stay. */
__global__ void drift_only(int n, HkReal drift, Real4 *x, const HkReal *v) {
  int64_t q = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  let_next_come();
  wait_for_last();
  if (q >= n) return;
  x[q] = drifted(x[q], drift, plane_load(v, n, q));
}

} // namespace HK_SPACE

#endif
