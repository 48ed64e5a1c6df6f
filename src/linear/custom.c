/* Linear solvers of the caller, by callbacks; see hooke/extend.h.
 *
 * They are no entries of the registry, as a scene cannot name one: hk_method_set_linear_solver puts
 * the functions into the parameters. Whatever a solver returns is checked: the residual is computed
 * here, and p^T A p = p^T b <= 0 of its answer p shows that A is not positive definite. */
#include "hooke/extend.h"
#include "linear/iterative.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct CustomParams {
  double tolerance; /* least relative residual that a solver is asked for */
  int iterations;
  HkLinearFunctions functions;
  void *user;
} CustomParams;
HK_BEGINS_AS_ITERATIVE(CustomParams);

/* Relative residual from which on an answer of a direct solver is not one. */
static const double DIRECT_RESIDUAL_MAX = 1e-4;
/* What a linearly implicit step asks for, as of the built-in iterative solvers. */
static const double TOLERANCE_MIN = 1e-8;

typedef struct Custom {
  HkLinearSystem system;
  int64_t *row_start; /* of the matrix by scalar rows */
  int32_t *column;
  double *value;
  uint64_t hash; /* of the pattern that these were made for */
  double *residual;
  double *p, *Ap; /* of a product, with the padding that kernels read and the caller's lack */
  void *state;    /* the caller's */
  bool has_state;
} Custom;

static const CustomParams *params_of(const HkLinear *solver) {
  return solver->method.params;
}

static bool needs_matrix(const void *params) {
  return ((const CustomParams *)params)->functions.needs_matrix;
}

static void product(const HkLinearSystem *system, const double *p, double *out) {
  const HkLinear *solver = system->data;
  const Custom *d = solver->data;
  size_t bytes = (size_t)system->size * sizeof *p;
  memcpy(d->p, p, bytes);
  solver->A.product(solver->A.user, d->p, d->Ap);
  memcpy(out, d->Ap, bytes);
}

static HkStatus create(HkLinear *solver, HkError *error) {
  const HkModel *m = solver->setup.model;
  const CustomParams *p = params_of(solver);
  Custom *d = NULL;
  HK_TRY(hk_alloc(&m->context, &d, 1, sizeof *d, "a linear solver", error));
  solver->data = d;
  d->system = (HkLinearSystem){.size = 3 * m->n, .product = product};
  HK_TRY(hk_alloc_vector(&m->context, &d->residual, m->n, "a linear solver", error));
  HK_TRY(hk_alloc_vector(&m->context, &d->p, m->n, "a linear solver", error));
  HK_TRY(hk_alloc_vector(&m->context, &d->Ap, m->n, "a linear solver", error));
  solver->bytes = sizeof *d + 3 * hk_vector_bytes(m->n);
  if (p->functions.create) HK_TRY(p->functions.create(p->user, 3 * m->n, &d->state, error));
  d->has_state = true;
  return HK_OK;
}

static void forget_matrix(const HkContext *c, Custom *d) {
  hk_free(c, &d->row_start);
  hk_free(c, &d->column);
  hk_free(c, &d->value);
}

static void destroy(HkLinear *solver) {
  const HkContext *c = &solver->setup.model->context;
  const CustomParams *p = params_of(solver);
  Custom *d = solver->data;
  if (d->has_state && p->functions.destroy) p->functions.destroy(p->user, d->state);
  forget_matrix(c, d);
  hk_free(c, &d->residual);
  hk_free(c, &d->p);
  hk_free(c, &d->Ap);
  hk_free(c, &solver->data);
}

/* Rows and columns of the scalar matrix, for a pattern of blocks. */
static HkStatus list_pattern(HkLinear *solver, Custom *d, HkError *error) {
  const HkContext *c = &solver->setup.model->context;
  const HkPattern *p = solver->A.matrix->pattern;
  int64_t rows = 3 * p->n, entries = 9 * p->start[p->n];
  forget_matrix(c, d);
  HK_TRY(hk_alloc(c, &d->row_start, rows + 1, sizeof *d->row_start, "a matrix", error));
  HK_TRY(hk_alloc(c, &d->column, entries, sizeof *d->column, "a matrix", error));
  HK_TRY(hk_alloc(c, &d->value, entries, sizeof *d->value, "a matrix", error));
  int64_t at = 0;
  for (int64_t r = 0; r < rows; r++) {
    d->row_start[r] = at;
    for (int64_t e = p->start[r / 3]; e < p->start[r / 3 + 1]; e++)
      for (int k = 0; k < 3; k++) d->column[at++] = 3 * p->column[e] + k;
  }
  d->row_start[rows] = at;
  d->hash = p->hash;
  d->system.row_start = d->row_start;
  d->system.column = d->column;
  d->system.value = d->value;
  d->system.pattern++;
  solver->bytes = sizeof *d + 3 * hk_vector_bytes(p->n) + (size_t)rows * sizeof *d->row_start +
                  (size_t)entries * (sizeof *d->column + sizeof *d->value);
  return HK_OK;
}

static void copy_values(const HkBlockMatrix *A, Custom *d) {
  const HkPattern *p = A->pattern;
  for (int64_t i = 0; i < p->n; i++) {
    int64_t begin, end, blocks = p->start[i + 1] - p->start[i];
    hk_block_row(A, i, &begin, &end);
    for (int r = 0; r < 3; r++) {
      double *row = d->value + d->row_start[3 * i + r];
      if (end - begin < blocks) memset(row, 0, (size_t)(3 * blocks) * sizeof *row);
      for (int64_t e = begin; e < end; e++)
        memcpy(row + 3 * (e - p->start[i]), A->value + 9 * e + 3 * r, 3 * sizeof *row);
    }
  }
}

static HkStatus prepare(HkLinear *solver, HkError *error) {
  const CustomParams *p = params_of(solver);
  Custom *d = solver->data;
  d->system.data = solver;
  if (p->functions.needs_matrix) {
    const HkPattern *pattern = solver->A.matrix->pattern;
    if (!d->value || d->hash != pattern->hash) HK_TRY(list_pattern(solver, d, error));
    copy_values(solver->A.matrix, d);
  }
  d->system.state = d->state;
  if (!p->functions.prepare) return HK_OK;
  return p->functions.prepare(p->user, &d->system, &solver->indefinite, error);
}

static HkStatus solve(HkLinear *solver, const double *b, double *x, double tolerance,
                      HkLinearResult *result, HkError *error) {
  const HkVectors *space = &solver->space;
  const CustomParams *p = params_of(solver);
  Custom *d = solver->data;
  double size = hk_vectors_dot(space, b, b);
  hk_vectors_zero(space, x);
  result->reason = HK_STOP_CONVERGED;
  if (size == 0) return HK_OK;
  HkLinearOutcome outcome = {.iterations = 1};
  tolerance = fmax(tolerance, p->tolerance);
  HK_TRY(p->functions.solve(p->user, &d->system, b, x, tolerance, &outcome, error));
  result->iterations = outcome.iterations;
  double curvature = hk_vectors_dot(space, b, x);
  hk_linear_residual(solver, b, x, d->residual, result);
  result->indefinite = outcome.indefinite || (isfinite(curvature) && !(curvature > 0));
  if (result->indefinite) {
    hk_vectors_zero(space, x);
    return HK_OK;
  }
  if (isfinite(size) && !isfinite(result->residual))
    return hk_fail(error, HK_ERROR_INVALID,
                   "the linear solver '%s' returned a number that is not finite",
                   p->functions.name);
  double goal = solver->type->direct ? DIRECT_RESIDUAL_MAX : tolerance;
  if (!(result->residual <= goal)) result->reason = HK_STOP_ITERATIONS;
  return HK_OK;
}

#define CUSTOM_TYPE(is_direct)                                                                     \
  {                                                                                                \
    .schema = {.name = "custom",                                                                   \
               .summary = "a linear solver of the calling program",                                \
               .size = sizeof(CustomParams)},                                                      \
    .direct = (is_direct), .needs_matrix = needs_matrix, .create = create, .destroy = destroy,     \
    .prepare = prepare, .solve = solve,                                                            \
  }

const HkLinearType hk_custom_linear = CUSTOM_TYPE(false);
const HkLinearType hk_custom_linear_direct = CUSTOM_TYPE(true);

/* ---- The interface ---- */

HkLinearFunctions hk_linear_functions_default(void) {
  return (HkLinearFunctions){.size = sizeof(HkLinearFunctions), .name = "custom"};
}

/* The linear solver within a method, or within those nested in it. Where no minimizer is chosen,
 * newton is, whose directions need one. */
static HkStatus find_linear(HkMethod *method, HkMethod **linear, HkError *error) {
  *linear = NULL;
  for (int k = 0; method->schema && !*linear && k < method->schema->param_count; k++) {
    const HkParam *p = &method->schema->params[k];
    HkMethod *nested = (HkMethod *)((char *)method->params + p->offset);
    if (p->kind != HK_PARAM_METHOD) continue;
    if (p->family == HK_LINEAR) *linear = nested;
    if (p->family != HK_MINIMIZE) continue;
    if (!nested->schema) HK_TRY(hk_method_choose(nested, HK_MINIMIZE, "newton", error));
    HK_TRY(find_linear(nested, linear, error));
  }
  return HK_OK;
}

HkStatus hk_method_set_linear_solver(HkMethod *method, const HkLinearFunctions *functions,
                                     void *user, HkError *error) {
  HkMethod *linear;
  if (functions->size != sizeof *functions || !functions->solve || !functions->name)
    return hk_fail(error, HK_ERROR_INVALID,
                   "a linear solver needs a name, the function solve and its size: start from "
                   "hk_linear_functions_default");
  HK_TRY(find_linear(method, &linear, error));
  if (!linear)
    return hk_fail(error, HK_ERROR_INVALID, "%s solves no linear systems; use newton, or beta",
                   method->schema ? method->schema->name : "a method that was not chosen");
  CustomParams *params = malloc(sizeof *params); /* freed by hk_method_clear */
  if (!params) return hk_fail_memory(error, sizeof *params, "a linear solver");
  *params = (CustomParams){
      .tolerance = TOLERANCE_MIN, .iterations = INT_MAX, .functions = *functions, .user = user};
  hk_method_clear(linear);
  linear->schema = functions->direct ? &hk_custom_linear_direct.schema : &hk_custom_linear.schema;
  linear->params = params;
  return HK_OK;
}
