/* Gradients of motions against central differences of the motion itself, with every integrator and
 * by every number that a motion depends on; and both directions of differentiation against each
 * other. */
#include "force/force.h"
#include "motion/motion.h"
#include "motion_gradient.h"

#include "hooke/extend.h"

/* ---- Scenes ---- */

/* Springs with and without damping, stretched and compressed, pins that move and are released. */
static const char chain[] =
    "{'bodies': [{'shape': {'type': 'chain', 'n': 6, 'start': [0, 1, 0], 'end': [1, 1, 0.2]}, "
    "'springs': {'k': 30, 'damping': 0.4}, 'stretch': 1.1, 'mass': {'per_vertex': 0.1}}], "
    "'pins': [{'select': {'indices': [0]}, 'motion': {'type': 'oscillation', 'amplitude': [0.05, "
    "0.1, 0.02], 'frequency': 3, 'phase': 20}}, {'select': {'indices': [5]}, 'release': 0.055}], "
    "'forces': ['gravity', {'type': 'handle', 'select': {'indices': [2]}, 'table': [[0, 0.4, 1, "
    "0], "
    "[0.05, 0.5, 1.1, 0.1], [0.2, 0.5, 1.2, 0]], 'k': 12, 'damping': 0.3}, {'type': 'point_load', "
    "'select': {'indices': [3]}, 'force': [0.2, 0.1, 0.3]}], 'outputs': []}";
static const char net[] =
    "{'bodies': [{'shape': {'type': 'grid', 'nx': 4, 'ny': 3}, 'springs': {'k': 40, 'shear': true, "
    "'bending': true}, 'stretch': [0.9, 1.15, 1], 'mass': {'per_vertex': 0.05}}], 'pins': "
    "[{'select': "
    "{'indices': [0]}, 'motion': {'type': 'keyframes', 'table': [[0, 0, 0, 0], [0.04, 0.05, 0.02, "
    "0.03], [0.2, 0.1, 0, 0]]}, 'release': 0.075}, {'select': {'indices': [3]}, 'motion': {'type': "
    "'rotation', 'speed': 200, 'center': [0.5, 0.5, 0.1]}}], 'forces': ['gravity', {'type': "
    "'wind', "
    "'velocity': [1, 0.5, 2], 'gust': 0.3, 'gust_period': 0.2, 'drag': 0.02, 'per_mass': 0.4}, "
    "{'type': "
    "'drag', 'linear': 0.01, 'quadratic': 0.05, 'per_mass': 0.1}, {'type': 'buoyancy', 'level': "
    "0.5, "
    "'thickness': 0.7}], 'outputs': []}";
static const char slack[] =
    "{'bodies': [{'shape': {'type': 'grid', 'nx': 4, 'ny': 4}, 'springs': {'k': 50, 'shear': true, "
    "'tension_only': true}, 'stretch': [1.25, 0.8, 1], 'mass': {'per_vertex': "
    "0.04}}], "
    "'pins': [{'select': 'top_left'}, {'select': 'top_right'}], 'forces': [{'type': 'gravity', "
    "'g': 5, "
    "'direction': [0.2, -1, 0.3]}], 'outputs': []}";
static const char plane[] =
    "{'dimension': 2, 'bodies': [{'shape': {'type': 'grid', 'nx': 4, 'ny': 3}, 'springs': {'k': "
    "40, "
    "'shear': true, 'damping': 0.2}, 'stretch': [1.2, 1.1, 1], 'mass': {'per_vertex': 0.05}}], "
    "'pins': "
    "[{'select': 'top_left', 'motion': {'type': 'oscillation', 'amplitude': [0.1, 0.05, 0]}}], "
    "'forces': ['gravity', {'type': 'drag', 'quadratic': 0.1}], 'outputs': []}";
static const char block[] =
    "{'bodies': [{'shape': {'type': 'block', 'nx': 3, 'ny': 3, 'nz': 3}, 'springs': {'k': 60}, "
    "'stretch': [1.15, 0.9, 1.2], 'mass': {'per_vertex': 0.03}}], 'pins': [{'select': "
    "{'indices': [0, 2, 6, 8]}}], 'forces': ['gravity'], 'outputs': []}";

static const char flag[] =
    "{'bodies': [{'shape': {'type': 'grid', 'nx': 4, 'ny': 3}, 'springs': {'k': 40, 'shear': true, "
    "'damping': 0.05}, 'stretch': [1.1, 1.05, 1], 'mass': {'per_vertex': 0.02}}], 'pins': "
    "[{'select': "
    "'left'}], 'forces': ['gravity', {'type': 'face_wind', 'velocity': [3, 1, 2], 'gust': 0.4, "
    "'gust_period': 0.3, 'density': 1.3, 'drag': 1.1, 'lift': 0.7}], 'outputs': []}";
/* With turbulence, whose dependence on the mean velocity is not differentiable. */
static const char storm[] =
    "{'bodies': [{'shape': {'type': 'grid', 'nx': 4, 'ny': 3}, 'springs': {'k': 40, 'shear': "
    "true}, "
    "'stretch': [1.1, 1.06, 1], 'mass': {'per_vertex': 0.02}}], 'pins': [{'select': 'left'}], "
    "'forces': [{'type': 'face_wind', "
    "'velocity': [3, 1, 2], 'gust': 0.2, 'turbulence': 0.3, 'wavelength': 0.7}], 'outputs': []}";

/* A larger cloth, with pins that stay. */
static const char curtain[] =
    "{'bodies': [{'shape': {'type': 'grid', 'nx': 21, 'ny': 21, 'plane': 'xz'}, 'springs': {'EA': "
    "0.4, 'shear': true, 'bending': true, 'EA_bending': 0.1, 'damping': 0.02}, 'mass': {'total': "
    "1}, 'stretch': [1.03, 1, 1.06]}], 'pins': [{'select': 'top_left'}, {'select': 'top_right'}], "
    "'forces': ['gravity', {'type': 'drag', 'per_mass': 4}], 'outputs': []}";
/* A solid whose pins follow a recorded motion with rotations until they are released. */
static const char jelly[] =
    "{'bodies': [{'shape': {'type': 'block', 'nx': 5, 'ny': 5, 'nz': 5, 'size': [0.3, 0.3, 0.3], "
    "'neighbours': 26}, 'springs': {'EA': 0.3, 'damping': 0.05}, 'mass': {'total': 1}, 'stretch': "
    "[1.6, 1.5, 1.7]}], 'pins': [{'select': 'bottom', 'motion': {'type': 'track', 'center': "
    "[0.1, 0, 0.2], 'table': [[0, 0, 0, 0, 1, 0, 0, 0], [0.03, 0.02, 0.01, 0, 0.99, 0.05, 0.1, "
    "0.02], [0.2, 0.1, 0, 0.05, 0.8, 0.3, 0.2, 0.1]]}, 'release': 0.035}], 'forces': ['gravity'], "
    "'outputs': []}";
/* Pins that stay unknowns, each with the force that holds it, with every motion. */
static const char reaction[] =
    "{'bodies': [{'shape': {'type': 'grid', 'nx': 4, 'ny': 3}, 'springs': {'k': 40, 'shear': true, "
    "'damping': 0.1}, 'stretch': [1.1, 1.15, 1], 'mass': {'per_vertex': 0.05}}], 'pins': "
    "{'method': 'reaction', 'list': [{'select': {'indices': [0]}, 'motion': {'type': 'keyframes', "
    "'table': [[0, 0, 0, 0], [0.04, 0.05, 0.02, 0.03], [0.2, 0.1, 0, 0]]}, 'release': 0.065}, "
    "{'select': {'indices': [3]}, 'motion': {'type': 'rotation', 'speed': 200, 'center': [0.5, "
    "0.5, 0.1]}}, {'select': {'indices': [8]}, 'motion': {'type': 'oscillation', 'amplitude': "
    "[0.05, 0.1, 0.02], 'frequency': 3, 'phase': 20}, 'release': 0.035}, {'select': {'indices': "
    "[11]}, 'motion': {'type': 'track', 'table': [[0, 0, 0, 0, 1, 0, 0, 0], [0.1, 0.05, 0.1, 0, "
    "0.9, 0.2, 0, 0.1]]}}]}, 'forces': ['gravity'], 'outputs': []}";
/* Damped threads, of which some are slack, and loads in all the ways that they can be given. */
static const char limp[] =
    "{'bodies': [{'shape': {'type': 'grid', 'nx': 3, 'ny': 3}, 'springs': {'k': 50, 'shear': true, "
    "'tension_only': true, 'damping': 0.3}, 'stretch': [1.3, 0.8, 1], 'mass': {'per_vertex': "
    "0.04}}], 'pins': [{'select': 'top_left'}, {'select': 'top_right'}], 'forces': ['gravity', "
    "{'type': 'handle', 'select': {'indices': [2]}, 'target': [0.6, 0.2, 0.1], 'k': 6, 'damping': "
    "0.1}, {'type': "
    "'point_load', 'select': {'indices': [4]}, 'table': [[0, 0.1, 0.2, 0.1], [0.05, 0.3, 0, 0.2], "
    "[0.2, 0, 0, 0]]}], 'outputs': []}";
/* Slack threads with dampers that become taut one after the other within steps. */
static const char taut[] =
    "{'bodies': [{'shape': {'type': 'chain', 'n': 6, 'start': [0, 1, 0], 'end': [1, 1, 0.2]}, "
    "'springs': {'k': 60, 'tension_only': true, 'damping': 0.5}, 'stretch': 0.96, 'mass': "
    "{'per_vertex': 0.05}}], 'pins': [{'select': {'indices': [0]}}, {'select': {'indices': [5]}, "
    "'motion': {'type': 'oscillation', 'amplitude': [0.4, 0.1, 0], 'frequency': 3}}], 'forces': "
    "['gravity'], 'outputs': []}";
/* Springs of rest length 0 whose ends meet, at a pin for good, elsewhere in the first step. */
static const char folded[] =
    "{'bodies': [{'shape': {'type': 'grid', 'nx': 3, 'ny': 2}, 'springs': {'k': 30, 'table': [[0, "
    "1, 30, -1, 0.3], [1, 2, 40, -1, 0.2], [3, 4, 0, -1, 0], [4, 5, 0, -1, 0], [0, 3, 20, 0, 0], "
    "[1, 4, 25, 0, 0], [2, 5, 15, 0, 0]]}, 'stretch': [1.1, 0, 1], 'mass': {'per_vertex': "
    "0.05}}], 'pins': [{'select': {'indices': [0]}}], 'forces': [], 'outputs': []}";

static const GradientCase scenes[] = {{.name = "chain", .text = chain},
                                      {.name = "net", .text = net},
                                      {.name = "slack", .text = slack},
                                      {.name = "plane", .text = plane},
                                      {.name = "block", .text = block},
                                      {.name = "flag", .text = flag},
                                      {.name = "storm", .text = storm},
                                      {.name = "reaction", .text = reaction},
                                      {.name = "limp", .text = limp, .steps = 5},
                                      {.name = "taut", .text = taut},
                                      {.name = "folded", .text = folded},
                                      {.name = "jelly", .text = jelly, .steps = 6},
                                      {.name = "curtain", .text = curtain, .steps = 3}};
enum { CHAIN, NET, BLOCK = 4, FLAG, SCENES = sizeof scenes / sizeof scenes[0] };

static const char *const integrators[] = {"symplectic_euler",
                                          "verlet",
                                          "rk4",
                                          "backward_euler",
                                          "bdf2",
                                          "trapezoidal",
                                          "beta",
                                          "implicit_midpoint",
                                          "linear_implicit_euler"};
enum { INTEGRATORS = sizeof integrators / sizeof integrators[0] };

enum { STEPS = 10, EARLY = 4 }; /* of a motion; the loss counts the states after them */

TEST(gradients_of_every_integrator_are_those_of_central_differences) {
  for (int s = 0; s < SCENES; s++)
    for (int k = 0; k < INTEGRATORS; k++) gradient_check(&scenes[s], integrators[k]);
}

TEST(gradients_are_the_transpose_of_directions) {
  for (int s = 0; s < SCENES; s++)
    for (int k = 0; k < INTEGRATORS; k++) gradient_check_transpose(&scenes[s], integrators[k]);
}

/* The force of a spring whose ends meet is 0 and its Hessian k I, in both directions, although the
 * force has a kink there. */
TEST(ends_that_meet_have_the_same_derivatives_in_both_directions) {
  static const char meeting[] =
      "{'bodies': [{'shape': {'type': 'grid', 'nx': 3, 'ny': 2}, 'springs': {'k': 30}, 'stretch': "
      "[1.1, 0, 1], 'mass': {'per_vertex': 0.05}}], 'pins': [{'select': {'indices': [0]}}], "
      "'forces': [], 'outputs': []}";
  /* Those whose forces are taken where the ends meet. */
  static const char *const early[] = {"symplectic_euler", "verlet", "rk4", "beta",
                                      "linear_implicit_euler"};
  const GradientCase scene = {.name = "meeting", .text = meeting, .steps = 1};
  for (int k = 0; k < 5; k++) gradient_check_transpose(&scene, early[k]);
}

/* ---- Tapes ---- */

static bool same(const double *a, const double *b, int64_t count) {
  return memcmp(a, b, (size_t)count * sizeof *a) == 0;
}

TEST(gradients_do_not_depend_on_how_many_states_are_kept) {
  enum { LONG = 61 };
  World w = gradient_world(&scenes[NET], "bdf2");
  HkDerivatives *d[4] = {NULL};
  if (!w.state) return;
  int64_t n = hk_state_vertex_count(w.state);
  for (int k = 0; k < 4; k++) {
    const size_t memory[] = {1u << 30, 40000, 12000, 1};
    HkTapeSettings settings = hk_tape_settings_default();
    HkTape *tape = NULL;
    settings.bytes = memory[k];
    MUST(hk_derivatives_create(w.model, &d[k], error));
    MUST(hk_tape_create(w.sim, w.state, &settings, &tape, error));
    for (int part = 0; part < LONG; part++) MUST(hk_tape_steps(tape, 1, error));
    MUST(hk_tape_backward(tape, gradient_add_loss, GRADIENT_USER(&scenes[CHAIN]), d[k], NULL,
                          error));
    if (k == 0) CHECK(hk_tape_repeated(tape) == 0);
    if (k == 1) CHECK(hk_tape_repeated(tape) > 0 && hk_tape_repeated(tape) < 3 * LONG);
    if (k > 1) CHECK(hk_tape_repeated(tape) > 0 && hk_tape_repeated(tape) < 10 * LONG);
    HkDerivativeArrays a = hk_derivatives_arrays(d[0]), b = hk_derivatives_arrays(d[k]);
    CHECK(same(a.x, b.x, 3 * n) && same(a.v, b.v, 3 * n) && same(a.mass, b.mass, n));
    CHECK(same(a.k, b.k, w.model->springs.count) && same(a.l0, b.l0, w.model->springs.count));
    hk_tape_destroy(&tape);
  }
  for (int k = 0; k < 4; k++) hk_derivatives_destroy(&d[k]);
  world_destroy(&w);
}

TEST(a_tape_goes_back_twice_and_on_after_that) {
  World w = gradient_world(&scenes[CHAIN], "backward_euler"),
        other = gradient_world(&scenes[CHAIN], "backward_euler");
  HkDerivatives *first = NULL, *second = NULL, *whole = NULL;
  HkTape *tape = NULL, *at_once = NULL;
  if (!w.state || !other.state) return;
  int64_t n = hk_state_vertex_count(w.state);
  MUST(hk_derivatives_create(w.model, &first, error));
  MUST(hk_derivatives_create(w.model, &second, error));
  MUST(hk_derivatives_create(other.model, &whole, error));
  MUST(hk_tape_create(w.sim, w.state, NULL, &tape, error));
  MUST(hk_tape_steps(tape, EARLY, error));
  MUST(
      hk_tape_backward(tape, gradient_add_loss, GRADIENT_USER(&scenes[CHAIN]), first, NULL, error));
  MUST(hk_tape_backward(tape, gradient_add_loss, GRADIENT_USER(&scenes[CHAIN]), second, NULL,
                        error));
  CHECK(same(hk_derivatives_arrays(first).x, hk_derivatives_arrays(second).x, 3 * n));
  MUST(hk_tape_steps(tape, STEPS - EARLY, error));
  MUST(
      hk_tape_backward(tape, gradient_add_loss, GRADIENT_USER(&scenes[CHAIN]), first, NULL, error));
  MUST(hk_tape_create(other.sim, other.state, NULL, &at_once, error));
  MUST(hk_tape_steps(at_once, STEPS, error));
  MUST(hk_tape_backward(at_once, gradient_add_loss, GRADIENT_USER(&scenes[CHAIN]), whole, NULL,
                        error));
  CHECK(same(hk_derivatives_arrays(first).x, hk_derivatives_arrays(whole).x, 3 * n));
  hk_tape_destroy(&tape);
  hk_tape_destroy(&at_once);
  hk_derivatives_destroy(&first);
  hk_derivatives_destroy(&second);
  hk_derivatives_destroy(&whole);
  world_destroy(&w);
  world_destroy(&other);
}

/* ---- Controls ---- */

enum { VERTICES = 27, AXES = 3 * VERTICES, SPRINGS_MAX = 200 };

/* Rest lengths and forces that differ from step to step. */
typedef struct Controlled {
  World w;
  int force;
  double array[AXES], l0[STEPS * SPRINGS_MAX], forces[STEPS * AXES];
  HkControl controls[2];
} Controlled;

static bool make_controlled(Controlled *c, const char *integrator) {
  *c = (Controlled){.w = gradient_world(&scenes[BLOCK], integrator)};
  HkMethod method = {0};
  HkError error = {0};
  if (!c->w.sim) return false;
  int64_t springs = c->w.model->springs.count;
  for (int64_t q = 0; q < STEPS * springs && springs <= SPRINGS_MAX; q++)
    c->l0[q] = c->w.model->springs.l0[q % springs] * (1 + 0.1 * gradient_weight(q, 30));
  for (int64_t q = 0; q < STEPS * AXES; q++) c->forces[q] = 0.3 * gradient_weight(q, 31);
  c->controls[0] = (HkControl){.kind = HK_CONTROL_L0, .values = c->l0};
  /* The simulation is made again with the force. */
  HkStatus status = hk_method_copy(hk_sim_method(c->w.sim), &method, &error);
  hk_sim_destroy(&c->w.sim);
  if (status >= 0) status = hk_model_add_force_array(c->w.model, c->array, &c->force, &error);
  if (status >= 0) status = hk_sim_create(c->w.model, &method, 0.01, &c->w.sim, &error);
  hk_method_clear(&method);
  c->controls[1] = (HkControl){
      .kind = HK_CONTROL_FORCE, .array = c->array, .force = c->force, .values = c->forces};
  if (status < 0) test_fail(integrator, 0, "%s", error.text);
  return status >= 0 && springs <= SPRINGS_MAX;
}

static HkTape *record(Controlled *c, size_t bytes) {
  HkTapeSettings settings = hk_tape_settings_default();
  HkTape *tape = NULL;
  HkError error = {0};
  settings.controls = c->controls;
  settings.control_count = 2;
  settings.control_steps = STEPS;
  settings.bytes = bytes;
  if (hk_tape_create(c->w.sim, c->w.state, &settings, &tape, &error) < 0 ||
      hk_tape_steps(tape, STEPS, &error) < 0)
    test_fail("a tape", 0, "%s", error.text);
  return tape;
}

/* The loss after one number of a control has changed by step. */
static double controlled_loss(const char *integrator, int control, int64_t at, double step) {
  Controlled *c = calloc(1, sizeof *c);
  double loss = NAN;
  if (make_controlled(c, integrator)) {
    (control == 0 ? c->l0 : c->forces)[at] += step;
    HkTape *tape = record(c, 1 << 30);
    loss = gradient_loss(&scenes[BLOCK], hk_tape_state(tape), STEPS);
    hk_tape_destroy(&tape);
  }
  world_destroy(&c->w);
  free(c);
  return loss;
}

static void add_last_loss(void *user, int64_t step, const HkState *state, double *dx, double *dv) {
  if (step == STEPS) gradient_add_loss(user, step, state, dx, dv);
}

static void check_controls(const char *integrator) {
  static double gradient[2][STEPS * (SPRINGS_MAX + AXES)], again[STEPS * (SPRINGS_MAX + AXES)];
  Controlled *c = calloc(1, sizeof *c);
  HkDerivatives *d = NULL;
  memset(gradient, 0, sizeof gradient);
  memset(again, 0, sizeof again);
  if (!make_controlled(c, integrator)) return;
  MUST(hk_derivatives_create(c->w.model, &d, error));
  for (int k = 0; k < 2; k++) c->controls[k].gradient = gradient[k];
  HkTape *tape = record(c, 1 << 30);
  MUST(hk_tape_backward(tape, add_last_loss, GRADIENT_USER(&scenes[BLOCK]), d, NULL, error));
  hk_tape_destroy(&tape);
  int64_t springs = c->w.model->springs.count;
  for (int64_t q = 0; q < springs; q++) CHECK(hk_derivatives_arrays(d).l0[q] == 0);
  for (int k = 0; k < 2; k++)
    for (int step = 0; step < STEPS; step += 3) {
      int64_t at = step * (k == 0 ? springs : AXES) + 4; /* of a vertex that is free */
      double up = controlled_loss(integrator, k, at, 1e-5),
             down = controlled_loss(integrator, k, at, -1e-5), exact = (up - down) / 2e-5;
      CHECK_NEAR(gradient[k][at], exact, 1e-6 * (fabs(exact) + 1e-2));
      CHECK(exact != 0);
    }
  c->controls[0].gradient = again; /* with few states that are kept */
  tape = record(c, 1);
  MUST(hk_tape_backward(tape, add_last_loss, GRADIENT_USER(&scenes[BLOCK]), d, NULL, error));
  CHECK(hk_tape_repeated(tape) > 0 && same(again, gradient[0], STEPS * springs));
  hk_tape_destroy(&tape);
  hk_derivatives_destroy(&d);
  world_destroy(&c->w);
  free(c);
}

TEST(controls_have_gradients_in_every_step) {
  check_controls("backward_euler");
  check_controls("verlet");
}

/* An array of forces that stays the same is differentiated in both directions. */
static void check_array(const char *integrator) {
  World w = gradient_world(&scenes[BLOCK], integrator);
  static double array[AXES];
  HkMethod method = {0};
  HkDerivatives *back = NULL, *forward = NULL;
  HkTape *tape = NULL;
  int force;
  if (!w.state) return;
  for (int q = 0; q < AXES; q++) array[q] = 0.3 * gradient_weight(q, 31);
  MUST(hk_method_copy(hk_sim_method(w.sim), &method, error));
  hk_sim_destroy(&w.sim);
  MUST(hk_model_add_force_array(w.model, array, &force, error));
  MUST(hk_sim_create(w.model, &method, 0.01, &w.sim, error));
  hk_method_clear(&method);
  MUST(hk_derivatives_create(w.model, &back, error));
  MUST(hk_derivatives_create(w.model, &forward, error));
  MUST(hk_tape_create(w.sim, w.state, NULL, &tape, error));
  MUST(hk_tape_steps(tape, STEPS, error));
  MUST(hk_tape_backward(tape, add_last_loss, GRADIENT_USER(&scenes[BLOCK]), back, NULL, error));
  double x[AXES] = {0}, v[AXES] = {0}, along = 0, change = 0;
  add_last_loss(GRADIENT_USER(&scenes[BLOCK]), STEPS, hk_tape_state(tape), x, v);
  for (int q = 0; q < AXES; q++) {
    hk_derivatives_force_array(forward, force)[q] = gradient_weight(q, 32);
    along += gradient_weight(q, 32) * hk_derivatives_force_array(back, force)[q];
  }
  MUST(hk_tape_tangent(tape, NULL, NULL, forward, NULL, error));
  HkDerivativeArrays a = hk_derivatives_arrays(forward);
  for (int q = 0; q < AXES; q++) change += x[q] * a.x[q] + v[q] * a.v[q];
  CHECK(change != 0);
  CHECK_NEAR(along, change, 1e-12 * fabs(change));
  hk_tape_destroy(&tape);
  hk_derivatives_destroy(&back);
  hk_derivatives_destroy(&forward);
  world_destroy(&w);
}

TEST(gradients_by_an_array_of_forces_are_the_transpose_of_directions) {
  for (int k = 0; k < INTEGRATORS; k++) check_array(integrators[k]);
}

/* ---- Steps that are no minimum ---- */

/* A column that is pressed and has not buckled: its Hessian has negative eigenvalues. */
TEST(gradients_at_a_saddle_are_those_of_central_differences) {
  static const char column[] =
      "{'bodies': [{'shape': {'type': 'chain', 'n': 5, 'start': [0, 0, 0], 'end': [0, 0.4, 0]}, "
      "'springs': {'k': 4000}, 'mass': {'per_vertex': 0.02}}], 'pins': [{'select': {'indices': "
      "[0]}}, "
      "{'select': {'indices': [4]}, 'motion': {'type': 'keyframes', 'table': [[0, 0, 0, 0], [0.1, "
      "0, "
      "-0.1, 0]]}}], 'forces': [], 'outputs': []}";
  /* Changes along the column, which do not make it buckle. */
  const GradientCase scene = {
      .name = "column", .text = column, .tolerance = 1e-5, .only = "mass k l0"};
  World w = gradient_world(&scene, "backward_euler");
  HkTape *tape = NULL;
  HkDerivatives *d = NULL;
  HkAdjointInfo info;
  if (!w.state) return;
  gradient_check(&scene, "backward_euler");
  MUST(hk_derivatives_create(w.model, &d, error));
  MUST(hk_tape_create(w.sim, w.state, NULL, &tape, error));
  MUST(hk_tape_steps(tape, STEPS, error));
  CHECK(hk_tape_backward(tape, gradient_add_loss, GRADIENT_USER(&scene), d, &info, NULL) == HK_OK);
  CHECK(info.indefinite > 0 && info.unsolved == 0);
  hk_tape_destroy(&tape);
  HkTapeSettings settings = hk_tape_settings_default();
  settings.adjoint.projected = true;
  MUST(hk_tape_create(w.sim, w.state, &settings, &tape, error));
  MUST(hk_tape_steps(tape, STEPS, error));
  MUST(hk_tape_backward(tape, gradient_add_loss, GRADIENT_USER(&scenes[CHAIN]), d, &info, error));
  CHECK(info.indefinite == 0);
  hk_tape_destroy(&tape);
  hk_derivatives_destroy(&d);
  world_destroy(&w);
}

/* ---- The error that unsolved steps leave ---- */

TEST(unsolved_steps_are_noticed) {
  World w = world_make(scenes[NET].text, "backward_euler", 0.01, 1);
  HkMethod step = {0};
  HkTape *tape = NULL;
  HkDerivatives *d = NULL;
  HkAdjointInfo info;
  double error_of[2];
  if (!w.state) return;
  MUST(hk_derivatives_create(w.model, &d, error));
  for (int k = 0; k < 2; k++) {
    hk_sim_destroy(&w.sim);
    MUST(hk_method_choose(&step, HK_STEP, "backward_euler", error));
    HkMethod *newton = hk_method_set_method(&step, "minimizer", "newton", NULL);
    MUST(hk_method_set_number(newton, "iterations", k ? 100 : 1, error));
    MUST(hk_sim_create(w.model, &step, 0.01, &w.sim, error));
    MUST(hk_tape_create(w.sim, w.state, NULL, &tape, error));
    MUST(hk_tape_steps(tape, STEPS, error));
    CHECK(hk_tape_backward(tape, gradient_add_loss, GRADIENT_USER(&scenes[CHAIN]), d, &info,
                           NULL) >= 0);
    error_of[k] = info.relative_error;
    hk_tape_destroy(&tape);
  }
  CHECK(error_of[0] > 1e-5 && error_of[1] < 1e-9);
  hk_method_clear(&step);
  hk_derivatives_destroy(&d);
  world_destroy(&w);
}

/* ---- Refusals ---- */

static void refuse(const char *text, const char *integrator, const char *part) {
  World w = world_make(text, integrator, 0.01, 1);
  HkTape *tape = NULL;
  if (!w.state) return;
  FAILS(hk_tape_create(w.sim, w.state, NULL, &tape, error), HK_ERROR_UNSUPPORTED, part);
  CHECK(!tape);
  world_destroy(&w);
}

static void add_nan(void *user, int64_t step, const HkState *state, double *dx, double *dv) {
  (void)user;
  (void)state;
  (void)dv;
  if (step == STEPS) dx[4] = NAN;
}

TEST(tapes_refuse_what_they_cannot_differentiate) {
  static const char contact[] =
      "{'bodies': [{'shape': {'type': 'grid', 'nx': 3, 'ny': 3}, 'springs': {'k': 40}, 'mass': "
      "{'total': 1}}], 'forces': ['gravity', 'contact'], 'outputs': []}";
  static const char tangled[] =
      "{'bodies': [{'shape': {'type': 'grid', 'nx': 3, 'ny': 3}, 'springs': {'k': 40}, 'mass': "
      "{'total': 1}}], 'forces': [{'type': 'contact', 'untangle': true}], 'outputs': []}";
  static const char adaptive[] = "{'time': {'tolerance': 1e-3}, 'bodies': [{'shape': {'type': "
                                 "'chain', 'n': 3}, 'springs': {'k': "
                                 "40}, 'mass': {'total': 1}}], 'outputs': []}";
  refuse(contact, "symplectic_euler", "contact");
  refuse(contact, "trapezoidal", "choose backward_euler or bdf2");
  refuse(tangled, "backward_euler", "untangle");
  refuse(adaptive, "backward_euler", "adaptive");
  refuse(chain, "forward_euler", "forward_euler");
  refuse(flag, "bdf2", "passes");
}

TEST(tapes_notice_wrong_use) {
  World w = gradient_world(&scenes[CHAIN], "backward_euler"),
        other = gradient_world(&scenes[NET], "verlet");
  HkTape *tape = NULL;
  HkDerivatives *d = NULL, *foreign = NULL;
  HkTapeSettings settings = hk_tape_settings_default();
  if (!w.state || !other.state) return;
  MUST(hk_derivatives_create(w.model, &d, error));
  MUST(hk_derivatives_create(other.model, &foreign, error));
  FAILS(hk_tape_create(w.sim, other.state, NULL, &tape, error), HK_ERROR_INVALID, "");
  settings.adjoint.accuracy = -1;
  FAILS(hk_tape_create(w.sim, w.state, &settings, &tape, error), HK_ERROR_INVALID, "accuracy");
  settings = hk_tape_settings_default();
  HkControl control = {.kind = HK_CONTROL_FORCE, .force = 1, .values = w.model->x0};
  settings.controls = &control;
  settings.control_count = 1;
  FAILS(hk_tape_create(w.sim, w.state, &settings, &tape, error), HK_ERROR_INVALID, "array");
  MUST(hk_tape_create(w.sim, w.state, NULL, &tape, error));
  FAILS(hk_tape_steps(tape, -1, error), HK_ERROR_INVALID, "-1 steps");
  MUST(hk_tape_steps(tape, STEPS, error));
  FAILS(hk_tape_backward(tape, gradient_add_loss, GRADIENT_USER(&scenes[CHAIN]), foreign, NULL,
                         error),
        HK_ERROR_INVALID, "another");
  FAILS(hk_tape_backward(tape, add_nan, NULL, d, NULL, error), HK_ERROR_INVALID,
        "step 10 is not finite: vertex 1");
  MUST(hk_sim_set_h(w.sim, 0.02, error));
  FAILS(hk_tape_backward(tape, gradient_add_loss, GRADIENT_USER(&scenes[CHAIN]), d, NULL, error),
        HK_ERROR_INVALID, "has changed");
  MUST(hk_sim_set_h(w.sim, 0.01, error));
  MUST(hk_tape_backward(tape, gradient_add_loss, GRADIENT_USER(&scenes[CHAIN]), d, NULL, error));
  MUST(hk_model_scale_stiffness(w.model, 2, error));
  FAILS(hk_tape_steps(tape, 1, error), HK_ERROR_INVALID, "has changed");
  hk_tape_destroy(&tape);
  hk_derivatives_destroy(&d);
  hk_derivatives_destroy(&foreign);
  world_destroy(&w);
  world_destroy(&other);
}

/* Every force either says what it can be differentiated by, with names of its parameters, or is
 * refused. */
TEST(differentiable_parameters_are_parameters) {
  for (int k = 0; hk_schema_at(HK_FORCE, k); k++) {
    const HkForceType *type = hk_force_type(hk_schema_at(HK_FORCE, k));
    char words[200];
    if (!type->differentiable) continue;
    snprintf(words, sizeof words, "%s", type->differentiable);
    for (char *word = strtok(words, "|"); word; word = strtok(NULL, "|"))
      CHECK(hk_param_find(&type->schema, word));
    CHECK(!words[0] || type->columns || type->step_product);
  }
}

/* Whether a method has a derivative other than 0 by a parameter. */
static bool depends_on(const HkMethod *derivative, const HkParam *p) {
  const char *at = (const char *)derivative->params + p->offset;
  const double *numbers = (const double *)(const void *)at;
  int64_t count = p->kind == HK_PARAM_VECTOR ? 3 : 1;
  if (p->kind == HK_PARAM_TABLE) {
    const HkTable *table = (const HkTable *)(const void *)at;
    numbers = table->values;
    count = (int64_t)table->rows * p->columns;
  }
  for (int64_t q = 0; q < count; q++)
    if (!isnan(numbers[q]) && numbers[q] != 0) return true;
  return false;
}

/* Removes the words of "a|b|c" by which a method has a derivative in a scene from `left`. */
static void cross_out(const HkMethod *derivative, char *left) {
  for (int p = 0; p < derivative->schema->param_count; p++) {
    const HkParam *param = &derivative->schema->params[p];
    size_t length = strlen(param->name);
    for (char *word = left; word; word = strchr(word, '|')) {
      if (*word == '|') word++;
      bool same_name = strncmp(word, param->name, length) == 0;
      if (same_name && (word[length] == '|' || word[length] == 0) && depends_on(derivative, param))
        memset(word, ' ', length);
    }
  }
}

enum { WORDS = 200, METHODS = 100 };

/* Crosses out all parameters of forces and motions on which a scene depends. */
static void cross_out_scene(const GradientCase *scene, char forces[][WORDS],
                            char motions[][WORDS]) {
  World w = gradient_world(scene, "backward_euler");
  HkTape *tape = NULL;
  HkDerivatives *d = NULL;
  if (!w.state) return;
  MUST(hk_derivatives_create(w.model, &d, error));
  MUST(hk_tape_create(w.sim, w.state, NULL, &tape, error));
  MUST(hk_tape_steps(tape, scene->steps > 0 ? scene->steps : STEPS, error));
  MUST(hk_tape_backward(tape, gradient_add_loss, GRADIENT_USER(scene), d, NULL, error));
  for (int k = 0; hk_schema_at(HK_FORCE, k); k++)
    for (int f = 0; f < w.model->force_count; f++)
      if (w.model->forces[f].method.schema == hk_schema_at(HK_FORCE, k) &&
          hk_derivatives_force(d, f))
        cross_out(hk_derivatives_force(d, f), forces[k]);
  for (int k = 0; hk_schema_at(HK_MOTION, k); k++)
    for (int p = 0; p < w.model->motion_count; p++)
      if (w.model->motions[p].method.schema == hk_schema_at(HK_MOTION, k))
        cross_out(hk_derivatives_motion(d, p), motions[k]);
  hk_tape_destroy(&tape);
  hk_derivatives_destroy(&d);
  world_destroy(&w);
}

/* The scenes above depend on each parameter by which a force or a motion can be differentiated;
 * those of contact are in test_gradients_contact. */
TEST(every_differentiable_parameter_has_a_scene) {
  char forces[METHODS][WORDS] = {{0}}, motions[METHODS][WORDS] = {{0}};
  for (int k = 0; hk_schema_at(HK_FORCE, k); k++) {
    const HkForceType *type = hk_force_type(hk_schema_at(HK_FORCE, k));
    if (type->differentiable && !type->step_product)
      snprintf(forces[k], WORDS, "%s", type->differentiable);
  }
  for (int k = 0; hk_schema_at(HK_MOTION, k); k++) {
    const HkMotionType *type = hk_motion_type(hk_schema_at(HK_MOTION, k));
    if (type->differentiable) snprintf(motions[k], WORDS, "%s", type->differentiable);
  }
  for (int s = 0; s < SCENES; s++) cross_out_scene(&scenes[s], forces, motions);
  for (int k = 0; k < METHODS; k++) {
    if (forces[k][strspn(forces[k], " |")])
      test_fail(hk_schema_at(HK_FORCE, k)->name, 0, "no scene depends on '%s'", forces[k]);
    if (motions[k][strspn(motions[k], " |")])
      test_fail(hk_schema_at(HK_MOTION, k)->name, 0, "no scene depends on '%s'", motions[k]);
  }
}

/* Whether docs/gradients.md has the row of a force or a motion, with its parameters. */
static void find_row(const char *text, const char *name, const char *differentiable) {
  char row[400], words[200];
  int length = snprintf(row, sizeof row, "| `%s` | ", name);
  snprintf(words, sizeof words, "%s", differentiable);
  for (char *word = strtok(words, "|"); word; word = strtok(NULL, "|"))
    length += snprintf(row + length, sizeof row - (size_t)length, "`%s`, ", word);
  row[length - 2] = 0;
  if (!strstr(text, row)) test_fail("docs/gradients.md", 0, "there is no row %s", row);
}

TEST(differentiable_parameters_are_documented) {
  FILE *file = fopen(HOOKE_SOURCE_DIR "/docs/gradients.md", "r");
  enum { SIZE = 1 << 17 };
  char *text = calloc(SIZE, 1);
  if (!file) test_fail("docs/gradients.md", 0, "the page is not there");
  if (file) CHECK(fread(text, 1, SIZE - 1, file) > 0);
  if (file) fclose(file);
  for (int k = 0; hk_schema_at(HK_FORCE, k); k++) {
    const HkForceType *type = hk_force_type(hk_schema_at(HK_FORCE, k));
    if (type->differentiable && type->differentiable[0])
      find_row(text, type->schema.name, type->differentiable);
  }
  for (int k = 0; hk_schema_at(HK_MOTION, k); k++) {
    const HkMotionType *type = hk_motion_type(hk_schema_at(HK_MOTION, k));
    if (type->differentiable) find_row(text, type->schema.name, type->differentiable);
  }
  free(text);
}
