/* Preconditioned conjugate gradients; see krylov.c.
 *
 * Converges as plain conjugate gradients would on P^-1/2 A P^-1/2: the nearer the preconditioner P
 * comes to A, the fewer iterations there are. One application of P^-1 is added to each.
 */
#include "linear/krylov.h"

static const HkParam params[] = {
    HK_KRYLOV_PARAMS(HkPcgParams),
    HK_METHOD(HkPcgParams, preconditioner, HK_PRECONDITION,
              "what is near A and easy to solve with; block_jacobi if nothing is given"),
};

static bool needs_matrix(const void *p) {
  const HkPcgParams *pcg = p;
  const HkPreconditionType *type =
      pcg->preconditioner.schema ? hk_precondition_type(pcg->preconditioner.schema) : NULL;
  return pcg->product == HK_PRODUCT_ASSEMBLED ||
         (type && type->needs_matrix && !type->schema.needs_ranks);
}

static HkStatus create(HkLinear *solver, HkError *error) {
  const HkPcgParams *pcg = solver->method.params;
  return hk_krylov_create(solver, &pcg->preconditioner, error);
}

static HkStatus to_device(const void *chosen, HkDeviceSettings *settings, HkError *error) {
  const HkPcgParams *p = chosen;
  const HkPreconditionType *type = hk_precondition_type(p->preconditioner.schema);
  if (type && type->on_device == HK_DEVICE_NO_PRECONDITIONER)
    return hk_fail_device(HK_PRECONDITION, type->schema.name, "multigrid or block_jacobi", error);
  settings->preconditioner = type ? type->on_device : HK_DEVICE_BLOCK_JACOBI;
  settings->linear_iterations = p->iterations;
  settings->linear_tolerance = p->tolerance;
  return HK_OK;
}

const HkLinearType hk_linear_pcg = {
    .schema = {.name = "pcg",
               .summary = "preconditioned conjugate gradients; little memory, all cores",
               .formula = "z = P^-1 r, p = z + beta p, x += alpha p",
               HK_PARAMS(HkPcgParams, params)},
    .needs_matrix = needs_matrix,
    .to_device = to_device,
    .create = create,
    .destroy = hk_krylov_destroy,
    .prepare = hk_krylov_prepare,
    .solve = hk_krylov_solve,
};
