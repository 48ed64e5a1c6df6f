/* What tapes and derivatives do where something is out of the ordinary: broken springs, models at
 * rest, live changes, steps that fail, little memory. */
#include "hooke/adjoint.h"
#include "hooke/extend.h"

#include "base/vec.h"
#include "model/state.h"
#include "motion_gradient.h"

static const char cloth[] =
    "{'bodies': [{'shape': {'type': 'grid', 'nx': 5, 'ny': 4}, 'springs': {'k': 40, 'shear': true, "
    "'damping': 0.1}, 'stretch': [1.1, 1.2, 1], 'mass': {'per_vertex': 0.02}}], 'pins': "
    "[{'select': 'top_left'}, {'select': 'top_right'}], 'forces': ['gravity'], 'outputs': []}";

/* Under pressure: a saddle. */
static const char column[] =
    "{'bodies': [{'shape': {'type': 'chain', 'n': 5, 'start': [0, 0, 0], 'end': [0, 0.4, 0]}, "
    "'springs': {'k': 4000}, 'stretch': 0.8, 'mass': {'per_vertex': 0.02}}], 'pins': "
    "[{'select': {'indices': [0]}}, {'select': {'indices': [4]}}], 'forces': [], 'outputs': []}";

static void add_positions(void *user, int64_t step, const HkState *state, double *x, double *v) {
  const int64_t *last = user;
  (void)v;
  for (int64_t c = 0; c < 3 * hk_state_vertex_count(state) && step == *last; c++)
    x[c] += hk_state_positions(state)[c];
}

/* 1/2 |x|^2 after some steps. */
static double loss_of(const HkState *state) {
  double sum = 0;
  for (int64_t c = 0; c < 3 * hk_state_vertex_count(state); c++)
    sum += 0.5 * hk_state_positions(state)[c] * hk_state_positions(state)[c];
  return sum;
}

/* ---- Springs ---- */

/* The loss with all k and all dampings multiplied by 1 + step, where the first spring is broken. */
static double broken_loss(const char *integrator, int64_t steps, double step) {
  World w = gradient_world(&(GradientCase){.text = cloth}, integrator);
  uint8_t broken[200] = {1, 0, 1};
  double k[200], damping[200], loss = NAN;
  HkError error = {0};
  if (!w.state) return loss;
  HkSpringView s = hk_model_springs(w.model);
  for (int64_t e = 0; e < s.count; e++) {
    k[e] = s.k[e] * (1 + step);
    damping[e] = s.damping[e] * (1 + step);
  }
  if (hk_state_set_springs(w.state, w.model, k, NULL, damping, broken, &error) >= 0 &&
      hk_sim_steps(w.sim, w.state, steps, &error) >= 0)
    loss = loss_of(w.state);
  world_destroy(&w);
  return loss;
}

static void check_broken(const char *integrator) {
  int64_t steps = 10;
  World w = gradient_world(&(GradientCase){.text = cloth}, integrator);
  uint8_t broken[200] = {1, 0, 1};
  HkDerivatives *d = NULL;
  HkTape *tape = NULL;
  if (!w.state) return;
  MUST(hk_state_set_springs(w.state, w.model, NULL, NULL, NULL, broken, error));
  MUST(hk_derivatives_create(w.model, &d, error));
  MUST(hk_tape_create(w.sim, w.state, NULL, &tape, error));
  MUST(hk_tape_steps(tape, steps, error));
  MUST(hk_tape_backward(tape, add_positions, &steps, d, NULL, error));
  HkDerivativeArrays a = hk_derivatives_arrays(d);
  HkSpringView s = hk_model_springs(w.model);
  double along = 0,
         exact =
             (broken_loss(integrator, steps, 1e-5) - broken_loss(integrator, steps, -1e-5)) / 2e-5;
  for (int64_t e = 0; e < s.count; e++) along += a.k[e] * s.k[e] + a.damping[e] * s.damping[e];
  CHECK(a.k[0] == 0 && a.k[2] == 0 && a.damping[0] == 0 && a.l0[0] == 0);
  CHECK_NEAR(along, exact, 1e-6 * fabs(exact));
  /* Directions of broken springs change nothing, and are still there. */
  double x = 0, kept = 3;
  hk_derivatives_zero(d);
  a.k[0] = a.damping[0] = kept;
  MUST(hk_tape_tangent(tape, NULL, NULL, d, NULL, error));
  for (int64_t c = 0; c < 3 * hk_state_vertex_count(w.state); c++) x += fabs(a.x[c]);
  CHECK(x == 0 && a.k[0] == kept && a.damping[0] == kept);
  hk_tape_destroy(&tape);
  hk_derivatives_destroy(&d);
  world_destroy(&w);
}

TEST(broken_springs_have_no_derivatives) {
  check_broken("backward_euler");
  check_broken("bdf2");
  check_broken("verlet");
}

/* A tape adds up what springs without damping contribute over all steps; single steps give it one
 * by one. */
static void check_steps_and_tape(const char *integrator) {
  enum { STEPS = 4, SPRINGS_MAX = 400 };
  static const char undamped[] =
      "{'bodies': [{'shape': {'type': 'grid', 'nx': 9, 'ny': 5}, 'springs': {'k': 40, 'shear': "
      "true}, 'stretch': [1.1, 1.2, 1], 'mass': {'per_vertex': 0.02}}], 'pins': [{'select': "
      "'top_left'}], 'forces': ['gravity'], 'outputs': []}";
  int64_t steps = STEPS;
  uint8_t broken[SPRINGS_MAX] = {1, 0, 1};
  World w = world_make(undamped, integrator, 0.01, 1);
  HkDerivatives *d[2] = {NULL};
  HkState *states[STEPS + 1] = {NULL};
  HkAdjoint *adjoint = NULL;
  HkTape *tape = NULL;
  if (!w.state) return;
  MUST(hk_state_set_springs(w.state, w.model, NULL, NULL, NULL, broken, error));
  for (int k = 0; k < 2; k++) MUST(hk_derivatives_create(w.model, &d[k], error));
  MUST(hk_tape_create(w.sim, w.state, NULL, &tape, error));
  MUST(hk_tape_steps(tape, steps, error));
  MUST(hk_tape_backward(tape, add_positions, &steps, d[0], NULL, error));
  HkDerivativeArrays one = hk_derivatives_arrays(d[0]), all = hk_derivatives_arrays(d[1]);
  for (int k = 0; k <= STEPS; k++) {
    if (k > 0) MUST(hk_sim_steps(w.sim, w.state, 1, error));
    MUST(hk_state_create(w.model, &states[k], error));
    MUST(hk_state_copy(w.state, states[k], error));
  }
  MUST(hk_adjoint_create(w.sim, NULL, &adjoint, error));
  add_positions(&steps, steps, states[STEPS], all.x, all.v);
  for (int k = STEPS; k-- > 0;)
    MUST(hk_adjoint_step(adjoint, states[k], states[k + 1], d[1], error));
  CHECK(all.k[0] == 0 && all.k[2] == 0 && all.l0[0] == 0 && one.k[0] == 0 && one.l0[2] == 0);
  for (int64_t s = 0; s < hk_model_springs(w.model).count; s++) {
    CHECK_NEAR(one.k[s], all.k[s], 1e-12 * fabs(all.k[s]));
    CHECK_NEAR(one.l0[s], all.l0[s], 1e-12 * fabs(all.l0[s]));
    CHECK(broken[s] || all.l0[s] != 0);
  }
  for (int k = 0; k <= STEPS; k++) hk_state_destroy(&states[k]);
  hk_adjoint_destroy(&adjoint);
  hk_tape_destroy(&tape);
  for (int k = 0; k < 2; k++) hk_derivatives_destroy(&d[k]);
  world_destroy(&w);
}

TEST(a_tape_adds_up_what_single_steps_give) {
  check_steps_and_tape("symplectic_euler");
  check_steps_and_tape("verlet");
  check_steps_and_tape("backward_euler");
}

/* ---- The answers of passes ---- */

/* Where nothing moves but for rounding, nothing is uncertain. */
TEST(the_error_of_a_model_at_rest_is_none) {
  static const char undamped[] =
      "{'bodies': [{'shape': {'type': 'grid', 'nx': 5, 'ny': 5}, 'springs': {'k': 50, 'shear': "
      "true}, 'mass': {'total': 0.3}}], 'pins': [{'select': 'top_left'}, {'select': "
      "'top_right'}], 'forces': ['gravity'], 'outputs': []}";
  int64_t steps = 10;
  World w = world_make(undamped, "backward_euler", 0.01, 1);
  HkDerivatives *d = NULL;
  HkTape *tape = NULL;
  HkAdjointInfo info;
  if (!w.state) return;
  size_t bytes = (size_t)hk_state_vertex_count(w.state) * 3 * sizeof(double);
  for (int k = 0; k < 3000; k++) {
    memset(hk_state_v(w.state), 0, bytes);
    MUST(hk_sim_steps(w.sim, w.state, 1, error));
  }
  memset(hk_state_v(w.state), 0, bytes);
  MUST(hk_derivatives_create(w.model, &d, error));
  MUST(hk_tape_create(w.sim, w.state, NULL, &tape, error));
  MUST(hk_tape_steps(tape, steps, error));
  MUST(hk_tape_backward(tape, add_positions, &steps, d, &info, error));
  CHECK(info.relative_error < 1e-6);
  hk_tape_destroy(&tape);
  hk_derivatives_destroy(&d);
  world_destroy(&w);
}

/* A column under pressure, which is a saddle: its systems are solved by iteration. */
TEST(a_step_says_that_its_linear_system_is_not_solved) {
  World w = world_make(column, "backward_euler", 0.01, 1);
  HkState *before = NULL;
  HkDerivatives *d = NULL;
  if (!w.state) return;
  MUST(hk_state_create(w.model, &before, error));
  MUST(hk_sim_steps(w.sim, w.state, 1, error));
  MUST(hk_derivatives_create(w.model, &d, error));
  for (int k = 0; k < 2; k++) {
    HkAdjointSettings settings = {.accuracy = k ? 1e-300 : 0};
    HkAdjoint *adjoint = NULL;
    MUST(hk_adjoint_create(w.sim, &settings, &adjoint, error));
    hk_derivatives_zero(d);
    for (int c = 0; c < 9; c++) hk_derivatives_arrays(d).x[3 + c] = 1 + 0.3 * c * c;
    HkStatus status = hk_adjoint_step(adjoint, before, w.state, d, NULL);
    CHECK(hk_adjoint_info(adjoint).indefinite == 1);
    CHECK(status == (k ? HK_NOT_CONVERGED : HK_OK));
    hk_adjoint_destroy(&adjoint);
  }
  hk_derivatives_destroy(&d);
  hk_state_destroy(&before);
  world_destroy(&w);
}

/* Goes back through the steps of a tape, or through each of them by an adjoint of its own, which
 * knows no solution of another step. */
static HkAdjointInfo swing_back(World *w, HkTape *tape, HkState **states, int64_t steps,
                                HkDerivatives *d) {
  HkAdjointInfo info = {0};
  HkError error = {0};
  HkAdjointSettings settings = {.accuracy = 1e-9};
  if (tape) {
    CHECK(hk_tape_backward(tape, add_positions, &steps, d, &info, &error) == HK_OK);
    return info;
  }
  HkDerivativeArrays a = hk_derivatives_arrays(d);
  add_positions(&steps, steps, states[steps], a.x, a.v);
  for (int64_t k = steps; k-- > 0;) {
    HkAdjoint *adjoint = NULL;
    CHECK(hk_adjoint_create(w->sim, &settings, &adjoint, &error) == HK_OK);
    CHECK(hk_adjoint_step(adjoint, states[k], states[k + 1], d, &error) == HK_OK);
    info.linear_iterations += hk_adjoint_info(adjoint).linear_iterations;
    hk_adjoint_destroy(&adjoint);
  }
  return info;
}

TEST(linear_systems_of_a_smooth_motion_start_from_those_of_later_steps) {
  enum { STEPS = 30 };
  static const char block[] =
      "{'bodies': [{'shape': {'type': 'block', 'nx': 10, 'ny': 10, 'nz': 10, 'neighbours': 26}, "
      "'springs': {'k': 20}, 'mass': {'total': 1}}], 'pins': [{'select': 'left'}], 'forces': "
      "['gravity'], 'outputs': []}";
  World w = world_make(block, "backward_euler", 0.003, 1);
  HkState *states[STEPS + 1] = {NULL};
  HkDerivatives *d[2] = {NULL};
  HkTapeSettings settings = hk_tape_settings_default();
  HkTape *tape = NULL;
  settings.adjoint.accuracy = 1e-9;
  if (!w.state) return;
  for (int k = 0; k < 2; k++) MUST(hk_derivatives_create(w.model, &d[k], error));
  MUST(hk_tape_create(w.sim, w.state, &settings, &tape, error));
  MUST(hk_tape_steps(tape, STEPS, error));
  for (int k = 0; k <= STEPS; k++) {
    if (k > 0) MUST(hk_sim_steps(w.sim, w.state, 1, error));
    MUST(hk_state_create(w.model, &states[k], error));
    MUST(hk_state_copy(w.state, states[k], error));
  }
  HkAdjointInfo together = swing_back(&w, tape, NULL, STEPS, d[0]);
  HkAdjointInfo single = swing_back(&w, NULL, states, STEPS, d[1]);
  const double *x[2] = {hk_derivatives_arrays(d[0]).x, hk_derivatives_arrays(d[1]).x};
  double largest = 0, off = 0;
  for (int64_t c = 0; c < 3 * hk_state_vertex_count(w.state); c++) {
    largest = fmax(largest, fabs(x[1][c]));
    off = fmax(off, fabs(x[0][c] - x[1][c]));
  }
  CHECK(together.residual <= 1e-9 && together.unsolved == 0);
  CHECK(off < 1e-6 * largest);
  CHECK(4 * together.linear_iterations < 3 * single.linear_iterations);
  printf("  %d iterations instead of %d, off by %.1e\n", (int)together.linear_iterations,
         (int)single.linear_iterations, off / largest);
  for (int k = 0; k <= STEPS; k++) hk_state_destroy(&states[k]);
  hk_tape_destroy(&tape);
  for (int k = 0; k < 2; k++) hk_derivatives_destroy(&d[k]);
  world_destroy(&w);
}

/* A direction of bdf2 says nothing of the step before the tape, whatever d was used for. */
TEST(a_tangent_does_not_depend_on_the_pass_before_it) {
  World w = world_make(cloth, "bdf2", 0.01, 1);
  HkDerivatives *d = NULL;
  HkTape *tape = NULL;
  double x[2][60];
  if (!w.state) return;
  size_t bytes = (size_t)hk_state_vertex_count(w.state) * 3 * sizeof(double);
  MUST(hk_sim_steps(w.sim, w.state, 5, error));
  MUST(hk_derivatives_create(w.model, &d, error));
  MUST(hk_tape_create(w.sim, w.state, NULL, &tape, error));
  MUST(hk_tape_steps(tape, 3, error));
  HkDerivativeArrays a = hk_derivatives_arrays(d);
  for (int pass = 0; pass < 2; pass++) {
    memset(a.x, 0, bytes);
    memset(a.v, 0, bytes);
    a.x[30] = 1;
    MUST(hk_tape_tangent(tape, NULL, NULL, d, NULL, error));
    memcpy(x[pass], a.x, bytes);
  }
  CHECK(memcmp(x[0], x[1], bytes) == 0);
  hk_tape_destroy(&tape);
  hk_derivatives_destroy(&d);
  world_destroy(&w);
}

/* ---- Live changes ---- */

static HkStatus add_force(World *w, const char *name, HkError *error) {
  HkMethod method = {0};
  HkStatus status = hk_method_choose(&method, HK_FORCE, name, error);
  if (status >= 0) status = hk_model_add_force(w->model, &method, NULL, error);
  hk_method_clear(&method);
  return status;
}

/* A force across faces makes the simulation renew its problem in the next step. */
TEST(a_tape_follows_a_force_that_came_before_it) {
  int64_t steps = 3;
  World w = world_make(cloth, "backward_euler", 0.01, 1);
  HkDerivatives *d = NULL;
  HkTape *tape = NULL;
  if (!w.state) return;
  MUST(add_force(&w, "face_wind", error));
  MUST(hk_tape_create(w.sim, w.state, NULL, &tape, error));
  MUST(hk_tape_steps(tape, steps, error));
  MUST(hk_derivatives_create(w.model, &d, error));
  MUST(hk_tape_backward(tape, add_positions, &steps, d, NULL, error));
  HkTape *other = NULL;
  HkDerivatives *same = NULL;
  HkSim *sim = NULL;
  MUST(hk_sim_create(w.model, hk_sim_method(w.sim), 0.01, &sim, error));
  MUST(hk_derivatives_create(w.model, &same, error));
  MUST(hk_tape_create(sim, w.state, NULL, &other, error));
  MUST(hk_tape_steps(other, steps, error));
  MUST(hk_tape_backward(other, add_positions, &steps, same, NULL, error));
  CHECK(memcmp(hk_derivatives_arrays(d).x, hk_derivatives_arrays(same).x,
               3 * sizeof(double) * (size_t)hk_state_vertex_count(w.state)) == 0);
  hk_tape_destroy(&other);
  hk_derivatives_destroy(&same);
  hk_sim_destroy(&sim);
  hk_tape_destroy(&tape);
  hk_derivatives_destroy(&d);
  world_destroy(&w);
}

TEST(derivatives_and_adjoints_of_before_a_live_change_are_refused) {
  int64_t steps = 3;
  World w = world_make(cloth, "backward_euler", 0.01, 1);
  HkDerivatives *d = NULL;
  HkAdjoint *adjoint = NULL;
  HkState *before = NULL;
  HkTape *tape = NULL;
  if (!w.state) return;
  MUST(hk_state_create(w.model, &before, error));
  MUST(hk_derivatives_create(w.model, &d, error));
  MUST(hk_adjoint_create(w.sim, NULL, &adjoint, error));
  MUST(add_force(&w, "face_wind", error));
  MUST(hk_tape_create(w.sim, w.state, NULL, &tape, error));
  MUST(hk_tape_steps(tape, steps, error));
  FAILS(hk_tape_backward(tape, add_positions, &steps, d, NULL, error), HK_ERROR_INVALID, "forces");
  FAILS(hk_tape_tangent(tape, NULL, NULL, d, NULL, error), HK_ERROR_INVALID, "forces");
  hk_derivatives_destroy(&d);
  MUST(hk_derivatives_create(w.model, &d, error));
  FAILS(hk_adjoint_step(adjoint, before, hk_tape_state(tape), d, error), HK_ERROR_INVALID,
        "changed");
  hk_adjoint_destroy(&adjoint);
  hk_tape_destroy(&tape);
  hk_derivatives_destroy(&d);
  hk_state_destroy(&before);
  world_destroy(&w);
}

/* ---- Forces of the caller ---- */

static double no_energy(void *user, const HkForceAt *at) {
  (void)user;
  (void)at;
  return 0;
}

static void no_force(void *user, const HkForceAt *at, double *f) {
  (void)user;
  (void)at;
  (void)f;
}

static void no_hessian(void *user, const HkForceAt *at, HkForceBlockSink *sink) {
  (void)user;
  (void)at;
  (void)sink;
}

static HkStatus look_around(void *user, const HkForceAt *at, HkError *error) {
  (void)user;
  (void)at;
  (void)error;
  return HK_OK;
}

/* E = 1/4 C |xi - xj|^4 between neighbors in the order of the vertices, pins among them. */
static const double QUARTIC = 100; /* N/m^3 */

static double quartic_energy(void *user, const HkForceAt *at) {
  double sum = 0, d[3];
  (void)user;
  for (int64_t i = 0; i + 1 < at->vertices; i++) {
    hk_sub(at->x + 3 * i, at->x + 3 * i + 3, d);
    sum += 0.25 * QUARTIC * hk_dot(d, d) * hk_dot(d, d);
  }
  return sum;
}

static void add_quartic(void *user, const HkForceAt *at, double *f) {
  double d[3];
  (void)user;
  for (int64_t i = 0; i + 1 < at->vertices; i++) {
    hk_sub(at->x + 3 * i, at->x + 3 * i + 3, d);
    double pull = QUARTIC * hk_dot(d, d);
    hk_axpy(-pull, d, f + 3 * i);
    hk_axpy(pull, d, f + 3 * i + 3);
  }
}

static void quartic_hessian(void *user, const HkForceAt *at, HkForceBlockSink *sink) {
  (void)user;
  for (int32_t i = 0; i + 1 < at->vertices; i++) {
    double d[3], H[9], negative[9] = {0};
    hk_sub(at->x + 3 * (int64_t)i, at->x + 3 * (int64_t)i + 3, d);
    hk_mat_identity(QUARTIC * hk_dot(d, d), H);
    hk_mat_add_outer(2 * QUARTIC, d, d, H);
    for (int q = 0; q < 9; q++) negative[q] = -H[q];
    hk_force_add_block(sink, i, i, H);
    hk_force_add_block(sink, i + 1, i + 1, H);
    hk_force_add_block(sink, i, i + 1, negative);
    hk_force_add_block(sink, i + 1, i, negative);
  }
}

static World quartic_world(const char *integrator) {
  static const char thread[] =
      "{'bodies': [{'shape': {'type': 'chain', 'n': 6, 'start': [0, 1, 0], 'end': [1, 1, 0.2]}, "
      "'springs': {'k': 30, 'damping': 0.4}, 'stretch': 1.2, 'mass': {'per_vertex': 0.1}}], "
      "'pins': [{'select': {'indices': [0]}}, {'select': {'indices': [5]}, 'motion': {'type': "
      "'oscillation', 'amplitude': [0.1, 0, 0], 'frequency': 3}}], 'forces': ['gravity'], "
      "'outputs': []}";
  World w = gradient_world(&(GradientCase){.text = thread}, integrator);
  HkForceFunctions f = hk_force_functions_default();
  HkError error = {0};
  if (!w.state) return w;
  f.name = "quartic";
  f.energy = quartic_energy;
  f.add = add_quartic;
  f.hessian = quartic_hessian;
  if (hk_model_add_custom_force(w.model, &f, NULL, NULL, &error) < 0)
    test_fail(f.name, 0, "%s", error.text);
  return w;
}

/* The loss of a motion from positions that are moved along random numbers. */
static double quartic_loss(const char *integrator, int64_t steps, double step) {
  World w = quartic_world(integrator);
  HkError error = {0};
  double loss = NAN;
  if (!w.state) return loss;
  for (int64_t c = 0; c < 3 * hk_state_vertex_count(w.state); c++)
    hk_state_x(w.state)[c] += step * gradient_weight(c, 10);
  if (hk_sim_steps(w.sim, w.state, steps, &error) >= 0) loss = loss_of(w.state);
  world_destroy(&w);
  return loss;
}

TEST(gradients_with_a_force_of_the_caller_are_those_of_central_differences) {
  static const char *const integrators[] = {"backward_euler",    "bdf2",   "trapezoidal",
                                            "implicit_midpoint", "verlet", "rk4"};
  const double step = 1e-5;
  for (int k = 0; k < 6; k++) {
    int64_t steps = 10;
    World w = quartic_world(integrators[k]);
    HkDerivatives *d = NULL;
    HkTape *tape = NULL;
    if (!w.state) return;
    MUST(hk_derivatives_create(w.model, &d, error));
    MUST(hk_tape_create(w.sim, w.state, NULL, &tape, error));
    MUST(hk_tape_steps(tape, steps, error));
    MUST(hk_tape_backward(tape, add_positions, &steps, d, NULL, error));
    double found = 0, exact = (quartic_loss(integrators[k], steps, step) -
                               quartic_loss(integrators[k], steps, -step)) /
                              (2 * step);
    for (int64_t c = 0; c < 3 * hk_state_vertex_count(w.state); c++)
      found += gradient_weight(c, 10) * hk_derivatives_arrays(d).x[c];
    if (!(fabs(found - exact) <= 1e-6 * fabs(exact)))
      test_fail(integrators[k], 0, "%.12g, differences give %.12g", found, exact);
    hk_tape_destroy(&tape);
    hk_derivatives_destroy(&d);
    world_destroy(&w);
  }
}

/* Their matrix depends on the positions through the third derivatives of the energy, which such a
 * force does not give. */
TEST(forces_of_the_caller_are_refused_in_steps_of_one_linear_system) {
  static const char *const integrators[] = {"linear_implicit_euler", "beta"};
  for (int k = 0; k < 2; k++) {
    World w = quartic_world(integrators[k]);
    HkTape *tape = NULL;
    if (!w.state) return;
    FAILS(hk_tape_create(w.sim, w.state, NULL, &tape, error), HK_ERROR_UNSUPPORTED, "'quartic'");
    CHECK(!tape);
    hk_tape_destroy(&tape);
    world_destroy(&w);
  }
}

/* What such a force has found at an iterate is not known on the way back. */
TEST(forces_of_the_caller_with_hooks_are_refused) {
  for (int hook = 0; hook < 2; hook++) {
    World w = world_make(cloth, "backward_euler", 0.01, 1);
    HkForceFunctions f = hk_force_functions_default();
    HkTape *tape = NULL;
    if (!w.state) return;
    f.name = "lookout";
    f.energy = no_energy;
    f.add = no_force;
    f.hessian = no_hessian;
    if (hook) f.begin_iterate = look_around;
    MUST(hk_model_add_custom_force(w.model, &f, NULL, NULL, error));
    if (hook)
      FAILS(hk_tape_create(w.sim, w.state, NULL, &tape, error), HK_ERROR_UNSUPPORTED, "lookout");
    else
      MUST(hk_tape_create(w.sim, w.state, NULL, &tape, error));
    hk_tape_destroy(&tape);
    world_destroy(&w);
  }
}

/* ---- Steps that fail ---- */

/* The state of the tape is that of its last good step, and the tape goes back from there. */
TEST(a_tape_outlives_a_blow_up) {
  World w = world_make(cloth, "symplectic_euler", 0.2, 1),
        whole = world_make(cloth, "symplectic_euler", 0.2, 1);
  HkDerivatives *d = NULL;
  HkTape *tape = NULL;
  if (!w.state || !whole.state) return;
  MUST(hk_derivatives_create(w.model, &d, error));
  MUST(hk_tape_create(w.sim, w.state, NULL, &tape, error));
  CHECK(hk_tape_steps(tape, 1000, NULL) == HK_ERROR_BLOWUP);
  int64_t count = hk_tape_count(tape);
  CHECK(count > 0 && count < 1000);
  CHECK_NEAR(hk_state_time(hk_tape_state(tape)), 0.2 * (double)count, 1e-9);
  MUST(hk_sim_steps(whole.sim, whole.state, count, error));
  CHECK(memcmp(hk_state_positions(whole.state), hk_state_positions(hk_tape_state(tape)),
               3 * sizeof(double) * (size_t)hk_state_vertex_count(whole.state)) == 0);
  MUST(hk_tape_backward(tape, add_positions, &count, d, NULL, error));
  hk_tape_destroy(&tape);
  hk_derivatives_destroy(&d);
  world_destroy(&w);
  world_destroy(&whole);
}

/* ---- Memory ---- */

enum { LONG = 150, SLOTS = 12 };

/* Steps that are made again on the way back through `length` steps with a state at their start and
 * `free` slots: those of the best schedule. */
static int64_t fewest_repeats(int64_t length, int64_t free) {
  static int64_t known[LONG + 1][SLOTS];
  int64_t best = INT64_MAX;
  if (length <= 1) return 0;
  if (free == 0) return length * (length - 1) / 2;
  if (known[length][free]) return known[length][free];
  for (int64_t part = 1; part < length; part++) {
    int64_t repeats = part + fewest_repeats(length - part, free - 1) + fewest_repeats(part, free);
    if (repeats < best) best = repeats;
  }
  return known[length][free] = best;
}

/* The same for a tape, which has kept every stride-th state in the first half of its slots. */
static int64_t repeats_of(int64_t steps, int64_t slots) {
  int64_t stride = 1, sum = 0;
  while (steps / stride + 1 > (stride == 1 ? slots : slots / 2 + (steps % stride == 0)))
    stride *= 2;
  int64_t used = steps / stride + 1;
  for (int64_t at = 0; at < steps; at += stride)
    sum += fewest_repeats(at + stride < steps ? stride : steps - at, slots - used);
  return sum;
}

/* A tape of LONG steps with memory for so many states. */
static void check_memory(int64_t slots) {
  int64_t steps = LONG;
  World w = world_make(cloth, "verlet", 0.001, 1);
  HkTapeSettings settings = hk_tape_settings_default();
  HkDerivatives *d = NULL;
  HkTape *tape = NULL;
  if (!w.state) return;
  size_t state = hk_state_bytes(w.state);
  settings.bytes = (size_t)slots * (state + 64);
  MUST(hk_derivatives_create(w.model, &d, error));
  MUST(hk_tape_create(w.sim, w.state, &settings, &tape, error));
  MUST(hk_tape_steps(tape, steps, error));
  MUST(hk_tape_backward(tape, add_positions, &steps, d, NULL, error));
  CHECK(hk_tape_repeated(tape) <= repeats_of(steps, slots));
  CHECK(hk_tape_bytes(tape) <= settings.bytes + 4 * state + 1024);
  hk_tape_destroy(&tape);
  hk_derivatives_destroy(&d);
  world_destroy(&w);
}

TEST(no_step_is_made_again_in_vain) {
  for (int64_t slots = 4; slots <= SLOTS; slots++) check_memory(slots);
}

/* Memory that is not needed is not taken. */
TEST(a_short_tape_of_a_small_model_is_small) {
  World w = world_make(cloth, "verlet", 0.001, 1);
  HkTape *tape = NULL;
  if (!w.state) return;
  MUST(hk_tape_create(w.sim, w.state, NULL, &tape, error));
  MUST(hk_tape_steps(tape, 10, error));
  CHECK(hk_tape_bytes(tape) < 20 * hk_state_bytes(w.state));
  hk_tape_destroy(&tape);
  world_destroy(&w);
}

/* ---- Missing memory ---- */

/* Counts blocks, and refuses all after `left` more. */
typedef struct Scarce {
  int64_t left, blocks;
} Scarce;

static void *scarce_resize(void *user, void *p, size_t bytes) {
  Scarce *s = user;
  if (bytes == 0) {
    if (p) s->blocks--;
    free(p);
    return NULL;
  }
  if (s->left-- <= 0) return NULL;
  if (!p) s->blocks++;
  return realloc(p, bytes);
}

/* Makes a tape with controls and goes back, where memory may run out. */
static HkStatus go_there_and_back(HkModel *model, HkSim *sim, const HkState *start,
                                  HkError *error) {
  enum { STEPS = 30 };
  int64_t steps = STEPS, springs = hk_model_springs(model).count;
  double *k = calloc((size_t)(springs * STEPS), sizeof *k);
  HkControl control = {.kind = HK_CONTROL_K, .values = k};
  HkTapeSettings settings = {
      .bytes = 1, .controls = &control, .control_count = 1, .control_steps = STEPS};
  HkDerivatives *d = NULL;
  HkTape *tape = NULL;
  for (int64_t q = 0; q < springs * STEPS; q++)
    k[q] = hk_model_springs(model).k[q % springs] * (1 + 0.01 * (double)(q % 7));
  HkStatus status = hk_derivatives_create(model, &d, error);
  if (status >= 0) status = hk_tape_create(sim, start, &settings, &tape, error);
  if (status >= 0) status = hk_tape_steps(tape, STEPS, error);
  if (status >= 0) status = hk_tape_backward(tape, add_positions, &steps, d, NULL, error);
  hk_tape_destroy(&tape);
  hk_derivatives_destroy(&d);
  free(k);
  return status;
}

static HkStatus run_out_of_memory(const char *text, int64_t left, Scarce *scarce) {
  HkContext context = {.resize = scarce_resize, .memory_user = scarce, .threads = 1};
  HkScene *scene = NULL;
  HkModel *model = NULL;
  HkSim *sim = NULL;
  HkState *state = NULL;
  HkError error = {0};
  HkMethod method = {0};
  const char *json = test_json(text);
  *scarce = (Scarce){.left = INT64_MAX};
  HkStatus status =
      hk_scene_parse(&context, json, strlen(json), "scene", NULL, NULL, 0, &scene, &error);
  if (status >= 0) status = hk_model_compile(scene, &model, &error);
  if (status >= 0) status = hk_state_create(model, &state, &error);
  if (status >= 0) status = hk_method_choose(&method, HK_STEP, "bdf2", &error);
  if (status >= 0) status = hk_sim_create(model, &method, 0.01, &sim, &error);
  hk_method_clear(&method);
  if (status < 0) test_fail(text, 0, "%s", error.text);
  scarce->left = left;
  if (status >= 0) status = go_there_and_back(model, sim, state, &error);
  if (status == HK_ERROR_MEMORY) CHECK(strstr(error.text, "memory"));
  hk_sim_destroy(&sim);
  hk_state_destroy(&state);
  hk_model_destroy(&model);
  hk_scene_destroy(&scene);
  return status;
}

TEST(missing_memory_is_an_error_and_leaves_nothing) {
  static const char *const texts[] = {cloth, column};
  for (int k = 0; k < 2; k++) {
    HkStatus status = HK_ERROR_MEMORY;
    int64_t left = 0;
    Scarce scarce;
    for (; left < 1000 && status < 0; left++) {
      status = run_out_of_memory(texts[k], left, &scarce);
      CHECK(status >= 0 || status == HK_ERROR_MEMORY);
      if (scarce.blocks != 0)
        test_fail("memory", (int)left, "%lld blocks are left", (long long)scarce.blocks);
    }
    CHECK(status >= 0 && left > 50);
  }
}
