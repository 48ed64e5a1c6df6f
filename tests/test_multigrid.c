/* Multigrid: orders, weights and products of levels, and that few iterations are enough. */
#include "base/vec.h"
#include "linear/multigrid_kernels.h"
#include "minimize/choose_methods.h"
#include "system_by_hand.h"
#include "test.h"

/* ---- The hierarchy ---- */

static HkMultigrid *hierarchy_of(const HkModel *m) {
  HkMultigrid *multigrid = NULL;
  HkError error = {0};
  if (hk_multigrid_create(m, &multigrid, &error) < 0)
    test_fail(__FILE__, __LINE__, "%s", error.text);
  return multigrid;
}

static int ranges_of(const HkSweepOrder *s) {
  return s->first[s->stages];
}

static int range_of(const HkSweepOrder *s, int32_t row) {
  int q = 0;
  while (row >= s->begin[q + 1]) q++;
  return q;
}

static int stage_of(const HkSweepOrder *s, int range) {
  int stage = 0;
  while (range >= s->first[stage + 1]) stage++;
  return stage;
}

TEST(ranges_of_one_stage_of_a_sweep_do_not_touch) {
  HkModel *m = model_of_sheet(by_hand(), 150, 120);
  HkMultigrid *g = hierarchy_of(m);
  CHECK(g->level[0].sweep.stages > 1); /* several threads can sweep so many vertices */
  for (int k = 0; k < g->count; k++) {
    const HkLevel *l = &g->level[k];
    const HkSweepOrder *s = &l->sweep;
    int last = ranges_of(s);
    CHECK(s->begin[0] == 0 && s->begin[last] == l->n && s->first[0] == 0);
    for (int32_t i = 0; i < l->n; i++)
      for (int32_t e = l->graph.start[i]; e < l->graph.start[i + 1]; e++) {
        int a = range_of(s, i), b = range_of(s, l->graph.column[e]);
        CHECK(a == b || stage_of(s, a) != stage_of(s, b));
      }
    /* What one thread sweeps while the others wait. */
    CHECK(s->stages == 1 || s->begin[last] - s->begin[last - 1] <= 0.15 * l->n);
  }
  hk_multigrid_destroy(&g);
  model_by_hand_destroy(&m);
}

TEST(every_vertex_of_the_model_is_one_row) {
  HkModel *m = model_of_sheet(by_hand(), 33, 21);
  HkMultigrid *g = hierarchy_of(m);
  int32_t empty = 0;
  for (int32_t q = 0; q < m->n; q++) CHECK(g->vertex[g->row[q]] == q);
  for (int32_t k = 0; k < g->level[0].n; k++) empty += g->vertex[k] < 0;
  CHECK(g->level[0].n - empty == m->n && g->level[0].n % HK_LANES == 0 && empty < 0.1 * m->n);
  hk_multigrid_destroy(&g);
  model_by_hand_destroy(&m);
}

/* The rows of a group are swept at once, and each of its springs stands in one slot. */
TEST(groups_of_rows_have_no_spring_between_them) {
  HkModel *m = model_of_sheet(by_hand(), 33, 21);
  HkMultigrid *g = hierarchy_of(m);
  const HkFine *f = &g->fine;
  int64_t springs = 0;
  for (int32_t q = 0; q < f->groups; q++) {
    int32_t begin = HK_LANES * q, end = begin + HK_LANES;
    for (int64_t e = HK_LANES * (int64_t)f->lower[q]; e < HK_LANES * (int64_t)f->lower[q + 1];
         e++) {
      bool lower = e < HK_LANES * (int64_t)f->upper[q];
      CHECK(lower ? f->neighbor[e] < begin : f->neighbor[e] >= end);
      springs += f->record[e] >= 0;
    }
  }
  CHECK(springs == 2 * m->springs.count);
  CHECK(springs > 0.8 * HK_LANES * f->lower[f->groups]);
  hk_multigrid_destroy(&g);
  model_by_hand_destroy(&m);
}

/* Weights sum up to 1, and a level is a fraction of the one before. */
TEST(weights_pass_a_shift_on_and_levels_shrink) {
  HkModel *m = model_of_sheet(by_hand(), 60, 40);
  HkMultigrid *g = hierarchy_of(m);
  for (int k = 0; k + 1 < g->count; k++) {
    const HkWeights *P = &g->level[k].P;
    CHECK(g->level[k + 1].n < 0.5 * g->level[k].n);
    for (int32_t i = 0; i < P->rows; i++) {
      double sum = 0;
      for (int32_t e = P->start[i]; e < P->start[i + 1]; e++) sum += P->weight[e];
      if (k > 0 || g->vertex[i] >= 0) CHECK_NEAR(sum, 1, 1e-6);
    }
  }
  CHECK(g->level[g->count - 1].n < 0.05 * g->level[0].n); /* solved exactly at no cost */
  hk_multigrid_destroy(&g);
  model_by_hand_destroy(&m);
}

/* Operator complexity: entries of all levels over those of the first, in words of a spring. Cycle
 * complexity: the same with each level as often as a cycle visits it. */
TEST(complexities_of_a_cycle_are_bounded_at_every_size) {
  static const int sizes[] = {20, 40, 90, 160};
  for (int q = 0; q < 4; q++) {
    HkModel *m = model_of_sheet(by_hand(), sizes[q], sizes[q] * 2 / 3);
    HkMultigrid *g = hierarchy_of(m);
    double once = 0, all = 0, visits = 1, fine = g->level[0].graph.start[g->level[0].n];
    for (int k = 0; k < g->count; k++) {
      const HkLevel *l = &g->level[k];
      double entries = (k == 0 ? 1 : 3) * l->graph.start[l->n]; /* a spring is a third of a block */
      CHECK(l->visits >= 1);
      visits *= l->visits;
      once += entries;
      all += visits * entries;
    }
    if (!(once < 3.5 * fine && all < 1.6 * once))
      test_fail(__FILE__, __LINE__, "%d: operator complexity %g, cycle complexity %g", sizes[q],
                once / fine, all / fine);
    hk_multigrid_destroy(&g);
    model_by_hand_destroy(&m);
  }
}

/* In a flat grid the weights reproduce the place of most vertices: what moves linearly with the
 * place is passed on exactly. */
TEST(weights_pass_a_stretch_of_a_flat_grid_on) {
  HkModel *m = model_of_sheet(by_hand(), 40, 30);
  for (int64_t q = 0; q < m->n; q++) {
    m->x0[3 * q] = (double)(q % 40);
    m->x0[3 * q + 1] = (double)(q / 40);
    m->x0[3 * q + 2] = 0;
  }
  HkMultigrid *g = hierarchy_of(m);
  const HkWeights *P = &g->level[0].P;
  double place[2000][2];
  memset(place, 0, sizeof place);
  for (int32_t i = 0; i < P->rows; i++) /* rows of weight 1 are the coarse vertices themselves */
    if (P->start[i + 1] - P->start[i] == 1)
      for (int c = 0; c < 2; c++)
        place[P->column[P->start[i]]][c] = m->x0[3 * (int64_t)g->vertex[i] + c];
  int missed = 0;
  for (int32_t i = 0; i < P->rows; i++) {
    double miss = 0;
    for (int c = 0; c < 2 && g->vertex[i] >= 0; c++) {
      double sum = -m->x0[3 * (int64_t)g->vertex[i] + c];
      for (int32_t e = P->start[i]; e < P->start[i + 1]; e++)
        sum += P->weight[e] * place[P->column[e]][c];
      miss += fabs(sum);
    }
    missed += miss > 1e-4;
  }
  CHECK(missed < 0.1 * m->n); /* at the rim */
  hk_multigrid_destroy(&g);
  model_by_hand_destroy(&m);
}

/* ---- Solving ---- */

static HkLinearResult solve_system(const System *s, double *x) {
  HkLinear *solver = NULL;
  HkLinearResult result = {0};
  HkError error = {0};
  HkStatus status = system_solver(s, "pcg", "multigrid", &solver, &error);
  if (status >= 0) status = hk_linear_prepare(solver, &s->A, &error);
  if (status >= 0) status = hk_linear_solve(solver, s->b, x, 0, &result, &error);
  if (status < 0) test_fail(__FILE__, __LINE__, "%s", error.text);
  hk_linear_destroy(&solver);
  return result;
}

/* The part of the residual that one iteration of pcg leaves, on average. */
static double convergence_factor(System *s) {
  double *x = system_random(s, 1);
  HkLinearResult r = solve_system(s, x);
  CHECK(r.residual <= 1e-8 && !r.indefinite);
  free(x);
  system_destroy(&s);
  return pow(r.residual, 1.0 / fmax(r.iterations, 1));
}

/* What a good cycle stays below. */
static const double GOOD_FACTOR = 0.55;

TEST(the_convergence_factor_hardly_depends_on_the_size_of_a_sheet) {
  static const int sizes[] = {12, 20, 50, 120};
  for (int q = 0; q < 4; q++) {
    double factor =
        convergence_factor(system_of(model_of_sheet(by_hand(), sizes[q], sizes[q]), 1.5, 1, 1));
    if (!(factor <= GOOD_FACTOR))
      test_fail(__FILE__, __LINE__, "%d x %d: factor %g", sizes[q], sizes[q], factor);
  }
}

TEST(models_of_a_few_vertices_are_solved_too) {
  HkModel *spring = model_of_spring((double[]){1, 0, 0}, 100, 0.9);
  CHECK(convergence_factor(system_of(spring, 1.5, 0.3, 0)) <= GOOD_FACTOR);
  CHECK(convergence_factor(system_of(model_of_tets(by_hand()), 1.5, 0.3, 0)) <= GOOD_FACTOR);
  /* All vertices are held: A is diagonal, and one sweep solves it to the rounding of floats. */
  CHECK(convergence_factor(system_of(model_of_sheet(by_hand(), 5, 4), 1.5, 0.3, 20)) <= 1e-6);
}

TEST(a_sheet_in_the_plane_with_damping_and_threads_is_solved) {
  ByHand by = by_hand();
  by.dimension = 2;
  CHECK(convergence_factor(system_of(model_of_sheet(by, 30, 25), 1.5, 1, 1)) <= GOOD_FACTOR);
  by = by_hand();
  by.damping = by.tension = true;
  CHECK(convergence_factor(system_of(model_of_sheet(by, 30, 25), 1.5, 1, 1)) <= GOOD_FACTOR);
}

/* ---- Coarse matrices ---- */

/* out = A in with the blocks of a level: 3 columns of 4 floats each. */
static void level_product(const HkLevel *l, const double *in, double *out) {
  for (int32_t i = 0; i < l->n; i++)
    for (int r = 0; r < 3; r++) {
      double sum = 0;
      for (int32_t e = l->graph.start[i]; e < l->graph.start[i + 1]; e++)
        for (int c = 0; c < 3; c++)
          sum += l->A[12 * (int64_t)e + 4 * c + r] * in[3 * (int64_t)l->graph.column[e] + c];
      out[3 * (int64_t)i + r] = sum;
    }
}

static void prolong(const HkWeights *P, const double *coarse, double *fine) {
  memset(fine, 0, (size_t)P->rows * 3 * sizeof *fine);
  for (int32_t i = 0; i < P->rows; i++)
    for (int32_t e = P->start[i]; e < P->start[i + 1]; e++)
      for (int c = 0; c < 3; c++)
        fine[3 * (int64_t)i + c] += P->weight[e] * coarse[3 * (int64_t)P->column[e] + c];
}

static void restrict_with(const HkWeights *P, const double *fine, double *coarse) {
  memset(coarse, 0, (size_t)P->columns * 3 * sizeof *coarse);
  for (int32_t i = 0; i < P->rows; i++)
    for (int32_t e = P->start[i]; e < P->start[i + 1]; e++)
      for (int c = 0; c < 3; c++)
        coarse[3 * (int64_t)P->column[e] + c] += P->weight[e] * fine[3 * (int64_t)i + c];
}

/* Level 0 has springs instead of blocks: the product with the Hessian, in the order of the level.
 */
static void fine_product(const System *s, const HkMultigrid *g, const double *in, double *out) {
  size_t bytes = (size_t)s->model->n * 3 * sizeof(double);
  double *x = malloc(bytes), *Ax = malloc(bytes);
  if (!x || !Ax) abort();
  for (int64_t q = 0; q < s->model->n; q++)
    memcpy(x + 3 * q, in + 3 * (int64_t)g->row[q], 3 * sizeof *x);
  s->A.product(s->A.user, x, Ax);
  memset(out, 0, (size_t)g->level[0].n * 3 * sizeof *out);
  for (int64_t q = 0; q < s->model->n; q++)
    memcpy(out + 3 * (int64_t)g->row[q], Ax + 3 * q, 3 * sizeof *x);
  free(x);
  free(Ax);
}

/* A' e = P^T A P e to the rounding of floats, for a random e of the next level. */
static void check_galerkin(const System *s, const HkMultigrid *g, int k) {
  const HkLevel *l = &g->level[k], *next = &g->level[k + 1];
  double *memory = calloc(6 * (size_t)l->n + 9 * (size_t)next->n, sizeof *memory);
  if (!memory) abort();
  double *fine = memory, *product = fine + 3 * (size_t)l->n, *e = product + 3 * (size_t)l->n;
  double *direct = e + 3 * (size_t)next->n, *galerkin = direct + 3 * (size_t)next->n;
  uint64_t seed = 5 + (uint64_t)k;
  for (int64_t q = 0; q < 3 * (int64_t)next->n; q++) e[q] = test_random(&seed);
  level_product(next, e, direct);
  prolong(&l->P, e, fine);
  if (k == 0)
    fine_product(s, g, fine, product);
  else
    level_product(l, fine, product);
  restrict_with(&l->P, product, galerkin);
  double error = 0, size = 0;
  for (int64_t q = 0; q < 3 * (int64_t)next->n; q++) {
    error += (direct[q] - galerkin[q]) * (direct[q] - galerkin[q]);
    size += galerkin[q] * galerkin[q];
  }
  if (!(size > 0 && error <= 1e-10 * size))
    test_fail(__FILE__, __LINE__, "level %d: |A' e - P^T A P e| = %g |P^T A P e|", k,
              sqrt(error / size));
  free(memory);
}

TEST(matrices_of_coarse_levels_are_galerkin_products) {
  System *s = system_of(model_of_sheet(by_hand(), 50, 40), 1.5, 0.3, 0);
  double sums[64];
  HkMethod method = {0};
  HkPrecondition *p = NULL;
  HkVectors space = {.n = s->model->n, .threads = 1, .sums = sums};
  MUST(hk_method_choose(&method, HK_PRECONDITION, "multigrid", error));
  MUST(hk_precondition_create(&s->setup, &space, &method, &p, error));
  p->A = &s->A;
  MUST(p->type->prepare(p, error));
  const HkMultigrid *g = *(HkMultigrid *const *)p->data; /* the first member */
  CHECK(g->count > 2);
  for (int k = 0; k + 1 < g->count; k++) check_galerkin(s, g, k);
  hk_precondition_destroy(&p);
  hk_method_clear(&method);
  system_destroy(&s);
}

/* Forces other than springs add to the diagonal. */
TEST(other_forces_count) {
  static const char *const forces[] = {"drag", "buoyancy"};
  for (int q = 0; q < 2; q++) {
    HkModel *m = model_of_sheet(by_hand(), 30, 25);
    HkError error = {0};
    if (model_add_default_force(m, forces[q], &error) < 0)
      test_fail(__FILE__, __LINE__, "%s", error.text);
    CHECK(convergence_factor(system_of(m, 1.5, 1, 1)) <= GOOD_FACTOR);
  }
}

/* The same to the rounding of floats by every instruction set. */
TEST(every_instruction_set_applies_the_same_cycle) {
  System *s = system_of(model_of_sheet(by_hand(), 40, 33), 1.5, 1, 2);
  double *x = system_random(s, 1), *other = system_random(s, 1);
  solve_system(s, x);
  for (int isa = HK_ISA_PORTABLE; isa <= (int)hk_isa_best(); isa++) {
    setenv("HOOKE_SIMD", hk_isa_name((HkIsa)isa), 1);
    HkLinearResult r = solve_system(s, other);
    CHECK(r.residual <= 1e-8);
    for (int64_t c = 0; c < 3 * s->model->n; c++) CHECK_NEAR(other[c], x[c], 1e-6);
  }
  unsetenv("HOOKE_SIMD");
  free(x);
  free(other);
  system_destroy(&s);
}

TEST(a_matrix_without_springs_is_refused_in_words) {
  System *s = system_of(model_of_sheet(by_hand(), 5, 4), 1.5, 0.3, 0);
  HkLinear *solver = NULL;
  HkError error = {0};
  CHECK(system_solver(s, "pcg", "multigrid", &solver, &error) >= 0);
  HkOperator A = s->A;
  A.springs = NULL;
  CHECK(hk_linear_prepare(solver, &A, &error) == HK_ERROR_INVALID);
  CHECK(strstr(error.text, "multigrid") && strstr(error.text, "ic0"));
  hk_linear_destroy(&solver);
  system_destroy(&s);
}

/* Floats end at 1e38: what a blow-up has left behind must not stay. */
TEST(what_overflowed_once_leaves_no_trace) {
  System *s = system_of(model_of_sheet(by_hand(), 40, 33), 1.5, 1, 2);
  double *x = system_random(s, 1), *later = system_random(s, 1), *huge = system_random(s, 2);
  HkLinear *solver = NULL;
  HkLinearResult result;
  solve_system(s, x);
  for (int64_t q = 0; q < 3 * s->model->n; q++) huge[q] *= 1e100;
  MUST(system_solver(s, "pcg", "multigrid", &solver, error));
  MUST(hk_linear_prepare(solver, &s->A, error));
  MUST(hk_linear_solve(solver, huge, later, 0, &result, error));
  MUST(hk_linear_solve(solver, s->b, later, 0, &result, error));
  for (int64_t q = 0; q < 3 * s->model->n; q++) CHECK(later[q] == x[q]);
  hk_linear_destroy(&solver);
  free(x);
  free(later);
  free(huge);
  system_destroy(&s);
}

/* Masses of 1e-27 kg that move by 1e-12 m are as easy as a curtain. */
TEST(units_do_not_matter) {
  double factor[2];
  for (int q = 0; q < 2; q++) {
    HkModel *m = model_of_sheet(by_hand(), 40, 33);
    double unit = q == 0 ? 1 : 0x1p-90;
    m->total_mass = 0;
    for (int64_t i = 0; i < m->n; i++) m->total_mass += m->mass[i] *= unit;
    for (int64_t i = 0; i < m->springs.count; i++) m->springs.k[i] *= unit;
    System *s = system_of(m, 1.5, 1, 2);
    for (int64_t i = 0; i < 3 * m->n; i++) s->b[i] *= unit * (q == 0 ? 1 : 0x1p-40);
    factor[q] = convergence_factor(s);
  }
  CHECK_NEAR(factor[1], factor[0], 1e-6);
}

/* The linear solver of the minimizer of an integrator. */
static const HkMethod *linear_in(const HkMethod *method) {
  for (int q = 0; q < method->schema->param_count; q++) {
    const HkParam *p = &method->schema->params[q];
    if (p->kind != HK_PARAM_METHOD) continue;
    const HkMethod *inner = (const HkMethod *)((const char *)method->params + p->offset);
    return p->family == HK_LINEAR ? inner : linear_in(inner);
  }
  return NULL;
}

/* A wheel of many spokes. */
TEST(vertices_of_very_many_neighbors_are_left_to_others) {
  enum { SPOKES = 1200 };
  double x[3 * (SPOKES + 1)] = {0};
  int32_t triangles[3 * SPOKES];
  for (int q = 0; q < SPOKES; q++) {
    x[3 * q + 3] = cos(2 * 3.14159265358979 * q / SPOKES);
    x[3 * q + 4] = sin(2 * 3.14159265358979 * q / SPOKES);
    triangles[3 * q] = 0;
    triangles[3 * q + 1] = q + 1;
    triangles[3 * q + 2] = (q + 1) % SPOKES + 1;
  }
  HkModel *m = model_of_triangles(by_hand(), SPOKES + 1, x, SPOKES, triangles);
  HkMultigrid *g = NULL;
  HkMethod picked = {0};
  FAILS(hk_multigrid_create(m, &g, error), HK_ERROR_UNSUPPORTED, "too many neighbors (1200)");
  CHECK(g == NULL);
  MUST(hk_method_choose(&picked, HK_STEP, "backward_euler", error));
  MUST(hk_choose_methods(m, (HkChoice){.h = 1.0 / 60}, &picked, error));
  CHECK(strcmp(linear_in(&picked)->schema->name, hk_family_default(HK_LINEAR)) == 0);
  hk_method_clear(&picked);
  model_by_hand_destroy(&m);
}

TEST(surfaces_of_many_vertices_are_left_to_multigrid) {
  HkModel *m = model_of_sheet(by_hand(), 40, 33);
  HkMethod picked = {0};
  MUST(hk_method_choose(&picked, HK_STEP, "backward_euler", error));
  MUST(hk_choose_methods(m, (HkChoice){.h = 1.0 / 60}, &picked, error));
  CHECK(strcmp(linear_in(&picked)->schema->name, "pcg") == 0);
  hk_method_clear(&picked);
  model_by_hand_destroy(&m);
}
