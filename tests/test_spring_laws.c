/* Springs that yield, break and follow signals: plasticity, tearing, muscle. */
#include "world.h"

#include "hooke/adjoint.h"
#include "hooke/run.h"

#define MINIMIZED(integrator, minimizer)                                                           \
  "{'type': '" integrator "', 'minimizer': {'type': " minimizer "}}"
#define MULTIGRID "'newton', 'linear': {'type': 'pcg', 'preconditioner': 'multigrid'}"

static const char *const steps[] = {
    "'symplectic_euler'",
    "'verlet'",
    "'rk4'",
    MINIMIZED("backward_euler", "'newton', 'linear': 'ldlt'"),
    MINIMIZED("backward_euler", "'local_global', 'factor': 'ldlt'"),
    MINIMIZED("bdf2", MULTIGRID),
    MINIMIZED("trapezoidal", "'vertex_block_descent'"),
    "'implicit_midpoint'",
    "'linear_implicit_euler'",
    "'beta'",
};
enum { STEPS = sizeof steps / sizeof steps[0], TEXT = 4096 };

/* A spring between two pins, L = 1 m and k = 100 N/m, whose length follows a table. */
#define LOOP                                                                                       \
  "{'integrator': %s, 'time': {'step': %.17g}, 'bodies': [{'shape': {'type': 'chain', 'n': 2, "    \
  "'end': [1, 0, 0]}, 'springs': {'k': 100}}], 'pins': [{'select': {'indices': [0]}}, {'select': " \
  "{'indices': [1]}, 'motion': {'type': 'keyframes', 'table': [[0, 0, 0, 0], [1, %s], [3, %s], "   \
  "[5, %s]]}}], 'forces': [{'type': 'plasticity', 'yield_strain': 0.1, 'hardening': %.17g, "       \
  "'cap': "                                                                                        \
  "%.17g}], 'outputs': []}"

static double length_of(const World *w) {
  const double *x = hk_state_positions(w->state);
  double d[3] = {x[3] - x[0], x[4] - x[1], x[5] - x[2]};
  return sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
}

static double rest_length(const World *w) {
  return hk_state_springs(w->state, w->model).l0[0];
}

/* The force k (l - l0) of a spring whose length went from 1 m to `from` beyond the yield point,
 * and on to `to`, by the closed form of kinematic hardening without a cap: the slope is k, or
 * k H / (1 + H) on the lines a = +-yield + H / (1 + H) (strain -+ yield). */
static double loop_force(double H, double strain, double turn) {
  double slope = H / (1 + H), peak = 0.1 + slope * (turn - 0.1);
  double force = peak - (turn - strain);
  double lower = -0.1 + slope * (strain + 0.1);
  return 100 * fmax(force, lower);
}

TEST(a_spring_that_is_loaded_and_unloaded_follows_the_closed_form) {
  static const double hardenings[] = {0, 0.25, 2};
  char text[TEXT], *back = strdup("0, 0, 0");
  for (int q = 0; q < STEPS; q++)
    for (int p = 0; p < 3; p++)
      for (int fine = 1; fine <= 10; fine *= 10) {
        double H = hardenings[p];
        snprintf(text, sizeof text, LOOP, steps[q], 0.1 / fine, "0.3, 0, 0", "-0.3, 0, 0", back, H,
                 10.0);
        World w = world_parse(text);
        if (!w.sim) return;
        world_steps(&w, 10 * fine);
        double slope = H / (1 + H);
        CHECK_NEAR(100 * (length_of(&w) - rest_length(&w)), 100 * (0.1 + slope * 0.2), 1e-9);
        for (int at = 1; at <= 20; at++) {
          world_steps(&w, fine);
          double strain = 0.3 - 0.03 * at;
          CHECK_NEAR(length_of(&w), 1 + strain, 1e-12);
          CHECK_NEAR(100 * (length_of(&w) - rest_length(&w)), loop_force(H, strain, 0.3), 1e-9);
        }
        world_destroy(&w);
      }
  free(back);
}

/* The energy that a closed loop takes is its area: yield force times plastic way. */
TEST(the_energy_that_a_loop_dissipates_is_its_area) {
  char text[TEXT];
  snprintf(text, sizeof text, LOOP, "'verlet'", 1e-4, "0.3, 0, 0", "-0.3, 0, 0", "0, 0, 0", 0.0,
           10.0);
  World w = world_parse(text);
  if (!w.sim) return;
  world_steps(&w, 50000);
  /* Plastic ways: 0.2 to the peak, 0.4 to the other one, 0.1 on the way back. */
  CHECK_NEAR(world_info(&w).dissipated, 100 * 0.1 * (0.2 + 0.4 + 0.1), 1e-3);
  world_destroy(&w);
}

TEST(plastic_strain_ends_at_the_cap_and_lengths_stay_positive) {
  char text[TEXT];
  snprintf(text, sizeof text, LOOP, "'verlet'", 0.01, "0.9, 0, 0", "-0.99, 0, 0", "0, 0, 0", 0.0,
           0.05);
  World w = world_parse(text);
  if (!w.sim) return;
  world_steps(&w, 100);
  CHECK_NEAR(rest_length(&w), 1.05, 1e-12);
  world_steps(&w, 200);
  CHECK_NEAR(rest_length(&w), 0.95, 1e-12);
  world_destroy(&w);
  snprintf(text, sizeof text, LOOP, "'verlet'", 0.01, "0.9, 0, 0", "-0.999, 0, 0", "0, 0, 0", 0.0,
           1e6);
  w = world_parse(text);
  if (!w.sim) return;
  world_steps(&w, 300);
  CHECK(rest_length(&w) > 0);
  world_destroy(&w);
}

/* Energy is conserved but for what is counted as dissipated. */
static const char NET[] =
    "{'integrator': %s, 'time': {'step': %.17g}, 'bodies': [{'shape': {'type': 'grid', 'nx': 9, "
    "'ny': 8}, 'springs': {'k': 60, 'shear': true, 'bending': true, 'damping': %.17g}, 'mass': "
    "0.8, 'stretch': [1.25, 1.1, 1], 'spin': [0, 0.5, 2]}], 'forces': [%s], 'outputs': []}";

#define YIELDS "{'type': 'plasticity', 'yield_strain': 0.03, 'hardening': 0.1}"
#define BREAKS "{'type': 'tearing', 'strain': 0.12, 'noise': 0.5}"

static World net(const char *step, double h, double damping, const char *forces) {
  char text[TEXT];
  snprintf(text, sizeof text, NET, step, h, damping, forces);
  return world_parse(text);
}

TEST(energy_is_kept_but_for_what_springs_lose) {
  static const char *const forces[] = {YIELDS, BREAKS, YIELDS ", " BREAKS};
  for (int q = 0; q < 3; q++) {
    World w = net("'verlet'", 2e-4, 0, forces[q]);
    if (!w.sim) return;
    HkStateInfo before = world_info(&w);
    world_steps(&w, 5000);
    HkStateInfo after = world_info(&w);
    CHECK(after.dissipated > 0.05 * before.total);
    CHECK_NEAR(after.total + after.dissipated, before.total, 2e-4 * before.total);
    for (int c = 0; c < 3; c++) {
      CHECK_NEAR(after.momentum[c], before.momentum[c], 1e-12);
      CHECK_NEAR(after.angular_momentum[c], before.angular_momentum[c], 1e-12);
    }
    world_destroy(&w);
  }
}

static bool same_state(const World *a, const World *b) {
  size_t bytes = (size_t)hk_state_vertex_count(a->state) * 3 * sizeof(double);
  HkSpringView s = hk_state_springs(a->state, a->model), t = hk_state_springs(b->state, b->model);
  return memcmp(hk_state_positions(a->state), hk_state_positions(b->state), bytes) == 0 &&
         memcmp(hk_state_velocities(a->state), hk_state_velocities(b->state), bytes) == 0 &&
         memcmp(s.l0, t.l0, (size_t)s.count * sizeof *s.l0) == 0 &&
         (!s.broken || memcmp(s.broken, t.broken, (size_t)s.count) == 0);
}

#define MOVES                                                                                      \
  "{'type': 'muscle', 'springs': 'shear', 'amplitude': 0.2, 'stiffness_amplitude': 0.3, "          \
  "'frequency': 3}, {'type': 'muscle', 'select': {'box': {'min': [-9, -9, -9], 'max': [0.5, 9, "   \
  "9]}}, 'table': "                                                                                \
  "[[0, 0], [0.05, 1], [0.1, -0.5]]}"

/* A state that is saved and loaded into another simulation goes on with the same bits, and so does
 * one that is stepped call by call. */
TEST(motions_with_laws_of_springs_are_resumed_bit_for_bit) {
  for (int q = 0; q < STEPS; q++) {
    World w = net(steps[q], 0.004, 0.01, YIELDS ", " BREAKS ", " MOVES);
    World again = net(steps[q], 0.004, 0.01, YIELDS ", " BREAKS ", " MOVES);
    World single = net(steps[q], 0.004, 0.01, YIELDS ", " BREAKS ", " MOVES);
    char path[1024];
    if (!w.sim || !again.sim || !single.sim) return;
    snprintf(path, sizeof path, "%s/state%d", test_folder(), q);
    world_steps(&w, 11);
    MUST(hk_state_save(w.state, path, error));
    MUST(hk_state_load(again.state, path, error));
    world_steps(&w, 9);
    world_steps(&again, 9);
    for (int step = 0; step < 20; step++) world_steps(&single, 1);
    if (!same_state(&w, &again) || !same_state(&w, &single))
      test_fail(__FILE__, __LINE__, "%s differs", steps[q]);
    CHECK(world_info(&w).dissipated > 0);
    CHECK(world_info(&w).dissipated == world_info(&again).dissipated);
    world_destroy(&w);
    world_destroy(&again);
    world_destroy(&single);
  }
}

TEST(adaptive_steps_change_the_springs_of_the_steps_that_are_kept) {
  char text[TEXT];
  snprintf(text, sizeof text,
           "{'integrator': 'verlet', 'time': {'step': 0.02, 'tolerance': 1e-5}, 'bodies': "
           "[{'shape': {'type': 'grid', 'nx': 9, 'ny': 8}, 'springs': {'k': 60, 'shear': true}, "
           "'mass': 0.8, 'stretch': [1.25, 1.1, 1]}], 'forces': [" YIELDS ", " BREAKS
           "], 'outputs': []}");
  World w = world_parse(text);
  if (!w.sim) return;
  double before = world_info(&w).total;
  world_steps(&w, 20);
  HkStateInfo after = world_info(&w);
  CHECK(hk_sim_step_info(w.sim).substeps > 1);
  CHECK(after.dissipated > 0.05 * before);
  CHECK_NEAR(after.total + after.dissipated, before, 1e-2 * before);
  world_destroy(&w);
}

/* ---- Tearing ---- */

TEST(a_spring_breaks_above_its_strain_or_force_and_not_below) {
  static const char *const laws[] = {"'strain': 0.2", "'force': 20", "'strain': 0.2, 'force': 99"};
  for (int q = 0; q < 3; q++)
    for (int beyond = 0; beyond < 2; beyond++) {
      char text[TEXT];
      snprintf(
          text, sizeof text,
          "{'integrator': 'verlet', 'time': {'step': 0.01}, 'bodies': [{'shape': {'type': "
          "'chain', 'n': 2, 'end': [1, 0, 0]}, 'springs': {'k': 100, 'damping': 1}}], 'pins': "
          "[{'select': {'indices': [0]}}, {'select': {'indices': [1]}, 'motion': {'type': "
          "'keyframes', 'table': [[0, 0, 0, 0], [1, %.12g, 0, 0], [2, -0.5, 0, 0]]}}], 'forces': "
          "[{'type': 'tearing', %s}], 'outputs': []}",
          beyond ? 0.2 + 1e-9 : 0.2 - 1e-9, laws[q]);
      World w = world_parse(text);
      if (!w.sim) return;
      world_steps(&w, 200);
      HkSpringView s = hk_state_springs(w.state, w.model);
      CHECK(s.broken && s.broken[0] == beyond);
      CHECK_NEAR(world_info(&w).dissipated, beyond ? 0.5 * 100 * 0.04 : 0, 1e-6);
      CHECK((world_info(&w).spring == 0) == (beyond == 1));
      world_destroy(&w);
    }
}

/* Which springs break depends on the seed, and on nothing else. */
TEST(the_noise_of_strengths_stays_in_its_bounds_and_follows_its_seed) {
  enum { SPRINGS = 2000 };
  uint8_t broken[3][SPRINGS];
  for (int q = 0; q < 3; q++) {
    char text[TEXT];
    snprintf(text, sizeof text,
             "{'integrator': 'verlet', 'time': {'step': 1e-9}, 'bodies': [{'shape': {'type': "
             "'chain', 'n': %d, 'end': [1, 0, 0]}, 'springs': {'k': 1}, 'stretch': [%g, 1, 1]}], "
             "'forces': [{'type': 'tearing', 'strain': 0.2, 'noise': 0.5, 'seed': %d}], 'outputs': "
             "[]}",
             SPRINGS + 1, 1.2, q / 2 + 1);
    World w = world_parse(text);
    if (!w.sim) return;
    world_steps(&w, 1);
    HkSpringView s = hk_state_springs(w.state, w.model);
    CHECK(s.count == SPRINGS);
    int count = 0;
    for (int e = 0; e < SPRINGS; e++) count += broken[q][e] = s.broken[e];
    CHECK(count > 0.45 * SPRINGS && count < 0.55 * SPRINGS); /* 5 standard deviations */
    world_destroy(&w);
  }
  CHECK(memcmp(broken[0], broken[1], SPRINGS) == 0);
  CHECK(memcmp(broken[0], broken[2], SPRINGS) != 0);
}

TEST(motions_with_laws_of_springs_have_the_same_bits_for_every_number_of_threads) {
  static const char *const integrators[] = {"symplectic_euler", "backward_euler"};
  for (int q = 0; q < 2; q++) {
    const char *text =
        "{'bodies': [{'shape': {'type': 'grid', 'nx': 60, 'ny': 50}, 'springs': {'k': 60, 'shear': "
        "true}, 'mass': 0.8, 'stretch': [1.25, 1.1, 1]}], 'forces': [" YIELDS ", " BREAKS ", " MOVES
        "], 'outputs': []}";
    World one = world_make(text, integrators[q], 1e-3, 1);
    World two = world_make(text, integrators[q], 1e-3, 2);
    if (!one.sim || !two.sim) return;
    world_steps(&one, 20);
    world_steps(&two, 20);
    CHECK(same_state(&one, &two));
    CHECK(world_info(&one).dissipated == world_info(&two).dissipated);
    world_destroy(&one);
    world_destroy(&two);
  }
}

/* ---- Outputs ---- */

/* Returns the bytes of a file of frame 1 of a run; NULL if there is none. */
static char *frame_file(const char *folder, const char *name) {
  char path[1200];
  enum { MOST = 1 << 20 };
  snprintf(path, sizeof path, "%s/%s/frame_000001.%s", folder, name, name);
  FILE *file = fopen(path, "rb");
  char *text = file ? calloc(MOST, 1) : NULL;
  if (file && fread(text, 1, MOST - 1, file) == 0) text[0] = 0;
  if (file) fclose(file);
  return text;
}

static int count_of(const char *text, const char *word) {
  int count = 0;
  for (const char *at = text; (at = strstr(at, word)); at++) count++;
  return count;
}

static bool is_broken(const World *w, int32_t a, int32_t b) {
  HkSpringView s = hk_state_springs(w->state, w->model);
  for (int64_t e = 0; e < s.count; e++)
    if ((s.i[e] == a && s.j[e] == b) || (s.i[e] == b && s.j[e] == a)) return s.broken[e];
  return false;
}

/* The state after as many steps is that of the run. */
TEST(broken_springs_and_torn_faces_are_left_out_of_files) {
  enum { NX = 9, NY = 8 };
  const char *json = test_json(
      "{'integrator': 'verlet', 'time': {'step': 0.002, 'duration': 0.1, 'frames_per_second': 10}, "
      "'bodies': [{'shape': {'type': 'grid', 'nx': 9, 'ny': 8}, 'springs': {'k': 60, 'shear': "
      "true}, 'mass': 0.8, 'stretch': [1.25, 1.1, 1]}], 'forces': [{'type': 'tearing', "
      "'strain': 0.27, 'noise': 0.3}], 'outputs': ['obj', "
      "'vtp', 'energies']}");
  World w = world_make(json, "verlet", 0.002, 0);
  HkRunOptions options = hk_run_options_default();
  HkScene *scene = NULL;
  HkRun *run = NULL;
  char folder[1100], polys[64], lines[64];
  if (!w.sim) return;
  world_steps(&w, 50);
  snprintf(folder, sizeof folder, "%s/torn", test_folder());
  options.folder = folder;
  MUST(hk_scene_parse(NULL, json, strlen(json), "scene", "", NULL, 0, &scene, error));
  MUST(hk_run_create(scene, &options, &run, error));
  while (hk_run_frame(run, NULL) == HK_OK) continue;
  int faces = 0, springs = 0;
  for (int32_t y = 0; y + 1 < NY; y++)
    for (int32_t x = 0; x + 1 < NX; x++) {
      int32_t at = y * NX + x;
      faces += !is_broken(&w, at, at + 1) && !is_broken(&w, at, at + NX) &&
               !is_broken(&w, at + 1, at + 1 + NX) && !is_broken(&w, at + NX, at + 1 + NX);
    }
  HkSpringView s = hk_state_springs(w.state, w.model);
  for (int64_t e = 0; e < s.count; e++) springs += !s.broken[e];
  CHECK(faces > 0 && faces < (NX - 1) * (NY - 1) && springs < s.count);
  char *obj = frame_file(folder, "obj"), *vtp = frame_file(folder, "vtp");
  CHECK(obj && count_of(obj, "\nf ") == faces);
  snprintf(polys, sizeof polys, "NumberOfPolys=\"%d\"", faces);
  snprintf(lines, sizeof lines, "NumberOfLines=\"%d\"", springs);
  CHECK(vtp && strstr(vtp, polys) && strstr(vtp, lines));
  free(obj);
  free(vtp);
  hk_run_destroy(&run);
  hk_scene_destroy(&scene);
  world_destroy(&w);
}

/* ---- Muscles ---- */

/* A mass m = 1 kg on a spring k = 100 N/m (omega = 10 / s) with l0 = 1 + a sin(w t): from rest at
 * 1 m its place is 1 + a omega^2 / (omega^2 - w^2) (sin w t - w / omega sin omega t). */
static double muscle_error(const char *step, double h, int count) {
  char text[TEXT];
  snprintf(text, sizeof text,
           "{'integrator': %s, 'time': {'step': %.17g}, 'bodies': [{'shape': {'type': 'chain', "
           "'n': 2, 'end': [1, 0, 0]}, 'springs': {'k': 100}, 'mass': {'per_vertex': 1}}], 'pins': "
           "[{'select': {'indices': [0]}}], 'forces': [{'type': 'muscle', 'amplitude': 0.1, "
           "'frequency': 0.79577471545947667}], 'outputs': []}",
           step, h);
  World w = world_parse(text);
  if (!w.sim) return NAN;
  world_steps(&w, count);
  double t = h * count, omega = 10, rate = 5;
  double exact = 1 + 0.1 * omega * omega / (omega * omega - rate * rate) *
                         (sin(rate * t) - rate / omega * sin(omega * t));
  double error = length_of(&w) - exact;
  world_destroy(&w);
  return fabs(error);
}

TEST(a_mass_on_a_muscle_follows_the_exact_solution_with_the_order_of_the_integrator) {
  static const struct {
    const char *step;
    int order;
  } cases[] = {
      {"'symplectic_euler'", 1},
      {"'verlet'", 2},
      {"'rk4'", 2},
      {"'backward_euler'", 1},
      {"'implicit_midpoint'", 2},
      {"'trapezoidal'", 2},
      {"'bdf2'", 2},
      {"'linear_implicit_euler'", 1},
      {"'beta'", 1},
  };
  for (size_t q = 0; q < sizeof cases / sizeof cases[0]; q++) {
    double coarse = muscle_error(cases[q].step, 0.002, 500);
    double fine = muscle_error(cases[q].step, 0.001, 1000);
    double order = log2(coarse / fine);
    if (!(order > cases[q].order - 0.2 && fine < 0.02))
      test_fail(__FILE__, __LINE__, "%s: errors %g and %g, order %g", cases[q].step, coarse, fine,
                order);
  }
}

TEST(muscles_of_several_forces_multiply_and_leave_the_state_alone) {
  World w = world_parse(
      "{'integrator': 'verlet', 'time': {'step': 0.5}, 'bodies': [{'shape': {'type': 'chain', "
      "'n': 3, 'end': [2, 0, 0]}, 'springs': {'k': 0.5}}], 'forces': [{'type': 'muscle', "
      "'amplitude': 0.5, 'frequency': 0, 'phase': 90}, {'type': 'muscle', 'select': {'indices': "
      "[0, 1]}, 'amplitude': 0.2, 'stiffness_amplitude': 1, 'table': [[0, 1]]}], 'outputs': []}");
  if (!w.sim) return;
  /* Rest lengths 1.8 and 1.5 m, stiffness 1 and 0.5 N/m, at lengths of 1 m. */
  CHECK_NEAR(world_info(&w).spring, 0.5 * 1 * 0.64 + 0.5 * 0.5 * 0.25, 1e-12);
  world_steps(&w, 3);
  CHECK(!hk_state_springs(w.state, w.model).broken);
  world_destroy(&w);
}

/* ---- Refusals ---- */

TEST(laws_that_cannot_be_are_refused_with_their_place) {
  static const struct {
    const char *forces, *says;
  } cases[] = {
      {"{'type': 'plasticity', 'yield_strain': -1}", "yield"},
      {"{'type': 'tearing'}", "give \"strain\", \"force\" or both"},
      {"{'type': 'tearing', 'strain': 0.1}, {'type': 'plasticity', 'yield_strain': 0.1}",
       "before they"},
      {"{'type': 'plasticity', 'yield_strain': 0.2}, {'type': 'tearing', 'strain': 0.1}",
       "before they"},
      {"{'type': 'muscle', 'amplitude': 1.5}", "amplitude"},
      {"{'type': 'muscle', 'table': [[0, -20]]}", "in the table"},
      {"{'type': 'muscle', 'table': [[1, 0], [0, 0]]}", "table"},
      {"{'type': 'muscle', 'springs': 'bending'}", "no spring"},
  };
  for (size_t q = 0; q < sizeof cases / sizeof cases[0]; q++) {
    char text[TEXT];
    HkScene *scene = NULL;
    HkModel *model = NULL;
    HkError error = {0};
    snprintf(text, sizeof text,
             "{'bodies': [{'shape': {'type': 'grid', 'nx': 3, 'ny': 3}}], 'forces': [%s]}",
             cases[q].forces);
    const char *json = test_json(text);
    HkStatus status =
        hk_scene_parse(NULL, json, strlen(json), "scene", "", NULL, 0, &scene, &error);
    if (status >= 0) status = hk_model_compile(scene, &model, &error);
    if (status >= 0 || !strstr(error.text, cases[q].says))
      test_fail(__FILE__, __LINE__, "%s: %s", cases[q].forces, error.text);
    CHECK(error.line > 0);
    hk_model_destroy(&model);
    hk_scene_destroy(&scene);
  }
}

TEST(other_springs_may_yield_after_they_break) {
  World w =
      world_parse("{'bodies': [{'shape': {'type': 'grid', 'nx': 3, 'ny': 3}, 'springs': "
                  "{'shear': true}}], 'forces': [{'type': 'tearing', 'springs': 'shear', "
                  "'strain': 0.1}, {'type': 'plasticity', 'springs': 'edges', 'yield_strain': "
                  "0.2}], 'outputs': []}");
  CHECK(w.sim);
  world_destroy(&w);
}

TEST(tapes_and_single_precision_refuse_laws_of_springs) {
  static const char *const forces[] = {YIELDS, BREAKS, "'muscle'"};
  for (int q = 0; q < 3; q++) {
    World w = net("'verlet'", 1e-3, 0, forces[q]);
    World single = net("{'type': 'verlet', 'precision': 'single'}", 1e-3, 0, forces[q]);
    HkTape *tape = NULL;
    HkError error = {0};
    if (!w.sim || !single.sim) return;
    CHECK(hk_tape_create(w.sim, w.state, NULL, &tape, &error) == HK_ERROR_UNSUPPORTED);
    CHECK(hk_sim_step(single.sim, single.state, &error) == HK_ERROR_UNSUPPORTED);
    world_destroy(&w);
    world_destroy(&single);
  }
}
