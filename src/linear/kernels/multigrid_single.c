/* The inner loops of multigrid on levels of blocks; see multigrid_kernels.h and multigrid.h. */
#include "linear/multigrid_kernels.h"

#include "linear/kernels/blocks.h"

/* ---- Rows ---- */

/* sum of A_ij x_j over the blocks begin .. end - 1 of a row. */
HK_INLINE HkFloat4 blocks_times(const HkLevel *l, int32_t begin, int32_t end) {
  RowSum even = {0}, odd = {0};
  int32_t e = begin;
  for (; e + 1 < end; e += 2) {
    even = row_add(even, l->A + 12 * (int64_t)e, l->x + 4 * (int64_t)l->graph.column[e]);
    odd = row_add(odd, l->A + 12 * (int64_t)(e + 1), l->x + 4 * (int64_t)l->graph.column[e + 1]);
  }
  if (e < end) even = row_add(even, l->A + 12 * (int64_t)e, l->x + 4 * (int64_t)l->graph.column[e]);
  return row_total(even + odd);
}

/* b - A x without the diagonal. */
HK_INLINE HkFloat4 rest_of_row(const HkLevel *l, int64_t i) {
  return hk_float4_load(l->b + 4 * i) - blocks_times(l, l->graph.start[i], l->diagonal[i]) -
         blocks_times(l, l->diagonal[i] + 1, l->graph.start[i + 1]);
}

static void sweep_first(const HkLevel *l, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; i++) {
    HkFloat4 lower = blocks_times(l, l->graph.start[i], l->diagonal[i]);
    HkFloat4 rest = hk_float4_load(l->b + 4 * i) - lower;
    hk_float4_store(l->x + 4 * i, block_times(l->D + 12 * i, rest));
  }
}

static void sweep_again(const HkLevel *l, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; i++)
    hk_float4_store(l->x + 4 * i, block_times(l->D + 12 * i, rest_of_row(l, i)));
}

static void sweep_back(const HkLevel *l, int64_t begin, int64_t end) {
  for (int64_t i = end - 1; i >= begin; i--)
    hk_float4_store(l->x + 4 * i, block_times(l->D + 12 * i, rest_of_row(l, i)));
}

static void residual(const HkLevel *l, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; i++)
    hk_float4_store(l->r + 4 * i, -blocks_times(l, l->diagonal[i] + 1, l->graph.start[i + 1]));
}

static void residual_again(const HkLevel *l, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; i++)
    hk_float4_store(l->r + 4 * i, hk_float4_load(l->b + 4 * i) -
                                      blocks_times(l, l->graph.start[i], l->graph.start[i + 1]));
}

/* ---- Between levels ---- */

HK_INLINE HkFloat4 weighted(const HkWeights *w, int64_t row, const float *x) {
  HkFloat4 sum = {0};
  for (int32_t e = w->start[row]; e < w->start[row + 1]; e++)
    sum = sum + hk_float4_load(x + 4 * (int64_t)w->column[e]) * w->weight[e];
  return sum;
}

static void restrict_to(const HkLevel *l, const HkLevel *coarse, int64_t begin, int64_t end) {
  for (int64_t I = begin; I < end; I++)
    hk_float4_store(coarse->b + 4 * I, weighted(&l->galerkin.T, I, l->r));
}

static void prolong(const HkLevel *l, const HkLevel *coarse, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; i++)
    hk_float4_store(l->x + 4 * i, hk_float4_load(l->x + 4 * i) + weighted(&l->P, i, coarse->x));
}

/* ---- P^T A P ---- */

static void multiply(const HkLevel *l, int64_t begin, int64_t end) {
  const HkGalerkin *k = &l->galerkin;
  for (int64_t i = begin; i < end; i++) {
    const float *A = l->A + 12 * (int64_t)l->graph.start[i];
    for (int64_t e = k->row[i]; e < k->row[i + 1]; e++) {
      Block sum = {0};
      for (int64_t t = k->term[e]; t < k->term[e + 1]; t++)
        sum = block_add(sum, block_load(A + 12 * (int64_t)k->block[t]), k->weight[t]);
      block_store(k->AP + 12 * e, sum);
    }
  }
}

static void project(const HkLevel *l, const HkLevel *coarse, int64_t begin, int64_t end) {
  const HkGalerkin *k = &l->galerkin;
  for (int64_t I = begin; I < end; I++) {
    for (int32_t e = coarse->graph.start[I]; e < coarse->graph.start[I + 1]; e++) {
      Block sum = {0};
      for (int64_t t = k->coarse_term[e]; t < k->coarse_term[e + 1]; t++)
        sum = block_add(sum, block_load(k->AP + 12 * (int64_t)k->coarse_block[t]),
                        k->coarse_weight[t]);
      block_store(coarse->A + 12 * (int64_t)e, sum);
    }
    memcpy(coarse->D + 12 * I, coarse->A + 12 * (int64_t)coarse->diagonal[I], 12 * sizeof(float));
  }
}

static void invert(const HkLevel *l, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; i++) invert_block(l->D + 12 * i);
}

/* ---- The last level ---- */

/* Gauss and Jordan in place. */
static void invert_dense(int n, double *A) {
  for (int k = 0; k < n; k++) {
    double *pivot = A + (size_t)k * (size_t)n, scale = 1 / pivot[k];
    pivot[k] = 1;
    for (int j = 0; j < n; j++) pivot[j] *= scale;
    for (int i = 0; i < n; i++) {
      double *row = A + (size_t)i * (size_t)n, f = row[k];
      if (i == k) continue;
      row[k] = 0;
      for (int j = 0; j < n; j++) row[j] -= f * pivot[j];
    }
  }
}

/* A is symmetric: its rows are its columns. */
static void apply_dense(int n, const float *A, const float *b, float *out) {
  memset(out, 0, (size_t)n * sizeof *out);
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) out[i] += b[j] * A[(size_t)j * (size_t)n + (size_t)i];
}

const HkMultigridKernels HK_KERNEL(hk_multigrid_kernels) = {.multiply = multiply,
                                                            .project = project,
                                                            .invert = invert,
                                                            .sweep_first = sweep_first,
                                                            .sweep_again = sweep_again,
                                                            .sweep_back = sweep_back,
                                                            .residual = residual,
                                                            .residual_again = residual_again,
                                                            .restrict_to = restrict_to,
                                                            .prolong = prolong,
                                                            .invert_dense = invert_dense,
                                                            .apply_dense = apply_dense};
