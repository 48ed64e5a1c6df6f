/* Implicit steps on a device: that they end where those of the host do, and that steps which do not
 * converge are returned and counted as on the CPU. */
#include "device_world.h"
#include "hooke/run.h"

TEST(implicit_steps_on_a_device_end_where_they_do_on_the_host) {
  static const char text[] =
      "{'dimension': %d, 'time': {'step': 0.01}, 'bodies': [{'shape': {'type': 'grid', 'nx': 7, "
      "'ny': 5}, 'springs': {'k': 200, 'shear': true, 'damping': %g, 'tension_only': %s}, 'mass': "
      "{'total': 1}}], 'pins': [{'select': 'top_left', 'motion': {'type': 'oscillation', "
      "'amplitude': [0.1, 0, 0], 'frequency': 3}}], 'forces': ['gravity', {'type': 'drag', "
      "'per_mass': 2, 'linear': 0.1}, {'type': 'wind', 'velocity': [1, 0, 0]}, {'type': 'handle', "
      "'select': 'top_right', 'target': [2, 2, 0], 'k': 20, 'damping': 1}]}";
  device_use_plugin();
  for (int q = 0; q < 4; q++) {
    char one[900];
    snprintf(one, sizeof one, text, q == 3 ? 2 : 3, q == 1 ? 0.5 : 0.0, q == 2 ? "true" : "false");
    device_compare(one, test_json(one), NULL, "descent", HK_CUDA_DOUBLE, 5, 1e-9);
    device_compare(one, test_json(one), NULL, "descent", HK_CUDA, 1, 1e-5);
    device_compare(one, test_json(one), NULL, "jacobi", HK_CUDA_DOUBLE, 5, 1e-9);
    device_compare(one, test_json(one), NULL, "jacobi", HK_CUDA, 1, 1e-5);
    device_compare(one, test_json(one), NULL, "newton", HK_CUDA_DOUBLE, 5, 1e-9);
    device_compare(one, test_json(one), NULL, "newton", HK_CUDA, 1, 1e-5);
  }
}

/* A cloth large enough for bricks, in which products with the Hessian are made by kernels of their
 * own. */
TEST(newton_in_bricks_moves_as_the_host) {
  static const char cloth[] =
      "{'time': {'step': 1e-4}, 'bodies': [{'shape': {'type': 'grid', 'nx': 301, 'ny': 211}, "
      "'springs': {'k': 1000, 'shear': true, 'bending': true%s}, 'mass': {'total': 1}, 'spin': [1, "
      "2, 3]}], 'pins': [{'select': 'top_left'}], 'forces': ['gravity', {'type': 'drag', "
      "'per_mass': 2, 'quadratic': 0.001}]}";
  static const char *const kinds[] = {", 'damping': 0.003", ", 'tension_only': true", ""};
  if (!device_is_gpu()) SKIP("requires a GPU: HOOKE_PLUGINS");
  device_use_plugin();
  for (int q = 0; q < 3; q++) {
    char text[800];
    snprintf(text, sizeof text, cloth, kinds[q]);
    device_compare(kinds[q], test_json(text), NULL, "newton", HK_CUDA_DOUBLE, 2, 1e-9);
    device_compare(kinds[q], test_json(text), NULL, "newton", HK_CUDA, 1, 1e-6);
  }
}

/* A cloth that flies and turns, partly in the water. */
static const char flying[] =
    "{'time': {'step': 0.01}, 'bodies': [{'shape': {'type': 'grid', 'nx': 7, 'ny': 5}, 'springs': "
    "{'k': 200, 'shear': %s}, 'mass': {'total': 0.3}, 'velocity': [1, -2, 0.5], 'spin': [1, 2, "
    "-1]}], 'pins': [{'select': 'top_left', 'motion': {'type': 'oscillation', 'amplitude': [0.1, "
    "0, 0], 'frequency': 3}}], 'forces': ['gravity', %s]}";

#define WIND                                                                                       \
  "{'type': 'face_wind', 'velocity': [4, 1, 3], 'gust': 0.5, 'turbulence': 0.4, 'drag': 1.2, "     \
  "'lift': 1.5}"
#define DRAG "{'type': 'drag', 'quadratic': 0.02}"
#define WATER "{'type': 'buoyancy', 'level': 0.1, 'thickness': 0.05}"
#define OIL "{'type': 'buoyancy', 'level': -0.05, 'thickness': 0.002, 'fluid_density': 2000}"

TEST(media_in_implicit_steps_on_a_device_act_as_on_the_host) {
  static const struct {
    const char *name, *text;
  } forces[] = {{"wind on faces", WIND},
                {"quadratic drag", DRAG},
                {"water", WATER},
                {"water and oil", WATER ", " OIL},
                {"all media", WIND ", " DRAG ", " WATER ", {'type': 'wind'}"}};
  static const char *const ways[] = {"descent", "jacobi", "newton"};
  device_use_plugin();
  for (int q = 0; q < 5; q++)
    for (int k = 0; k < 3; k++) {
      char one[1000];
      snprintf(one, sizeof one, flying, q == 4 ? "false" : "true", forces[q].text);
      device_compare(forces[q].name, test_json(one), NULL, ways[k], HK_CUDA_DOUBLE, 5, 1e-9);
      device_compare(forces[q].name, test_json(one), NULL, ways[k], HK_CUDA, 1,
                     k == 0 ? 1e-6 : 1e-5);
    }
}

/* In two dimensions, and where a body drops into a fluid whose surface is thinner than a step. */
TEST(bodies_drop_into_a_fluid_on_a_device_as_on_the_host) {
  static const char text[] =
      "{'dimension': %d, 'time': {'step': 0.01}, 'bodies': [{'shape': {'type': 'grid', 'nx': 5, "
      "'ny': 5}, 'springs': {'k': 300, 'shear': true}, 'mass': {'total': 1}, 'velocity': [0, -3, "
      "0]}], 'forces': ['gravity', {'type': 'buoyancy', 'level': -0.51, 'thickness': %g}, {'type': "
      "'drag', 'quadratic': 0.1}]}";
  device_use_plugin();
  for (int q = 0; q < 4; q++) {
    char one[700];
    snprintf(one, sizeof one, text, 2 + q % 2, q < 2 ? 0.1 : 0.001);
    device_compare(one, test_json(one), NULL, "descent", HK_CUDA_DOUBLE, 6, 1e-9);
    device_compare(one, test_json(one), NULL, "newton", HK_CUDA_DOUBLE, 6, 1e-9);
    device_compare(one, test_json(one), NULL, "jacobi", HK_CUDA, 1, 1e-6);
  }
}

/* ---- Steps that do not converge ---- */

/* A cloth that falls from one side, 8 steps a frame, one corner let go in the middle of a frame. */
static const char falling[] =
    "{'time': {'duration': 0.4, 'step': 0.0125, 'frames_per_second': 10}, 'bodies': [{'shape': "
    "{'type': 'grid', 'nx': 6, 'ny': 5}, 'springs': {'k': 40, 'shear': true}}], 'pins': "
    "[{'select': 'left'}, {'select': 'bottom_right', 'release': 0.16}], 'forces': ['gravity'], "
    "'integrator': {'type': 'backward_euler', 'minimizer': {'type': 'vertex_block_descent', "
    "'iterations': %d, 'tolerance': 1e-4}}, 'outputs': ['solver']}";

enum { STEPS = 32, FRAMES = 4, ENOUGH = 2000 };

static const char *falls(int iterations, char *text, size_t size) {
  snprintf(text, size, falling, iterations);
  return test_json(text);
}

TEST(a_step_that_does_not_converge_is_returned_by_the_next_one) {
  World w;
  char text[700];
  DeviceWish remote = {NULL, HK_CUDA_DOUBLE};
  device_use_plugin();
  MUST(device_make(falls(1, text, sizeof text), NULL, &remote, &w, error));
  CHECK(hk_sim_step(w.sim, w.state, NULL) == HK_OK); /* it is on its way */
  HkStepInfo r = hk_sim_step_info(w.sim);
  CHECK(r.iterations == 1 && r.reason == HK_STOP_ITERATIONS && r.gradient > 1e-4);
  CHECK(hk_sim_steps(w.sim, w.state, 3, NULL) == HK_NOT_CONVERGED);
  CHECK_NEAR(hk_state_time(w.state), 4 * 0.0125, 1e-12); /* they are made nevertheless */
  CHECK(hk_sim_step(w.sim, w.state, NULL) == HK_OK);     /* no one has looked */
  hk_state_x(w.state);
  CHECK(hk_sim_step(w.sim, w.state, NULL) == HK_NOT_CONVERGED);
  world_destroy(&w);
}

TEST(steps_that_converge_on_a_device_say_so) {
  World w;
  char text[700];
  DeviceWish remote = {NULL, HK_CUDA_DOUBLE};
  device_use_plugin();
  MUST(device_make(falls(ENOUGH, text, sizeof text), NULL, &remote, &w, error));
  for (int q = 0; q < 5; q++) {
    CHECK(hk_sim_step(w.sim, w.state, NULL) == HK_OK);
    HkStepInfo r = hk_sim_step_info(w.sim);
    CHECK(r.iterations > 1 && r.reason == HK_STOP_STATIONARY && r.gradient <= 1e-4);
  }
  world_destroy(&w);
}

typedef struct Warnings {
  int count;
  char text[512]; /* of the last warning */
} Warnings;

static void on_log(void *user, HkLogLevel level, const char *text) {
  Warnings *log = user;
  if (level != HK_LOG_WARNING) return;
  log->count++;
  snprintf(log->text, sizeof log->text, "%s", text);
}

/* Runs to the end; touches: the state is written after each frame, and the steps that were made
 * ahead are thrown away. */
static HkProgress run(int iterations, bool touches, Warnings *log) {
  HkContext context = hk_context_default();
  HkRunOptions options = hk_run_options_default();
  HkScene *scene = NULL;
  HkRun *made = NULL;
  HkError error = {0};
  HkProgress progress = {0};
  char text[700], folder[300];
  context.device = HK_CUDA_DOUBLE;
  context.log = on_log;
  context.log_user = log;
  snprintf(folder, sizeof folder, "%s/run", test_folder());
  options.folder = folder;
  const char *json = falls(iterations, text, sizeof text);
  HkStatus status =
      hk_scene_parse(&context, json, strlen(json), "cloth", NULL, NULL, 0, &scene, &error);
  if (status >= 0) status = hk_run_create(scene, &options, &made, &error);
  while (status == HK_OK) {
    status = hk_run_frame(made, &error);
    if (touches) hk_state_x(hk_run_state(made))[3 * 29] += 1e-3;
  }
  if (status != HK_DONE) test_fail(__FILE__, __LINE__, "%s", error.text);
  if (made) progress = hk_run_progress(made);
  hk_run_destroy(&made);
  hk_scene_destroy(&scene);
  return progress;
}

TEST(a_run_counts_the_steps_that_do_not_converge_on_a_device) {
  device_use_plugin();
  for (int touches = 0; touches < 2; touches++) {
    Warnings log = {0};
    HkProgress progress = run(1, touches, &log);
    CHECK(progress.frame == FRAMES && progress.steps == STEPS && progress.unconverged == STEPS);
    CHECK(log.count == 1);
    CHECK(strstr(log.text, "8 of the 8 steps to 0.1 s did not converge: 1 iterations"));
    CHECK(strstr(log.text, "more iterations"));
    log = (Warnings){0};
    progress = run(ENOUGH, touches, &log);
    CHECK(progress.steps == STEPS && progress.unconverged == 0 && log.count == 0);
  }
}
