/* A motion on ranks depends on its state alone. */
#include "ranks.h"

#include "base/ranks.h"
#include "model/part.h"

/* Whether arrays of states differ in any bit on any rank. */
static bool differ(const RanksWorld *w, HkState *a, HkState *b) {
  size_t bytes = (size_t)w->model->n * 3 * sizeof(double);
  bool other = memcmp(hk_state_positions(a), hk_state_positions(b), bytes) != 0 ||
               memcmp(hk_state_velocities(a), hk_state_velocities(b), bytes) != 0;
  return hk_model_any(w->model, other);
}

/* Whether ghosts of an array are not what their owners have. */
static bool ghosts_are_off(const RanksWorld *w, const double *values) {
  size_t bytes = (size_t)w->model->n * 3 * sizeof(double);
  double *copy = malloc(bytes + sizeof *copy);
  memcpy(copy, values, bytes);
  hk_part_exchange(w->model, copy);
  bool off = memcmp(copy, values, bytes) != 0;
  free(copy);
  return hk_model_any(w->model, off);
}

static void check_restart(const char *scene, const char *integrator) {
  char chosen[64];
  snprintf(chosen, sizeof chosen, "integrator=%s", integrator);
  const char *sets[] = {chosen, NULL};
  RanksWorld w = {0};
  HkSim *fresh = NULL;
  HkState *copy = NULL;
  MUST(ranks_world(scene, sets, test_ranks(), &w, error));
  MUST(hk_sim_steps(w.sim, w.state, 3, error));
  if (ghosts_are_off(&w, hk_state_positions(w.state)))
    test_fail(__FILE__, __LINE__, "%s, %s: positions of ghosts", scene, integrator);
  if (ghosts_are_off(&w, hk_state_velocities(w.state)))
    test_fail(__FILE__, __LINE__, "%s, %s: velocities of ghosts", scene, integrator);
  MUST(hk_state_create(w.model, &copy, error));
  MUST(hk_state_copy(w.state, copy, error));
  MUST(hk_sim_create(w.model, NULL, 0, &fresh, error));
  MUST(hk_sim_steps(w.sim, w.state, 3, error));
  MUST(hk_sim_steps(fresh, copy, 3, error));
  if (differ(&w, w.state, copy)) test_fail(__FILE__, __LINE__, "%s, %s", scene, integrator);
  hk_sim_destroy(&fresh);
  hk_state_destroy(&copy);
  ranks_world_destroy(&w);
}

TEST(a_simulation_goes_on_from_a_state_with_the_bits_of_another_one) {
  static const char *const scenes[] = {"flag", "jelly_block"};
  static const char *const integrators[] = {"symplectic_euler", "verlet", "backward_euler", "bdf2",
                                            "linear_implicit_euler"};
  for (int k = 0; k < 2; k++)
    for (int q = 0; q < 5; q++) check_restart(scenes[k], integrators[q]);
}
