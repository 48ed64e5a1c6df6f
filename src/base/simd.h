/* Vectors for the files in src/FOLDER/kernels, which are compiled once for each instruction set
 * with
 *
 *     HK_SIMD_BYTES   64 (AVX-512), 32 (AVX2) or 16 (SSE2, NEON, WebAssembly, or none)
 *     HK_ISA_NAME     avx512, avx2 or portable, the end of the names that the file defines
 *
 * Arithmetic on these types is the compiler's (+ - * / on whole vectors, comparisons give masks).
 * Loads of three coordinates read a fourth number beyond them: vectors of 3 n doubles are allocated
 * with HK_PAD more (memory.h).
 */
#ifndef HK_BASE_SIMD_H
#define HK_BASE_SIMD_H

#include <stdint.h>
#include <string.h>

#if HK_SIMD_BYTES > 16
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__wasm_simd128__)
#include <wasm_simd128.h>
#else
#include <math.h>
#endif

#define HK_KERNEL_JOIN(name, isa) name##_##isa
#define HK_KERNEL_NAME(name, isa) HK_KERNEL_JOIN(name, isa)
#define HK_KERNEL(name) HK_KERNEL_NAME(name, HK_ISA_NAME)

#define HK_INLINE static inline __attribute__((always_inline))

enum { HK_DOUBLES = HK_SIMD_BYTES / 8, HK_FLOATS = HK_SIMD_BYTES / 4 };

typedef double HkDoubles __attribute__((vector_size(HK_SIMD_BYTES)));
typedef float HkFloats __attribute__((vector_size(HK_SIMD_BYTES)));
typedef int64_t HkDoubleMask __attribute__((vector_size(HK_SIMD_BYTES)));
typedef int32_t HkFloatMask __attribute__((vector_size(HK_SIMD_BYTES)));
typedef float HkFloat4 __attribute__((vector_size(16)));
typedef double HkDouble4 __attribute__((vector_size(32)));

/* Keeps a vector in its register: compilers may otherwise load it again for each use, which is slow
 * in loops that are bound by loads. */
#if HK_SIMD_BYTES > 16
#define HK_IN_REGISTER(vector) __asm__("" : "+v"(vector))
#else
#define HK_IN_REGISTER(vector) (void)(vector)
#endif

/* ---- Loads and stores at any address ---- */

HK_INLINE HkDoubles hk_doubles_load(const double *p) {
  HkDoubles v;
  memcpy(&v, p, sizeof v);
  return v;
}

HK_INLINE void hk_doubles_store(double *p, HkDoubles v) {
  memcpy(p, &v, sizeof v);
}

/* Load or store the first `count` lanes, at least one; a load sets the others to 0. */
HK_INLINE HkDoubles hk_doubles_load_first(const double *p, int count) {
  if (count == HK_DOUBLES) return hk_doubles_load(p);
#if HK_SIMD_BYTES == 64
  return _mm512_maskz_loadu_pd((__mmask8)((1 << count) - 1), p);
#elif HK_SIMD_BYTES == 32
  const HkDoubleMask lane = {0, 1, 2, 3};
  return _mm256_maskload_pd(p, (__m256i)(lane < count));
#else
  return (HkDoubles){p[0]};
#endif
}

HK_INLINE void hk_doubles_store_first(double *p, int count, HkDoubles v) {
  if (count == HK_DOUBLES) {
    hk_doubles_store(p, v);
    return;
  }
#if HK_SIMD_BYTES == 64
  _mm512_mask_storeu_pd(p, (__mmask8)((1 << count) - 1), v);
#elif HK_SIMD_BYTES == 32
  const HkDoubleMask lane = {0, 1, 2, 3};
  _mm256_maskstore_pd(p, (__m256i)(lane < count), v);
#else
  p[0] = v[0];
#endif
}

HK_INLINE HkFloats hk_floats_load(const float *p) {
  HkFloats v;
  memcpy(&v, p, sizeof v);
  return v;
}

HK_INLINE void hk_floats_store(float *p, HkFloats v) {
  memcpy(p, &v, sizeof v);
}

HK_INLINE HkFloat4 hk_float4_load(const float *p) {
  HkFloat4 v;
  memcpy(&v, p, sizeof v);
  return v;
}

HK_INLINE void hk_float4_store(float *p, HkFloat4 v) {
  memcpy(p, &v, sizeof v);
}

HK_INLINE HkDoubles hk_doubles_all(double s) {
  return s - (HkDoubles){0};
}

HK_INLINE HkFloats hk_floats_all(float s) {
  return s - (HkFloats){0};
}

/* Returns a in lanes where the mask is set, b in the others. */
HK_INLINE HkDoubles hk_doubles_select(HkDoubleMask mask, HkDoubles a, HkDoubles b) {
  return (HkDoubles)((mask & (HkDoubleMask)a) | (~mask & (HkDoubleMask)b));
}

HK_INLINE HkFloats hk_floats_select(HkFloatMask mask, HkFloats a, HkFloats b) {
  return (HkFloats)((mask & (HkFloatMask)a) | (~mask & (HkFloatMask)b));
}

/* Returns the maximum as max instructions do: b unless a > b, so b if a is NAN. */
HK_INLINE HkDoubles hk_doubles_most(HkDoubles a, HkDoubles b) {
#if HK_SIMD_BYTES == 64
  return _mm512_max_pd(a, b);
#elif HK_SIMD_BYTES == 32
  return _mm256_max_pd(a, b);
#elif defined(__SSE2__)
  return _mm_max_pd(a, b);
#elif defined(__wasm_simd128__)
  return (HkDoubles)wasm_f64x2_pmax((v128_t)b, (v128_t)a);
#else
  return hk_doubles_select(a > b, a, b);
#endif
}

/* Returns the correctly rounded square root, which the compiler's vector types lack. */
HK_INLINE HkDoubles hk_doubles_sqrt(HkDoubles v) {
#if HK_SIMD_BYTES == 64
  return _mm512_sqrt_pd(v);
#elif HK_SIMD_BYTES == 32
  return _mm256_sqrt_pd(v);
#elif defined(__SSE2__)
  return _mm_sqrt_pd(v);
#elif defined(__wasm_simd128__)
  return (HkDoubles)wasm_f64x2_sqrt((v128_t)v);
#else
  for (int l = 0; l < HK_DOUBLES; l++) v[l] = sqrt(v[l]);
  return v;
#endif
}

HK_INLINE HkFloats hk_floats_sqrt(HkFloats v) {
#if HK_SIMD_BYTES == 64
  return _mm512_sqrt_ps(v);
#elif HK_SIMD_BYTES == 32
  return _mm256_sqrt_ps(v);
#elif defined(__SSE2__)
  return _mm_sqrt_ps(v);
#elif defined(__wasm_simd128__)
  return (HkFloats)wasm_f32x4_sqrt((v128_t)v);
#else
  for (int l = 0; l < HK_FLOATS; l++) v[l] = sqrtf(v[l]);
  return v;
#endif
}

/* Returns 1 / sqrt(v) with an error of one or two units in the last place: the processor's
 * estimate, if it has one, and one step of Newton's method. v must be positive with a nonzero
 * square root. */
HK_INLINE HkFloats hk_floats_rsqrt(HkFloats v) {
#if HK_SIMD_BYTES == 64
  HkFloats r = _mm512_rsqrt14_ps(v);
#elif HK_SIMD_BYTES == 32
  HkFloats r = _mm256_rsqrt_ps(v);
#elif defined(__SSE2__)
  HkFloats r = _mm_rsqrt_ps(v);
#else
  return 1 / hk_floats_sqrt(v);
#endif
#if HK_SIMD_BYTES > 16 || defined(__SSE2__)
  return r * (1.5f - 0.5f * v * r * r);
#endif
}

/* Returns the pairwise sum of all lanes. */
HK_INLINE double hk_doubles_sum(HkDoubles v) {
  double a[HK_DOUBLES];
  memcpy(a, &v, sizeof a);
  for (int width = HK_DOUBLES / 2; width > 0; width /= 2)
    for (int l = 0; l < width; l++) a[l] += a[l + width];
  return a[0];
}

/* ---- Records of three coordinates ---- */

#if HK_SIMD_BYTES > 16
HK_INLINE HkDouble4 hk_double4_load(const double *p) {
  HkDouble4 v;
  memcpy(&v, p, sizeof v);
  return v;
}
#endif

/* Gathers x, y, z of the records at x + at[0 .. HK_DOUBLES - 1], one in each lane. It loads whole
 * records and transposes them in registers, which is faster than gather instructions. */
HK_INLINE void hk_doubles_gather(const double *x, const int32_t *at, HkDoubles out[3]) {
#if HK_SIMD_BYTES == 64
#define HK_PAIR(a, b)                                                                              \
  __builtin_shufflevector(hk_double4_load(x + at[a]), hk_double4_load(x + at[b]), 0, 1, 2, 3, 4,   \
                          5, 6, 7)
  HkDoubles a = HK_PAIR(0, 2), b = HK_PAIR(1, 3), c = HK_PAIR(4, 6), d = HK_PAIR(5, 7);
#undef HK_PAIR
  HkDoubles ab = __builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14); /* x x z z */
  HkDoubles cd = __builtin_shufflevector(c, d, 0, 8, 2, 10, 4, 12, 6, 14);
  HkDoubles AB = __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15); /* y y . . */
  HkDoubles CD = __builtin_shufflevector(c, d, 1, 9, 3, 11, 5, 13, 7, 15);
  out[0] = __builtin_shufflevector(ab, cd, 0, 1, 4, 5, 8, 9, 12, 13);
  out[1] = __builtin_shufflevector(AB, CD, 0, 1, 4, 5, 8, 9, 12, 13);
  out[2] = __builtin_shufflevector(ab, cd, 2, 3, 6, 7, 10, 11, 14, 15);
#elif HK_SIMD_BYTES == 32
  HkDouble4 a = hk_double4_load(x + at[0]), b = hk_double4_load(x + at[1]);
  HkDouble4 c = hk_double4_load(x + at[2]), d = hk_double4_load(x + at[3]);
  HkDouble4 ab = __builtin_shufflevector(a, b, 0, 4, 2, 6);
  HkDouble4 cd = __builtin_shufflevector(c, d, 0, 4, 2, 6);
  HkDouble4 AB = __builtin_shufflevector(a, b, 1, 5, 3, 7);
  HkDouble4 CD = __builtin_shufflevector(c, d, 1, 5, 3, 7);
  out[0] = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
  out[1] = __builtin_shufflevector(AB, CD, 0, 1, 4, 5);
  out[2] = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
#else
  const double *a = x + at[0], *b = x + at[1];
  for (int c = 0; c < 3; c++) out[c] = (HkDoubles){a[c], b[c]};
#endif
}

/* Load x, y, z of consecutive records at p, one in each lane, and store them. */
#if HK_SIMD_BYTES == 64
HK_INLINE void hk_doubles_load3(const double *p, HkDoubles out[3]) {
  HkDoubles a = hk_doubles_load(p), b = hk_doubles_load(p + 8), c = hk_doubles_load(p + 16);
  HkDoubles x = __builtin_shufflevector(a, b, 0, 3, 6, 9, 12, 15, -1, -1);
  HkDoubles y = __builtin_shufflevector(a, b, 1, 4, 7, 10, 13, -1, -1, -1);
  HkDoubles z = __builtin_shufflevector(a, b, 2, 5, 8, 11, 14, -1, -1, -1);
  out[0] = __builtin_shufflevector(x, c, 0, 1, 2, 3, 4, 5, 10, 13);
  out[1] = __builtin_shufflevector(y, c, 0, 1, 2, 3, 4, 8, 11, 14);
  out[2] = __builtin_shufflevector(z, c, 0, 1, 2, 3, 4, 9, 12, 15);
}

HK_INLINE void hk_doubles_store3(double *p, const HkDoubles v[3]) {
  HkDoubles a = __builtin_shufflevector(v[0], v[1], 0, 8, -1, 1, 9, -1, 2, 10);
  HkDoubles b = __builtin_shufflevector(v[0], v[1], -1, 3, 11, -1, 4, 12, -1, 5);
  HkDoubles c = __builtin_shufflevector(v[0], v[1], 13, -1, 6, 14, -1, 7, 15, -1);
  hk_doubles_store(p, __builtin_shufflevector(a, v[2], 0, 1, 8, 3, 4, 9, 6, 7));
  hk_doubles_store(p + 8, __builtin_shufflevector(b, v[2], 10, 1, 2, 11, 4, 5, 12, 7));
  hk_doubles_store(p + 16, __builtin_shufflevector(c, v[2], 0, 13, 2, 3, 14, 5, 6, 15));
}
#elif HK_SIMD_BYTES == 32
HK_INLINE void hk_doubles_load3(const double *p, HkDoubles out[3]) {
  HkDoubles a = hk_doubles_load(p), b = hk_doubles_load(p + 4), c = hk_doubles_load(p + 8);
  HkDoubles ab = __builtin_shufflevector(a, b, 0, 1, 6, 7); /* x y x y */
  HkDoubles bc = __builtin_shufflevector(b, c, 0, 1, 6, 7); /* y z y z */
  HkDoubles ac = __builtin_shufflevector(a, c, 2, 3, 4, 5); /* z x z x */
  out[0] = __builtin_shufflevector(ab, ac, 0, 5, 2, 7);
  out[1] = __builtin_shufflevector(ab, bc, 1, 4, 3, 6);
  out[2] = __builtin_shufflevector(ac, bc, 0, 5, 2, 7);
}

HK_INLINE void hk_doubles_store3(double *p, const HkDoubles v[3]) {
  HkDoubles xy = __builtin_shufflevector(v[0], v[1], 0, 4, 2, 6);
  HkDoubles yz = __builtin_shufflevector(v[1], v[2], 1, 5, 3, 7);
  HkDoubles zx = __builtin_shufflevector(v[2], v[0], 0, 5, 2, 7);
  hk_doubles_store(p, __builtin_shufflevector(xy, zx, 0, 1, 4, 5));
  hk_doubles_store(p + 4, __builtin_shufflevector(yz, xy, 0, 1, 6, 7));
  hk_doubles_store(p + 8, __builtin_shufflevector(zx, yz, 2, 3, 6, 7));
}
#else
HK_INLINE void hk_doubles_load3(const double *p, HkDoubles out[3]) {
  for (int c = 0; c < 3; c++) out[c] = (HkDoubles){p[c], p[3 + c]};
}

HK_INLINE void hk_doubles_store3(double *p, const HkDoubles v[3]) {
  for (int c = 0; c < 3; c++) {
    p[c] = v[c][0];
    p[3 + c] = v[c][1];
  }
}
#endif

/* ---- Records of four floats: x, y, z and padding ---- */

/* For each four lanes of a and b: HK_UNPACK_* interleave the first or last two, HK_JOIN_*
 * concatenate the first or last two. */
#if HK_SIMD_BYTES == 64
typedef float HkFloat8 __attribute__((vector_size(32)));
#define HK_UNPACK_LOW(a, b)                                                                        \
  __builtin_shufflevector(a, b, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29)
#define HK_UNPACK_HIGH(a, b)                                                                       \
  __builtin_shufflevector(a, b, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31)
#define HK_JOIN_LOW(a, b)                                                                          \
  __builtin_shufflevector(a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29)
#define HK_JOIN_HIGH(a, b)                                                                         \
  __builtin_shufflevector(a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31)
#elif HK_SIMD_BYTES == 32
#define HK_UNPACK_LOW(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 4, 12, 5, 13)
#define HK_UNPACK_HIGH(a, b) __builtin_shufflevector(a, b, 2, 10, 3, 11, 6, 14, 7, 15)
#define HK_JOIN_LOW(a, b) __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13)
#define HK_JOIN_HIGH(a, b) __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15)
#else
#define HK_UNPACK_LOW(a, b) __builtin_shufflevector(a, b, 0, 4, 1, 5)
#define HK_UNPACK_HIGH(a, b) __builtin_shufflevector(a, b, 2, 6, 3, 7)
#define HK_JOIN_LOW(a, b) __builtin_shufflevector(a, b, 0, 1, 4, 5)
#define HK_JOIN_HIGH(a, b) __builtin_shufflevector(a, b, 2, 3, 6, 7)
#endif

/* Loads the records at x + at[first], x + at[first + 4], x + at[first + 8] ..., as many as a vector
 * holds. */
HK_INLINE HkFloats hk_floats_every_fourth(const float *x, const int32_t *at, int first) {
#define HK_RECORD(q) hk_float4_load(x + at[first + (q)])
#if HK_SIMD_BYTES == 64
  HkFloat8 low = __builtin_shufflevector(HK_RECORD(0), HK_RECORD(4), 0, 1, 2, 3, 4, 5, 6, 7);
  HkFloat8 high = __builtin_shufflevector(HK_RECORD(8), HK_RECORD(12), 0, 1, 2, 3, 4, 5, 6, 7);
  return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
#elif HK_SIMD_BYTES == 32
  return __builtin_shufflevector(HK_RECORD(0), HK_RECORD(4), 0, 1, 2, 3, 4, 5, 6, 7);
#else
  return HK_RECORD(0);
#endif
#undef HK_RECORD
}

/* Gathers x, y, z of the records at x + at[0 .. HK_FLOATS - 1], one in each lane. */
HK_INLINE void hk_floats_gather(const float *x, const int32_t *at, HkFloats out[3]) {
  HkFloats a = hk_floats_every_fourth(x, at, 0), b = hk_floats_every_fourth(x, at, 1);
  HkFloats c = hk_floats_every_fourth(x, at, 2), d = hk_floats_every_fourth(x, at, 3);
  HkFloats ab = HK_UNPACK_LOW(a, b), cd = HK_UNPACK_LOW(c, d);
  out[0] = HK_JOIN_LOW(ab, cd);
  out[1] = HK_JOIN_HIGH(ab, cd);
  out[2] = HK_JOIN_LOW(HK_UNPACK_HIGH(a, b), HK_UNPACK_HIGH(c, d));
}

/* Transposes x, y, z back into records: rows[r] becomes the records r, r + 4, r + 8 ... */
HK_INLINE void hk_floats_turn(const HkFloats v[3], HkFloats rows[4]) {
  HkFloats none = {0}, low = HK_UNPACK_LOW(v[0], v[1]), high = HK_UNPACK_HIGH(v[0], v[1]);
  HkFloats z_low = HK_UNPACK_LOW(v[2], none), z_high = HK_UNPACK_HIGH(v[2], none);
  rows[0] = HK_JOIN_LOW(low, z_low);
  rows[1] = HK_JOIN_HIGH(low, z_low);
  rows[2] = HK_JOIN_LOW(high, z_high);
  rows[3] = HK_JOIN_HIGH(high, z_high);
}

/* Load x, y, z of consecutive records at p, which is aligned to 16 bytes, and store them. */
HK_INLINE void hk_floats_load4(const float *p, HkFloats out[3]) {
  static const int32_t in_order[] = {0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60};
  hk_floats_gather(p, in_order, out);
}

HK_INLINE void hk_floats_store4(float *p, const HkFloats v[3]) {
  HkFloats rows[4];
  hk_floats_turn(v, rows);
  for (int r = 0; r < 4; r++) {
    float lanes[HK_FLOATS];
    hk_floats_store(lanes, rows[r]);
    for (int q = 0; q < HK_FLOATS / 4; q++) memcpy(p + 16 * q + 4 * r, lanes + 4 * q, 16);
  }
}

#endif
