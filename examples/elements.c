/* A chain that resists bending, by elements of three vertices: a force that Hooke does not have.
 *
 *     E = 1/2 k |x_a - 2 x_b + x_c|^2
 *
 * Prints how far the free end of a rod of ten masses hangs down, with and without them. */
#include <hooke/extend.h>
#include <stdio.h>

static const double weight[3] = {1, -2, 1};

/* c = x_a - 2 x_b + x_c */
static void curve(const double *x, double c[3]) {
  for (int i = 0; i < 3; i++) c[i] = x[i] - 2 * x[3 + i] + x[6 + i];
}

static double energy(void *user, const void *k, const double *x) {
  double c[3];
  (void)user;
  curve(x, c);
  return 0.5 * *(const double *)k * (c[0] * c[0] + c[1] * c[1] + c[2] * c[2]);
}

static void gradient(void *user, const void *k, const double *x, double *g) {
  double c[3];
  (void)user;
  curve(x, c);
  for (int i = 0; i < 9; i++) g[i] = *(const double *)k * weight[i / 3] * c[i % 3];
}

static void hessian(void *user, const void *k, const double *x, double *H) {
  (void)user, (void)x;
  for (int i = 0; i < 9; i++)
    for (int j = i % 3; j < 9; j += 3)
      H[9 * i + j] = *(const double *)k * weight[i / 3] * weight[j / 3];
}

/* The height (m) of the free end at rest, after 20 s of a dissipative integrator. */
static int simulate(double stiffness, double *height, HkError *error) {
  static const char text[] =
      "{\"bodies\": [{\"shape\": {\"type\": \"chain\", \"n\": 10}, \"springs\": {\"k\": 1e4}}], "
      "\"pins\": [{\"select\": {\"indices\": [0, 1]}}], \"forces\": [\"gravity\"], "
      "\"integrator\": \"backward_euler\"}";
  HkScene *scene = NULL;
  HkModel *model = NULL;
  HkSim *sim = NULL;
  HkState *state = NULL;
  int32_t vertices[8 * 3]; /* of eight elements, one around each inner vertex */
  double k[8];
  HkElementFunctions f = hk_element_functions_default();
  f.name = "bending";
  f.vertices = 3;
  f.record = sizeof *k;
  f.energy = energy;
  f.gradient = gradient;
  f.hessian = hessian;
  for (int e = 0; e < 8; e++) {
    k[e] = stiffness;
    for (int a = 0; a < 3; a++) vertices[3 * e + a] = e + a;
  }
  HkStatus status =
      hk_scene_parse(NULL, text, sizeof text - 1, "chain", NULL, NULL, 0, &scene, error);
  if (status >= 0) status = hk_model_compile(scene, &model, error);
  if (status >= 0) status = hk_model_add_elements(model, &f, NULL, vertices, k, 8, NULL, error);
  if (status >= 0) status = hk_state_create(model, &state, error);
  if (status >= 0) status = hk_sim_create(model, NULL, 0.05, &sim, error);
  if (status >= 0) status = hk_sim_steps(sim, state, 400, error);
  if (status >= 0) *height = hk_state_positions(state)[3 * 9 + 1];
  hk_sim_destroy(&sim);
  hk_state_destroy(&state);
  hk_model_destroy(&model);
  hk_scene_destroy(&scene);
  return status;
}

int main(void) {
  for (double k = 0; k <= 1e4; k = k > 0 ? 10 * k : 100) {
    HkError error = {0};
    double height = 0;
    if (simulate(k, &height, &error) < 0) return fprintf(stderr, "%s\n", error.text), 1;
    printf("k = %5g N/m: the end is at %6.3f m\n", k, height);
  }
  return 0;
}
