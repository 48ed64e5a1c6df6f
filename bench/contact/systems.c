/* The systems of systems.h. */
#include "systems.h"

#include "profile.h"
#include "step/implicit.h"

#include <stdlib.h>
#include <string.h>

static const double RESIDUAL = 1e-2;

static HkProblem *problem_of(const World *w) {
  return &((HkImplicit *)w->sim->data)->problem;
}

static HkStatus make_solver(const HkProblem *p, HkLinear **solver, HkError *error) {
  HkLinearSetup setup = {.model = p->model, .held = &p->held};
  HkMethod pcg = {0};
  HkStatus status = hk_method_choose(&pcg, HK_LINEAR, "pcg", error);
  if (status >= 0 && !hk_method_set_method(&pcg, "preconditioner", "multigrid", error))
    status = HK_ERROR_INVALID;
  if (status >= 0) status = hk_linear_create(&setup, &pcg, solver, error);
  hk_method_clear(&pcg);
  return status;
}

/* Solves with the projected Hessian, as newton does far from the minimum. */
static HkStatus solve(const World *w, const double *x, const double *b, double *p, SystemCost *cost,
                      HkError *error) {
  HkProblem *problem = problem_of(w);
  HkHessianAt at = hk_problem_hessian_at(problem, x);
  HkLinear *solver = NULL;
  HkLinearResult result = {0};
  HkOperator A;
  at.projection = 1;
  at.single = true;
  HkStatus status = make_solver(problem, &solver, error);
  if (status >= 0) status = hk_problem_begin_iterate(problem, x, error);
  if (status >= 0) status = hk_hessian_evaluate(&problem->hessian, &at, false, &A, error);
  if (status >= 0) status = hk_linear_prepare(solver, &A, error); /* allocates */
  double start = row_clock();
  if (status >= 0) status = hk_hessian_evaluate(&problem->hessian, &at, false, &A, error);
  double evaluated = row_clock();
  if (status >= 0) status = hk_linear_prepare(solver, &A, error);
  double prepared = row_clock();
  if (status >= 0) status = hk_linear_solve(solver, b, p, RESIDUAL, &result, error);
  *cost = (SystemCost){.evaluate = evaluated - start,
                       .prepare = prepared - evaluated,
                       .solve = row_clock() - prepared,
                       .iterations = result.iterations,
                       .converged = result.reason == HK_STOP_CONVERGED};
  hk_linear_destroy(&solver);
  return status;
}

HkStatus systems_compare(const World *with, const World *without, const double *x, SystemPair *pair,
                         HkError *error) {
  int64_t size = 3 * with->model->n;
  double *b = malloc((size_t)size * sizeof *b), *p = malloc((size_t)size * sizeof *p);
  HkStatus status = b && p ? HK_OK : HK_ERROR_MEMORY;
  if (status >= 0) status = hk_problem_begin_iterate(problem_of(with), x, error);
  if (status >= 0) {
    hk_problem_gradient(problem_of(with), x, b);
    for (int64_t q = 0; q < size; q++) b[q] = -b[q];
    status = solve(with, x, b, p, &pair->with, error);
  }
  if (status >= 0) status = solve(without, x, b, p, &pair->without, error);
  free(b);
  free(p);
  return status;
}
