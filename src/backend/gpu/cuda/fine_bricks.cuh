/* Products of level 0 in bricks, for springs of a palette without damping that are not
 * tension-only:
 *
 *     B = c I + (k - c) u u^T,   c = max(k - k l0 / l, 0)
 *
 * is computed from the positions, in single precision from exact differences. A spring then costs
 * two bytes of memory traffic in place of the 20 of a stored one; P^T A P still reads the stored
 * ones. Positions are in fixed point (gpu/fine_level.h), 16 bytes a vertex with its R where that is
 * a multiple of the identity.
 */
#ifndef HK_CUDA_FINE_BRICKS_CUH
#define HK_CUDA_FINE_BRICKS_CUH

#include "linearize.cuh"

namespace HK_SPACE {

/* Arguments of the kernel, passed by value. */
struct FineArgs {
  HkGpuMatrix A;
  const HkGpuFixed *position;
  double factor; /* h^2 times the scale of the hierarchy */
  double longer; /* of rest lengths, as a part */
  Sums sums;
  Scalars *scalars; /* unit: of the positions (m) */
};

/* FineArgs.longer of linear steps. Tensions k - k l0 / l in floats are off by up to 1e-7 k, which
 * exceeds inertia in stiff models. Where cloth is flat and at rest, all of them may be too large:
 * the smoother, whose D has exact tensions, then is not positive definite, and the first linear
 * step of cloth of 1000 x 1000 vertices takes 10,000 iterations to a residual of 1e-12. Longer rest
 * lengths round tensions down; Newton's method takes more iterations with them. */
static const double LINEAR_LONGER = 2.4e-7;

/* Writes the positions x in fixed point. */
__global__ void __launch_bounds__(BLOCK_THREADS)
    fix_positions(__grid_constant__ const HkGpuMatrix A, const Real4 *x, const double *unit,
                  HkGpuFixed *to) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  let_next_come();
  wait_for_last();
  if (i >= A.n) return;
  const double per_meter = 1 / *unit;
  const Real4 p = x[i];
  to[i] =
      HkGpuFixed{hk_gpu_fixed_coordinate((double)p.x, per_meter),
                 hk_gpu_fixed_coordinate((double)p.y, per_meter),
                 hk_gpu_fixed_coordinate((double)p.z, per_meter), hk_gpu_fixed_own(&A, i, p.w > 0)};
}

/* Loads the palette for positions in fixed point into shared memory, in the threads of the first
 * warp. */
static __device__ __forceinline__ void load_fixed_palette(const Springs &s, const FineArgs &a,
                                                          HkGpuFixedSpring *palette) {
  if (threadIdx.x >= HK_GPU_PALETTE_SIZE) return;
  const HkGpuSpring p = s.palette[threadIdx.x];
  const double kl0 = a.factor * (double)p.kl0 * (1 + a.longer) / a.scalars->unit;
  palette[threadIdx.x] = HkGpuFixedSpring{(float)(a.factor * (double)p.k), (float)kl0};
}

/* Returns the bytes of shared memory of a block: the palette, x and positions. */
static size_t fine_shared(int most_local) {
  const size_t vertex = sizeof(HkGpuFour) + sizeof(HkGpuFixed);
  return sizeof(HkGpuFixedSpring) * HK_GPU_PALETTE_SIZE + vertex * most_local;
}

/* Smallest number of resident blocks of a multiprocessor. */
template <int WORDS> static constexpr int fine_blocks() {
  return WORDS <= 6 ? 3 : 2;
}

/* What multiply_fine computes: x2 of the smoother from x0 = 0, where it computes x1 while it loads;
 * x1 from x0, or x2 from x1, by `before` as in smooth; the same with rz = b . x and beta of
 * conjugate gradients; the residual b - A x. */
enum FineKind { FINE_FIRST, FINE_NEXT, FINE_LAST, FINE_RESIDUAL };

/* Writes the result to `to`. It is 0 for constrained vertices, whose x may be any number. x is
 * not used by FINE_FIRST, `before` only by FINE_NEXT and FINE_LAST. */
template <int WORDS, bool EXACT, int KIND>
__global__ void __launch_bounds__(HK_GPU_BRICK, (fine_blocks<WORDS>()))
    multiply_fine(__grid_constant__ const Springs s, __grid_constant__ const FineArgs a, int before,
                  const HkGpuFour *b, const HkGpuFour *x, HkGpuFour *to) {
  extern __shared__ __align__(16) unsigned char shared[];
  HkGpuFixedSpring *palette = (HkGpuFixedSpring *)shared;
  const Brick brick = brick_at(s, blockIdx.x);
  const int all = brick.own + brick.outside, own = threadIdx.x;
  const uint32_t n = (uint32_t)a.A.n, i = (uint32_t)(brick.first + own);
  HkGpuFour *sx = (HkGpuFour *)(palette + HK_GPU_PALETTE_SIZE);
  HkGpuFixed *sp = (HkGpuFixed *)(sx + all);
  BrickRow<HK_GPU_BY_PALETTE, WORDS, EXACT> row;
  if (own < brick.own) load_row(s, n, i, &row);
  let_next_come();
  wait_for_last();
  load_fixed_palette(s, a, palette);
  for (int k = own; k < all; k += blockDim.x) {
    const int from = k < brick.own ? brick.first + k : brick.halo[k - brick.own];
    sp[k] = a.position[from];
    sx[k] = KIND == FINE_FIRST ? hk_gpu_smooth_zero(&a.A, from, b[from]) : x[from];
  }
  __syncthreads();
  double rz[1] = {0};
  if (own < brick.own) {
    const HkGpuFour xi = sx[own];
    const HkGpuFixed at = sp[own];
    HkGpuFour q = hk_gpu_fixed_row_sum_product(&a.A, i, at.own, xi);
    visit_row(s, n, i, &row, [&](uint32_t word, int k, const Beside<HK_GPU_BY_PALETTE> &) {
      const int j = local_in(word, k);
      const HkGpuFixed near = sp[j];
      HkGpuFixedSpring spring = palette[number_in(word, k)];
      if (near.own == 0) spring = HkGpuFixedSpring{0, 0}; /* it counts in R */
      hk_gpu_fixed_spring_product(at, near, spring, 0, hk_gpu_four_sub(xi, sx[j]), &q);
    });
    HkGpuFour result = hk_gpu_four(0, 0, 0), old = result;
    if (at.own != 0) {
      const HkGpuFour side = b[i];
      const bool second = KIND == FINE_FIRST || before != BEFORE_NONE;
      if ((KIND == FINE_NEXT || KIND == FINE_LAST) && before == BEFORE_THERE) old = to[i];
      result = KIND == FINE_RESIDUAL ? hk_gpu_four_sub(side, q)
                                     : hk_gpu_smooth(&a.A, i, second, side, q, xi, old);
      if (KIND == FINE_LAST) rz[0] = hk_gpu_four_dot(side, result);
    }
    to[i] = result;
  }
  if (KIND != FINE_LAST || !sum_blocks<1>(a.sums, 1, rz)) return;
  a.scalars->beta = a.scalars->rz > 0 ? rz[0] / a.scalars->rz : 0;
  a.scalars->rz = rz[0];
}

} // namespace HK_SPACE

#endif
