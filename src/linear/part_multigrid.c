/* The preconditioner multigrid on ranks: PCMG of PETSc on Hooke's own hierarchy (part_levels.h), a
 * V-cycle, or what the options of PETSc say. */
#include "linear/part_solver.h"

static HkStatus create(HkPrecondition *p, HkError *error) {
  return hk_part_solver_create(p, HK_RANKS_MULTIGRID, error);
}

const HkPreconditionType hk_precondition_part_multigrid = {
    .schema = {.name = "multigrid",
               .summary = "a cycle through ever coarser meshes over ranks (PCMG)",
               .formula = "z = Z r",
               .needs_ranks = true},
    .needs_matrix = true,
    .on_device = HK_DEVICE_MULTIGRID,
    .create = create,
    .destroy = hk_part_solver_destroy,
    .prepare = hk_part_solver_prepare,
    .apply = hk_part_solver_apply,
};
