/* Gradients of motions with contact and friction: by differences of the motions, and both
 * directions against each other. */
#include "motion_gradient.h"

#include "hooke/extend.h"

#define BLOCK_WITH(Y, MORE)                                                                        \
  "{'shape': {'type': 'block', 'nx': 3, 'ny': 2, 'nz': 2, 'size': [0.2, 0.1, 0.1]}, 'springs': "   \
  "{'k': 300, 'damping': 0.2}, 'mass': {'total': 0.5}, 'velocity': [0.5, -0.05, 0.3], 'stretch': " \
  "1.05, " MORE "'transform': {'translate': [0, " Y ", 0], 'axis': [0.2, 0.3, 1], 'angle': 3}}"
#define BLOCK(Y) BLOCK_WITH(Y, "")
#define STIFF_BLOCK                                                                                \
  "{'shape': {'type': 'block', 'nx': 3, 'ny': 2, 'nz': 2, 'size': [0.2, 0.1, 0.1]}, 'springs': "   \
  "{'k': 1500, 'damping': 0.2}, 'mass': {'total': 0.2}, 'velocity': [0.02, -0.02, 0.01], "         \
  "'stretch': 1.002, 'transform': {'axis': [0.2, 0.3, 1], 'angle': 3}}"
#define SHEET_AT(NAME, X, Y, ANGLE)                                                                \
  "{'name': '" NAME "', 'shape': {'type': 'grid', 'nx': 3, 'ny': 3, 'plane': 'xz', 'width': 0.2, " \
  "'height': 0.2, 'centered': true}, 'springs': {'k': 50, 'shear': true, 'damping': 0.05}, "       \
  "'mass': {'total': 0.1}, 'velocity': [0.03, 0, 0.02], 'stretch': [1.06, 1, 1.04], 'transform': " \
  "{'translate': [" X ", " Y ", 0], 'axis': [0, 1, 0], 'angle': " ANGLE "}}"
#define SHEET(NAME, Y, ANGLE) SHEET_AT(NAME, Y, Y, ANGLE)
#define LOOSE_SHEET                                                                                \
  "{'shape': {'type': 'grid', 'nx': 3, 'ny': 3, 'plane': 'xz', 'width': 0.2, 'height': 0.2}, "     \
  "'springs': {'k': 50, 'shear': true}, 'mass': {'total': 0.1}, 'stretch': [1.06, 1, 1.04], "      \
  "'contact': {'friction': 0.5, 'friction_kinetic': 0.3}, 'transform': {'translate': [0, 0.0012, " \
  "0]}}"
#define CONTACT(PARAMS) "{'type': 'contact', 'self': false, " PARAMS "}"
#define SCENE(BODIES, MORE, PARAMS)                                                                \
  "{'bodies': [" BODIES "], " MORE "'forces': ['gravity', " CONTACT(PARAMS) "], 'outputs': []}"

#define GROUND "'ground': true, "
#define TURNING                                                                                    \
  "'obstacles': [{'type': 'plane', 'normal': [0.05, 1, 0], 'motion': {'type': 'rotation', "        \
  "'center': [0.3, 0, 0.1], 'axis': [0.05, 1, 0], 'speed': 60}}], "
#define TURNING_BALL                                                                               \
  "'obstacles': [{'type': 'ball', 'center': [0.003, -0.0511, 0], 'radius': 0.05, 'motion': "       \
  "{'type': 'rotation', 'center': [0.003, -0.0511, 0], 'axis': [1, 0.3, 0.5], 'speed': 20}}], "
#define FINGER                                                                                     \
  "{'name': 'finger', 'shape': {'type': 'chain', 'n': 3, 'start': [0.021, 0.0028, 0.017], 'end': " \
  "[0.03, 0.2, 0.04]}, 'springs': {'k': 80, 'damping': 0.05}, 'mass': {'total': 0.1}, 'stretch': " \
  "1.0003}"
#define DRAGGING                                                                                   \
  "'pins': [{'select': {'indices': [0], 'body': 'finger'}, 'motion': {'type': 'oscillation', "     \
  "'amplitude': [0.004, 0.0005, 0.002], 'frequency': 4}}], "
#define BOX "'obstacles': [{'type': 'box', 'center': [0, -0.1, 0], 'size': [1, 0.2, 1]}], "
#define BALL "'obstacles': [{'type': 'ball', 'center': [0.1, -0.301, 0.05], 'radius': 0.3}], "

/* A block falls on something, and slides or sticks. */
static const GradientCase falling[] = {
    {.name = "hardly any friction",
     .text = SCENE(BLOCK("0.006"), "", GROUND "'height': -0.001, 'friction': 1e-3")},
    {.name = "slides", .text = SCENE(BLOCK("0.006"), "", GROUND "'friction': 0.3")},
    {.name = "sticks", .text = SCENE(BLOCK("0.006"), "", GROUND "'friction': 2")},
    {.name = "two coefficients",
     .text = SCENE(BLOCK("0.006"), "", GROUND "'friction': 0.5, 'friction_kinetic': 0.2")},
    {.name = "coefficients of a body",
     .text = SCENE(BLOCK_WITH("0.006", "'contact': {'friction': 0.5, 'friction_kinetic': 0.3}, "),
                   "", GROUND "'friction': 0.3, 'friction_kinetic': 0.2")},
    {.name = "ipc",
     .text = SCENE(BLOCK("0.006"), "", GROUND "'friction': 0.3, 'friction_law': 'ipc'")},
    {.name = "a plane that turns", .text = SCENE(BLOCK("0.006"), TURNING, "'friction': 0.4")},
    {.name = "two dimensions",
     .text =
         "{'dimension': 2, 'bodies': [{'shape': {'type': 'grid', 'nx': 3, 'ny': 2, 'width': 0.2, "
         "'height': 0.1}, 'springs': {'k': 200, 'shear': true}, 'mass': {'total': 0.3}, "
         "'velocity': [0.4, -0.1, 0], 'stretch': 1.05, 'transform': {'translate': [0, 0.005, "
         "0]}}], 'forces': "
         "['gravity', " CONTACT(GROUND "'friction': 0.3") "], 'outputs': []}"},
};
enum { FALLING = sizeof falling / sizeof falling[0] };

/* Pairs of features that touch from the start: their barriers depend on the state alone. Where they
 * are not settled, others meet them in the steps that follow, whose stiffness counts as constant.
 */
static const GradientCase touching[] = {
    {.name = "a block on a ball",
     .text = SCENE(BLOCK("0.006"), BALL, "'friction': 0.9"),
     .settle = 120},
    {.name = "sheets",
     .text = SCENE(SHEET("one", "0.002", "20") ", " SHEET("two", "0.005", "20"), "",
                   GROUND "'friction': 0.3"),
     .settle = 30},
    {.name = "a block on a turning ball",
     .text = SCENE(STIFF_BLOCK, TURNING_BALL, "'friction': 3")},
    {.name = "a block that slides on a turning ball",
     .text = SCENE(STIFF_BLOCK, TURNING_BALL, "'friction': 0.02")},
    {.name = "sheets that were never apart",
     .text = SCENE(SHEET("one", "0.0012", "20") ", " SHEET("two", "0.0028", "7"), "",
                   GROUND "'friction': 0.3"),
     .steps = 1},
    {.name = "a sheet that breaks loose",
     .text = SCENE(LOOSE_SHEET, "", GROUND "'friction': 0.3, 'friction_kinetic': 0.2")},
    {.name = "nearly parallel sheets",
     .text = SCENE(SHEET("one", "0.0012", "20") ", " SHEET("two", "0.0028", "20.9"), "",
                   GROUND "'friction': 0.3"),
     .steps = 1},
    {.name = "a sheet over the diagonal of a box",
     .text = SCENE(SHEET_AT("one", "0.0002", "0.0012", "20"), BOX, "'friction': 0.3")},
    {.name = "a tilted block on a sheet",
     .text =
         SCENE(SHEET("one", "0.0012", "20") ", " BLOCK("0.00652"), "", GROUND "'friction': 0.3"),
     .steps = 1},
    {.name = "a pin that drags a sheet",
     .text = SCENE(SHEET("one", "0.0012", "20") ", " FINGER, DRAGGING, GROUND "'friction': 0.6")},
};
enum { TOUCHING = sizeof touching / sizeof touching[0] };

static const char *const integrators[] = {"backward_euler", "bdf2"};

TEST(gradients_with_contact_and_friction_are_those_of_central_differences) {
  for (int s = 0; s < FALLING; s++)
    for (int k = 0; k < 2; k++) {
      GradientCase c = falling[s];
      c.length = 0.1;
      c.tolerance = 1e-6;
      gradient_check(&c, integrators[k]);
      gradient_check_transpose(&c, integrators[k]);
    }
}

TEST(gradients_of_pairs_that_touch_are_those_of_central_differences) {
  for (int s = 0; s < TOUCHING; s++) {
    GradientCase c = touching[s];
    c.length = 0.01;
    c.tolerance = 1e-5;
    if (c.steps == 0) c.steps = 4;
    gradient_check(&c, "backward_euler");
    gradient_check_transpose(&c, "backward_euler");
  }
}

/* Walls bend where they are signed distances on a grid: here y - 10 x z, whose gradient has the
 * length 1 at the y axis. A chain stands there, and friction carries it along while the wall turns.
 */
TEST(gradients_on_a_bent_wall_that_turns_are_those_of_central_differences) {
  char path[400], text[2000];
  snprintf(path, sizeof path, "%s/saddle.txt", test_folder());
  FILE *file = fopen(path, "w");
  if (!file) test_fail(path, 0, "the file cannot be written");
  if (!file) return;
  fprintf(file, "2 2 2\n-1 -1 -1\n2 2 2\n");
  for (int q = 0; q < 8; q++) {
    double x = q & 1 ? 1 : -1, y = q & 2 ? 1 : -1, z = q & 4 ? 1 : -1;
    fprintf(file, "%g\n", y - 10 * x * z);
  }
  fclose(file);
  snprintf(text, sizeof text,
           "{'bodies': [{'shape': {'type': 'chain', 'n': 3, 'start': [1e-5, 0.0106, 2e-5], 'end': "
           "[0.05, 0.2, 0.04]}, 'springs': {'k': 3000, 'damping': 0.05}, 'mass': {'total': 0.1}, "
           "'stretch': 1.0003}], 'obstacles': [{'type': 'grid', 'file': '%s', 'motion': {'type': "
           "'rotation', 'axis': [0.3, 1, 0.2], 'speed': 100}}], 'forces': ['gravity', {'type': "
           "'contact', 'self': false, 'thickness': 0.02, 'friction': 3}], 'outputs': []}",
           path);
  const GradientCase c = {.name = "saddle",
                          .text = text,
                          .length = 0.01,
                          .tolerance = 1e-5,
                          .steps = 2,
                          .accuracy = 1e-9};
  for (int k = 0; k < 2; k++) {
    gradient_check(&c, integrators[k]);
    gradient_check_transpose(&c, integrators[k]);
  }
}

/* ---- Tapes ---- */

static void add_x(void *user, int64_t step, const HkState *state, double *dx, double *dv) {
  const double *x = hk_state_positions(state);
  (void)dv;
  for (int64_t c = 0; c < 3 * hk_state_vertex_count(state) && step == *(const int64_t *)user; c++)
    dx[c] += x[c];
}

/* What friction remembers makes states grow; steps are made again from those that are kept. */
TEST(gradients_with_friction_do_not_depend_on_how_many_states_are_kept) {
  static const size_t memory[] = {1u << 30, 20000, 1};
  int64_t steps = 40;
  World w = gradient_world(&falling[1], "backward_euler");
  HkDerivatives *d[3] = {NULL};
  if (!w.state) return;
  size_t bytes = (size_t)hk_state_vertex_count(w.state) * 3 * sizeof(double);
  for (int k = 0; k < 3; k++) {
    HkTapeSettings settings = hk_tape_settings_default();
    HkTape *tape = NULL;
    settings.bytes = memory[k];
    MUST(hk_derivatives_create(w.model, &d[k], error));
    MUST(hk_tape_create(w.sim, w.state, &settings, &tape, error));
    MUST(hk_tape_steps(tape, steps, error));
    MUST(hk_tape_backward(tape, add_x, &steps, d[k], NULL, error));
    CHECK((hk_tape_repeated(tape) > 0) == (k > 0));
    HkDerivativeArrays a = hk_derivatives_arrays(d[0]), b = hk_derivatives_arrays(d[k]);
    CHECK(memcmp(a.x, b.x, bytes) == 0 && memcmp(a.v, b.v, bytes) == 0);
    hk_tape_destroy(&tape);
  }
  for (int k = 0; k < 3; k++) hk_derivatives_destroy(&d[k]);
  world_destroy(&w);
}

/* A step in contact is made again before it is differentiated. */
TEST(a_step_that_leads_elsewhere_is_refused) {
  World w = gradient_world(&falling[1], "backward_euler");
  HkState *after = NULL;
  HkAdjoint *adjoint = NULL;
  HkDerivatives *d = NULL;
  if (!w.state) return;
  MUST(hk_state_create(w.model, &after, error));
  MUST(hk_adjoint_create(w.sim, NULL, &adjoint, error));
  MUST(hk_derivatives_create(w.model, &d, error));
  MUST(hk_state_copy(w.state, after, error));
  MUST(hk_sim_step(w.sim, after, error));
  MUST(hk_adjoint_step(adjoint, w.state, after, d, error));
  hk_state_x(after)[4] += 1e-6;
  FAILS(hk_adjoint_step(adjoint, w.state, after, d, error), HK_ERROR_INVALID, "does not lead");
  hk_state_destroy(&after);
  hk_adjoint_destroy(&adjoint);
  hk_derivatives_destroy(&d);
  world_destroy(&w);
}
