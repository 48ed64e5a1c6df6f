/* What an implicit step is solved with where nobody has said it.
 *
 *     few vertices    newton with a direct solver, to rounding
 *     many            newton with pcg and multigrid, or with a direct solver where multigrid cannot
 *                     be had (hk_multigrid_check), to an accuracy of ACCURACY, far below what a
 *                     step of this order in time leaves; linear systems to a residual of RESIDUAL
 *
 *     on a device     newton with pcg and block_jacobi, to a tolerance of TOLERANCE
 *
 * local_global with anderson is faster on soft solids. It is not picked: its constant matrix takes
 * springs that turn for as stiff as springs that stretch, so that stiff bodies that turn hardly
 * move in an iteration, and it cannot tell that from being at the minimum. Measured in
 * docs/performance.md.
 */
#include "minimize/pick.h"

#include "linear/multigrid.h"

static const int64_t FEW = 1000;
static const int FACTORIZE_MAX = 10000;
static const double ACCURACY = 1e-3, RESIDUAL = 1e-5, TOLERANCE = 1e-4;

HkStatus hk_pick_linear_for(int64_t n, HkMethod *method, HkError *error) {
  if (n < FEW) return hk_method_choose(method, HK_LINEAR, hk_family_default(HK_LINEAR), error);
  HK_TRY(hk_method_choose(method, HK_LINEAR, "pcg", error));
  HK_TRY(hk_method_set_number(method, "tolerance", RESIDUAL, error));
  return hk_method_set_method(method, "preconditioner", "multigrid", error) ? HK_OK
                                                                            : HK_ERROR_INVALID;
}

static HkStatus pick_linear(const HkModel *m, HkMethod *method, HkError *error) {
  if (m->context.device != HK_CPU) return hk_method_choose(method, HK_LINEAR, "pcg", error);
  return hk_pick_linear_for(hk_multigrid_check(m, NULL) < 0 ? 0 : m->n, method, error);
}

/* Newton with a solver that is picked by size may factorize where that does not converge. */
static HkStatus allow_factorization(const HkModel *m, HkMethod *newton, HkError *error) {
  bool device = m->context.device != HK_CPU;
  return device ? HK_OK : hk_method_set_number(newton, "factorize_max", FACTORIZE_MAX, error);
}

static HkStatus pick_minimizer(const HkModel *m, HkMethod *method, HkError *error) {
  HK_TRY(hk_method_choose(method, HK_MINIMIZE, "newton", error));
  if (m->context.device != HK_CPU)
    return hk_method_set_number(method, "tolerance", TOLERANCE, error);
  return m->n < FEW ? HK_OK : hk_method_set_number(method, "tolerance", ACCURACY, error);
}

HkStatus hk_pick_methods(const HkModel *m, HkMethod *method, HkError *error) {
  for (int q = 0; q < method->schema->param_count; q++) {
    const HkParam *p = &method->schema->params[q];
    if (p->kind != HK_PARAM_METHOD) continue;
    HkMethod *inner = (HkMethod *)((char *)method->params + p->offset);
    if (!inner->schema && p->family == HK_MINIMIZE) HK_TRY(pick_minimizer(m, inner, error));
    if (!inner->schema && p->family == HK_LINEAR) {
      HK_TRY(pick_linear(m, inner, error));
      if (hk_param_find(method->schema, "factorize_max"))
        HK_TRY(allow_factorization(m, method, error));
    }
    if (inner->schema) HK_TRY(hk_pick_methods(m, inner, error));
  }
  return HK_OK;
}
