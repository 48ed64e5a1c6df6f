/* Linear solvers: from the registry where they have something in common, then one by one. */
#include "base/vec.h"
#include "linear/krylov.h"
#include "system_by_hand.h"
#include "test.h"

/* What is set on one solver after it was made, by name; its parameters are its own copy. */
static void set(HkLinear *solver, const char *param, double value) {
  MUST(hk_method_set_number(&solver->method, param, value, error));
}

static bool is_iterative(const HkLinear *solver) {
  return hk_param_find(solver->method.schema, "iterations") != NULL;
}

/* The index-th registered solver, or NULL where this build has it not. */
static HkLinear *make_solver(const System *s, int index) {
  HkLinear *solver = NULL;
  HkError error = {0};
  const char *name = hk_schema_at(HK_LINEAR, index)->name;
  HkStatus status = system_solver(s, name, NULL, &solver, &error);
  if (status == HK_ERROR_UNSUPPORTED)
    printf("  %s is not in this build\n", name);
  else if (status < 0)
    test_fail(__FILE__, __LINE__, "%s: %s", name, error.text);
  return solver;
}

static HkLinearResult solve(HkLinear *solver, const System *s, double tolerance, double *x) {
  HkLinearResult result = {0};
  HkError error = {0};
  HkStatus status = hk_linear_prepare(solver, &s->A, &error);
  if (status >= 0) status = hk_linear_solve(solver, s->b, x, tolerance, &result, &error);
  if (status < 0) test_fail(__FILE__, __LINE__, "%s: %s", solver->method.schema->name, error.text);
  return result;
}

/* Calls what for every solver of this build, prepared by nobody. */
static void for_each_solver(System *s, void (*what)(System *s, HkLinear *solver, double *x)) {
  double *x = system_random(s, 3);
  for (int q = 0; q < hk_schema_count(HK_LINEAR); q++) {
    HkLinear *solver = make_solver(s, q);
    if (solver) what(s, solver, x);
    hk_linear_destroy(&solver);
  }
  free(x);
  system_destroy(&s);
}

/* ---- All of them ---- */

static void check_residual(System *s, HkLinear *solver, double *x) {
  const char *name = solver->method.schema->name;
  HkLinearResult result = solve(solver, s, 0, x);
  double residual = system_residual(s, x), most = is_iterative(solver) ? 1e-8 : 1e-12;
  if (!(residual <= most) || result.indefinite || result.iterations < 1)
    test_fail(__FILE__, __LINE__, "%s: residual %g after %d iterations, indefinite: %d", name,
              residual, result.iterations, result.indefinite);
  if (!(fabs(residual - result.residual) <= 1e-3 * residual + 1e-14))
    test_fail(__FILE__, __LINE__, "%s reports %g, the residual is %g", name, result.residual,
              residual);
  for (int64_t q = 0; q < 3 * s->model->n; q++)
    if (s->held.mask[q / 3]) CHECK(x[q] == 0);
}

TEST(every_solver_meets_its_tolerance_and_reports_the_true_residual) {
  for_each_solver(system_of(model_of_tets(by_hand()), 1.5, 0.1, 0), check_residual);
  for_each_solver(system_of(model_of_sheet(by_hand(), 7, 5), 1.5, 0.1, 0), check_residual);
  for_each_solver(system_of(model_of_sheet(by_hand(), 7, 5), 1.6, 1, 3), check_residual);
  ByHand flat = by_hand();
  flat.dimension = 2;
  for_each_solver(system_of(model_of_sheet(flat, 4, 3), 1.5, 0.3, 1), check_residual);
}

/* The default is 1e-8: more is rougher and faster, less changes nothing. */
static void check_tolerance(System *s, HkLinear *solver, double *x) {
  if (!is_iterative(solver)) return;
  HkLinearResult rough = solve(solver, s, 0.03, x), fine = solve(solver, s, 1e-12, x);
  CHECK(rough.residual <= 0.03 && rough.residual > 1e-7);
  CHECK(rough.iterations < fine.iterations);
  CHECK(fine.residual <= 1e-8 && fine.residual == solve(solver, s, 0, x).residual);
  set(solver, "tolerance", 1e-11);
  CHECK(solve(solver, s, 0, x).residual <= 1e-11);
}

TEST(the_larger_one_of_two_tolerances_holds) {
  for_each_solver(system_of(model_of_sheet(by_hand(), 7, 5), 1.5, 0.3, 1), check_tolerance);
}

/* An end by the decrease of the quadratic compares iterations, so that it takes at least two. It
 * counts as converged, whatever the residual is. */
TEST(conjugate_gradients_may_end_by_the_decrease_of_the_quadratic_alone) {
  System *s = system_of(model_of_sheet(by_hand(), 7, 5), 1.5, 1, 1);
  double *x = system_random(s, 3), *exact = system_random(s, 4);
  HkLinear *solver = NULL;
  MUST(system_solver(s, "pcg", "block_jacobi", &solver, error));
  HkLinearResult fine = solve(solver, s, 1e-12, exact), both = solve(solver, s, 1e-3, x);
  solver->by_decrease = true;
  HkLinearResult alone = solve(solver, s, 1e-3, x);
  double lowest = system_dot(s, s->b, exact), left = 0; /* twice the lowest value is -b . exact */
  for (int64_t q = 0; q < 3 * s->model->n; q++) exact[q] -= x[q];
  double *product = system_random(s, 5);
  s->A.product(s->A.user, exact, product);
  left = system_dot(s, exact, product);
  CHECK(alone.reason == HK_STOP_CONVERGED && alone.iterations > 1);
  CHECK(alone.iterations <= both.iterations && both.iterations < fine.iterations);
  CHECK(left > 0 && left <= 0.1 * lowest); /* block_jacobi is weak: more is left than 1e-3 */
  hk_linear_destroy(&solver);
  free(x);
  free(exact);
  free(product);
  system_destroy(&s);
}

static void check_few_iterations(System *s, HkLinear *solver, double *x) {
  if (!is_iterative(solver)) return;
  set(solver, "iterations", 3);
  HkLinearResult result = solve(solver, s, 0, x);
  CHECK(result.iterations == 3 && !result.indefinite && result.residual > 1e-8);
  CHECK_NEAR(result.residual, system_residual(s, x), 1e-12);
}

TEST(too_few_iterations_are_no_error_but_reported) {
  for_each_solver(system_of(model_of_sheet(by_hand(), 7, 5), 1.5, 1, 1), check_few_iterations);
}

static void check_no_load(System *s, HkLinear *solver, double *x) {
  x[0] = 1;
  HkLinearResult result = solve(solver, s, 0, x);
  CHECK(test_largest(x, 3 * s->model->n) == 0);
  CHECK(result.residual == 0 && !result.indefinite);
  CHECK(result.iterations == 0 || !is_iterative(solver));
}

TEST(nothing_on_the_right_gives_nothing) {
  System *s = system_of(model_of_tets(by_hand()), 1.5, 0.1, 0);
  memset(s->b, 0, (size_t)s->model->n * 3 * sizeof *s->b);
  for_each_solver(s, check_no_load);
}

static void check_no_number(System *s, HkLinear *solver, double *x) {
  HkLinearResult result = solve(solver, s, 0, x);
  CHECK(isnan(result.residual));
  CHECK(result.iterations == 0 || !is_iterative(solver));
}

TEST(what_is_not_a_number_on_the_right_ends_at_once) {
  System *s = system_of(model_of_tets(by_hand()), 1.5, 0.1, 0);
  s->b[4] = NAN;
  for_each_solver(s, check_no_number);
}

static void check_no_matrix(System *s, HkLinear *solver, double *x) {
  if (!is_iterative(solver)) return;
  HkLinearResult result = solve(solver, s, 0, x);
  CHECK(result.iterations <= 1000);
  CHECK(isnan(result.residual) || result.indefinite);
}

TEST(what_is_not_a_number_in_the_matrix_ends_soon) {
  System *s = system_of(model_of_tets(by_hand()), 1.5, 0.1, 0);
  s->H.matrix.value[9 * s->pattern.diagonal[2]] = NAN;
  for_each_solver(s, check_no_matrix);
}

static void check_one_vertex(System *s, HkLinear *solver, double *x) {
  HkLinearResult result = solve(solver, s, 0, x);
  CHECK(result.residual <= 1e-8);
  for (int c = 0; c < 3; c++) CHECK_NEAR(x[c], s->b[c] / s->model->mass[0], 1e-8);
}

TEST(one_vertex_alone_moves_by_b_over_m) {
  HkModel *m = model_of_triangles(by_hand(), 1, (double[]){1, 2, 3}, 0, (int32_t[]){0});
  for_each_solver(system_of(m, 1, 0.1, 0), check_one_vertex);
}

static void check_indefinite(System *s, HkLinear *solver, double *x) {
  const char *name = solver->method.schema->name;
  HkLinearResult result = solve(solver, s, 0, x);
  double down = system_dot(s, s->b, x);
  if (!result.indefinite) test_fail(__FILE__, __LINE__, "%s does not say indefinite", name);
  if (!(down >= 0)) test_fail(__FILE__, __LINE__, "%s goes up by %g", name, -down);
  if (!hk_param_find(solver->method.schema, "product"))
    CHECK(test_largest(x, 3 * s->model->n) == 0);
  else
    CHECK(down > 0);
}

TEST(every_solver_says_when_the_matrix_is_indefinite) {
  for_each_solver(system_of(model_of_sheet(by_hand(), 5, 4), 0.3, 1, 0), check_indefinite);
  for_each_solver(system_of(model_of_tets(by_hand()), 0.5, 1, 0), check_indefinite);
}

/* All diagonal blocks are positive definite, only the whole is not: x^T A x = -0.02 for x = (1, -1)
 * in each of the three coordinates. */
TEST(indefinite_is_also_what_no_diagonal_block_shows) {
  System *s = system_of(model_of_spring((double[]){1, 0, 0}, 1, 1), 1, 1, 0);
  for (int64_t q = 0; q < 4; q++)
    hk_mat_identity(s->pattern.diagonal[q / 2] == q ? 1 : 1.01, s->H.matrix.value + 9 * q);
  for_each_solver(s, check_indefinite);
}

/* ---- No allocation, any number of threads ---- */

static void *count_resize(void *user, void *p, size_t bytes) {
  if (bytes) ++*(int *)user;
  if (bytes) return realloc(p, bytes);
  free(p);
  return NULL;
}

static void check_no_allocation(System *s, HkLinear *solver, double *x) {
  int *count = s->model->context.memory_user;
  if (!is_iterative(solver)) return;
  solve(solver, s, 0, x);
  int before = *count;
  solve(solver, s, 0, x);
  CHECK(*count == before && before > 0);
}

TEST(iterative_solvers_allocate_nothing_after_the_first_solve) {
  int count = 0;
  HkModel *m = model_of_sheet(by_hand(), 7, 5);
  m->context.resize = count_resize;
  m->context.memory_user = &count;
  System *s = system_of(m, 1.5, 0.1, 1);
  for (int q = 0; q < hk_schema_count(HK_PRECONDITION); q++) {
    HkLinear *solver = NULL;
    if (hk_schema_at(HK_PRECONDITION, q)->needs_ranks) continue;
    double *x = system_random(s, 3);
    MUST(system_solver(s, "pcg", hk_schema_at(HK_PRECONDITION, q)->name, &solver, error));
    CHECK(solver->bytes > 0);
    check_no_allocation(s, solver, x);
    hk_linear_destroy(&solver);
    free(x);
  }
  for_each_solver(s, check_no_allocation);
}

/* x after some iterations on that many threads. */
static double *iterate_on(int threads, const char *name, const char *preconditioner) {
  ByHand by = by_hand();
  by.threads = threads;
  System *s = system_of(model_of_sheet(by, 95, 90), 1.5, 0.3, 2);
  HkLinear *solver = NULL;
  double *x = system_random(s, 3);
  CHECK(s->model->n > HK_PARALLEL_MIN_ENTRIES);
  if (system_solver(s, name, preconditioner, &solver, NULL) >= 0) {
    if (is_iterative(solver)) set(solver, "iterations", 12);
    solve(solver, s, 0, x);
  }
  CHECK(solver != NULL);
  hk_linear_destroy(&solver);
  system_destroy(&s);
  return x;
}

static void check_threads(const char *name, const char *preconditioner) {
  double *one = iterate_on(1, name, preconditioner);
  for (int threads = 2; threads <= 3; threads++) {
    double *more = iterate_on(threads, name, preconditioner);
    if (memcmp(one, more, (size_t)95 * 90 * 3 * sizeof *one) != 0)
      test_fail(__FILE__, __LINE__, "%s %s: other bits with %d threads", name,
                preconditioner ? preconditioner : "", threads);
    free(more);
  }
  free(one);
}

TEST(the_number_of_threads_does_not_change_a_bit) {
  check_threads("cg", NULL);
  check_threads("jacobi", NULL);
  check_threads("gauss_seidel", NULL);
  for (int q = 0; q < hk_schema_count(HK_PRECONDITION); q++)
    if (!hk_schema_at(HK_PRECONDITION, q)->needs_ranks)
      check_threads("pcg", hk_schema_at(HK_PRECONDITION, q)->name);
}

/* ---- Conjugate gradients ---- */

TEST(cg_ends_after_as_many_iterations_as_there_are_eigenvalues) {
  System *s = system_of(model_of_sheet(by_hand(), 5, 4), 1, 0, 0);
  HkLinear *solver = NULL;
  double *x = system_random(s, 3);
  for (int64_t q = 0; q < s->model->n; q++)
    hk_mat_identity(1 + (double)(q % 3), s->H.matrix.value + 9 * s->pattern.diagonal[q]);
  MUST(system_solver(s, "cg", NULL, &solver, error));
  HkLinearResult result = solve(solver, s, 0, x);
  CHECK(result.iterations == 3 && result.residual < 1e-14);
  for (int64_t q = 0; q < 3 * s->model->n; q++)
    CHECK_NEAR(x[q], s->b[q] / (1 + (double)(q / 3 % 3)), 1e-14);
  hk_linear_destroy(&solver);
  free(x);
  system_destroy(&s);
}

TEST(cg_needs_no_more_iterations_than_unknowns) {
  for (int q = 0; q < 2; q++) {
    HkModel *m = q ? model_of_sheet(by_hand(), 6, 5) : model_of_tets(by_hand());
    System *s = system_of(m, 1.5, 1, 0);
    HkLinear *solver = NULL;
    double *x = system_random(s, 3);
    MUST(system_solver(s, "cg", NULL, &solver, error));
    HkLinearResult result = solve(solver, s, 0, x);
    CHECK(result.residual <= 1e-8 && result.iterations <= 3 * s->model->n + 5);
    hk_linear_destroy(&solver);
    free(x);
    system_destroy(&s);
  }
}

TEST(negative_curvature_at_once_leaves_the_preconditioned_b) {
  System *s = system_of(model_of_tets(by_hand()), 1, 0, 0);
  double *x = system_random(s, 3);
  for (int64_t q = 0; q < s->model->n; q++)
    hk_mat_identity(-4, s->H.matrix.value + 9 * s->pattern.diagonal[q]);
  for (int preconditioned = 0; preconditioned < 2; preconditioned++) {
    HkLinear *solver = NULL;
    MUST(system_solver(s, preconditioned ? "pcg" : "cg", NULL, &solver, error));
    HkLinearResult result = solve(solver, s, 0, x);
    CHECK(result.indefinite && result.iterations == 0);
    for (int64_t q = 0; q < 3 * s->model->n; q++)
      CHECK(x[q] == (preconditioned ? s->b[q] / 4 : s->b[q]));
    hk_linear_destroy(&solver);
  }
  free(x);
  system_destroy(&s);
}

TEST(matrix_free_and_assembled_products_lead_to_the_same_x) {
  static const char *const preconditioners[] = {NULL, "jacobi", "block_jacobi", "prefactored"};
  System *s = system_of(model_of_sheet(by_hand(), 7, 5), 1.5, 0.3, 2);
  double *x = system_random(s, 3), *other = system_random(s, 3);
  HkOperator assembled = s->A, free_of_it;
  MUST(hk_hessian_evaluate(&s->H, &s->H.at, false, &free_of_it, error));
  for (int q = 0; q < 4; q++) {
    HkLinear *solver = NULL;
    MUST(system_solver(s, q ? "pcg" : "cg", preconditioners[q], &solver, error));
    set(solver, "product", HK_PRODUCT_ASSEMBLED);
    CHECK(solver->type->needs_matrix(solver->method.params));
    s->A = assembled;
    solve(solver, s, 1e-12, x);
    set(solver, "product", HK_PRODUCT_MATRIX_FREE);
    CHECK(!solver->type->needs_matrix(solver->method.params));
    s->A = free_of_it;
    HkLinearResult result = solve(solver, s, 0, other);
    CHECK(result.residual <= 1e-8 && result.residual > 0);
    for (int64_t c = 0; c < 3 * s->model->n; c++) CHECK_NEAR(other[c], x[c], 1e-8);
    hk_linear_destroy(&solver);
  }
  free(x);
  free(other);
  system_destroy(&s);
}

TEST(a_preconditioner_may_need_the_matrix_that_products_do_without) {
  System *s = system_of(model_of_tets(by_hand()), 1.5, 0.3, 0);
  HkLinear *solver = NULL;
  MUST(system_solver(s, "pcg", "ic0", &solver, error));
  set(solver, "product", HK_PRODUCT_MATRIX_FREE);
  CHECK(solver->type->needs_matrix(solver->method.params));
  hk_linear_destroy(&solver);
  system_destroy(&s);
}

/* ---- Sweeps ---- */

TEST(jacobi_shrinks_the_error_of_a_diagonal_system_to_a_third_in_each_sweep) {
  System *s = system_of(model_of_sheet(by_hand(), 5, 4), 1, 0, 0);
  HkLinear *solver = NULL;
  double *x = system_random(s, 3);
  MUST(system_solver(s, "jacobi", NULL, &solver, error));
  set(solver, "iterations", 10);
  CHECK_NEAR(solve(solver, s, 0, x).residual, pow(3, -10), 1e-15);
  set(solver, "weight", 1);
  CHECK(solve(solver, s, 0, x).iterations == 1);
  hk_linear_destroy(&solver);
  free(x);
  system_destroy(&s);
}

TEST(jacobi_with_too_large_a_weight_runs_away_and_gauss_seidel_does_not) {
  System *s = system_of(model_of_sheet(by_hand(), 5, 4), 1.5, 0.3, 0);
  HkLinear *jacobi = NULL, *gauss_seidel = NULL;
  double *x = system_random(s, 3);
  MUST(system_solver(s, "jacobi", NULL, &jacobi, error));
  MUST(system_solver(s, "gauss_seidel", NULL, &gauss_seidel, error));
  int sweeps = solve(jacobi, s, 0, x).iterations;
  HkLinearResult fewer = solve(gauss_seidel, s, 0, x);
  CHECK(fewer.residual <= 1e-8 && fewer.iterations < sweeps);
  set(jacobi, "weight", 2);
  HkLinearResult result = solve(jacobi, s, 0, x);
  CHECK(result.indefinite && result.residual == 1);
  CHECK(test_largest(x, 3 * s->model->n) == 0);
  hk_linear_destroy(&jacobi);
  hk_linear_destroy(&gauss_seidel);
  free(x);
  system_destroy(&s);
}
