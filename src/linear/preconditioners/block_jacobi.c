/* The 3x3 blocks on the diagonal: z_i = A_ii^-1 r_i.
 *
 * Each vertex sees how stiff its springs hold it in every direction while all others stand still.
 * A block that is not positive definite (springs under pressure) counts as its largest diagonal
 * entry times I, so that the preconditioner stays positive definite.
 */
#include "linear/diagonal.h"

const HkPreconditionType hk_precondition_block_jacobi = {
    .schema = {.name = "block_jacobi",
               .summary = "the 3x3 blocks on the diagonal; cheap, all cores",
               .formula = "z_i = A_ii^-1 r_i"},
    .on_device = HK_DEVICE_BLOCK_JACOBI,
    .vertex_bytes = 9 * sizeof(double),
    .create = hk_diagonal_create,
    .destroy = hk_diagonal_destroy,
    .prepare = hk_diagonal_prepare,
    .apply = hk_diagonal_apply,
};
