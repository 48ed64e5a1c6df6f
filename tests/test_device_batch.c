/* Batches on a device: worlds move as single simulations on the host do. Without a GPU a plug-in
 * plays the device (tests/plugin); with HOOKE_PLUGINS set to the folder of the real one, the same
 * tests look at the GPU. */
#include "hooke/batch.h"

#include "device_world.h"
#include "live_world.h"
#include "model/model.h"

#include <stddef.h>

enum { WORLDS = 6 };

/* One pin is released, one moves; the wind depends on the time. */
static const char cloth[] =
    "{'time': {'step': %s, 'duration': 1}, 'bodies': [{'shape': {'type': 'grid', 'nx': 9, 'ny': "
    "8}, 'springs': {'k': 300, 'shear': true, 'bending': true%s}, 'mass': 0.5}], 'pins': "
    "[{'select': 'top_left', 'release': 0.015}, {'select': 'top_right', 'motion': {'type': "
    "'oscillation', 'amplitude': [0, 0, 0.2], 'frequency': 3}}], 'forces': ['gravity', {'type': "
    "'wind', 'velocity': [2, 0, 1], 'gust': 0.5, 'drag': 0.01}%s], 'integrator': %s, 'outputs': "
    "[]}";

#define NEWTON                                                                                     \
  "{'type': 'backward_euler', 'minimizer': {'type': 'newton', 'tolerance': 1e-12, 'iterations': "  \
  "100, 'forcing': 1e-3, 'linear': {'type': 'pcg', 'preconditioner': 'block_jacobi'}}}"

typedef struct Setup {
  const char *step, *springs, *forces, *integrator;
} Setup;

static World make_cloth(const Setup *setup, HkDeviceKind device) {
  char text[2000];
  snprintf(text, sizeof text, cloth, setup->step, setup->springs, setup->forces, setup->integrator);
  World w = {0};
  HkError error = {0};
  const char *json = test_json(text);
  HkContext context = hk_context_default();
  context.device = device;
  HkStatus status =
      hk_scene_parse(&context, json, strlen(json), "scene", NULL, NULL, 0, &w.scene, &error);
  if (status >= 0) status = hk_model_compile(w.scene, &w.model, &error);
  if (status >= 0 && device == HK_CPU) status = hk_sim_create(w.model, NULL, 0, &w.sim, &error);
  if (status >= 0) status = hk_state_create(w.model, &w.state, &error);
  if (status < 0) test_fail("scene", 0, "%s", error.text);
  return w;
}

/* Stiffness over six decades, with masses that keep the step stable; start, pins, wind and springs
 * of the state differ. */
static HkStatus vary(HkModel *model, HkState *state, int w, HkError *error) {
  double mass[72], factor = pow(10, w - 3);
  int64_t springs = hk_model_springs(model).count;
  double *k = calloc((size_t)springs, sizeof *k);
  HkMethod drag = {0};
  for (int64_t i = 0; i < 72; i++)
    mass[i] = hk_model_masses(model)[i] * (1 + 0.5 * (double)(i % (w + 2))) * fmax(1, factor);
  HkStatus status = hk_model_scale_stiffness(model, factor, error);
  if (status >= 0) status = hk_model_set_masses(model, mass, error);
  if (status >= 0) status = live_force(&drag, "drag", "linear", 0.01 * w, error);
  if (status >= 0) status = hk_model_add_force(model, &drag, NULL, error);
  hk_method_clear(&drag);
  if (status >= 0 && w % 3 == 2) status = hk_model_set_motion(model, 1, NULL, error);
  for (int64_t s = 0; s < springs; s++)
    k[s] = hk_model_springs(model).k[s] * (1 + 0.1 * (double)(s % 7));
  if (status >= 0 && w == 1)
    status = hk_state_set_springs(state, model, k, NULL, NULL, NULL, error);
  free(k);
  if (status >= 0 && w == 4)
    status = hk_state_release_pin(state, model, hk_model_pins(model, &(int64_t){0})[1], error);
  hk_state_v(state)[3 * 20] += 0.3 * w;
  return status;
}

/* The largest difference of positions and of velocities times the step, in parts of the size, 1 m.
 */
static double difference(const HkState *a, const HkState *b, double h) {
  const double *x = hk_state_positions(a), *y = hk_state_positions(b);
  const double *u = hk_state_velocities(a), *v = hk_state_velocities(b);
  double most = 0;
  for (int64_t c = 0; c < 3 * hk_state_vertex_count(a); c++) {
    double d = fmax(fabs(x[c] - y[c]), h * fabs(u[c] - v[c]));
    most = d > most || isnan(d) ? d : most;
  }
  return most;
}

static void check_batch(const Setup *setup, HkDeviceKind device, int steps, double tolerance) {
  World base = make_cloth(setup, device);
  HkBatch *batch = NULL;
  if (!base.state) return;
  device_use_plugin();
  MUST(hk_batch_create(base.model, WORLDS, NULL, 0, &batch, error));
  for (int w = 0; w < WORLDS; w++)
    MUST(vary(hk_batch_model(batch, w), hk_batch_state(batch, w), w, error));
  MUST(hk_batch_steps(batch, steps, error));
  MUST(hk_model_scale_stiffness(hk_batch_model(batch, 3), 2, error));
  MUST(hk_batch_steps(batch, steps, error));
  for (int w = 0; w < WORLDS; w++) {
    World alone = make_cloth(setup, HK_CPU);
    HkWorldInfo info;
    if (!alone.state) return;
    MUST(vary(alone.model, alone.state, w, error));
    world_steps(&alone, steps);
    if (w == 3) MUST(hk_model_scale_stiffness(alone.model, 2, error));
    world_steps(&alone, steps);
    MUST(hk_batch_world_info(batch, w, &info, error));
    CHECK(info.steps == steps && info.status == HK_OK);
    double off = difference(alone.state, hk_batch_state(batch, w), hk_sim_h(alone.sim));
    if (!(off <= tolerance))
      test_fail(setup->integrator, w, "off by %g after %d steps", off, steps);
    CHECK(hk_state_time(hk_batch_state(batch, w)) > 0.99 * hk_state_time(alone.state));
    world_destroy(&alone);
  }
  hk_batch_destroy(&batch);
  world_destroy(&base);
}

static const Setup explicit_setups[] = {
    {"0.0005", "", "", "'symplectic_euler'"},
    {"0.0005", ", 'damping': 0.05", "", "'symplectic_euler'"},
    {"0.0005", ", 'tension_only': true", ", {'type': 'drag', 'quadratic': 0.01}", "'verlet'"},
    {"0.0005", "", ", 'buoyancy'", "'verlet'"},
    {"0.0005", "",
     ", {'type': 'handle', 'select': 'bottom', 'target': [0, 0, 1], 'k': 3, 'damping': 0.1}, "
     "{'type': 'point_load', 'select': 'bottom_left', 'force': [0.1, 0, 0]}",
     "'verlet'"},
};

TEST(explicit_worlds_on_a_device_move_as_on_the_host) {
  for (int q = 0; q < 5; q++) check_batch(&explicit_setups[q], HK_CUDA_DOUBLE, 25, 1e-11);
  for (int q = 0; q < 5; q++) check_batch(&explicit_setups[q], HK_CUDA, 2, 2e-6);
}

/* Both solve their steps to rounding. */
TEST(implicit_worlds_on_a_device_move_as_on_the_host) {
  static const Setup setups[] = {{"0.01", "", "", NEWTON},
                                 {"0.01", ", 'damping': 0.05", "", NEWTON},
                                 {"0.01", ", 'tension_only': true", "", NEWTON},
                                 {"0.01", "",
                                  ", {'type': 'handle', 'select': 'bottom', 'target': [0, 0, 1], "
                                  "'k': 3, 'damping': 0.1}, {'type': 'point_load', 'select': "
                                  "'bottom_left', 'force': [0.1, 0, 0]}",
                                  NEWTON}};
  for (int q = 0; q < 4; q++) check_batch(&setups[q], q == 0 ? HK_CUDA : HK_CUDA_DOUBLE, 10, 1e-8);
}

/* A hand that drags one world, is moved between steps, and lets go: other worlds have none. */
TEST(handles_of_one_world_are_added_moved_and_removed) {
  static const Setup setup = {"0.0005", "", "", "'symplectic_euler'"};
  World base = make_cloth(&setup, HK_CUDA_DOUBLE), alone = make_cloth(&setup, HK_CPU);
  HkBatch *batch = NULL;
  device_use_plugin();
  if (!base.state || !alone.state) return;
  MUST(hk_batch_create(base.model, 3, NULL, 0, &batch, error));
  HkModel *models[2] = {hk_batch_model(batch, 1), alone.model};
  int index[2] = {0, 0};
  for (int q = 0; q < 4; q++) {
    for (int k = 0; k < 2; k++) {
      HkMethod handle = {0};
      MUST(live_handle(&handle, 30 + q, (const double[]){0.1 * q, 0.2, 0.3}, 5, error));
      if (q == 0) MUST(hk_model_add_force(models[k], &handle, &index[k], error));
      if (q == 1 || q == 2) MUST(hk_model_set_force(models[k], index[k], &handle, error));
      if (q == 3) MUST(hk_model_remove_force(models[k], index[k], error));
      hk_method_clear(&handle);
    }
    MUST(hk_batch_steps(batch, 8, error));
    world_steps(&alone, 8);
    CHECK(difference(alone.state, hk_batch_state(batch, 1), 0.0005) < 1e-12);
  }
  CHECK(difference(alone.state, hk_batch_state(batch, 0), 0.0005) > 1e-6);
  CHECK(difference(hk_batch_state(batch, 2), hk_batch_state(batch, 0), 0.0005) == 0);
  hk_batch_destroy(&batch);
  world_destroy(&base);
  world_destroy(&alone);
}

/* The defaults: a tolerance of 1e-2, which means the same as on the host. */
TEST(implicit_worlds_converge_by_the_rule_of_the_host) {
  static const Setup setup = {"0.01", "", "", "'backward_euler'"};
  World base = make_cloth(&setup, HK_CUDA), alone = make_cloth(&setup, HK_CPU);
  HkBatch *batch = NULL;
  HkWorldInfo info;
  device_use_plugin();
  if (!base.state || !alone.state) return;
  MUST(hk_batch_create(base.model, 3, NULL, 0, &batch, error));
  for (int step = 0; step < 20; step++) {
    CHECK(hk_batch_steps(batch, 1, NULL) == HK_OK);
    hk_batch_world_info(batch, 2, &info, NULL);
    CHECK(info.last.reason == HK_STOP_CONVERGED || info.last.reason == HK_STOP_ROUNDING);
    CHECK(info.last.gradient <= 0.01 && info.last.iterations > 0);
    CHECK(info.last.linear_iterations > 0);
  }
  world_steps(&alone, 20);
  CHECK(difference(alone.state, hk_batch_state(batch, 2), 0.01) < 0.005);
  /* The same steps give the same bits, in every world. */
  CHECK(difference(hk_batch_state(batch, 0), hk_batch_state(batch, 2), 0.01) == 0);
  hk_batch_destroy(&batch);
  world_destroy(&base);
  world_destroy(&alone);
}

TEST(states_of_worlds_on_a_device_are_read_and_written) {
  static const Setup setup = {"0.0005", "", "", "'symplectic_euler'"};
  World base = make_cloth(&setup, HK_CUDA_DOUBLE), alone = make_cloth(&setup, HK_CPU);
  HkBatch *batch = NULL;
  HkStateInfo info[3];
  int64_t stride;
  device_use_plugin();
  if (!base.state || !alone.state) return;
  MUST(hk_batch_create(base.model, 3, NULL, 0, &batch, error));
  for (int q = 0; q < 4; q++) {
    MUST(hk_batch_steps(batch, 10, error));
    world_steps(&alone, 10);
    /* One world is written while the device holds the others; then all; then one is stepped here.
     */
    if (q == 0) hk_state_v(hk_batch_state(batch, 1))[90] += 1;
    if (q == 1) hk_batch_v(batch, &stride)[2 * stride + 90] += 2;
    if (q == 2) MUST(hk_sim_steps(hk_batch_sim(batch, 0), hk_batch_state(batch, 0), 0, error));
  }
  hk_batch_state_info(batch, info);
  HkStateInfo expected = world_info(&alone);
  CHECK_NEAR(info[0].total, expected.total, 1e-12);
  CHECK(fabs(info[1].total - expected.total) > 1e-4);
  CHECK(info[2].total != info[1].total);
  CHECK(difference(alone.state, hk_batch_state(batch, 0), 0.0005) < 1e-12);
  double x[9];
  MUST(hk_batch_probe(batch, (const int32_t[]){40}, 1, x, NULL, error));
  CHECK(x[0] == hk_state_positions(hk_batch_state(batch, 0))[120]);
  hk_batch_destroy(&batch);
  world_destroy(&base);
  world_destroy(&alone);
}

/* Moves a fixed pin and gives it a velocity. */
static void move_pin(HkState *state) {
  for (int c = 0; c < 3; c++) {
    hk_state_x(state)[c] += 0.05 * (c + 1);
    hk_state_v(state)[c] -= 0.3 * (c + 1);
  }
}

TEST(pins_of_worlds_that_the_caller_moves_return_on_a_device_as_on_the_host) {
  static const char *const integrators[] = {"'symplectic_euler'", "'verlet'", NEWTON};
  device_use_plugin();
  for (int q = 0; q < 3; q++) {
    char text[1200];
    HkBatch *batch[2] = {NULL, NULL};
    World base[2];
    HkDeviceKind devices[] = {HK_CPU, HK_CUDA_DOUBLE};
    snprintf(text, sizeof text,
             "{'time': {'step': 1e-3}, 'bodies': [{'shape': {'type': 'grid', 'nx': 5, 'ny': 4}, "
             "'springs': {'k': 100, 'shear': true, 'damping': 0.2}, 'mass': {'total': 1}}], "
             "'pins': [{'select': {'indices': [0, 1]}}], 'forces': ['gravity'], 'integrator': %s}",
             integrators[q]);
    const char *json = test_json(text);
    for (int k = 0; k < 2; k++) {
      MUST(device_make(json, NULL, &(DeviceWish){NULL, devices[k]}, &base[k], error));
      MUST(hk_batch_create(base[k].model, 3, NULL, 0, &batch[k], error));
      move_pin(hk_batch_state(batch[k], 1));
      MUST(hk_batch_steps(batch[k], 4, error));
      move_pin(hk_batch_state(batch[k], 2));
      MUST(hk_batch_steps(batch[k], 1, error));
      CHECK(hk_state_positions(hk_batch_state(batch[k], 2))[1] == 0);
      MUST(hk_batch_steps(batch[k], 5, error));
    }
    for (int w = 0; w < 3; w++) {
      double off = difference(hk_batch_state(batch[0], w), hk_batch_state(batch[1], w), 1e-3);
      if (!(off <= 1e-11)) test_fail(integrators[q], w, "off by %g", off);
    }
    for (int k = 0; k < 2; k++) {
      hk_batch_destroy(&batch[k]);
      world_destroy(&base[k]);
    }
  }
}

/* The array of the host's device lies on the host. */
TEST(arrays_of_worlds_on_a_device_are_copied_there_and_back) {
  static const Setup setup = {"0.0005", "", "", "'symplectic_euler'"};
  World base = make_cloth(&setup, HK_CUDA), here = make_cloth(&setup, HK_CPU);
  HkBatch *batch = NULL, *local = NULL;
  HkDeviceArray *x = NULL, *v = NULL;
  device_use_plugin();
  if (!base.state || !here.state) return;
  MUST(hk_batch_create(here.model, 2, NULL, 0, &local, error));
  FAILS(hk_batch_read_device(local, HK_POSITIONS, &x, error), HK_ERROR_UNSUPPORTED, "on the CPU");
  MUST(hk_batch_create(base.model, 3, NULL, 0, &batch, error));
  MUST(hk_batch_steps(batch, 5, error));
  MUST(hk_batch_read_device(batch, HK_POSITIONS, &x, error));
  MUST(hk_batch_read_device(batch, HK_VELOCITIES, &v, error));
  CHECK(x->count == 3 * 72 && x->bytes == 8);
  FAILS(hk_batch_write_device(batch, HK_POSITIONS, NULL, error), HK_ERROR_INVALID, "no address");
  if (x->memory == HK_MEMORY_CPU) {
    double *at = x->data, *u = v->data;
    for (int64_t c = 0; c < 3 * 72; c++) /* pins are placed exactly on the host */
      CHECK(fabs(at[3 * 72 + c] - hk_state_positions(hk_batch_state(batch, 1))[c]) < 1e-7);
    for (int64_t i = 0; i < 72; i++) u[3 * (2 * 72 + i)] = 1;
    for (int64_t i = 0; i < 72; i++) at[3 * (72 + i)] += 0.25;
    MUST(hk_batch_write_device(batch, HK_VELOCITIES, u, error));
    MUST(hk_batch_write_device(batch, HK_POSITIONS, at, error));
    CHECK(hk_state_velocities(hk_batch_state(batch, 2))[3 * 40] == 1);
    CHECK(hk_state_positions(hk_batch_state(batch, 1))[3 * 40] == at[3 * (72 + 40)]);
    int64_t pins;
    int32_t pin = hk_model_pins(base.model, &pins)[0]; /* held pins stay */
    CHECK(hk_state_positions(hk_batch_state(batch, 1))[3 * pin] == at[3 * pin]);
    CHECK(hk_state_velocities(hk_batch_state(batch, 2))[3 * pin] == 0);
    MUST(hk_batch_steps(batch, 1, error));
    CHECK(hk_state_positions(hk_batch_state(batch, 2))[3 * 40] > at[3 * (2 * 72 + 40)]);
  }
  hk_batch_destroy(&batch);
  hk_device_array_destroy(&x); /* an array outlives its batch */
  hk_device_array_destroy(&v);
  hk_batch_destroy(&local);
  world_destroy(&base);
  world_destroy(&here);
}

TEST(a_world_on_a_device_that_blows_up_does_not_stop_the_others) {
  static const Setup setup = {"0.0005", "", "", "'symplectic_euler'"};
  World base = make_cloth(&setup, HK_CUDA), alone = make_cloth(&setup, HK_CPU);
  HkBatch *batch = NULL;
  HkWorldInfo info;
  device_use_plugin();
  if (!base.state || !alone.state) return;
  MUST(hk_batch_create(base.model, 3, NULL, 0, &batch, error));
  MUST(hk_model_set_stiffness(hk_batch_model(batch, 1), 1e9, error));
  FAILS(hk_batch_steps(batch, 40, error), HK_ERROR_BLOWUP, "world 1: the motion blew up");
  CHECK(hk_batch_world_info(batch, 0, &info, NULL) == HK_OK && info.steps == 40);
  CHECK(hk_batch_world_info(batch, 1, &info, NULL) == HK_ERROR_BLOWUP);
  world_steps(&alone, 40);
  CHECK(difference(alone.state, hk_batch_state(batch, 2), 0.0005) < 1e-4);
  hk_batch_destroy(&batch);
  world_destroy(&base);
  world_destroy(&alone);
}

static bool always(void *user) {
  (void)user;
  return true;
}

TEST(worlds_on_a_device_are_cancelled_between_rounds) {
  static const Setup setup = {"0.0005", "", "", "'symplectic_euler'"};
  World base = make_cloth(&setup, HK_CUDA);
  HkBatch *batch = NULL;
  device_use_plugin();
  if (!base.state) return;
  MUST(hk_batch_create(base.model, 2, NULL, 0, &batch, error));
  hk_batch_set_cancel(batch, always, NULL);
  FAILS(hk_batch_steps(batch, 40, error), HK_ERROR_CANCELLED, "cancelled");
  hk_batch_set_cancel(batch, NULL, NULL);
  MUST(hk_batch_steps(batch, 40, error));
  CHECK_NEAR(hk_state_time(hk_batch_state(batch, 1)), 0.02, 1e-12);
  hk_batch_destroy(&batch);
  world_destroy(&base);
}

TEST(what_worlds_on_a_device_do_not_support_is_refused_by_name) {
  static const struct {
    Setup setup;
    const char *message;
  } cases[] = {
      {{"0.01", "", ", 'face_wind'", "'verlet'"}, "do not support the force 'face_wind'"},
      {{"0.01", "", ", {'type': 'contact', 'distance': 0.001}", "'verlet'"}, "force 'contact'"},
      {{"0.01", "", ", 'buoyancy'", "'backward_euler'"}, "'buoyancy' in implicit steps"},
      {{"0.01", "", ", {'type': 'drag', 'quadratic': 1}", "'backward_euler'"}, "quadratic drag"},
      {{"0.01", "", "", "'bdf2'"}, "do not support the integrator 'bdf2'"},
      {{"0.01", "", "", "{'type': 'backward_euler', 'minimizer': 'jacobi'}"}, "minimizer 'jacobi'"},
      {{"0.01", "", "",
        "{'type': 'backward_euler', 'minimizer': {'type': 'newton', 'linear': {'type': 'pcg', "
        "'preconditioner': 'multigrid'}}}"},
       "preconditioner 'multigrid'"},
  };
  device_use_plugin();
  for (size_t q = 0; q < sizeof cases / sizeof cases[0]; q++) {
    World base = make_cloth(&cases[q].setup, HK_CUDA);
    HkBatch *batch = NULL;
    if (!base.state) return;
    FAILS(hk_batch_create(base.model, 2, NULL, 0, &batch, error), HK_ERROR_UNSUPPORTED,
          cases[q].message);
    world_destroy(&base);
  }
}

/* A force that is added later is refused by the next steps, which move nothing. */
TEST(forces_that_are_added_to_a_world_are_checked) {
  static const Setup setup = {"0.0005", "", "", "'symplectic_euler'"};
  World base = make_cloth(&setup, HK_CUDA);
  HkBatch *batch = NULL;
  HkMethod wind = {0};
  int index;
  device_use_plugin();
  if (!base.state) return;
  MUST(hk_batch_create(base.model, 2, NULL, 0, &batch, error));
  MUST(hk_batch_steps(batch, 3, error));
  MUST(live_force(&wind, "face_wind", NULL, 0, error));
  MUST(hk_model_add_force(hk_batch_model(batch, 1), &wind, &index, error));
  hk_method_clear(&wind);
  FAILS(hk_batch_steps(batch, 3, error), HK_ERROR_UNSUPPORTED, "'face_wind'");
  for (int w = 0; w < 2; w++) { /* nobody waits for steps that are not made */
    HkWorldInfo info;
    FAILS(hk_batch_world_info(batch, w, &info, error), HK_ERROR_UNSUPPORTED, "'face_wind'");
    CHECK(info.steps == 0);
  }
  MUST(hk_model_remove_force(hk_batch_model(batch, 1), index, error));
  MUST(hk_batch_steps(batch, 3, error));
  CHECK_NEAR(hk_state_time(hk_batch_state(batch, 1)), 0.003, 1e-12);
  hk_batch_destroy(&batch);
  world_destroy(&base);
}

/* Bytes that are held, in front of each block. */
static void *metered(void *user, void *p, size_t bytes) {
  max_align_t *block = p ? (max_align_t *)p - 1 : NULL;
  if (block) *(size_t *)user -= *(size_t *)block;
  if (bytes == 0) {
    free(block);
    return NULL;
  }
  max_align_t *grown = realloc(block, sizeof *block + bytes);
  if (!grown) abort();
  *(size_t *)grown = bytes;
  *(size_t *)user += bytes;
  return grown + 1;
}

TEST(a_batch_on_a_device_counts_its_memory_and_gives_all_back) {
  static const Setup setup = {"0.0005", ", 'damping': 0.05", "", "'symplectic_euler'"};
  World base = make_cloth(&setup, HK_CUDA);
  HkBatch *batch = NULL;
  HkModel *model = NULL;
  HkMethod handle = {0};
  size_t held = 0;
  device_use_plugin();
  if (!base.state) return;
  base.scene->context.resize = metered;
  base.scene->context.memory_user = &held;
  base.scene->context.threads = 1;
  MUST(hk_model_compile(base.scene, &model, error));
  size_t before = held;
  MUST(hk_batch_create(model, 3, NULL, 0, &batch, error));
  CHECK(hk_batch_bytes(batch) == held - before);
  MUST(hk_batch_steps(batch, 5, error));
  CHECK(hk_batch_bytes(batch) == held - before);
  MUST(live_handle(&handle, 30, (const double[]){0, 0.2, 0.3}, 5, error));
  MUST(hk_model_set_force(hk_batch_model(batch, 1), 2, &handle, error));
  hk_method_clear(&handle);
  MUST(hk_batch_steps(batch, 5, error));
  hk_state_x(hk_batch_state(batch, 2));
  CHECK(hk_batch_bytes(batch) == held - before);
  hk_batch_destroy(&batch);
  CHECK(held == before);
  hk_model_destroy(&model);
  CHECK(held == 0);
  base.scene->context = hk_context_default();
  world_destroy(&base);
}

TEST(worlds_that_are_too_large_for_a_device_are_refused) {
  DeviceWish wish = {NULL, HK_CPU};
  World base;
  HkBatch *batch = NULL;
  device_use_plugin();
  MUST(device_make(test_json("{'bodies': [{'shape': {'type': 'grid', 'nx': 100, 'ny': 100}}], "
                             "'time': {'step': 1e-4}}"),
                   NULL, &wish, &base, error));
  base.model->context.device = HK_CUDA;
  FAILS(hk_batch_create(base.model, 2, NULL, 0, &batch, error), HK_ERROR_UNSUPPORTED,
        "10000 vertices does not fit the shared memory");
  base.model->context.device = HK_CPU;
  world_destroy(&base);
}

/* Four vertices need less than the 1000 bytes of the small device, their tables need more. */
TEST(tables_of_steps_count_among_the_memory_of_worlds) {
  DeviceWish wish = {NULL, HK_CPU};
  World base;
  HkBatch *batch = NULL;
  device_use_plugin();
  if (device_is_gpu()) SKIP("a GPU has more memory");
  MUST(device_make(test_json("{'bodies': [{'shape': {'type': 'grid', 'nx': 2, 'ny': 2}}], "
                             "'time': {'step': 1e-4}}"),
                   NULL, &wish, &base, error));
  base.model->context.device = HK_CUDA;
  setenv("HOOKE_TEST_SMALL_GPU", "1", 1);
  FAILS(hk_batch_create(base.model, 1, NULL, 0, &batch, error), HK_ERROR_MEMORY, "device memory");
  unsetenv("HOOKE_TEST_SMALL_GPU");
  MUST(hk_batch_create(base.model, 1, NULL, 0, &batch, error));
  hk_batch_destroy(&batch);
  base.model->context.device = HK_CPU;
  world_destroy(&base);
}
