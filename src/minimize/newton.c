/* Newton's method on g, with a line search:
 *
 *     H(x) p = -dg/dx,   x+ = x + a p,   a = 1, 0.7, 0.49 ... by Armijo's rule
 *
 * Near the minimum a = 1 and the error is squared by each iteration. Away from it H may be
 * indefinite, where springs under pressure push sideways. Then part of that negative curvature is
 * left out: `projection` is 0 for the true Hessian and 1 for its positive definite projection. It
 * goes halfway to 1 after an indefinite Hessian and halfway to 0 after a definite one. After an
 * indefinite one the next few directions are of the projection, since each trial costs as much as
 * a step. An iterate that meets the tolerance is followed by a direction of the true Hessian.
 *
 * The full step stretches stiff springs that it turns, and a line search would shorten it for that
 * alone, the more the stiffer they are. So the search follows the parabola
 *
 *     x + a p + a^2 c,   H c = -tau^2 k e u summed over the springs
 *
 * with e the length that each spring gains by turning (hk_springs_turned): a second-order
 * correction, for the price of one more solve with the same H. With a factorization that is cheap,
 * and the lower one of x + p and x + p + c is the first trial; otherwise it follows if x + p fails.
 *
 * Inexact Newton: the tolerance of an iterative linear solver is the forcing term
 * min(forcing, FORCING_RATE sqrt(m)) with the relative gradient m of stopping.c, which keeps
 * convergence faster than linear. Far from the minimum more is worse: cloth that buckles is led
 * astray by directions that are exact where the Hessian is nearly singular (docs/performance.md).
 * The first direction is found to a tenth of that: solids then need no second one.
 *
 * With multigrid and a tolerance above HK_CONVERGED_MAX, where the step is to end near the minimum
 * and not at it, directions are rough: those of the projected H alone, solved until conjugate
 * gradients lower their quadratic no more. The projected H is too stiff along the modes that
 * buckle, by which it converges slowly, so that the search also tries a = 2, 4 ... as long as g
 * falls. With contact an iteration costs more than its system, and fewer of them are better.
 *
 * Where only a part of the cloth buckles, it is minimized by itself (patch.c).
 *
 * x+ is proved to be near a minimum (stopping.c) if x met the tolerance, H(x) was positive
 * definite, and p was solved to HK_PROOF_RESIDUAL or better, is shorter than tolerance
 * (HK_CONVERGED_MAX at most) times the motion, and was taken in full. A direction from an x that
 * did not meet the tolerance proves nothing of x+, even if it is followed by a far shorter one with
 * the same H: where H is nearly singular it may change within such a step, and 1 of 3000 random
 * steps that were called converged by that rule was off by three times the tolerance.
 */
#include "force/springs.h"
#include "minimize/minimize.h"
#include "minimize/patch.h"
#include "minimize/solve_hessian.h"

#include <float.h>
#include <string.h>

enum { PATCH_VERTICES_MIN = 1000 };

static const HkParam params[] = {
    HK_STOPPING_PARAMS(HkNewtonParams, 1000, 1e-9, HK_NEWTON_TOLERANCE_MAX),
    HK_METHOD(HkNewtonParams, linear, HK_LINEAR,
              "solver of the linear systems; by the size of the model unless given"),
    HK_NUMBER(HkNewtonParams, forcing, "1", 0.3, 0, 1,
              "largest relative residual of an iterative linear solver"),
    HK_INTEGER(HkNewtonParams, factorize_max, 0, 0, 1000000000,
               "number of vertices up to which a factorization takes over, for the rest of a step, "
               "from an iterative linear solver that needs more than 50 iterations; 0: never"),
    HK_NUMBER(HkNewtonParams, patch_max, "1", 0.3, 0, 1,
              "where a factorization is in use: largest part of the vertices that are minimized "
              "alone when they hold most of a direction; 0: none are"),
};

static const HkNewtonParams *params_of(const HkMinimizer *m) {
  return m->method.params;
}

typedef struct Data {
  HkSolveHessian *solve;
  HkPatch *patch;        /* NULL until it is needed */
  uint8_t *taut;         /* one a spring, where there are tension-only ones */
  HkDirection direction; /* the last one */
  HkProjection projection;
  HkDecreases decreases;
  bool rough;      /* hk_newton_is_rough */
  double residual; /* r at the last iterate */
  double step;     /* length a of the last step */
  double change;   /* of g by the last step (kg m^2) */
  double length;   /* |p|_M of the last direction, INFINITY before the first */
  bool proves;     /* that direction proves a minimum if it is short */
} Data;

static HkStatus create(HkMinimizer *m, HkError *error) {
  const HkModel *model = m->problem->model;
  const HkNewtonParams *p = m->method.params;
  Data *data = NULL;
  HK_TRY(hk_alloc(&model->context, &data, 1, sizeof *data, "newton", error));
  m->data = data;
  m->proves = true;
  bool factorizes = !model->part && model->n <= p->factorize_max;
  HK_TRY(hk_solve_hessian_create(m->problem, &p->linear, factorizes, &data->solve, error));
  m->bytes += sizeof *data;
  if (!model->springs.tension) return HK_OK;
  int64_t slots = model->springs.count + 1; /* not NULL on a rank without springs */
  m->bytes += (size_t)slots;
  return hk_alloc(&model->context, &data->taut, slots, 1, "newton", error);
}

static size_t bytes(const HkMinimizer *m) {
  const Data *data = m->data;
  return hk_solve_hessian_bytes(data->solve) + (data->patch ? hk_patch_bytes(data->patch) : 0);
}

static void destroy(HkMinimizer *m) {
  const HkContext *c = &m->problem->model->context;
  Data *data = m->data;
  hk_solve_hessian_destroy(&data->solve);
  hk_patch_destroy(&data->patch);
  hk_free(c, &data->taut);
  hk_free(c, &m->data);
}

/* ---- Search directions ---- */

/* p = -H^-1 dg/dx, b = -dg/dx. taut: of HkHessianAt. */
static HkStatus find_direction(HkMinimizer *m, const double *x, const double *b,
                               const uint8_t *taut, double *p, double accuracy, HkError *error) {
  Data *data = m->data;
  bool proves = m->info.reason == HK_STOP_STATIONARY;
  double projection = proves ? 0 : data->rough ? 1 : data->projection.now;
  HkHessianSystem system = {.x = x,
                            .b = b,
                            .taut = taut,
                            .accuracy = accuracy,
                            .projection = projection,
                            .by_decrease = data->rough && !proves && m->info.iterations > 0};
  HK_TRY(hk_solve_hessian(data->solve, &system, p, &data->direction, &m->info, error));
  hk_projection_adapt(&data->projection, projection, data->direction.definite,
                      data->direction.exact);
  return HK_OK;
}

/* Threads that are slack at x and that x + p would pull taut are met by no force in H, and p goes
 * far beyond the place where they tighten. They are counted as springs, from where they are slack,
 * and p is found anew, until no other thread tightens: x_new = x + p then. b = -dg/dx. *any says
 * whether one did. */
static HkStatus tighten(HkMinimizer *m, const double *x, const double *b, double *p, double *x_new,
                        double accuracy, bool *any, HkError *error) {
  enum { ROUNDS_MAX = 8 };
  Data *data = m->data;
  HkProblem *problem = m->problem;
  const HkVectors *space = &problem->space;
  const HkModel *model = problem->model;
  double *push = m->w[3];
  memset(data->taut, 0, (size_t)model->springs.count);
  for (int round = 0; round < ROUNDS_MAX; round++) {
    hk_vectors_add(space, 1, p, x, x_new);
    bool more = hk_springs_tighten(problem->work->springs, x, x_new, data->taut);
    if (!hk_model_any(model, more)) break;
    *any = true;
    hk_vectors_copy(space, b, push);
    hk_springs_push_taut(problem->work->springs, x, data->taut, problem->tau * problem->tau, push);
    HK_TRY(find_direction(m, x, push, data->taut, p, accuracy, error));
  }
  return HK_OK;
}

/* ---- Line search ---- */

/* c = the second-order correction of x + p, which is x_new. */
static HkStatus correct(HkMinimizer *m, const double *x, const double *x_new, double *c,
                        HkError *error) {
  HkProblem *problem = m->problem;
  double *f = m->w[3];
  hk_springs_turned(problem->model, problem->work->springs, x, x_new, f);
  hk_vectors_scale(&problem->space, problem->tau * problem->tau, f);
  return hk_solve_hessian_again(((Data *)m->data)->solve, f, c, HK_CORRECTION_RESIDUAL, &m->info,
                                error);
}

/* Whether x_new = x + p is good though g, which changes by `change`, does not fall. Forces that
 * balance each other may be so large that the change of g is rounding; then the gradient decides,
 * for steps along an exact direction of a definite Hessian that are short against the motion, or
 * nearly as short as coordinates resolve, or by which g rises no more than its value is rounded. */
static bool gradient_falls(HkMinimizer *m, const double *x, const double *p, const double *x_new,
                           double change) {
  const Data *data = m->data;
  HkProblem *problem = m->problem;
  double least = HK_FALLS_RESOLVED * problem->resolution * sqrt(problem->model->total_mass);
  if (!data->direction.exact || m->filtered) return false;
  if (hk_problem_norm(problem, p) > fmax(HK_FALLS_SHORT * hk_problem_moved(problem, x), least) &&
      !(change <= DBL_EPSILON * hk_problem_magnitude(problem, x)))
    return false;
  m->info.evaluations++;
  return hk_problem_gradient(problem, x_new, m->w[4]) <= HK_FALLS_LESS * data->residual;
}

/* After x + p, by which g changes by data->change: x_new = x + a p with the longest a that lowers g
 * further. No force has a filter. */
static HkStatus lengthen(HkMinimizer *m, const double *x, const double *p, double *x_new, double *a,
                         HkError *error) {
  HkProblem *problem = m->problem;
  Data *data = m->data;
  for (int next = HK_NEWTON_GROW; next <= HK_NEWTON_LONGEST; next *= HK_NEWTON_GROW) {
    HK_TRY(hk_cancel_check(problem->cancel, error));
    hk_vectors_add(&problem->space, next, p, x, x_new);
    double change = hk_minimizer_try(m, x, x_new);
    if (!(change < data->change)) {
      hk_vectors_add(&problem->space, *a, p, x, x_new);
      return HK_OK;
    }
    *a = next;
    data->change = change;
  }
  return HK_OK;
}

/* x_new = x + a p, or x + a p + a^2 c; *a is the step length, 0 if none lowers g enough. */
static HkStatus search(HkMinimizer *m, const double *x, const double *p, double slope,
                       double *x_new, double *a, HkError *error) {
  HkProblem *problem = m->problem;
  Data *data = m->data;
  const HkVectors *space = &problem->space;
  double *c = m->w[4];
  *a = 1;
  hk_vectors_add(space, 1, p, x, x_new);
  double straight = hk_minimizer_try(m, x, x_new);
  bool enough = straight <= HK_ARMIJO * slope;
  bool rough = data->rough && m->info.reason != HK_STOP_STATIONARY;
  data->change = straight;
  if (enough && !data->direction.direct) return rough ? lengthen(m, x, p, x_new, a, error) : HK_OK;
  if (!enough && gradient_falls(m, x, p, x_new, straight)) return HK_OK;
  HK_TRY(correct(m, x, x_new, c, error));
  for (int trial = 0; trial < HK_NEWTON_TRIALS_MAX; trial++, *a *= HK_NEWTON_SHRINK) {
    HK_TRY(hk_cancel_check(problem->cancel, error));
    hk_vectors_add(space, *a, p, x, x_new);
    hk_vectors_add(space, *a * *a, c, x_new, x_new);
    double change = hk_minimizer_try(m, x, x_new);
    if (trial == 0 && enough && straight <= change) {
      hk_vectors_add(space, 1, p, x, x_new);
      m->filtered = hk_problem_filter(problem, x, x_new);
      return HK_OK;
    }
    data->change = change;
    if (change <= HK_ARMIJO * *a * slope) return HK_OK;
  }
  *a = 0;
  return HK_OK;
}

/* One iteration, from x to x_new; w[0] holds -dg/dx. A direction with threads pulled taut need not
 * go down; then the one without is tried. *found is false if no step length lowers g. */
static HkStatus advance(HkMinimizer *m, const double *x, double *x_new, double accuracy,
                        bool *found, HkError *error) {
  Data *data = m->data;
  double *b = m->w[0], *p = m->w[1], a = 0;
  bool near = m->info.reason == HK_STOP_STATIONARY && m->info.gradient <= HK_CONVERGED_MAX;
  for (bool tightens = data->taut != NULL, tightened = true; tightened && a == 0;
       tightens = false) {
    tightened = false;
    data->change = 0;
    HK_TRY(find_direction(m, x, b, NULL, p, accuracy, error));
    if (tightens) HK_TRY(tighten(m, x, b, p, x_new, accuracy, &tightened, error));
    double slope = -hk_vectors_dot(&m->problem->space, b, p);
    if (slope < 0) HK_TRY(search(m, x, p, slope, x_new, &a, error));
    bool exact = data->direction.exact && (data->direction.direct || accuracy <= HK_PROOF_RESIDUAL);
    data->proves = near && exact && a == 1 && !tightened && !m->filtered;
    data->length = hk_problem_norm(m->problem, p);
  }
  *found = a > 0;
  data->step = a;
  hk_decreases_add(&data->decreases, fmax(-data->change, 0));
  return HK_OK;
}

/* After an iteration that led to x: the few vertices that buckle are minimized by themselves. Not
 * after a full step along an exact direction, nor where a minimum is to be proved. With an
 * iterative solver a direction costs less than the patch. */
static HkStatus minimize_patch(HkMinimizer *m, double *x, HkError *error) {
  Data *data = m->data;
  double part = params_of(m)->patch_max;
  bool straight = data->step == 1 && data->direction.exact;
  if (part == 0 || m->problem->model->n < PATCH_VERTICES_MIN || !data->direction.direct)
    return HK_OK;
  if (straight || m->info.reason == HK_STOP_STATIONARY) return HK_OK;
  if (!data->patch) HK_TRY(hk_patch_create(m->problem, &data->patch, error));
  return hk_patch_minimize(data->patch, m->w[1], part, x, &m->info, error);
}

static HkStatus minimize(HkMinimizer *m, double *x, HkError *error) {
  HkProblem *problem = m->problem;
  Data *data = m->data;
  const HkVectors *space = &problem->space;
  double *g = m->w[0], *x_new = m->w[2];
  /* Most small models have a definite Hessian; most large ones, which iterate, are cloth that
   * buckles. */
  data->projection = hk_projection_begin(hk_solve_hessian_begin(data->solve));
  data->decreases = hk_decreases_begin();
  data->rough =
      hk_newton_is_rough(params_of(m)->tolerance, hk_solve_hessian_has_multigrid(data->solve)) &&
      !hk_forces_have_filter(problem->model);
  data->length = INFINITY;
  data->proves = false;
  for (int it = 0;; it++) {
    HK_TRY(hk_problem_begin_iterate(problem, x, error));
    double r = hk_problem_gradient(problem, x, g), tolerance = params_of(m)->tolerance;
    data->residual = r;
    double moved = hk_problem_moved(problem, x);
    m->info.evaluations++;
    m->proved = data->proves && data->length <= fmin(tolerance, HK_CONVERGED_MAX) * moved;
    /* A patch, which proves nothing, ends by its gradient alone. */
    m->falls =
        m->proves && tolerance > HK_CONVERGED_MAX && !hk_decreases_end(&data->decreases, moved);
    if (hk_minimizer_look(m, it, x, r)) return HK_OK;
    double accuracy = hk_newton_forcing(params_of(m)->forcing, m->info.gradient, it == 0);
    bool found = false;
    hk_vectors_scale(space, -1, g);
    HK_TRY(advance(m, x, x_new, accuracy, &found, error));
    if (!found) {
      hk_minimizer_stall(m);
      return HK_OK;
    }
    hk_vectors_copy(space, x_new, x);
    HK_TRY(minimize_patch(m, x, error));
  }
}

static HkStatus to_device(const void *chosen, HkDeviceSettings *settings, HkError *error) {
  const HkNewtonParams *p = chosen;
  const HkLinearType *linear = hk_linear_type(p->linear.schema);
  settings->step = HK_DEVICE_NEWTON;
  settings->forcing = p->forcing;
  settings->leads = hk_guess_leads(p->tolerance);
  if (!linear->to_device) return hk_fail_device(HK_LINEAR, linear->schema.name, "pcg", error);
  return linear->to_device(p->linear.params, settings, error);
}

const HkMinimizeType hk_minimize_newton = {
    .schema = {.name = "newton",
               .summary = "Newton's method with a line search; few iterations, full accuracy",
               .formula = "H(x) p = -dg/dx,  x+ = x + a p,  H = M + tau^2 d2E/dx2 + tau C",
               HK_PARAMS(HkNewtonParams, params)},
    .vectors = 5,
    .create = create,
    .destroy = destroy,
    .bytes = bytes,
    .to_device = to_device,
    .minimize = minimize,
};
