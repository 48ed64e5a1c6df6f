/* The inner loops over weighted terms of coarse levels; see level_terms.h. */
#include "linear/level_terms.h"

#include "linear/kernels/blocks.h"

static void sum(const HkLevelTerms *l, const float *x, int64_t begin, int64_t end) {
  for (int64_t t = begin; t < end; t++) {
    HkFloat4 u = {0};
    for (int64_t e = l->start[t]; e < l->start[t + 1]; e++)
      u = u + hk_float4_load(x + 4 * (int64_t)l->row[e]) * l->weight[e];
    hk_float4_store(l->y + 4 * t, block_times(l->K + 12 * t, u));
  }
}

static void subtract(const HkLevelTerms *l, const float *x, float *r, int64_t begin, int64_t end) {
  for (int64_t k = begin; k < end; k++) {
    int64_t at = 4 * (int64_t)l->coupled[k];
    HkFloat4 rest = hk_float4_load(r + at);
    for (int64_t e = l->row_start[k]; e < l->row_start[k + 1]; e++)
      rest = rest - hk_float4_load(l->y + 4 * (int64_t)l->row_term[e]) * l->row_weight[e];
    if (x) rest = rest + block_times(l->G + 12 * k, hk_float4_load(x + at));
    hk_float4_store(r + at, rest);
  }
}

const HkLevelTermKernels HK_KERNEL(hk_level_term_kernels) = {.sum = sum, .subtract = subtract};
