/* A chain swings from its first mass. Prints the height of its end. */
#include <hooke/hooke.h>
#include <stdio.h>

int main(void) {
  static const char text[] = "{\"bodies\": [{\"shape\": \"chain\", \"springs\": {\"k\": 500}}],"
                             " \"pins\": [{\"select\": \"start\"}], \"forces\": [\"gravity\"]}";
  HkError error;
  HkScene *scene;
  HkModel *model;
  HkState *state;
  HkSim *sim;
  if (hk_scene_parse(NULL, text, sizeof text - 1, "chain", NULL, NULL, 0, &scene, &error) < 0 ||
      hk_model_compile(scene, &model, &error) < 0 || hk_state_create(model, &state, &error) < 0 ||
      hk_sim_create(model, NULL, 0.001, &sim, &error) < 0)
    return fprintf(stderr, "%s\n", error.text), 1;
  for (int step = 0; step < 2000 && hk_sim_step(sim, state, &error) >= 0; step++)
    if (step % 100 == 99)
      printf("%.1f s: %7.4f m\n", hk_state_time(state), hk_state_x(state)[3 * 9 + 1]);
  hk_sim_destroy(&sim);
  hk_state_destroy(&state);
  hk_model_destroy(&model);
  hk_scene_destroy(&scene);
}
