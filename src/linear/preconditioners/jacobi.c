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
  for (int64_t k = 0; k < 9 * p->space.n; k++) {
    double size = fabs(blocks[k]);
    blocks[k] = k % 9 % 4 != 0 ? 0 : size > 0 ? 1 / size : 1;
  }
  return HK_OK;
}

const HkPreconditionType hk_precondition_jacobi = {
    .schema = {.name = "jacobi",
               .summary = "the numbers on the diagonal; the cheapest, all cores",
               .formula = "z_c = r_c / |a_cc|"},
    .vertex_bytes = 9 * sizeof(double),
    .create = hk_diagonal_create,
    .destroy = hk_diagonal_destroy,
    .prepare = prepare,
    .apply = hk_diagonal_apply,
};
