/* Layout of the multigrid hierarchy in device memory.
 *
 * Levels and weights are those of the CPU (linear/multigrid.h, interpolation.c): level 0 are the
 * vertices of the model by place, and e_i = sum_I P_iI e_I prolongates a correction to the finer
 * level. A row of level k > 0 stands near the rows that it was chosen from, sorted by length within
 * windows of 256 rows.
 *
 * All lists are sliced ELLPACK with slices of HK_GPU_SLICE rows: entry s of row q is at
 * 32 (start[q / 32] + s) + q % 32, so that 32 threads read 32 consecutive numbers. A matrix is
 * stored as its off-diagonal blocks and the row sums R,
 *
 *     (A z)_i = R_i z_i + sum_j A_ij (z_j - z_i)
 *
 * which loses nothing to cancellation where z is smooth and A_ij is large. On level 0 A_ij = -(w
 * w^T + c I) of a spring, four floats; on other levels a block, which is symmetric, has six
 * (level.h). Entries of level 0 have the order of the slots of the layout (layout.h). Lists of
 * pairs are sorted by length within windows, so that those of a slice are about as long.
 *
 * P^T A P is a sum of entries and row sums of the finer level, with weights that are constant:
 *
 *     A_IJ = sum_i P_iI (R_i P_iJ + sum_j A_ij (P_jJ - P_iJ)),   R_I = sum_i P_iI R_i
 *
 * for I < J; A_JI is its transpose. A spring of level 0 has the same block at both ends, so that
 * both terms become one: (P_iI - P_jI) (P_iJ - P_jJ) (w w^T + c I). The lists contain the entry of
 * its lower end, i < j. R_I has terms of A_ij only
 * where a vertex has no weights: with s_i = sum_I P_iI, P_iI A_ij (s_j - s_i).
 *
 * Constrained vertices: their springs are 0, and so is their R; the springs that end at them count
 * in R of the other end. So nothing here depends on which pins hold.
 */
#ifndef HK_BACKEND_GPU_HIERARCHY_H
#define HK_BACKEND_GPU_HIERARCHY_H

#include "model/model.h"

enum {
  HK_GPU_SLICE = 32,
  HK_GPU_LEVELS_MAX = 24,
  HK_GPU_DENSE_MAX = 32 /* rows of the last level up to which a dense inverse solves it */
};

/* Lists of (index, weight) in slices. Padding repeats an index with weight 0. */
typedef struct HkGpuLists {
  int64_t rows;
  int32_t *start; /* slices + 1, in units of HK_GPU_SLICE entries */
  int32_t *index;
  float *weight;
} HkGpuLists;

typedef struct HkGpuLevel {
  int64_t n;
  int cycles;      /* on this level in each cycle on the level before: 2 in a W-cycle */
  int32_t *start;  /* slices + 1, in units of HK_GPU_SLICE entries */
  int32_t *column; /* of each entry; padding: the row itself */

  /* To the next level; rows 0 on the last level. */
  HkGpuLists prolong;      /* P: rows of this level, indices of the next */
  HkGpuLists restrict_to;  /* P^T */
  int64_t pair_count;      /* blocks I < J of the next level */
  int32_t *pair;           /* 2 a pair: the entries (I, J) and (J, I) of the next level */
  HkGpuLists pair_entries; /* terms of a pair: entries of this level, */
  HkGpuLists pair_rows;    /* and rows of this level, whose R counts */
  HkGpuLists row_rows;     /* terms of R_I: rows of this level, */
  HkGpuLists row_entries;  /* and entries of this level */
} HkGpuLevel;

typedef struct HkGpuHierarchy {
  int count;
  HkGpuLevel level[HK_GPU_LEVELS_MAX];
  bool exact;   /* a dense inverse solves the last level */
  double scale; /* 1/kg, a power of 2: factor of matrices and right-hand sides, so that floats hold
                   them in any units */
  HkContext context;
} HkGpuHierarchy;

/* Returns the number of entries of a level, or of lists, with padding. */
static inline int64_t hk_gpu_slices(int64_t rows) {
  return (rows + HK_GPU_SLICE - 1) / HK_GPU_SLICE;
}
static inline int64_t hk_gpu_level_entries(const HkGpuLevel *level) {
  return HK_GPU_SLICE * (int64_t)level->start[hk_gpu_slices(level->n)];
}
static inline int64_t hk_gpu_list_entries(const HkGpuLists *lists) {
  return lists->start ? HK_GPU_SLICE * (int64_t)lists->start[hk_gpu_slices(lists->rows)] : 0;
}

/* place: the row of level 0 of each vertex. */
HkStatus hk_gpu_hierarchy_create(const HkModel *model, const int32_t *place,
                                 HkGpuHierarchy **hierarchy, HkError *error);
void hk_gpu_hierarchy_destroy(HkGpuHierarchy **hierarchy);

#endif
