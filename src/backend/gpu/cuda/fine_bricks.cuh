/* Products of level 0 in bricks, for springs of a palette without damping that are not
 * tension-only:
 *
 *     B = c I + (k - c) u u^T,   c = max(k - k l0 / l, 0)
 *
 * is computed from the positions, in single precision from exact differences. A spring then costs
 * two bytes of memory traffic in place of the 20 of a stored one; P^T A P still reads the stored
 * ones.
 */
#ifndef HK_CUDA_FINE_BRICKS_CUH
#define HK_CUDA_FINE_BRICKS_CUH

#include "level.cuh"

namespace HK_SPACE {

/* Arguments of the kernel, passed by value. */
struct FineArgs {
  HkGpuMatrix A;
  const Real4 *position; /* w is 0 if the vertex is constrained */
  float factor;          /* h^2 times the scale of the hierarchy */
};

/* Returns the bytes of shared memory of a block: the palette, positions and x. */
static size_t fine_shared(int most_local) {
  const size_t vertex = 3 * sizeof(double) + sizeof(HkGpuFour);
  return sizeof(float2) * HK_GPU_PALETTE_SIZE + vertex * most_local;
}

/* to = b - A x, or the smoother's next iterate (`before` as in smooth). */
template <int WORDS, bool EXACT, bool RESIDUAL>
__global__ void __launch_bounds__(HK_GPU_BRICK, 2)
    multiply_fine(__grid_constant__ const Springs s, __grid_constant__ const FineArgs a, int before,
                  const HkGpuFour *b, const HkGpuFour *x, HkGpuFour *to) {
  extern __shared__ __align__(16) unsigned char shared[];
  float2 *palette = (float2 *)shared;
  HkGpuFour *sx = (HkGpuFour *)(palette + HK_GPU_PALETTE_SIZE); /* w: 0 if constrained */
  const Brick brick = brick_at(s, blockIdx.x);
  const int all = brick.own + brick.outside, own = threadIdx.x;
  const uint32_t n = (uint32_t)a.A.n, i = (uint32_t)(brick.first + own);
  double *px = (double *)(sx + all), *py = px + all, *pz = py + all;
  BrickRow<HK_GPU_BY_PALETTE, WORDS, EXACT> row;
  if (threadIdx.x < HK_GPU_PALETTE_SIZE) {
    const HkGpuSpring p = s.palette[threadIdx.x];
    palette[threadIdx.x] = make_float2(a.factor * (float)p.k, a.factor * (float)p.kl0);
  }
  if (own < brick.own) load_row(s, n, i, &row);
  let_next_come();
  wait_for_last();
  for (int k = own; k < all; k += blockDim.x) {
    const int from = k < brick.own ? brick.first + k : brick.halo[k - brick.own];
    const Real4 p = a.position[from];
    HkGpuFour one = x[from];
    one.w = p.w > 0 ? 1 : 0;
    sx[k] = one;
    px[k] = (double)p.x;
    py[k] = (double)p.y;
    pz[k] = (double)p.z;
  }
  __syncthreads();
  if (own >= brick.own) return;
  const HkGpuFour xi = sx[own];
  const double x0 = px[own], y0 = py[own], z0 = pz[own];
  HkGpuFour q = hk_gpu_row_sum_product(&a.A, i, xi);
  visit_row(s, n, i, &row, [&](uint32_t word, int k, const Beside<HK_GPU_BY_PALETTE> &) {
    const int j = local_in(word, k);
    const float2 spring = palette[number_in(word, k)];
    const float dx = (float)(px[j] - x0), dy = (float)(py[j] - y0), dz = (float)(pz[j] - z0);
    const HkGpuFour near = sx[j], u = hk_gpu_four_sub(xi, near);
    const float r = rsqrtf(dx * dx + (dy * dy + (dz * dz + 1e-30f)));
    const float c = near.w * fmaxf(spring.x - spring.y * r, 0.0f);
    const float along = (near.w * spring.x - c) * r * ((dx * u.x + dy * u.y + dz * u.z) * r);
    q.x += c * u.x + along * dx;
    q.y += c * u.y + along * dy;
    q.z += c * u.z + along * dz;
  });
  if (xi.w == 0) q = hk_gpu_four(0, 0, 0);
  if (RESIDUAL) {
    to[i] = hk_gpu_four_sub(b[i], q);
    return;
  }
  const HkGpuFour old = before == BEFORE_THERE ? to[i] : hk_gpu_four(0, 0, 0);
  to[i] = hk_gpu_smooth(&a.A, i, before != BEFORE_NONE, b[i], q, xi, old);
}

} // namespace HK_SPACE

#endif
