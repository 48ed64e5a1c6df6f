/* A chain of ten masses, its scene made in C without any text. Prints where its end is. */
#include <hooke/hooke.h>
#include <stdio.h>

int main(void) {
  HkError error = {0};
  HkScene *scene = NULL;
  HkModel *model = NULL;
  HkSim *sim = NULL;
  HkState *state = NULL;
  HkBody body = hk_body_default();
  HkPin pin = hk_pin_default();
  pin.select = (HkSelect){.kind = HK_SELECT_SET, .set = "start"};
  body.springs.k = 500; /* N/m */
  if (hk_scene_create(NULL, &scene, &error) < 0 ||
      hk_method_choose(&body.shape, HK_SHAPE, "chain", &error) < 0 ||
      hk_scene_add_body(scene, &body, &error) < 0 || hk_scene_add_pin(scene, &pin, &error) < 0 ||
      !hk_scene_add_force(scene, "gravity", &error) ||
      hk_model_compile(scene, &model, &error) < 0 || hk_state_create(model, &state, &error) < 0 ||
      hk_sim_create(model, NULL, 0.001, &sim, &error) < 0)
    fprintf(stderr, "%s\n", error.text);
  for (int step = 0; sim && !error.status && step < 2000; step++) {
    if (hk_sim_step(sim, state, &error) < 0) fprintf(stderr, "%s\n", error.text);
    const double *x = hk_state_x(state) + 3 * 9; /* of the last mass, no copy */
    if (step % 100 == 99) printf("%.2f s: %7.4f %7.4f m\n", hk_state_time(state), x[0], x[1]);
  }
  hk_sim_destroy(&sim);
  hk_state_destroy(&state);
  hk_model_destroy(&model);
  hk_scene_destroy(&scene);
  return error.status < 0;
}
