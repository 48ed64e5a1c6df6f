/* The cycle on all small levels in one kernel of one block: the launches of their kernels would
 * take longer than their work. Levels are those of level.cuh; each has one cycle.
 */
#ifndef HK_CUDA_SMALL_LEVELS_CUH
#define HK_CUDA_SMALL_LEVELS_CUH

#include "level.cuh"

namespace HK_SPACE {

enum {
  SMALL_ROWS = 320,     /* largest number of rows of a small level */
  SMALL_LEVELS_MAX = 5, /* small levels of one kernel */
  SMALL_THREADS = 1024,
  SMALL_WARPS = SMALL_THREADS / WARP
};

struct SmallLevels {
  int count;
  bool exact; /* a dense inverse solves the last one */
  const float *inverse;
  Level level[SMALL_LEVELS_MAX];
};

/* Calls use(row, x_i, (A x)_i) for all rows of a level; all threads call it. */
template <class F>
static __device__ void for_products(const HkGpuMatrix &A, const HkGpuFour *x, HkGpuFour *part,
                                    F use) {
  const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
  const int slices = (A.n + WARP - 1) / WARP, lanes = SMALL_WARPS / slices;
  const int slice = warp / lanes, i = slice * WARP + lane;
  const bool mine = slice < slices && i < A.n;
  HkGpuFour q = hk_gpu_four(0, 0, 0), xi = q;
  if (mine) {
    xi = x[i];
    q = hk_gpu_row_product(&A, false, x, i, xi, warp % lanes, lanes);
  }
  part[threadIdx.x] = q;
  __syncthreads();
  if (mine && warp % lanes == 0) {
    for (int e = 1; e < lanes; e++) hk_gpu_four_axpy(1, part[threadIdx.x + WARP * e], &q);
    hk_gpu_four_axpy(1, hk_gpu_row_sum_product(&A, i, xi), &q);
    use(i, xi, q);
  }
  __syncthreads();
}

static __device__ void smooth_small(const Level &l, bool zero, HkGpuFour *part) {
  const HkGpuMatrix &A = l.A;
  if (zero) {
    for (int i = threadIdx.x; i < A.n; i += blockDim.x)
      l.before[i] = hk_gpu_smooth_zero(&A, i, l.b[i]);
    __syncthreads();
  } else {
    for_products(A, l.x, part, [&](int i, const HkGpuFour &xi, const HkGpuFour &q) {
      l.before[i] = hk_gpu_smooth(&A, i, false, l.b[i], q, xi, xi);
    });
  }
  for_products(A, l.before, part, [&](int i, const HkGpuFour &xi, const HkGpuFour &q) {
    HkGpuFour old = zero ? hk_gpu_four(0, 0, 0) : l.x[i];
    l.x[i] = hk_gpu_smooth(&A, i, true, l.b[i], q, xi, old);
  });
}

/* x of the first small level, from 0 if `zero`. */
__global__ void __launch_bounds__(SMALL_THREADS)
    cycle_small(__grid_constant__ const SmallLevels s, int zero) {
  __shared__ HkGpuFour part[SMALL_THREADS];
  let_next_come();
  wait_for_last();
  for (int k = 0; k < s.count; k++) {
    const Level &l = s.level[k], &next = s.level[k + 1 < s.count ? k + 1 : k];
    if (k == s.count - 1 && s.exact) {
      solve_dense(l.A.n, s.inverse, l.b, l.x);
      __syncthreads();
      break;
    }
    smooth_small(l, k > 0 || zero, part);
    if (k == s.count - 1) break;
    for_products(l.A, l.x, part, [&](int i, const HkGpuFour &, const HkGpuFour &q) {
      l.r[i] = hk_gpu_four_sub(l.b[i], q);
    });
    for (int i = threadIdx.x; i < next.A.n; i += blockDim.x)
      next.b[i] = hk_gpu_list_sum(&l.restrict_to, l.r, i);
    __syncthreads();
  }
  for (int k = s.count - 1; k >= 0; k--) {
    const Level &l = s.level[k];
    if (k == s.count - 1 && s.exact) continue;
    for (int i = threadIdx.x; i < l.A.n && k + 1 < s.count; i += blockDim.x)
      if (hk_gpu_row_moves(&l.A, i)) {
        HkGpuFour to = l.x[i];
        hk_gpu_four_axpy(1, hk_gpu_list_sum(&l.prolong, s.level[k + 1].x, i), &to);
        l.x[i] = to;
      }
    __syncthreads();
    smooth_small(l, false, part);
  }
}

} // namespace HK_SPACE

#endif
