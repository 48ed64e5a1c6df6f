/* BoomerAMG of hypre by PETSc, on ranks alone: classical algebraic multigrid for one number a row.
 */
#include "linear/part_solver.h"

static HkStatus create(HkPrecondition *p, HkError *error) {
  return hk_part_solver_create(p, HK_RANKS_HYPRE, error);
}

const HkPreconditionType hk_precondition_hypre = {
    .schema = {.name = "hypre",
               .summary = "BoomerAMG of hypre on ranks",
               .formula = "z = Z r",
               .needs_ranks = true},
    .needs_matrix = true,
    .create = create,
    .destroy = hk_part_solver_destroy,
    .prepare = hk_part_solver_prepare,
    .apply = hk_part_solver_apply,
};
