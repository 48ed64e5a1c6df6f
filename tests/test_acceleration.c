/* The parts of minimizers on their own: colors, accelerations, and the local/global method against
 * one written by hand. */
#include "minimize/anderson.h"
#include "minimize/chebyshev.h"
#include "minimize/coloring.h"
#include "minimize/minimize.h"
#include "model_by_hand.h"
#include "test.h"

/* ---- Colors ---- */

static void check_colors(int64_t n, const int64_t *start, const int32_t *neighbor,
                         const HkColoring *c) {
  int64_t *color = calloc((size_t)n, sizeof *color);
  for (int64_t q = 0; q < c->colors; q++)
    for (int64_t at = c->start[q]; at < c->start[q + 1]; at++) {
      CHECK(at == c->start[q] || c->vertex[at] > c->vertex[at - 1]);
      CHECK(color[c->vertex[at]] == 0);
      color[c->vertex[at]] = 1 + q;
    }
  CHECK(c->start[0] == 0 && c->start[c->colors] == n);
  for (int64_t q = 0; q < n; q++)
    for (int64_t e = start[q]; e < start[q + 1]; e++)
      CHECK(neighbor[e] == q || color[neighbor[e]] != color[q]);
  free(color);
}

TEST(no_two_vertices_of_a_color_interact) {
  HkModel *models[] = {model_of_sheet(by_hand(), 9, 7), model_of_tets(by_hand())};
  for (int q = 0; q < 2; q++) {
    const HkContext *c = &models[q]->context;
    HkPattern p;
    HkColoring coloring;
    size_t bytes = 0;
    MUST(hk_pattern_create(models[q], &p, &bytes, error));
    MUST(hk_coloring_create(c, p.n, p.start, p.column, &coloring, &bytes, error));
    check_colors(p.n, p.start, p.column, &coloring);
    CHECK(q == 1 || coloring.colors <= 4);
    hk_coloring_destroy(c, &coloring);
    hk_pattern_destroy(models[q], &p);
    model_by_hand_destroy(&models[q]);
  }
}

/* Edges, shear and skip-one springs: no fewer than 5 do, since a vertex and its four nearest
 * neighbors all see each other. */
TEST(cloth_has_five_colors) {
  static const int steps[12][2] = {{0, -2}, {-1, -1}, {0, -1}, {1, -1}, {-2, 0}, {-1, 0},
                                   {1, 0},  {2, 0},   {-1, 1}, {0, 1},  {1, 1},  {0, 2}};
  enum { W = 23, H = 31, N = W * H };
  HkContext c = hk_context_default();
  int64_t start[N + 1] = {0}, count = 0;
  int32_t *neighbor = calloc(12 * N, sizeof *neighbor);
  for (int q = 0; q < N; q++) {
    for (int k = 0; k < 12; k++) {
      int i = q % W + steps[k][0], j = q / W + steps[k][1];
      if (i >= 0 && i < W && j >= 0 && j < H) neighbor[count++] = j * W + i;
    }
    start[q + 1] = count;
  }
  HkColoring coloring;
  MUST(hk_coloring_create(&c, N, start, neighbor, &coloring, NULL, error));
  check_colors(N, start, neighbor, &coloring);
  CHECK(coloring.colors == 5);
  hk_coloring_destroy(&c, &coloring);
  free(neighbor);
}

/* Where all are neighbors there are as many colors as vertices, also if those are many. */
TEST(a_crowd_has_a_color_for_each) {
  enum { N = 150 };
  HkContext c = hk_context_default();
  int64_t start[N + 1];
  int32_t *neighbor = calloc(N * N, sizeof *neighbor);
  for (int q = 0; q <= N; q++) start[q] = q * N;
  for (int q = 0; q < N * N; q++) neighbor[q] = q % N;
  HkColoring coloring;
  MUST(hk_coloring_create(&c, N, start, neighbor, &coloring, NULL, error));
  check_colors(N, start, neighbor, &coloring);
  CHECK(coloring.colors == N);
  hk_coloring_destroy(&c, &coloring);
  free(neighbor);
}

/* ---- Accelerations on a linear iteration ---- */

/* G(x) = x* + R (x - x*) for one vertex; the error of an iterate along eigenvector c is its
 * coordinate c, and x* = (1, 2, 3). */
static const double fixed_point[3] = {1, 2, 3};

static void residual_of(const double rate[3], const double x[3], double f[3]) {
  for (int c = 0; c < 3; c++) f[c] = (rate[c] - 1) * (x[c] - fixed_point[c]);
}

typedef struct One {
  HkModel *model; /* its first vertex is the only one that counts */
  double sums[1];
  HkVectors space;
} One;

static One one_vertex(void) {
  One one = {.model = model_of_spring((double[]){1, 0, 0}, 1, 1)};
  one.model->n = 1;
  return one;
}

static void one_destroy(One *one) {
  one->model->n = 2;
  model_by_hand_destroy(&one->model);
}

/* Three differences span all of space. */
TEST(anderson_solves_a_linear_problem_in_as_many_steps_as_it_has_dimensions) {
  One one = one_vertex();
  one.space = (HkVectors){.n = 1, .threads = 1, .sums = one.sums};
  const double rate[3] = {0.9, 0.6, -0.4};
  double x[3] = {5, -3, 2}, f[3], next[3];
  HkAnderson *a = NULL;
  size_t bytes = 0;
  MUST(hk_anderson_create(one.model, &one.space, 3, &a, &bytes, error));
  for (int q = 0; q < 4; q++) {
    residual_of(rate, x, f);
    bool accelerated = hk_anderson_next(a, x, f, next);
    CHECK(accelerated == (q > 0));
    for (int c = 0; c < 3; c++) x[c] = accelerated ? next[c] : x[c] + f[c];
  }
  for (int c = 0; c < 3; c++) CHECK_NEAR(x[c], fixed_point[c], 1e-10);
  hk_anderson_destroy(&a);
  one_destroy(&one);
}

/* Differences that are parallel, or nothing at all, must not be divided by. */
TEST(anderson_leaves_out_what_it_knows_already) {
  One one = one_vertex();
  one.space = (HkVectors){.n = 1, .threads = 1, .sums = one.sums};
  const double rate[3] = {0.5, 0.5, 0.5};
  double x[3] = {5, -3, 2}, f[3], next[3];
  HkAnderson *a = NULL;
  size_t bytes = 0;
  MUST(hk_anderson_create(one.model, &one.space, 5, &a, &bytes, error));
  for (int q = 0; q < 8; q++) {
    residual_of(rate, x, f);
    if (hk_anderson_next(a, x, f, next))
      for (int c = 0; c < 3; c++) CHECK_NEAR(next[c], fixed_point[c], 1e-12);
    if (q % 2 == 0) /* the same place again every other time */
      for (int c = 0; c < 3; c++) x[c] += f[c];
  }
  hk_anderson_restart(a);
  CHECK(!hk_anderson_next(a, x, f, next));
  hk_anderson_destroy(&a);
  one_destroy(&one);
}

/* What is left of errors at 1, 0.4 and -1 times rho: T_p(lambda / rho) / T_p(1 / rho). */
TEST(chebyshev_reduces_errors_by_its_polynomial) {
  One one = one_vertex();
  one.space = (HkVectors){.n = 1, .threads = 1, .sums = one.sums};
  const double rho = 0.98, rate[3] = {rho, 0.4 * rho, -rho};
  double x[3] = {2, 3, 4}, f[3], next[3];
  HkChebyshev *c = NULL;
  size_t bytes = 0;
  MUST(hk_chebyshev_create(one.model, &one.space, rho, &c, &bytes, error));
  hk_chebyshev_begin(c);
  for (int p = 1; p <= 30; p++) {
    residual_of(rate, x, f);
    bool accelerated = hk_chebyshev_next(c, x, f, 1, next);
    for (int q = 0; q < 3; q++) {
      x[q] = accelerated ? next[q] : x[q] + f[q];
      double ratio = rate[q] / rho, polynomial = cos(p * acos(ratio));
      CHECK_NEAR(x[q] - fixed_point[q], polynomial / cosh(p * acosh(1 / rho)), 1e-13);
    }
  }
  hk_chebyshev_destroy(&c);
  one_destroy(&one);
}

TEST(chebyshev_measures_the_spectral_radius) {
  One one = one_vertex();
  one.space = (HkVectors){.n = 1, .threads = 1, .sums = one.sums};
  const double rate[3] = {0.995, 0.7, 0.1};
  double x[3] = {2, 12, 13}, f[3], next[3];
  HkChebyshev *c = NULL;
  size_t bytes = 0;
  MUST(hk_chebyshev_create(one.model, &one.space, 0, &c, &bytes, error));
  hk_chebyshev_begin(c);
  for (int p = 0; p < 80; p++) {
    residual_of(rate, x, f);
    bool accelerated = hk_chebyshev_next(c, x, f, hk_vectors_dot(&one.space, f, f), next);
    for (int q = 0; q < 3; q++) x[q] = accelerated ? next[q] : x[q] + f[q];
  }
  CHECK(c->rho > 0.99 && c->rho < 0.9955);
  CHECK(fabs(x[0] - fixed_point[0]) < 0.05); /* plain iterations leave 0.67 */
  hk_chebyshev_destroy(&c);
  one_destroy(&one);
}

/* ---- The local/global method by hand ---- */

enum { SIDE = 4, COUNT = SIDE * SIDE };

typedef struct Hand {
  HkModel *model;
  HkForceWork work;
  HkProblem problem;
  double x[3 * COUNT + HK_PAD];
} Hand;

static HkStatus hand_create(Hand *a, HkError *error) {
  uint64_t seed = 5;
  ByHand by = by_hand();
  by.tension = true;
  *a = (Hand){.model = model_of_sheet(by, SIDE, SIDE)};
  HK_TRY(model_add_default_force(a->model, "gravity", error));
  HK_TRY(hk_force_work_create(a->model, &a->work, error));
  HK_TRY(hk_problem_create(a->model, &a->work, &a->problem, error));
  HkProblem *p = &a->problem;
  p->tau = 0.2;
  for (int q = 0; q < 3 * COUNT; q++) {
    a->x[q] = a->model->x0[q] + 0.3 * test_random(&seed);
    p->y[q] = p->b[q] = a->x[q] + 0.1 * test_random(&seed);
  }
  p->held.mask[0] = p->held.mask[7] = 1;
  p->held.version++;
  return hk_problem_linearize(p, a->x, a->x, error);
}

static void hand_destroy(Hand *a) {
  hk_problem_destroy(&a->problem);
  hk_force_work_destroy(a->model, &a->work);
  model_by_hand_destroy(&a->model);
}

/* Solves A z = b for three columns by elimination; A is symmetric positive definite. */
static void eliminate(double A[COUNT][COUNT], double b[COUNT][3]) {
  for (int i = 0; i < COUNT; i++)
    for (int r = 0; r < COUNT; r++) {
      if (r == i) continue;
      double factor = A[r][i] / A[i][i];
      for (int c = i; c < COUNT; c++) A[r][c] -= factor * A[i][c];
      for (int c = 0; c < 3; c++) b[r][c] -= factor * b[i][c];
    }
  for (int i = 0; i < COUNT; i++)
    for (int c = 0; c < 3; c++) b[i][c] /= A[i][i];
}

/* The local step: d is of the rest length, or as it is where a thread is slack. */
static void local_step(const HkModel *m, int64_t s, const double *x, double d[3]) {
  double length = 0;
  for (int c = 0; c < 3; c++) {
    d[c] = x[3 * m->springs.i[s] + c] - x[3 * m->springs.j[s] + c];
    length += d[c] * d[c];
  }
  length = sqrt(length);
  if (m->springs.tension[s] && length < m->springs.l0[s]) return;
  for (int c = 0; c < 3; c++) d[c] *= m->springs.l0[s] / length;
}

/* One iteration: (M + tau^2 L) x+ = M y + tau^2 (J d + M gravity), held vertices as they are. */
static void iterate_by_hand(const Hand *a, double *x) {
  const HkModel *m = a->model;
  const HkProblem *p = &a->problem;
  double A[COUNT][COUNT] = {{0}}, b[COUNT][3], square = p->tau * p->tau;
  for (int q = 0; q < COUNT; q++) {
    A[q][q] = m->mass[q];
    for (int c = 0; c < 3; c++)
      b[q][c] = m->mass[q] * (p->y[3 * q + c] - (c == 1 ? square * 9.81 : 0));
  }
  for (int64_t s = 0; s < m->springs.count; s++) {
    double d[3], k = square * m->springs.k[s];
    int i = m->springs.i[s], j = m->springs.j[s];
    local_step(m, s, x, d);
    A[i][i] += k;
    A[j][j] += k;
    A[i][j] -= k;
    A[j][i] -= k;
    for (int c = 0; c < 3; c++) {
      b[i][c] += k * d[c];
      b[j][c] -= k * d[c];
    }
  }
  for (int q = 0; q < COUNT; q++) {
    if (!p->held.mask[q]) continue;
    for (int c = 0; c < COUNT; c++) A[q][c] = c == q;
    for (int c = 0; c < 3; c++) b[q][c] = x[3 * q + c];
  }
  eliminate(A, b);
  memcpy(x, b, sizeof b);
}

/* x after that many iterations of a minimizer. */
static HkStatus iterate(Hand *a, HkMethod *method, int iterations, double *x, HkError *error) {
  HkMinimizer *m = NULL;
  memcpy(x, a->x, sizeof a->x);
  HK_TRY(hk_method_set_number(method, "iterations", iterations, error));
  HK_TRY(hk_method_set_number(method, "tolerance", 0, error));
  HK_TRY(hk_minimizer_create(&a->problem, method, &m, error));
  HkStatus status = hk_minimize(m, x, error);
  hk_minimizer_destroy(&m);
  return status;
}

TEST(local_global_alternates_local_and_global_steps) {
  Hand a;
  HkMethod method = {0};
  double expected[3 * COUNT + HK_PAD], x[3 * COUNT + HK_PAD];
  MUST(hand_create(&a, error));
  MUST(hk_method_choose(&method, HK_MINIMIZE, "local_global", error));
  MUST(hk_method_set_text(&method, "acceleration", "none", error));
  MUST(hk_method_set_text(&method, "precision", "double", error));
  memcpy(expected, a.x, sizeof expected);
  for (int it = 1; it <= 12; it++) {
    iterate_by_hand(&a, expected);
    MUST(iterate(&a, &method, it, x, error));
    for (int q = 0; q < 3 * COUNT; q++) CHECK_NEAR(x[q], expected[q], 1e-12);
  }
  hk_method_clear(&method);
  hand_destroy(&a);
}

/* The gradient is in double precision whatever the factor is. */
TEST(local_global_ends_at_the_same_minimum_in_either_precision) {
  static const char *const precisions[] = {"double", "single", "auto"};
  double expected[3 * COUNT + HK_PAD] = {0}, x[3 * COUNT + HK_PAD] = {0};
  for (int q = 0; q < 3; q++) {
    Hand a;
    HkMethod method = {0};
    MUST(hand_create(&a, error));
    MUST(hk_method_choose(&method, HK_MINIMIZE, "local_global", error));
    MUST(hk_method_set_text(&method, "precision", precisions[q], error));
    MUST(iterate(&a, &method, 300, q == 0 ? expected : x, error));
    CHECK(hk_prefactor_is_single(a.problem.prefactor) == (q > 0));
    for (int c = 0; q > 0 && c < 3 * COUNT; c++) CHECK_NEAR(x[c], expected[c], 1e-12);
    hk_method_clear(&method);
    hand_destroy(&a);
  }
}

TEST(lbfgs_without_memory_is_local_global) {
  Hand a;
  HkMethod plain = {0}, lbfgs = {0};
  double expected[3 * COUNT + HK_PAD], x[3 * COUNT + HK_PAD];
  MUST(hand_create(&a, error));
  MUST(hk_method_choose(&plain, HK_MINIMIZE, "local_global", error));
  MUST(hk_method_set_text(&plain, "acceleration", "none", error));
  MUST(hk_method_choose(&lbfgs, HK_MINIMIZE, "lbfgs", error));
  MUST(hk_method_set_number(&lbfgs, "memory", 0, error));
  MUST(iterate(&a, &plain, 20, expected, error));
  MUST(iterate(&a, &lbfgs, 20, x, error));
  CHECK(memcmp(x, expected, sizeof x) == 0);
  hk_method_clear(&plain);
  hk_method_clear(&lbfgs);
  hand_destroy(&a);
}

/* The factorization is of no consequence, and another one for the same problem is refused. */
TEST(factor_of_the_constant_matrix_can_be_chosen) {
  static const char *const factors[] = {"auto", "cholesky", "ldlt"};
  double expected[3 * COUNT + HK_PAD] = {0}, x[3 * COUNT + HK_PAD] = {0};
  for (int q = 0; q < 3; q++) {
    Hand a;
    HkMethod method = {0};
    MUST(hand_create(&a, error));
    MUST(hk_method_choose(&method, HK_MINIMIZE, "local_global", error));
    MUST(hk_method_set_text(&method, "factor", factors[q], error));
    MUST(hk_method_set_text(&method, "precision", "double", error));
    if (q == 1 && hk_factor_default() != HK_FACTOR_CHOLMOD) {
      FAILS(iterate(&a, &method, 20, x, error), HK_ERROR_UNSUPPORTED, "ldlt");
    } else {
      MUST(iterate(&a, &method, 20, q == 0 ? expected : x, error));
      for (int c = 0; q > 0 && c < 3 * COUNT; c++) CHECK_NEAR(x[c], expected[c], 1e-9);
    }
    hk_method_clear(&method);
    hand_destroy(&a);
  }
}
