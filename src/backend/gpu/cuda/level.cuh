/* Kernels of the levels of multigrid: products, the smoother, restriction and prolongation, P^T A
 * P, bounds of eigenvalues and the dense inverse of the last level; gpu/hierarchy.h has the layout,
 * gpu/level.h the arithmetic of a row.
 *
 * Blocks have BLOCK_THREADS threads. A warp has the 32 rows of a slice, so that it reads
 * consecutive numbers. LANES warps share a slice on small levels, which are bound by latency: each
 * takes every LANES-th slot.
 */
#ifndef HK_CUDA_LEVEL_CUH
#define HK_CUDA_LEVEL_CUH

#include "descent.cuh"
#include "backend/gpu/level.h"

namespace HK_SPACE {

/* A level in device memory. */
struct Level {
  HkGpuMatrix A;
  int cycles, pair_count;
  HkGpuListsAt prolong, restrict_to, pair_entries, pair_rows, row_rows, row_entries;
  const int32_t *pair;
  HkGpuFour *x, *before; /* iterates of the smoother; x holds the result of a visit */
  HkGpuFour *b;
  HkGpuFour *r; /* b - A x between the two smoothers of a cycle, in the memory of `before` */
  HkGpuFour *power[2];
  double *norm; /* of the last power iteration */
};

/* Sums in a fixed order over all blocks of a kernel. */
struct Sums {
  double *part; /* one for each block and value */
  int stride;
  unsigned *arrived;
};

/* Returns whether this is the last block to arrive; `own` of thread 0 then is the sum over all
 * blocks, or the largest one from value `first_max` on. */
template <int VALUES>
static __device__ bool sum_blocks(const Sums &sums, int first_max, double own[VALUES]) {
  __shared__ bool last;
  for (int k = 0; k < VALUES; k++) own[k] = k < first_max ? block_sum(own[k]) : block_max(own[k]);
  if (threadIdx.x == 0) {
    for (int k = 0; k < VALUES; k++) sums.part[k * sums.stride + blockIdx.x] = own[k];
    __threadfence();
    last = atomicAdd(sums.arrived, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return false;
  __threadfence();
  for (int k = 0; k < VALUES; k++) {
    own[k] = 0;
    for (int q = threadIdx.x; q < (int)gridDim.x; q += blockDim.x) {
      double part = __ldcg(sums.part + k * sums.stride + q);
      own[k] = k < first_max ? own[k] + part : fmax(own[k], part);
    }
    own[k] = k < first_max ? block_sum(own[k]) : block_max(own[k]);
  }
  if (threadIdx.x > 0) return false;
  *sums.arrived = 0;
  return true;
}

/* ---- Products ---- */

enum { WARP = 32, BLOCK_WARPS = BLOCK_THREADS / WARP };

static unsigned rows_blocks(int64_t n, int lanes) {
  return blocks_for(n * lanes, BLOCK_THREADS);
}

/* q = (A x)_i of the row of this thread; returns false in threads without a row of their own. All
 * threads of a block call it. */
template <bool SPRINGS, int LANES>
static __device__ __forceinline__ bool product_of_row(const HkGpuMatrix &A, const HkGpuFour *x,
                                                      int *row, HkGpuFour *xi, HkGpuFour *q) {
  const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
  const int i = ((int)blockIdx.x * (BLOCK_WARPS / LANES) + warp / LANES) * WARP + lane;
  *row = i;
  *q = hk_gpu_four(0, 0, 0);
  if (i < A.n) {
    *xi = x[i];
    *q = hk_gpu_row_product(&A, SPRINGS, x, i, *xi, warp % LANES, LANES);
  }
  if (LANES > 1) {
    __shared__ HkGpuFour part[BLOCK_WARPS][WARP];
    part[warp][lane] = *q;
    __syncthreads();
    if (warp % LANES > 0) return false;
#pragma unroll
    for (int e = 1; e < LANES; e++) hk_gpu_four_axpy(1, part[warp + e][lane], q);
  }
  if (i >= A.n) return false;
  hk_gpu_four_axpy(1, hk_gpu_row_sum_product(&A, i, *xi), q);
  return true;
}

/* x1 from 0. */
__global__ void __launch_bounds__(BLOCK_THREADS)
    smooth_zero(__grid_constant__ const HkGpuMatrix A, const HkGpuFour *b, HkGpuFour *to) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  let_next_come();
  wait_for_last();
  if (i < A.n) to[i] = hk_gpu_smooth_zero(&A, i, b[i]);
}

/* What `to` holds before smooth: the iterate before x, which is 0 or there, or nothing of use. */
enum Before { BEFORE_ZERO, BEFORE_THERE, BEFORE_NONE };

/* x1 of the smoother, or x2 unless `before` is BEFORE_NONE. */
template <bool SPRINGS, int LANES>
__global__ void __launch_bounds__(BLOCK_THREADS)
    smooth(__grid_constant__ const HkGpuMatrix A, int before, const HkGpuFour *b,
           const HkGpuFour *x, HkGpuFour *to) {
  int i;
  HkGpuFour xi, q;
  let_next_come();
  wait_for_last();
  if (!product_of_row<SPRINGS, LANES>(A, x, &i, &xi, &q)) return;
  HkGpuFour old = before == BEFORE_THERE ? to[i] : hk_gpu_four(0, 0, 0);
  to[i] = hk_gpu_smooth(&A, i, before != BEFORE_NONE, b[i], q, xi, old);
}

/* r = b - A x */
template <bool SPRINGS, int LANES>
__global__ void __launch_bounds__(BLOCK_THREADS)
    residual(__grid_constant__ const HkGpuMatrix A, const HkGpuFour *b, const HkGpuFour *x,
             HkGpuFour *r) {
  int i;
  HkGpuFour xi, q;
  let_next_come();
  wait_for_last();
  if (product_of_row<SPRINGS, LANES>(A, x, &i, &xi, &q)) r[i] = hk_gpu_four_sub(b[i], q);
}

/* b of the next level = P^T r */
__global__ void __launch_bounds__(BLOCK_THREADS)
    restrict_residual(const HkGpuListsAt T, int n, const HkGpuFour *r, HkGpuFour *b) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  let_next_come();
  wait_for_last();
  if (i < n) b[i] = hk_gpu_list_sum(&T, r, i);
}

/* x += P e, but in rows that do not move unless ALL. */
template <bool ALL>
__global__ void __launch_bounds__(BLOCK_THREADS)
    add_correction(__grid_constant__ const HkGpuMatrix A, const HkGpuListsAt P, const HkGpuFour *e,
                   HkGpuFour *x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  let_next_come();
  wait_for_last();
  if (i >= A.n || (!ALL && !hk_gpu_row_moves(&A, i))) return;
  HkGpuFour to = x[i];
  hk_gpu_four_axpy(1, hk_gpu_list_sum(&P, e, i), &to);
  x[i] = to;
}

/* ---- P^T A P ---- */

/* Clears the entries of a level; padding stays so. */
__global__ void clear_entries(const HkGpuMatrix A, int64_t entries) {
  const int64_t e = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  const float none[6] = {0, 0, 0, 0, 0, 0};
  if (e < entries) hk_gpu_store_entry(&A, e, none);
}

/* Lists of pairs and of rows of one kernel: slices of 32, LANES warps a slice. */
static unsigned project_blocks(int64_t lists, int lanes) {
  return blocks_for((lists + WARP - 1) / WARP * WARP * lanes, BLOCK_THREADS);
}

/* The blocks of the pairs, then those of the rows, of the next level. project and invert_diagonal
 * do not let the next kernel come early: it reads what they write through the read-only cache
 * (__ldg), which needs data that are constant while a kernel runs. */
template <bool SPRINGS, int LANES>
__global__ void __launch_bounds__(BLOCK_THREADS)
    project(__grid_constant__ const Level l, __grid_constant__ const HkGpuMatrix next,
            unsigned pair_blocks) {
  const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
  const bool pairs = blockIdx.x < pair_blocks;
  const int block = (int)(pairs ? blockIdx.x : blockIdx.x - pair_blocks);
  const int list = (block * (BLOCK_WARPS / LANES) + warp / LANES) * WARP + lane;
  const bool mine = list < (pairs ? l.pair_count : next.n);
  float m[6];
  wait_for_last();
  if (mine && pairs)
    hk_gpu_sum_terms(&l.A, SPRINGS, &l.pair_entries, &l.pair_rows, list, warp % LANES, LANES, m);
  if (mine && !pairs)
    hk_gpu_sum_terms(&l.A, SPRINGS, &l.row_entries, &l.row_rows, list, warp % LANES, LANES, m);
  if (LANES > 1) {
    __shared__ float part[6][BLOCK_THREADS];
    for (int k = 0; k < 6 && mine; k++) part[k][threadIdx.x] = m[k];
    __syncthreads();
    if (warp % LANES > 0) return;
    for (int e = 1; e < LANES && mine; e++)
      for (int k = 0; k < 6; k++) m[k] += part[k][threadIdx.x + WARP * e];
  }
  if (!mine) return;
  if (pairs) {
    hk_gpu_store_entry(&next, __ldg(l.pair + 2 * list), m);
    hk_gpu_store_entry(&next, __ldg(l.pair + 2 * list + 1), m);
  } else {
    hk_gpu_store_row_sum(&next, list, m);
  }
}

__global__ void __launch_bounds__(BLOCK_THREADS)
    invert_diagonal(__grid_constant__ const HkGpuMatrix A) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  double m[6];
  wait_for_last();
  if (i >= A.n) return;
  hk_gpu_diagonal_block(&A, i, m);
  hk_gpu_store_inverse(&A, i, m, HK_GPU_DIAGONAL_MORE);
}

/* ---- Bounds of eigenvalues ---- */

__global__ void begin_power(int n, HkGpuFour *x, double *norm) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  let_next_come();
  wait_for_last();
  if (i < n) x[i] = hk_gpu_power_start(i);
  if (i == 0) *norm = 1;
}

/* y = D^-1 A x / norm; norm = |y|, of which the bound of A follows. */
template <int LANES>
__global__ void __launch_bounds__(BLOCK_THREADS)
    iterate_power(__grid_constant__ const HkGpuMatrix A, const HkGpuFour *x, HkGpuFour *y,
                  double *norm, const Sums sums) {
  int i;
  HkGpuFour xi, q;
  double square[1] = {0};
  let_next_come();
  wait_for_last();
  const float scale = (float)(1 / *norm);
  if (product_of_row<false, LANES>(A, x, &i, &xi, &q)) {
    HkGpuFour z = hk_gpu_inverse_times(&A, i, q);
    z = hk_gpu_four(scale * z.x, scale * z.y, scale * z.z);
    y[i] = z;
    square[0] = hk_gpu_four_square(z);
  }
  if (!sum_blocks<1>(sums, 1, square)) return;
  *norm = sqrt(square[0]);
  *A.bound = hk_gpu_eigenvalue_bound(*norm);
}

/* ---- The last level ---- */

enum { DENSE_THREADS = 1024 };

static size_t dense_shared(int n) {
  return (size_t)(9 * n * n) * sizeof(double);
}

/* M = the matrix of a level in shared memory. */
static __device__ void load_dense(const HkGpuMatrix &A, double *M) {
  const int size = 3 * A.n;
  for (int q = threadIdx.x; q < size * size; q += blockDim.x) M[q] = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < A.n; i += blockDim.x) hk_gpu_store_dense_row(&A, i, M);
  __syncthreads();
}

/* inverse = the inverse of the 3 x 3 block at (k, k) of M. */
static __device__ __forceinline__ void invert_pivot(const double *M, int size, int k,
                                                    double inverse[3][3]) {
  double p[3][3];
  for (int a = 0; a < 3; a++)
    for (int b = 0; b < 3; b++) p[a][b] = M[(k + a) * size + k + b];
  for (int a = 0; a < 3; a++)
    for (int b = 0; b < 3; b++) {
      const int c = (b + 1) % 3, d = (b + 2) % 3, e = (a + 1) % 3, f = (a + 2) % 3;
      inverse[a][b] = p[c][e] * p[d][f] - p[c][f] * p[d][e];
    }
  const double scale =
      1 / (p[0][0] * inverse[0][0] + p[0][1] * inverse[1][0] + p[0][2] * inverse[2][0]);
  for (int a = 0; a < 3; a++)
    for (int b = 0; b < 3; b++) inverse[a][b] *= scale;
}

/* The inverse of the last level by Gauss and Jordan in one block, with pivots of 3 x 3, which are
 * positive definite:
 *
 *     M_ij -= M_ik P^-1 M_kj,   M_kj = P^-1 M_kj,   M_ik = -M_ik P^-1,   M_kk = P^-1
 */
__global__ void __launch_bounds__(DENSE_THREADS)
    invert_dense(__grid_constant__ const HkGpuMatrix A, float *inverse) {
  extern __shared__ __align__(16) double M[];
  const int size = 3 * A.n, t = threadIdx.x;
  const int column = t % 128, first = t / 128, step = blockDim.x / 128;
  let_next_come();
  wait_for_last();
  load_dense(A, M);
  for (int k = 0; k < size; k += 3) {
    const bool beside = column < size && (column < k || column >= k + 3);
    double P[3][3], own[3] = {0, 0, 0};
    invert_pivot(M, size, k, P);
    for (int a = 0; a < 3 && beside; a++)
      for (int b = 0; b < 3; b++) own[a] += P[a][b] * M[(k + b) * size + column];
    for (int row = first; row < size && beside; row += step) {
      const double *panel = M + row * size + k;
      if (row < k || row >= k + 3)
        M[row * size + column] -= panel[0] * own[0] + panel[1] * own[1] + panel[2] * own[2];
    }
    __syncthreads();
    if (first == 0 && beside)
      for (int a = 0; a < 3; a++) M[(k + a) * size + column] = own[a];
    if (first == 1 && beside) { /* column: a row here */
      double *panel = M + column * size + k, old[3] = {panel[0], panel[1], panel[2]};
      for (int b = 0; b < 3; b++)
        panel[b] = -(old[0] * P[0][b] + old[1] * P[1][b] + old[2] * P[2][b]);
    }
    if (t < 9) M[(k + t / 3) * size + k + t % 3] = P[t / 3][t % 3];
    __syncthreads();
  }
  for (int q = t; q < size * size; q += blockDim.x)
    inverse[q] = (float)(0.5 * (M[q] + M[q % size * size + q / size]));
}

/* x = inverse b by a block of at least 3 n threads. */
static __device__ void solve_dense(int n, const float *inverse, const HkGpuFour *b, HkGpuFour *x) {
  __shared__ float from[3 * 32], to[3 * 32];
  const int size = 3 * n, t = threadIdx.x;
  if (t < size) from[t] = ((const float *)(b + t / 3))[t % 3];
  __syncthreads();
  if (t < size) {
    float sum = 0;
#pragma unroll 8
    for (int k = 0; k < size; k++) sum += __ldg(inverse + k * size + t) * from[k];
    to[t] = sum;
  }
  __syncthreads();
  if (t < n) x[t] = hk_gpu_four(to[3 * t], to[3 * t + 1], to[3 * t + 2]);
}

} // namespace HK_SPACE

#endif
