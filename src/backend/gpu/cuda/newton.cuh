/* Backward Euler by Newton's method with conjugate gradients, in rows, matrix-free:
 *
 *     H p = r,   x += a p,   H = m' + h^2 sum B + h C,   r = -dg/dx
 *
 * B are the projected Hessians of the springs, so H is positive definite; the preconditioner is the
 * inverse of its 3x3 blocks. An iteration of conjugate gradients is two kernels: the direction with
 * the product and p . H p, and the update with r . z. Each vertex makes the new directions of its
 * neighbours itself, which is cheaper than to write and read them; hence p stands twice. Sums are
 * in double precision, by blocks and in order; the last block to end adds them up, so that no
 * kernel waits for the host, which looks at the residual every few iterations. Where media are more
 * than m' (media.cuh), a third kernel makes their part of the product.
 */
#ifndef HK_CUDA_NEWTON_CUH
#define HK_CUDA_NEWTON_CUH

#include "media.cuh"

namespace HK_SPACE {

/* What the kernels of one solve tell each other. */
struct Scalars {
  double rz, alpha, beta, rr; /* rr: r . r */
  unsigned arrived;
};

struct NewtonArgs {
  DescentArgs step;
  Media media;
  Real4 *p, *p_next; /* direction, of the last iteration and of this one; w: m' */
  Real4 *z;          /* preconditioned residual */
  HkReal *r, *q, *d; /* in three planes: residual, H p, the solution */
  HkReal *inverse;   /* in six planes: blocks of the preconditioner */
  double *part;      /* 2 NEWTON_BLOCKS */
  Scalars *scalars;
};

enum { NEWTON_BLOCKS = 4096 };

/* Two sums over all blocks; the thread that returns true has both, after all others have come. */
static __device__ __forceinline__ bool all_sums(const NewtonArgs &a, double *first,
                                                double *second) {
  __shared__ bool last;
  double one = block_sum(*first), two = block_sum(*second);
  if (threadIdx.x == 0) {
    a.part[blockIdx.x] = one;
    a.part[NEWTON_BLOCKS + blockIdx.x] = two;
    __threadfence();
    last = atomicAdd(&a.scalars->arrived, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return false;
  __threadfence();
  one = two = 0;
  for (int k = threadIdx.x; k < (int)gridDim.x; k += blockDim.x) {
    one += __ldcg(a.part + k);
    two += __ldcg(a.part + NEWTON_BLOCKS + k);
  }
  *first = block_sum(one);
  *second = block_sum(two);
  if (threadIdx.x > 0) return false;
  a.scalars->arrived = 0;
  return true;
}

/* r = -dg/dx, the inverse blocks, z = P r, p = 0 and d = 0. */
template <int PARAMETERS, bool GENERAL>
__global__ void __launch_bounds__(WIDE)
    begin_solve(__grid_constant__ const Springs s, __grid_constant__ const NewtonArgs a) {
  __shared__ HkGpuSpring palette[HK_GPU_PALETTE];
  load_palette(s, palette);
  __syncthreads();
  const uint32_t n = (uint32_t)a.step.n;
  double rz = 0, rr = 0;
  for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    Real4 x = a.step.x[i], y = a.step.y[i];
    HkGpuVector r = {0, 0, 0}, z = {0, 0, 0};
    HkGpuBlock H = {0, 0, 0, 0, 0, 0}, inverse = H;
    look_around<PARAMETERS, GENERAL, 1>(s, a.step, palette, i, 0, x, &r, &H);
    add_form(a.step, i, x, y, &r, &H);
    if (a.step.flat) flatten(&r, &H);
    if (x.w > 0) {
      inverse = hk_gpu_invert(&H);
      z = hk_gpu_times(&inverse, r);
    } else {
      r = z;
    }
    store_block(a.inverse, n, i, inverse);
    plane_store(a.r, n, i, r);
    plane_store(a.d, n, i, hk_gpu_vector(0, 0, 0));
    a.z[i] = Real4{z.x, z.y, z.z, 0};
    a.p[i] = Real4{0, 0, 0, y.w};
    rz += (double)hk_gpu_dot(r, z);
    rr += (double)hk_gpu_dot(r, r);
  }
  if (!all_sums(a, &rz, &rr)) return;
  a.scalars->rz = rz;
  a.scalars->rr = rr;
  a.scalars->beta = 0;
}

/* The direction of this iteration at a vertex, z + beta p. */
static __device__ __forceinline__ HkGpuVector direction(const NewtonArgs &a, HkReal beta,
                                                        uint32_t i) {
  HkGpuVector p = three(a.z[i]);
  hk_gpu_axpy(beta, three(a.p[i]), &p);
  return p;
}

/* q = what media have of H p, to which multiply adds the rest. */
__global__ void __launch_bounds__(WIDE) multiply_media(__grid_constant__ const NewtonArgs a) {
  const uint32_t n = (uint32_t)a.step.n, i = blockIdx.x * blockDim.x + threadIdx.x;
  let_next_come();
  wait_for_last();
  if (i >= n) return;
  const HkReal beta = (HkReal)a.scalars->beta;
  HkGpuVector q = {0, 0, 0};
  media_product(a.media, three(a.step.x[i]), i, direction(a, beta, i),
                [&](uint32_t j) { return direction(a, beta, j); }, &q);
  plane_store(a.q, n, i, q);
}

/* p = z + beta p, q = H p, alpha = r . z / p . q */
template <int PARAMETERS, bool GENERAL>
__global__ void __launch_bounds__(WIDE)
    multiply(__grid_constant__ const Springs s, __grid_constant__ const NewtonArgs a) {
  __shared__ HkGpuSpring palette[HK_GPU_PALETTE];
  const uint32_t PLACE = (1u << HK_GPU_PLACE_BITS) - 1, n = (uint32_t)a.step.n;
  const HkReal h = a.step.h;
  load_palette(s, palette);
  __syncthreads();
  let_next_come();
  wait_for_last();
  const HkReal beta = (HkReal)a.scalars->beta;
  double pq = 0, unused = 0;
  for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    Real4 x = a.step.x[i];
    HkReal weight = a.p[i].w;
    HkGpuVector p = direction(a, beta, i);
    HkGpuVector q = {weight * p.x, weight * p.y, weight * p.z};
    a.p_next[i] = Real4{p.x, p.y, p.z, weight};
    const uint32_t group = i / HK_GPU_ROW;
#pragma unroll 4
    for (int64_t e = s.row_start[group] + i % HK_GPU_ROW; e < s.row_start[group + 1];
         e += HK_GPU_ROW) {
      uint32_t word = __ldcs(s.word + e), j = PARAMETERS == HK_GPU_BY_PALETTE ? word & PLACE : word;
      Beside<PARAMETERS> beside;
      load_beside(s, (uint32_t)e, beside);
      HkGpuSpring spring = spring_of<PARAMETERS>(s, palette, beside, word >> HK_GPU_PLACE_BITS);
      HkGpuVector u = hk_gpu_sub(p, direction(a, beta, j));
      hk_gpu_product(hk_gpu_sub(three(a.step.x[j]), three(x)), spring, h * h, u, &q);
      if (GENERAL && spring.c > 0)
        hk_gpu_damp_product(hk_gpu_sub(three(a.step.ahead[j]), three(a.step.ahead[i])), spring, h,
                            u, &q);
    }
    if (a.step.form) hk_gpu_axpy(1, plane_load(a.q, n, i), &q);
    if (x.w == 0) q = hk_gpu_vector(0, 0, 0);
    if (a.step.flat) q.z = 0;
    plane_store(a.q, n, i, q);
    pq += (double)hk_gpu_dot(q, p);
  }
  if (!all_sums(a, &pq, &unused)) return;
  a.scalars->alpha = pq > 0 ? a.scalars->rz / pq : 0;
}

/* d += alpha p, r -= alpha q, z = P r, beta = new r . z / old */
__global__ void __launch_bounds__(WIDE) update(__grid_constant__ const NewtonArgs a) {
  let_next_come();
  wait_for_last();
  const HkReal alpha = (HkReal)a.scalars->alpha;
  const int64_t n = a.step.n;
  double rz = 0, rr = 0;
  for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n;
       i += (int64_t)gridDim.x * blockDim.x) {
    HkGpuVector d = plane_load(a.d, n, i), r = plane_load(a.r, n, i);
    HkGpuBlock inverse = load_block(a.inverse, n, i);
    hk_gpu_axpy(alpha, three(a.p_next[i]), &d);
    hk_gpu_axpy(-alpha, plane_load(a.q, n, i), &r);
    HkGpuVector z = hk_gpu_times(&inverse, r);
    plane_store(a.d, n, i, d);
    plane_store(a.r, n, i, r);
    a.z[i] = Real4{z.x, z.y, z.z, 0};
    rz += (double)hk_gpu_dot(r, z);
    rr += (double)hk_gpu_dot(r, r);
  }
  if (!all_sums(a, &rz, &rr)) return;
  a.scalars->beta = a.scalars->rz > 0 ? rz / a.scalars->rz : 0;
  a.scalars->rz = rz;
  a.scalars->rr = rr;
}

/* What media have of the change of g when the vertex at x moves by d = t times its direction: the
 * slope of the form that touches g at x, and how g bends. */
static __device__ double media_change(const NewtonArgs &a, uint32_t i, HkGpuVector x, HkReal t,
                                      HkGpuVector d, HkGpuVector from) {
  const Media &m = a.media;
  HkGpuBlock S = load_block(a.step.form, a.step.n, i);
  HkGpuVector bent = {0, 0, 0};
  faces_product(m, i,
                [&](uint32_t j) {
                  HkGpuVector u = plane_load(a.d, a.step.n, j);
                  return hk_gpu_vector(t * u.x, t * u.y, t * u.z);
                },
                &bent);
  double own = (double)hk_gpu_lean_change(&m.moment->medium, m.parts, m.mass[i], m.h, x,
                                          plane_load(m.v, m.n, i), d);
  return (double)hk_gpu_dot(d, hk_gpu_times(&S, from)) + 0.5 * (double)hk_gpu_dot(d, bent) + own;
}

/* The change of g from x to x + t d, each spring half at either end; scalars->alpha = it. */
template <int PARAMETERS, bool GENERAL>
__global__ void __launch_bounds__(WIDE)
    change(__grid_constant__ const Springs s, __grid_constant__ const NewtonArgs a, HkReal t) {
  __shared__ HkGpuSpring palette[HK_GPU_PALETTE];
  const uint32_t PLACE = (1u << HK_GPU_PLACE_BITS) - 1, n = (uint32_t)a.step.n;
  const HkReal h = a.step.h;
  load_palette(s, palette);
  __syncthreads();
  double sum = 0, unused = 0;
  for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    Real4 x = a.step.x[i], y = a.step.y[i];
    HkGpuVector d = plane_load(a.d, n, i), from = hk_gpu_sub(three(x), three(y));
    d = hk_gpu_vector(t * d.x, t * d.y, t * d.z);
    double mine = 0;
    if (x.w > 0)
      mine += (double)y.w * ((double)hk_gpu_dot(d, from) + 0.5 * (double)hk_gpu_dot(d, d));
    if (x.w > 0 && a.step.form) mine += media_change(a, i, three(x), t, d, from);
    const uint32_t group = i / HK_GPU_ROW;
    for (int64_t e = s.row_start[group] + i % HK_GPU_ROW; e < s.row_start[group + 1];
         e += HK_GPU_ROW) {
      uint32_t word = __ldcs(s.word + e), j = PARAMETERS == HK_GPU_BY_PALETTE ? word & PLACE : word;
      Beside<PARAMETERS> beside;
      load_beside(s, (uint32_t)e, beside);
      HkGpuSpring spring = spring_of<PARAMETERS>(s, palette, beside, word >> HK_GPU_PLACE_BITS);
      HkGpuVector other = plane_load(a.d, n, j);
      HkGpuVector moved = hk_gpu_vector(t * other.x - d.x, t * other.y - d.y, t * other.z - d.z);
      HkGpuVector apart = hk_gpu_sub(three(a.step.x[j]), three(x));
      mine += 0.5 * (double)(h * h * hk_gpu_energy_change(apart, moved, spring));
      if (GENERAL && spring.c > 0) {
        HkGpuVector slip = hk_gpu_sub(hk_gpu_sub(three(a.step.x[j]), three(a.step.b[j])),
                                      hk_gpu_sub(three(x), three(a.step.b[i])));
        mine += 0.5 * (double)hk_gpu_damp_change(
                          hk_gpu_sub(three(a.step.ahead[j]), three(a.step.ahead[i])), spring, h,
                          slip, moved);
      }
    }
    sum += mine;
  }
  if (all_sums(a, &sum, &unused)) a.scalars->alpha = sum;
}

/* x += t d */
__global__ void go(__grid_constant__ const NewtonArgs a, HkReal t) {
  int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (i >= a.step.n) return;
  Real4 x = a.step.x[i];
  HkGpuVector d = plane_load(a.d, a.step.n, i);
  a.step.x[i] = Real4{x.x + t * d.x, x.y + t * d.y, x.z + t * d.z, x.w};
}

} // namespace HK_SPACE

#endif
