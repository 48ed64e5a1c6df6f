/* The measured numbers of docs/theory.md: each test prints the rows that the page quotes and checks
 * them within a range. Whoever changes a method sees here which row of the page to change. */
#include "matrix_by_hand.h"
#include "model_by_hand.h"
#include "world.h"

#include "hooke/adjoint.h"
#include "model/model.h"

/* Quoted numbers have two or three digits; machines differ in the last of them. */
static const double QUOTED = 0.02;

#define CHECK_QUOTED(value, quoted) CHECK_NEAR(value, quoted, QUOTED *(quoted))

/* Minutes under a sanitizer, which other tests give the same code to watch in less. */
#if TEST_SANITIZED
#define LONG_TEST SKIP("too long under a sanitizer")
#else
#define LONG_TEST
#endif

/* ---- Section 4: the largest stable step of a cloth ---- */

/* The cloth of sections 4 and 8, hung by two corners; k in N/m, the integrator as JSON. */
static World cloth(double k, const char *integrator) {
  char text[1024];
  snprintf(text, sizeof text,
           "{'integrator': %s, 'time': {'step': 0.0333333333333333333}, 'bodies': [{'shape': "
           "{'type': 'grid', 'nx': 41, 'ny': 41}, 'springs': {'k': %g, 'shear': true, 'bending': "
           "true, 'k_bending': %g}, 'mass': {'total': 1}}], 'pins': [{'select': 'top_left'}, "
           "{'select': 'top_right'}], 'forces': ['gravity'], 'outputs': []}",
           integrator, k, 0.1 * k);
  return world_parse(text);
}

TEST(theory_stable_step_of_a_cloth) {
  const double k = 1000;
  World w = cloth(k, "'symplectic_euler'");
  double h = 0;
  if (!w.sim) return;
  MUST(hk_sim_stable_step(w.sim, w.state, &h, error));
  double unit = sqrt(1.0 / (41 * 41) / k);
  printf("  stable step %.3g s, %.2f sqrt(m / k)\n", h, h / unit);
  CHECK_QUOTED(h, 0.000552);
  CHECK_QUOTED(h / unit, 0.72);
  world_destroy(&w);
}

/* ---- Section 5: oscillators ---- */

/* m = 1 kg and k = 1 N/m, so that omega = 1 rad/s; the rest length is 10 m. tolerance in m; 0:
 * steps are not adaptive. */
static World oscillator(const char *integrator, double h, double tolerance) {
  char text[1024], adaptive[64] = "";
  if (tolerance > 0) snprintf(adaptive, sizeof adaptive, ", 'tolerance': %.17g", tolerance);
  snprintf(text, sizeof text,
           "{'integrator': %s, 'time': {'step': %.17g%s}, 'bodies': [{'shape': "
           "{'type': 'chain', 'n': 2, 'start': [0, 0, 0], 'end': [10, 0, 0]}, 'springs': {'k': 1}, "
           "'mass': {'per_vertex': "
           "1}}], 'pins': [{'select': 'start'}], 'outputs': []}",
           integrator, h, adaptive);
  return world_parse(text);
}

static const double REST = 10; /* m */

/* (x, v) one step after (x0, v0). */
static void oscillate(const char *integrator, double h, double x0, double v0, double to[2]) {
  World w = oscillator(integrator, h, 0);
  to[0] = to[1] = NAN;
  if (!w.sim) return;
  hk_state_x(w.state)[3] = REST + x0;
  hk_state_v(w.state)[3] = v0;
  world_steps(&w, 1);
  to[0] = hk_state_x(w.state)[3] - REST;
  to[1] = hk_state_v(w.state)[3];
  world_destroy(&w);
}

/* The larger |lambda| of the 2 x 2 matrix of one step. */
static double largest_factor(const char *integrator, double h) {
  double a[2], b[2];
  oscillate(integrator, h, 1e-3, 0, a);
  oscillate(integrator, h, 0, 1e-3, b);
  double trace = 1e3 * (a[0] + b[1]), det = 1e6 * (a[0] * b[1] - a[1] * b[0]);
  double discriminant = 0.25 * trace * trace - det;
  if (discriminant < 0) return sqrt(det);
  return fabs(0.5 * trace) + sqrt(discriminant);
}

TEST(theory_factors_of_one_step_on_an_oscillator) {
  static const struct {
    const char *name;
    double quoted[3]; /* at h omega = 0.1, 1, 10 */
  } rows[] = {
      {"'forward_euler'", {1.004988, 1.414214, 10.05}},
      {"'symplectic_euler'", {1, 1, 97.99}},
      {"'verlet'", {1, 1, 97.99}},
      {"'rk4'", {0.99999999, 0.993905, 399.65}},
      {"'backward_euler'", {0.995037, 0.707107, 0.099504}},
      {"'linear_implicit_euler'", {0.995037, 0.707107, 0.099504}},
      {"{'type': 'beta', 'beta': 0.5}", {0.997509, 0.816497, 0.919860}},
      {"'implicit_midpoint'", {1, 1, 1}},
      {"'trapezoidal'", {1, 1, 1}},
  };
  static const double steps[] = {0.1, 1, 10};
  for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
    printf("  %-32s", rows[r].name);
    for (int q = 0; q < 3; q++) {
      double factor = largest_factor(rows[r].name, steps[q]);
      printf(" %.8g", factor);
      CHECK_NEAR(factor, rows[r].quoted[q], 1e-4 * rows[r].quoted[q]);
    }
    printf("\n");
  }
}

/* bdf2 has two old states: its factor is that of the later ones of many steps. */
TEST(theory_factors_of_bdf2_on_an_oscillator) {
  static const struct {
    double h, quoted;
    int steps;
  } rows[] = {{0.1, 0.999976, 400}, {1, 0.933321, 60}};
  for (int q = 0; q < 2; q++) {
    World w = oscillator("'bdf2'", rows[q].h, 0);
    if (!w.sim) return;
    hk_state_x(w.state)[3] = REST + 1e-3;
    world_steps(&w, rows[q].steps);
    double before = world_info(&w).total;
    world_steps(&w, rows[q].steps);
    double factor = pow(world_info(&w).total / before, 0.5 / rows[q].steps);
    printf("  bdf2, h omega = %g: %.7g\n", rows[q].h, factor);
    CHECK_NEAR(factor, rows[q].quoted, 2e-6 + 2e-3 * (1 - rows[q].quoted));
    world_destroy(&w);
  }
}

TEST(theory_adaptive_steps_of_an_oscillator) {
  static const struct {
    const char *name;
    double tolerance;
    int parts;
    double error;
  } rows[] = {
      {"'verlet'", 1e-3, 38, 4.0e-3},
      {"'verlet'", 1e-5, 140, 7.7e-4},
      {"'rk4'", 1e-3, 10, 1.7e-3},
      {"'rk4'", 1e-5, 20, 1.1e-4},
      {"'backward_euler'", 1e-3, 147, 1.8e-2},
      {"'backward_euler'", 1e-5, 1192, 2.2e-3},
      {"'bdf2'", 1e-3, 40, 3.1e-2},
      {"'bdf2'", 1e-5, 153, 2.2e-3},
  };
  for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
    World w = oscillator(rows[r].name, 0.8, rows[r].tolerance);
    int parts = 0;
    if (!w.sim) return;
    hk_state_x(w.state)[3] = REST + 1;
    for (int q = 0; q < 10; q++) {
      world_steps(&w, 1);
      parts += hk_sim_step_info(w.sim).substeps;
    }
    double error = fabs(hk_state_x(w.state)[3] - REST - cos(8));
    printf("  %s, tolerance %g m: %d parts, error %.2g m\n", rows[r].name, rows[r].tolerance, parts,
           error);
    CHECK_QUOTED(parts, rows[r].parts);
    CHECK_NEAR(error, rows[r].error, 0.05 * rows[r].error);
    world_destroy(&w);
  }
}

/* ---- Section 5: forces without a potential ---- */

/* |a - b| over n vertices, in m. */
static double distance(int64_t n, const double *a, const double *b) {
  double sum = 0;
  for (int64_t q = 0; q < 3 * n; q++) sum += (a[q] - b[q]) * (a[q] - b[q]);
  return sqrt(sum);
}

/* Where a sheet in oblique wind is after half a second, in steps; its springs are soft and damped
 * by the air alone. x: 27 numbers. */
static void blow(const char *integrator, int steps, double x[27]) {
  char text[1024];
  snprintf(
      text, sizeof text,
      "{'integrator': %s, 'time': {'step': %.17g}, 'bodies': [{'shape': {'type': 'grid', 'nx': "
      "3, 'ny': 3}, 'springs': {'k': 20, 'shear': true}, 'mass': {'total': 0.5}}], 'pins': "
      "[{'select': 'top_left'}, {'select': 'top_right'}], 'forces': ['gravity', {'type': "
      "'face_wind', 'velocity': [2, 1, 4]}], 'outputs': []}",
      integrator, 0.5 / steps);
  World w = world_parse(text);
  if (!w.sim) return;
  world_steps(&w, steps);
  memcpy(x, hk_state_x(w.state), 27 * sizeof *x);
  world_destroy(&w);
}

static double order_in_wind(const char *integrator) {
  enum { STEPS = 400 };
  double x[3][27] = {{0}};
  for (int q = 0; q < 3; q++) blow(integrator, STEPS << q, x[q]);
  return log2(distance(9, x[0], x[1]) / distance(9, x[1], x[2]));
}

/* -df/dv of wind on faces is not symmetric: one pass is of first order, two are of second. */
TEST(theory_order_with_wind_on_faces) {
  static const char *const names[] = {"implicit_midpoint", "trapezoidal", "bdf2"};
  for (int q = 0; q < 3; q++) {
    char one[128];
    char two[64];
    snprintf(one, sizeof one,
             "{'type': '%s', 'passes': 1, 'minimizer': {'type': 'newton', 'tolerance': 1e-12}}",
             names[q]);
    snprintf(two, sizeof two, "'%s'", names[q]);
    double first = order_in_wind(one), second = order_in_wind(two);
    printf("  %s: order %.2f with one pass, %.2f by default\n", names[q], first, second);
    CHECK_NEAR(first, 1, 0.15);
    CHECK_NEAR(second, 2, 0.15);
  }
}

/* ---- Section 6: the starting guess ---- */

typedef struct Guess {
  double *x; /* m, 3 n */
  int64_t n;
} Guess;

static bool keep_guess(void *user, const HkIteration *it) {
  Guess *g = user;
  if (it->iteration == 0) memcpy(g->x, it->x, (size_t)g->n * 3 * sizeof *g->x);
  return true;
}

/* Means over 30 steps of |guess - x+| and |x + h v - x+|, in parts of |x - x+|; all masses are the
 * same. */
TEST(theory_starting_guess_on_falling_cloth) {
  LONG_TEST;
  enum { SIDE = 81, STEPS = 30, N = SIDE * SIDE };
  const double h = 1.0 / 60;
  World w = world_make(
      "{'bodies': [{'shape': {'type': 'grid', 'nx': 81, 'ny': 81, 'plane': 'xz'}, 'springs': {'k': "
      "1e4, 'shear': true, 'bending': true, 'k_bending': 100}, 'mass': {'total': 1}}], 'pins': "
      "[{'select': 'top_left'}, {'select': 'top_right'}], 'forces': ['gravity'], 'outputs': []}",
      "backward_euler", h, 0);
  static double guess[3 * N], before[3 * N], ahead[3 * N];
  Guess g = {guess, N};
  double sum_guess = 0, sum_ahead = 0;
  if (!w.sim) return;
  MUST(hk_sim_set_trace(w.sim, keep_guess, &g, error));
  for (int q = 0; q < STEPS; q++) {
    const double *x = hk_state_x(w.state), *v = hk_state_v(w.state);
    memcpy(before, x, sizeof before);
    for (int c = 0; c < 3 * N; c++) ahead[c] = x[c] + h * v[c];
    world_steps(&w, 1);
    double way = distance(N, before, hk_state_x(w.state));
    sum_guess += distance(N, guess, hk_state_x(w.state)) / way;
    sum_ahead += distance(N, ahead, hk_state_x(w.state)) / way;
  }
  printf("  guess %.3f, x + h v %.3f of the motion of a step\n", sum_guess / STEPS,
         sum_ahead / STEPS);
  CHECK_NEAR(sum_guess / STEPS, 0.10, 0.01);
  CHECK_NEAR(sum_ahead / STEPS, 0.16, 0.01);
  world_destroy(&w);
}

/* ---- Section 7: minimizers on one step of the curtain ---- */

enum { LOOKS = 30 };

static bool keep_change(void *user, const HkIteration *it) {
  double *change = user;
  if (it->iteration <= LOOKS) change[it->iteration] = it->change;
  return true;
}

/* g(x_i) - g(x_0) for i up to LOOKS, the last one again after the end; returns the last. */
static double solve(const World *w, const char *minimizer, const char *acceleration, int iterations,
                    double change[LOOKS + 1]) {
  HkMethod step = {0};
  HkSim *sim = NULL;
  HkState *state = NULL;
  HkError error = {0};
  HkMethod *m = NULL;
  HkStatus status = hk_method_choose(&step, HK_STEP, "backward_euler", &error);
  if (status >= 0) m = hk_method_set_method(&step, "minimizer", minimizer, &error);
  if (m) status = hk_method_set_number(m, "iterations", iterations, &error);
  if (status >= 0) status = hk_method_set_number(m, "tolerance", 1e-12, &error);
  if (status >= 0 && acceleration)
    status = hk_method_set_text(m, "acceleration", acceleration, &error);
  if (status >= 0 && strcmp(minimizer, "newton") == 0)
    CHECK(hk_method_set_method(m, "linear", "ldlt", &error));
  if (status >= 0) status = hk_sim_create(w->model, &step, 1.0 / 30, &sim, &error);
  if (status >= 0) status = hk_state_create(w->model, &state, &error);
  if (status >= 0) status = hk_state_copy(w->state, state, &error);
  if (status >= 0) status = hk_sim_set_trace(sim, keep_change, change, &error);
  for (int q = 0; q <= LOOKS; q++) change[q] = NAN;
  if (status >= 0) status = hk_sim_step(sim, state, &error);
  if (status < 0) test_fail(minimizer, 0, "%s", error.text);
  for (int q = 1; q <= LOOKS; q++)
    if (isnan(change[q])) change[q] = change[q - 1];
  hk_state_destroy(&state);
  hk_sim_destroy(&sim);
  hk_method_clear(&step);
  return change[LOOKS];
}

TEST(theory_minimizers_on_one_step_of_the_curtain) {
  LONG_TEST;
  const double EXACT = 1e-6; /* quoted as an upper bound */
  static const struct {
    const char *minimizer, *acceleration;
    double quoted[3]; /* after 1, 10, 30 iterations */
  } rows[] = {
      {"newton", NULL, {0.009, 1e-6, 1e-6}},
      {"local_global", "none", {0.14, 0.023, 0.015}},
      {"local_global", "chebyshev", {0.14, 0.022, 0.0072}},
      {"local_global", "anderson", {0.14, 0.011, 0.0015}},
      {"lbfgs", NULL, {0.14, 0.013, 0.0015}},
      {"vertex_block_descent", NULL, {0.79, 0.47, 0.22}},
      {"jacobi", NULL, {0.84, 0.55, 0.15}},
      {"gradient_descent", NULL, {0.92, 0.79, 0.71}},
  };
  World w = world_builtin("curtain", "integrator=\"backward_euler\"", 0);
  if (!w.sim) return;
  world_steps(&w, 10);
  double change[LOOKS + 1], lowest = solve(&w, "newton", NULL, 100, change);
  for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
    solve(&w, rows[r].minimizer, rows[r].acceleration, LOOKS, change);
    printf("  %-22s %-10s", rows[r].minimizer, rows[r].acceleration ? rows[r].acceleration : "");
    for (int q = 0; q < 3; q++) {
      static const int at[] = {1, 10, 30};
      const double RANGE = 1.5; /* rounding leads to another of several minima nearby */
      double left = 1 - change[at[q]] / lowest, quoted = rows[r].quoted[q];
      printf(" %.2g", left);
      CHECK(left < RANGE * quoted);
      CHECK(left > quoted / RANGE || quoted <= EXACT);
    }
    printf("\n");
  }
  world_destroy(&w);
}

/* ---- Section 8: fill and iterations ---- */

TEST(theory_fill_of_a_sheet) {
  enum { SIDE = 321 };
  Matrix a = matrix_grid(SIDE, 1);
  HkSparse sparse = {a.n, a.start, a.row};
  int64_t band = 0;
  for (int64_t q = 0; q < a.n; q++) { /* rows of column q of L without an ordering */
    int64_t last = q + 2 * SIDE;
    band += (last < a.n ? last + 1 : a.n) - q;
  }
  FOR_ALL_KINDS {
    HkFactor *factor = NULL;
    MUST(hk_factor_create(NULL, kind, HK_FACTOR_SOLVES, &sparse, &factor, error));
    int64_t entries = hk_factor_entries(factor);
    printf("  %lld entries of A, %lld of L, %lld in the band\n", (long long)a.start[a.n],
           (long long)entries, (long long)band);
    CHECK_NEAR((double)entries, 12.5e6, 0.7e6);
    hk_factor_destroy(&factor);
  }
  CHECK(a.start[a.n] == 718079);
  CHECK_QUOTED((double)band, 66e6);
  matrix_destroy(&a);
}

/* Iterations of the first step of linear_implicit_euler, or -1 where they were not enough. */
static int iterations_of(const char *linear, double k) {
  char integrator[256];
  HkError error = {0};
  snprintf(integrator, sizeof integrator, "{'type': 'linear_implicit_euler', 'linear': %s}",
           linear);
  World w = cloth(k, integrator);
  if (!w.sim) return 0;
  HkStatus status = hk_sim_step(w.sim, w.state, &error);
  int iterations = hk_sim_step_info(w.sim).linear_iterations;
  world_destroy(&w);
  return status == HK_OK ? iterations : -1;
}

TEST(theory_iterations_of_linear_solvers) {
  LONG_TEST;
  static const struct {
    const char *linear;
    int quoted[3]; /* at k = 10, 1000, 100,000 N/m; -1: over 10,000 */
  } rows[] = {
      {"'jacobi'", {2096, -1, -1}},
      {"'gauss_seidel'", {700, -1, -1}},
      {"'cg'", {97, 216, 221}},
      {"{'type': 'pcg', 'preconditioner': 'jacobi'}", {99, 212, 216}},
      {"{'type': 'pcg', 'preconditioner': 'block_jacobi'}", {99, 212, 216}},
      {"{'type': 'pcg', 'preconditioner': 'ssor'}", {39, 126, 134}},
      {"{'type': 'pcg', 'preconditioner': 'ic0'}", {27, 73, 78}},
      {"{'type': 'pcg', 'preconditioner': 'prefactored'}", {20, 30, 31}},
      {"{'type': 'pcg', 'preconditioner': 'multigrid'}", {10, 13, 14}},
  };
  for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
    static const double k[] = {10, 1000, 100000};
    printf("  %-50s", rows[r].linear);
    for (int q = 0; q < 3; q++) {
      int iterations = iterations_of(rows[r].linear, k[q]), quoted = rows[r].quoted[q];
      printf(" %d", iterations);
      CHECK(abs(iterations - quoted) <= 1 + abs(quoted) / 10);
      CHECK((iterations < 0) == (quoted < 0));
    }
    printf("\n");
  }
}

/* ---- Section 10: gradients ---- */

/* A tape of an oscillator with memory for so many states. Returns the number of steps that are made
 * again on the way back, as a part of all. */
static double repeated_part(int64_t steps, int64_t states) {
  World w = oscillator("'verlet'", 0.1, 0);
  HkTapeSettings settings = hk_tape_settings_default();
  HkTape *tape = NULL;
  HkDerivatives *d = NULL;
  HkError error = {0};
  double part = NAN;
  if (!w.sim) return part;
  settings.bytes = (size_t)states * (hk_state_bytes(w.state) + 32);
  if (hk_derivatives_create(w.model, &d, &error) >= 0 &&
      hk_tape_create(w.sim, w.state, &settings, &tape, &error) >= 0 &&
      hk_tape_steps(tape, steps, &error) >= 0 &&
      hk_tape_backward(tape, NULL, NULL, d, NULL, &error) >= 0)
    part = (double)hk_tape_repeated(tape) / (double)steps;
  else
    test_fail(__FILE__, __LINE__, "%s", error.text);
  hk_tape_destroy(&tape);
  hk_derivatives_destroy(&d);
  world_destroy(&w);
  return part;
}

TEST(theory_steps_made_again_by_memory) {
  static const struct {
    int64_t states;
    double quoted[2]; /* of 1000 and 10,000 steps */
  } rows[] = {{4, {9.36, 24.03}},  {10, {3.34, 6.28}},  {30, {1.8, 2.72}},
              {100, {0.97, 1.75}}, {300, {0.88, 0.99}}, {1000, {0.5, 0.97}}};
  static const int64_t steps[] = {1000, 10000};
  for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
    printf("  %5lld states:", (long long)rows[r].states);
    for (int q = 0; q < 2; q++) {
      double part = repeated_part(steps[q], rows[r].states);
      printf(" %6.2f", part);
      CHECK_QUOTED(part, rows[r].quoted[q]);
    }
    printf("\n");
  }
}

enum { GRADIENT_STEPS = 10 };

/* L = 1/2 sum |x - x0|^2 after GRADIENT_STEPS. */
static void add_distance(void *user, int64_t step, const HkState *state, double *dx, double *dv) {
  const double *x = hk_state_positions(state), *x0 = user;
  (void)dv;
  if (step != GRADIENT_STEPS) return;
  for (int64_t c = 0; c < 3 * hk_state_vertex_count(state); c++) dx[c] += x[c] - x0[c];
}

/* What a tape finds of the falling cloth. */
typedef struct Fall {
  double loss, estimate; /* m^2 */
  double relative;
  double by_k[3 * 41 * 41 * 4]; /* gradient by the stiffness of each spring */
  int64_t springs;
} Fall;

/* Steps get so many iterations of local/global; 0: Newton's method to rounding. */
static void look_at_fall(int iterations, Fall *f) {
  char text[200];
  snprintf(text, sizeof text,
           "{'type': 'backward_euler', 'minimizer': {'type': '%s', 'iterations': %d, 'tolerance': "
           "1e-12}}",
           iterations ? "local_global" : "newton", iterations ? iterations : 1000);
  World w = cloth(1000, text);
  HkTape *tape = NULL;
  HkDerivatives *d = NULL;
  HkAdjointInfo info = {0};
  if (!w.sim) return;
  double *x0 = w.model->x0;
  MUST(hk_derivatives_create(w.model, &d, error));
  MUST(hk_tape_create(w.sim, w.state, NULL, &tape, error));
  MUST(hk_tape_steps(tape, GRADIENT_STEPS, error));
  MUST(hk_tape_backward(tape, add_distance, x0, d, &info, error));
  f->loss = 0;
  for (int64_t c = 0; c < 3 * w.model->n; c++) {
    double moved = hk_state_positions(hk_tape_state(tape))[c] - x0[c];
    f->loss += 0.5 * moved * moved;
  }
  f->estimate = info.loss_error;
  f->relative = info.relative_error;
  f->springs = w.model->springs.count;
  memcpy(f->by_k, hk_derivatives_arrays(d).k, (size_t)f->springs * sizeof *f->by_k);
  hk_tape_destroy(&tape);
  hk_derivatives_destroy(&d);
  world_destroy(&w);
}

TEST(theory_error_of_gradients_of_unsolved_steps) {
  LONG_TEST;
  static const struct {
    int iterations;
    double loss, estimate, relative, gradient;
  } rows[] = {{1, 0.34, 0.31, 1.5, 0.31},
              {3, 0.018, 0.023, 0.16, 0.025},
              {10, 2.2e-5, 2.7e-5, 1.9e-4, 6.5e-5},
              {20, 1.3e-7, 2.3e-7, 1.6e-6, 2.4e-7}};
  static Fall exact, fall;
  look_at_fall(0, &exact);
  CHECK(exact.estimate == 0);
  for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
    double square = 0, off = 0;
    look_at_fall(rows[r].iterations, &fall);
    for (int64_t s = 0; s < exact.springs; s++) {
      square += exact.by_k[s] * exact.by_k[s];
      off += (fall.by_k[s] - exact.by_k[s]) * (fall.by_k[s] - exact.by_k[s]);
    }
    double loss = fabs(fall.loss / exact.loss - 1), estimate = fall.estimate / exact.loss;
    printf("  %2d iterations: L off by %.2g, estimate %.2g; relative error %.2g, gradient off by "
           "%.2g\n",
           rows[r].iterations, loss, estimate, fall.relative, sqrt(off / square));
    CHECK_NEAR(loss, rows[r].loss, 0.1 * rows[r].loss);
    CHECK_NEAR(estimate, rows[r].estimate, 0.1 * rows[r].estimate);
    CHECK_NEAR(fall.relative, rows[r].relative, 0.1 * rows[r].relative);
    CHECK_NEAR(sqrt(off / square), rows[r].gradient, 0.1 * rows[r].gradient);
  }
}

/* x of the first vertex after the last step. */
static void add_first(void *user, int64_t step, const HkState *state, double *dx, double *dv) {
  const int64_t *steps = user;
  (void)state;
  (void)dv;
  if (step == *steps) dx[0] += 1;
}

/* |dL/dx0| of a cloth that swings from one corner for so many seconds. */
static double size_of_gradient(const char *integrator, double seconds) {
  char text[640];
  snprintf(text, sizeof text,
           "{'integrator': {'type': '%s', 'minimizer': {'type': 'newton', 'tolerance': 1e-8}}, "
           "'time': {'step': 0.0166666666666666667}, 'bodies': [{'shape': {'type': 'grid', 'nx': "
           "15, 'ny': 15}, 'springs': {'k': 200, 'shear': true}, 'mass': {'total': 0.3}}], "
           "'pins': [{'select': 'top_left'}], 'forces': ['gravity'], 'outputs': []}",
           integrator);
  World w = world_parse(text);
  HkTape *tape = NULL;
  HkDerivatives *d = NULL;
  HkError error = {0};
  uint64_t seed = 5;
  int64_t steps = (int64_t)(60 * seconds + 0.5);
  double square = 0;
  if (!w.sim) return NAN;
  int64_t count = 3 * hk_state_vertex_count(w.state);
  for (int64_t c = 0; c < count; c++) hk_state_v(w.state)[c] = 0.5 * test_random(&seed);
  if (hk_derivatives_create(w.model, &d, &error) < 0 ||
      hk_tape_create(w.sim, w.state, NULL, &tape, &error) < 0 ||
      hk_tape_steps(tape, steps, &error) < 0 ||
      hk_tape_backward(tape, add_first, &steps, d, NULL, &error) < 0)
    test_fail(integrator, 0, "%s", error.text);
  for (int64_t c = 0; d && c < count; c++)
    square += hk_derivatives_arrays(d).x[c] * hk_derivatives_arrays(d).x[c];
  hk_tape_destroy(&tape);
  hk_derivatives_destroy(&d);
  world_destroy(&w);
  return sqrt(square);
}

/* docs/gradients.md, pitfalls. */
TEST(theory_growth_of_gradients_of_a_swinging_cloth) {
  LONG_TEST;
  static const double seconds[] = {1, 2, 3, 4};
  static const struct {
    const char *name;
    double quoted[4];
  } rows[] = {{"backward_euler", {2.6, 3.8, 36, 22}}, {"bdf2", {8.8, 47, 710, 10900}}};
  for (int r = 0; r < 2; r++) {
    printf("  %-16s", rows[r].name);
    for (int q = 0; q < 4; q++) {
      double size = size_of_gradient(rows[r].name, seconds[q]);
      printf(" %10.3g", size);
      CHECK_NEAR(size, rows[r].quoted[q], 0.1 * rows[r].quoted[q]);
    }
    printf("\n");
  }
}
