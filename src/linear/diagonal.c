/* The 3x3 blocks on the diagonal of a matrix; see diagonal.h. */
#include "linear/diagonal.h"

#include <string.h>

bool hk_diagonal_make_positive(double block[9]) {
  double inverse[9];
  memcpy(inverse, block, sizeof inverse);
  if (hk_mat_invert_positive(inverse)) return false;
  double largest = fmax(fmax(fabs(block[0]), fabs(block[4])), fabs(block[8]));
  hk_mat_identity(largest > 0 ? largest : 1, block);
  return true;
}

/* A sum, so that the threads need not share a counter. */
static double invert_range(void *user, int64_t begin, int64_t end) {
  double *block = (double *)user + 9 * begin, mended = 0;
  for (int64_t i = begin; i < end; i++, block += 9) {
    if (hk_mat_invert_positive(block)) continue;
    hk_diagonal_make_positive(block);
    hk_mat_identity(1 / block[0], block);
    mended++;
  }
  return mended;
}

int64_t hk_diagonal_invert(const HkVectors *space, double *blocks) {
  double mended = hk_parallel_sum(space->threads, space->n, invert_range, blocks, space->sums);
  return (int64_t)(space->model ? hk_model_most(space->model, mended) : mended);
}

/* ---- Preconditioners ---- */

HkStatus hk_diagonal_create(HkPrecondition *p, HkError *error) {
  p->bytes = (size_t)p->space.n * 9 * sizeof(double);
  return hk_alloc(&p->setup.model->context, &p->data, 9 * p->space.n, sizeof(double),
                  "a preconditioner", error);
}

void hk_diagonal_destroy(HkPrecondition *p) {
  hk_free(&p->setup.model->context, &p->data);
}

HkStatus hk_diagonal_prepare(HkPrecondition *p, HkError *error) {
  (void)error;
  p->A->diagonal(p->A->user, p->data);
  hk_diagonal_invert(&p->space, p->data);
  return HK_OK;
}

typedef struct Apply {
  const double *blocks, *r;
  double *z;
} Apply;

static void apply_range(void *user, int64_t begin, int64_t end) {
  const Apply *a = user;
  for (int64_t i = begin; i < end; i++)
    for (int c = 0; c < 3; c++) a->z[3 * i + c] = hk_dot(a->blocks + 9 * i + 3 * c, a->r + 3 * i);
}

HkStatus hk_diagonal_apply(HkPrecondition *p, const double *r, double *z, HkError *error) {
  (void)error;
  Apply a = {p->data, r, z};
  hk_parallel_for(p->space.threads, p->space.n, apply_range, &a);
  return HK_OK;
}
