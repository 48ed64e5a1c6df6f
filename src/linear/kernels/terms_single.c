/* The inner loops over weighted terms by vertices; see term_rows.h. */
#include "linear/term_rows.h"

#include "linear/kernels/blocks.h"

#include <math.h>

/* ---- In doubles ---- */

/* Four floats as doubles; a macro, since not all instruction sets can return them. */
#define WIDEN(v) __builtin_convertvector(hk_float4_load(v), HkDouble4)

static void parts(const HkTermRows *t, const double *x, double *part, int64_t begin, int64_t end) {
  for (int64_t k = begin; k < end; k++) {
    const double *at = x + 3 * (int64_t)t->terms->vertex[k];
    double x0 = at[0], x1 = at[1], x2 = at[2];
    for (int64_t q = t->start[k]; q < t->start[k + 1]; q++) {
      const HkTermQuad *e = &t->quad[q];
      HkDouble4 dot = WIDEN(e->v[0]) * x0 + WIDEN(e->v[1]) * x1 + WIDEN(e->v[2]) * x2;
      for (int l = 0; l < 4; l++) part[e->place[l]] = dot[l];
    }
  }
}

static void add(const HkTermRows *t, double scale, const double *y, double *out, int64_t begin,
                int64_t end) {
  for (int64_t k = begin; k < end; k++) {
    HkDouble4 sum[3] = {{0}};
    for (int64_t q = t->start[k]; q < t->start[k + 1]; q++) {
      const HkTermQuad *e = &t->quad[q];
      HkDouble4 of = {y[e->place[0] >> 2], y[e->place[1] >> 2], y[e->place[2] >> 2],
                      y[e->place[3] >> 2]};
      for (int c = 0; c < 3; c++) sum[c] = sum[c] + WIDEN(e->v[c]) * of;
    }
    double *to = out + 3 * (int64_t)t->terms->vertex[k];
    for (int c = 0; c < 3; c++)
      to[c] += scale * ((sum[c][0] + sum[c][1]) + (sum[c][2] + sum[c][3]));
  }
}

/* ---- In floats ---- */

static void parts_single(const HkTermRows *t, const int32_t *row, const float *x, float *part,
                         int64_t begin, int64_t end) {
  for (int64_t k = begin; k < end; k++) {
    const float *at = x + 4 * (int64_t)row[t->terms->vertex[k]];
    float x0 = at[0], x1 = at[1], x2 = at[2];
    for (int64_t q = t->start[k]; q < t->start[k + 1]; q++) {
      const HkTermQuad *e = &t->quad[q];
      HkFloat4 dot = hk_float4_load(e->v[0]) * x0 + hk_float4_load(e->v[1]) * x1 +
                     hk_float4_load(e->v[2]) * x2;
      for (int l = 0; l < 4; l++) part[e->place[l]] = dot[l];
    }
  }
}

HK_INLINE float sum4(HkFloat4 v) {
  return (v[0] + v[1]) + (v[2] + v[3]);
}

static void subtract_single(const HkTermRows *t, const int32_t *row, const float *y, const float *G,
                            const float *x, float *r, int64_t begin, int64_t end) {
  for (int64_t k = begin; k < end; k++) {
    HkFloat4 sum[3] = {{0}};
    for (int64_t q = t->start[k]; q < t->start[k + 1]; q++) {
      const HkTermQuad *e = &t->quad[q];
      HkFloat4 of = {y[e->place[0] >> 2], y[e->place[1] >> 2], y[e->place[2] >> 2],
                     y[e->place[3] >> 2]};
      for (int c = 0; c < 3; c++) sum[c] = sum[c] + hk_float4_load(e->v[c]) * of;
    }
    int64_t at = 4 * (int64_t)row[t->terms->vertex[k]];
    HkFloat4 total = {sum4(sum[0]), sum4(sum[1]), sum4(sum[2]), 0};
    hk_float4_store(r + at, hk_float4_load(r + at) +
                                block_times(G + 12 * k, hk_float4_load(x + at)) - total);
  }
}

/* ---- The diagonal ---- */

HK_INLINE HkFloat4 square(const HkTermQuad *e) {
  HkFloat4 sum = {0};
  for (int c = 0; c < 3; c++) sum = sum + hk_float4_load(e->v[c]) * hk_float4_load(e->v[c]);
  return sum;
}

static void norms_single(const HkTermRows *t, float *part, int64_t begin, int64_t end) {
  for (int64_t q = t->start[begin]; q < t->start[end]; q++) {
    HkFloat4 s = square(&t->quad[q]);
    for (int l = 0; l < 4; l++) part[t->quad[q].place[l]] = sqrtf(s[l]);
  }
}

/* G of one vertex: xx, xy, xz, yy, yz, zz as three columns of four floats. */
HK_INLINE void store_diagonal(const HkFloat4 sum[6], float G[12]) {
  static const int place[12] = {0, 1, 2, -1, 1, 3, 4, -1, 2, 4, 5, -1};
  float total[6];
  for (int c = 0; c < 6; c++) total[c] = sum4(sum[c]);
  for (int c = 0; c < 12; c++) G[c] = place[c] < 0 ? 0 : total[place[c]];
}

static void diagonal_single(const HkTermRows *t, const float *y, float *G, int64_t begin,
                            int64_t end) {
  for (int64_t k = begin; k < end; k++) {
    HkFloat4 sum[6] = {{0}};
    for (int64_t q = t->start[k]; q < t->start[k + 1]; q++) {
      const HkTermQuad *e = &t->quad[q];
      HkFloat4 s = square(e), factor = {0};
      for (int l = 0; l < 4; l++) factor[l] = s[l] > 0 ? y[e->place[l] >> 2] / sqrtf(s[l]) : 0;
      for (int i = 0, at = 0; i < 3; i++)
        for (int j = i; j < 3; j++, at++)
          sum[at] = sum[at] + factor * hk_float4_load(e->v[i]) * hk_float4_load(e->v[j]);
    }
    store_diagonal(sum, G + 12 * k);
  }
}

const HkTermKernels HK_KERNEL(hk_term_kernels) = {.parts = parts,
                                                  .add = add,
                                                  .parts_single = parts_single,
                                                  .subtract_single = subtract_single,
                                                  .norms_single = norms_single,
                                                  .diagonal_single = diagonal_single};
