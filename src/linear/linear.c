/* The registries of linear solvers and preconditioners, and what they have in common. */
#include "linear/linear.h"

#include "linear/factor.h"

#include <stdlib.h>

#define HK_LINEAR_TYPE(name) extern const HkLinearType hk_linear_##name;
#include "linear/linear.def"
#undef HK_LINEAR_TYPE
#define HK_PRECONDITION_TYPE(name) extern const HkPreconditionType hk_precondition_##name;
#include "linear/precondition.def"
#undef HK_PRECONDITION_TYPE

static const HkLinearType *const types[] = {
#define HK_LINEAR_TYPE(name) &hk_linear_##name,
#include "linear/linear.def"
#undef HK_LINEAR_TYPE
    NULL,
};

static const HkPreconditionType *const preconditions[] = {
#define HK_PRECONDITION_TYPE(name) &hk_precondition_##name,
#include "linear/precondition.def"
#undef HK_PRECONDITION_TYPE
    NULL,
};

enum {
  TYPE_COUNT = sizeof types / sizeof types[0] - 1,
  PRECONDITION_COUNT = sizeof preconditions / sizeof preconditions[0] - 1
};

const HkSchema *hk_linear_schema(int index) {
  return index >= 0 && index < TYPE_COUNT ? &types[index]->schema : NULL;
}

/* Those of callers (custom.c), which no scene can name. */
extern const HkLinearType hk_custom_linear, hk_custom_linear_direct;

const HkLinearType *hk_linear_type(const HkSchema *schema) {
  if (schema == &hk_custom_linear.schema) return &hk_custom_linear;
  if (schema == &hk_custom_linear_direct.schema) return &hk_custom_linear_direct;
  for (int k = 0; k < TYPE_COUNT; k++)
    if (&types[k]->schema == schema) return types[k];
  return NULL;
}

const HkSchema *hk_precondition_schema(int index) {
  return index >= 0 && index < PRECONDITION_COUNT ? &preconditions[index]->schema : NULL;
}

const HkPreconditionType *hk_precondition_type(const HkSchema *schema) {
  for (int k = 0; k < PRECONDITION_COUNT; k++)
    if (&preconditions[k]->schema == schema) return preconditions[k];
  return NULL;
}

const char *hk_linear_default(void) {
  return hk_factor_default() == HK_FACTOR_CHOLMOD ? "cholesky" : "ldlt";
}

/* An error if a method needs ranks that the model does not have. */
static HkStatus check_ranks(const HkModel *m, const HkSchema *schema, const char *what,
                            const char *other, HkError *error) {
  if (!schema->needs_ranks || m->part) return HK_OK;
  return hk_fail(error, HK_ERROR_UNSUPPORTED,
                 "the %s '%s' needs the device petsc; without it choose '%s'", what, schema->name,
                 other);
}

/* ---- Solvers ---- */

HkStatus hk_linear_create(const HkLinearSetup *setup, const HkMethod *method, HkLinear **solver,
                          HkError *error) {
  const HkModel *m = setup->model;
  HK_TRY(hk_alloc(&m->context, solver, 1, sizeof **solver, "a linear solver", error));
  HkLinear *s = *solver;
  s->setup = *setup;
  s->space = (HkVectors){.model = m, .n = m->n, .threads = m->threads};
  HkStatus status =
      method->schema ? hk_method_copy(method, &s->method, error)
                     : hk_method_choose(&s->method, HK_LINEAR, hk_family_default(HK_LINEAR), error);
  if (status >= 0 && !(s->type = hk_linear_type(s->method.schema)))
    status =
        hk_fail(error, HK_ERROR_INVALID, "'%s' is not a linear solver", s->method.schema->name);
  if (status >= 0)
    status = hk_alloc(&m->context, &s->space.sums, hk_sum_slots(m->n), sizeof *s->space.sums,
                      "a linear solver", error);
  if (status >= 0) status = check_ranks(m, &s->type->schema, "linear solver", "pcg", error);
  if (status >= 0) s->needs_matrix = s->type->needs_matrix(s->method.params);
  if (status >= 0) status = s->type->create(s, error);
  if (status < 0) hk_linear_destroy(solver);
  return status;
}

void hk_linear_destroy(HkLinear **solver) {
  HkLinear *s = *solver;
  if (!s) return;
  HkContext c = s->setup.model->context;
  if (s->type && s->data) s->type->destroy(s);
  hk_free(&c, &s->space.sums);
  hk_method_clear(&s->method);
  hk_free(&c, solver);
}

size_t hk_linear_bytes(const HkLinear *s) {
  return sizeof *s + s->bytes + (size_t)hk_sum_slots(s->setup.model->n) * sizeof *s->space.sums;
}

HkStatus hk_linear_prepare(HkLinear *solver, const HkOperator *A, HkError *error) {
  HK_ASSERT(!solver->needs_matrix || A->matrix);
  solver->A = *A;
  solver->indefinite = false;
  HK_TRY(hk_cancel_check(solver->setup.cancel, error));
  return solver->type->prepare(solver, error);
}

HkStatus hk_linear_solve(HkLinear *solver, const double *b, double *x, double tolerance,
                         HkLinearResult *result, HkError *error) {
  HK_ASSERT(solver->A.product && b != x);
  *result = (HkLinearResult){0};
  HK_TRY(solver->type->solve(solver, b, x, tolerance, result, error));
  return hk_cancel_check(solver->setup.cancel, error);
}

void hk_linear_residual(const HkLinear *solver, const double *b, const double *x, double *residual,
                        HkLinearResult *result) {
  const HkVectors *space = &solver->space;
  double scale = hk_vectors_dot(space, b, b);
  solver->A.product(solver->A.user, x, residual);
  hk_vectors_subtract(space, b, residual, residual);
  /* 0 for b = 0, NaN for NaN. */
  result->residual = scale > 0 ? sqrt(hk_vectors_dot(space, residual, residual) / scale) : scale;
}

/* ---- Preconditioners ---- */

HkStatus hk_precondition_create(const HkLinearSetup *setup, const HkVectors *space,
                                const HkMethod *method, HkPrecondition **precondition,
                                HkError *error) {
  const HkModel *m = setup->model;
  HK_TRY(hk_alloc(&m->context, precondition, 1, sizeof **precondition, "a preconditioner", error));
  HkPrecondition *p = *precondition;
  p->setup = *setup;
  p->space = *space;
  HkStatus status = method->schema ? hk_method_copy(method, &p->method, error)
                                   : hk_method_choose(&p->method, HK_PRECONDITION,
                                                      hk_family_default(HK_PRECONDITION), error);
  if (status >= 0 && !(p->type = hk_precondition_type(p->method.schema)))
    status =
        hk_fail(error, HK_ERROR_INVALID, "'%s' is not a preconditioner", p->method.schema->name);
  if (status >= 0) status = check_ranks(m, &p->type->schema, "preconditioner", "multigrid", error);
  if (status >= 0 && m->part && p->type->on_ranks) p->type = p->type->on_ranks;
  if (status >= 0) status = p->type->create(p, error);
  if (status < 0) hk_precondition_destroy(precondition);
  return status;
}

void hk_precondition_destroy(HkPrecondition **precondition) {
  HkPrecondition *p = *precondition;
  if (!p) return;
  HkContext c = p->setup.model->context;
  if (p->type && p->data) p->type->destroy(p);
  hk_method_clear(&p->method);
  hk_free(&c, precondition);
}
