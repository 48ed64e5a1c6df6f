/* A cloth falls onto a round table, and then a ball pushes one of its sides. The motion of the ball
 * is given between steps. Prints how low the cloth hangs, and checks that it is above the table and
 * outside of the ball. */
#include <hooke/hooke.h>
#include <math.h>
#include <stdio.h>

static const char text[] =
    "{\"bodies\": [{\"name\": \"cloth\", \"shape\": {\"type\": \"grid\", \"nx\": 17, \"ny\": 17,"
    "   \"plane\": \"xz\", \"centered\": true}, \"transform\": {\"translate\": [0, 0.72, 0]},"
    "   \"springs\": {\"EA\": 20, \"shear\": true, \"bending\": true, \"EA_bending\": 0.1},"
    "   \"mass\": {\"area_density\": 0.2}}],"
    " \"obstacles\": [{\"type\": \"cylinder\", \"from\": [0, 0, 0], \"to\": [0, 0.7, 0],"
    "   \"radius\": 0.3}, {\"type\": \"ball\", \"center\": [0.8, 0.5, 0], \"radius\": 0.1}],"
    " \"forces\": [\"gravity\", {\"type\": \"drag\", \"per_mass\": 2}, {\"type\": \"contact\","
    "   \"thickness\": 0.004, \"distance\": 0.004, \"ground\": true}],"
    " \"integrator\": \"backward_euler\"}";

/* The ball goes by 0.3 m towards the table in half a second from time t on. */
static HkStatus push(HkModel *model, double t, HkError *error) {
  const double rows[] = {t, 0, 0, 0, t + 0.5, -0.3, 0, 0};
  HkMethod motion = {0};
  HkStatus status = hk_method_choose(&motion, HK_MOTION, "keyframes", error);
  if (status >= 0) status = hk_method_set_table(&motion, "table", rows, 2, error);
  if (status >= 0) status = hk_model_set_obstacle_motion(model, 1, &motion, error);
  hk_method_clear(&motion);
  return status;
}

/* Returns the lowest height of the cloth (m), or NAN if a vertex is in the table or in the ball. */
static double lowest(const HkModel *model, HkState *state) {
  double least = INFINITY, R[9], T[3];
  const double *x = hk_state_x(state);
  hk_model_obstacle_pose(model, 1, hk_state_time(state), R, T);
  for (int64_t v = 0; v < hk_state_vertex_count(state); v++, x += 3) {
    double away = hypot(hypot(x[0] - 0.8 - T[0], x[1] - 0.5 - T[1]), x[2] - T[2]);
    if (away < 0.1 || (hypot(x[0], x[2]) < 0.299 && x[1] < 0.7)) return NAN;
    least = fmin(least, x[1]);
  }
  return least;
}

int main(void) {
  HkError error;
  HkScene *scene;
  HkModel *model;
  HkState *state;
  HkSim *sim;
  double low = 0;
  if (hk_scene_parse(NULL, text, sizeof text - 1, "table", NULL, NULL, 0, &scene, &error) < 0 ||
      hk_model_compile(scene, &model, &error) < 0 || hk_state_create(model, &state, &error) < 0 ||
      hk_sim_create(model, NULL, 0.01, &sim, &error) < 0)
    return fprintf(stderr, "%s\n", error.text), 1;
  HkStatus status = HK_OK;
  for (int step = 0; step < 120 && status >= 0 && !isnan(low); step++) {
    if (step == 60) status = push(model, hk_state_time(state), &error);
    if (status >= 0) status = hk_sim_step(sim, state, &error);
    if (status >= 0) low = lowest(model, state);
    if (step % 20 == 19) printf("%.1f s: %.3f m\n", hk_state_time(state), low);
  }
  if (status < 0) fprintf(stderr, "%s\n", error.text);
  hk_sim_destroy(&sim);
  hk_state_destroy(&state);
  hk_model_destroy(&model);
  hk_scene_destroy(&scene);
  return status < 0 || isnan(low);
}
