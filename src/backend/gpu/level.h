/* Arithmetic of one row, one block and one spring of the multigrid hierarchy, in single precision
 * whatever HkReal is; hierarchy.h has the layout. CUDA kernels and the tests without a GPU compile
 * the same code.
 *
 *     (A x)_i = R_i x_i + sum_j A_ij (x_j - x_i)
 *
 * Smoother: Chebyshev iteration of degree 2 on block Jacobi, D the diagonal blocks of A, for the
 * eigenvalues of D^-1 A in [bound / 4, bound]:
 *
 *     x1 = x0 + c0 / bound D^-1 (b - A x0)
 *     x2 = x1 + c1 (x1 - x0) + c2 / bound D^-1 (b - A x1)
 *
 * The bound is 2 on level 0, where x^T A x <= 2 x^T D x holds spring by spring.
 */
#ifndef HK_BACKEND_GPU_LEVEL_H
#define HK_BACKEND_GPU_LEVEL_H

#include "backend/gpu/arithmetic.h"

#include <stdint.h>

#ifdef __CUDA_ARCH__
#define HK_GPU_READ(p) __ldg(p)
#else
#define HK_GPU_READ(p) (*(p))
#endif

#ifdef __CUDACC__
#define HK_GPU_ALIGN(bytes) __align__(bytes)
#else
#define HK_GPU_ALIGN(bytes)
#endif

/* A vector of a row (w is 0), the spring w w^T + c I as (w, c), or xx, yy, zz, xy of a symmetric
 * block. */
typedef struct HK_GPU_ALIGN(16) HkGpuFour {
  float x, y, z, w;
} HkGpuFour;

/* xz and yz of a symmetric block. */
typedef struct HK_GPU_ALIGN(8) HkGpuTwo {
  float xz, yz;
} HkGpuTwo;

/* The matrix of a level; the pointers lead to memory of the device. */
typedef struct HkGpuMatrix {
  int32_t n;
  const int32_t *start, *column; /* HkGpuLevel */
  HkGpuFour *spring;             /* of each entry on level 0, */
  HkGpuFour *block;              /* on other levels: its block, which is symmetric, */
  HkGpuTwo *rest;                /* in two parts */
  HkGpuFour *R;     /* row sums, which P^T A P gathers: xx, yy, zz, xy and xz, yz, two a row */
  HkGpuFour *D;     /* inverses of diagonal blocks: xx, yy, zz, xy, */
  HkGpuTwo *D_rest; /* and xz, yz */
  double *bound;    /* of the eigenvalues of D^-1 A */
} HkGpuMatrix;

/* HkGpuLists in memory of the device. */
typedef struct HkGpuListsAt {
  const int32_t *start, *index;
  const float *weight;
} HkGpuListsAt;

enum { HK_GPU_LANES = 32 };

static const float HK_GPU_SMOOTH_0 = 1.6f, HK_GPU_SMOOTH_1 = 0.21951220f,
                   HK_GPU_SMOOTH_2 = 1.9512195f;

HK_HOST_DEVICE HkGpuFour hk_gpu_four(float x, float y, float z) {
  HkGpuFour a = {x, y, z, 0};
  return a;
}

HK_HOST_DEVICE HkGpuFour hk_gpu_read_four(const HkGpuFour *p) {
#ifdef __CUDA_ARCH__
  float4 a = __ldg((const float4 *)p);
  HkGpuFour b = {a.x, a.y, a.z, a.w};
  return b;
#else
  return *p;
#endif
}

/* y += s x */
HK_HOST_DEVICE void hk_gpu_four_axpy(float s, HkGpuFour x, HkGpuFour *y) {
  y->x += s * x.x;
  y->y += s * x.y;
  y->z += s * x.z;
}

HK_HOST_DEVICE HkGpuFour hk_gpu_four_sub(HkGpuFour a, HkGpuFour b) {
  return hk_gpu_four(a.x - b.x, a.y - b.y, a.z - b.z);
}

HK_HOST_DEVICE HkGpuTwo hk_gpu_read_two(const HkGpuTwo *p) {
#ifdef __CUDA_ARCH__
  float2 a = __ldg((const float2 *)p);
  HkGpuTwo b = {a.x, a.y};
  return b;
#else
  return *p;
#endif
}

/* q += S u of a symmetric block. */
HK_HOST_DEVICE void hk_gpu_add_symmetric(HkGpuFour S, HkGpuTwo rest, HkGpuFour u, HkGpuFour *q) {
  q->x += S.x * u.x + S.w * u.y + rest.xz * u.z;
  q->y += S.w * u.x + S.y * u.y + rest.yz * u.z;
  q->z += rest.xz * u.x + rest.yz * u.y + S.z * u.z;
}

/* Returns D_i^-1 x, which A stores as D_i. */
HK_HOST_DEVICE HkGpuFour hk_gpu_inverse_times(const HkGpuMatrix *A, int64_t i, HkGpuFour x) {
  HkGpuFour z = {0, 0, 0, 0};
  hk_gpu_add_symmetric(hk_gpu_read_four(A->D + i), hk_gpu_read_two(A->D_rest + i), x, &z);
  return z;
}

/* ---- Products ---- */

/* An entry as it is loaded: a spring, or a block in two parts. */
typedef struct HkGpuEntry {
  HkGpuFour a;
  HkGpuTwo b;
} HkGpuEntry;

HK_HOST_DEVICE HkGpuEntry hk_gpu_read_entry(const HkGpuMatrix *A, bool springs, int64_t e) {
  HkGpuEntry k = {{0, 0, 0, 0}, {0, 0}};
  k.a = hk_gpu_read_four((springs ? A->spring : A->block) + e);
  if (!springs) k.b = hk_gpu_read_two(A->rest + e);
  return k;
}

/* Entries that are loaded at once: what follows waits for an index, and lists are short. */
enum { HK_GPU_TERMS = 4 };

/* Returns the off-diagonal part of (A x)_i over the slots first, first + step ... of row i, xi =
 * x_i; on level 0 if springs. */
HK_HOST_DEVICE HkGpuFour hk_gpu_row_product(const HkGpuMatrix *A, bool springs, const HkGpuFour *x,
                                            int64_t i, HkGpuFour xi, int first, int step) {
  HkGpuFour q = {0, 0, 0, 0};
  int begin = HK_GPU_READ(A->start + i / HK_GPU_LANES);
  int end = HK_GPU_READ(A->start + i / HK_GPU_LANES + 1);
  for (int s = begin + first; s < end; s += HK_GPU_TERMS * step) {
    HkGpuEntry k[HK_GPU_TERMS];
    HkGpuFour u[HK_GPU_TERMS];
    for (int t = 0; t < HK_GPU_TERMS; t++) {
      bool there = s + t * step < end; /* otherwise u is 0 */
      int64_t e = (int64_t)(there ? s + t * step : s) * HK_GPU_LANES + i % HK_GPU_LANES;
      k[t] = hk_gpu_read_entry(A, springs, e);
      u[t] = x[there ? HK_GPU_READ(A->column + e) : i];
    }
    for (int t = 0; t < HK_GPU_TERMS; t++) {
      HkGpuFour v = hk_gpu_four_sub(u[t], xi), a = k[t].a;
      float along = a.x * v.x + a.y * v.y + a.z * v.z;
      if (!springs) {
        hk_gpu_add_symmetric(a, k[t].b, v, &q);
        continue;
      }
      q.x -= a.x * along + a.w * v.x;
      q.y -= a.y * along + a.w * v.y;
      q.z -= a.z * along + a.w * v.z;
    }
  }
  return q;
}

/* Returns R_i x_i. */
HK_HOST_DEVICE HkGpuFour hk_gpu_row_sum_product(const HkGpuMatrix *A, int64_t i, HkGpuFour xi) {
  HkGpuFour a = hk_gpu_read_four(A->R + 2 * i), b = hk_gpu_read_four(A->R + 2 * i + 1);
  return hk_gpu_four(a.x * xi.x + a.w * xi.y + b.x * xi.z, a.w * xi.x + a.y * xi.y + b.y * xi.z,
                     b.x * xi.x + b.y * xi.y + a.z * xi.z);
}

/* ---- The smoother ---- */

/* Returns x1 from x0 = 0. */
HK_HOST_DEVICE HkGpuFour hk_gpu_smooth_zero(const HkGpuMatrix *A, int64_t i, HkGpuFour b) {
  HkGpuFour z = hk_gpu_inverse_times(A, i, b);
  float c = HK_GPU_SMOOTH_0 / (float)*A->bound;
  return hk_gpu_four(c * z.x, c * z.y, c * z.z);
}

/* Returns x1, or x2 if `second`, of row i; x: the newest iterate, before: the one before it, q = (A
 * x)_i. */
HK_HOST_DEVICE HkGpuFour hk_gpu_smooth(const HkGpuMatrix *A, int64_t i, bool second, HkGpuFour b,
                                       HkGpuFour q, HkGpuFour x, HkGpuFour before) {
  HkGpuFour z = hk_gpu_inverse_times(A, i, hk_gpu_four_sub(b, q));
  HkGpuFour to = hk_gpu_four(x.x, x.y, x.z);
  hk_gpu_four_axpy((second ? HK_GPU_SMOOTH_2 : HK_GPU_SMOOTH_0) / (float)*A->bound, z, &to);
  if (second) hk_gpu_four_axpy(HK_GPU_SMOOTH_1, hk_gpu_four_sub(x, before), &to);
  return to;
}

/* Returns sum of weight x[index] over list i. */
HK_HOST_DEVICE HkGpuFour hk_gpu_list_sum(const HkGpuListsAt *lists, const HkGpuFour *x, int64_t i) {
  HkGpuFour sum = {0, 0, 0, 0};
  int begin = HK_GPU_READ(lists->start + i / HK_GPU_LANES);
  int end = HK_GPU_READ(lists->start + i / HK_GPU_LANES + 1);
#ifdef __CUDA_ARCH__
#pragma unroll 4
#endif
  for (int s = begin; s < end; s++) {
    int64_t e = (int64_t)s * HK_GPU_LANES + i % HK_GPU_LANES;
    hk_gpu_four_axpy(HK_GPU_READ(lists->weight + e), x[HK_GPU_READ(lists->index + e)], &sum);
  }
  return sum;
}

/* ---- P^T A P ----
 *
 * Springs are symmetric blocks, and weights are numbers: so all blocks are symmetric, and A_JI =
 * A_IJ. A sum has six numbers: xx, yy, zz, xy, xz, yz.
 */

/* m += w times an entry. */
HK_HOST_DEVICE void hk_gpu_add_entry(HkGpuEntry k, bool springs, float w, float m[6]) {
  float x = w * k.a.x, y = w * k.a.y, z = w * k.a.z, c = w * k.a.w;
  m[0] += springs ? x * k.a.x + c : x;
  m[1] += springs ? y * k.a.y + c : y;
  m[2] += springs ? z * k.a.z + c : z;
  m[3] += springs ? x * k.a.y : c;
  m[4] += springs ? x * k.a.z : w * k.b.xz;
  m[5] += springs ? y * k.a.z : w * k.b.yz;
}

/* m += w R_i */
HK_HOST_DEVICE void hk_gpu_add_row_sum(const HkGpuMatrix *A, int64_t i, float w, float m[6]) {
  HkGpuFour a = hk_gpu_read_four(A->R + 2 * i), b = hk_gpu_read_four(A->R + 2 * i + 1);
  m[0] += w * a.x;
  m[1] += w * a.y;
  m[2] += w * a.z;
  m[3] += w * a.w;
  m[4] += w * b.x;
  m[5] += w * b.y;
}

/* Returns in m the sum over the slots first, first + step ... of a list of entries and of a list of
 * row sums of A. */
HK_HOST_DEVICE void hk_gpu_sum_terms(const HkGpuMatrix *A, bool springs,
                                     const HkGpuListsAt *entries, const HkGpuListsAt *rows,
                                     int64_t list, int first, int step, float m[6]) {
  int64_t slice = list / HK_GPU_LANES, lane = list % HK_GPU_LANES;
  for (int k = 0; k < 6; k++) m[k] = 0;
  int begin = HK_GPU_READ(entries->start + slice), end = HK_GPU_READ(entries->start + slice + 1);
  for (int s = begin + first; s < end; s += HK_GPU_TERMS * step) {
    HkGpuEntry k[HK_GPU_TERMS];
    int32_t index[HK_GPU_TERMS];
    float w[HK_GPU_TERMS];
    for (int q = 0; q < HK_GPU_TERMS; q++) {
      int64_t e = (int64_t)(s + q * step < end ? s + q * step : s) * HK_GPU_LANES + lane;
      index[q] = HK_GPU_READ(entries->index + e);
      w[q] = s + q * step < end ? HK_GPU_READ(entries->weight + e) : 0;
    }
    for (int q = 0; q < HK_GPU_TERMS; q++) k[q] = hk_gpu_read_entry(A, springs, index[q]);
    for (int q = 0; q < HK_GPU_TERMS; q++) hk_gpu_add_entry(k[q], springs, w[q], m);
  }
  begin = HK_GPU_READ(rows->start + slice);
  end = HK_GPU_READ(rows->start + slice + 1);
  for (int s = begin + first; s < end; s += step) {
    int64_t e = (int64_t)s * HK_GPU_LANES + lane;
    float w = HK_GPU_READ(rows->weight + e);
    if (w != 0) hk_gpu_add_row_sum(A, HK_GPU_READ(rows->index + e), w, m);
  }
}

HK_HOST_DEVICE void hk_gpu_store_entry(const HkGpuMatrix *A, int64_t e, const float m[6]) {
  HkGpuFour a = {m[0], m[1], m[2], m[3]};
  HkGpuTwo b = {m[4], m[5]};
  A->block[e] = a;
  A->rest[e] = b;
}

HK_HOST_DEVICE void hk_gpu_store_row_sum(const HkGpuMatrix *A, int64_t i, const float m[6]) {
  HkGpuFour a = {m[0], m[1], m[2], m[3]};
  A->R[2 * i] = a;
  A->R[2 * i + 1] = hk_gpu_four(m[4], m[5], 0);
}

/* Stores the inverse of a positive semidefinite block as D_i; 0 for an empty row. `more`
 * times the trace is added to its diagonal, against the rounding of its terms. */
HK_HOST_DEVICE void hk_gpu_store_inverse(const HkGpuMatrix *A, int64_t i, const double m[6],
                                         double more) {
  double trace = m[0] + m[1] + m[2], add = more * trace, scale = 0;
  double p = m[0] + add, q = m[1] + add, r = m[2] + add, b = m[3], c = m[4], d = m[5];
  double xx = q * r - d * d, xy = c * d - b * r, xz = b * d - q * c;
  double determinant = p * xx + b * xy + c * xz;
  if (trace > 0 && determinant > 0) scale = 1 / determinant;
  HkGpuFour D = {(float)(xx * scale), (float)((p * r - c * c) * scale),
                 (float)((p * q - b * b) * scale), (float)(xy * scale)};
  HkGpuTwo rest = {(float)(xz * scale), (float)((b * c - p * d) * scale)};
  A->D[i] = D;
  A->D_rest[i] = rest;
}

/* m = the diagonal block R_i - sum_j A_ij of a level above 0: xx, yy, zz, xy, xz, yz. */
HK_HOST_DEVICE void hk_gpu_diagonal_block(const HkGpuMatrix *A, int64_t i, double m[6]) {
  int64_t lane = i % HK_GPU_LANES;
  HkGpuFour R = A->R[2 * i], rest = A->R[2 * i + 1];
  m[0] = (double)R.x;
  m[1] = (double)R.y;
  m[2] = (double)R.z;
  m[3] = (double)R.w;
  m[4] = (double)rest.x;
  m[5] = (double)rest.y;
  for (int s = A->start[i / HK_GPU_LANES]; s < A->start[i / HK_GPU_LANES + 1]; s++) {
    int64_t e = (int64_t)s * HK_GPU_LANES + lane;
    HkGpuFour a = A->block[e];
    HkGpuTwo b = A->rest[e];
    m[0] -= (double)a.x;
    m[1] -= (double)a.y;
    m[2] -= (double)a.z;
    m[3] -= (double)a.w;
    m[4] -= (double)b.xz;
    m[5] -= (double)b.yz;
  }
}

/* Part of the trace that is added to a diagonal block on levels above 0. */
#define HK_GPU_DIAGONAL_MORE 1e-6

/* Returns a diagonal element of the last level, raised a little against rounding; 1 where nothing
 * holds a row. */
HK_HOST_DEVICE double hk_gpu_dense_diagonal(double d) {
  return d > 0 ? d * (1 + 1e-5) : 1;
}

/* Stores the blocks of row i of a level above 0 in the dense matrix M of 3 n rows, whose other
 * elements are 0. */
HK_HOST_DEVICE void hk_gpu_store_dense_row(const HkGpuMatrix *A, int64_t i, double *M) {
  const int64_t lane = i % HK_GPU_LANES, size = 3 * (int64_t)A->n;
  double d[6];
  for (int s = A->start[i / HK_GPU_LANES]; s < A->start[i / HK_GPU_LANES + 1]; s++) {
    int64_t e = (int64_t)s * HK_GPU_LANES + lane, j = A->column[e];
    HkGpuFour a = A->block[e];
    HkGpuTwo b = A->rest[e];
    float m[9] = {a.x, a.w, b.xz, a.w, a.y, b.yz, b.xz, b.yz, a.z};
    for (int k = 0; k < 9 && j != i; k++) /* j == i is padding */
      M[(3 * i + k / 3) * size + 3 * j + k % 3] = (double)m[k];
  }
  hk_gpu_diagonal_block(A, i, d);
  const double m[9] = {hk_gpu_dense_diagonal(d[0]), d[3], d[4], d[3],
                       hk_gpu_dense_diagonal(d[1]), d[5], d[4], d[5],
                       hk_gpu_dense_diagonal(d[2])};
  for (int k = 0; k < 9; k++) M[(3 * i + k / 3) * size + 3 * i + k % 3] = m[k];
}

/* Returns whether a row moves: D_i is 0 if the vertex is constrained, or if its row is empty. */
HK_HOST_DEVICE bool hk_gpu_row_moves(const HkGpuMatrix *A, int64_t i) {
  return HK_GPU_READ(&A->D[i].x) != 0;
}

/* ---- Bounds of eigenvalues ---- */

/* Power iterations for the first Hessian of a step, which begin at hk_gpu_power_start, and for each
 * later one, which continue. So a step does not depend on the steps before it. */
enum { HK_GPU_POWER_FIRST = 4, HK_GPU_POWER_NEXT = 2 };

/* Returns a vector without a direction or a wavelength of its own: a hash of the row. */
HK_HOST_DEVICE HkGpuFour hk_gpu_power_start(int64_t i) {
  float v[3];
  uint32_t h = ((uint32_t)i + 1) * 2654435761u;
  for (int c = 0; c < 3; c++) {
    h ^= h << 13;
    h ^= h >> 17;
    h ^= h << 5;
    v[c] = (float)(h >> 8) / 8388608.0f - 1;
  }
  return hk_gpu_four(v[0], v[1], v[2]);
}

HK_HOST_DEVICE double hk_gpu_four_dot(HkGpuFour a, HkGpuFour b) {
  return (double)a.x * b.x + (double)a.y * b.y + (double)a.z * b.z;
}

HK_HOST_DEVICE double hk_gpu_four_square(HkGpuFour a) {
  return hk_gpu_four_dot(a, a);
}

/* Returns the bound from an estimate by power iterations, which is too low: with eigenvalues that
 * are spread evenly from 0 to L, k iterations from a random vector return sqrt((2 k + 1) / (2 k +
 * 3)) L, which is 0.9 L for k = 4. */
HK_HOST_DEVICE double hk_gpu_eigenvalue_bound(double estimate) {
  const double SAFETY = 1.25, LEAST = 1.3;
  return SAFETY * estimate > LEAST ? SAFETY * estimate : LEAST;
}

#endif
