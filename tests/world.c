/* Worlds for tests; see world.h. */
#include "world.h"

static World build(const char *text, const char *name, const char *set, const char *integrator,
                   double h, int threads) {
  World w = {0};
  HkError error = {0};
  HkMethod step = {0};
  HkContext context = hk_context_default();
  context.threads = threads;
  HkStatus status =
      hk_scene_parse(&context, text, strlen(text), name, NULL, &set, set ? 1 : 0, &w.scene, &error);
  if (status >= 0) status = hk_model_compile(w.scene, &w.model, &error);
  if (status >= 0 && integrator) status = hk_method_choose(&step, HK_STEP, integrator, &error);
  if (status >= 0)
    status = hk_sim_create(w.model, integrator ? &step : NULL, h > 0 ? h : w.scene->time.step,
                           &w.sim, &error);
  if (status >= 0) status = hk_state_create(w.model, &w.state, &error);
  hk_method_clear(&step);
  if (status < 0) {
    test_fail(name, 0, "%s", error.text);
    world_destroy(&w);
  }
  return w;
}

World world_make(const char *text, const char *integrator, double h, int threads) {
  return build(test_json(text), "test scene", NULL, integrator, h, threads);
}

World world_parse(const char *text) {
  return world_make(text, NULL, 0, 1);
}

World world_builtin(const char *name, const char *set, int threads) {
  const char *found, *text;
  for (int q = 0; (text = hk_scene_builtin(q, &found, NULL)); q++)
    if (strcmp(found, name) == 0) return build(text, name, set, NULL, 0, threads);
  test_fail(name, 0, "there is no built-in scene of that name");
  return (World){0};
}

void world_destroy(World *w) {
  hk_state_destroy(&w->state);
  hk_sim_destroy(&w->sim);
  hk_model_destroy(&w->model);
  hk_scene_destroy(&w->scene);
}

void world_steps(World *w, int64_t count) {
  HkError error = {0};
  for (int64_t q = 0; q < count; q++) {
    if (hk_sim_step(w->sim, w->state, &error) >= 0) continue;
    test_fail("step", (int)q, "%s", error.text);
    return;
  }
}

HkStateInfo world_info(World *w) {
  HkStateInfo info;
  hk_sim_state_info(w->sim, w->state, &info);
  return info;
}

bool world_has_contact(const char *text) {
  return strstr(text, "\"contact\"") != NULL;
}
