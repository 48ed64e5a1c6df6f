/* A throw that hits: the velocity with which a net of 11 x 11 masses has to leave for its middle to
 * be at a target after one second. A tape records the motion and goes back through it; the gradient
 * of the distance improves the throw. Exits with 1 if the target is missed by more than 1 mm. */
#include <hooke/adjoint.h>
#include <hooke/hooke.h>
#include <math.h>
#include <stdio.h>

enum { STEPS = 60, MIDDLE = 60 };

static const char scene_text[] =
    "{\"integrator\": \"backward_euler\", \"bodies\": [{\"shape\": {\"type\": \"grid\", \"nx\": "
    "11, \"ny\": 11}, \"springs\": {\"k\": 40, \"shear\": true}, \"mass\": {\"total\": 0.2}}], "
    "\"forces\": [\"gravity\", {\"type\": \"drag\", \"quadratic\": 0.00005}], \"outputs\": []}";

static const double target[3] = {5, 1, 2}; /* m */

static double distance(const HkState *state) {
  const double *x = hk_state_positions(state) + 3 * MIDDLE;
  return sqrt((x[0] - target[0]) * (x[0] - target[0]) + (x[1] - target[1]) * (x[1] - target[1]) +
              (x[2] - target[2]) * (x[2] - target[2]));
}

/* L = 1/2 |x - target|^2 of the middle after the last step; no other state counts. */
static void add_loss(void *user, int64_t step, const HkState *state, double *dx, double *dv) {
  const double *x = hk_state_positions(state) + 3 * MIDDLE;
  (void)user;
  (void)dv;
  for (int c = 0; c < 3 && step == STEPS; c++) dx[3 * MIDDLE + c] += x[c] - target[c];
}

/* Throws the net with a velocity, and improves that: all vertices share it, so that its gradient
 * is the sum of theirs. One second of flight moves the middle by about 1 s times the velocity,
 * which gives the length of the step, 1 / s^2. */
static HkStatus throw_net(HkSim *sim, HkState *state, HkDerivatives *gradient, double velocity[3],
                          HkError *error) {
  HkTape *tape = NULL;
  HkAdjointInfo info;
  double *v = hk_state_v(state);
  for (int64_t c = 0; c < 3 * hk_state_vertex_count(state); c++) v[c] = velocity[c % 3];
  HkStatus status = hk_tape_create(sim, state, NULL, &tape, error);
  if (status >= 0) status = hk_tape_steps(tape, STEPS, error);
  if (status >= 0) status = hk_tape_backward(tape, add_loss, NULL, gradient, &info, error);
  if (status >= 0) {
    printf("%6.3f %6.3f %6.3f m/s: %.6f m off, %lld linear systems solved\n", velocity[0],
           velocity[1], velocity[2], distance(hk_tape_state(tape)),
           (long long)info.linear_iterations);
    const double *by_v = hk_derivatives_arrays(gradient).v;
    for (int64_t c = 0; c < 3 * hk_state_vertex_count(state); c++) velocity[c % 3] -= by_v[c];
    status = distance(hk_tape_state(tape)) < 1e-3 ? HK_OK : HK_NOT_CONVERGED;
  }
  hk_tape_destroy(&tape);
  return status;
}

int main(void) {
  HkError error = {0};
  HkScene *scene = NULL;
  HkModel *model = NULL;
  HkSim *sim = NULL;
  HkState *state = NULL;
  HkDerivatives *gradient = NULL;
  double velocity[3] = {0, 0, 0};
  HkStatus status = hk_scene_parse(NULL, scene_text, sizeof scene_text - 1, "the net", NULL, NULL,
                                   0, &scene, &error);
  if (status >= 0) status = hk_model_compile(scene, &model, &error);
  if (status >= 0) status = hk_state_create(model, &state, &error);
  if (status >= 0) status = hk_sim_create(model, NULL, 1.0 / STEPS, &sim, &error);
  if (status >= 0) status = hk_derivatives_create(model, &gradient, &error);
  if (status >= 0) status = HK_NOT_CONVERGED;
  for (int round = 0; round < 20 && status == HK_NOT_CONVERGED; round++)
    status = throw_net(sim, state, gradient, velocity, &error);
  if (status < 0) fprintf(stderr, "%s\n", error.text);
  hk_derivatives_destroy(&gradient);
  hk_sim_destroy(&sim);
  hk_state_destroy(&state);
  hk_model_destroy(&model);
  hk_scene_destroy(&scene);
  return status != HK_OK;
}
