/* Rules of Newton's method that the CPU and devices share: the rest that decreases let expect, the
 * default tolerance of large models, and what steps with that tolerance are worth. */
#include "device_world.h"
#include "minimize/minimize.h"
#include "step/implicit.h"

TEST(decreases_of_a_geometric_series_let_expect_its_rest) {
  const double rates[] = {0.01, 0.3, 0.8};
  for (int k = 0; k < 3; k++) {
    HkDecreases decreases = hk_decreases_begin();
    double decrease = 2;
    hk_decreases_add(&decreases, 100);
    for (int q = 0; q < 6; q++, decrease *= rates[k]) {
      double rest = 0;
      for (double next = rates[k] * decrease; next > 1e-15 * decrease; next *= rates[k])
        rest += next;
      hk_decreases_add(&decreases, decrease);
      if (q > 1) CHECK_NEAR(hk_decreases_left(&decreases), rest, 1e-12 * decrease);
    }
  }
}

TEST(decreases_that_do_not_shrink_let_expect_a_long_way) {
  HkDecreases decreases = hk_decreases_begin();
  CHECK(!(hk_decreases_left(&decreases) <= 1e300));
  hk_decreases_add(&decreases, 100);
  CHECK_NEAR(hk_decreases_left(&decreases), 100, 0); /* as if the next were half as large */
  hk_decreases_add(&decreases, 1);
  CHECK_NEAR(hk_decreases_left(&decreases), 1, 0); /* the first one says little of the rate */
  hk_decreases_add(&decreases, 1);
  CHECK(hk_decreases_left(&decreases) > 8);
  hk_decreases_add(&decreases, 0.01); /* one short step after long ones proves nothing */
  CHECK(hk_decreases_left(&decreases) > 8);
  hk_decreases_add(&decreases, 0.001);
  CHECK(hk_decreases_left(&decreases) < 0.002);
}

/* A second decrease that is tiny against the first one ends a minimization, as of solids. */
TEST(a_second_decrease_ends_where_nearly_all_was_in_the_first) {
  const double firsts[] = {80, 0.1};
  for (int k = 0; k < 2; k++) {
    HkDecreases decreases = hk_decreases_begin();
    CHECK(!hk_decreases_end(&decreases, 1));
    hk_decreases_add(&decreases, firsts[k]);
    CHECK(!hk_decreases_end(&decreases, 1));
    hk_decreases_add(&decreases, 1.3e-4);
    CHECK(hk_decreases_end(&decreases, 1) == (k == 0));
  }
}

TEST(directions_are_rough_with_multigrid_and_a_large_tolerance) {
  CHECK(hk_newton_is_rough(1.2, true));
  CHECK(!hk_newton_is_rough(1.2, false));
  CHECK(!hk_newton_is_rough(HK_CONVERGED_MAX, true));
}

/* ---- Steps of large models ---- */

static const char cloth[] =
    "{'time': {'step': 0.0166666666666}, 'bodies': [{'shape': {'type': 'grid', 'nx': %d, 'ny': %d, "
    "'plane': 'xz'}, 'springs': {'k': %g, 'shear': true, 'bending': true}, 'mass': {'total': 1}}], "
    "'pins': [{'select': 'top_left'}, {'select': 'top_right'}], 'forces': ['gravity'], "
    "'integrator': {'type': 'backward_euler'%s}}";

static World make(int size, double k, const char *minimizer) {
  World w;
  char text[900];
  HkError error = {0};
  DeviceWish wish = {NULL, HK_CPU};
  snprintf(text, sizeof text, cloth, size, size, k, minimizer);
  if (device_make(test_json(text), NULL, &wish, &w, &error) < 0)
    test_fail(__FILE__, __LINE__, "%s", error.text);
  return w;
}

/* Returns the tolerance of the minimizer that was picked. */
static double picked_tolerance(int size, double k) {
  World w = make(size, k, "");
  const HkImplicitParams *p = w.sim->method.params;
  double tolerance = ((const HkStopping *)p->minimizer.params)->tolerance;
  world_destroy(&w);
  return tolerance;
}

TEST(the_default_tolerance_grows_with_the_mesh_and_is_small_where_springs_are_soft) {
  double coarse = picked_tolerance(129, 1e4), fine = picked_tolerance(257, 1e4);
  CHECK(coarse > 1 && coarse < 2);
  CHECK_NEAR(fine / coarse, 2, 0.1);
  CHECK_NEAR(picked_tolerance(129, 1e6) / coarse, 10, 0.5);
  CHECK_NEAR(picked_tolerance(129, 1e-6), 0.01, 1e-12);
  CHECK_NEAR(picked_tolerance(81, 1e4), 0.01, 1e-12); /* 6,561 vertices */
  CHECK_NEAR(picked_tolerance(129, 1e12), 1000, 0);   /* no more than newton takes */
}

/* Where triangles buckle, steps with rough directions take a few iterations of pcg for each of
 * them, never try the true Hessian, and end near the minimum. Without rough directions these steps
 * take up to 7.5 iterations of pcg for each of Newton's method. */
TEST(discs_that_buckle_take_few_iterations_of_pcg) {
  static const char disc[] =
      "{'time': {'step': 0.0166666666666}, 'bodies': [{'shape': {'type': 'disc', 'rings': 60, "
      "'plane': 'xz'}, 'springs': {'k': 10000, 'bending': true}, 'mass': {'total': 1}}], 'pins': "
      "[{'select': {'nearest': [0.354, 0, 0.354]}}, {'select': {'nearest': [-0.354, 0, 0.354]}}], "
      "'forces': ['gravity'], 'integrator': 'backward_euler'}";
  World w;
  HkError error = {0};
  DeviceWish wish = {NULL, HK_CPU};
  if (device_make(test_json(disc), NULL, &wish, &w, &error) < 0)
    test_fail(__FILE__, __LINE__, "%s", error.text);
  for (int q = 0; q < 12; q++) {
    CHECK(hk_sim_step(w.sim, w.state, NULL) == HK_OK);
    HkStepInfo info = hk_sim_step_info(w.sim);
    CHECK(info.projections == info.iterations && info.iterations < 60);
    CHECK(info.linear_iterations <= 4 * info.iterations);
  }
  world_destroy(&w);
}

#if TEST_SANITIZED
enum { LARGE_STEPS = 2 };
#else
enum { LARGE_STEPS = 6 };
#endif

/* Steps that end by the default tolerance are near a minimum, whatever their relative gradient is:
 * stiff cloth that falls, and soft cloth, for which a tolerance of 1.2 alone would ask for nothing.
 */
TEST(steps_with_a_large_tolerance_end_near_a_minimum) {
  const double stiffness[] = {1e4, 30};
  for (int k = 0; k < 2; k++) {
    World own = make(101, stiffness[k], ", 'minimizer': {'type': 'newton', 'tolerance': 1.2}");
    World solved = make(101, stiffness[k], ", 'minimizer': {'type': 'newton', 'tolerance': 1e-5}");
    const double *mass = hk_model_masses(own.model);
    int64_t n = hk_model_info(own.model).vertices;
    for (int q = 0; q < LARGE_STEPS; q++) {
      double off = 0, moved = 0, *before = malloc((size_t)(3 * n) * sizeof *before);
      memcpy(before, hk_state_positions(own.state), (size_t)(3 * n) * sizeof *before);
      MUST(hk_state_copy(own.state, solved.state, error));
      CHECK(hk_sim_step(own.sim, own.state, NULL) == HK_OK);
      CHECK(hk_sim_step(solved.sim, solved.state, NULL) >= 0);
      CHECK(hk_sim_step_info(own.sim).gradient <= 1.2);
      const double *x = hk_state_positions(own.state), *y = hk_state_positions(solved.state);
      for (int64_t c = 0; c < 3 * n; c++) {
        off += mass[c / 3] * (x[c] - y[c]) * (x[c] - y[c]);
        moved += mass[c / 3] * (y[c] - before[c]) * (y[c] - before[c]);
      }
      CHECK(sqrt(off / moved) <= 0.015);
      free(before);
    }
    world_destroy(&own);
    world_destroy(&solved);
  }
}
