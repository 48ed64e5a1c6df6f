/* A = L L^T by SuiteSparse CHOLMOD, see cholmod_factor.c and direct.c; only in builds with it. */
#include "linear/direct.h"

static HkStatus create(HkLinear *solver, HkError *error) {
  return hk_direct_create(solver, HK_FACTOR_CHOLMOD, error);
}

const HkLinearType hk_linear_cholesky = {
    .schema = {.name = "cholesky",
               .summary = "sparse Cholesky factorization by SuiteSparse CHOLMOD; exact",
               .formula = "A = L L^T, x = L^-T L^-1 b"},
    .direct = true,
    .needs_matrix = hk_direct_needs_matrix,
    .create = create,
    .destroy = hk_direct_destroy,
    .prepare = hk_direct_prepare,
    .solve = hk_direct_solve,
};
