/* A curtain in the hands of a user: a vertex is picked by a ray and dragged for a second; gravity,
 * stiffness and pins change on the way, and nothing starts anew. Prints where the vertex is. */
#include <hooke/hooke.h>
#include <stdio.h>

static const char text[] =
    "{\"integrator\": \"backward_euler\", \"bodies\": [{\"shape\": {\"type\": \"grid\", \"nx\": 21,"
    " \"ny\": 21}, \"springs\": {\"k\": 300, \"shear\": true}, \"mass\": 0.5}],"
    " \"pins\": [{\"select\": \"top\"}], \"forces\": [\"gravity\", {\"type\": \"drag\"}]}";

/* Takes hold of the vertex that is seen from in front of the curtain, 1 m wide and high. */
static HkStatus grab(HkModel *model, const HkState *state, HkMethod *handle, int32_t *vertex,
                     int *force, HkError *error) {
  const double eye[3] = {0.5, 0.3, 5}, look[3] = {0, 0, -1};
  HkStatus status = hk_method_choose(handle, HK_FORCE, "handle", error);
  *vertex = hk_state_nearest_to_ray(state, eye, look, 0.03, NULL);
  HkSelect select = {.kind = HK_SELECT_VERTICES, .indices = vertex, .count = 1};
  if (status >= 0) status = hk_method_set_select(handle, "select", &select, error);
  return status < 0 ? status : hk_model_add_force(model, handle, force, error);
}

int main(void) {
  HkError error = {0};
  HkScene *scene = NULL;
  HkModel *model = NULL;
  HkState *state = NULL;
  HkSim *sim = NULL;
  HkMethod handle = {0}, moon = {0};
  int32_t vertex = 0;
  int force = 0; /* 0 springs, 1 gravity, 2 drag; the hand comes behind them */
  if (hk_scene_parse(NULL, text, sizeof text - 1, "drag", NULL, NULL, 0, &scene, &error) >= 0 &&
      hk_model_compile(scene, &model, &error) >= 0 && hk_state_create(model, &state, &error) >= 0 &&
      hk_sim_create(model, NULL, 1.0 / 60, &sim, &error) >= 0)
    hk_method_choose(&moon, HK_FORCE, "gravity", &error);
  for (int frame = 0; error.status >= 0 && frame < 180; frame++) {
    const double mouse[3] = {0.5, 0.3, 0.01 * (frame - 30)};
    if (frame == 30) grab(model, state, &handle, &vertex, &force, &error);
    if (frame == 50 && hk_method_set_number(&moon, "g", 1.62, &error) >= 0)
      hk_model_set_force(model, 1, &moon, &error);
    if (frame == 70) hk_model_scale_stiffness(model, 5, &error);
    if (force && hk_method_set_vector(&handle, "target", mouse, &error) >= 0)
      hk_model_set_force(model, force, &handle, &error);
    if (frame == 90 && hk_model_remove_force(model, force, &error) >= 0) force = 0;
    if (frame == 120) hk_state_release_pin(state, model, 20 * 21, &error); /* a corner */
    if (error.status >= 0) hk_sim_step(sim, state, &error);
    const double *x = hk_state_x(state) + 3 * vertex;
    if (frame >= 30 && frame % 10 == 0)
      printf("%.2f s: vertex %d at %.3f %.3f %.3f\n", hk_state_time(state), vertex, x[0], x[1],
             x[2]);
  }
  if (error.status < 0) fprintf(stderr, "%s\n", error.text);
  hk_method_clear(&handle);
  hk_method_clear(&moon);
  hk_sim_destroy(&sim);
  hk_state_destroy(&state);
  hk_model_destroy(&model);
  hk_scene_destroy(&scene);
  return error.status < 0;
}
