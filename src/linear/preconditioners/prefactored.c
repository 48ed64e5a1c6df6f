/* The constant matrix of the local/global method, factorized once for many steps: prefactor.h.
 *
 *     P = M + tau^2 (L + diag e) + tau C
 *
 * Nothing is computed when A changes. P takes every spring for as stiff across its length as it is
 * along it, so that long waves of stiff bodies, on which the diagonal preconditioners are slow,
 * need few iterations, while motions that barely stretch a spring need more. The vertices that pins
 * hold are not in the factor; there, A has their mass alone, and so has P.
 */
#include "linear/prefactor.h"

static HkStatus create(HkPrecondition *p, HkError *error) {
  if (!p->setup.prefactor)
    return hk_fail(error, HK_ERROR_INVALID,
                   "the preconditioner 'prefactored' needs the factor of M + h^2 L, which there is "
                   "none of here; choose 'block_jacobi' or 'ic0'");
  return HK_OK;
}

static void destroy(HkPrecondition *p) {
  (void)p;
}

static HkStatus prepare(HkPrecondition *p, HkError *error) {
  (void)p;
  (void)error;
  return HK_OK;
}

static HkStatus apply(HkPrecondition *p, const double *r, double *z, HkError *error) {
  const HkHeld *held = p->setup.held;
  const double *mass = p->setup.model->mass;
  HK_TRY(hk_prefactor_solve(p->setup.prefactor, 1, r, z, error));
  if (held->stays) return HK_OK;
  for (int64_t i = 0; i < p->space.n; i++)
    for (int c = 0; held->mask[i] && c < 3; c++) z[3 * i + c] = r[3 * i + c] / mass[i];
  return HK_OK;
}

const HkPreconditionType hk_precondition_prefactored = {
    .schema = {.name = "prefactored",
               .summary = "the matrix of the local/global method, factorized once for many steps",
               .formula = "P = M + tau^2 L"},
    .uses_prefactor = true,
    .create = create,
    .destroy = destroy,
    .prepare = prepare,
    .apply = apply,
};
