/* Arrays on a device that others read and write: hk_sim_read_device and back. They are looked at
 * with the plug-in that emulates a GPU on the host (tests/plugin), whose addresses are those of
 * this machine; python/tests/test_device.py looks at those of a GPU. */
#include "device_world.h"
#include "hooke/device.h"
#include "hooke/run.h"

static const char net[] =
    "{'time': {'step': 1e-3}, 'bodies': [{'shape': {'type': 'grid', 'nx': 9, 'ny': 7}, "
    "'transform': {'translate': [%g, 0, 0]}, 'springs': {'k': 100}, 'mass': {'total': 1}}], "
    "'pins': [{'select': 'top_left'}], 'forces': ['gravity']}";

static World make(double x, HkDeviceKind device) {
  char text[400];
  World w;
  setenv("HOOKE_PLUGINS", TEST_PLUGINS, 1);
  snprintf(text, sizeof text, net, x);
  DeviceWish wish = {"symplectic_euler", device};
  HkError error = {0};
  if (device_make(test_json(text), NULL, &wish, &w, &error) < 0)
    test_fail(__FILE__, __LINE__, "%s", error.text);
  return w;
}

static double number_of(const HkDeviceArray *a, int64_t q) {
  return a->bytes == 4 ? (double)((const float *)a->data)[q] : ((const double *)a->data)[q];
}

/* The largest difference of an array from what the state says. */
static double apart(const HkDeviceArray *a, const double *x) {
  double most = 0;
  for (int64_t q = 0; q < 3 * a->count; q++) most = fmax(most, fabs(number_of(a, q) - x[q]));
  return most;
}

TEST(arrays_on_a_device_are_those_of_the_state) {
  for (HkDeviceKind kind = HK_CUDA; kind <= HK_CUDA_DOUBLE; kind++) {
    World w = make(kind == HK_CUDA ? 0 : 3e5, kind); /* far off there is an origin of its own */
    HkDeviceArray *x = NULL, *v = NULL;
    for (int q = 0; q < 3; q++) { /* at the start, after steps, after others */
      MUST(hk_sim_read_device(w.sim, w.state, HK_POSITIONS, &x, error));
      void *data = x->data;
      MUST(hk_sim_read_device(w.sim, w.state, HK_VELOCITIES, &v, error));
      MUST(hk_sim_read_device(w.sim, w.state, HK_POSITIONS, &x, error));
      CHECK(x->data == data); /* the same memory */
      CHECK(x->count == 63 && x->bytes == (kind == HK_CUDA ? 4 : 8));
      CHECK(x->memory == HK_MEMORY_CPU && x->device == 0);
      double rounding = kind == HK_CUDA ? 1e-7 : 1e-15;
      CHECK(apart(x, hk_state_x(w.state)) <= (kind == HK_CUDA ? rounding : 1e-10));
      CHECK(apart(v, hk_state_v(w.state)) <= rounding);
      MUST(hk_sim_steps(w.sim, w.state, 20, error));
    }
    CHECK(apart(x, hk_state_x(w.state)) > 1e-5); /* stale until it is asked for again */
    hk_device_array_destroy(&x);
    hk_device_array_destroy(&v);
    CHECK(x == NULL);
    hk_device_array_destroy(&x);
    world_destroy(&w);
  }
}

/* The same kick in both worlds: on the device, and in the state of the CPU. */
static void kick(World *there, World *here, HkDeviceArray **x, HkDeviceArray **v) {
  MUST(hk_sim_read_device(there->sim, there->state, HK_POSITIONS, x, error));
  MUST(hk_sim_read_device(there->sim, there->state, HK_VELOCITIES, v, error));
  double *to_x = (*x)->data, *to_v = (*v)->data;
  for (int64_t q = 0; q < 3 * (*x)->count; q++) to_x[q] += 1e-3 * sin((double)q);
  for (int64_t q = 0; q < 3 * (*v)->count; q++) to_v[q] = 2 * to_v[q] + 0.1;
  MUST(hk_sim_write_device(there->sim, there->state, HK_POSITIONS, to_x, error));
  MUST(hk_sim_write_device(there->sim, there->state, HK_VELOCITIES, to_v, error));
  int64_t pins;
  const int32_t *pin = hk_model_pins(here->model, &pins);
  double *at = hk_state_x(here->state), *u = hk_state_v(here->state);
  for (int64_t q = 0; q < 3 * (*x)->count; q++) {
    if (pins == 1 && pin[0] == q / 3) continue; /* held ones stay */
    at[q] += 1e-3 * sin((double)q);
    u[q] = 2 * u[q] + 0.1;
  }
}

TEST(what_is_written_on_a_device_moves_on_as_on_the_host) {
  World here = make(0, HK_CPU), there = make(0, HK_CUDA_DOUBLE);
  HkDeviceArray *x = NULL, *v = NULL;
  for (int q = 0; q < 3; q++) {
    kick(&there, &here, &x, &v);
    MUST(hk_sim_steps(here.sim, here.state, 15, error));
    MUST(hk_sim_steps(there.sim, there.state, 15, error));
    MUST(hk_sim_read_device(there.sim, there.state, HK_POSITIONS, &x, error));
    CHECK(apart(x, hk_state_x(here.state)) < 1e-13);
    MUST(hk_sim_read_device(there.sim, there.state, HK_VELOCITIES, &v, error));
    CHECK(apart(v, hk_state_v(here.state)) < 1e-11);
  }
  hk_device_array_destroy(&x);
  hk_device_array_destroy(&v);
  world_destroy(&here);
  world_destroy(&there);
}

TEST(what_is_written_on_a_device_is_seen_here) {
  World w = make(0, HK_CUDA);
  HkDeviceArray *v = NULL;
  MUST(hk_sim_read_device(w.sim, w.state, HK_VELOCITIES, &v, error));
  for (int64_t q = 0; q < 3 * v->count; q++) ((float *)v->data)[q] = 2;
  MUST(hk_sim_write_device(w.sim, w.state, HK_VELOCITIES, v->data, error));
  HkStateInfo info;
  hk_sim_state_info(w.sim, w.state, &info);
  CHECK(info.speed_max > 3.46 && info.speed_max < 3.47);
  hk_device_array_destroy(&v);
  world_destroy(&w);
}

TEST(arrays_outlive_their_simulation_and_its_layouts) {
  World w = make(0, HK_CUDA);
  HkDeviceArray *x = NULL;
  MUST(hk_sim_steps(w.sim, w.state, 5, error));
  MUST(hk_sim_read_device(w.sim, w.state, HK_POSITIONS, &x, error));
  const void *data = x->data;
  MUST(hk_model_scale_stiffness(w.model, 2, error)); /* the model is laid out anew */
  MUST(hk_sim_steps(w.sim, w.state, 5, error));
  MUST(hk_sim_read_device(w.sim, w.state, HK_POSITIONS, &x, error));
  CHECK(x->data == data);
  HkState *kept = NULL;
  MUST(hk_state_create(w.model, &kept, error));
  MUST(hk_state_copy(w.state, kept, error));
  world_destroy(&w);
  CHECK(apart(x, hk_state_x(kept)) < 1e-7);
  hk_state_destroy(&kept);
  hk_device_array_destroy(&x);
}

/* A run has the steps of the next frame made already: the array is that of the state nevertheless.
 */
TEST(arrays_of_a_run_are_those_of_its_frame) {
  World w = make(0, HK_CUDA);
  HkRun *run = NULL;
  HkDeviceArray *x = NULL;
  HkRunOptions options = hk_run_options_default();
  w.scene->time.duration = 0.2;
  hk_method_clear(&w.scene->step);
  MUST(hk_method_choose(&w.scene->step, HK_STEP, "symplectic_euler", error));
  MUST(hk_run_create(w.scene, &options, &run, error));
  for (int q = 0; q < 3; q++) {
    MUST(hk_run_frame(run, error));
    MUST(hk_sim_read_device(hk_run_sim(run), hk_run_state(run), HK_POSITIONS, &x, error));
    CHECK(apart(x, hk_state_x(hk_run_state(run))) < 1e-7);
  }
  hk_run_destroy(&run);
  hk_device_array_destroy(&x);
  world_destroy(&w);
}

TEST(arrays_are_refused_where_there_is_no_device) {
  World here = make(0, HK_CPU), there = make(0, HK_CUDA), precise = make(0, HK_CUDA_DOUBLE);
  HkDeviceArray *x = NULL;
  HkError error = {0};
  CHECK(hk_sim_read_device(here.sim, here.state, HK_POSITIONS, &x, &error) == HK_ERROR_UNSUPPORTED);
  CHECK(x == NULL && strstr(error.text, "on the CPU"));
  CHECK(hk_sim_write_device(here.sim, here.state, HK_POSITIONS, &error, NULL) ==
        HK_ERROR_UNSUPPORTED);
  CHECK(hk_sim_read_device(there.sim, there.state, HK_POSITIONS, &x, &error) == HK_OK);
  CHECK(hk_sim_read_device(precise.sim, precise.state, HK_POSITIONS, &x, &error) ==
        HK_ERROR_INVALID);
  CHECK(strstr(error.text, "4 bytes a number"));
  hk_device_array_destroy(&x);
  world_destroy(&here);
  world_destroy(&there);
  world_destroy(&precise);
}
