/* Springs that belong to a state: every method takes them, and they are saved, copied and resumed.
 */
#include "world.h"

#include "step/sim.h"

#define CLOTH(integrator, springs)                                                                 \
  "{'integrator': " integrator ", 'time': {'step': 0.004}, 'bodies': [{'shape': {'type': 'grid', " \
  "'nx': 6, 'ny': 5}, 'springs': {" springs ", 'shear': true}, 'mass': 0.8, 'spin': [0, 1, 2]}], " \
  "'pins': [{'select': 'top'}], 'forces': ['gravity'], 'outputs': []}"
#define SOFT "'k': 40, 'rest_scale': 0.9, 'damping': 0.01"
#define STIFF "'k': 100, 'rest_scale': 0.7, 'damping': 0.02"

#define EACH(name, integrator)                                                                     \
  { name, CLOTH(integrator, SOFT), CLOTH(integrator, STIFF) }

static const struct {
  const char *name, *soft, *stiff;
} methods[] = {
    EACH("symplectic_euler", "'symplectic_euler'"),
    EACH("verlet", "'verlet'"),
    EACH("rk4", "'rk4'"),
    EACH("newton", "{'type': 'backward_euler', 'minimizer': {'type': 'newton', 'linear': 'ldlt'}}"),
    EACH("multigrid", "{'type': 'bdf2', 'minimizer': {'type': 'newton', 'linear': {'type': 'pcg', "
                      "'preconditioner': 'multigrid'}}}"),
    EACH("local_global",
         "{'type': 'backward_euler', 'minimizer': {'type': 'local_global', 'factor': 'ldlt'}}"),
    EACH("blocks", "{'type': 'trapezoidal', 'minimizer': 'vertex_block_descent'}"),
    EACH("jacobi", "{'type': 'implicit_midpoint', 'minimizer': 'jacobi'}"),
    EACH("beta", "{'type': 'beta', 'linear': 'ldlt'}"),
};
enum { METHODS = sizeof methods / sizeof methods[0], SPRINGS_MAX = 200 };

static bool same_state(World *a, World *b) {
  size_t bytes = (size_t)hk_state_vertex_count(a->state) * 3 * sizeof(double);
  return memcmp(hk_state_x(a->state), hk_state_x(b->state), bytes) == 0 &&
         memcmp(hk_state_v(a->state), hk_state_v(b->state), bytes) == 0;
}

static HkStatus take_springs(World *to, const World *from, HkError *error) {
  HkSpringView s = hk_model_springs(from->model);
  return hk_state_set_springs(to->state, to->model, s.k, s.l0, s.damping, NULL, error);
}

/* A state with the springs of another model moves as states of that model do, bit for bit. */
TEST(a_state_with_other_springs_moves_as_another_model) {
  for (int q = 0; q < METHODS; q++) {
    World w = world_parse(methods[q].soft), expected = world_parse(methods[q].stiff);
    if (!w.sim || !expected.sim) return;
    MUST(take_springs(&w, &expected, error));
    world_steps(&w, 20);
    world_steps(&expected, 20);
    if (!same_state(&w, &expected)) test_fail(__FILE__, __LINE__, "%s differs", methods[q].name);
    HkStateInfo a = world_info(&w), b = world_info(&expected);
    CHECK(a.total == b.total && a.strain_max == b.strain_max);
    world_destroy(&w);
    world_destroy(&expected);
  }
}

/* One simulation, two states: each is moved by its own springs. */
TEST(a_simulation_may_change_between_states) {
  for (int q = 0; q < METHODS; q++) {
    World w = world_parse(methods[q].soft), stiff = world_parse(methods[q].stiff);
    World soft = world_parse(methods[q].soft);
    HkState *other = NULL;
    if (!w.sim || !stiff.sim || !soft.sim) return;
    MUST(hk_state_create(w.model, &other, error));
    MUST(take_springs(&w, &stiff, error));
    for (int step = 0; step < 10; step++) {
      world_steps(&w, 1);
      MUST(hk_sim_step(w.sim, other, error));
    }
    world_steps(&stiff, 10);
    world_steps(&soft, 10);
    CHECK(same_state(&w, &stiff));
    hk_state_destroy(&w.state);
    w.state = other;
    CHECK(same_state(&w, &soft));
    world_destroy(&w);
    world_destroy(&stiff);
    world_destroy(&soft);
  }
}

TEST(broken_springs_pull_at_nothing) {
  uint8_t broken[SPRINGS_MAX];
  memset(broken, 1, sizeof broken);
  for (int q = 0; q < METHODS; q++) {
    World w = world_parse(methods[q].soft);
    if (!w.sim) return;
    MUST(hk_state_set_springs(w.state, w.model, NULL, NULL, NULL, broken, error));
    int64_t last = 0; /* of the lower edge */
    double y = hk_state_x(w.state)[3 * last + 1], v = hk_state_v(w.state)[3 * last + 1];
    world_steps(&w, 10);
    double fallen = y + v * 0.04 - hk_state_x(w.state)[3 * last + 1];
    CHECK_NEAR(fallen, 0.5 * 9.81 * 0.04 * 0.04, 1.2e-3); /* of first order in h */
    CHECK(world_info(&w).spring == 0);
    world_destroy(&w);
  }
}

TEST(springs_of_a_state_are_saved_copied_and_resumed) {
  World w = world_parse(methods[3].soft), again = world_parse(methods[3].soft);
  HkState *copy = NULL, *packed = NULL;
  uint8_t broken[SPRINGS_MAX] = {[3] = 1, [7] = 1};
  double l0[SPRINGS_MAX];
  char path[1024];
  if (!w.sim || !again.sim) return;
  HkSpringView s = hk_model_springs(w.model);
  CHECK(s.count < SPRINGS_MAX);
  for (int64_t e = 0; e < s.count; e++) l0[e] = (0.8 + 0.001 * (double)e) * s.l0[e];
  MUST(hk_state_set_springs(w.state, w.model, NULL, l0, NULL, broken, error));
  world_steps(&w, 5);
  size_t size = hk_state_packed_size(w.state);
  char *bytes = malloc(size);
  hk_state_pack(w.state, bytes);
  snprintf(path, sizeof path, "%s/state", test_folder());
  MUST(hk_state_save(w.state, path, error));
  MUST(hk_state_load(again.state, path, error));
  MUST(hk_state_create(w.model, &copy, error));
  MUST(hk_state_copy(w.state, copy, error));
  MUST(hk_state_from_bytes(NULL, bytes, size, &packed, error));
  world_steps(&w, 5);
  world_steps(&again, 5);
  CHECK(same_state(&w, &again));
  HkState *others[] = {copy, packed};
  for (int q = 0; q < 2; q++) {
    HkSpringView view = hk_state_springs(others[q], w.model);
    CHECK(memcmp(view.l0, l0, (size_t)s.count * sizeof *l0) == 0 && view.broken[7] == 1);
    for (int step = 0; step < 5; step++) MUST(hk_sim_step(again.sim, others[q], error));
    hk_state_destroy(&again.state);
    again.state = others[q];
    CHECK(same_state(&w, &again));
  }
  copy = NULL;
  hk_state_reset_springs(w.state);
  CHECK(hk_state_springs(w.state, w.model).l0 == s.l0 &&
        !hk_state_springs(w.state, w.model).broken);
  free(bytes);
  world_destroy(&w);
  world_destroy(&again);
}

TEST(springs_that_cannot_be_are_refused_and_change_nothing) {
  World w = world_parse(methods[3].soft);
  World undamped = world_parse(CLOTH("'verlet'", "'k': 40"));
  World single = world_parse(CLOTH("{'type': 'verlet', 'precision': 'single'}", "'k': 40"));
  double values[SPRINGS_MAX] = {0};
  uint8_t broken[SPRINGS_MAX] = {[5] = 2};
  if (!w.sim || !undamped.sim || !single.sim) return;
  values[4] = NAN;
  FAILS(hk_state_set_springs(w.state, w.model, values, NULL, NULL, NULL, error), HK_ERROR_INVALID,
        "spring 4: k = nan");
  values[4] = -1;
  FAILS(hk_state_set_springs(w.state, w.model, NULL, values, NULL, NULL, error), HK_ERROR_INVALID,
        "spring 4: l0 = -1");
  FAILS(hk_state_set_springs(w.state, w.model, NULL, NULL, NULL, broken, error), HK_ERROR_INVALID,
        "spring 5: broken = 2");
  FAILS(hk_state_set_springs(w.state, undamped.model, NULL, NULL, NULL, NULL, error),
        HK_ERROR_INVALID, "another model");
  values[4] = 1;
  FAILS(hk_state_set_springs(undamped.state, undamped.model, NULL, NULL, values, NULL, error),
        HK_ERROR_INVALID, "not damped");
  CHECK(hk_state_springs(w.state, w.model).k == hk_model_springs(w.model).k);
  MUST(hk_state_set_springs(single.state, single.model, values, NULL, NULL, NULL, error));
  FAILS(hk_sim_step(single.sim, single.state, error), HK_ERROR_UNSUPPORTED, "double precision");
  world_destroy(&w);
  world_destroy(&undamped);
  world_destroy(&single);
}
