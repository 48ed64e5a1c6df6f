/* Default methods of an implicit step, by the size of the model:
 *
 *     below ITERATIVE_MIN vertices   newton with a direct solver, to rounding
 *     above                          newton with pcg and multigrid to a relative gradient of
 *                                    TOLERANCE, above HK_FACTORIZE_MAX of large_tolerance, far
 * below the error in time of such a step; or with a direct solver where multigrid does not apply
 * (hk_multigrid_check) on ranks                       newton with pcg and multigrid, of every size;
 * tolerances as above, by the vertices of all ranks on a device                    the same from
 * ITERATIVE_MIN vertices on; below, and where multigrid does not apply, newton with pcg and
 * block_jacobi to TOLERANCE. Integrators that devices support with multigrid alone have it below,
 * too one linear system a step       pcg with multigrid to a residual of SOLE_RESIDUAL: there is no
 *                                    iteration around it that would correct the rest
 *
 * Up to HK_FACTORIZE_MAX vertices a factorization takes over where multigrid does not converge:
 * garments of triangles without bending springs have about as many springs as unknowns, so that
 * their soft modes are neither smooth nor local, and a solve takes hundreds of iterations.
 *
 * local_global with anderson is faster on soft solids. It is no default: its constant matrix gives
 * springs the same stiffness across their length as along it, so that an iteration barely moves
 * stiff bodies that rotate (docs/performance.md).
 */
#include "minimize/choose_methods.h"

#include "linear/multigrid.h"
#include "minimize/newton_rules.h"
#include "model/part.h"

static const int64_t ITERATIVE_MIN = 1000;
/* Steps of cloth that end there are within 1e-5 to 2e-3 of their minimum, relative to the motion of
 * the step (docs/robustness.md). */
static const double TOLERANCE = 1e-2, RESIDUAL = 1e-5;
/* Of large_tolerance. */
static const double LARGE_FACTOR = 2e-3;
/* 20 steps of hanging cloth (81 x 81, k = 1e4 N/m, h = 1/60 s) then are within 2e-10 of those of a
 * direct solver, relative to the motion; with 1e-10 within 7e-9, with 1e-5 within 8e-4. */
static const double SOLE_RESIDUAL = 1e-12;

HkStatus hk_choose_linear_solver(int64_t n, HkMethod *method, HkError *error) {
  if (n < ITERATIVE_MIN)
    return hk_method_choose(method, HK_LINEAR, hk_family_default(HK_LINEAR), error);
  HK_TRY(hk_method_choose(method, HK_LINEAR, "pcg", error));
  HK_TRY(hk_method_set_number(method, "tolerance", RESIDUAL, error));
  return hk_method_set_method(method, "preconditioner", "multigrid", error) ? HK_OK
                                                                            : HK_ERROR_INVALID;
}

typedef struct Pick {
  const HkModel *model;
  HkChoice choice;
} Pick;

/* Returns whether multigrid applies to a model; devices also need springs for it. */
static bool has_multigrid(const Pick *pick) {
  const HkModel *m = pick->model;
  bool applies = pick->choice.device == HK_CPU || m->springs.count > 0;
  return !hk_model_any(m, hk_multigrid_check(m, NULL) < 0) && applies;
}

static HkStatus pick_linear(const Pick *pick, HkMethod *method, HkError *error) {
  int64_t n = has_multigrid(pick) ? hk_model_total(pick->model) : 0;
  bool device = pick->choice.device != HK_CPU;
  if (pick->model->part || (device && pick->choice.multigrid && n > 0)) n = ITERATIVE_MIN;
  if (device && n < ITERATIVE_MIN) return hk_method_choose(method, HK_LINEAR, "pcg", error);
  return hk_choose_linear_solver(n, method, error);
}

/* Newton with a solver that is picked by size may factorize where that does not converge. */
static HkStatus allow_factorization(const Pick *pick, HkMethod *newton, HkError *error) {
  bool device = pick->choice.device != HK_CPU;
  return device ? HK_OK : hk_method_set_number(newton, "factorize_max", HK_FACTORIZE_MAX, error);
}

/* The relative gradient weighs a mode of the error by 1 + h^2 w^2, from 1 to some 1 + lambda with
 *
 *     lambda = 2 h^2 sum k / sum m,
 *
 * the mean of h^2 (sum of k at i) / m_i by mass. So an error of one size has a relative gradient
 * that grows with the mesh: about as sqrt(1 + lambda) where cloth falls. Where errors are softer
 * than that, newton goes on while g falls (hk_decreases_left). Cloth of quads is then
 * within 2e-3 to 7e-3 of the minimum in the median, at any size (docs/robustness.md). Two digits
 * are enough for people who read it. */
static double large_tolerance(const HkModel *m, double h) {
  double k = 0;
  for (int64_t s = 0; s < m->springs.count; s++)
    if (!hk_model_is_ghost(m, m->springs.i[s])) k += m->springs.k[s];
  k = hk_model_sum(m, k);
  double lambda = 2 * h * h * k / m->total_mass;
  double tolerance = LARGE_FACTOR * sqrt(1 + lambda);
  if (!(tolerance < HK_NEWTON_TOLERANCE_MAX)) return HK_NEWTON_TOLERANCE_MAX;
  double digits = pow(10, 1 - floor(log10(tolerance)));
  return fmax(TOLERANCE, round(digits * tolerance) / digits);
}

static HkStatus pick_minimizer(const Pick *pick, HkMethod *method, HkError *error) {
  const HkModel *m = pick->model;
  HK_TRY(hk_method_choose(method, HK_MINIMIZE, "newton", error));
  bool host = pick->choice.device == HK_CPU || m->part;
  if (host && hk_model_total(m) < ITERATIVE_MIN) return HK_OK;
  bool large = (host || has_multigrid(pick)) && hk_model_total(m) > HK_FACTORIZE_MAX;
  double tolerance = large ? large_tolerance(m, pick->choice.h) : TOLERANCE;
  return hk_method_set_number(method, "tolerance", tolerance, error);
}

/* sole: the linear systems of the method are not part of an iteration. */
static HkStatus pick_methods(const Pick *pick, HkMethod *method, bool sole, HkError *error) {
  for (int k = 0; k < method->schema->param_count; k++) {
    const HkParam *p = &method->schema->params[k];
    if (p->kind != HK_PARAM_METHOD) continue;
    HkMethod *inner = (HkMethod *)((char *)method->params + p->offset);
    bool linear = !inner->schema && p->family == HK_LINEAR;
    if (!inner->schema && p->family == HK_MINIMIZE) HK_TRY(pick_minimizer(pick, inner, error));
    if (linear) HK_TRY(pick_linear(pick, inner, error));
    if (linear && hk_param_find(method->schema, "factorize_max"))
      HK_TRY(allow_factorization(pick, method, error));
    if (linear && sole && hk_param_find(inner->schema, "tolerance"))
      HK_TRY(hk_method_set_number(inner, "tolerance", SOLE_RESIDUAL, error));
    if (inner->schema) HK_TRY(pick_methods(pick, inner, false, error));
  }
  return HK_OK;
}

HkStatus hk_choose_methods(const HkModel *m, HkChoice choice, HkMethod *method, HkError *error) {
  return pick_methods(&(Pick){m, choice}, method, true, error);
}
