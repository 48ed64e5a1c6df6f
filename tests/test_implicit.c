/* Implicit steps: the problem that they solve, and exact discrete solutions. */
#include "base/vec.h"
#include "minimize/problem.h"
#include "model_by_hand.h"
#include "step/implicit.h"
#include "world.h"

/* ---- The problem: g, its gradient and its Hessian ---- */

/* A model with every kind of force, and its problem at a random state. */
typedef struct Case {
  HkModel *model;
  HkForceWork work;
  HkProblem problem;
  double x[192], v[192], g[192], p[192];
} Case;

static const char *const forces[] = {"gravity", "drag", "buoyancy", "wind", "face_wind"};

static void fill(double *values, int64_t count, double size, uint64_t *seed) {
  for (int64_t q = 0; q < count; q++) values[q] = size * test_random(seed);
}

static HkStatus begin(Case *a, int dimension, bool others, HkError *error) {
  uint64_t seed = 3;
  ByHand by = by_hand();
  by.dimension = dimension;
  by.damping = by.tension = others;
  a->model = model_of_sheet(by, 4, 4);
  for (int q = 0; q < 5 && others; q++)
    if (dimension == 3 || q != 4) HK_TRY(model_add_default_force(a->model, forces[q], error));
  if (others) {
    HkMethod handle = {0};
    HkSelect select = {.kind = HK_SELECT_NEAREST};
    HK_TRY(hk_method_choose(&handle, HK_FORCE, "handle", error));
    HK_TRY(hk_method_set_select(&handle, "select", &select, error));
    HK_TRY(hk_method_set_number(&handle, "damping", 0.3, error));
    HK_TRY(model_add_force(a->model, &handle, error));
  }
  HK_TRY(hk_force_work_create(a->model, &a->work, error));
  HK_TRY(hk_problem_create(a->model, &a->work, &a->problem, error));
  HkProblem *p = &a->problem;
  int64_t size = 3 * a->model->n;
  p->t = 0.4;
  p->tau = 0.2;
  for (int64_t q = 0; q < size; q++) a->x[q] = a->model->x0[q] + 0.2 * test_random(&seed);
  fill(a->v, size, 1, &seed);
  fill(a->p, size, 1, &seed);
  for (int64_t q = 0; q < size; q++) {
    p->y[q] = a->x[q] + 0.1 * test_random(&seed);
    p->b[q] = a->x[q] + 0.1 * test_random(&seed);
    if (dimension == 2 && q % 3 == 2) a->x[q] = p->y[q] = p->b[q] = a->v[q] = a->p[q] = 0;
  }
  p->held.mask[5] = p->held.mask[6] = 1;
  for (int c = 15; c < 21; c++) a->p[c] = 0; /* held vertices do not move */
  return hk_problem_linearize(p, a->x, a->v, error);
}

static void end(Case *a) {
  hk_problem_destroy(&a->problem);
  hk_force_work_destroy(a->model, &a->work);
  model_by_hand_destroy(&a->model);
}

/* The four cases: springs alone or all forces, in space and in the plane. */
static HkStatus begin_case(Case *a, int index, HkError *error) {
  *a = (Case){0};
  return begin(a, index % 2 ? 2 : 3, index >= 2, error);
}

TEST(gradient_is_that_of_the_energy) {
  for (int index = 0; index < 4; index++) {
    Case a;
    MUST(begin_case(&a, index, error));
    HkProblem *p = &a.problem;
    double step = 1e-4, high[192], low[192];
    hk_problem_gradient(p, a.x, a.g);
    hk_vectors_add(&p->space, step, a.p, a.x, high);
    hk_vectors_add(&p->space, -step, a.p, a.x, low);
    double slope = hk_problem_change(p, low, high) / (2 * step);
    double exact = hk_vectors_dot(&p->space, a.g, a.p);
    CHECK_NEAR(slope, exact, 1e-6 * fabs(exact));
    for (int c = 15; c < 21; c++) CHECK(a.g[c] == 0);
    end(&a);
  }
}

/* r = |M^-1 dg/dx|_M by its definition. */
static double residual_by_hand(const Case *a) {
  double sum = 0;
  for (int64_t q = 0; q < a->model->n; q++)
    sum += hk_dot(a->g + 3 * q, a->g + 3 * q) / a->model->mass[q];
  return sqrt(sum);
}

TEST(gradient_and_its_norm_have_the_same_bits_with_every_instruction_set) {
  for (int index = 0; index < 4; index++) {
    double first[192], r_first = 0;
    for (int isa = HK_ISA_PORTABLE; isa <= (int)hk_isa_best(); isa++) {
      Case a;
      setenv("HOOKE_SIMD", hk_isa_name((HkIsa)isa), 1);
      MUST(begin_case(&a, index, error));
      double r = hk_problem_gradient(&a.problem, a.x, a.g);
      CHECK_NEAR(r, residual_by_hand(&a), 1e-14 * r);
      if (isa == HK_ISA_PORTABLE) memcpy(first, a.g, sizeof first);
      if (isa == HK_ISA_PORTABLE) r_first = r;
      CHECK(r > 0 && r == r_first);
      CHECK(memcmp(first, a.g, (size_t)(3 * a.model->n) * sizeof *first) == 0);
      a.x[3 * a.model->n - 3] = NAN;
      CHECK(isnan(hk_problem_gradient(&a.problem, a.x, a.g)));
      end(&a);
    }
    setenv("HOOKE_SIMD", "", 1);
  }
}

TEST(change_of_the_energy_is_accurate_when_it_is_tiny) {
  for (int index = 0; index < 4; index++) {
    Case a;
    MUST(begin_case(&a, index, error));
    HkProblem *p = &a.problem;
    double moved[192];
    hk_problem_gradient(p, a.x, a.g);
    hk_vectors_add(&p->space, 1e-12, a.p, a.x, moved);
    hk_vectors_subtract(&p->space, moved, a.x, a.p); /* what is left after rounding */
    double exact = hk_vectors_dot(&p->space, a.g, a.p);
    CHECK_NEAR(hk_problem_change(p, a.x, moved), exact, 1e-9 * fabs(exact));
    CHECK_NEAR(hk_problem_change(p, moved, a.x), -exact, 1e-9 * fabs(exact));
    end(&a);
  }
}

TEST(hessian_is_the_derivative_of_the_gradient) {
  for (int index = 0; index < 4; index++) {
    Case a;
    MUST(begin_case(&a, index, error));
    HkProblem *p = &a.problem;
    double step = 1e-6, moved[192], high[192], low[192], product[192];
    hk_vectors_add(&p->space, step, a.p, a.x, moved);
    hk_problem_gradient(p, moved, high);
    hk_vectors_add(&p->space, -step, a.p, a.x, moved);
    hk_problem_gradient(p, moved, low);
    HkHessianAt at = hk_problem_hessian_at(p, a.x);
    HkOperator H;
    MUST(hk_hessian_evaluate(&p->hessian, &at, false, &H, error));
    H.product(H.user, a.p, product);
    double scale = test_largest(product, 3 * a.model->n);
    for (int64_t q = 0; q < 3 * a.model->n; q++)
      CHECK_NEAR((high[q] - low[q]) / (2 * step), product[q], 1e-6 * scale);
    end(&a);
  }
}

TEST(assembled_hessian_equals_the_product_without_a_matrix) {
  for (int index = 0; index < 8; index++) {
    Case a;
    uint64_t seed = 8;
    MUST(begin_case(&a, index % 4, error));
    HkProblem *p = &a.problem;
    int64_t n = a.model->n;
    double free_product[192], product[192], free_blocks[576], blocks[576];
    fill(a.p, 3 * n, 1, &seed); /* held vertices and z, too: their rows hold the mass */
    HkHessianAt at = hk_problem_hessian_at(p, a.x);
    HkOperator H, A;
    at.projection = index >= 4 ? 1 : 0;
    MUST(hk_hessian_evaluate(&p->hessian, &at, false, &H, error));
    MUST(hk_hessian_evaluate(&p->hessian, &at, true, &A, error));
    H.product(H.user, a.p, free_product);
    A.product(A.user, a.p, product);
    H.diagonal(H.user, free_blocks);
    A.diagonal(A.user, blocks);
    double scale = test_largest(product, 3 * n);
    for (int64_t q = 0; q < 3 * n; q++) CHECK_NEAR(free_product[q], product[q], 1e-14 * scale);
    for (int64_t q = 0; q < 9 * n; q++) CHECK_NEAR(free_blocks[q], blocks[q], 1e-13);
    for (int64_t i = 0; i < n; i++) /* symmetric */
      for (int64_t e = p->pattern.start[i]; e < p->pattern.start[i + 1]; e++) {
        int64_t mirror = hk_pattern_find(&p->pattern, p->pattern.column[e], i);
        for (int q = 0; q < 9; q++)
          CHECK_NEAR(A.matrix->value[9 * e + q], A.matrix->value[9 * mirror + q % 3 * 3 + q / 3],
                     1e-14);
      }
    end(&a);
  }
}

TEST(projected_hessian_is_positive_definite_under_pressure) {
  Case a;
  MUST(begin_case(&a, 0, error));
  HkProblem *p = &a.problem;
  uint64_t seed = 12;
  double product[192];
  int negative = 0;
  p->tau = 3;
  for (int64_t q = 0; q < 3 * a.model->n; q++) a.x[q] *= 0.3;
  MUST(hk_problem_linearize(p, a.x, a.v, error));
  HkHessianAt at = hk_problem_hessian_at(p, a.x);
  for (int projected = 0; projected < 2; projected++)
    for (int trial = 0; trial < 200; trial++) {
      HkOperator H;
      at.projection = projected ? 1 : 0;
      fill(a.p, 3 * a.model->n, 1, &seed);
      MUST(hk_hessian_evaluate(&p->hessian, &at, false, &H, error));
      H.product(H.user, a.p, product);
      double curvature = hk_vectors_dot(&p->space, a.p, product);
      if (projected) CHECK(curvature > 0);
      if (!projected) negative += curvature < 0;
    }
  CHECK(negative > 0); /* else there was nothing to project */
  end(&a);
}

/* ---- The oscillator, step by step ---- */

/* m = 1 kg, k = 4 N/m along x, pulled out by 0.1 m. */
static const char *const oscillator =
    "{'bodies': [{'shape': {'type': 'chain', 'n': 2}, 'springs': {'k': 4}, 'mass': {'per_vertex': "
    "1}}], 'pins': [{'select': 'start'}], 'outputs': []}";

static World oscillate(const char *integrator, double h) {
  World w = world_make(oscillator, integrator, h, 1);
  if (w.state) hk_state_x(w.state)[3] = 1.1;
  return w;
}

TEST(backward_euler_shrinks_the_amplitude_at_the_exact_rate) {
  const char *names[] = {"backward_euler", "linear_implicit_euler"};
  for (int q = 0; q < 2; q++)
    for (double h = 0.01; h < 10; h *= 5) {
      World w = oscillate(names[q], h);
      for (int s = 0; s < 20; s++) {
        double before = sqrt(world_info(&w).total);
        world_steps(&w, 1);
        double factor = 1 / sqrt(1 + 4 * h * h);
        CHECK_NEAR(sqrt(world_info(&w).total) / before, factor, 1e-9);
        if (before < 1e-6) break; /* below it the rounding of 1 m shows */
      }
      world_destroy(&w);
    }
}

TEST(midpoint_and_trapezoidal_keep_the_energy_of_a_linear_spring_to_rounding) {
  const char *names[] = {"implicit_midpoint", "trapezoidal"};
  for (int q = 0; q < 2; q++) {
    World w = oscillate(names[q], 0.3);
    double before = world_info(&w).total;
    world_steps(&w, 100000);
    CHECK_NEAR(world_info(&w).total, before, 1e-10 * before);
    world_destroy(&w);
  }
}

TEST(bdf2_damps_slow_modes_by_the_fourth_power) {
  double h = 0.02, loss[2];
  for (int q = 0; q < 2; q++, h *= 2) {
    World w = oscillate("bdf2", h);
    world_steps(&w, 50);
    double before = world_info(&w).total;
    world_steps(&w, 314);
    loss[q] = log(before / world_info(&w).total) / 314; /* of the energy, a step */
    CHECK_NEAR(loss[q] / pow(2 * h, 4), 0.5, 0.02);
    world_destroy(&w);
  }
}

TEST(beta_0_is_symplectic_euler_and_beta_1_linearly_implicit) {
  const char *twins[] = {"symplectic_euler", "linear_implicit_euler"};
  for (int beta = 0; beta < 2; beta++) {
    const char *text =
        "{'time': {'step': 0.01}, 'integrator': {'type': 'beta', 'beta': 0}, 'bodies': [{'shape': "
        "{'type': 'grid', 'nx': 4, 'ny': 4}, 'springs': {'k': 40, 'shear': true, 'damping': 0.1}}],"
        " 'pins': [{'select': 'top_left', 'motion': 'oscillation'}], 'forces': ['gravity', "
        "'drag'], 'outputs': []}";
    World a = world_parse(text), b = world_make(text, twins[beta], 0.01, 1);
    HkSim *sim = NULL;
    MUST(hk_method_set_number(&a.scene->step, "beta", beta, error));
    MUST(hk_sim_create(a.model, &a.scene->step, 0.01, &sim, error));
    for (int s = 0; s < 100; s++) MUST(hk_sim_step(sim, a.state, error));
    world_steps(&b, 100);
    for (int q = 0; q < 48; q++)
      CHECK_NEAR(hk_state_x(a.state)[q], hk_state_x(b.state)[q], beta ? 1e-12 : 1e-11);
    hk_sim_destroy(&sim);
    world_destroy(&a);
    world_destroy(&b);
  }
}

TEST(implicit_integrators_keep_linear_and_angular_momentum_or_say_so) {
  /* Midpoint keeps both; backward Euler keeps the linear one, and loses turning. */
  const char *text = "{'bodies': [{'shape': {'type': 'grid', 'nx': 4, 'ny': 4}, 'springs': {'k': "
                     "100, 'shear': true}, 'velocity': [1, 2, 3], 'spin': [0, 0, 5]}], 'outputs': "
                     "[]}";
  const char *names[] = {"implicit_midpoint", "backward_euler", "bdf2", "trapezoidal"};
  for (int q = 0; q < 4; q++) {
    World w = world_make(text, names[q], 0.02, 1);
    HkStateInfo before = world_info(&w);
    world_steps(&w, 100);
    HkStateInfo after = world_info(&w);
    for (int c = 0; c < 3; c++) CHECK_NEAR(after.momentum[c], before.momentum[c], 1e-10);
    if (q == 0)
      for (int c = 0; c < 3; c++)
        CHECK_NEAR(after.angular_momentum[c], before.angular_momentum[c], 1e-8);
    world_destroy(&w);
  }
}

/* ---- Step info ---- */

static const char *const breeze =
    "{'bodies': [{'shape': {'type': 'grid', 'nx': 6, 'ny': 6}, 'springs': {'k': 1000, 'damping': "
    "0.1}}], 'pins': [{'select': 'top'}], 'forces': ['gravity', {'type': 'face_wind', 'velocity': "
    "[0, 0, 5]}], 'integrator': %s, 'time': {'step': 0.03}, 'outputs': []}";

static HkStepInfo report_of(const char *integrator, HkStatus *status) {
  char text[1000];
  HkError error = {0};
  snprintf(text, sizeof text, breeze, integrator);
  World w = world_parse(text);
  if (!w.state) return (HkStepInfo){0};
  *status = hk_sim_step(w.sim, w.state, &error);
  HkStepInfo info = hk_sim_step_info(w.sim);
  world_destroy(&w);
  return info;
}

TEST(a_linear_solver_that_runs_out_of_iterations_does_not_converge) {
  HkStatus few = HK_OK, enough = HK_DONE;
  HkStepInfo r = report_of(
      "{'type': 'linear_implicit_euler', 'linear': {'type': 'pcg', 'iterations': 2}}", &few);
  CHECK(few == HK_NOT_CONVERGED && r.reason == HK_STOP_ITERATIONS && r.residual > 1e-8);
  r = report_of("{'type': 'linear_implicit_euler', 'linear': 'pcg'}", &enough);
  CHECK(enough == HK_OK && r.reason == HK_STOP_CONVERGED && r.residual <= 1e-8);
}

TEST(all_passes_of_a_step_count) {
  HkStatus status = HK_DONE;
  HkStepInfo one = report_of("{'type': 'backward_euler'}", &status);
  HkStepInfo three = report_of("{'type': 'backward_euler', 'passes': 3}", &status);
  CHECK(status == HK_OK);
  CHECK(three.evaluations >= one.evaluations + 2);
  CHECK(three.iterations > one.iterations && three.linear_iterations > one.linear_iterations);
}

/* ---- Stiff bodies, whose vertices hardly move between each other ---- */

static const char BLOCK[] = "{'integrator': %s, 'bodies': [{'shape': {'type': 'block', 'nx': 21, "
                            "'ny': 7, 'nz': 7, 'size': [1, 0.3, 0.3]}, 'springs': {'k': %g}, "
                            "'mass': {'total': 1}}], 'pins': [%s], 'forces': ['gravity'], "
                            "'outputs': []}";

/* The mean velocity (m/s) downwards of the block after some steps of 1/30 s. */
static double fall_of_block(const char *integrator, double k, const char *pins, int steps) {
  char text[1000];
  snprintf(text, sizeof text, BLOCK, integrator, k, pins);
  World w = world_make(text, NULL, 1.0 / 30, 2);
  if (!w.state) return NAN;
  world_steps(&w, steps);
  double momentum = world_info(&w).momentum[1];
  world_destroy(&w);
  return -momentum;
}

TEST(stiff_bodies_fall_freely) {
  static const char *const integrators[] = {
      "'backward_euler'", "{'type': 'backward_euler', 'minimizer': 'newton'}",
      "{'type': 'backward_euler', 'minimizer': 'local_global'}",
      "{'type': 'backward_euler', 'minimizer': 'lbfgs'}"};
  for (int q = 0; q < 4; q++)
    CHECK_NEAR(fall_of_block(integrators[q], 1e6, "", 6), 9.81 * 6 / 30, 1e-5);
}

/* From its end, by what is picked as by Newton's method to the last. */
TEST(stiff_bodies_swing_by_what_is_picked) {
  const char *pin = "{'select': {'nearest': [-0.5, 0, 0]}}";
  double exact = fall_of_block("{'type': 'backward_euler', 'minimizer': {'type': 'newton', "
                               "'tolerance': 1e-11, 'linear': 'ldlt'}}",
                               2e4, pin, 6);
  CHECK(exact > 0.5);
  CHECK_NEAR(fall_of_block("'backward_euler'", 2e4, pin, 6), exact, 0.03 * exact);
}

/* ---- Order ---- */

/* The position of a corner after 0.4 s in the wind. */
static double corner_in_wind(const char *integrator, double h) {
  World w = world_make("{'bodies': [{'shape': {'type': 'grid', 'nx': 3, 'ny': 3}, 'springs': {'k': "
                       "20, 'damping': 0.05}, 'mass': 0.5}], 'pins': [{'select': 'top_left'}], "
                       "'forces': ['gravity', {'type': 'face_wind', 'velocity': [2, 0, 6]}], "
                       "'outputs': []}",
                       integrator, h, 1);
  if (!w.state) return NAN;
  world_steps(&w, (int64_t)(0.4 / h + 0.5));
  double z = hk_state_x(w.state)[2];
  world_destroy(&w);
  return z;
}

/* Halving the step leaves a fourth of the error; with one pass it would leave half. */
TEST(second_order_holds_in_the_wind) {
  static const char *const names[] = {"implicit_midpoint", "trapezoidal", "bdf2"};
  double exact = corner_in_wind("rk4", 1e-3);
  for (int q = 0; q < 3; q++) {
    double rough = fabs(corner_in_wind(names[q], 0.01) - exact);
    double fine = fabs(corner_in_wind(names[q], 0.0025) - exact);
    if (!(fine < rough / 10))
      test_fail(names[q], 0, "error %g at h = 0.01, %g at a fourth of it", rough, fine);
  }
}
