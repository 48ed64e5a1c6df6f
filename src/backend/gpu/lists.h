/* Lists in slices, and the lists of P^T A P; see hierarchy.h. */
#ifndef HK_BACKEND_GPU_LISTS_H
#define HK_BACKEND_GPU_LISTS_H

#include "backend/gpu/hierarchy.h"

/* A sparse matrix by rows in the order of a level, without the diagonal; weight may be NULL. */
typedef struct HkGpuRows {
  int32_t n, *start, *column;
  float *weight;
} HkGpuRows;

void hk_gpu_rows_destroy(const HkContext *context, HkGpuRows *rows);

/* Allocates slices for lists of the lengths `length`; index and weight are not set.
 * HK_ERROR_UNSUPPORTED: more entries than int32_t counts. */
HkStatus hk_gpu_lists_create(const HkContext *context, int64_t rows, const int32_t *length,
                             HkGpuLists *lists, HkError *error);
/* Returns where entry s of a list is. */
static inline int64_t hk_gpu_list_at(const int32_t *start, int64_t row, int64_t s) {
  return HK_GPU_SLICE * (start[row / HK_GPU_SLICE] + s) + row % HK_GPU_SLICE;
}
/* Fills the padding behind lists of the lengths `length`: the last index, with weight 0. */
void hk_gpu_lists_pad(int threads, HkGpuLists *lists, const int32_t *length);
/* lists = the rows of a sparse matrix with weights. */
HkStatus hk_gpu_lists_of_rows(const HkContext *context, int threads, const HkGpuRows *rows,
                              HkGpuLists *lists, HkError *error);
void hk_gpu_lists_destroy(const HkContext *context, HkGpuLists *lists);

/* What the lists of P^T A P are found from. A: the entries of a level in the order of its slots;
 * coarse: those of the next level, with rising columns; T = P^T. */
typedef struct HkGpuGalerkin {
  const HkContext *context;
  int threads;
  HkGpuRows A, coarse, P, T;
  bool springs; /* A is level 0 */
} HkGpuGalerkin;

/* galerkin_terms.c: fills pair_count and all that follows it in `level`. Both levels have their
 * entries. */
HkStatus hk_gpu_galerkin_terms(const HkGpuGalerkin *galerkin, const HkGpuLevel *next,
                               HkGpuLevel *level, HkError *error);

#endif
