/* Conjugate gradients in single precision around the cycle, for springs whose products
 * multiply_fine computes (fine_bricks.cuh) and for relative residuals that floats resolve:
 *
 *     z = P^-1 r,  p = z + beta p,  alpha = r.z / p.Ap,  r -= alpha A p,   d = sum alpha p
 *
 * A and r have the scale of the hierarchy, so that r is the right-hand side of the cycle; alpha and
 * beta do not depend on it. Sums and d are in double precision: rounding d to floats would move
 * vertices against each other, and stiff springs would resist. The last directions stay in memory
 * and are added to d at once.
 *
 * An iteration is the cycle, whose last product has r . z, multiply_single and update_single.
 */
#ifndef HK_CUDA_PCG_SINGLE_CUH
#define HK_CUDA_PCG_SINGLE_CUH

#include "fine_bricks.cuh"

namespace HK_SPACE {

/* Arguments of the kernels, passed by value. */
struct SingleArgs {
  int n, flat;
  const HkGpuFixed *position;
  double factor, scale;     /* h^2 times the scale of the hierarchy; the scale */
  const Real4 *y;           /* w: m' */
  const HkReal *mass;       /* kg */
  const HkReal *gradient;   /* -dg/dx (kg m), in three planes */
  HkGpuFour *r, *q;         /* scaled */
  const HkGpuFour *z;       /* the result of the cycle (m) */
  HkGpuFour *p[DIRECTIONS]; /* m; the last directions */
  HkReal *d;                /* m, in three planes: the solution */
  Sums sums;
  Scalars *scalars;
};

/* r = from; Scalars.size = r . r. kept: of the product. */
__global__ void __launch_bounds__(BLOCK_THREADS)
    begin_single(__grid_constant__ const SingleArgs a, const HkReal *from, double kept) {
  double rr[1] = {0};
  for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < a.n;
       i += (int64_t)gridDim.x * blockDim.x) {
    const HkGpuVector f = plane_load(from, a.n, i);
    const HkGpuFour r = hk_gpu_four((float)(a.scale * (double)f.x), (float)(a.scale * (double)f.y),
                                    (float)(a.scale * (double)f.z));
    a.r[i] = r;
    rr[0] += hk_gpu_four_square(r);
  }
  if (!sum_blocks<1>(a.sums, 1, rr)) return;
  a.scalars->size = rr[0];
  a.scalars->rz = a.scalars->alpha = a.scalars->beta = 0;
  a.scalars->kept = kept;
}

/* Loads the palette for exact products into shared memory, in the threads of the first warp. */
static __device__ __forceinline__ void load_exact_palette(const Springs &s, double factor,
                                                          double unit, HkGpuExactSpring *palette) {
  if (threadIdx.x >= HK_GPU_PALETTE_SIZE) return;
  const HkGpuSpring p = s.palette[threadIdx.x];
  palette[threadIdx.x] = hk_gpu_exact_spring(factor * (double)p.k, hk_gpu_rest_length(p), unit);
}

/* Returns the bytes of shared memory of a block: the palette, directions and positions. */
static size_t single_shared(int most_local) {
  const size_t vertex = sizeof(HkGpuFour) + sizeof(HkGpuFixed);
  return sizeof(HkGpuExactSpring) * HK_GPU_PALETTE_SIZE + vertex * most_local;
}

/* p[slot] = z + beta p of the slot before, q = A p, alpha = r . z / p . q in bricks. */
template <int WORDS, bool EXACT>
__global__ void __launch_bounds__(HK_GPU_BRICK, (fine_blocks<WORDS>()))
    multiply_single(__grid_constant__ const Springs s, __grid_constant__ const SingleArgs a,
                    int slot) {
  extern __shared__ __align__(16) unsigned char shared[];
  HkGpuExactSpring *palette = (HkGpuExactSpring *)shared;
  const Brick brick = brick_at(s, blockIdx.x);
  const int all = brick.own + brick.outside, own = threadIdx.x;
  const uint32_t n = (uint32_t)a.n, i = (uint32_t)(brick.first + own);
  const HkGpuFour *last = a.p[(slot + DIRECTIONS - 1) % DIRECTIONS];
  HkGpuFour *next = a.p[slot];
  HkGpuFour *su = (HkGpuFour *)(palette + HK_GPU_PALETTE_SIZE);
  HkGpuFixed *sp = (HkGpuFixed *)(su + all);
  BrickRow<HK_GPU_BY_PALETTE, WORDS, EXACT> row;
  if (own < brick.own) load_row(s, n, i, &row);
  let_next_come();
  wait_for_last();
  const float beta = (float)a.scalars->beta, kept = (float)a.scalars->kept;
  load_exact_palette(s, a.factor, a.scalars->unit, palette);
  for (int k = own; k < all; k += blockDim.x) {
    const int from = k < brick.own ? brick.first + k : brick.halo[k - brick.own];
    HkGpuFour p = a.z[from];
    sp[k] = a.position[from];
    if (beta != 0) hk_gpu_four_axpy(beta, last[from], &p);
    if (k < brick.own) next[from] = p;
    su[k] = p;
  }
  __syncthreads();
  double pq[1] = {0};
  if (own < brick.own) {
    const HkGpuFour p = su[own];
    const HkGpuFixed at = sp[own];
    const float weight = at.own < 0 ? (float)(a.scale * (double)a.y[i].w) : at.own;
    HkGpuFour q = hk_gpu_four(weight * p.x, weight * p.y, weight * p.z);
    visit_row(s, n, i, &row, [&](uint32_t word, int k, const Beside<HK_GPU_BY_PALETTE> &) {
      const int j = local_in(word, k);
      hk_gpu_exact_spring_product(at, sp[j], palette[number_in(word, k)], kept,
                                  hk_gpu_four_sub(p, su[j]), &q);
    });
    if (a.flat) q.z = 0;
    if (at.own == 0) q = hk_gpu_four(0, 0, 0);
    a.q[i] = q;
    pq[0] = hk_gpu_four_dot(p, q);
  }
  if (!sum_blocks<1>(a.sums, 1, pq)) return;
  a.scalars->pq = pq[0];
  a.scalars->alpha = pq[0] > 0 ? a.scalars->rz / pq[0] : 0;
  a.scalars->taken[slot] = a.scalars->alpha;
}

/* r -= alpha q, rr = r . r */
__global__ void __launch_bounds__(BLOCK_THREADS)
    update_single(__grid_constant__ const SingleArgs a) {
  double rr[1] = {0};
  let_next_come();
  wait_for_last();
  const float alpha = (float)a.scalars->alpha;
  for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < a.n;
       i += (int64_t)gridDim.x * blockDim.x) {
    HkGpuFour r = a.r[i];
    hk_gpu_four_axpy(-alpha, a.q[i], &r);
    a.r[i] = r;
    rr[0] += hk_gpu_four_square(r);
  }
  if (sum_blocks<1>(a.sums, 1, rr)) a.scalars->rr = rr[0];
}

/* d = the first `count` directions times their step lengths, or times 1 if `whole`; added to d if
 * `more`. Slope and length of d. */
__global__ void __launch_bounds__(BLOCK_THREADS)
    add_directions(__grid_constant__ const SingleArgs a, int count, int whole, int more) {
  double sum[2] = {0, 0};
  for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < a.n;
       i += (int64_t)gridDim.x * blockDim.x) {
    HkGpuVector d = {0, 0, 0};
    if (more) d = plane_load(a.d, a.n, i);
#pragma unroll
    for (int k = 0; k < DIRECTIONS; k++) {
      if (k >= count) break;
      const HkGpuFour p = a.p[k][i];
      hk_gpu_axpy(whole ? 1 : (HkReal)a.scalars->taken[k],
                  hk_gpu_vector((HkReal)p.x, (HkReal)p.y, (HkReal)p.z), &d);
    }
    plane_store(a.d, a.n, i, d);
    sum[0] -= (double)hk_gpu_dot(d, plane_load(a.gradient, a.n, i));
    sum[1] += (double)hk_gpu_dot(d, d) * (double)a.mass[i]; /* d is 0 if constrained */
  }
  if (!sum_blocks<2>(a.sums, 2, sum)) return;
  a.scalars->slope = sum[0];
  a.scalars->length = sum[1];
}

} // namespace HK_SPACE

#endif
