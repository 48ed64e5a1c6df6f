/* The direct linear solvers: right solutions, held vertices, what is done again and what is not,
 * memory, threads. */
#include "linear/factor.h"
#include "linear/linear.h"
#include "model_by_hand.h"
#include "test.h"

static const char *const solvers[] = {"ldlt", "cholesky"};

static bool is_built(int solver) {
  return solver == 0 || hk_factor_default() == HK_FACTOR_CHOLMOD;
}

/* Declares q. */
#define FOR_ALL_SOLVERS                                                                            \
  for (int q = 0; q < 2; q++)                                                                      \
    if (is_built(q))

/* Counts what a context is asked for. */
static void *counting_resize(void *user, void *p, size_t bytes) {
  int64_t *count = user;
  if (bytes > 0) ++*count;
  if (bytes > 0) return realloc(p, bytes);
  free(p);
  return NULL;
}

/* ---- A system on a sheet ---- */

typedef struct System {
  HkModel *model;
  HkPattern pattern;
  HkBlockMatrix matrix;
  HkHeld held;
  HkOperator A;
  HkLinear *solver;
  double *b, *x;
  int64_t requests; /* of memory */
} System;

static void product(void *user, const double *p, double *out) {
  hk_block_matrix_product(user, p, out);
}

static void diagonal(void *user, double *blocks) {
  const HkBlockMatrix *A = user;
  for (int64_t q = 0; q < A->pattern->n; q++)
    memcpy(blocks + 9 * q, A->value + 9 * A->pattern->diagonal[q], 9 * sizeof *blocks);
}

/* True if coordinate c of vertex q has its diagonal entry alone. */
static bool stands_alone(const System *s, int64_t q, int c) {
  return s->held.mask[q] || c >= s->model->dimension;
}

/* M plus, for each spring, a block of full rank that is positive definite (stiffness 1) or not. */
static void fill_matrix(System *s, double stiffness) {
  const HkPattern *p = &s->pattern;
  hk_block_matrix_zero(&s->matrix);
  for (int64_t i = 0; i < p->n; i++)
    for (int64_t e = p->start[i]; e < p->start[i + 1]; e++) {
      int64_t j = p->column[e];
      int64_t low = i < j ? i : j, high = i < j ? j : i;
      uint64_t seed = (uint64_t)(low * p->n + high);
      for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
          double mixed = 0.2 * test_random(&seed); /* of (r, c) for i < j, of (c, r) for i > j */
          int row = i <= j ? r : c, column = i <= j ? c : r;
          bool alone = stands_alone(s, i, row) || stands_alone(s, j, column);
          double *entry = s->matrix.value + 9 * e + 3 * row + column;
          if (i == j)
            *entry = row != column ? 0
                     : alone       ? 2
                                   : 2 + stiffness * 3 * (double)(p->start[i + 1] - p->start[i]);
          else
            *entry = alone ? 0 : mixed - stiffness * (row == column);
        }
    }
}

static void hold(System *s, int64_t vertex, bool on) {
  s->held.mask[vertex] = on;
  s->held.version++;
}

static HkStatus system_create(System *s, int dimension, int nx, int ny, int threads,
                              const char *name, HkError *error) {
  ByHand by = by_hand();
  HkMethod method = {0};
  by.dimension = dimension;
  by.threads = threads;
  s->model = model_of_sheet(by, nx, ny);
  s->model->context = (HkContext){.resize = counting_resize, .memory_user = &s->requests};
  const HkModel *m = s->model;
  HK_TRY(hk_pattern_create(m, &s->pattern, NULL, error));
  HK_TRY(hk_block_matrix_create(m, &s->pattern, &s->matrix, NULL, error));
  HK_TRY(hk_alloc(&m->context, &s->held.mask, m->n, 1, "a test", error));
  HK_TRY(hk_alloc(&m->context, &s->b, 3 * m->n, sizeof *s->b, "a test", error));
  HK_TRY(hk_alloc(&m->context, &s->x, 3 * m->n, sizeof *s->x, "a test", error));
  uint64_t seed = 3;
  for (int64_t q = 0; q < 3 * m->n; q++) s->b[q] = test_random(&seed);
  s->A = (HkOperator){product, diagonal, &s->matrix, &s->matrix, NULL};
  HkLinearSetup setup = {.model = m, .held = &s->held};
  HK_TRY(hk_method_choose(&method, HK_LINEAR, name, error));
  HkStatus status = hk_linear_create(&setup, &method, &s->solver, error);
  hk_method_clear(&method);
  return status;
}

static void system_destroy(System *s) {
  HkContext c = s->model->context;
  hk_linear_destroy(&s->solver);
  hk_free(&c, &s->held.mask);
  hk_free(&c, &s->b);
  hk_free(&c, &s->x);
  hk_block_matrix_destroy(s->model, &s->matrix);
  hk_pattern_destroy(s->model, &s->pattern);
  s->model->context = hk_context_default();
  model_by_hand_destroy(&s->model);
}

static HkStatus system_solve(System *s, HkLinearResult *result, HkError *error) {
  HK_TRY(hk_linear_prepare(s->solver, &s->A, error));
  return hk_linear_solve(s->solver, s->b, s->x, 0, result, error);
}

/* ---- Solvers ---- */

TEST(direct_solvers_leave_no_residual) {
  FOR_ALL_SOLVERS for (int dimension = 2; dimension <= 3; dimension++) {
    System s = {0};
    HkLinearResult result;
    MUST(system_create(&s, dimension, 7, 5, 1, solvers[q], error));
    hold(&s, 0, true);
    hold(&s, 13, true);
    fill_matrix(&s, 1);
    MUST(system_solve(&s, &result, error));
    CHECK_NEAR(result.residual, 0, 1e-14);
    CHECK(result.iterations == 1 && !result.indefinite);
    for (int c = 0; c < 3; c++) CHECK_NEAR(s.x[3 * 13 + c], s.b[3 * 13 + c] / 2, 1e-16);
    system_destroy(&s);
  }
}

TEST(direct_solvers_with_all_vertices_held) {
  FOR_ALL_SOLVERS {
    System s = {0};
    HkLinearResult result;
    MUST(system_create(&s, 3, 3, 3, 1, solvers[q], error));
    for (int64_t v = 0; v < 9; v++) hold(&s, v, true);
    fill_matrix(&s, 1);
    MUST(system_solve(&s, &result, error));
    CHECK_NEAR(result.residual, 0, 1e-15);
    system_destroy(&s);
  }
}

TEST(held_rows_dropped_or_kept_give_the_same_solution) {
  FOR_ALL_SOLVERS {
    System s = {0};
    HkLinearResult result;
    double dropped[3 * 35];
    MUST(system_create(&s, 3, 7, 5, 1, solvers[q], error));
    hold(&s, 3, true);
    hold(&s, 20, true);
    fill_matrix(&s, 1);
    MUST(system_solve(&s, &result, error));
    memcpy(dropped, s.x, sizeof dropped);
    s.held.stays = true;
    MUST(system_solve(&s, &result, error));
    CHECK_NEAR(result.residual, 0, 1e-14);
    for (int c = 0; c < 3 * 35; c++) CHECK_NEAR(s.x[c], dropped[c], 1e-15);
    system_destroy(&s);
  }
}

TEST(direct_solvers_say_that_a_matrix_is_indefinite) {
  FOR_ALL_SOLVERS {
    System s = {0};
    HkLinearResult result;
    MUST(system_create(&s, 3, 7, 5, 1, solvers[q], error));
    fill_matrix(&s, -1);
    s.x[4] = 7;
    MUST(system_solve(&s, &result, error));
    CHECK(s.solver->indefinite && result.indefinite);
    CHECK_NEAR(result.residual, 1, 1e-15);
    CHECK(test_largest(s.x, 3 * s.model->n) == 0);
    fill_matrix(&s, 1);
    MUST(system_solve(&s, &result, error));
    CHECK(!s.solver->indefinite && !result.indefinite);
    CHECK_NEAR(result.residual, 0, 1e-14);
    system_destroy(&s);
  }
}

TEST(direct_solvers_allocate_only_when_held_vertices_change) {
  FOR_ALL_SOLVERS {
    System s = {0};
    HkLinearResult result;
    MUST(system_create(&s, 3, 7, 5, 1, solvers[q], error));
    fill_matrix(&s, 1);
    MUST(system_solve(&s, &result, error));
    int64_t requests = s.requests;
    size_t bytes = s.solver->bytes;
    fill_matrix(&s, 3);
    MUST(system_solve(&s, &result, error));
    CHECK(s.requests == requests);
    CHECK(s.solver->bytes == bytes && bytes > 0);
    hold(&s, 2, true);
    fill_matrix(&s, 3);
    MUST(system_solve(&s, &result, error));
    CHECK(s.requests > requests);
    CHECK_NEAR(result.residual, 0, 1e-14);
    /* Where held vertices stay unknowns, it does not matter which they are. */
    s.held.stays = true;
    MUST(system_solve(&s, &result, error));
    requests = s.requests;
    hold(&s, 2, false);
    hold(&s, 5, true);
    fill_matrix(&s, 3);
    MUST(system_solve(&s, &result, error));
    CHECK(s.requests == requests);
    CHECK_NEAR(result.residual, 0, 1e-14);
    system_destroy(&s);
  }
}

TEST(direct_solvers_give_the_same_bits_for_every_thread_count) {
  enum { SIDE = 95 }; /* enough for loops to be shared */
  FOR_ALL_SOLVERS {
    double *first = calloc(3 * SIDE * SIDE, sizeof *first);
    for (int threads = 1; threads <= 3; threads++) {
      System s = {0};
      HkLinearResult result;
      MUST(system_create(&s, 3, SIDE, SIDE, threads, solvers[q], error));
      hold(&s, 0, true);
      fill_matrix(&s, 1);
      MUST(system_solve(&s, &result, error));
      if (threads == 1) memcpy(first, s.x, 3 * SIDE * SIDE * sizeof *first);
      CHECK(memcmp(first, s.x, 3 * SIDE * SIDE * sizeof *first) == 0);
      system_destroy(&s);
    }
    free(first);
  }
}

TEST(cholesky_without_cholmod_names_a_way_out) {
  if (is_built(1)) SKIP("this build has CHOLMOD");
  System s = {0};
  FAILS(system_create(&s, 3, 3, 3, 1, "cholesky", error), HK_ERROR_UNSUPPORTED, "ldlt");
  CHECK(strcmp(hk_linear_default(), "ldlt") == 0);
  system_destroy(&s);
}
