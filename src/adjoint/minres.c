/* The minimal residual method (Paige and Saunders 1975) with a preconditioner (Elman, Silvester and
 * Wathen 2014, algorithm 4.1), for the Hessian of a step that has not led to a minimum: cloth that
 * is about to buckle, or a step that is not solved.
 *
 *     A = true Hessian, symmetric; P = projected Hessian, positive definite
 *     minimizes |b - A x| in the norm of P^-1 over the Krylov space of P^-1 A
 *
 * P is factorized in small models; in large ones it is a multigrid cycle. Where few springs are
 * under pressure, P^-1 A is the identity but for few eigenvalues, of which some are negative: the
 * iteration takes about one step for each of them.
 */
#include "adjoint/minres.h"

#include "linear/multigrid.h"
#include "minimize/choose_methods.h"

#include <math.h>

/* Multigrid gets so many iterations before a factorization takes its place, if the model is not too
 * large for that. */
enum { VECTORS = 8, ITERATIONS_MAX = 300, MULTIGRID_ITERATIONS = 100, SMALL = 1000 };

struct HkMinres {
  HkProblem *problem;        /* the caller's; not read when the solver is destroyed */
  const HkModel *model;      /* of the problem */
  HkHessian H;               /* the true one */
  HkLinear *factor;          /* of the projected one; NULL until it is needed */
  HkPrecondition *multigrid; /* the multigrid cycle of the projected one; NULL: it does not apply */
  bool factorized;           /* the factor is P, not multigrid */
  double *w[VECTORS];        /* 3 n */
};

static HkLinearSetup setup_of(const HkProblem *p) {
  return (HkLinearSetup){.model = p->model, .held = &p->held, .cancel = p->cancel};
}

static HkStatus create(HkMinres *s, HkError *error) {
  HkProblem *p = s->problem;
  const HkModel *m = p->model;
  HkLinearSetup setup = setup_of(p);
  HkMethod method = {0};
  s->H = (HkHessian){.model = m, .work = p->work, .held = &p->held, .pattern = &p->pattern};
  HK_TRY(hk_hessian_need_springs(&s->H, error));
  for (int k = 0; k < VECTORS; k++)
    HK_TRY(hk_alloc_vector(&m->context, &s->w[k], m->n, "a linear system", error));
  if (m->n <= SMALL || hk_multigrid_check(m, NULL) < 0) return HK_OK;
  HK_TRY(hk_hessian_need_springs(&p->hessian, error));
  HK_TRY(hk_method_choose(&method, HK_PRECONDITION, "multigrid", error));
  HkStatus status = hk_precondition_create(&setup, &p->space, &method, &s->multigrid, error);
  hk_method_clear(&method);
  return status;
}

static HkStatus need_factor(HkMinres *s, HkError *error) {
  HkLinearSetup setup = setup_of(s->problem);
  HkMethod method = {0};
  if (s->factor) return HK_OK;
  HK_TRY(hk_method_choose(&method, HK_LINEAR, "ldlt", error));
  HkStatus status = hk_linear_create(&setup, &method, &s->factor, error);
  hk_method_clear(&method);
  return status;
}

HkStatus hk_minres_create(HkProblem *problem, HkMinres **minres, HkError *error) {
  const HkContext *c = &problem->model->context;
  HK_TRY(hk_alloc(c, minres, 1, sizeof **minres, "a linear system", error));
  (*minres)->problem = problem;
  (*minres)->model = problem->model;
  HkStatus status = create(*minres, error);
  if (status < 0) hk_minres_destroy(minres);
  return status;
}

void hk_minres_destroy(HkMinres **minres) {
  HkMinres *s = *minres;
  if (!s) return;
  HkContext c = s->model->context;
  hk_linear_destroy(&s->factor);
  hk_precondition_destroy(&s->multigrid);
  hk_hessian_destroy(&s->H);
  for (int k = 0; k < VECTORS; k++) hk_free(&c, &s->w[k]);
  hk_free(&c, minres);
}

/* Makes P for a place: a factor, or multigrid. */
static HkStatus prepare(HkMinres *s, const double *at, bool factorized, HkOperator *P,
                        HkError *error) {
  HkProblem *p = s->problem;
  HkHessianAt projected = hk_problem_hessian_at(p, at);
  projected.projection = 1;
  s->factorized = factorized;
  if (factorized) HK_TRY(need_factor(s, error));
  HK_TRY(hk_hessian_evaluate(&p->hessian, &projected, factorized, P, error));
  if (factorized) return hk_linear_prepare(s->factor, P, error);
  s->multigrid->A = P;
  return s->multigrid->type->prepare(s->multigrid, error);
}

/* z = P^-1 r, and *size = sqrt(r . z). */
static HkStatus precondition(HkMinres *s, const double *r, double *z, double *size,
                             HkError *error) {
  HkLinearResult result;
  if (s->factorized)
    HK_TRY(hk_linear_solve(s->factor, r, z, 0, &result, error));
  else
    HK_TRY(s->multigrid->type->apply(s->multigrid, r, z, error));
  *size = sqrt(fmax(hk_vectors_dot(&s->problem->space, r, z), 0));
  return HK_OK;
}

/* out = a p + b q + c r */
static void combine(const HkVectors *space, double a, const double *p, double b, const double *q,
                    double c, const double *r, double *out) {
  for (int64_t k = 0; k < 3 * space->n; k++) out[k] = a * p[k] + b * q[k] + c * r[k];
}

/* Returns |b - A x| / |b|; r becomes b - A x. */
static double measure(const HkVectors *space, const HkOperator *A, const double *b, const double *x,
                      double *r) {
  A->product(A->user, x, r);
  hk_vectors_subtract(space, b, r, r);
  return sqrt(hk_vectors_dot(space, r, r) / hk_vectors_dot(space, b, b));
}

/* Iterates until |b - A x| in the norm of P^-1 is `part` of what it is at x; adds to x. */
static HkStatus iterate(HkMinres *s, const HkOperator *A, double part, int most, double *x,
                        int *iterations, HkError *error) {
  const HkVectors *space = &s->problem->space;
  double *v_old = s->w[1], *v = s->w[0], *z = s->w[2], *Az = s->w[3], *z_next = s->w[4],
         *w_old = s->w[5], *w = s->w[6], *w_next = s->w[7];
  double size, size_old = 1, next, c_old = 1, c = 1, s_old = 0, sine = 0;
  HK_TRY(precondition(s, v, z, &size, error));
  double eta = size, goal = part * size;
  hk_vectors_zero(space, v_old);
  hk_vectors_zero(space, w_old);
  hk_vectors_zero(space, w);
  while (size > 0 && fabs(eta) > goal && *iterations < most) {
    HK_TRY(hk_cancel_check(s->problem->cancel, error));
    ++*iterations;
    hk_vectors_scale(space, 1 / size, z);
    A->product(A->user, z, Az);
    double delta = hk_vectors_dot(space, Az, z);
    combine(space, 1, Az, -delta / size, v, -size / size_old, v_old, v_old);
    double *swap = v_old;
    v_old = v;
    v = swap;
    HK_TRY(precondition(s, v, z_next, &next, error));
    double a0 = c * delta - c_old * sine * size, a1 = hypot(a0, next),
           a2 = sine * delta + c_old * c * size, a3 = s_old * size;
    if (!(a1 > 0)) break;
    combine(space, 1 / a1, z, -a3 / a1, w_old, -a2 / a1, w, w_next);
    c_old = c;
    s_old = sine;
    c = a0 / a1;
    sine = next / a1;
    hk_vectors_add(space, c * eta, w_next, x, x);
    eta *= -sine;
    swap = w_old;
    w_old = w;
    w = w_next;
    w_next = swap;
    swap = z;
    z = z_next;
    z_next = swap;
    size_old = size;
    size = next;
  }
  return HK_OK;
}

/* Goes on from x while that at least halves the residual: the norm of P^-1 is not that of the
 * residual. */
static HkStatus refine(HkMinres *s, const HkOperator *A, const double *b, double accuracy, int most,
                       double *x, int *iterations, double *residual, HkError *error) {
  double last = INFINITY;
  for (;;) {
    *residual = measure(&s->problem->space, A, b, x, s->w[0]);
    if (*residual <= accuracy || !(*residual < last / 2) || *iterations >= most) return HK_OK;
    last = *residual;
    HK_TRY(iterate(s, A, 0.5 * accuracy / *residual, most, x, iterations, error));
  }
}

HkStatus hk_minres_solve(HkMinres *s, const double *at, const double *b, double accuracy, double *x,
                         int *iterations, double *residual, HkError *error) {
  const HkVectors *space = &s->problem->space;
  HkHessianAt exact = hk_problem_hessian_at(s->problem, at);
  bool small = s->problem->model->n <= HK_FACTORIZE_MAX;
  HkOperator A, P;
  s->H.work = s->problem->work;
  s->H.begins = true;
  *iterations = 0;
  *residual = 0;
  hk_vectors_zero(space, x);
  if (hk_vectors_dot(space, b, b) == 0) return HK_OK;
  HK_TRY(hk_hessian_evaluate(&s->H, &exact, false, &A, error));
  if (s->multigrid) {
    int most = small ? MULTIGRID_ITERATIONS : ITERATIONS_MAX;
    HK_TRY(prepare(s, at, false, &P, error));
    HK_TRY(refine(s, &A, b, accuracy, most, x, iterations, residual, error));
    if (*residual <= accuracy || !small) return HK_OK;
  }
  HK_TRY(prepare(s, at, true, &P, error));
  return refine(s, &A, b, accuracy, ITERATIONS_MAX, x, iterations, residual, error);
}
