/* The 3x3 blocks on the diagonal: z_q = A_qq^-1 r_q.
 *
 * Each vertex sees how stiff its springs hold it in every direction while all others stand still.
 * A block that is not positive definite (springs under pressure) counts as its largest diagonal
 * entry times I, so that the preconditioner stays positive definite.
 */
#include "linear/diagonal.h"

typedef struct Apply {
  const double *inverse, *r;
  double *z;
} Apply;

static void apply_range(void *user, int64_t begin, int64_t end) {
  const Apply *a = user;
  for (int64_t q = begin; q < end; q++)
    for (int c = 0; c < 3; c++) a->z[3 * q + c] = hk_dot(a->inverse + 9 * q + 3 * c, a->r + 3 * q);
}

static HkStatus apply(HkPrecondition *p, const double *r, double *z, HkError *error) {
  (void)error;
  Apply a = {p->data, r, z};
  hk_parallel_for(p->space.threads, p->space.n, apply_range, &a);
  return HK_OK;
}

const HkPreconditionType hk_precondition_block_jacobi = {
    .schema = {.name = "block_jacobi",
               .summary = "the 3x3 blocks on the diagonal; cheap, all cores",
               .formula = "z_q = A_qq^-1 r_q"},
    .create = hk_diagonal_create,
    .destroy = hk_diagonal_destroy,
    .prepare = hk_diagonal_prepare,
    .apply = apply,
};
