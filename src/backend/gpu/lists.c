/* Lists of (index, weight) in slices of HK_GPU_SLICE rows: see hierarchy.h. */
#include "backend/gpu/lists.h"

#include "base/threads.h"

static const char WHAT[] = "multigrid on a device";

void hk_gpu_rows_destroy(const HkContext *c, HkGpuRows *rows) {
  hk_free(c, &rows->start);
  hk_free(c, &rows->column);
  hk_free(c, &rows->weight);
}

/* Returns the largest length of the rows of a slice. */
static int32_t longest(int64_t rows, const int32_t *length, int64_t slice) {
  int32_t most = 0;
  int64_t end = (slice + 1) * HK_GPU_SLICE < rows ? (slice + 1) * HK_GPU_SLICE : rows;
  for (int64_t q = slice * HK_GPU_SLICE; q < end; q++)
    if (length[q] > most) most = length[q];
  return most;
}

HkStatus hk_gpu_lists_create(const HkContext *c, int64_t rows, const int32_t *length,
                             HkGpuLists *lists, HkError *error) {
  int64_t slices = hk_gpu_slices(rows), sum = 0;
  lists->rows = rows;
  HK_TRY(hk_alloc(c, &lists->start, slices + 1, sizeof *lists->start, WHAT, error));
  for (int64_t q = 0; q < slices; q++) {
    sum += longest(rows, length, q);
    if (sum > INT32_MAX / HK_GPU_SLICE)
      return hk_fail(error, HK_ERROR_UNSUPPORTED,
                     "the model is too large for the preconditioner 'multigrid' on a device; "
                     "choose 'block_jacobi'");
    lists->start[q + 1] = (int32_t)sum;
  }
  HK_TRY(hk_alloc_unset(c, &lists->index, HK_GPU_SLICE * sum, sizeof *lists->index, WHAT, error));
  return hk_alloc_unset(c, &lists->weight, HK_GPU_SLICE * sum, sizeof *lists->weight, WHAT, error);
}

typedef struct Fill {
  const HkGpuRows *rows;
  HkGpuLists *lists;
  const int32_t *length;
} Fill;

static void pad_range(void *user, int64_t begin, int64_t end) {
  const Fill *f = user;
  const HkGpuLists *lists = f->lists;
  for (int64_t q = begin; q < end; q++) {
    int32_t own = q < lists->rows ? f->length[q] : 0;
    int32_t width = lists->start[q / HK_GPU_SLICE + 1] - lists->start[q / HK_GPU_SLICE];
    int32_t last = own > 0 ? lists->index[hk_gpu_list_at(lists->start, q, own - 1)] : 0;
    for (int32_t s = own; s < width; s++) {
      int64_t at = hk_gpu_list_at(lists->start, q, s);
      lists->index[at] = last;
      lists->weight[at] = 0;
    }
  }
}

void hk_gpu_lists_pad(int threads, HkGpuLists *lists, const int32_t *length) {
  Fill f = {NULL, lists, length};
  hk_parallel_for(threads, HK_GPU_SLICE * hk_gpu_slices(lists->rows), pad_range, &f);
}

static void fill_range(void *user, int64_t begin, int64_t end) {
  const Fill *f = user;
  const HkGpuRows *rows = f->rows;
  for (int64_t q = begin; q < end; q++)
    for (int32_t e = rows->start[q]; e < rows->start[q + 1]; e++) {
      int64_t at = hk_gpu_list_at(f->lists->start, q, e - rows->start[q]);
      f->lists->index[at] = rows->column[e];
      f->lists->weight[at] = rows->weight[e];
    }
}

HkStatus hk_gpu_lists_of_rows(const HkContext *c, int threads, const HkGpuRows *rows,
                              HkGpuLists *lists, HkError *error) {
  int32_t *length = NULL;
  HkStatus status = hk_alloc(c, &length, rows->n, sizeof *length, WHAT, error);
  for (int32_t q = 0; q < rows->n && status >= 0; q++)
    length[q] = rows->start[q + 1] - rows->start[q];
  if (status >= 0) status = hk_gpu_lists_create(c, rows->n, length, lists, error);
  if (status >= 0) {
    hk_parallel_for(threads, rows->n, fill_range, &(Fill){rows, lists, length});
    hk_gpu_lists_pad(threads, lists, length);
  }
  hk_free(c, &length);
  return status;
}

void hk_gpu_lists_destroy(const HkContext *c, HkGpuLists *lists) {
  hk_free(c, &lists->start);
  hk_free(c, &lists->index);
  hk_free(c, &lists->weight);
}
