/* Newton's method on g, with a line search:
 *
 *     H(x) p = -dg/dx,   x+ = x + a p,   a = 1, 1/2, 1/4 ... by Armijo's rule
 *
 * Near the minimum a = 1 and the error is squared by each iteration. Away from it H may be
 * indefinite, where springs under pressure push sideways. Near the minimum the true H is tried
 * first, since it is the one that converges; when it is projected stands in solve_hessian.c.
 *
 * The full step stretches stiff springs that it turns, and a line search would shorten it for that
 * alone, the more the stiffer they are. So when it fails, the search goes along the parabola
 *
 *     x + a p + a^2 c,   H c = -tau^2 k e u summed over the springs
 *
 * with e the length that each spring gains by turning (hk_springs_turned): a second-order
 * correction, for the price of one more solve with the same H.
 *
 * An iterative linear solver is asked for no more accuracy than the step is worth: a relative
 * residual of min(0.3, 30 sqrt(size / first size)), less near the end, which keeps convergence
 * faster than linear. Far from the minimum more is worse: cloth that buckles is led astray by
 * directions that are exact where the Hessian is nearly singular (docs/performance.md). The first
 * direction alone is found to a tenth of that: solids then need no second one, and cloth does not
 * mind.
 *
 * Directions that shrink by a factor tell how far the minimum is still away (accuracy), as long as
 * they are gone to the end and are Newton's own: not shortened by the line search, not of a
 * projected Hessian and without threads that are counted as taut before they are. Of the others,
 * which large cloth that buckles meets in most of its steps, the length itself is the distance:
 * measured on cloth, |p| is 0.7 to 2 times the distance from x to the minimum, however short the
 * step. It is counted five times: with twice, steps of cloth and of a disc that were asked for 1e-3
 * left 1.1e-3 to 2.7e-3 in the median.
 */
#include "force/springs.h"
#include "minimize/minimize.h"
#include "minimize/solve_hessian.h"

#include <string.h>

static const HkParam params[] = {
    HK_STOPPING_PARAMS(HkNewtonParams, 1000, 1e-9),
    HK_METHOD(HkNewtonParams, linear, HK_LINEAR,
              "solver of the linear systems; by the size of the model unless given"),
    HK_NUMBER(
        HkNewtonParams, forcing, "1", 0.3, 0, 1,
        "how far an iterative linear solver goes: the part of the gradient that it may leave"),
    HK_ACCURACY_PARAM(HkNewtonParams, 0),
};

static const HkNewtonParams *params_of(const HkMinimizer *m) {
  return m->method.params;
}

typedef struct Data {
  HkSolveHessian *solve;
  uint8_t *taut; /* one a spring, where there are tension-only ones */
  bool far;      /* from the minimum, as far as can be told */
  bool full;     /* the last step was Newton's own */
  double length; /* of the last direction (m), 0: there is none yet */
} Data;

static HkStatus create(HkMinimizer *m, HkError *error) {
  const HkModel *model = m->problem->model;
  const HkNewtonParams *p = m->method.params;
  Data *data = NULL;
  HK_TRY(hk_alloc(&model->context, &data, 1, sizeof *data, "newton", error));
  m->data = data;
  m->accuracy = p->accuracy;
  HK_TRY(hk_solve_hessian_create(m->problem, &p->linear, &data->solve, error));
  m->bytes += sizeof *data;
  if (!model->tension) return HK_OK;
  m->bytes += (size_t)model->spring_count;
  return hk_alloc(&model->context, &data->taut, model->spring_count, 1, "newton", error);
}

static size_t bytes(const HkMinimizer *m) {
  return hk_solve_hessian_bytes(((const Data *)m->data)->solve);
}

static void destroy(HkMinimizer *m) {
  const HkContext *c = &m->problem->model->context;
  Data *data = m->data;
  hk_solve_hessian_destroy(&data->solve);
  hk_free(c, &data->taut);
  hk_free(c, &m->data);
}

/* Threads that are slack at x and that x + p would pull taut are met by no force in H, and p goes
 * far beyond the place where they tighten. They are counted as springs, from where they are slack,
 * and p is found anew, until no other thread tightens: x_new = x + p then. b = -dg/dx. *any says
 * whether one did. */
static HkStatus tighten(HkMinimizer *m, const double *x, const double *b, double *p, double *x_new,
                        double accuracy, bool *any, HkError *error) {
  enum { MOST = 8 };
  Data *data = m->data;
  HkProblem *problem = m->problem;
  const HkVectors *space = &problem->space;
  const HkModel *model = problem->model;
  double *push = m->w[3];
  memset(data->taut, 0, (size_t)model->spring_count);
  for (int q = 0; q < MOST; q++) {
    hk_vectors_add(space, 1, p, x, x_new);
    if (!hk_springs_tighten(model, x, x_new, data->taut)) break;
    *any = true;
    hk_vectors_copy(space, b, push);
    hk_springs_push_taut(model, x, data->taut, problem->tau * problem->tau, push);
    problem->hessian.taut = data->taut;
    HkStatus status =
        hk_solve_hessian(data->solve, x, push, NULL, p, accuracy, data->far, &m->report, error);
    problem->hessian.taut = NULL; /* also for whoever tries again after an error */
    HK_TRY(status);
  }
  return HK_OK;
}

/* x_new = x + p if that goes down enough, else x + a p + a^2 c; *found says whether there is one.
 */
static HkStatus search(HkMinimizer *m, const double *x, const double *p, double slope,
                       double *x_new, bool *found, HkError *error) {
  HkProblem *problem = m->problem;
  const HkVectors *space = &problem->space;
  double *g = m->w[3], *c = m->w[4];
  *found = true;
  hk_vectors_add(space, 1, p, x, x_new);
  if (hk_problem_change(problem, x, x_new) <= HK_ARMIJO * slope) return HK_OK;
  ((Data *)m->data)->full = false;
  hk_springs_turned(problem->model, x, x_new, g);
  hk_vectors_scale(space, problem->tau * problem->tau, g);
  HK_TRY(hk_solve_hessian_again(((Data *)m->data)->solve, g, c, 0.1, &m->report, error));
  double a = 1;
  for (int halvings = 0; halvings < 60; halvings++, a *= 0.5) {
    hk_vectors_add(space, a, p, x, x_new);
    hk_vectors_add(space, a * a, c, x_new, x_new);
    if (hk_problem_change(problem, x, x_new) <= HK_ARMIJO * a * slope) return HK_OK;
  }
  *found = false;
  return HK_OK;
}

/* One iteration, from x to x_new; w[0] holds -dg/dx. A direction with threads pulled taut need not
 * go down; then the one without is tried. */
static HkStatus go_down(HkMinimizer *m, const double *x, double *x_new, double accuracy,
                        bool *found, HkError *error) {
  Data *data = m->data;
  double *b = m->w[0], *p = m->w[1];
  for (bool tightens = data->taut != NULL, tightened = true; tightened && !*found;
       tightens = false) {
    tightened = false;
    int projections = m->report.projections;
    HK_TRY(hk_solve_hessian(data->solve, x, b, NULL, p, accuracy, data->far, &m->report, error));
    data->full = m->report.reason == HK_STOP_CONVERGED && m->report.projections == projections;
    if (tightens) HK_TRY(tighten(m, x, b, p, x_new, accuracy, &tightened, error));
    data->full &= !tightened;
    double slope = -hk_vectors_dot(&m->problem->space, b, p);
    if (slope < 0) HK_TRY(search(m, x, p, slope, x_new, found, error));
  }
  return HK_OK;
}

/* How far the minimum is: if directions go on shrinking as they did, |p| rho / (1 - rho) with rho
 * the length of this one over that of the one before, and |p| where it was not followed. */
static void judge(HkMinimizer *m) {
  Data *data = m->data;
  const double *p = m->w[1], before = data->length;
  m->distance = INFINITY;
  if (m->accuracy == 0) return;
  data->length = sqrt(hk_vectors_dot(&m->problem->space, p, p));
  double rho = fmin(before > 0 ? data->length / before : 0.5, 0.9);
  if (data->full)
    m->distance = data->length * fmax(3 * rho / (1 - rho), 0.5);
  else if (before > 0) /* the first one may have been cut short at once */
    m->distance = 5 * data->length;
}

/* In so many iterations at most the Hessian is projected at once. That of cloth is indefinite there
 * as a rule: to try it costs as much as the step, and where conjugate gradients end early with a
 * direction all the same, it is a worse one. Who needs more iterations needs the true one. */
enum { FAR = 10 };

/* Of the forcing, in the first iteration. */
static const double FIRST = 0.1;

static HkStatus minimize(HkMinimizer *m, double *x, HkError *error) {
  HkProblem *problem = m->problem;
  const HkVectors *space = &problem->space;
  double *g = m->w[0], *x_new = m->w[2], first = 0;
  ((Data *)m->data)->length = 0;
  for (int it = 0;; it++) {
    double size = hk_problem_gradient(problem, x, g);
    m->report.evaluations++;
    if (hk_minimizer_look(m, it, x, size)) return HK_OK;
    if (it == 0) first = size;
    double forcing = params_of(m)->forcing, accuracy = fmin(forcing, 30 * sqrt(size / first));
    ((Data *)m->data)->far = it < FAR && accuracy == forcing;
    if (it == 0) accuracy = forcing * FIRST;
    hk_vectors_scale(space, -1, g);
    bool found = false;
    HK_TRY(go_down(m, x, x_new, accuracy, &found, error));
    if (!found) {
      hk_minimizer_stall(m);
      return HK_OK;
    }
    judge(m);
    hk_vectors_copy(space, x_new, x);
  }
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
    .minimize = minimize,
};
