/* Strain limits: the barrier of steps that minimize, the projections of all others. */
#include "force/force.h"
#include "model_by_hand.h"
#include "world.h"

#include "step/sim.h"

enum { TEXT = 4096 };

#define SHEET(integrator, h, size, more, forces)                                                   \
  "{'integrator': " integrator ", 'time': {'step': " h "}, 'bodies': [{'shape': {'type': 'grid', " \
  "'nx': " size ", 'ny': " size "}, 'springs': {'k': 60, 'shear': true, 'bending': true, "         \
  "'k_bending': 5}" more "}], 'pins': [{'select': 'top'}], 'forces': ['gravity', " forces          \
  "], 'outputs': []}"

#define LIMIT(min, max) "{'type': 'strain_limit', 'min': " min ", 'max': " max "}"

/* ---- The energy ---- */

static double limit_energy(const World *w, const double *x) {
  HkForceArgs a = hk_force_args(w->model, 1, &w->sim->work, 0, x, NULL);
  return w->model->forces[1].type->energy(&a);
}

static void limit_force(const World *w, const double *x, double *f) {
  HkForceArgs a = hk_force_args(w->model, 1, &w->sim->work, 0, x, NULL);
  memset(f, 0, (size_t)w->model->n * 3 * sizeof *f);
  w->model->forces[1].type->add(&a, f);
}

typedef struct Dense {
  HkJacobianSink sink;
  double *J;
  int64_t size;
} Dense;

static void put(HkJacobianSink *sink, int32_t i, int32_t j, const double block[9]) {
  Dense *d = (Dense *)sink;
  for (int c = 0; c < 9; c++) d->J[(3 * i + c / 3) * d->size + 3 * j + c % 3] += block[c];
}

/* A stretched and pressed sheet, with springs within their limits, near them and beyond. */
static World shaken(double size) {
  World w = world_parse("{'integrator': 'backward_euler', 'bodies': [{'shape': {'type': 'grid', "
                        "'nx': 4, 'ny': 4}, 'springs': {'k': 60, 'shear': true}, 'stretch': "
                        "[1.1, 0.93, 1]}], 'forces': [" LIMIT("0.9", "1.12") "], 'outputs': []}");
  uint64_t seed = 5;
  for (int64_t c = 0; w.state && c < 48; c++) hk_state_x(w.state)[c] += size * test_random(&seed);
  return w;
}

/* Edges of the barrier change with iterates only: differences see one energy. */
TEST(force_and_hessian_are_those_of_differences_near_and_beyond_the_limits) {
  enum { SIZE = 48 };
  for (int q = 0; q < 2; q++) {
    World w = shaken(q == 0 ? 0.003 : 0.03);
    double f[SIZE], low[SIZE], high[SIZE], J[SIZE * SIZE] = {0}, step = 1e-7, worst[2] = {0, 0};
    if (!w.sim) return;
    MUST(hk_sim_use_state(w.sim, w.state, error));
    double *x = hk_state_x(w.state), largest = 0, force = 0;
    limit_force(&w, x, f);
    Dense dense = {{.dfdx = put, .dfdv = hk_jacobian_skip}, J, SIZE};
    HkForceArgs a = hk_force_args(w.model, 1, &w.sim->work, 0, x, NULL);
    w.model->forces[1].type->jacobian(&a, &dense.sink);
    for (int c = 0; c < SIZE; c++) {
      double kept = x[c];
      x[c] = kept + step;
      double rise = limit_energy(&w, x);
      limit_force(&w, x, high);
      x[c] = kept - step;
      rise -= limit_energy(&w, x);
      limit_force(&w, x, low);
      x[c] = kept;
      force = fmax(force, fabs(f[c]));
      worst[0] = fmax(worst[0], fabs(rise / (2 * step) + f[c]));
      for (int r = 0; r < SIZE; r++) {
        largest = fmax(largest, fabs(J[r * SIZE + c]));
        worst[1] = fmax(worst[1], fabs((high[r] - low[r]) / (2 * step) - J[r * SIZE + c]));
      }
    }
    CHECK(force > 0 && largest > 0);
    CHECK_NEAR(worst[0], 0, 1e-6 * force);
    CHECK_NEAR(worst[1], 0, 1e-5 * largest);
    world_destroy(&w);
  }
}

/* Over moves from within the limits to far beyond them, and back. */
TEST(changes_of_energy_are_differences_of_energies) {
  for (int q = 0; q < 2; q++) {
    World w = shaken(q == 0 ? 0.003 : 0.03);
    double to[48];
    if (!w.sim) return;
    MUST(hk_sim_use_state(w.sim, w.state, error));
    const double *x = hk_state_positions(w.state);
    HkForceArgs a = hk_force_args(w.model, 1, &w.sim->work, 0, x, NULL);
    for (uint64_t seed = 1; seed < 200; seed++) {
      uint64_t random = seed;
      double size = 1e-4 * pow(10, (double)(seed % 4));
      for (int c = 0; c < 48; c++) to[c] = x[c] + size * test_random(&random);
      double E = limit_energy(&w, x), E_to = limit_energy(&w, to);
      CHECK_NEAR(w.model->forces[1].type->energy_change(&a, to), E_to - E, 1e-12 * (E + E_to));
    }
    world_destroy(&w);
  }
}

/* Line searches need changes far below the rounding of the energy. */
TEST(changes_of_energy_are_accurate_for_small_moves) {
  World w = shaken(0.003);
  double f[48], to[48];
  if (!w.sim) return;
  MUST(hk_sim_use_state(w.sim, w.state, error));
  const double *x = hk_state_positions(w.state);
  HkForceArgs a = hk_force_args(w.model, 1, &w.sim->work, 0, x, NULL);
  limit_force(&w, x, f);
  for (double size = 1e-3; size > 1e-13; size *= 0.1) {
    uint64_t seed = 11;
    double expected = 0, sum = 0;
    for (int c = 0; c < 48; c++) to[c] = x[c] + 1e-3 * size * test_random(&seed);
    double change = w.model->forces[1].type->energy_change(&a, to);
    for (int c = 0; c < 48; c++) {
      expected -= f[c] * (to[c] - x[c]);
      sum += fabs(f[c] * (to[c] - x[c]));
    }
    CHECK_NEAR(change, expected, (1e-6 + 3 * size) * sum);
  }
  world_destroy(&w);
}

/* ---- Steps that minimize ---- */

static const char *const minimizers[] = {
    "{'type': 'backward_euler', 'minimizer': {'type': 'newton', 'linear': 'ldlt'}}",
    "{'type': 'backward_euler', 'minimizer': {'type': 'newton', 'linear': {'type': 'pcg', "
    "'preconditioner': 'multigrid'}}}",
    "{'type': 'bdf2', 'minimizer': {'type': 'newton', 'linear': 'ldlt'}}",
    "{'type': 'backward_euler', 'minimizer': {'type': 'local_global', 'factor': 'ldlt'}}",
    "{'type': 'backward_euler', 'minimizer': {'type': 'lbfgs', 'iterations': 3000}}",
    "{'type': 'backward_euler', 'minimizer': {'type': 'vertex_block_descent', 'iterations': "
    "3000}}",
    "{'type': 'backward_euler', 'minimizer': {'type': 'jacobi', 'iterations': 3000}}",
    "{'type': 'backward_euler', 'minimizer': {'type': 'gradient_descent', 'iterations': 3000}}",
};
/* The first FAST of them solve every step in few iterations. */
enum { MINIMIZERS = sizeof minimizers / sizeof minimizers[0], FAST = 4 };

static World sheet(const char *integrator, double h, int size, const char *more,
                   const char *forces) {
  char text[TEXT];
  snprintf(text, sizeof text,
           "{'integrator': %s, 'time': {'step': %.17g}, 'bodies': [{'shape': {'type': 'grid', "
           "'nx': %d, 'ny': %d}, 'springs': {'k': 60, 'shear': true, 'bending': true, "
           "'k_bending': 5%s}}], 'pins': [{'select': 'top'}], 'forces': ['gravity', %s], "
           "'outputs': []}",
           integrator, h, size, size, more, forces);
  return world_parse(text);
}

TEST(limits_hold_in_every_step_of_every_minimizer) {
  static const double most[] = {1.05, 1.01, 1.001};
  for (int q = 0; q < MINIMIZERS; q++)
    for (int p = 0; p < (q < FAST ? 3 : 1); p++) {
      char limit[200];
      int steps = q < FAST ? 40 : 4;
      snprintf(limit, sizeof limit, LIMIT("0.95", "%g"), most[p]);
      World w = sheet(minimizers[q], 1.0 / 60, q < FAST ? 12 : 6, ", 'damping': 0.001", limit);
      if (!w.sim) return;
      int solved = 0;
      for (int step = 0; step < steps; step++) {
        HkError error;
        HkStatus status = hk_sim_step(w.sim, w.state, &error);
        HkStateInfo info = world_info(&w);
        CHECK(status >= 0);
        solved += status == HK_OK;
        if (status == HK_OK && !(info.strain_max < most[p] - 1 && info.strain_min > -0.05))
          test_fail(__FILE__, __LINE__, "%s, %g: strains %g and %g", minimizers[q], most[p],
                    info.strain_min, info.strain_max);
      }
      if (solved < (q < FAST ? steps : steps / 2))
        test_fail(__FILE__, __LINE__, "%s, %g: %d steps converged", minimizers[q], most[p], solved);
      world_destroy(&w);
    }
}

/* The barrier begins with continuous second derivatives: a sheet that stays within half the way to
 * its limits moves as without them. */
TEST(limits_that_nothing_comes_near_change_nothing) {
  World w = sheet(minimizers[0], 1.0 / 60, 8, "", LIMIT("0.1", "3"));
  World plain = sheet(minimizers[0], 1.0 / 60, 8, "", "{'type': 'drag', 'linear': 0}");
  if (!w.sim || !plain.sim) return;
  world_steps(&w, 30);
  world_steps(&plain, 30);
  const double *x = hk_state_positions(w.state), *y = hk_state_positions(plain.state);
  for (int c = 0; c < 3 * 64; c++) CHECK_NEAR(x[c], y[c], 1e-9);
  world_destroy(&w);
  world_destroy(&plain);
}

/* Springs that begin beyond their limits come back. */
TEST(motions_may_begin_beyond_the_limits) {
  static const char *const integrators[] = {"backward_euler", "bdf2", "verlet"};
  for (int q = 0; q < 3; q++) {
    char text[TEXT];
    snprintf(
        text, sizeof text,
        "{'integrator': '%s', 'time': {'step': %g}, 'bodies': [{'shape': {'type': 'grid', "
        "'nx': 12, 'ny': 12}, 'stretch': [1.3, 1.2, 1], 'springs': {'k': 60, 'shear': true}}], "
        "'forces': [%s], 'outputs': []}",
        integrators[q], q < 2 ? 1.0 / 60 : 1e-3, LIMIT("0.9", "1.05"));
    World w = world_parse(text);
    HkError error;
    if (!w.sim) return;
    CHECK(world_info(&w).strain_max > 0.1);
    for (int step = 0; step < 4; step++) CHECK(hk_sim_step(w.sim, w.state, &error) >= 0);
    for (int step = 0; step < 10; step++) {
      if (q < 2) CHECK(hk_sim_step(w.sim, w.state, &error) == HK_OK);
      if (q == 2) world_steps(&w, 1);
      CHECK(world_info(&w).strain_max < 0.05 * (1 + 1e-3));
    }
    world_destroy(&w);
  }
}

/* Two springs between pins that are too far apart for them: by symmetry the forces balance. */
TEST(steps_with_limits_that_cannot_hold_do_not_converge) {
  for (int q = 0; q < 2; q++) {
    char text[TEXT];
    snprintf(text, sizeof text,
             "{'integrator': '%s', 'time': {'step': 0.01}, 'bodies': [{'shape': {'type': 'chain', "
             "'n': 3, 'end': [2, 0, 0]}, 'stretch': [1.2, 1, 1]}], 'pins': [{'select': "
             "{'indices': [0, 2]}}], 'forces': [%s], 'outputs': []}",
             q ? "verlet" : "backward_euler", LIMIT("0.9", "1.1"));
    World w = world_parse(text);
    HkError error;
    if (!w.sim) return;
    CHECK(hk_sim_step(w.sim, w.state, &error) == HK_NOT_CONVERGED);
    CHECK(hk_sim_step_info(w.sim).reason == HK_STOP_LIMITS);
    world_destroy(&w);
  }
}

/* ---- Projections ---- */

static World flying(const char *integrator, const char *forces) {
  char text[TEXT];
  snprintf(text, sizeof text,
           "{'integrator': %s, 'time': {'step': 0.004}, 'bodies': [{'shape': {'type': 'grid', "
           "'nx': 8, 'ny': 7}, 'springs': {'k': 30, 'shear': true}, 'mass': {'total': 0.7, "
           "'added': [[3, 0.5]]}, 'spin': [1, 3, 6]}], 'forces': [%s], 'outputs': []}",
           integrator, forces);
  return world_parse(text);
}

TEST(projections_hold_the_limits_and_keep_momenta) {
  static const char *const integrators[] = {"'symplectic_euler'", "'verlet'", "'rk4'",
                                            "'implicit_midpoint'", "'linear_implicit_euler'"};
  for (int q = 0; q < 5; q++) {
    World w = flying(integrators[q], LIMIT("0.98", "1.02"));
    World plain = flying(integrators[q], "{'type': 'drag', 'linear': 0}");
    if (!w.sim || !plain.sim) return;
    HkStateInfo before = world_info(&w);
    world_steps(&w, 100);
    world_steps(&plain, 100);
    HkStateInfo info = world_info(&w);
    CHECK(world_info(&plain).strain_max > 0.1);
    CHECK(info.strain_max < 0.02 * (1 + 1e-3) && info.strain_min > -0.02 * (1 + 1e-3));
    double L = 0, off = 0;
    for (int c = 0; c < 3; c++) {
      CHECK_NEAR(info.momentum[c], before.momentum[c], 1e-11);
      L += pow(before.angular_momentum[c], 2);
      off += pow(info.angular_momentum[c] - before.angular_momentum[c], 2);
    }
    double tolerance = q == 0 ? 1e-12 : q == 4 ? 1 : 0.05; /* that one damps rotation by itself */
    if (!(sqrt(off) <= tolerance * sqrt(L)))
      test_fail(__FILE__, __LINE__, "%s: angular momentum changes by %g of %g", integrators[q],
                sqrt(off), sqrt(L));
    CHECK(info.total <= before.total * (1 + 1e-9));
    world_destroy(&w);
    world_destroy(&plain);
  }
}

TEST(motions_with_limits_are_resumed_bit_for_bit) {
  static const char *const more[] = {"'symplectic_euler'", "'rk4'", "'trapezoidal'", "'beta'"};
  for (int q = 0; q < MINIMIZERS + 4; q++) {
    const char *integrator = q < MINIMIZERS ? minimizers[q] : more[q - MINIMIZERS];
    double h = q < MINIMIZERS ? 1.0 / 60 : 0.002;
    World w = sheet(integrator, h, 6, ", 'damping': 0.002", LIMIT("0.9", "1.02"));
    World again = sheet(integrator, h, 6, ", 'damping': 0.002", LIMIT("0.9", "1.02"));
    char path[1024];
    if (!w.sim || !again.sim) return;
    snprintf(path, sizeof path, "%s/state%d", test_folder(), q);
    world_steps(&w, 6);
    MUST(hk_state_save(w.state, path, error));
    MUST(hk_state_load(again.state, path, error));
    world_steps(&w, 6);
    world_steps(&again, 6);
    if (memcmp(hk_state_positions(w.state), hk_state_positions(again.state), 108 * 8) != 0)
      test_fail(__FILE__, __LINE__, "%s differs", integrator);
    world_destroy(&w);
    world_destroy(&again);
  }
}

TEST(limits_give_the_same_bits_for_every_number_of_threads) {
  const char *text = test_json(SHEET("'verlet'", "0.002", "60", "", LIMIT("0.9", "1.02")));
  static const char *const integrators[] = {"backward_euler", "verlet"};
  for (int q = 0; q < 2; q++) {
    World one = world_make(text, integrators[q], 0.002, 1);
    World two = world_make(text, integrators[q], 0.002, 2);
    if (!one.sim || !two.sim) return;
    world_steps(&one, 4);
    world_steps(&two, 4);
    size_t bytes = (size_t)hk_state_vertex_count(one.state) * 3 * sizeof(double);
    CHECK(memcmp(hk_state_positions(one.state), hk_state_positions(two.state), bytes) == 0);
    world_destroy(&one);
    world_destroy(&two);
  }
}

/* Limits follow rest lengths that yield and muscles that pull, and end with broken springs. */
TEST(limits_are_those_of_the_springs_of_the_step) {
  World w = sheet(minimizers[0], 1.0 / 60, 8, ", 'damping': 0.001",
                  "{'type': 'strain_limit', 'max': 1.02}, {'type': 'muscle', 'amplitude': 0.3, "
                  "'frequency': 0.5, 'springs': 'edges'}");
  if (!w.sim) return;
  for (int step = 0; step < 60; step++) {
    world_steps(&w, 1);
    CHECK(world_info(&w).strain_max < 0.02 + 1e-9);
  }
  world_destroy(&w);
}

TEST(limits_that_cannot_be_are_refused) {
  static const struct {
    const char *force, *says;
  } cases[] = {
      {"{'type': 'strain_limit'}", "give \"max\", \"min\" or both"},
      {"{'type': 'strain_limit', 'max': 0.9}", "max"},
      {"{'type': 'strain_limit', 'min': 1.1}", "min"},
      {"{'type': 'strain_limit', 'max': 1}", "give more"},
      {"{'type': 'strain_limit', 'min': 1}", "give less"},
      {"{'type': 'strain_limit', 'max': 1.1, 'stiffness': 0}", "stiffness"},
  };
  for (size_t q = 0; q < sizeof cases / sizeof cases[0]; q++) {
    char text[TEXT];
    HkScene *scene = NULL;
    HkModel *model = NULL;
    HkError error = {0};
    snprintf(text, sizeof text, "{'bodies': [{'shape': 'grid'}], 'forces': [%s]}", cases[q].force);
    const char *json = test_json(text);
    HkStatus status =
        hk_scene_parse(NULL, json, strlen(json), "scene", "", NULL, 0, &scene, &error);
    if (status >= 0) status = hk_model_compile(scene, &model, &error);
    if (status >= 0 || !strstr(error.text, cases[q].says) || error.line == 0)
      test_fail(__FILE__, __LINE__, "%s: %s", cases[q].force, error.text);
    hk_model_destroy(&model);
    hk_scene_destroy(&scene);
  }
}
