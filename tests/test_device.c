/* Simulations on a device. Without a GPU they are made by a plug-in that plays one on the host
 * (tests/plugin), in the layouts and with the arithmetic of the GPUs; with HOOKE_PLUGINS set to
 * the folder of the real one, the same tests look at the GPU. */
#include "backend/gpu/layout.h"
#include "device_world.h"

/* More than a batch of steps takes long where every access is watched. */
#if TEST_SANITIZED
enum { STEPS = 3, KINDS = 1 };
#else
enum { STEPS = 70, KINDS = 3 };
#endif

TEST(device_moves_every_scene_as_the_host) {
  const char *text, *name;
  static const char *const integrators[] = {"symplectic_euler", "verlet"};
  device_use_plugin();
  for (int q = 0; (text = hk_scene_builtin(q, &name, NULL)); q++)
    for (int k = 0; k < 2 && !world_has_contact(text); k++) {
      device_compare(name, text, NULL, integrators[k], HK_CUDA_DOUBLE, STEPS, 1e-10);
      device_compare(name, text, NULL, integrators[k], HK_CUDA, 1, 1e-6);
    }
}

/* Large enough for bricks. */
static const char cloth[] =
    "{'time': {'step': 1e-5}, 'bodies': [{'shape': {'type': 'grid', 'nx': 301, 'ny': 211}, "
    "'springs': "
    "{'k': 1000, 'shear': true, 'bending': true%s}, 'mass': {'total': 1}}], 'pins': [{'select': "
    "'top_left'}], 'forces': ['gravity', {'type': 'drag', 'per_mass': 2, 'quadratic': 0.001}]}";

TEST(bricks_move_as_the_host) {
  static const char *const kinds[] = {", 'damping': 0.003", ", 'tension_only': true", ""};
  device_use_plugin();
  for (int q = 0; q < KINDS; q++) {
    char text[800];
    snprintf(text, sizeof text, cloth, kinds[q]);
    device_compare(kinds[q], test_json(text), NULL, "symplectic_euler", HK_CUDA_DOUBLE, 4, 1e-12);
    device_compare(kinds[q], test_json(text), NULL, "symplectic_euler", HK_CUDA, 1, 1e-6);
  }
}

/* Two steps at once, and the odd one that is left, are as good as one after the other. */
TEST(steps_by_twos_are_those_one_by_one) {
  World ones, all;
  DeviceWish remote = {"symplectic_euler", HK_CUDA_DOUBLE};
  const char *text = test_json(
      "{'time': {'step': 1e-3}, 'bodies': [{'shape': {'type': 'block', 'nx': 9, 'ny': 8, 'nz': 7, "
      "'neighbours': 26}, 'springs': {'k': 100}, 'mass': {'total': 1}}], 'pins': [{'select': "
      "'left'}], 'forces': ['gravity', {'type': 'drag', 'per_mass': 1}]}");
  device_use_plugin();
  MUST(device_make(text, NULL, &remote, &ones, error));
  MUST(device_make(text, NULL, &remote, &all, error));
  for (int q = 0; q < 7; q++) MUST(hk_sim_step(ones.sim, ones.state, error));
  MUST(hk_sim_steps(all.sim, all.state, 7, error));
  CHECK(device_difference(&ones, &all) < 1e-14);
  world_destroy(&ones);
  world_destroy(&all);
}

/* One k and lengths of its own for each spring; then k l0 the same for all. */
TEST(irregular_meshes_move_as_the_host) {
  static const char text[] =
      "{'time': {'step': 1e-4}, 'bodies': [{'shape': {'type': 'ball', 'shells': 6}, 'springs': "
      "{%s}, 'mass': {'total': 1}}], 'forces': ['gravity', {'type': 'wind', 'velocity': [3, 0, "
      "1]}, "
      "{'type': 'handle', 'select': {'nearest': [0, 9, 0]}, 'target': [0, 2, 0], 'k': 50, "
      "'damping': 1}, {'type': 'point_load', 'select': {'nearest': [0, 9, 0]}, 'force': [1, 0, "
      "0]}]}";
  static const char *const springs[] = {"'k': 500", "'EA': 50", "'EA': 50, 'damping': 0.01",
                                        "'k': 500, 'tension_only': true"};
  device_use_plugin();
  for (int q = 0; q < 4; q++) {
    char one[900];
    snprintf(one, sizeof one, text, springs[q]);
    device_compare(springs[q], test_json(one), NULL, "verlet", HK_CUDA_DOUBLE, 40, 1e-11);
    device_compare(springs[q], test_json(one), NULL, "verlet", HK_CUDA, 1, 1e-6);
  }
}

TEST(device_takes_models_far_from_the_origin) {
  device_use_plugin();
  device_compare(
      "far",
      test_json("{'time': {'step': 1e-3}, 'bodies': [{'shape': {'type': 'grid', 'nx': 9, 'ny': "
                "9}, 'transform': {'translate': [1e5, 0, 2e5]}, 'springs': {'k': 100}, 'mass': "
                "{'total': 1}}], 'pins': [{'select': 'top_left'}], 'forces': ['gravity']}"),
      NULL, "symplectic_euler", HK_CUDA, 50, 1e-5);
}

TEST(device_releases_pins_in_time) {
  device_use_plugin();
  device_compare(
      "release",
      test_json("{'time': {'step': 1e-3}, 'bodies': [{'shape': {'type': 'chain', 'n': 5}, "
                "'springs': {'k': 100}, 'mass': {'total': 1}}], 'pins': [{'select': 'start', "
                "'release': 0.02}, {'select': 'end', 'motion': {'type': 'rotation', 'speed': 40, "
                "'axis': [0, 0, 1]}}], 'forces': ['gravity']}"),
      NULL, "symplectic_euler", HK_CUDA_DOUBLE, 60, 1e-11);
}

TEST(state_on_a_device_is_fetched_and_written) {
  World here, there;
  DeviceWish local = {"symplectic_euler", HK_CPU}, remote = {"symplectic_euler", HK_CUDA_DOUBLE};
  const char *text = test_json(
      "{'time': {'step': 1e-3}, 'bodies': [{'shape': {'type': 'chain', 'n': 4}, 'springs': {'k': "
      "100}, 'mass': {'total': 1}}], 'pins': [{'select': 'start'}], 'forces': ['gravity']}");
  device_use_plugin();
  MUST(device_make(text, NULL, &local, &here, error));
  MUST(device_make(text, NULL, &remote, &there, error));
  World *worlds[] = {&here, &there};
  HkState *copy = NULL;
  MUST(hk_state_create(there.model, &copy, error));
  for (int q = 0; q < 2; q++) {
    World *w = worlds[q];
    MUST(hk_sim_steps(w->sim, w->state, 7, error));
    hk_state_v(w->state)[3 * 2 + 1] = 0.5;
    MUST(hk_sim_steps(w->sim, w->state, 7, error));
    MUST(hk_state_release_pin(w->state, w->model, 0, error));
    MUST(hk_model_scale_stiffness(w->model, 2, error));
    MUST(hk_sim_steps(w->sim, w->state, 5, error));
    MUST(hk_sim_set_h(w->sim, 2e-3, error));
    MUST(hk_sim_steps(w->sim, w->state, 5, error));
  }
  MUST(hk_state_copy(there.state, copy, error));
  CHECK(device_difference(&here, &there) < 1e-13);
  CHECK_NEAR(hk_state_time(there.state), hk_state_time(here.state), 1e-15);
  /* Another state of the same simulation, then the first one again. */
  MUST(hk_sim_steps(there.sim, copy, 3, error));
  MUST(hk_sim_steps(there.sim, there.state, 3, error));
  for (int q = 0; q < 12; q++) CHECK(hk_state_x(copy)[q] == hk_state_x(there.state)[q]);
  /* A simulation that goes leaves its state here. */
  MUST(hk_sim_steps(there.sim, there.state, 3, error));
  MUST(hk_sim_steps(here.sim, here.state, 6, error));
  hk_sim_destroy(&there.sim);
  CHECK(device_difference(&here, &there) < 1e-13);
  hk_state_destroy(&copy);
  world_destroy(&here);
  world_destroy(&there);
}

/* Moves the fixed pin and gives it a velocity. */
static void move_pin(World *w) {
  for (int c = 0; c < 3; c++) {
    hk_state_x(w->state)[c] += 0.05 * (c + 1);
    hk_state_v(w->state)[c] -= 0.3 * (c + 1);
  }
}

static const char pinned[] =
    "{'time': {'step': 1e-3}, 'bodies': [{'shape': {'type': 'grid', 'nx': 5, 'ny': 4}, 'springs': "
    "{'k': 100, 'shear': true, 'damping': 0.2}, 'mass': {'total': 1}}], 'pins': [{'select': "
    "{'indices': [0, 1]}}], 'forces': ['gravity']}";

/* Moves a fixed pin between steps, here and there. Dampers of bdf2 depend on lengths at the two
 * states before, on the host also with pins where the caller has moved them. */
static void compare_moved_pins(const char *integrator) {
  World here, there;
  const char *set = strcmp(integrator, "bdf2") == 0 ? "bodies[0].springs.damping=0" : NULL;
  DeviceWish local = {integrator, HK_CPU}, remote = {integrator, HK_CUDA_DOUBLE};
  const char *text = test_json(pinned);
  MUST(device_make(text, set, &local, &here, error));
  MUST(device_make(text, set, &remote, &there, error));
  World *worlds[] = {&here, &there};
  for (int q = 0; q < 2; q++) {
    World *w = worlds[q];
    move_pin(w);
    MUST(hk_sim_steps(w->sim, w->state, 4, error));
    CHECK(hk_state_positions(w->state)[1] == 0);
    move_pin(w);
    MUST(hk_sim_step(w->sim, w->state, error));
    CHECK(hk_state_positions(w->state)[1] == 0); /* is read only */
    MUST(hk_sim_steps(w->sim, w->state, 3, error));
    MUST(hk_state_release_pin(w->state, w->model, 0, error));
    MUST(hk_sim_steps(w->sim, w->state, 5, error));
    MUST(hk_state_hold_pin(w->state, w->model, 0, error));
    MUST(hk_sim_steps(w->sim, w->state, 5, error));
  }
  double off = device_difference(&here, &there);
  if (!(off <= 1e-10)) test_fail(integrator, 0, "%s: off by %g", integrator, off);
  world_destroy(&here);
  world_destroy(&there);
}

TEST(pins_that_the_caller_moves_return_on_a_device_as_on_the_host) {
  static const char *const integrators[] = {"symplectic_euler", "verlet",    "descent", "jacobi",
                                            "newton",           "multigrid", "bdf2"};
  device_use_plugin();
  for (int q = 0; q < 7; q++) compare_moved_pins(integrators[q]);
}

/* On the host this integrator linearizes with the pin where it was moved to. */
TEST(a_moved_pin_returns_on_a_device_before_a_linear_step) {
  World still, moved;
  DeviceWish remote = {"linear_implicit_euler", HK_CUDA_DOUBLE};
  device_use_plugin();
  MUST(device_make(test_json(pinned), NULL, &remote, &still, error));
  MUST(device_make(test_json(pinned), NULL, &remote, &moved, error));
  move_pin(&moved);
  MUST(hk_sim_steps(still.sim, still.state, 4, error));
  MUST(hk_sim_steps(moved.sim, moved.state, 4, error));
  CHECK(device_difference(&still, &moved) == 0);
  world_destroy(&still);
  world_destroy(&moved);
}

static double energies_apart(const HkStateInfo *a, const HkStateInfo *b) {
  return fabs(a->kinetic - b->kinetic) + fabs(a->spring - b->spring) +
         fabs(a->gravity - b->gravity);
}

/* By a ten millionth of a meter, here and there. */
static void disturb(World *w) {
  double *x = hk_state_x(w->state);
  for (int64_t q = 0; q < 3 * hk_state_vertex_count(w->state); q++) x[q] += 1e-7 * sin((double)q);
}

/* The energy of each kind after many steps, in parts of what moves. Motions that do not forgive a
 * rounding on the host either are not asked for. */
static void compare_energies(const char *name, const char *text) {
  enum { HOST, DISTURBED, DEVICE, AGAIN, COUNT };
  World w[COUNT] = {{0}};
  HkStateInfo before, after[COUNT];
  HkError error = {0};
  HkStatus status = HK_OK;
  for (int q = 0; q < COUNT && status >= 0; q++) {
    DeviceWish wish = {"symplectic_euler", q < DEVICE ? HK_CPU : HK_CUDA};
    status = device_make(text, NULL, &wish, &w[q], &error);
    if (status >= 0 && q == HOST) hk_sim_state_info(w[q].sim, w[q].state, &before);
    if (status >= 0 && q == DISTURBED) disturb(&w[q]);
    if (status >= 0) status = hk_sim_steps(w[q].sim, w[q].state, 1000, &error);
    if (status >= 0) hk_sim_state_info(w[q].sim, w[q].state, &after[q]);
  }
  if (status >= 0) {
    double scale = after[HOST].kinetic + after[HOST].spring + before.spring +
                   fabs(after[HOST].gravity - before.gravity);
    double chaos = energies_apart(&after[DISTURBED], &after[HOST]) / scale;
    double off = energies_apart(&after[DEVICE], &after[HOST]) / scale;
    printf("    %-16s off by %.1e, disturbed by %.1e\n", name, off, chaos);
    if (chaos < 1e-5 && !(off <= 1e-4)) test_fail(name, 0, "%s: off by %g", name, off);
    size_t bytes = (size_t)hk_state_vertex_count(w[DEVICE].state) * 3 * sizeof(double);
    CHECK(memcmp(hk_state_x(w[DEVICE].state), hk_state_x(w[AGAIN].state), bytes) == 0);
  } else {
    test_fail(name, 0, "%s: %s", name, error.text);
  }
  for (int q = 0; q < COUNT; q++) world_destroy(&w[q]);
}

TEST(a_gpu_keeps_the_energies_and_the_bits) {
  const char *text, *name;
  if (!device_is_gpu()) SKIP("requires a GPU: HOOKE_PLUGINS");
  for (int q = 0; (text = hk_scene_builtin(q, &name, NULL)); q++)
    if (!world_has_contact(text)) compare_energies(name, text);
}

TEST(a_change_that_a_device_does_not_do_can_be_taken_back) {
  World w;
  HkMethod force = {0};
  DeviceWish remote = {"descent", HK_CUDA};
  device_use_plugin();
  MUST(device_make(
      test_json("{'time': {'step': 0.01}, 'bodies': [{'shape': {'type': 'chain', 'n': 4}, "
                "'springs': {'k': 100}, 'mass': {'total': 1}}], 'pins': [{'select': "
                "'start'}], 'forces': ['gravity']}"),
      NULL, &remote, &w, error));
  MUST(hk_sim_steps(w.sim, w.state, 2, error));
  MUST(hk_method_choose(&force, HK_FORCE, "buoyancy", error));
  int index[3]; /* of which a device does two */
  for (int q = 0; q < 3; q++) MUST(hk_model_add_force(w.model, &force, &index[q], error));
  for (int q = 0; q < 2; q++) CHECK(hk_sim_steps(w.sim, w.state, 1, NULL) == HK_ERROR_UNSUPPORTED);
  for (int q = 2; q >= 0; q--) MUST(hk_model_remove_force(w.model, index[q], error));
  MUST(hk_sim_steps(w.sim, w.state, 2, error));
  CHECK_NEAR(hk_state_time(w.state), 0.04, 1e-12);
  hk_method_clear(&force);
  world_destroy(&w);
}

TEST(device_notices_a_blow_up) {
  World w;
  DeviceWish remote = {"symplectic_euler", HK_CUDA};
  device_use_plugin();
  MUST(device_make(
      test_json("{'time': {'step': 1}, 'bodies': [{'shape': {'type': 'chain', 'n': 4}, "
                "'springs': {'k': 1e4}, 'mass': {'total': 1}}], 'pins': [{'select': 'start'}], "
                "'forces': ['gravity']}"),
      NULL, &remote, &w, error));
  MUST(hk_sim_steps(w.sim, w.state, 40, error));
  hk_state_x(w.state);
  CHECK(hk_sim_steps(w.sim, w.state, 1, NULL) == HK_ERROR_BLOWUP);
  world_destroy(&w);
}

static void refuses(const char *text, const char *integrator, const char *word) {
  World w;
  HkError error = {0};
  DeviceWish remote = {integrator, HK_CUDA};
  HkStatus status = device_make(test_json(text), NULL, &remote, &w, &error);
  if (status >= 0 || !strstr(error.text, word))
    test_fail(word, 0, "refused with status %d: %s", status, error.text);
  world_destroy(&w);
}

TEST(device_refuses_by_name_what_it_does_not_do) {
  static const char text[] =
      "{'bodies': [{'shape': {'type': 'chain', 'n': 4}, 'springs': {'k': 10}}]}";
  device_use_plugin();
  refuses(text, "rk4", "rk4");
  refuses("{'integrator': {'type': 'backward_euler', 'minimizer': 'local_global'}, 'bodies': [{"
          "'shape': {'type': 'chain', 'n': 4}, 'springs': {'k': 10}}]}",
          NULL, "local_global");
  refuses("{'integrator': {'type': 'backward_euler', 'minimizer': {'type': 'newton', 'linear': "
          "'cholesky'}}, 'bodies': [{'shape': {'type': 'chain', 'n': 4}, 'springs': {'k': 10}}]}",
          NULL, "cholesky");
  refuses("{'integrator': {'type': 'backward_euler', 'passes': 2, 'minimizer': 'newton'}, "
          "'bodies': [{'shape': {'type': 'chain', 'n': 4}, 'springs': {'k': 10}}]}",
          NULL, "passes");
  refuses(
      "{'time': {'tolerance': 1e-3}, 'bodies': [{'shape': {'type': 'chain', 'n': 4}, 'springs': "
      "{'k': 10}}]}",
      "symplectic_euler", "time.tolerance");
  refuses("{'bodies': [{'shape': {'type': 'chain', 'n': 4}, 'springs': {'k': 10}}], 'forces': "
          "['buoyancy', 'buoyancy', 'buoyancy']}",
          "verlet", "buoyancy");
}

TEST(a_missing_plug_in_or_gpu_is_an_error) {
  static const char text[] =
      "{'bodies': [{'shape': {'type': 'chain', 'n': 4}, 'springs': {'k': 10}}]}";
  if (device_is_gpu()) SKIP("this is a real plug-in");
  setenv("HOOKE_PLUGINS", "/nowhere", 1);
  refuses(text, "verlet", "HOOKE_CUDA");
  setenv("HOOKE_PLUGINS", TEST_PLUGINS, 1);
  setenv("HOOKE_TEST_NO_GPU", "1", 1);
  refuses(text, "verlet", "there is no GPU");
  unsetenv("HOOKE_TEST_NO_GPU");
  setenv("HOOKE_TEST_SMALL_GPU", "1", 1);
  refuses("{'bodies': [{'shape': {'type': 'chain', 'n': 400}, 'springs': {'k': 10}}]}", "verlet",
          "80000 bytes");
  unsetenv("HOOKE_TEST_SMALL_GPU");
}

/* ---- Layouts ---- */

static HkStatus layout_of(const char *text, const HkGpuLayoutOptions *options, World *w,
                          HkGpuLayout **layout, HkError *error) {
  *w = world_make(text, NULL, 0, 2);
  if (!w->model) return HK_ERROR_INVALID;
  return hk_gpu_layout_create(w->model, options, layout, error);
}

TEST(order_is_a_permutation) {
  World w;
  HkGpuLayout *l = NULL;
  MUST(layout_of("{'bodies': [{'shape': {'type': 'ball', 'shells': 9}, 'springs': {'k': 1}}]}",
                 &(HkGpuLayoutOptions){0}, &w, &l, error));
  int8_t *seen = calloc((size_t)l->n, 1);
  for (int64_t q = 0; q < l->n; q++) {
    CHECK(l->place[l->order[q]] == q);
    CHECK(seen[l->order[q]]++ == 0);
  }
  free(seen);
  hk_gpu_layout_destroy(&l);
  world_destroy(&w);
}

/* A halo of two vertices around a square of 512 would have 0.39 of their number. */
TEST(bricks_of_a_cloth_are_compact) {
  World w;
  HkGpuLayout *l = NULL;
  MUST(
      layout_of("{'bodies': [{'shape': {'type': 'grid', 'nx': 317, 'ny': 203}, 'springs': {'k': 1, "
                "'shear': true, 'bending': true}}]}",
                &(HkGpuLayoutOptions){.bricks = true}, &w, &l, error));
  CHECK(l->brick_count == (317 * 203 + 511) / 512);
  CHECK(l->parameters == HK_GPU_BY_PALETTE && l->slots == 12);
  double halo = (double)l->halo_start[l->brick_count] / (double)l->n;
  if (!(halo < 0.45)) test_fail(__FILE__, __LINE__, "a halo of %g", halo);
  hk_gpu_layout_destroy(&l);
  world_destroy(&w);
}

TEST(bricks_that_do_not_fit_the_shared_memory_of_a_block_become_rows) {
  const char *text = "{'bodies': [{'shape': {'type': 'grid', 'nx': 80, 'ny': 60}, 'springs': {'k': "
                     "1, 'shear': true, 'bending': true}}]}";
  World w;
  HkGpuLayout *l = NULL;
  MUST(layout_of(text, &(HkGpuLayoutOptions){.bricks = true}, &w, &l, error));
  int most = (int)l->most_local;
  CHECK(l->brick_count > 0 && most > HK_GPU_BRICK);
  for (int less = 0; less < 2; less++) {
    hk_gpu_layout_destroy(&l);
    world_destroy(&w);
    MUST(layout_of(text, &(HkGpuLayoutOptions){.bricks = true, .most_local = most - less}, &w, &l,
                   error));
    CHECK((l->brick_count > 0) == (less == 0));
  }
  hk_gpu_layout_destroy(&l);
  world_destroy(&w);
}

/* The vertex with a number in a brick. */
static int32_t vertex_of(const HkGpuLayout *l, int64_t brick, int64_t local) {
  int64_t own = l->brick[brick + 1] - l->brick[brick];
  return l
      ->order[local < own ? l->brick[brick] + local : l->halo[l->halo_start[brick] + local - own]];
}

/* A row has the springs of its vertex, in their order, and fills up with itself. */
static bool row_is_right(const HkGpuLayout *l, const HkModel *m, int64_t brick, int64_t local) {
  int64_t vertex = vertex_of(l, brick, local), first = m->adj_start[vertex];
  int64_t all =
      l->brick[brick + 1] - l->brick[brick] + l->halo_start[brick + 1] - l->halo_start[brick];
  for (int64_t slot = 0; slot < l->slots; slot++) {
    uint32_t word = l->word[slot / 2 * l->rows + l->brick_row[brick] + local];
    uint32_t half = word >> (slot % 2 * 16) & 0xffff, other = half >> HK_GPU_PALETTE_BITS;
    bool is_spring = first + slot < m->adj_start[vertex + 1];
    int32_t right = is_spring ? m->adj_vertex[first + slot] : (int32_t)vertex;
    if (other >= all || vertex_of(l, brick, other) != right) return false;
    uint32_t color = half & ((1u << HK_GPU_PALETTE_BITS) - 1);
    int64_t spring = is_spring ? m->adj_spring[first + slot] : -1;
    if (color != (is_spring ? (uint32_t)hk_gpu_palette_index(l, m, spring) : 0)) return false;
  }
  return true;
}

TEST(bricks_with_two_halos_hold_the_springs_of_the_first) {
  static const char *const bodies[] = {
      "{'shape': {'type': 'grid', 'nx': 97, 'ny': 61}, 'springs': {'k': 1, 'shear': true, "
      "'bending': true}}",
      "{'shape': {'type': 'block', 'nx': 17, 'ny': 12, 'nz': 11, 'neighbours': 26}, 'springs': "
      "{'k': 1}}",
      "{'shape': {'type': 'chain', 'n': 3}, 'springs': {'k': 1}}"};
  for (int k = 0; k < 3; k++) {
    World w;
    HkGpuLayout *l = NULL;
    char text[300];
    snprintf(text, sizeof text, "{'bodies': [%s]}", bodies[k]);
    MUST(layout_of(text, &(HkGpuLayoutOptions){.twice = true}, &w, &l, error));
    CHECK(l->near != NULL && l->rows >= l->n && l->most_rows <= HK_GPU_TWO_STEP_MAX_ROWS);
    int64_t wrong = 0;
    for (int64_t b = 0; b < l->brick_count; b++)
      for (int64_t q = 0; q < l->brick_row[b + 1] - l->brick_row[b]; q++)
        wrong += !row_is_right(l, w.model, b, q);
    CHECK(wrong == 0);
    hk_gpu_layout_destroy(&l);
    world_destroy(&w);
  }
}

/* Kernels for bricks have no more than 26 slots; here each vertex is tied to 27 others. */
TEST(vertices_with_many_neighbors_are_laid_out_in_rows) {
  enum { COUNT = 28 };
  static char text[4000];
  size_t size = sizeof text, used = (size_t)snprintf(text, size, "{'bodies': [{'mesh': {");
  for (int q = 0; q < COUNT; q++)
    used += (size_t)snprintf(text + used, size - used, "%s[%d,%d,0]",
                             q == 0 ? "'vertices': [" : ",", q % 7, q / 7);
  for (int q = 0; q < COUNT * COUNT; q++)
    if (q / COUNT < q % COUNT)
      used += (size_t)snprintf(text + used, size - used, "%s[%d,%d]",
                               q == 1 ? "], 'lines': [" : ",", q / COUNT, q % COUNT);
  snprintf(text + used, size - used, "]}, 'springs': {'k': 1}}]}");
  World w;
  HkGpuLayout *l = NULL;
  MUST(layout_of(text, &(HkGpuLayoutOptions){.bricks = true, .twice = true}, &w, &l, error));
  CHECK(l->half_springs == COUNT * (COUNT - 1));
  CHECK(l->brick_count == 0 && !l->near && l->row_start != NULL);
  hk_gpu_layout_destroy(&l);
  world_destroy(&w);
}

/* One vertex in the middle that all others are tied to. */
static void write_star(char *text, size_t size) {
  size_t used = (size_t)snprintf(text, size, "{'bodies': [{'mesh': {'vertices': [[0, 0, 0]");
  for (int q = 0; q < 90; q++)
    used += (size_t)snprintf(text + used, size - used, ", [%d, 1, %d]", q % 17 + 1, q / 17);
  used += (size_t)snprintf(text + used, size - used, "], 'lines': [[0, 1]");
  for (int q = 1; q < 90; q++)
    used += (size_t)snprintf(text + used, size - used, ", [0, %d]", q + 1);
  snprintf(text + used, size - used, "]}, 'springs': {'k': 1}}]}");
}

TEST(a_star_is_laid_out_in_rows) {
  char text[6000];
  write_star(text, sizeof text);
  World w;
  HkGpuLayout *l = NULL;
  MUST(layout_of(text, &(HkGpuLayoutOptions){.bricks = true}, &w, &l, error));
  CHECK(l->brick_count == 0 && l->row_start != NULL);
  hk_gpu_layout_destroy(&l);
  world_destroy(&w);
}

/* ---- Derivatives of a state on the device ---- */

TEST(stiffness_and_energy_gradient_are_those_of_the_state_on_the_device) {
  static const char text[] =
      "{'time': {'step': 0.001}, 'bodies': [{'shape': {'type': 'grid', 'nx': 6, 'ny': 5}, "
      "'springs': {'k': 300, 'shear': true}}], 'pins': [{'select': 'top_left'}], 'forces': "
      "['gravity'], 'outputs': []}";
  World there, here;
  HkTriplets *K = NULL, *expected = NULL;
  double g[90], expected_g[90];
  device_use_plugin();
  MUST(device_make(test_json(text), NULL, &(DeviceWish){"verlet", HK_CUDA_DOUBLE}, &there, error));
  MUST(device_make(test_json(text), NULL, &(DeviceWish){"verlet", HK_CPU}, &here, error));
  MUST(hk_sim_steps(there.sim, there.state, 50, error));
  MUST(hk_sim_stiffness(there.sim, there.state, &K, error)); /* before anything fetches the state */
  hk_sim_energy_gradient(there.sim, there.state, g);
  memcpy(hk_state_x(here.state), hk_state_x(there.state), sizeof g);
  MUST(hk_sim_stiffness(here.sim, here.state, &expected, error));
  hk_sim_energy_gradient(here.sim, here.state, expected_g);
  CHECK(hk_state_x(here.state)[1] < -1e-3);
  CHECK(K->count == expected->count);
  CHECK(memcmp(K->value, expected->value, (size_t)K->count * sizeof *K->value) == 0);
  CHECK(memcmp(g, expected_g, sizeof g) == 0);
  hk_triplets_destroy(&K);
  hk_triplets_destroy(&expected);
  world_destroy(&there);
  world_destroy(&here);
}

/* ---- Where the caller leaves the choice ---- */

static const char any_cloth[] =
    "{'time': {'step': %g}, 'bodies': [{'shape': {'type': 'grid', 'nx': %d, 'ny': %d}, 'springs': "
    "{'k': 100}, 'mass': {'total': 1}}], 'pins': [{'select': 'top_left'}], 'forces': ['gravity'], "
    "'integrator': '%s'}";

static HkDeviceKind picked(int size, const char *integrator) {
  World w;
  char text[600];
  HkError error = {0};
  DeviceWish wish = {NULL, HK_AUTO};
  snprintf(text, sizeof text, any_cloth, 1e-4, size, size, integrator);
  if (device_make(test_json(text), NULL, &wish, &w, &error) < 0)
    test_fail(__FILE__, __LINE__, "%s", error.text);
  HkDeviceKind kind = hk_sim_device(w.sim);
  CHECK(hk_sim_steps(w.sim, w.state, 2, NULL) >= 0 && hk_state_x(w.state) != NULL);
  world_destroy(&w);
  return kind;
}

TEST(the_device_is_picked_by_size_and_by_what_it_supports) {
  device_use_plugin();
  CHECK(picked(40, "backward_euler") == HK_CPU);
  CHECK(picked(50, "backward_euler") == HK_CUDA);
  CHECK(picked(50, "symplectic_euler") == HK_CPU);
  CHECK(picked(101, "symplectic_euler") == HK_CUDA);
  CHECK(picked(101, "rk4") == HK_CPU); /* devices do not support it */
}

TEST(without_a_plug_in_the_cpu_is_picked) {
  char *kept = getenv("HOOKE_PLUGINS") ? strdup(getenv("HOOKE_PLUGINS")) : NULL;
  unsetenv("HOOKE_PLUGINS");
  CHECK(picked(101, "symplectic_euler") == HK_CPU);
  if (kept) setenv("HOOKE_PLUGINS", kept, 1);
  free(kept);
}

/* The upload of a state must be complete before a kernel reads it: 30 states of 50,000 vertices
 * that hardly interact keep the velocities that they are given. */
TEST(states_that_the_caller_changes_arrive_whole_on_a_device) {
  DeviceWish wish = {"symplectic_euler", HK_CUDA_DOUBLE};
  World w;
  uint64_t seed = 88172645463325252u;
  device_use_plugin();
  MUST(device_make(test_json("{'time': {'step': 1e-9}, 'bodies': [{'shape': {'type': 'grid', 'nx': "
                             "250, 'ny': 200}, 'springs': {'k': 1e-9}}]}"),
                   NULL, &wish, &w, error));
  int64_t numbers = 3 * hk_state_vertex_count(w.state), wrong = 0;
  double *given = calloc((size_t)numbers, sizeof *given);
  for (int round = 0; round < 30; round++) {
    double *v = hk_state_v(w.state);
    for (int64_t q = 0; q < numbers; q++) {
      seed ^= seed << 13;
      seed ^= seed >> 7;
      seed ^= seed << 17;
      v[q] = given[q] = 1 + (double)(seed % 1000);
    }
    MUST(hk_sim_steps(w.sim, w.state, 1, error));
    for (int64_t q = 0; q < numbers; q++)
      wrong += !(fabs(hk_state_v(w.state)[q] - given[q]) <= 1e-6);
  }
  CHECK(wrong == 0);
  free(given);
  world_destroy(&w);
}
