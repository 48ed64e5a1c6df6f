/* Multigrid keeps the matrices of a solid's first shape while it has hardly moved from there. A
 * step must not depend on the steps before it: a run that is resumed leaves the same bytes. */
#include "world.h"

/* A soft beam that swings far down from rest. */
static const char beam[] =
    "{'time': {'step': 0.0166666666666667}, 'integrator': {'type': 'backward_euler', 'minimizer': "
    "{'type': 'newton', 'accuracy': 1e-3, 'linear': {'type': 'pcg', 'preconditioner': "
    "'multigrid'}}}, 'bodies': [{'shape': {'type': 'block', 'nx': 20, 'ny': 5, 'nz': 5, "
    "'neighbours': 26, 'size': [4, 0.8, 0.8]}, 'springs': {'k': 200, 'shear': false}, 'mass': "
    "{'total': 1}}], "
    "'pins': [{'select': 'left'}], 'forces': ['gravity']}";

/* One step by the simulation that made those before, and one by a new one. */
static void step_both(World *w, int q) {
  HkSim *fresh = NULL;
  HkState *other = NULL;
  MUST(hk_sim_create(w->model, &w->scene->step, w->scene->time.step, &fresh, error));
  MUST(hk_state_create(w->model, &other, error));
  MUST(hk_state_copy(w->state, other, error));
  MUST(hk_sim_step(w->sim, w->state, error));
  MUST(hk_sim_step(fresh, other, error));
  size_t bytes = 3 * (size_t)hk_state_vertex_count(other) * sizeof(double);
  HkStepInfo a = hk_sim_step_info(w->sim), b = hk_sim_step_info(fresh);
  if (memcmp(hk_state_x(w->state), hk_state_x(other), bytes) != 0 ||
      a.linear_iterations != b.linear_iterations)
    test_fail(__FILE__, __LINE__, "step %d: %d and %d linear iterations", q, a.linear_iterations,
              b.linear_iterations);
  CHECK(a.linear_iterations <= 12 * a.iterations);
  hk_sim_destroy(&fresh);
  hk_state_destroy(&other);
}

TEST(steps_with_a_kept_hierarchy_do_not_depend_on_earlier_ones) {
  World w = world_parse(beam);
  HkState *early = NULL;
  MUST(hk_state_create(w.model, &early, error));
  double start = hk_state_x(w.state)[3 * 19 + 1];
  for (int q = 0; q < 16; q++) {
    if (q == 2) MUST(hk_model_scale_stiffness(w.model, 1.5, error));
    if (q == 1) MUST(hk_state_release_pin(w.state, w.model, 20, error));
    step_both(&w, q);
    if (q == 2) MUST(hk_state_copy(w.state, early, error));
  }
  CHECK(start - hk_state_x(w.state)[3 * 19 + 1] > 0.2); /* it has left its first shape */
  MUST(hk_state_copy(early, w.state, error));
  step_both(&w, 16);
  hk_state_destroy(&early);
  world_destroy(&w);
}
