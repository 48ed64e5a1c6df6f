/* Kick and drift, as step/kick.h has them:
 *
 *     v+ = v + h (M^-1 f(x, w) + a(x, w)),   x+ = x + drift v+
 *
 * f are the springs and what else was pushed before (faces, grips), a what the medium does to each
 * vertex. w are the velocities that forces go by: v, or in verlet those predicted for the middle of
 * the step. Held vertices (inverse mass 0) stay as they are. x+ goes to another array, since
 * neighbours still read x; so does v+ where springs are damped by the velocities of neighbours.
 *
 * Bytes of a step in single precision, plain springs: x 16, v 12, both ways, and the words: 56 + 2
 * a half spring by palette in bricks (and 4 + 16 for each vertex of a halo), 4 in rows.
 */
#ifndef HK_CUDA_EXPLICIT_CUH
#define HK_CUDA_EXPLICIT_CUH

#include "springs.cuh"

namespace HK_SPACE {

struct KickArgs {
  int n;
  HkReal h, drift;
  int flat, parts; /* parts: of the medium */
  int predicts; /* w+ = v + h (...) alone is written, to v_out */
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

/* Of the vertex at place q, at x, on which its springs pull with f. */
static __device__ __forceinline__ void kick_vertex(const KickArgs &a, int64_t q, const Real4 &x,
                                                   HkGpuVector f, const HkGpuVector &v,
                                                   const HkGpuVector &w) {
  if (a.push) hk_gpu_axpy(1, plane_load(a.push, a.n, q), &f);
  HkGpuVector u = hk_gpu_medium(&a.moment->medium, a.parts, x.w, three(x), w);
  hk_gpu_axpy(x.w, f, &u);
  HkReal h = x.w > 0 ? a.h : 0, drift = x.w > 0 ? a.drift : 0;
  if (a.flat) u.z = 0;
  HkGpuVector after = v;
  hk_gpu_axpy(h, u, &after);
  plane_store(a.v_out, a.n, q, after);
  if (a.predicts) return;
  Real4 moved = {x.x + drift * after.x, x.y + drift * after.y, x.z + drift * after.z, x.w};
  a.x_out[q] = moved;
}

/* ---- Bricks ---- */

/* What a block keeps in its fast memory: the palette, positions, velocities if they are needed. */
static size_t brick_shared(int most_local, bool damped) {
  return sizeof(HkGpuSpring) * HK_GPU_PALETTE + (damped ? 2 : 1) * sizeof(Real4) * most_local;
}

/* One block for each brick, one thread for each vertex. WORDS of each vertex are loaded before the
 * kernel before this one ends; GENERAL: there are damped springs or threads. */
template <int PARAMETERS, bool GENERAL, int WORDS>
__global__ void __launch_bounds__(HK_GPU_BRICK, 2)
    kick_bricks(__grid_constant__ const Springs s, __grid_constant__ const KickArgs a) {
  extern __shared__ __align__(16) unsigned char shared[];
  HkGpuSpring *palette = (HkGpuSpring *)shared;
  Real4 *sx = (Real4 *)(palette + HK_GPU_PALETTE);
  const int t = threadIdx.x, first = s.brick[blockIdx.x], own = s.brick[blockIdx.x + 1] - first;
  const int64_t halo = s.halo_start[blockIdx.x], n = a.n;
  const int outside = (int)(s.halo_start[blockIdx.x + 1] - halo);
  const bool mine = t < own;
  const int64_t q = first + t;
  Real4 *sw = sx + own + outside;
  uint32_t word[WORDS];
  load_palette(s, palette);
#pragma unroll
  for (int k = 0; k < WORDS; k++)
    if (mine && 2 * k < s.slots) word[k] = __ldcs(s.word + k * n + q);
  int next = t < outside ? s.halo[halo + t] : 0;
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
  for (int k = t; k < outside; k += HK_GPU_BRICK) {
    if (k != t) next = s.halo[halo + k];
    sx[own + k] = a.x[next];
    if (GENERAL) {
      HkGpuVector u = plane_load(a.w, n, next);
      sw[own + k] = Real4{u.x, u.y, u.z, 0};
    }
  }
  __syncthreads();
  if (!mine) return;
  const uint32_t LOCAL = (1u << HK_GPU_LOCAL_BITS) - 1;
#pragma unroll
  for (int k = 0; k < 2 * WORDS; k++) {
    if (k >= s.slots) break;
    uint32_t half = k % 2 ? word[k / 2] >> 16 : word[k / 2] & 0xffff;
    HkGpuVector d = hk_gpu_sub(three(sx[half & LOCAL]), three(x));
    if (GENERAL) {
      HkGpuSpring p =
          spring_at<PARAMETERS>(s, palette, k * n + q, half >> HK_GPU_LOCAL_BITS);
      hk_gpu_pull_damped(d, hk_gpu_sub(three(sw[half & LOCAL]), w), p, &f);
    } else {
      HkGpuSpring p =
          spring_at<PARAMETERS>(s, palette, k * n + q, half >> HK_GPU_LOCAL_BITS);
      hk_gpu_pull(d, p.k, p.kl0, &f);
    }
  }
  kick_vertex(a, q, x, f, v, w);
}

/* ---- Rows ---- */

/* LANES threads for each vertex share its springs. */
template <int PARAMETERS, bool GENERAL, int LANES>
__global__ void __launch_bounds__(256)
    kick_rows(__grid_constant__ const Springs s, __grid_constant__ const KickArgs a) {
  __shared__ HkGpuSpring palette[HK_GPU_PALETTE];
  load_palette(s, palette);
  __syncthreads();
  const int64_t t = blockIdx.x * (int64_t)blockDim.x + threadIdx.x, n = a.n;
  const int64_t q = t / LANES < n ? t / LANES : n - 1;
  const int lane = (int)(t % LANES);
  const int64_t group = q / HK_GPU_ROW;
  const int64_t begin = s.row_start[group] + q % HK_GPU_ROW, end = s.row_start[group + 1];
  const uint32_t PLACE = (1u << HK_GPU_PLACE_BITS) - 1;
  let_next_come();
  wait_for_last();
  Real4 x = a.x[q];
  HkGpuVector v = plane_load(a.v, n, q), w = a.w == a.v ? v : plane_load(a.w, n, q);
  HkGpuVector f = {0, 0, 0};
#pragma unroll 4
  for (int64_t e = begin + lane * HK_GPU_ROW; e < end; e += LANES * HK_GPU_ROW) {
    uint32_t word = s.word[e];
    uint32_t j = PARAMETERS == HK_GPU_BY_PALETTE ? word & PLACE : word;
    HkGpuSpring p = spring_at<PARAMETERS>(s, palette, e, word >> HK_GPU_PLACE_BITS);
    HkGpuVector d = hk_gpu_sub(three(a.x[j]), three(x));
    if (GENERAL)
      hk_gpu_pull_damped(d, hk_gpu_sub(plane_load(a.w, n, j), w), p, &f);
    else
      hk_gpu_pull(d, p.k, p.kl0, &f);
  }
#pragma unroll
  for (int o = LANES / 2; o > 0; o /= 2) {
    f.x += __shfl_xor_sync(~0u, f.x, o);
    f.y += __shfl_xor_sync(~0u, f.y, o);
    f.z += __shfl_xor_sync(~0u, f.z, o);
  }
  if (lane == 0 && t / LANES < n) kick_vertex(a, q, x, f, v, w);
}

/* x+ = x + drift v, in place; held vertices stay. */
__global__ void drift_only(int n, HkReal drift, Real4 *x, const HkReal *v) {
  int64_t q = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  let_next_come();
  wait_for_last();
  if (q >= n) return;
  Real4 p = x[q];
  HkReal d = p.w > 0 ? drift : 0;
  HkGpuVector u = plane_load(v, n, q);
  x[q] = Real4{p.x + d * u.x, p.y + d * u.y, p.z + d * u.z, p.w};
}

} // namespace HK_SPACE

#endif
