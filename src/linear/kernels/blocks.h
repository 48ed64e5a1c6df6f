/* 3x3 blocks and vectors of multigrid in registers: blocks are 3 columns of 4 floats, vectors 4
 * floats a vertex whose last is 0. A block is loaded with the 4 floats that follow it, so that
 * arrays of blocks have as many behind them.
 */
#ifndef HK_LINEAR_KERNELS_BLOCKS_H
#define HK_LINEAR_KERNELS_BLOCKS_H

#include "base/simd.h"

enum { QUADS = HK_FLOATS / 4 };

/* ---- Quads: four floats each, as many as a vector holds ---- */

#if HK_SIMD_BYTES == 64
#define QUAD_SHUFFLE(v, a, b, c, d)                                                                \
  __builtin_shufflevector(v, v, (a), (b), (c), (d), 4 + (a), 4 + (b), 4 + (c), 4 + (d), 8 + (a),   \
                          8 + (b), 8 + (c), 8 + (d), 12 + (a), 12 + (b), 12 + (c), 12 + (d))
#elif HK_SIMD_BYTES == 32
#define QUAD_SHUFFLE(v, a, b, c, d)                                                                \
  __builtin_shufflevector(v, v, (a), (b), (c), (d), 4 + (a), 4 + (b), 4 + (c), 4 + (d))
#else
#define QUAD_SHUFFLE(v, a, b, c, d) __builtin_shufflevector(v, v, (a), (b), (c), (d))
#endif

/* The records of the vertices at[0 .. QUADS - 1]. */
HK_INLINE HkFloats quads_gather(const float *x, const int32_t *at) {
#if HK_SIMD_BYTES == 64
  __m512 v = _mm512_castps128_ps512(_mm_loadu_ps(x + 4 * (int64_t)at[0]));
  v = _mm512_insertf32x4(v, _mm_loadu_ps(x + 4 * (int64_t)at[1]), 1);
  v = _mm512_insertf32x4(v, _mm_loadu_ps(x + 4 * (int64_t)at[2]), 2);
  return _mm512_insertf32x4(v, _mm_loadu_ps(x + 4 * (int64_t)at[3]), 3);
#elif HK_SIMD_BYTES == 32
  return _mm256_loadu2_m128(x + 4 * (int64_t)at[1], x + 4 * (int64_t)at[0]);
#else
  return hk_float4_load(x + 4 * (int64_t)at[0]);
#endif
}

#if HK_SIMD_BYTES == 64
/* A record in every quad; compilers take the way through memory if it is said by a shuffle. */
HK_INLINE HkFloats quads_all(const float *record) {
  return _mm512_broadcast_f32x4(_mm_loadu_ps(record));
}
#endif

/* The first of QUADS numbers in all of quad 0, the second in quad 1 ... */
HK_INLINE HkFloats quads_spread(const float *number) {
#if HK_SIMD_BYTES == 64
  const __m512i which = {0,           0,           0x100000001, 0x100000001,
                         0x200000002, 0x200000002, 0x300000003, 0x300000003};
  return _mm512_permutevar_ps(quads_all(number), which);
#elif HK_SIMD_BYTES == 32
  return (HkFloats){number[0], number[0], number[0], number[0],
                    number[1], number[1], number[1], number[1]};
#else
  return hk_floats_all(number[0]);
#endif
}

HK_INLINE HkFloat4 quads_sum(HkFloats v) {
#if HK_SIMD_BYTES == 64
  typedef float Float8 __attribute__((vector_size(32)));
  Float8 half = __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7) +
                __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15);
  return __builtin_shufflevector(half, half, 0, 1, 2, 3) +
         __builtin_shufflevector(half, half, 4, 5, 6, 7);
#elif HK_SIMD_BYTES == 32
  return __builtin_shufflevector(v, v, 0, 1, 2, 3) + __builtin_shufflevector(v, v, 4, 5, 6, 7);
#else
  return v;
#endif
}

HK_INLINE HkFloat4 without_last(HkFloat4 v) {
  typedef int32_t Mask4 __attribute__((vector_size(16)));
  return (HkFloat4)((Mask4)v & (Mask4){-1, -1, -1, 0});
}

/* ---- Blocks ---- */

#if HK_SIMD_BYTES == 64
typedef HkFloats Block; /* the last quad is of no meaning */

HK_INLINE Block block_load(const float *a) {
  return hk_floats_load(a);
}

HK_INLINE void block_store(float *to, Block a) {
  memcpy(to, &a, 12 * sizeof *to);
}

HK_INLINE Block block_add(Block sum, Block a, float s) {
  return sum + a * hk_floats_all(s);
}

/* -(w w^T + c I), without the last row and column. */
HK_INLINE Block block_of_spring(const float *spring) {
  const HkFloatMask inside = {-1, -1, -1, 0, -1, -1, -1, 0, -1, -1, -1, 0, 0, 0, 0, 0};
  const HkFloats unit = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0};
  HkFloats s = quads_all(spring), c = QUAD_SHUFFLE(s, 3, 3, 3, 3);
  HkFloats square = (HkFloats)(inside & (HkFloatMask)(s * quads_spread(spring)));
  return -square - unit * c;
}

typedef HkFloats RowSum; /* one column's part in each quad */

HK_INLINE RowSum row_add(RowSum sum, const float *a, const float *x) {
  return sum + block_load(a) * quads_spread(x); /* the last: what follows, times 0 */
}

HK_INLINE HkFloat4 row_total(RowSum sum) {
  return quads_sum(sum);
}
#else
typedef struct Block {
  HkFloat4 c[3];
} Block;

HK_INLINE Block block_load(const float *a) {
  return (Block){{hk_float4_load(a), hk_float4_load(a + 4), hk_float4_load(a + 8)}};
}

HK_INLINE void block_store(float *to, Block a) {
  for (int c = 0; c < 3; c++) hk_float4_store(to + 4 * c, a.c[c]);
}

HK_INLINE Block block_add(Block sum, Block a, float s) {
  for (int c = 0; c < 3; c++) sum.c[c] = sum.c[c] + a.c[c] * s;
  return sum;
}

HK_INLINE Block block_of_spring(const float *spring) {
  HkFloat4 s = hk_float4_load(spring), w = without_last(s);
  Block a;
  for (int c = 0; c < 3; c++) {
    a.c[c] = -w * w[c];
    a.c[c][c] -= s[3];
  }
  return a;
}

typedef HkFloat4 RowSum;

HK_INLINE RowSum row_add(RowSum sum, const float *a, const float *x) {
  for (int c = 0; c < 3; c++) sum = sum + hk_float4_load(a + 4 * c) * x[c];
  return sum;
}

HK_INLINE HkFloat4 row_total(RowSum sum) {
  return sum;
}
#endif

HK_INLINE HkFloat4 block_times(const float *a, HkFloat4 x) {
  return hk_float4_load(a) * x[0] + hk_float4_load(a + 4) * x[1] + hk_float4_load(a + 8) * x[2];
}

/* The inverse of a symmetric block, its diagonal a little larger so that rounding cannot make it
 * indefinite. */
HK_INLINE void invert_block(float a[12]) {
  double trace = (double)a[0] + a[5] + a[10], more = 1e-6 * trace;
  if (!(trace > 0)) { /* no vertex stands here, or follows this one */
    memset(a, 0, 12 * sizeof *a);
    return;
  }
  double p = a[0] + more, q = a[5] + more, r = a[10] + more, b = a[4], c = a[8], d = a[9];
  double A = q * r - d * d, B = c * d - b * r, C = b * d - q * c;
  double scale = 1 / (p * A + b * B + c * C);
  a[0] = (float)(A * scale);
  a[5] = (float)((p * r - c * c) * scale);
  a[10] = (float)((p * q - b * b) * scale);
  a[1] = a[4] = (float)(B * scale);
  a[2] = a[8] = (float)(C * scale);
  a[6] = a[9] = (float)((b * c - p * d) * scale);
}

#endif
