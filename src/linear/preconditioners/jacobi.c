/* The numbers on the diagonal: z_c = r_c / |a_cc| for each coordinate c of 3 n.
 *
 * Takes away what comes of masses and stiffnesses of different sizes, as block_jacobi does, but
 * does not know that a spring is stiff along its length alone unless that is an axis. The absolute
 * value (and 1 for 0) keeps it positive definite where A is not.
 */
#include "linear/diagonal.h"

static HkStatus prepare(HkPrecondition *p, HkError *error) {
  (void)error;
  double *blocks = p->data;
  p->A->diagonal(p->A->user, blocks);
  /* The 3 n inverses move to the front of the 9 n numbers: never past one that is still needed, but
   * for that one after the other. */
  for (int64_t c = 0; c < 3 * p->space.n; c++) {
    double size = fabs(blocks[9 * (c / 3) + 4 * (c % 3)]);
    blocks[c] = size > 0 ? 1 / size : 1;
  }
  return HK_OK;
}

typedef struct Apply {
  const double *inverse, *r;
  double *z;
} Apply;

static void apply_range(void *user, int64_t begin, int64_t end) {
  const Apply *a = user;
  for (int64_t c = 3 * begin; c < 3 * end; c++) a->z[c] = a->inverse[c] * a->r[c];
}

static HkStatus apply(HkPrecondition *p, const double *r, double *z, HkError *error) {
  (void)error;
  Apply a = {p->data, r, z};
  hk_parallel_for(p->space.threads, p->space.n, apply_range, &a);
  return HK_OK;
}

const HkPreconditionType hk_precondition_jacobi = {
    .schema = {.name = "jacobi",
               .summary = "the numbers on the diagonal; the cheapest, all cores",
               .formula = "z_c = r_c / |a_cc|"},
    .create = hk_diagonal_create,
    .destroy = hk_diagonal_destroy,
    .prepare = prepare,
    .apply = apply,
};
