/* Preconditioners: symmetric, positive definite, of use; and each what its formula says. */
#include "base/vec.h"
#include "system_by_hand.h"
#include "test.h"

/* Made and prepared for the system. */
static HkPrecondition *prepare(const System *s, const char *name, double omega, double *sums) {
  HkMethod method = {0};
  HkPrecondition *p = NULL;
  HkError error = {0};
  HkVectors space = {.n = s->model->n, .threads = 1, .sums = sums};
  HkStatus status = hk_method_choose(&method, HK_PRECONDITION, name, &error);
  if (status >= 0 && omega > 0) status = hk_method_set_number(&method, "omega", omega, &error);
  if (status >= 0) status = hk_precondition_create(&s->setup, &space, &method, &p, &error);
  if (p) p->A = &s->A;
  if (status >= 0) status = p->type->prepare(p, &error);
  if (status < 0) test_fail(__FILE__, __LINE__, "%s: %s", name, error.text);
  hk_method_clear(&method);
  return p;
}

/* z = P^-1 r by a preconditioner that is made for it. */
static void apply(const System *s, const char *name, double omega, const double *r, double *z) {
  double sums[64];
  HkPrecondition *p = prepare(s, name, omega, sums);
  HkError error = {0};
  if (p && p->type->apply(p, r, z, &error) < 0)
    test_fail(__FILE__, __LINE__, "%s: %s", name, error.text);
  hk_precondition_destroy(&p);
}

/* ---- All of them ---- */

static void check_symmetric_positive(const System *s, const char *name) {
  enum { COUNT = 6 };
  double rounding = strcmp(name, "multigrid") == 0 ? 1e-5 : 1e-11; /* of floats */
  double *r[COUNT], *z[COUNT];
  for (int q = 0; q < COUNT; q++) {
    r[q] = system_random(s, 100 + (uint64_t)q);
    z[q] = system_random(s, 200);
    apply(s, name, 0, r[q], z[q]);
  }
  for (int q = 0; q < COUNT; q++)
    for (int t = 0; t <= q; t++) {
      double a = system_dot(s, r[q], z[t]), b = system_dot(s, r[t], z[q]);
      double size = sqrt(system_dot(s, r[q], z[q]) * system_dot(s, r[t], z[t]));
      if (!(size > 0)) test_fail(__FILE__, __LINE__, "%s is not positive definite", name);
      if (!(fabs(a - b) <= rounding * size))
        test_fail(__FILE__, __LINE__, "%s is not symmetric: %.17g and %.17g", name, a, b);
    }
  for (int q = 0; q < COUNT; q++) {
    free(r[q]);
    free(z[q]);
  }
}

static void check_all_symmetric_positive(System *s) {
  for (int q = 0; q < hk_schema_count(HK_PRECONDITION); q++)
    if (!hk_schema_at(HK_PRECONDITION, q)->needs_ranks)
      check_symmetric_positive(s, hk_schema_at(HK_PRECONDITION, q)->name);
  system_destroy(&s);
}

TEST(every_preconditioner_is_symmetric_and_positive_definite) {
  check_all_symmetric_positive(system_of(model_of_tets(by_hand()), 1.5, 0.1, 0));
  check_all_symmetric_positive(system_of(model_of_sheet(by_hand(), 7, 5), 1.5, 0.3, 2));
  /* Large enough for levels that multigrid visits twice. */
  check_all_symmetric_positive(system_of(model_of_sheet(by_hand(), 50, 40), 1.5, 0.3, 2));
  HkModel *m = model_of_sheet(by_hand(), 7, 5);
  scale_badly(m);
  check_all_symmetric_positive(system_of(m, 1.5, 0.3, 0));
}

TEST(every_preconditioner_is_positive_definite_even_if_the_matrix_is_not) {
  check_all_symmetric_positive(system_of(model_of_sheet(by_hand(), 7, 5), 0.3, 1, 2));
  check_all_symmetric_positive(system_of(model_of_tets(by_hand()), 0.5, 1, 0));
}

static int count_iterations(const System *s, const char *name, const char *preconditioner) {
  HkLinear *solver = NULL;
  HkLinearResult result = {0};
  HkError error = {0};
  double *x = system_random(s, 3);
  HkStatus status = system_solver(s, name, preconditioner, &solver, &error);
  if (status >= 0) status = hk_linear_prepare(solver, &s->A, &error);
  if (status >= 0) status = hk_linear_solve(solver, s->b, x, 0, &result, &error);
  if (status < 0) test_fail(__FILE__, __LINE__, "%s: %s", name, error.text);
  CHECK(result.residual <= 1e-8 && !result.indefinite);
  CHECK_NEAR(result.residual, system_residual(s, x), 1e-12);
  hk_linear_destroy(&solver);
  free(x);
  return result.iterations;
}

/* The largest eigenvalue of Z A by power iteration, Z a cycle. At 2 or more a level that is visited
 * twice would make Z indefinite; with coarse matrices P^T A P it is at most 1 (docs/theory.md, 8).
 */
TEST(a_cycle_of_multigrid_does_not_overshoot) {
  enum { ITERATIONS = 30 };
  System *s = system_of(model_of_sheet(by_hand(), 50, 40), 1.5, 0.3, 2);
  double sums[64], largest = 0, *x = system_random(s, 7), *Ax = system_random(s, 8);
  HkPrecondition *p = prepare(s, "multigrid", 0, sums);
  for (int q = 0; p && q < ITERATIONS; q++) {
    s->A.product(s->A.user, x, Ax);
    double size = system_dot(s, x, Ax);
    MUST(p->type->apply(p, Ax, x, error));
    largest = system_dot(s, x, Ax) / size;
  }
  CHECK(largest > 0.5 && largest < 1 + 1e-4);
  hk_precondition_destroy(&p);
  free(x);
  free(Ax);
  system_destroy(&s);
}

TEST(every_preconditioner_saves_iterations_where_masses_and_stiffnesses_differ) {
  HkModel *m = model_of_sheet(by_hand(), 12, 10);
  scale_badly(m);
  System *s = system_of(m, 1.5, 0.3, 1);
  int plain = count_iterations(s, "cg", NULL);
  for (int q = 0; q < hk_schema_count(HK_PRECONDITION); q++) {
    const char *name = hk_schema_at(HK_PRECONDITION, q)->name;
    if (hk_schema_at(HK_PRECONDITION, q)->needs_ranks) continue;
    int count = count_iterations(s, "pcg", name);
    if (!(count < plain / 2))
      test_fail(__FILE__, __LINE__, "%s: %d iterations instead of %d", name, count, plain);
  }
  system_destroy(&s);
}

/* ---- What the formulas say ---- */

/* B = the block (i, j) of the dense matrix */
static void dense_block(const System *s, int64_t i, int64_t j, double B[9]) {
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++) B[3 * r + c] = s->dense[(3 * i + r) * 3 * s->model->n + 3 * j + c];
}

TEST(jacobi_divides_by_the_diagonal) {
  System *s = system_of(model_of_sheet(by_hand(), 5, 4), 1.5, 0.3, 1);
  double *r = system_random(s, 1), *z = system_random(s, 2);
  int64_t rows = 3 * s->model->n;
  apply(s, "jacobi", 0, r, z);
  for (int64_t q = 0; q < rows; q++) CHECK_NEAR(s->dense[q * rows + q] * z[q], r[q], 1e-12);
  free(r);
  free(z);
  system_destroy(&s);
}

TEST(block_jacobi_solves_with_each_diagonal_block) {
  System *s = system_of(model_of_sheet(by_hand(), 5, 4), 1.5, 0.3, 1);
  double *r = system_random(s, 1), *z = system_random(s, 2);
  apply(s, "block_jacobi", 0, r, z);
  for (int64_t q = 0; q < s->model->n; q++) {
    double B[9], back[3] = {0, 0, 0};
    dense_block(s, q, q, B);
    hk_mat_add_product(B, z + 3 * q, back);
    for (int c = 0; c < 3; c++) CHECK_NEAR(back[c], r[3 * q + c], 1e-12);
  }
  free(r);
  free(z);
  system_destroy(&s);
}

/* out = (D/omega + L) v with the blocks below the diagonal, or (D/omega + L^T) v with those above
 */
static void triangle(const System *s, double omega, bool lower, const double *v, double *out) {
  int64_t n = s->model->n;
  for (int64_t i = 0; i < n; i++) {
    double sum[3] = {0, 0, 0}, B[9], d[3] = {0, 0, 0};
    for (int64_t j = 0; j < n; j++) {
      dense_block(s, i, j, B);
      if (lower ? j < i : j > i) hk_mat_add_product(B, v + 3 * j, sum);
      if (j == i) hk_mat_add_product(B, v + 3 * j, d);
    }
    for (int c = 0; c < 3; c++) out[3 * i + c] = sum[c] + d[c] / omega;
  }
}

/* (2 - omega) P = (D/omega + L) (D/omega)^-1 (D/omega + L^T) */
TEST(ssor_is_the_product_of_its_two_sweeps) {
  double omega = 1.3;
  System *s = system_of(model_of_sheet(by_hand(), 5, 4), 1.5, 0.3, 1);
  double *r = system_random(s, 1), *z = system_random(s, 2), *y = system_random(s, 3);
  apply(s, "ssor", omega, r, z);
  triangle(s, omega, false, z, y);
  for (int64_t q = 0; q < s->model->n; q++) {
    double B[9], d[3] = {0, 0, 0};
    dense_block(s, q, q, B);
    CHECK(hk_mat_invert_positive(B));
    hk_mat_add_product(B, y + 3 * q, d);
    for (int c = 0; c < 3; c++) y[3 * q + c] = omega / (2 - omega) * d[c];
  }
  triangle(s, omega, true, y, z);
  for (int64_t q = 0; q < 3 * s->model->n; q++) CHECK_NEAR(z[q], r[q], 1e-11);
  free(r);
  free(z);
  free(y);
  system_destroy(&s);
}

/* Eliminating the vertices of two tetrahedra that share a face, one after the other, joins no two
 * vertices that are not neighbors already: nothing is left out. */
TEST(ic0_is_exact_where_there_is_no_fill) {
  System *s = system_of(model_of_tets(by_hand()), 1.5, 1, 0);
  double *z = system_random(s, 2);
  apply(s, "ic0", 0, s->b, z);
  CHECK_NEAR(system_residual(s, z), 0, 1e-12);
  CHECK(count_iterations(s, "pcg", "ic0") == 1);
  free(z);
  system_destroy(&s);
}

/* m z_i + tau^2 (sum of k (z_i - z_j) over the springs at i) = r_i for free vertices, with z_j = 0
 * where j is held; and m z_i = r_i for held ones. */
TEST(prefactored_solves_with_the_constant_matrix_and_the_masses_of_held_vertices) {
  System *s = system_of(model_of_sheet(by_hand(), 5, 4), 1.5, 0.3, 2);
  const HkModel *m = s->model;
  double *r = system_random(s, 1), *z = system_random(s, 2);
  apply(s, "prefactored", 0, r, z);
  for (int64_t q = 0; q < m->n; q++)
    for (int c = 0; c < 3; c++) {
      double sum = m->mass[q] * z[3 * q + c];
      for (int64_t e = m->adj_start[q]; e < m->adj_start[q + 1] && !s->held.mask[q]; e++) {
        int64_t j = m->adj_vertex[e];
        double there = s->held.mask[j] ? 0 : z[3 * j + c];
        sum += s->tau * s->tau * m->springs.k[m->adj_spring[e]] * (z[3 * q + c] - there);
      }
      CHECK_NEAR(sum, r[3 * q + c], 1e-11);
    }
  free(r);
  free(z);
  system_destroy(&s);
}

TEST(prefactored_says_what_it_misses) {
  System *s = system_of(model_of_tets(by_hand()), 1.5, 0.1, 0);
  HkLinear *solver = NULL;
  s->setup.prefactor = NULL;
  FAILS(system_solver(s, "pcg", "prefactored", &solver, error), HK_ERROR_INVALID,
        "choose 'block_jacobi'");
  CHECK(solver == NULL);
  system_destroy(&s);
}
