/* H(x) p = b with the Hessian of an implicit step; see solve_hessian.h. */
#include "minimize/solve_hessian.h"

#include "linear/iterative.h"

#include <string.h>

struct HkSolveHessian {
  HkProblem *problem;
  HkLinear *chosen; /* the solver of the caller */
  HkLinear *direct; /* the one that takes its place; NULL until it is needed */
  HkLinear *linear; /* the one of both that is in use */
  bool factorizes;
  bool assembled;         /* it works on the assembled matrix */
  double *b;              /* 3 n, the right-hand side with what held vertices do to it */
  double *r, *z, *q, *Aq; /* 3 n, of conjugate gradients on an indefinite Hessian */
};

/* Whether a method, or one nested in it, has that schema. */
static bool mentions(const HkMethod *method, const HkSchema *schema) {
  if (!method->schema) return false;
  if (method->schema == schema) return true;
  for (int q = 0; q < method->schema->param_count; q++) {
    const HkParam *p = &method->schema->params[q];
    const void *at = (const char *)method->params + p->offset;
    if (p->kind == HK_PARAM_METHOD && mentions(at, schema)) return true;
  }
  return false;
}

static HkStatus use(HkSolveHessian *s, HkLinear *linear, HkError *error) {
  HkProblem *p = s->problem;
  s->linear = linear;
  s->assembled = linear->type->needs_matrix(linear->method.params);
  if (s->assembled) return hk_hessian_allocate(&p->hessian, &p->pattern, &p->bytes, error);
  return hk_hessian_need_springs(&p->hessian, &p->bytes, error);
}

static HkLinearSetup setup_of(const HkProblem *p) {
  return (HkLinearSetup){.model = p->model,
                         .pattern = &p->pattern,
                         .held = &p->held,
                         .prefactor = p->prefactor,
                         .cancel = p->cancel};
}

/* The vectors of conjugate gradients on an indefinite Hessian. */
static HkStatus make_vectors(HkSolveHessian *s, HkError *error) {
  const HkModel *m = s->problem->model;
  double **vectors[] = {&s->r, &s->z, &s->q, &s->Aq};
  for (int q = 0; q < 4; q++)
    HK_TRY(hk_alloc_vector(&m->context, vectors[q], m->n, "a linear system", error));
  return HK_OK;
}

static HkStatus create(HkSolveHessian *s, const HkMethod *method, HkError *error) {
  HkProblem *p = s->problem;
  const HkSchema *prefactored = hk_schema_find(HK_PRECONDITION, "prefactored");
  if (prefactored && mentions(method, prefactored))
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
  HkContext c = s->problem->model->context;
  hk_linear_destroy(&s->chosen);
  hk_linear_destroy(&s->direct);
  double **vectors[] = {&s->b, &s->r, &s->z, &s->q, &s->Aq};
  for (int q = 0; q < 5; q++) hk_free(&c, vectors[q]);
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
  for (int64_t q = 0; q < m->n; q++)
    for (int c = 0; s->problem->held.mask[q] && c < 3; c++)
      s->b[3 * q + c] = d ? m->mass[q] * d[3 * q + c] : 0;
}

static HkStatus solve_once(HkSolveHessian *s, const double *b, const double *d, double *p,
                           double accuracy, HkLinearResult *result, HkError *error) {
  HkHessian *H = &s->problem->hessian;
  if (s->assembled) hk_hessian_assemble(H);
  H->single = accuracy >= 1e-4;
  lift(s, b, d);
  HkOperator A = hk_hessian_operator(H, s->assembled);
  HK_TRY(hk_linear_prepare(s->linear, &A, error));
  *result = (HkLinearResult){.indefinite = s->linear->indefinite};
  if (result->indefinite) return HK_OK;
  return hk_linear_solve(s->linear, s->b, p, accuracy, result, error);
}

static HkStatus try_once(HkSolveHessian *s, const double *b, const double *d, double *p,
                         double accuracy, HkLinearResult *result, HkError *error) {
  HK_TRY(solve_once(s, b, d, p, accuracy, result, error));
  bool handed = s->factorizes && s->linear == s->chosen && !result->indefinite &&
                result->reason == HK_STOP_ITERATIONS;
  if (!handed) return HK_OK;
  int iterations = result->iterations;
  HK_TRY(hand_over(s, error));
  HK_TRY(solve_once(s, b, d, p, accuracy, result, error));
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

/* Conjugate gradients on the true Hessian with the projected one, which is factorised, as the
 * preconditioner. They end where they meet negative curvature, with what they have so far: a
 * direction down that is Newton's own in the part of space that the gradient sees. A chain that is
 * pressed in a plane may well be about to buckle out of it; in the plane it still converges as fast
 * as Newton's method does. */
static HkStatus refine(HkSolveHessian *s, double *p, double accuracy, HkDirection *direction,
                       HkStepReport *report, HkError *error) {
  enum { ITERATIONS_MAX = 30 };
  const HkVectors *space = &s->problem->space;
  HkHessian *H = &s->problem->hessian;
  HkLinearResult result;
  double rz = 0, goal = accuracy * sqrt(hk_vectors_dot(space, s->b, s->b));
  hk_vectors_copy(space, s->b, s->r);
  hk_vectors_zero(space, p);
  H->projection = 0;
  HkOperator A = hk_hessian_operator(H, false);
  for (int it = 0; it < ITERATIONS_MAX; it++) {
    HK_TRY(hk_linear_solve(s->linear, s->r, s->z, 0, &result, error));
    report->linear_iterations++;
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
  H->projection = 1;
  return HK_OK;
}

HkStatus hk_solve_hessian(HkSolveHessian *s, const double *x, const double *b, const double *d,
                          double *p, double accuracy, double projection, HkDirection *direction,
                          HkStepReport *report, HkError *error) {
  HkProblem *problem = s->problem;
  const HkModel *m = problem->model;
  HkHessian *H = &problem->hessian;
  HkLinearResult result;
  *direction = (HkDirection){.direct = s->linear->type->direct};
  if (problem->prefactor)
    HK_TRY(hk_prefactor_update(problem->prefactor, problem->tau, problem->extra, error));
  H->x = x;
  H->projection = projection;
  bool projected = projection == 1;
  if (!projected) {
    HK_TRY(try_once(s, b, d, p, accuracy, &result, error));
    report->linear_iterations += result.iterations;
    direction->definite = !result.indefinite;
    direction->exact = !result.indefinite && result.reason == HK_STOP_CONVERGED && projection == 0;
    projected = projection > 0 ? result.indefinite : !is_useful(s, &result, d, p);
  }
  if (projected) {
    report->projections++;
    H->projection = 1;
    HK_TRY(try_once(s, b, d, p, accuracy, &result, error));
    report->linear_iterations += result.iterations;
    if (result.indefinite) /* it cannot be, but for numbers that are none: no answer */
      for (int64_t q = 0; q < 3 * m->n; q++) p[q] = NAN;
    else if (direction->direct && !d)
      HK_TRY(refine(s, p, accuracy, direction, report, error));
  }
  report->residual = result.residual;
  direction->reason = result.indefinite ? HK_STOP_STALLED : result.reason;
  for (int64_t q = 0; q < m->pin_count; q++) {
    int64_t i = 3 * (int64_t)m->pin_vertex[q];
    if (!problem->held.mask[i / 3]) continue;
    for (int c = 0; c < 3; c++) p[i + c] = d ? d[i + c] : 0;
  }
  return HK_OK;
}

HkStatus hk_solve_hessian_again(HkSolveHessian *s, const double *b, double *p, double accuracy,
                                HkStepReport *report, HkError *error) {
  HkLinearResult result;
  lift(s, b, NULL);
  HK_TRY(hk_linear_solve(s->linear, s->b, p, accuracy, &result, error));
  report->linear_iterations += result.iterations;
  return HK_OK;
}
