/* Conjugate gradients without a preconditioner; see krylov.c.
 *
 * Each iteration costs one product with A and a few passes over vectors; their number grows as the
 * square root of the condition number of A, hence with sqrt(k / m) times the step and with the
 * number of vertices along the longest way through the body. Masses or stiffnesses of very
 * different sizes make it slow: pcg is for those.
 */
#include "linear/krylov.h"

static const HkParam params[] = {HK_KRYLOV_PARAMS(HkKrylovParams)};

static bool needs_matrix(const void *p) {
  return ((const HkKrylovParams *)p)->product == HK_PRODUCT_ASSEMBLED;
}

static HkStatus create(HkLinear *solver, HkError *error) {
  return hk_krylov_create(solver, NULL, error);
}

const HkLinearType hk_linear_cg = {
    .schema = {.name = "cg",
               .summary = "conjugate gradients; little memory, all cores",
               .formula = "p = r + beta p, x += alpha p",
               HK_PARAMS(HkKrylovParams, params)},
    .needs_matrix = needs_matrix,
    .create = create,
    .destroy = hk_krylov_destroy,
    .prepare = hk_krylov_prepare,
    .solve = hk_krylov_solve,
};
