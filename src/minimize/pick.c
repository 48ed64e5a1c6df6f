/* Default methods of an implicit step, by the size of the model:
 *
 *     below ITERATIVE_MIN vertices   newton with a direct solver, to rounding
 *     above                          newton with pcg and multigrid to a relative gradient of
 *                                    TOLERANCE, far below the error in time of such a step; or with
 *                                    a direct solver where multigrid does not apply
 *                                    (hk_multigrid_check)
 *     on a device                    newton with pcg and block_jacobi, to TOLERANCE
 *
 * Up to FACTORIZE_MAX vertices a factorization takes over where multigrid does not converge:
 * garments of triangles without bending springs have about as many springs as unknowns, so that
 * their soft modes are neither smooth nor local, and a solve takes hundreds of iterations.
 *
 * local_global with anderson is faster on soft solids. It is not picked: its constant matrix takes
 * springs that turn for as stiff as springs that stretch, so that stiff bodies that turn hardly
 * move in an iteration (docs/performance.md).
 */
#include "minimize/pick.h"

#include "linear/multigrid.h"

static const int64_t ITERATIVE_MIN = 1000;
static const int FACTORIZE_MAX = 10000;
static const double TOLERANCE = 1e-3, RESIDUAL = 1e-5;

HkStatus hk_pick_linear_for(int64_t n, HkMethod *method, HkError *error) {
  if (n < ITERATIVE_MIN)
    return hk_method_choose(method, HK_LINEAR, hk_family_default(HK_LINEAR), error);
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
  bool direct = m->n < ITERATIVE_MIN && m->context.device == HK_CPU;
  return direct ? HK_OK : hk_method_set_number(method, "tolerance", TOLERANCE, error);
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
