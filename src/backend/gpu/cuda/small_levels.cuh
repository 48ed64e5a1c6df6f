/* The cycle on all small levels in one kernel: the launches of their kernels would take longer than
 * their work. A cluster of blocks shares the larger ones of them, one block has the others. Levels
 * are those of level.cuh; each has one cycle.
 */
#ifndef HK_CUDA_SMALL_LEVELS_CUH
#define HK_CUDA_SMALL_LEVELS_CUH

#include "level.cuh"

namespace HK_SPACE {

enum {
  BLOCK_ROWS = 320,       /* largest number of rows of a level of one block */
  CLUSTER_BLOCKS = 8,     /* as many as every GPU with clusters supports */
  CLUSTER_ROWS = 1024,    /* largest number of rows of a level of a cluster */
  SMALL_LEVELS_MAX = 8,   /* small levels of one kernel */
  SMALL_THREADS = 1024,
  SMALL_WARPS = SMALL_THREADS / WARP,
  SMALL_LANES_MAX = 8     /* warps that share a slice */
};

struct SmallLevels {
  int count;
  int shared; /* levels before this one are those of the cluster */
  bool exact; /* a dense inverse solves the last one */
  const float *inverse;
  Level level[SMALL_LEVELS_MAX];
};

/* Waits for all blocks of a cluster, and makes what they wrote visible to each other. */
static __device__ __forceinline__ void sync_cluster() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release.aligned;\n\t"
               "barrier.cluster.wait.acquire.aligned;" ::: "memory");
#else
  __syncthreads();
#endif
}

/* Threads that share a level: those of all blocks of the kernel, or of one block. */
struct Team {
  int block, blocks;
  __device__ void sync() const {
    blocks > 1 ? sync_cluster() : __syncthreads();
  }
  __device__ int first() const { return block * (int)blockDim.x + (int)threadIdx.x; }
  __device__ int step() const { return blocks * (int)blockDim.x; }
};

/* Calls use(row, x_i, (A x)_i) for all rows of a level; all threads of the team call it. */
template <class F>
static __device__ void for_products(const Team &team, const HkGpuMatrix &A, const HkGpuFour *x,
                                    HkGpuFour *part, F use) {
  const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
  const int slices = (A.n + WARP - 1) / WARP, warps = team.blocks * SMALL_WARPS;
  const bool springs = A.spring != NULL;
  int lanes = 1;
  while (2 * lanes <= SMALL_LANES_MAX && 2 * lanes * slices <= warps) lanes *= 2;
  const int groups = SMALL_WARPS / lanes;
  for (int base = team.block * groups; base < slices; base += team.blocks * groups) {
    const int slice = base + warp / lanes, i = slice * WARP + lane;
    const bool mine = slice < slices && i < A.n;
    HkGpuFour q = hk_gpu_four(0, 0, 0), xi = q;
    if (mine) {
      xi = x[i];
      q = hk_gpu_row_product(&A, springs, x, i, xi, warp % lanes, lanes);
    }
    if (lanes > 1) {
      part[threadIdx.x] = q;
      __syncthreads();
    }
    if (mine && warp % lanes == 0) {
      for (int e = 1; e < lanes; e++) hk_gpu_four_axpy(1, part[threadIdx.x + WARP * e], &q);
      hk_gpu_four_axpy(1, hk_gpu_row_sum_product(&A, i, xi), &q);
      use(i, xi, q);
    }
    if (lanes > 1) __syncthreads();
  }
  team.sync();
}

static __device__ void smooth_small(const Team &team, const Level &l, bool zero, HkGpuFour *part) {
  const HkGpuMatrix &A = l.A;
  if (zero) {
    for (int i = team.first(); i < A.n; i += team.step())
      l.before[i] = hk_gpu_smooth_zero(&A, i, l.b[i]);
    team.sync();
  } else {
    for_products(team, A, l.x, part, [&](int i, const HkGpuFour &xi, const HkGpuFour &q) {
      l.before[i] = hk_gpu_smooth(&A, i, false, l.b[i], q, xi, xi);
    });
  }
  for_products(team, A, l.before, part, [&](int i, const HkGpuFour &xi, const HkGpuFour &q) {
    HkGpuFour old = zero ? hk_gpu_four(0, 0, 0) : l.x[i];
    l.x[i] = hk_gpu_smooth(&A, i, true, l.b[i], q, xi, old);
  });
}

/* Smooths level l, and restricts its residual to the next one, if there is one. */
static __device__ void go_down(const Team &team, const Level &l, const Level *next, bool zero,
                               HkGpuFour *part) {
  smooth_small(team, l, zero, part);
  if (!next) return;
  for_products(team, l.A, l.x, part, [&](int i, const HkGpuFour &, const HkGpuFour &q) {
    l.r[i] = hk_gpu_four_sub(l.b[i], q);
  });
  for (int i = team.first(); i < next->A.n; i += team.step())
    next->b[i] = hk_gpu_list_sum(&l.restrict_to, l.r, i);
  team.sync();
}

/* Adds the correction of the next level, if there is one, and smooths. */
static __device__ void go_up(const Team &team, const Level &l, const Level *next, HkGpuFour *part) {
  for (int i = team.first(); next && i < l.A.n; i += team.step())
    if (hk_gpu_row_moves(&l.A, i)) {
      HkGpuFour to = l.x[i];
      hk_gpu_four_axpy(1, hk_gpu_list_sum(&l.prolong, next->x, i), &to);
      l.x[i] = to;
    }
  team.sync();
  smooth_small(team, l, false, part);
}

/* x of the first small level, from 0 if `zero`; all blocks are one cluster. */
__global__ void __launch_bounds__(SMALL_THREADS)
    cycle_small(__grid_constant__ const SmallLevels s, int zero) {
  __shared__ HkGpuFour part[SMALL_THREADS];
  const Team all = {(int)blockIdx.x, (int)gridDim.x}, one = {0, 1};
  const int last = s.count - 1;
  auto next = [&](int k) { return k < last ? &s.level[k + 1] : NULL; };
  let_next_come();
  wait_for_last();
  for (int k = 0; k < s.shared; k++) go_down(all, s.level[k], next(k), k > 0 || zero, part);
  if (blockIdx.x == 0) {
    for (int k = s.shared; k < s.count; k++) {
      const Level &l = s.level[k];
      if (k == last && s.exact)
        solve_dense(l.A.n, s.inverse, l.b, l.x);
      else
        go_down(one, l, next(k), k > 0 || zero, part);
    }
    __syncthreads();
    for (int k = s.exact ? last - 1 : last; k >= s.shared; k--)
      go_up(one, s.level[k], next(k), part);
  }
  all.sync();
  for (int k = s.shared - 1; k >= 0; k--) go_up(all, s.level[k], next(k), part);
}

/* Launches cycle_small with the blocks that its levels need. */
static void queue_small(const SmallLevels &s, bool zero, cudaStream_t queue) {
  cudaLaunchAttribute attributes[2] = {};
  attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[0].val.programmaticStreamSerializationAllowed = 1;
  attributes[1].id = cudaLaunchAttributeClusterDimension;
  attributes[1].val.clusterDim.x = CLUSTER_BLOCKS;
  attributes[1].val.clusterDim.y = attributes[1].val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(s.shared > 0 ? CLUSTER_BLOCKS : 1);
  config.blockDim = dim3(SMALL_THREADS);
  config.stream = queue;
  config.attrs = attributes;
  config.numAttrs = s.shared > 0 ? 2 : 1;
  cudaLaunchKernelEx(&config, cycle_small, s, (int)zero);
}

} // namespace HK_SPACE

#endif
