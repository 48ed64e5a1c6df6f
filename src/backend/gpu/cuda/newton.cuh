/* Backward Euler by Newton's method with conjugate gradients, matrix-free, in rows or bricks:
 *
 *     H p = r,   x += a p,   H = m' + h^2 sum B + h C,   r = -dg/dx
 *
 * B are the projected Hessians of the springs, so H is positive definite; the preconditioner is the
 * inverse of its 3x3 blocks. An iteration of conjugate gradients is two kernels: the direction with
 * the product and p . H p, and the update with r . z. Each thread recomputes the new directions of
 * its neighbors, which is cheaper than another pass over memory; hence there are two arrays p. Sums
 * are in double precision, by blocks and in a fixed order; the last block to end adds them up, so
 * that no kernel waits for the host, which reads the residual every few iterations. If media have
 * anisotropic terms (media.cuh), a third kernel computes their part of the product.
 */
#ifndef HK_CUDA_NEWTON_CUH
#define HK_CUDA_NEWTON_CUH

#include "media.cuh"

namespace HK_SPACE {

/* Directions of conjugate gradients in single precision that are added to the solution at once. */
enum { DIRECTIONS = 6 };

/* Scalars that the kernels of one solve share. */
struct Scalars {
  double rz, alpha, beta, rr; /* rr: r . r */
  double pq;                  /* p . H p */
  double kept;                /* part of negative curvature in H: hk_gpu_spring_product */
  double look[6];             /* of linearize.cuh */
  double unit;                /* m, of positions in fixed point (gpu/fine_level.h) */
  double inertia;             /* of stage.cuh */
  double slope, length;       /* of the solution: p . dg/dx, sum of m_i |p_i|^2 */
  double size;                /* r . r at the begin, in single precision (pcg_single.cuh) */
  double taken[DIRECTIONS];   /* alpha of the last directions, in single precision */
  unsigned arrived;
  unsigned ticket; /* of the last copy to the host */
};

/* Copies scalars to memory of the host, and then the ticket, for which the host waits: that takes
 * half as long as a copy that the host synchronizes with. The next kernel comes after it. */
__global__ void publish(const Scalars *from, volatile Scalars *to, unsigned ticket) {
  wait_for_last();
  const volatile double *values = (const volatile double *)from;
  if (threadIdx.x < offsetof(Scalars, arrived) / sizeof(double))
    ((volatile double *)to)[threadIdx.x] = values[threadIdx.x];
  __threadfence_system();
  __syncthreads();
  if (threadIdx.x == 0) to->ticket = ticket;
}

struct NewtonArgs {
  DescentArgs step;
  Media media;
  Real4 *p, *p_next; /* direction, of the last iteration and of this one; w: m' */
  Real4 *z;          /* preconditioned residual */
  HkReal *r, *q, *d; /* in three planes: residual, H p, the solution */
  HkReal *inverse;   /* in six planes: blocks of the preconditioner */
  double *part;      /* two sums for each of `blocks` */
  int blocks;
  Scalars *scalars;
};

/* Largest number of blocks of kernels that loop over vertices. */
enum { NEWTON_BLOCKS = 4096 };

/* Sums `first`, and `second` unless it is NULL, over all blocks; one thread, of the last block to
 * arrive, returns true and has the sums. */
static __device__ __forceinline__ bool all_sums(const NewtonArgs &a, double *first,
                                                double *second) {
  __shared__ bool last;
  double one = block_sum(*first), two = second ? block_sum(*second) : 0;
  if (threadIdx.x == 0) {
    a.part[blockIdx.x] = one;
    if (second) a.part[a.blocks + blockIdx.x] = two;
    __threadfence();
    last = atomicAdd(&a.scalars->arrived, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return false;
  __threadfence();
  one = two = 0;
  for (int k = threadIdx.x; k < (int)gridDim.x; k += blockDim.x) {
    one += __ldcg(a.part + k);
    if (second) two += __ldcg(a.part + a.blocks + k);
  }
  *first = block_sum(one);
  if (second) *second = block_sum(two);
  if (threadIdx.x > 0) return false;
  a.scalars->arrived = 0;
  return true;
}

/* r = -dg/dx, the inverse blocks, z = P r, p = 0 and d = 0. */
template <int PARAMETERS, bool GENERAL>
__global__ void __launch_bounds__(BLOCK_THREADS)
    begin_solve(__grid_constant__ const Springs s, __grid_constant__ const NewtonArgs a) {
  __shared__ HkGpuSpring palette[HK_GPU_PALETTE_SIZE];
  load_palette(s, palette);
  __syncthreads();
  const uint32_t n = (uint32_t)a.step.n;
  double rz = 0, rr = 0;
  for_vertices(s, n, [&](uint32_t i, const Brick &brick) {
    Real4 x = a.step.x[i], y = a.step.y[i];
    HkGpuVector r = {0, 0, 0}, z = {0, 0, 0};
    HkGpuBlock H = {0, 0, 0, 0, 0, 0}, inverse = H;
    look_around<PARAMETERS, GENERAL>(s, a.step, palette, brick, i, x, y, &r, &H);
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
  });
  if (!all_sums(a, &rz, &rr)) return;
  a.scalars->rz = rz;
  a.scalars->rr = rr;
  a.scalars->alpha = a.scalars->beta = a.scalars->kept = 0;
}

/* Returns the search direction of this iteration at a vertex, z + beta p. */
static __device__ __forceinline__ HkGpuVector direction(const NewtonArgs &a, HkReal beta,
                                                        uint32_t i) {
  HkGpuVector p = three(a.z[i]);
  hk_gpu_axpy(beta, three(a.p[i]), &p);
  return p;
}

/* q = the part of media of H p; multiply adds the other parts. */
__global__ void __launch_bounds__(BLOCK_THREADS)
    multiply_media(__grid_constant__ const NewtonArgs a) {
  const uint32_t n = (uint32_t)a.step.n, i = blockIdx.x * blockDim.x + threadIdx.x;
  let_next_come();
  wait_for_last();
  if (i >= n) return;
  const HkReal beta = (HkReal)a.scalars->beta;
  HkGpuVector q = {0, 0, 0};
  media_product(
      a.media, three(a.step.x[i]), i, direction(a, beta, i),
      [&](uint32_t j) { return direction(a, beta, j); }, &q);
  plane_store(a.q, n, i, q);
}

/* q += the part of one spring of vertex i of H p; d: difference to the neighbor, u: p minus the
 * neighbor's p, b: d at the start of the step, other(): the place of the neighbor. */
template <bool GENERAL, class F>
static __device__ __forceinline__ void
multiply_spring(const DescentArgs &a, const HkGpuSpring &spring, HkReal kept, const HkGpuVector &d,
                const HkGpuVector &u, const HkGpuVector &b, uint32_t i, F other, HkGpuVector *q) {
  bool damped = GENERAL && spring.c > 0;
  hk_gpu_spring_product(d, damped ? with_damper(a, spring, b, i, other) : spring, a.h * a.h, kept,
                        u, q);
}

/* Completes the product of the vertex at place i, to which a.q holds the part of media, and returns
 * p . q. */
static __device__ __forceinline__ double end_product(const NewtonArgs &a, uint32_t i, bool held,
                                                     HkReal weight, const HkGpuVector &p,
                                                     HkGpuVector q) {
  hk_gpu_axpy(weight, p, &q);
  if (a.step.form) hk_gpu_axpy(1, plane_load(a.q, a.step.n, i), &q);
  if (held) q = hk_gpu_vector(0, 0, 0);
  if (a.step.flat) q.z = 0;
  plane_store(a.q, a.step.n, i, q);
  return (double)hk_gpu_dot(q, p);
}

/* d += alpha p of the previous iteration, whose p this kernel reads anyway. */
static __device__ __forceinline__ void add_last(const NewtonArgs &a, uint32_t i, HkReal alpha,
                                                const Real4 &p) {
  HkGpuVector d = plane_load(a.d, a.step.n, i);
  hk_gpu_axpy(alpha, three(p), &d);
  plane_store(a.d, a.step.n, i, d);
}

/* p = z + beta p, q = H p, alpha = r . z / p . q; LANES threads for each vertex. */
template <int PARAMETERS, bool GENERAL, int LANES, int SLOTS>
__global__ void __launch_bounds__(BLOCK_THREADS)
    multiply(__grid_constant__ const Springs s, __grid_constant__ const NewtonArgs a) {
  __shared__ HkGpuSpring palette[HK_GPU_PALETTE_SIZE];
  const uint32_t n = (uint32_t)a.step.n, t = blockIdx.x * blockDim.x + threadIdx.x;
  const uint32_t i = t / LANES < n ? t / LANES : n - 1;
  const int lane = (int)(t % LANES);
  Row<PARAMETERS, LANES, SLOTS> row;
  load_palette(s, palette);
  load_row(s, i, lane, &row);
  __syncthreads();
  let_next_come();
  wait_for_last();
  const HkReal beta = (HkReal)a.scalars->beta, kept = (HkReal)a.scalars->kept;
  const HkReal alpha = (HkReal)a.scalars->alpha;
  double pq = 0;
  const Real4 x = a.step.x[i], before = a.p[i];
  HkGpuVector p = direction(a, beta, i), q = {0, 0, 0}, b = {0, 0, 0};
  if (GENERAL) b = three(a.step.b[i]);
  visit_row(s, row, a.step.x,
            [&](uint32_t j, const Real4 &near, const Beside<PARAMETERS> &beside, uint32_t number) {
              HkGpuVector start = {0, 0, 0};
              if (GENERAL) start = hk_gpu_sub(three(a.step.b[j]), b);
              multiply_spring<GENERAL>(
                  a.step, spring_of<PARAMETERS>(s, palette, beside, number), kept,
                  hk_gpu_sub(three(near), three(x)), hk_gpu_sub(p, direction(a, beta, j)), start, i,
                  [&] { return j; }, &q);
            });
#pragma unroll
  for (int o = LANES / 2; o > 0; o /= 2) {
    q.x += __shfl_xor_sync(~0u, q.x, o);
    q.y += __shfl_xor_sync(~0u, q.y, o);
    q.z += __shfl_xor_sync(~0u, q.z, o);
  }
  if (lane == 0 && t / LANES < n) {
    a.p_next[i] = Real4{p.x, p.y, p.z, before.w};
    add_last(a, i, alpha, before);
    pq = end_product(a, i, x.w == 0, before.w, p, q);
  }
  if (!all_sums(a, &pq, NULL)) return;
  a.scalars->pq = pq;
  a.scalars->alpha = pq > 0 ? a.scalars->rz / pq : 0;
}

/* Returns the bytes of shared memory of a block: positions, directions, and positions at the start
 * of the step if GENERAL. */
static size_t multiply_shared(int most_local, bool general) {
  return sizeof(HkGpuSpring) * HK_GPU_PALETTE_SIZE + (general ? 3 : 2) * sizeof(Real4) * most_local;
}

/* p = z + beta p, q = H p, alpha = r . z / p . q in bricks, where a brick computes each direction
 * once. */
template <int PARAMETERS, bool GENERAL, int WORDS, bool EXACT>
__global__ void __launch_bounds__(HK_GPU_BRICK, (blocks_of<PARAMETERS, GENERAL, WORDS>()))
    multiply_bricks(__grid_constant__ const Springs s, __grid_constant__ const NewtonArgs a) {
  extern __shared__ __align__(16) unsigned char shared[];
  HkGpuSpring *palette = (HkGpuSpring *)shared;
  const int t = threadIdx.x;
  const Brick brick = brick_at(s, blockIdx.x);
  const int all = brick.own + brick.outside;
  const bool mine = t < brick.own;
  const uint32_t n = (uint32_t)a.step.n, i = (uint32_t)(brick.first + t);
  Real4 *sx = (Real4 *)(palette + HK_GPU_PALETTE_SIZE), *sp = sx + all, *sb = sp + all;
  BrickRow<PARAMETERS, WORDS, EXACT> row;
  load_palette(s, palette);
  if (mine) load_row(s, n, i, &row);
  int next = t < brick.outside ? brick.halo[t] : 0;
  let_next_come();
  wait_for_last();
  const HkReal alpha = (HkReal)a.scalars->alpha, beta = (HkReal)a.scalars->beta;
  const HkReal kept = (HkReal)a.scalars->kept;
  auto bring = [&](int to, uint32_t from) {
    Real4 before = a.p[from];
    HkGpuVector p = three(a.z[from]);
    sx[to] = a.step.x[from];
    hk_gpu_axpy(beta, three(before), &p);
    sp[to] = Real4{p.x, p.y, p.z, before.w};
    if (GENERAL) sb[to] = a.step.b[from];
    return before;
  };
  if (mine) {
    add_last(a, i, alpha, bring(t, i));
    a.p_next[i] = sp[t];
  }
  for (int k = t; k < brick.outside; k += blockDim.x)
    bring(brick.own + k, (uint32_t)(k == t ? next : brick.halo[k]));
  __syncthreads();
  double pq = 0;
  if (mine) {
    const Real4 x = sx[t], p = sp[t];
    HkGpuVector q = {0, 0, 0}, b = {0, 0, 0};
    if (GENERAL) b = three(sb[t]);
    visit_row(s, n, i, &row, [&](uint32_t word, int k, const Beside<PARAMETERS> &beside) {
      HkGpuVector start = {0, 0, 0};
      if (GENERAL) start = hk_gpu_sub(three(near_in(sb, word, k)), b);
      multiply_spring<GENERAL>(
          a.step, spring_of<PARAMETERS>(s, palette, beside, number_in(word, k)), kept,
          hk_gpu_sub(three(near_in(sx, word, k)), three(x)),
          hk_gpu_sub(three(p), three(near_in(sp, word, k))), start, i,
          [&] { return place_near(brick, word, k); }, &q);
    });
    pq = end_product(a, i, x.w == 0, p.w, three(p), q);
  }
  if (!all_sums(a, &pq, NULL)) return;
  a.scalars->pq = pq;
  a.scalars->alpha = pq > 0 ? a.scalars->rz / pq : 0;
}

/* r -= alpha q, z = P r, beta = new r . z / old */
__global__ void __launch_bounds__(BLOCK_THREADS) update(__grid_constant__ const NewtonArgs a) {
  let_next_come();
  wait_for_last();
  const HkReal alpha = (HkReal)a.scalars->alpha;
  const int64_t n = a.step.n;
  double rz = 0, rr = 0;
  for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n;
       i += (int64_t)gridDim.x * blockDim.x) {
    HkGpuBlock inverse = load_block(a.inverse, n, i);
    HkGpuVector r = plane_load(a.r, n, i);
    hk_gpu_axpy(-alpha, plane_load(a.q, n, i), &r);
    HkGpuVector z = hk_gpu_times(&inverse, r);
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

/* d += alpha p of the last iteration. */
__global__ void __launch_bounds__(BLOCK_THREADS) end_solve(__grid_constant__ const NewtonArgs a) {
  uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < (uint32_t)a.step.n) add_last(a, i, (HkReal)a.scalars->alpha, a.p[i]);
}

/* Returns the part of media of the change of g when the vertex at x moves by d = t times its
 * direction: the linear part by the majorizer's slope at x, and the part of higher order. */
static __device__ double media_change(const NewtonArgs &a, uint32_t i, HkGpuVector x, HkReal t,
                                      HkGpuVector d, HkGpuVector from) {
  const Media &m = a.media;
  HkGpuBlock S = load_block(a.step.form, a.step.n, i);
  HkGpuVector bent = {0, 0, 0};
  faces_product(
      m, i,
      [&](uint32_t j) {
        HkGpuVector u = plane_load(a.d, a.step.n, j);
        return hk_gpu_vector(t * u.x, t * u.y, t * u.z);
      },
      &bent);
  double own = (double)hk_gpu_medium_change(&m.moment->medium, m.parts, m.mass[i], m.h, x,
                                            plane_load(m.v, m.n, i), d);
  return (double)hk_gpu_dot(d, hk_gpu_times(&S, from)) + 0.5 * (double)hk_gpu_dot(d, bent) + own;
}

/* Returns the terms of inertia and media in the change of g when the vertex at place i moves by t
 * times its direction. */
static __device__ __forceinline__ double own_change(const NewtonArgs &a, uint32_t i, const Real4 &x,
                                                    HkReal t, const HkGpuVector &d) {
  const Real4 y = a.step.y[i];
  HkGpuVector from = hk_gpu_sub(three(x), three(y));
  if (x.w == 0) return 0;
  double sum = (double)y.w * ((double)hk_gpu_dot(d, from) + 0.5 * (double)hk_gpu_dot(d, d));
  return a.step.form ? sum + media_change(a, i, three(x), t, d, from) : sum;
}

/* scalars->alpha = the change of g from x to x + t d; each spring counts half at either end. */
template <int PARAMETERS, bool GENERAL>
__global__ void __launch_bounds__(BLOCK_THREADS)
    change(__grid_constant__ const Springs s, __grid_constant__ const NewtonArgs a, HkReal t) {
  __shared__ HkGpuSpring palette[HK_GPU_PALETTE_SIZE];
  const uint32_t n = (uint32_t)a.step.n;
  const HkReal h = a.step.h;
  load_palette(s, palette);
  __syncthreads();
  double sum = 0;
  for_vertices(s, n, [&](uint32_t i, const Brick &brick) {
    Real4 x = a.step.x[i];
    HkGpuVector d = plane_load(a.d, n, i);
    d = hk_gpu_vector(t * d.x, t * d.y, t * d.z);
    sum += own_change(a, i, x, t, d);
    visit_all<PARAMETERS>(
        s, n, brick, i, a.step.x,
        [&](uint32_t j, const Real4 &near, const Beside<PARAMETERS> &beside, uint32_t number) {
          HkGpuSpring spring = spring_of<PARAMETERS>(s, palette, beside, number);
          HkGpuVector other = plane_load(a.d, n, j), apart = hk_gpu_sub(three(near), three(x));
          HkGpuVector moved =
              hk_gpu_vector(t * other.x - d.x, t * other.y - d.y, t * other.z - d.z);
          if (GENERAL && spring.c > 0)
            spring = with_damper(a.step, spring,
                                 hk_gpu_sub(three(a.step.b[j]), three(a.step.b[i])), i,
                                 [&] { return j; });
          sum += 0.5 * (double)(h * h * hk_gpu_spring_energy_change(apart, moved, spring));
        });
  });
  if (all_sums(a, &sum, NULL)) a.scalars->alpha = sum;
}

/* The kernel `change` in bricks, where a brick loads each position and direction once. */
template <int PARAMETERS, bool GENERAL, int WORDS, bool EXACT>
__global__ void __launch_bounds__(HK_GPU_BRICK, (blocks_of<PARAMETERS, GENERAL, WORDS>()))
    change_bricks(__grid_constant__ const Springs s, __grid_constant__ const NewtonArgs a,
                  HkReal t) {
  extern __shared__ __align__(16) unsigned char shared[];
  HkGpuSpring *palette = (HkGpuSpring *)shared;
  const Brick brick = brick_at(s, blockIdx.x);
  const int all = brick.own + brick.outside;
  const uint32_t n = (uint32_t)a.step.n;
  const HkReal h = a.step.h;
  Real4 *sx = (Real4 *)(palette + HK_GPU_PALETTE_SIZE), *sd = sx + all, *sb = sd + all;
  load_palette(s, palette);
  for (int k = threadIdx.x; k < all; k += blockDim.x) {
    const int from = k < brick.own ? brick.first + k : brick.halo[k - brick.own];
    HkGpuVector d = plane_load(a.d, n, from);
    sx[k] = a.step.x[from];
    sd[k] = Real4{t * d.x, t * d.y, t * d.z, 0};
    if (GENERAL) sb[k] = a.step.b[from];
  }
  __syncthreads();
  double sum = 0;
  const int own = threadIdx.x;
  const uint32_t i = (uint32_t)(brick.first + own);
  if (own < brick.own) {
    const Real4 x = sx[own], d = sd[own];
    BrickRow<PARAMETERS, WORDS, EXACT> row;
    load_row(s, n, i, &row);
    sum = own_change(a, i, x, t, three(d));
    visit_row(s, n, i, &row, [&](uint32_t word, int k, const Beside<PARAMETERS> &beside) {
      HkGpuSpring spring = spring_of<PARAMETERS>(s, palette, beside, number_in(word, k));
      if (GENERAL && spring.c > 0)
        spring = with_damper(a.step, spring,
                             hk_gpu_sub(three(near_in(sb, word, k)), three(sb[own])), i,
                             [&] { return place_near(brick, word, k); });
      HkGpuVector apart = hk_gpu_sub(three(near_in(sx, word, k)), three(x));
      HkGpuVector moved = hk_gpu_sub(three(near_in(sd, word, k)), three(d));
      sum += 0.5 * (double)(h * h * hk_gpu_spring_energy_change(apart, moved, spring));
    });
  }
  if (all_sums(a, &sum, NULL)) a.scalars->alpha = sum;
}

/* x += t d */
__global__ void take_step(__grid_constant__ const NewtonArgs a, HkReal t) {
  int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (i >= a.step.n) return;
  Real4 x = a.step.x[i];
  HkGpuVector d = plane_load(a.d, a.step.n, i);
  a.step.x[i] = Real4{x.x + t * d.x, x.y + t * d.y, x.z + t * d.z, x.w};
}

} // namespace HK_SPACE

#endif
