/* A = L D L^T by the built-in factorization, see ldlt_factor.c and direct.c. */
#include "linear/direct.h"

static HkStatus create(HkLinear *solver, HkError *error) {
  return hk_direct_create(solver, HK_FACTOR_LDLT, error);
}

const HkLinearType hk_linear_ldlt = {
    .schema = {.name = "ldlt",
               .summary = "sparse L D L^T factorization, built in; exact",
               .formula = "A = L D L^T, x = L^-T D^-1 L^-1 b"},
    .direct = true,
    .needs_matrix = hk_direct_needs_matrix,
    .create = create,
    .destroy = hk_direct_destroy,
    .prepare = hk_direct_prepare,
    .solve = hk_direct_solve,
};
