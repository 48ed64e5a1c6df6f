/* Simulations on a device beside those on the host; see device_world.h. */
#include "device_world.h"

void device_use_plugin(void) {
  setenv("HOOKE_PLUGINS", TEST_PLUGINS, 0);
}

/* Implicit steps are solved to rounding. */
static HkStatus choose(const char *integrator, HkMethod *step, HkError *error) {
  bool bdf2 = strcmp(integrator, "bdf2") == 0;
  bool multigrid = bdf2 || strcmp(integrator, "multigrid") == 0;
  bool newton = multigrid || strcmp(integrator, "newton") == 0;
  bool jacobi = strcmp(integrator, "jacobi") == 0;
  bool descends = strcmp(integrator, "descent") == 0;
  if (!newton && !jacobi && !descends) return hk_method_choose(step, HK_STEP, integrator, error);
  HkStatus status = hk_method_choose(step, HK_STEP, bdf2 ? integrator : "backward_euler", error);
  if (status < 0) return status;
  const char *name = newton ? "newton" : descends ? "vertex_block_descent" : "jacobi";
  HkMethod *minimizer = hk_method_set_method(step, "minimizer", name, error);
  if (!minimizer) return HK_ERROR_INVALID;
  status = hk_method_set_number(minimizer, "tolerance", 1e-14, error);
  if (status >= 0)
    status = hk_method_set_number(minimizer, "iterations", newton ? 100 : 20000, error);
  if (status < 0 || !newton) return status;
  HkMethod *linear = hk_method_set_method(minimizer, "linear", "pcg", error);
  if (linear && multigrid && !hk_method_set_method(linear, "preconditioner", "multigrid", error))
    return HK_ERROR_INVALID;
  return linear ? hk_method_set_number(minimizer, "forcing", 1e-3, error) : HK_ERROR_INVALID;
}

bool device_is_gpu(void) {
  const char *folder = getenv("HOOKE_PLUGINS");
  return folder && strcmp(folder, TEST_PLUGINS) != 0;
}

HkStatus device_make(const char *text, const char *set, const DeviceWish *wish, World *w,
                     HkError *error) {
  HkContext context = hk_context_default();
  HkMethod step = {0};
  context.device = wish->device;
  *w = (World){0};
  HkStatus status = hk_scene_parse(&context, text, strlen(text), "test scene", NULL, &set,
                                   set ? 1 : 0, &w->scene, error);
  if (status >= 0) status = hk_model_compile(w->scene, &w->model, error);
  if (status >= 0 && wish->integrator) status = choose(wish->integrator, &step, error);
  if (status >= 0)
    status = hk_sim_create(w->model, wish->integrator ? &step : NULL, w->scene->time.step, &w->sim,
                           error);
  if (status >= 0) status = hk_state_create(w->model, &w->state, error);
  hk_method_clear(&step);
  return status;
}

double device_difference(World *a, World *b) {
  HkModelInfo info = hk_model_info(a->model);
  const double *x = hk_state_x(a->state), *y = hk_state_x(b->state);
  double most = 0, size = 0;
  for (int c = 0; c < 3; c++) size = fmax(size, info.box_max[c] - info.box_min[c]);
  for (int64_t q = 0; q < 3 * hk_state_vertex_count(a->state); q++) {
    double d = fabs(x[q] - y[q]);
    most = d > most || isnan(d) ? d : most;
  }
  return most / size;
}

void device_compare(const char *name, const char *text, const char *set, const char *integrator,
                    HkDeviceKind device, int64_t steps, double tolerance) {
  World here, there;
  HkError error = {0};
  DeviceWish local = {integrator, HK_CPU}, remote = {integrator, device};
  HkStatus status = device_make(text, set, &local, &here, &error);
  if (status >= 0) status = device_make(text, set, &remote, &there, &error);
  if (status >= 0) status = hk_sim_steps(here.sim, here.state, steps, &error);
  if (status >= 0) status = hk_sim_steps(there.sim, there.state, steps, &error);
  if (status < 0)
    test_fail(name, 0, "%s by %s: %s", name, integrator, error.text);
  else if (!(device_difference(&here, &there) <= tolerance))
    test_fail(name, 0, "%s by %s in %s precision: %g after %d steps", name, integrator,
              device == HK_CUDA ? "single" : "double", device_difference(&here, &there),
              (int)steps);
  world_destroy(&here);
  world_destroy(&there);
}
