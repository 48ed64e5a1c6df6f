/* PETSc's algebraic multigrid with smoothed aggregation, on ranks alone.
 *
 * It needs no positions, and knows the translations of cloth and also the rotations of solids as
 * motions that cost nothing. For solids it takes fewer iterations than multigrid, and several times
 * as long to set up (docs/cluster.md).
 */
#include "linear/part_solver.h"

static HkStatus create(HkPrecondition *p, HkError *error) {
  return hk_part_solver_create(p, HK_RANKS_GAMG, error);
}

const HkPreconditionType hk_precondition_gamg = {
    .schema = {.name = "gamg",
               .summary = "algebraic multigrid of PETSc on ranks (PCGAMG); for solids",
               .formula = "z = Z r",
               .needs_ranks = true},
    .needs_matrix = true,
    .create = create,
    .destroy = hk_part_solver_destroy,
    .prepare = hk_part_solver_prepare,
    .apply = hk_part_solver_apply,
};
