/* The forces that hold pins: what they must add up to, and reactions.csv. */
#include "frames_by_hand.h"
#include "hooke/run.h"
#include "model_by_hand.h"
#include "world.h"

static const double g = 9.81;

/* The sum over all pins (N). */
static void total_reaction(World *w, double sum[3]) {
  int64_t count;
  hk_model_pins(w->model, &count);
  double *R = hand_alloc(3 * count, sizeof *R);
  hk_sim_reactions(w->sim, w->state, R);
  memset(sum, 0, 3 * sizeof *sum);
  for (int64_t p = 0; p < count; p++) hk_axpy(1, R + 3 * p, sum);
  free(R);
}

TEST(pins_are_listed_once_in_rising_order) {
  World w = world_parse("{'bodies': [{'shape': {'type': 'chain', 'n': 6}}], 'pins': [{'select': "
                        "{'indices': [5, 2]}}, {'select': 'start'}], 'outputs': []}");
  if (!w.state) return;
  int64_t count;
  const int32_t *pins = hk_model_pins(w.model, &count);
  CHECK(count == 3 && pins[0] == 0 && pins[1] == 2 && pins[2] == 5);
  world_destroy(&w);
}

/* A chain of n masses m hangs straight down: each spring is longer by the weight below it. */
TEST(hanging_chain_is_held_by_its_weight) {
  enum { N = 12 };
  const double m = 0.3, k = 500;
  World w = world_parse(
      "{'bodies': [{'shape': {'type': 'chain', 'n': 12, 'start': [0,0,0], 'end': [1.1,0,0]}, "
      "'springs': {'k': 500}, 'mass': {'per_vertex': 0.3}}], 'pins': "
      "[{'select': 'start'}], 'forces': ['gravity'], 'outputs': []}");
  if (!w.state) return;
  double *x = hk_state_x(w.state), R[3], f[3 * N];
  for (int q = 1; q < N; q++) {
    x[3 * q] = x[0];
    x[3 * q + 1] = x[3 * (q - 1) + 1] - (0.1 + (N - q) * m * g / k);
    x[3 * q + 2] = x[2];
  }
  hk_sim_forces(w.sim, w.state, f);
  CHECK(test_largest(f + 3, 3 * N - 3) < 1e-11); /* at rest it is */
  hk_sim_reactions(w.sim, w.state, R);
  CHECK_NEAR(R[0], 0, 1e-12);
  CHECK_NEAR(R[1], N * m * g, 1e-11);
  world_steps(&w, 20);
  hk_sim_reactions(w.sim, w.state, R);
  CHECK_NEAR(R[1], N * m * g, 1e-9);
  world_destroy(&w);
}

TEST(cloth_that_came_to_rest_is_held_by_its_weight) {
  const char *pins[] = {"[{'select': 'corners'}]",
                        "{'method': 'reaction', 'list': [{'select': 'corners'}]}"};
  for (int q = 0; q < 2; q++) {
    char text[600];
    snprintf(text, sizeof text,
             "{'bodies': [{'shape': {'type': 'grid', 'nx': 5, 'ny': 5}, 'transform': {'axis': "
             "[1,0,0], 'angle': 90}, 'springs': {'k': 400, 'shear': true, 'damping': 2}, 'mass': "
             "1.5}], 'pins': %s, 'forces': ['gravity', {'type': 'drag', 'linear': 1}], 'outputs': "
             "[], 'time': {'step': 0.004}}",
             pins[q]);
    World w = world_parse(text);
    if (!w.state) return;
    double R[3];
    world_steps(&w, 6000);
    total_reaction(&w, R);
    CHECK_NEAR(R[0], 0, 1e-8 * 1.5 * g);
    CHECK_NEAR(R[1], 1.5 * g, 1e-8 * 1.5 * g);
    CHECK_NEAR(R[2], 0, 1e-8 * 1.5 * g);
    world_destroy(&w);
  }
}

/* Nothing but the pin moves the mass: R = m (a - g). */
TEST(driven_mass_is_moved_by_its_pin_alone) {
  World w = world_parse(
      "{'bodies': [{'mesh': {'vertices': [[0.5,0,0]], 'points': [[0]]}, 'mass': 0.25}], 'pins': "
      "[{'select': 'all', 'motion': {'type': 'oscillation', 'amplitude': [0.1, 0, -0.3], "
      "'frequency': 1.5}}], 'forces': ['gravity'], 'outputs': [], 'time': {'step': 0.01}}");
  if (!w.state) return;
  const double rate = 2 * M_PI * 1.5;
  for (int q = 0; q < 40; q++) {
    double R[3], swing = -0.25 * rate * rate * sin(rate * hk_state_time(w.state));
    hk_sim_reactions(w.sim, w.state, R);
    CHECK_NEAR(R[0], 0.1 * swing, 1e-13);
    CHECK_NEAR(R[1], 0.25 * g, 1e-15);
    CHECK_NEAR(R[2], -0.3 * swing, 1e-13);
    world_steps(&w, 1);
  }
  world_destroy(&w);
}

/* A mass on a circle is drawn to its center with m w^2 r. */
TEST(mass_on_a_circle_is_drawn_to_its_center) {
  World w = world_parse(
      "{'bodies': [{'mesh': {'vertices': [[2,0,0]], 'points': [[0]]}, 'mass': 3}], 'pins': "
      "[{'select': 'all', 'motion': {'type': 'rotation', 'axis': [0,0,1], 'speed': 90}}], "
      "'outputs': [], 'time': {'step': 0.01}}");
  if (!w.state) return;
  double R[3], *x = hk_state_x(w.state);
  world_steps(&w, 37);
  hk_sim_reactions(w.sim, w.state, R);
  for (int c = 0; c < 3; c++) CHECK_NEAR(R[c], -3 * M_PI * M_PI / 4 * x[c], 1e-12);
  world_destroy(&w);
}

/* All forces come from inside but gravity and the pins: together they change the momentum. */
TEST(reactions_and_weight_change_the_momentum) {
  const double h = 1e-5;
  World w = world_make("{'bodies': [{'shape': {'type': 'grid', 'nx': 6, 'ny': 6}, 'springs': {'k': "
                       "100, 'damping': 0.1}, 'mass': 2}], 'pins': [{'select': 'top', 'motion': "
                       "{'type': 'oscillation', 'amplitude': [0, 0.05, 0.1], 'frequency': 2}}], "
                       "'forces': ['gravity'], 'outputs': []}",
                       "rk4", h, 1);
  if (!w.state) return;
  double R[3];
  world_steps(&w, 3000);
  HkStateInfo before = world_info(&w);
  world_steps(&w, 1);
  total_reaction(&w, R);
  world_steps(&w, 1);
  HkStateInfo after = world_info(&w);
  for (int c = 0; c < 3; c++)
    CHECK_NEAR((after.momentum[c] - before.momentum[c]) / (2 * h), R[c] - (c == 1 ? 2 * g : 0),
               1e-5);
  world_destroy(&w);
}

/* Whether pinned vertices are unknowns or not: the motion is the same, and so is what holds them.
 */
TEST(both_methods_of_pins_give_the_same_motion) {
  const char *integrators[] = {"backward_euler", "linear_implicit_euler", "implicit_midpoint"};
  const char *list = "[{'select': 'top', 'motion': {'type': 'oscillation', 'amplitude': [0, 0, "
                     "0.1], 'frequency': 2}}, {'select': 'bottom_left', 'release': 0.2}]";
  for (int q = 0; q < 3; q++) {
    World w[2];
    double sum[2][3];
    for (int method = 0; method < 2; method++) {
      char text[900];
      snprintf(text, sizeof text,
               "{'bodies': [{'shape': {'type': 'grid', 'nx': 6, 'ny': 6}, 'springs': {'k': 500, "
               "'damping': 0.1}}], 'forces': ['gravity'], 'outputs': [], 'pins': {'method': '%s', "
               "'list': %s}}",
               method ? "reaction" : "eliminate", list);
      w[method] = world_make(text, integrators[q], 0.01, 1);
      if (!w[method].state) return;
      world_steps(&w[method], 40);
      total_reaction(&w[method], sum[method]);
    }
    for (int c = 0; c < 108; c++)
      CHECK_NEAR(hk_state_x(w[0].state)[c], hk_state_x(w[1].state)[c], 1e-10);
    for (int c = 0; c < 3; c++) CHECK_NEAR(sum[0][c], sum[1][c], 1e-6);
    world_destroy(&w[0]);
    world_destroy(&w[1]);
  }
}

TEST(released_pins_are_held_by_nothing) {
  World w = world_parse("{'bodies': [{'shape': {'type': 'chain', 'n': 3}}], 'pins': [{'select': "
                        "'start'}, {'select': 'end', 'release': 0.1}], 'forces': ['gravity'], "
                        "'outputs': [], 'time': {'step': 0.01}}");
  if (!w.state) return;
  double R[6];
  hk_sim_reactions(w.sim, w.state, R);
  CHECK(R[1] > 1 && R[4] > 1);
  world_steps(&w, 15);
  hk_sim_reactions(w.sim, w.state, R);
  CHECK(R[1] > 1 && R[3] == 0 && R[4] == 0 && R[5] == 0);
  world_destroy(&w);
}

TEST(plane_scenes_have_no_reaction_across_the_plane) {
  World w = world_parse("{'dimension': 2, 'bodies': [{'shape': {'type': 'chain', 'n': 3}}], "
                        "'pins': [{'select': 'start'}], 'forces': ['gravity', {'type': "
                        "'point_load', 'select': 'all', 'force': [0, 0, 5]}], 'outputs': []}");
  if (!w.state) return;
  double R[3];
  hk_sim_reactions(w.sim, w.state, R);
  CHECK(R[1] > 1 && R[2] == 0);
  world_destroy(&w);
}

/* ---- The output ---- */

static const char *const swing =
    "{'time': {'duration': 0.5, 'step': 0.005, 'frames_per_second': 20}, 'bodies': [{'shape': "
    "{'type': 'grid', 'nx': 4, 'ny': 3}, 'springs': {'k': 200}}], 'pins': [{'select': "
    "'top_left'}, {'select': 'bottom'}, {'select': 'top_right', 'release': 0.2}], 'forces': "
    "['gravity'], 'outputs': [{'type': 'reactions', 'each': 'pin'}]}";

static HkStatus run_frames(const HkScene *scene, const char *folder, bool resume, int most,
                           HkError *error) {
  HkRunOptions options = hk_run_options_default();
  options.folder = folder;
  options.resume = resume;
  options.checkpoint_seconds = 0;
  HkRun *run = NULL;
  HkStatus status = hk_run_create(scene, &options, &run, error);
  for (int q = 0; q < most && status == HK_OK; q++) status = hk_run_frame(run, error);
  hk_run_destroy(&run);
  return status;
}

/* The numbers of row `row` (0 is the first below the titles). */
static int read_row(const char *text, int row, double *values, int most) {
  int count = 0;
  for (; row >= 0 && text; row--) text = strchr(text, '\n') ? strchr(text, '\n') + 1 : NULL;
  for (char *end; text && count < most; text = end + 1) {
    values[count++] = strtod(text, &end);
    if (*end != ',') break;
  }
  return count;
}

TEST(reactions_are_written_for_each_pin_or_vertex) {
  const char *sets[] = {"outputs[0].each=pin", "outputs[0].each=vertex"};
  const char *titles[] = {
      "frame,time,total.fx,total.fy,total.fz,pins[0].fx,pins[0].fy,pins[0].fz,pins[1].fx,"
      "pins[1].fy,pins[1].fz,pins[2].fx,pins[2].fy,pins[2].fz\n",
      "frame,time,total.fx,total.fy,total.fz,vertex0.fx,vertex0.fy,vertex0.fz,vertex1.fx,"};
  double rows[2][11][40];
  for (int q = 0; q < 2; q++) {
    HkScene *scene = NULL;
    char folder[300];
    snprintf(folder, sizeof folder, "%s/run", test_folder());
    MUST(hk_scene_parse(NULL, test_json(swing), strlen(swing), "scene", NULL, &sets[q], 1, &scene,
                        error));
    MUST(run_frames(scene, folder, false, 100, error));
    char *text = hand_read(folder, "reactions.csv", NULL);
    CHECK(strncmp(text, titles[q], strlen(titles[q])) == 0);
    for (int k = 0; k < 11; k++)
      CHECK(read_row(text, k, rows[q][k], 40) == (q == 0 ? 5 + 3 * 3 : 5 + 3 * 6));
    free(text);
    hk_scene_destroy(&scene);
  }
  World w = world_parse(swing); /* the same steps without a run */
  if (!w.state) return;
  for (int k = 0; k < 11; k++) {
    double R[18], *pin = rows[0][k], *vertex = rows[1][k];
    CHECK(pin[0] == k && vertex[0] == k && pin[1] == vertex[1]);
    CHECK_NEAR(pin[1], 0.05 * k, 1e-15);
    hk_sim_reactions(w.sim, w.state, R);
    for (int c = 0; c < 3; c++) {
      double bottom = R[c] + R[3 + c] + R[6 + c] + R[9 + c];
      for (int p = 0; p < 6; p++) CHECK_NEAR(vertex[5 + 3 * p + c], R[3 * p + c], 1e-9);
      CHECK_NEAR(pin[5 + c], R[12 + c], 1e-9);
      CHECK_NEAR(pin[8 + c], bottom, 1e-9);
      CHECK_NEAR(pin[11 + c], R[15 + c], 1e-9);
      CHECK_NEAR(pin[2 + c], bottom + R[12 + c] + R[15 + c], 1e-9);
      CHECK(pin[2 + c] == vertex[2 + c]);
      CHECK((k > 4) == (pin[11 + 1] == 0)); /* released behind frame 4 */
    }
    world_steps(&w, 10);
  }
  world_destroy(&w);
}

TEST(resumed_reactions_have_the_same_bytes) {
  HkScene *scene = NULL;
  char whole[300], parts[300];
  snprintf(whole, sizeof whole, "%s/run", test_folder());
  snprintf(parts, sizeof parts, "%s/run", test_folder());
  MUST(
      hk_scene_parse(NULL, test_json(swing), strlen(swing), "scene", NULL, NULL, 0, &scene, error));
  MUST(run_frames(scene, whole, false, 100, error));
  MUST(run_frames(scene, parts, false, 3, error));
  MUST(run_frames(scene, parts, true, 4, error));
  MUST(run_frames(scene, parts, true, 100, error));
  char *a = hand_read(whole, "reactions.csv", NULL), *b = hand_read(parts, "reactions.csv", NULL);
  CHECK(strlen(a) > 100 && strcmp(a, b) == 0);
  free(a);
  free(b);
  hk_scene_destroy(&scene);
}
