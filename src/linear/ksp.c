/* Conjugate gradients of PETSc (KSPCG) on ranks, with a preconditioner of PETSc.
 *
 * The options of PETSc choose another method in its place, such as -ksp_type pipecg, and show what
 * there is: -ksp_view, -ksp_monitor. They end by the residual alone, and say nothing of a matrix
 * that is not positive definite where they do not meet it; pcg, the default, also looks at the
 * quadratic that it lowers (krylov.c).
 */
#include "linear/iterative.h"
#include "linear/part_solver.h"

typedef struct Ksp {
  double tolerance;
  int iterations;
  HkMethod preconditioner;
} Ksp;
HK_BEGINS_AS_ITERATIVE(Ksp);

static const HkParam params[] = {
    HK_ITERATIVE_PARAMS(Ksp),
    HK_METHOD(Ksp, preconditioner, HK_PRECONDITION,
              "gamg, hypre or multigrid, which is taken if nothing is given"),
};

typedef struct Data {
  HkPrecondition *precondition;
  double *r; /* b - A x */
} Data;

static bool needs_matrix(const void *p) {
  (void)p;
  return true;
}

static HkStatus create(HkLinear *s, HkError *error) {
  const HkContext *c = &s->setup.model->context;
  const Ksp *p = s->method.params;
  Data *data = NULL;
  HK_TRY(hk_alloc(c, &data, 1, sizeof *data, "ksp", error));
  s->data = data;
  HkMethod multigrid = {0};
  if (!p->preconditioner.schema)
    HK_TRY(hk_method_choose(&multigrid, HK_PRECONDITION, "multigrid", error));
  const HkMethod *method = p->preconditioner.schema ? &p->preconditioner : &multigrid;
  HkStatus status =
      hk_precondition_create(&s->setup, &s->space, method, &data->precondition, error);
  hk_method_clear(&multigrid);
  HK_TRY(status);
  if (!hk_is_part_solver(data->precondition))
    return hk_fail(error, HK_ERROR_UNSUPPORTED,
                   "the linear solver 'ksp' goes with the preconditioners multigrid, gamg and "
                   "hypre; choose one of them, or the linear solver 'pcg'");
  s->bytes = sizeof *data + sizeof *data->precondition + hk_vector_bytes(s->space.n);
  return hk_alloc_vector(c, &data->r, s->space.n, "ksp", error);
}

static void destroy(HkLinear *s) {
  const HkContext *c = &s->setup.model->context;
  Data *data = s->data;
  hk_precondition_destroy(&data->precondition);
  hk_free(c, &data->r);
  hk_free(c, &s->data);
}

static HkStatus prepare(HkLinear *s, HkError *error) {
  Data *data = s->data;
  data->precondition->A = &s->A;
  return hk_part_solver_prepare(data->precondition, error);
}

static HkStatus solve(HkLinear *s, const double *b, double *x, double tolerance,
                      HkLinearResult *result, HkError *error) {
  const Ksp *p = s->method.params;
  Data *data = s->data;
  double size;
  tolerance = hk_iterative_start(s, b, tolerance, x, &size, result);
  if (tolerance == 0) return HK_OK;
  HK_TRY(hk_part_solver_solve(data->precondition, b, x, tolerance, p->iterations,
                              &result->iterations, &result->indefinite, error));
  hk_linear_residual(s, b, x, data->r, result);
  result->reason = hk_iterative_reason(s, tolerance, result);
  return HK_OK;
}

const HkLinearType hk_linear_ksp = {
    .schema = {.name = "ksp",
               .summary = "conjugate gradients of PETSc on ranks, with its options",
               .formula = "p = z + beta p, x += alpha p",
               .needs_ranks = true,
               HK_PARAMS(Ksp, params)},
    .needs_matrix = needs_matrix,
    .create = create,
    .destroy = destroy,
    .prepare = prepare,
    .solve = solve,
};
