/* H(x) p = b with the Hessian of an implicit step; see solve_hessian.h. */
#include "minimize/solve_hessian.h"

#include "linear/iterative.h"

#include <string.h>

struct HkSolveHessian {
  HkProblem *problem;   /* the caller's; not read when the solver is destroyed */
  const HkModel *model; /* of the problem */
  HkLinear *chosen;     /* the solver of the caller */
  HkLinear *direct;     /* the one that takes its place; NULL until it is needed */
  HkLinear *linear;     /* the one of both that is in use */
  bool factorizes;
  bool assembled;         /* it works on the assembled matrix */
  double *b;              /* 3 n, the right-hand side with what held vertices do to it */
  double *r, *z, *q, *Aq; /* 3 n, of conjugate gradients on an indefinite Hessian */
};

/* Returns the preconditioner that a method is, or that is nested in it; NULL: there is none. */
static const HkPreconditionType *preconditioner_of(const HkMethod *method) {
  if (!method->schema) return NULL;
  const HkPreconditionType *type = hk_precondition_type(method->schema);
  for (int k = 0; !type && k < method->schema->param_count; k++) {
    const HkParam *p = &method->schema->params[k];
    const void *at = (const char *)method->params + p->offset;
    if (p->kind == HK_PARAM_METHOD) type = preconditioner_of(at);
  }
  return type;
}

bool hk_solve_hessian_has_multigrid(const HkSolveHessian *solve) {
  const HkPreconditionType *type = preconditioner_of(&solve->chosen->method);
  return type && type->on_device == HK_DEVICE_MULTIGRID;
}

static HkStatus use(HkSolveHessian *s, HkLinear *linear, HkError *error) {
  HkProblem *p = s->problem;
  s->linear = linear;
  s->assembled = linear->needs_matrix;
  return s->assembled && !linear->preconditions ? HK_OK
                                                : hk_hessian_need_springs(&p->hessian, error);
}

static HkLinearSetup setup_of(const HkProblem *p) {
  return (HkLinearSetup){
      .model = p->model, .held = &p->held, .prefactor = p->prefactor, .cancel = p->cancel};
}

/* The vectors of conjugate gradients on an indefinite Hessian. */
static HkStatus make_vectors(HkSolveHessian *s, HkError *error) {
  const HkModel *m = s->problem->model;
  double **vectors[] = {&s->r, &s->z, &s->q, &s->Aq};
  for (int k = 0; k < 4; k++)
    HK_TRY(hk_alloc_vector(&m->context, vectors[k], m->n, "a linear system", error));
  return HK_OK;
}

static HkStatus create(HkSolveHessian *s, const HkMethod *method, HkError *error) {
  HkProblem *p = s->problem;
  const HkPreconditionType *preconditioner = preconditioner_of(method);
  if (preconditioner && preconditioner->uses_prefactor)
    HK_TRY(hk_problem_need_prefactor(p, hk_factor_default(), HK_PRECISION_AUTO, error));
  HkLinearSetup setup = setup_of(p);
  HK_TRY(hk_linear_create(&setup, method, &s->chosen, error));
  HK_TRY(use(s, s->chosen, error));
  s->factorizes &= !s->chosen->type->direct;
  HkIterative *limits = s->chosen->method.params;
  if (s->factorizes && limits->iterations > HK_HANDOVER_ITERATIONS)
    limits->iterations = HK_HANDOVER_ITERATIONS;
  HK_TRY(hk_alloc_vector(&p->model->context, &s->b, p->model->n, "a linear system", error));
  return s->chosen->type->direct ? make_vectors(s, error) : HK_OK;
}

HkStatus hk_solve_hessian_create(HkProblem *problem, const HkMethod *linear, bool factorizes,
                                 HkSolveHessian **solve, HkError *error) {
  HK_TRY(hk_alloc(&problem->model->context, solve, 1, sizeof **solve, "a linear system", error));
  (*solve)->problem = problem;
  (*solve)->model = problem->model;
  (*solve)->factorizes = factorizes;
  HkStatus status = create(*solve, linear, error);
  if (status < 0) hk_solve_hessian_destroy(solve);
  return status;
}

bool hk_solve_hessian_begin(HkSolveHessian *s) {
  if (s->linear != s->chosen) use(s, s->chosen, NULL); /* its memory is there: no error */
  return s->chosen->type->direct;
}

/* The factorization takes over. ldlt and not cholesky: it is as fast as CHOLMOD with OpenBLAS on
 * surfaces of this size, 2.4 times as fast as with the reference BLAS, and gives the same bits
 * whatever BLAS there is. */
static HkStatus hand_over(HkSolveHessian *s, HkError *error) {
  HkLinearSetup setup = setup_of(s->problem);
  HkMethod ldlt = {0};
  if (s->direct) return use(s, s->direct, error);
  HkStatus status = hk_method_choose(&ldlt, HK_LINEAR, "ldlt", error);
  if (status >= 0) status = hk_linear_create(&setup, &ldlt, &s->direct, error);
  hk_method_clear(&ldlt);
  if (status >= 0) status = make_vectors(s, error);
  return status < 0 ? status : use(s, s->direct, error);
}

void hk_solve_hessian_destroy(HkSolveHessian **solve) {
  HkSolveHessian *s = *solve;
  if (!s) return;
  HkContext c = s->model->context;
  hk_linear_destroy(&s->chosen);
  hk_linear_destroy(&s->direct);
  double **vectors[] = {&s->b, &s->r, &s->z, &s->q, &s->Aq};
  for (int k = 0; k < 5; k++) hk_free(&c, vectors[k]);
  hk_free(&c, solve);
}

size_t hk_solve_hessian_bytes(const HkSolveHessian *solve) {
  size_t vectors = solve->r ? 5 : 1;
  size_t direct = solve->direct ? hk_linear_bytes(solve->direct) : 0;
  return sizeof *solve + hk_linear_bytes(solve->chosen) + direct +
         vectors * hk_vector_bytes(solve->problem->model->n);
}

/* Held rows hold their mass alone: m d on the right gives d. */
static void lift(HkSolveHessian *s, const double *b, const double *d) {
  const HkModel *m = s->problem->model;
  hk_vectors_copy(&s->problem->space, b, s->b);
  if (d) hk_hessian_lift(&s->problem->hessian, d, s->b);
  for (int64_t i = 0; i < m->n; i++)
    for (int c = 0; s->problem->held.mask[i] && c < 3; c++)
      s->b[3 * i + c] = d ? m->mass[i] * d[3 * i + c] : 0;
}

/* Relative residual from which on coefficients in single precision are accurate enough. */
static const double SINGLE_ACCURACY = 1e-4;

static HkStatus solve_once(HkSolveHessian *s, const HkHessianSystem *system, double *p,
                           HkLinearResult *result, HkError *error) {
  HkProblem *problem = s->problem;
  HkHessianAt at = hk_problem_hessian_at(problem, system->x);
  HkOperator A;
  at.projection = system->projection;
  at.taut = system->taut;
  at.single = system->accuracy >= SINGLE_ACCURACY;
  at.preconditions = s->linear->preconditions;
  HK_TRY(hk_hessian_evaluate(&problem->hessian, &at, s->assembled, &A, error));
  lift(s, system->b, system->d);
  HK_TRY(hk_linear_prepare(s->linear, &A, error));
  *result = (HkLinearResult){.indefinite = s->linear->indefinite};
  if (result->indefinite) return HK_OK;
  s->linear->by_decrease = system->by_decrease;
  if (system->guess)
    return hk_guess_solve(system->guess, s->linear, &A, s->b, p, system->accuracy, result, error);
  return hk_linear_solve(s->linear, s->b, p, system->accuracy, result, error);
}

static HkStatus try_once(HkSolveHessian *s, const HkHessianSystem *system, double *p,
                         HkLinearResult *result, HkError *error) {
  HK_TRY(solve_once(s, system, p, result, error));
  bool handed = s->factorizes && s->linear == s->chosen && !result->indefinite &&
                result->reason == HK_STOP_ITERATIONS;
  if (!handed) return HK_OK;
  int iterations = result->iterations;
  HK_TRY(hand_over(s, error));
  HK_TRY(solve_once(s, system, p, result, error));
  result->iterations += iterations;
  return HK_OK;
}

/* What was found may be useless, or a direction down all the same: of conjugate gradients that came
 * some way before they met negative curvature. Other solvers leave 0. A step that moves pins must
 * be solved to the end. */
static bool is_useful(const HkSolveHessian *s, const HkLinearResult *result, const double *d,
                      const double *p) {
  if (!result->indefinite) return true;
  return !d && result->iterations > 1 && hk_vectors_dot(&s->problem->space, s->b, p) > 0;
}

/* Conjugate gradients on the true Hessian with the projected one, which is factorized, as the
 * preconditioner. They end where they meet negative curvature, with what they have so far: a
 * direction down that is Newton's own in the part of space that the gradient sees. A chain that is
 * pressed in a plane may well be about to buckle out of it; in the plane it still converges as fast
 * as Newton's method does. */
static HkStatus refine(HkSolveHessian *s, const HkHessianSystem *system, double *p,
                       HkDirection *direction, HkStepInfo *info, HkError *error) {
  enum { ITERATIONS_MAX = 30 };
  const HkVectors *space = &s->problem->space;
  HkHessianAt at = hk_problem_hessian_at(s->problem, system->x);
  HkLinearResult result;
  HkOperator A;
  double rz = 0, goal = system->accuracy * sqrt(hk_vectors_dot(space, s->b, s->b));
  hk_vectors_copy(space, s->b, s->r);
  hk_vectors_zero(space, p);
  at.taut = system->taut;
  at.single = system->accuracy >= SINGLE_ACCURACY;
  HK_TRY(hk_hessian_evaluate(&s->problem->hessian, &at, false, &A, error));
  for (int it = 0; it < ITERATIONS_MAX; it++) {
    HK_TRY(hk_linear_solve(s->linear, s->r, s->z, 0, &result, error));
    info->linear_iterations++;
    double next = hk_vectors_dot(space, s->r, s->z);
    if (it == 0)
      hk_vectors_copy(space, s->z, s->q); /* q holds whatever the last call has left */
    else
      hk_vectors_add(space, next / rz, s->q, s->z, s->q);
    rz = next;
    A.product(A.user, s->q, s->Aq);
    double curvature = hk_vectors_dot(space, s->q, s->Aq);
    direction->definite = curvature > 0;
    if (!direction->definite) {
      if (it == 0) hk_vectors_copy(space, s->z, p);
      break;
    }
    hk_vectors_add(space, rz / curvature, s->q, p, p);
    hk_vectors_add(space, -rz / curvature, s->Aq, s->r, s->r);
    direction->exact = hk_vectors_dot(space, s->r, s->r) <= goal * goal;
    if (direction->exact) break;
  }
  return HK_OK;
}

HkStatus hk_solve_hessian(HkSolveHessian *s, const HkHessianSystem *system, double *p,
                          HkDirection *direction, HkStepInfo *info, HkError *error) {
  HkProblem *problem = s->problem;
  const HkModel *m = problem->model;
  const double *d = system->d;
  HkLinearResult result;
  *direction = (HkDirection){.direct = s->linear->type->direct};
  if (problem->prefactor) HK_TRY(hk_problem_update_prefactor(problem, error));
  bool projected = system->projection == 1;
  if (!projected) {
    HK_TRY(try_once(s, system, p, &result, error));
    info->linear_iterations += result.iterations;
    direction->definite = !result.indefinite;
    direction->exact =
        !result.indefinite && result.reason == HK_STOP_CONVERGED && system->projection == 0;
    projected = system->projection > 0 ? result.indefinite : !is_useful(s, &result, d, p);
  }
  if (projected) {
    HkHessianSystem full = *system;
    full.projection = 1;
    info->projections++;
    HK_TRY(try_once(s, &full, p, &result, error));
    info->linear_iterations += result.iterations;
    if (result.indefinite) /* it cannot be, but for numbers that are none: no answer */
      for (int64_t c = 0; c < 3 * m->n; c++) p[c] = NAN;
    else if (direction->direct && !d)
      HK_TRY(refine(s, &full, p, direction, info, error));
  }
  info->residual = result.residual;
  direction->reason = result.indefinite ? HK_STOP_STALLED : result.reason;
  for (int64_t pin = 0; pin < m->pin_count; pin++) {
    int64_t i = 3 * (int64_t)m->pin_vertex[pin];
    if (!problem->held.mask[i / 3]) continue;
    for (int c = 0; c < 3; c++) p[i + c] = d ? d[i + c] : 0;
  }
  return HK_OK;
}

HkStatus hk_solve_hessian_again(HkSolveHessian *s, const double *b, double *p, double accuracy,
                                HkStepInfo *info, HkError *error) {
  HkLinearResult result;
  lift(s, b, NULL);
  HK_TRY(hk_linear_solve(s->linear, s->b, p, accuracy, &result, error));
  info->linear_iterations += result.iterations;
  return HK_OK;
}
