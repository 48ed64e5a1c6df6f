/* Integrators with multigrid on a device: the step before, which the first guess and bdf2 depend
 * on, bdf2 itself, and linear_implicit_euler. */
#include "device_world.h"
#include "hooke/run.h"
#include "model/state.h"
#include "step/implicit.h"

/* ---- Scenes ---- */

#define CLOTH                                                                                      \
  "{'dimension': %d, 'time': {'step': 0.01}, 'bodies': [{'shape': {'type': 'grid', 'nx': 17, "     \
  "'ny': 13}, 'springs': {'k': 200, 'shear': true, 'bending': true, 'damping': %g, "               \
  "'tension_only': %s}, 'mass': {'total': 1}}], 'pins': [{'select': 'top_left', 'motion': "        \
  "{'type': 'oscillation', 'amplitude': [0.1, 0, 0], 'frequency': 3}}, {'select': 'bottom_left', " \
  "'release': 0.02}], 'forces': ['gravity', {'type': 'drag', 'per_mass': 2, 'linear': 0.1}, "      \
  "{'type': 'wind', 'velocity': [1, 0, 0]}, {'type': 'handle', 'select': 'top_right', 'target': "  \
  "[2, 2, 0], 'k': 20, 'damping': 1}]}"

enum { CLOTHS = 5 }; /* plain, damped, tension-only, in two dimensions, damped and tension-only */

static const char *cloth(int kind, char *text, size_t size) {
  bool damped = kind == 1 || kind == 4, tension = kind == 2 || kind == 4;
  snprintf(text, size, CLOTH, kind == 3 ? 2 : 3, damped ? 0.5 : 0.0, tension ? "true" : "false");
  return test_json(text);
}

/* A cloth that flies and turns, partly in the water, with a pin that moves. */
static const char flying[] =
    "{'time': {'step': 0.01}, 'bodies': [{'shape': {'type': 'grid', 'nx': 13, 'ny': 11}, "
    "'springs': {'k': 200, 'shear': true}, 'mass': {'total': 0.3}, 'velocity': [1, -2, 0.5], "
    "'spin': [1, 2, -1]}], 'pins': [{'select': 'top_left', 'motion': {'type': 'oscillation', "
    "'amplitude': [0.1, 0, 0], 'frequency': 3}}], 'forces': ['gravity', %s]}";

static const char wind_on_faces[] =
    "{'type': 'face_wind', 'velocity': [4, 1, 3], 'gust': 0.5, 'turbulence': 0.4, 'drag': 1.2, "
    "'lift': 1.5}";
static const char *const media[] = {wind_on_faces, "{'type': 'drag', 'quadratic': 0.02}",
                                    "{'type': 'buoyancy', 'level': 0.1, 'thickness': 0.05}"};

static const char solid[] =
    "{'time': {'step': 0.01}, 'bodies': [{'shape': {'type': 'block', 'nx': 6, 'ny': 5, 'nz': 6}, "
    "'springs': {'k': 500}, 'mass': {'total': 1}, 'spin': [1, 2, 3]}], 'forces': ['gravity']}";

/* A cloth that falls from two corners, with the methods that are picked by themselves. */
static const char falling[] =
    "{'time': {'step': 0.0166666666666667, 'duration': 1}, 'bodies': [{'shape': {'type': 'grid', "
    "'plane': 'xz', 'nx': %d, 'ny': 41, 'width': 1, 'height': 1}, 'springs': {'k': 10000, "
    "'shear': true, 'bending': true%s}, 'mass': {'total': 1}}], 'pins': [{'select': 'top_left', "
    "'motion': {'type': 'oscillation', 'amplitude': [0.02, 0, 0], 'frequency': 3}}, {'select': "
    "'top_right'}], 'forces': ['gravity'], 'integrator': '%s'}";

static const char *falls(const char *springs, const char *integrator, char *text, size_t size) {
  snprintf(text, size, falling, 41, springs, integrator);
  return test_json(text);
}

static const char *const integrators[] = {"backward_euler", "bdf2", "linear_implicit_euler"};

/* ---- The step before ---- */

/* The furthest that two vectors are apart. */
static double apart(const double *a, const double *b, int64_t count) {
  double most = 0;
  for (int64_t q = 0; q < count; q++) {
    double d = fabs(a[q] - b[q]);
    most = d > most || isnan(d) ? d : most;
  }
  return most;
}

/* Steps on a device leave the step before as steps of the CPU do, for vertices, moving pins and
 * pins that have been released. */
TEST(steps_on_a_device_leave_the_step_before_as_the_host_does) {
  static const char *const ways[] = {"multigrid", "bdf2", "linear_implicit_euler"};
  device_use_plugin();
  for (int q = 0; q < 3; q++) {
    World here, there;
    char text[1100];
    DeviceWish local = {ways[q], HK_CPU}, remote = {ways[q], HK_CUDA};
    cloth(0, text, sizeof text);
    MUST(device_make(test_json(text), NULL, &local, &here, error));
    MUST(device_make(test_json(text), NULL, &remote, &there, error));
    for (int steps = 1; steps <= 4; steps++) {
      MUST(hk_sim_step(here.sim, here.state, error));
      MUST(hk_sim_step(there.sim, there.state, error));
      hk_state_fetch(there.state);
      CHECK(here.state->h_old == there.state->h_old && (q == 2) == (here.state->h_old == 0));
      if (q == 2) continue;
      int64_t count = 3 * here.state->n;
      CHECK(apart(here.state->v_old, there.state->v_old, count) < 1e-7);
      CHECK(apart(here.state->x_old, there.state->x_old, count) < 1e-9);
    }
    world_destroy(&here);
    world_destroy(&there);
  }
}

/* Descent and block_jacobi keep nothing: their states stay small. */
TEST(steps_without_multigrid_leave_no_step_before) {
  static const char *const ways[] = {"symplectic_euler", "descent", "newton"};
  device_use_plugin();
  for (int q = 0; q < 3; q++) {
    World w;
    char text[1100];
    DeviceWish remote = {ways[q], HK_CUDA};
    MUST(device_make(cloth(0, text, sizeof text), NULL, &remote, &w, error));
    MUST(hk_sim_steps(w.sim, w.state, 2, error));
    hk_state_fetch(w.state);
    CHECK(w.state->h_old == 0 && !w.state->x_old && !w.state->v_old);
    world_destroy(&w);
  }
}

/* Where every access is watched, each integrator has springs of one kind. */
#if TEST_SANITIZED
enum { RESUMED_HALF = 1 };
#else
enum { RESUMED_HALF = 0 };
#endif

/* A run in parts: what is done to the state, or to the simulation, between the two parts. */
enum { LOOK, SAVE, COPY_THERE, RENEW, MANNERS };

static HkStatus between(World *w, int manner, HkError *error) {
  size_t size = hk_state_packed_size(w->state);
  HkStatus status = HK_OK;
  if (manner == LOOK) hk_state_x(w->state); /* the device's copy is given up */
  if (manner == SAVE) {
    char *bytes = calloc(size, 1);
    HkState *other = NULL;
    hk_state_pack(w->state, bytes);
    status = hk_state_create(w->model, &other, error);
    if (status >= 0) status = hk_state_unpack(other, bytes, size, "a state", error);
    hk_state_destroy(&w->state);
    w->state = other;
    free(bytes);
  }
  if (manner == COPY_THERE) {
    HkState *other = NULL;
    status = hk_state_create(w->model, &other, error);
    if (status >= 0) status = hk_state_copy(w->state, other, error);
    hk_state_destroy(&w->state);
    w->state = other;
  }
  if (manner == RENEW) { /* another simulation of the same model */
    hk_sim_destroy(&w->sim);
    status = hk_sim_create(w->model, NULL, w->scene->time.step, &w->sim, error);
  }
  return status;
}

/* A state that was fetched, saved or copied, and uploaded again, goes on with the same bits: also
 * where springs are damped, whose force in bdf2 depends on the lengths of the step before. */
TEST(resumed_runs_on_a_device_have_the_same_bits) {
  static const char *const springs[] = {"", ", 'damping': 0.5"};
  device_use_plugin();
  for (int q = 0; q < 6; q++) {
    if (RESUMED_HALF && q % 2 == q / 2 % 2) continue;
    World whole;
    char text[700];
    DeviceWish remote = {NULL, HK_CUDA};
    falls(springs[q % 2], integrators[q / 2], text, sizeof text);
    MUST(device_make(test_json(text), NULL, &remote, &whole, error));
    MUST(hk_sim_steps(whole.sim, whole.state, 6, error));
    for (int manner = 0; manner < MANNERS; manner++) {
      World parts;
      MUST(device_make(test_json(text), NULL, &remote, &parts, error));
      MUST(hk_sim_steps(parts.sim, parts.state, 3, error));
      MUST(between(&parts, manner, error));
      MUST(hk_sim_steps(parts.sim, parts.state, 3, error));
      if (device_difference(&whole, &parts) != 0)
        test_fail(__FILE__, __LINE__, "%s, springs%s, manner %d: %g", integrators[q / 2],
                  springs[q % 2], manner, device_difference(&whole, &parts));
      CHECK(q >= 4 || apart(whole.state->v_old, parts.state->v_old, 3 * whole.state->n) == 0);
      world_destroy(&parts);
    }
    world_destroy(&whole);
  }
}

/* A run queues the steps of the next frame before it writes one, and a frame is read between them:
 * its steps are those of a simulation that makes them all at once. With `touches` the caller takes
 * the state after each frame, so that the queued steps are thrown away. */
static void compare_run(const char *integrator, bool touches) {
  static const char text[] =
      "{'time': {'duration': 0.3, 'step': 0.0125, 'frames_per_second': 10}, 'bodies': [{'shape': "
      "{'type': 'grid', 'nx': 9, 'ny': 8}, 'springs': {'k': 400, 'shear': true, 'damping': 0.1}}], "
      "'pins': [{'select': 'left'}], 'forces': ['gravity'], 'integrator': {'type': '%s', "
      "'minimizer': {'type': 'newton', 'linear': {'type': 'pcg', 'preconditioner': 'multigrid'}}}, "
      "'outputs': []}";
  HkContext context = hk_context_default();
  HkRunOptions options = hk_run_options_default();
  HkScene *scene = NULL;
  HkRun *run = NULL;
  World whole;
  char one[700], folder[300];
  DeviceWish remote = {NULL, HK_CUDA};
  HkStatus status = HK_OK;
  snprintf(one, sizeof one, text, integrator);
  const char *json = test_json(one);
  snprintf(folder, sizeof folder, "%s/run", test_folder());
  context.device = HK_CUDA;
  options.folder = folder;
  MUST(device_make(json, NULL, &remote, &whole, error));
  MUST(hk_sim_steps(whole.sim, whole.state, 24, error));
  MUST(hk_scene_parse(&context, json, strlen(json), "cloth", NULL, NULL, 0, &scene, error));
  MUST(hk_run_create(scene, &options, &run, error));
  while (status == HK_OK) {
    status = hk_run_frame(run, NULL);
    if (touches) hk_state_x(hk_run_state(run));
  }
  CHECK(status == HK_DONE && hk_run_progress(run).steps == 24);
  const HkState *end = hk_run_state(run);
  CHECK(apart(hk_state_positions(end), hk_state_positions(whole.state), 3 * end->n) == 0);
  CHECK(end->h_old > 0 && apart(end->v_old, whole.state->v_old, 3 * end->n) == 0);
  hk_run_destroy(&run);
  hk_scene_destroy(&scene);
  world_destroy(&whole);
}

TEST(runs_on_a_device_keep_the_step_before_from_frame_to_frame) {
  device_use_plugin();
  for (int q = 0; q < 4; q++) compare_run(q < 2 ? "backward_euler" : "bdf2", q % 2);
}

/* A step of a state that the other one has made: the guess, and so the number of iterations, is
 * that of the machine that makes the step. */
static HkStatus hand_over(World *from, World *to, HkError *error) {
  size_t size = hk_state_packed_size(from->state);
  char *bytes = calloc(size, 1);
  hk_state_pack(from->state, bytes);
  HkStatus status = hk_state_unpack(to->state, bytes, size, "a state", error);
  free(bytes);
  return status;
}

TEST(a_run_goes_from_a_device_to_the_host_and_back) {
  static const char *const ways[] = {"multigrid", "bdf2"};
  device_use_plugin();
  for (int q = 0; q < 2; q++) {
    World here, there, other;
    char text[1100];
    DeviceWish local = {ways[q], HK_CPU}, remote = {ways[q], HK_CUDA};
    cloth(1, text, sizeof text);
    MUST(device_make(test_json(text), NULL, &local, &here, error));
    MUST(device_make(test_json(text), NULL, &local, &other, error));
    MUST(device_make(test_json(text), NULL, &remote, &there, error));
    MUST(hk_sim_steps(here.sim, here.state, 9, error));
    MUST(hk_sim_steps(there.sim, there.state, 3, error));
    MUST(hand_over(&there, &other, error));
    MUST(hk_sim_steps(other.sim, other.state, 3, error));
    MUST(hand_over(&other, &there, error));
    MUST(hk_sim_steps(there.sim, there.state, 3, error));
    CHECK(device_difference(&here, &there) < 1e-9);
    world_destroy(&here);
    world_destroy(&there);
    world_destroy(&other);
  }
}

/* A world of the scene `text` whose steps end at their first guess. */
static void guess_world(const char *text, const char *integrator, HkDeviceKind device, World *w) {
  HkMethod step = {0};
  DeviceWish wish = {integrator, device};
  MUST(device_make(text, NULL, &wish, w, error));
  MUST(hk_method_copy(hk_sim_method(w->sim), &step, error));
  HkImplicitParams *p = step.params;
  ((HkStopping *)p->minimizer.params)->iterations = 0;
  hk_sim_destroy(&w->sim);
  MUST(hk_sim_create(w->model, &step, w->scene->time.step, &w->sim, error));
  hk_method_clear(&step);
}

/* The guess of a device is that of the CPU, in every step of a motion. Without the step before it
 * is another one in many of them. */
static void compare_guesses(const char *text, const char *integrator) {
  enum { HERE, THERE, WITHOUT, COUNT };
  World moves, w[COUNT];
  DeviceWish local = {integrator, HK_CPU};
  int others = 0;
  MUST(device_make(text, NULL, &local, &moves, error));
  for (int q = 0; q < COUNT; q++)
    guess_world(text, integrator, q == HERE ? HK_CPU : HK_CUDA, &w[q]);
  for (int step = 0; step < 12; step++) {
    for (int q = 0; q < COUNT; q++) {
      MUST(hand_over(&moves, &w[q], error));
      if (q == WITHOUT) hk_state_set_time(w[q].state, hk_state_time(w[q].state));
      CHECK(hk_sim_step(w[q].sim, w[q].state, NULL) >= 0);
    }
    CHECK(device_difference(&w[HERE], &w[THERE]) < 1e-13);
    others += device_difference(&w[HERE], &w[WITHOUT]) > 1e-7;
    MUST(hk_sim_step(moves.sim, moves.state, error));
  }
  if (!(others >= 4))
    test_fail(integrator, 0, "the step before mattered in %d of 12 steps", others);
  world_destroy(&moves);
  for (int q = 0; q < COUNT; q++) world_destroy(&w[q]);
}

TEST(the_guess_on_a_device_is_that_of_the_host) {
  static const char *const ways[] = {"multigrid", "bdf2"};
  device_use_plugin();
  for (int q = 0; q < 4; q++) {
    char text[1100];
    compare_guesses(cloth(q / 2, text, sizeof text), ways[q % 2]);
    snprintf(text, sizeof text, flying, media[q / 2]);
    compare_guesses(test_json(text), ways[q % 2]);
  }
}

/* ---- bdf2 ---- */

TEST(steps_by_bdf2_on_a_device_end_where_they_do_on_the_host) {
  device_use_plugin();
  for (int q = 0; q < CLOTHS; q++) {
    char text[1100];
    cloth(q, text, sizeof text);
    device_compare(text, test_json(text), NULL, "bdf2", HK_CUDA_DOUBLE, 5, 1e-9);
    device_compare(text, test_json(text), NULL, "bdf2", HK_CUDA, 5, 1e-9);
  }
  device_compare("block", test_json(solid), NULL, "bdf2", HK_CUDA, 5, 1e-9);
}

TEST(media_in_steps_by_bdf2_on_a_device_act_as_on_the_host) {
  device_use_plugin();
  for (int q = 0; q < 3; q++) {
    char text[900];
    snprintf(text, sizeof text, flying, media[q]);
    device_compare(media[q], test_json(text), NULL, "bdf2", HK_CUDA, 5, 1e-9);
  }
}

/* Kernels of bricks, and damped springs in them. */
static const char large[] =
    "{'time': {'step': 5e-4}, 'bodies': [{'shape': {'type': 'grid', 'nx': 301, 'ny': 211}, "
    "'springs': {'k': 1000, 'shear': true, 'bending': true%s}, 'mass': {'total': 1}, 'spin': [1, "
    "2, 3]}], 'pins': [{'select': 'top_left'}], 'forces': ['gravity', {'type': 'drag', 'per_mass': "
    "2, 'quadratic': 0.001}]}";
static const char *const kinds[] = {", 'damping': 0.003", ", 'tension_only': true", ""};

TEST(bdf2_in_bricks_moves_as_the_host) {
  if (!device_is_gpu()) SKIP("requires a GPU: HOOKE_PLUGINS");
  device_use_plugin();
  for (int q = 0; q < 3; q++) {
    char text[800];
    snprintf(text, sizeof text, large, kinds[q]);
    device_compare(kinds[q], test_json(text), NULL, "bdf2", HK_CUDA, 3, 1e-9);
  }
}

/* Steps of other lengths change A, B and tau. */
TEST(bdf2_on_a_device_takes_steps_of_other_lengths) {
  static const double lengths[] = {0.01, 0.01, 0.005, 0.005, 0.02, 0.01};
  World w[2];
  device_use_plugin();
  for (int q = 0; q < 2; q++) {
    char text[1100];
    DeviceWish wish = {"bdf2", q == 0 ? HK_CPU : HK_CUDA};
    MUST(device_make(cloth(1, text, sizeof text), NULL, &wish, &w[q], error));
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
      MUST(hk_sim_set_h(w[q].sim, lengths[k], error));
      MUST(hk_sim_step(w[q].sim, w[q].state, error));
    }
  }
  CHECK(device_difference(&w[0], &w[1]) < 1e-9);
  world_destroy(&w[0]);
  world_destroy(&w[1]);
}

/* The position of a corner after 0.4 s in the wind. */
static double corner_in_wind(const char *integrator, HkDeviceKind device, double h) {
  World w;
  HkError error = {0};
  DeviceWish wish = {integrator, device};
  const char *text = test_json(
      "{'time': {'step': 0.01}, 'bodies': [{'shape': {'type': 'grid', 'nx': 3, 'ny': 3}, "
      "'springs': {'k': 20, 'damping': 0.05}, 'mass': 0.5}], 'pins': [{'select': 'top_left'}], "
      "'forces': ['gravity', {'type': 'face_wind', 'velocity': [2, 0, 6]}]}");
  HkStatus status = device_make(text, NULL, &wish, &w, &error);
  if (status >= 0) status = hk_sim_set_h(w.sim, h, &error);
  if (status >= 0) status = hk_sim_steps(w.sim, w.state, (int64_t)(0.4 / h + 0.5), &error);
  if (status < 0) test_fail(__FILE__, __LINE__, "%s", error.text);
  double z = status < 0 ? NAN : hk_state_x(w.state)[2];
  world_destroy(&w);
  return z;
}

/* Halving the step leaves a fourth of the error; with one pass over the wind it would leave half.
 */
TEST(bdf2_on_a_device_has_second_order_in_the_wind) {
  device_use_plugin();
  double exact = corner_in_wind("rk4", HK_CPU, 1e-3);
  double rough = fabs(corner_in_wind("bdf2", HK_CUDA, 0.01) - exact);
  double fine = fabs(corner_in_wind("bdf2", HK_CUDA, 0.0025) - exact);
  if (!(fine < rough / 10))
    test_fail("bdf2", 0, "error %g at h = 0.01, %g at a fourth of it", rough, fine);
}

/* Where a corner is after steps of backward_euler with so many passes over the wind. */
static double corner_after_passes(HkDeviceKind device, int passes, double tolerance) {
  World w;
  char text[900];
  HkError error = {0};
  DeviceWish wish = {NULL, device};
  snprintf(text, sizeof text,
           "{'time': {'step': 0.04}, 'bodies': [{'shape': {'type': 'grid', 'nx': 5, 'ny': 5}, "
           "'springs': {'k': 20}, 'mass': 0.1}], 'pins': [{'select': 'top_left'}], 'forces': "
           "['gravity', {'type': 'face_wind', 'velocity': [2, 0, 6]}], 'integrator': {'type': "
           "'backward_euler', 'passes': %d, 'minimizer': {'type': 'newton', 'tolerance': %g, "
           "'linear': {'type': 'pcg', 'preconditioner': 'multigrid'}}}}",
           passes, tolerance);
  HkStatus status = device_make(test_json(text), NULL, &wish, &w, &error);
  if (status >= 0) status = hk_sim_steps(w.sim, w.state, 5, &error);
  if (status < 0) test_fail(__FILE__, __LINE__, "%s", error.text);
  double z = status < 0 ? NAN : hk_state_x(w.state)[3 * 24 + 2];
  world_destroy(&w);
  return z;
}

/* Several passes are made with tolerances at which the step before is remembered, and with others.
 */
TEST(passes_of_backward_euler_on_a_device_are_those_of_the_host) {
  const double tolerances[] = {1e-12, 0.02};
  device_use_plugin();
  for (int q = 0; q < 2; q++) {
    double one = corner_after_passes(HK_CPU, 1, tolerances[q]);
    double here = corner_after_passes(HK_CPU, 3, tolerances[q]);
    double there = corner_after_passes(HK_CUDA, 3, tolerances[q]);
    CHECK(fabs(there - here) < 0.1 * fabs(one - here));
  }
}

/* Defaults, from 1,000 vertices on and below: as many Newton iterations as on the CPU. */
TEST(bdf2_is_solved_by_multigrid_on_a_device) {
  device_use_plugin();
  for (int nx = 11; nx <= 41; nx += 30) {
    int64_t iterations[2] = {0, 0};
    for (int q = 0; q < 2; q++) {
      World w;
      char text[700];
      DeviceWish wish = {NULL, q == 0 ? HK_CPU : HK_CUDA};
      snprintf(text, sizeof text, falling, nx, "", "bdf2");
      MUST(device_make(test_json(text), NULL, &wish, &w, error));
      for (int k = 0; k < 8; k++) {
        CHECK(hk_sim_step(w.sim, w.state, NULL) == HK_OK);
        HkStepInfo r = hk_sim_step_info(w.sim);
        CHECK(r.gradient <= 1e-2);
        CHECK(r.reason == HK_STOP_CONVERGED || r.reason == HK_STOP_STATIONARY || q == 0);
        iterations[q] += r.iterations;
      }
      world_destroy(&w);
    }
    if (nx == 41) CHECK(llabs(iterations[0] - iterations[1]) <= iterations[0] / 3 + 1);
  }
}

/* ---- linear_implicit_euler ---- */

/* Compares steps from places `by` m off those at the start, so that no tension-only spring has
 * exactly its rest length: there K+ jumps, and rounding would decide. */
static void compare_linear(const char *text, HkDeviceKind device, double by) {
  World w[2];
  for (int q = 0; q < 2; q++) {
    DeviceWish wish = {"linear_implicit_euler", q == 0 ? HK_CPU : device};
    MUST(device_make(text, NULL, &wish, &w[q], error));
    double *x = hk_state_x(w[q].state);
    for (int64_t k = 0; k < hk_state_vertex_count(w[q].state); k++) {
      x[3 * k] += by * sin((double)k);
      x[3 * k + 1] += by * cos(3 * (double)k);
    }
    hk_pins_place(w[q].model, w[q].state, 0, x, hk_state_v(w[q].state));
    MUST(hk_sim_steps(w[q].sim, w[q].state, 5, error));
  }
  if (!(device_difference(&w[0], &w[1]) < 1e-9))
    test_fail(__FILE__, __LINE__, "%s: %g", text, device_difference(&w[0], &w[1]));
  world_destroy(&w[0]);
  world_destroy(&w[1]);
}

TEST(linear_steps_on_a_device_end_where_they_do_on_the_host) {
  device_use_plugin();
  for (int q = 0; q < CLOTHS; q++) {
    char text[1100];
    cloth(q, text, sizeof text);
    compare_linear(test_json(text), HK_CUDA_DOUBLE, 3e-3);
    compare_linear(test_json(text), HK_CUDA, 3e-3);
  }
  device_compare("block", test_json(solid), NULL, "linear_implicit_euler", HK_CUDA, 5, 1e-9);
}

TEST(media_in_linear_steps_on_a_device_act_as_on_the_host) {
  device_use_plugin();
  for (int q = 0; q < 3; q++) {
    char text[900];
    snprintf(text, sizeof text, flying, media[q]);
    device_compare(media[q], test_json(text), NULL, "linear_implicit_euler", HK_CUDA, 5, 1e-9);
  }
}

TEST(linear_steps_in_bricks_move_as_the_host) {
  if (!device_is_gpu()) SKIP("requires a GPU: HOOKE_PLUGINS");
  device_use_plugin();
  for (int q = 0; q < 3; q++) {
    char text[800];
    snprintf(text, sizeof text, large, kinds[q]);
    compare_linear(test_json(text), HK_CUDA, 1e-4);
  }
}

/* One iteration of nothing but a linear solver, to its tolerance; what it says is what the CPU
 * says. */
TEST(a_linear_step_on_a_device_is_solved_to_its_tolerance) {
  HkStepInfo info[2];
  device_use_plugin();
  for (int q = 0; q < 2; q++) {
    World w;
    char text[700];
    DeviceWish wish = {NULL, q == 0 ? HK_CPU : HK_CUDA};
    falls("", "linear_implicit_euler", text, sizeof text);
    MUST(device_make(test_json(text), NULL, &wish, &w, error));
    for (int k = 0; k < 5; k++) CHECK(hk_sim_step(w.sim, w.state, NULL) == HK_OK);
    info[q] = hk_sim_step_info(w.sim);
    CHECK(info[q].iterations == 1 && info[q].reason == HK_STOP_CONVERGED);
    CHECK(info[q].gradient == 0 && info[q].projections == 0 && info[q].residual > 0);
    CHECK(info[q].residual <= 2e-12);
    world_destroy(&w);
  }
  CHECK(info[1].linear_iterations <= 2 * info[0].linear_iterations);
}

/* Too few iterations are returned by the next step, as of other steps that do not converge. */
TEST(a_linear_step_on_a_device_that_is_not_solved_says_so) {
  World w;
  char text[900];
  DeviceWish remote = {NULL, HK_CUDA};
  device_use_plugin();
  snprintf(text, sizeof text, falling, 41, "", "@");
  char *at = strstr(text, "'@'");
  snprintf(at, sizeof text - (size_t)(at - text),
           "{'type': 'linear_implicit_euler', 'linear': {'type': 'pcg', 'iterations': 2, "
           "'preconditioner': 'multigrid'}}}");
  MUST(device_make(test_json(text), NULL, &remote, &w, error));
  CHECK(hk_sim_step(w.sim, w.state, NULL) == HK_OK); /* it is on its way */
  HkStepInfo r = hk_sim_step_info(w.sim);
  CHECK(r.iterations == 1 && r.linear_iterations == 2 && r.reason == HK_STOP_ITERATIONS);
  CHECK(hk_sim_step(w.sim, w.state, NULL) == HK_NOT_CONVERGED);
  world_destroy(&w);
}

/* ---- What devices do not support ---- */

TEST(integrators_that_need_multigrid_on_a_device_are_refused_without_it) {
  static const struct {
    const char *method, *says;
  } all[] = {{"{'type': 'bdf2', 'minimizer': 'vertex_block_descent'}", "integrator 'bdf2' with"},
             {"{'type': 'bdf2', 'minimizer': {'type': 'newton', 'linear': 'pcg'}}",
              "preconditioner 'multigrid' only"},
             {"{'type': 'linear_implicit_euler', 'linear': 'pcg'}", "'linear_implicit_euler' with"},
             {"{'type': 'linear_implicit_euler', 'linear': 'cholesky'}",
              "do not support the linear solver 'cholesky'"},
             {"'implicit_midpoint'", "integrator 'implicit_midpoint'; choose"}};
  device_use_plugin();
  for (size_t q = 0; q < sizeof all / sizeof *all; q++) {
    World w;
    HkError error = {0};
    char text[700];
    DeviceWish remote = {NULL, HK_CUDA};
    snprintf(text, sizeof text,
             "{'time': {'step': 0.01}, 'bodies': [{'shape': {'type': 'grid', 'nx': 5, 'ny': 5}, "
             "'springs': {'k': 10}}], 'integrator': %s}",
             all[q].method);
    CHECK(device_make(test_json(text), NULL, &remote, &w, &error) == HK_ERROR_UNSUPPORTED);
    if (!strstr(error.text, all[q].says))
      test_fail(__FILE__, __LINE__, "'%s' does not say '%s'", error.text, all[q].says);
    world_destroy(&w);
  }
}
