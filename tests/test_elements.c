/* Elements: energy, gradient and Hessian of a few vertices give a force that takes part in every
 * method. Springs as elements are the springs. */
#include "world.h"

#include "base/vec.h"
#include "force/element.h"
#include "force/springs.h"
#include "model_by_hand.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- A tetrahedron that keeps its volume: E = 1/2 k (V - V0)^2, V = e1 . (e2 x e3) / 6 ---- */

typedef struct Volume {
  double k, V0; /* N/m^5, m^3 */
} Volume;

static void edges_of(const double *x, double e[3][3]) {
  for (int a = 0; a < 3; a++) hk_sub(x + 3 * (a + 1), x, e[a]);
}

static double volume_of(const double *x) {
  double e[3][3], n[3];
  edges_of(x, e);
  hk_cross(e[1], e[2], n);
  return hk_dot(e[0], n) / 6;
}

static void volume_gradient(const double *x, double g[12]) {
  double e[3][3];
  edges_of(x, e);
  for (int a = 0; a < 3; a++) hk_cross(e[(a + 1) % 3], e[(a + 2) % 3], g + 3 * (a + 1));
  for (int c = 0; c < 3; c++) g[c] = -(g[3 + c] + g[6 + c] + g[9 + c]);
  for (int c = 0; c < 12; c++) g[c] /= 6;
}

static double energy(void *user, const void *record, const double *x) {
  const Volume *v = record;
  double off = volume_of(x) - v->V0;
  (void)user;
  return 0.5 * v->k * off * off;
}

static void gradient(void *user, const void *record, const double *x, double *g) {
  const Volume *v = record;
  (void)user;
  volume_gradient(x, g);
  for (int c = 0; c < 12; c++) g[c] *= v->k * (volume_of(x) - v->V0);
}

/* k g g^T + k (V - V0) d2V/dx2; V is linear in each coordinate, so that differences of its gradient
 * by 1 m are exact. */
static void hessian(void *user, const void *record, const double *x, double *H) {
  const Volume *v = record;
  double g[12], y[12], up[12];
  (void)user;
  volume_gradient(x, g);
  for (int j = 0; j < 12; j++) {
    memcpy(y, x, sizeof y);
    y[j] += 1;
    volume_gradient(y, up);
    for (int i = 0; i < 12; i++)
      H[12 * i + j] = v->k * (g[i] * g[j] + (volume_of(x) - v->V0) * (up[i] - g[i]));
  }
}

static HkElementFunctions volume_element(void) {
  HkElementFunctions f = hk_element_functions_default();
  f.name = "volumes";
  f.vertices = 4;
  f.record = sizeof(Volume);
  f.energy = energy;
  f.gradient = gradient;
  f.hessian = hessian;
  return f;
}

/* ---- Formulas ---- */

static double between(uint64_t *seed, double low, double high) {
  return low + 0.5 * (high - low) * (1 + test_random(seed));
}

static void check_derivatives(const HkElementFunctions *f, const void *record, const double *x) {
  int size = 3 * f->vertices;
  double g[12] = {0}, H[144] = {0}, y[12], scale = 0;
  f->gradient(NULL, record, x, g);
  f->hessian(NULL, record, x, H);
  for (int c = 0; c < size * size; c++) scale = fmax(scale, fabs(H[c]));
  for (int c = 0; c < size; c++) {
    const double STEP = 1e-6;
    double up[12] = {0}, down[12] = {0};
    memcpy(y, x, (size_t)size * sizeof *y);
    y[c] = x[c] + STEP;
    double E_up = f->energy(NULL, record, y);
    f->gradient(NULL, record, y, up);
    y[c] = x[c] - STEP;
    double E_down = f->energy(NULL, record, y);
    f->gradient(NULL, record, y, down);
    CHECK_NEAR((E_up - E_down) / (2 * STEP), g[c], 1e-7 * scale);
    for (int r = 0; r < size; r++)
      CHECK_NEAR((up[r] - down[r]) / (2 * STEP), H[size * r + c], 1e-7 * scale);
  }
}

TEST(gradients_and_hessians_are_the_derivatives_of_energies) {
  uint64_t seed = 3;
  HkElementFunctions spring = hk_spring_element(), volume = volume_element();
  for (int trial = 0; trial < 50; trial++) {
    double x[12];
    for (int c = 0; c < 12; c++) x[c] = between(&seed, -1, 1);
    HkSpringElement s = {between(&seed, 1, 100), between(&seed, 0, 2), false};
    Volume v = {between(&seed, 1, 100), between(&seed, -0.2, 0.2)};
    check_derivatives(&spring, &s, x);
    check_derivatives(&volume, &v, x);
  }
}

/* P is the nearest positive semidefinite matrix to H: P and P - H are semidefinite, and their
 * product is 0. */
TEST(projections_are_the_nearest_semidefinite_matrices) {
  uint64_t seed = 4;
  for (int size = 3; size <= 12; size += 3)
    for (int trial = 0; trial < 100; trial++) {
      double H[144] = {0}, P[144], scale = 0;
      for (int i = 0; i < size; i++)
        for (int j = 0; j <= i; j++) {
          double wide = pow(10, between(&seed, -3, 3));
          H[size * i + j] = H[size * j + i] = wide * between(&seed, -1, 1);
          scale = fmax(scale, fabs(H[size * i + j]));
        }
      memcpy(P, H, sizeof P);
      hk_project_semidefinite(size, P);
      double largest = 0;
      for (int i = 0; i < size; i++)
        for (int j = 0; j < size; j++) {
          double sum = 0;
          for (int k = 0; k < size; k++)
            sum += P[size * i + k] * (P[size * k + j] - H[size * k + j]);
          largest = fmax(largest, fabs(sum));
        }
      CHECK(largest < 1e-12 * scale * scale);
      for (int probe = 0; probe < 30; probe++) {
        double d[12], own = 0, rest = 0;
        for (int c = 0; c < size; c++) d[c] = between(&seed, -1, 1);
        for (int i = 0; i < size; i++)
          for (int j = 0; j < size; j++) {
            own += d[i] * P[size * i + j] * d[j];
            rest += d[i] * (P[size * i + j] - H[size * i + j]) * d[j];
          }
        CHECK(own > -1e-12 * scale && rest > -1e-12 * scale);
      }
    }
}

/* ---- Springs as elements ---- */

static const char CLOTH[] =
    "{'bodies': [{'shape': {'type': 'grid', 'nx': 7, 'ny': 6}, 'mass': 0.3, 'springs': {'k': %g, "
    "'shear': true, 'bending': true, 'tension_only': %s}, 'stretch': [1.1, 0.95, 1]}], "
    "'pins': [{'select': {'indices': [0, 6]}}], 'forces': ['gravity']}";

/* A new simulation with the integrator that a JSON text says. */
static void integrate_by(World *w, const char *integrator) {
  HkMethod step = {0};
  hk_sim_destroy(&w->sim);
  CHECK(hk_method_parse(&step, HK_STEP, integrator, strlen(integrator), NULL, NULL) == HK_OK);
  CHECK(hk_sim_create(w->model, &step, 0.002, &w->sim, NULL) == HK_OK);
  hk_method_clear(&step);
}

static World cloth(double k, bool tension_only, const char *integrator, int threads) {
  char text[512];
  snprintf(text, sizeof text, CLOTH, k, tension_only ? "true" : "false");
  World w = world_make(text, NULL, 0.002, threads);
  integrate_by(&w, integrator);
  return w;
}

/* The same cloth, whose springs have no stiffness, with their stiffness as elements. */
static World cloth_of_elements(double k, bool tension_only, const char *integrator, int threads) {
  World w = cloth(0, tension_only, integrator, threads);
  HkSpringView view = hk_model_springs(w.model);
  HkElementFunctions f = hk_spring_element();
  int32_t *vertices = malloc((size_t)view.count * 2 * sizeof *vertices);
  HkSpringElement *records = calloc((size_t)view.count, sizeof *records);
  for (int64_t s = 0; s < view.count; s++) {
    vertices[2 * s] = view.i[s];
    vertices[2 * s + 1] = view.j[s];
    records[s] = (HkSpringElement){k, view.l0[s], tension_only};
  }
  HkStatus status =
      hk_model_add_elements(w.model, &f, NULL, vertices, records, view.count, NULL, NULL);
  CHECK(status == HK_OK);
  free(vertices);
  free(records);
  integrate_by(&w, integrator);
  return w;
}

TEST(springs_as_elements_have_the_energy_force_and_stiffness_of_springs) {
  for (int tension_only = 0; tension_only < 2; tension_only++) {
    World a = cloth(200, tension_only, "\"backward_euler\"", 0);
    World b = cloth_of_elements(200, tension_only, "\"backward_euler\"", 0);
    HkStateInfo info[2];
    HkTriplets *K[2] = {NULL, NULL};
    double f[2][126], most = 0, scale = 0;
    hk_sim_state_info(a.sim, a.state, &info[0]);
    hk_sim_state_info(b.sim, b.state, &info[1]);
    CHECK_NEAR(info[0].spring, info[1].other, 1e-12 * info[0].spring);
    hk_sim_forces(a.sim, a.state, f[0]);
    hk_sim_forces(b.sim, b.state, f[1]);
    for (int c = 0; c < 126; c++) {
      most = fmax(most, fabs(f[0][c] - f[1][c]));
      scale = fmax(scale, fabs(f[0][c]));
    }
    CHECK(most < 1e-12 * scale);
    MUST(hk_sim_stiffness(a.sim, a.state, &K[0], error));
    MUST(hk_sim_stiffness(b.sim, b.state, &K[1], error));
    CHECK(K[0]->count == K[1]->count);
    most = scale = 0;
    for (int64_t e = 0; e < K[0]->count; e++) {
      most = fmax(most, fabs(K[0]->value[e] - K[1]->value[e]));
      scale = fmax(scale, fabs(K[0]->value[e]));
    }
    CHECK(most < 1e-12 * scale);
    hk_triplets_destroy(&K[0]);
    hk_triplets_destroy(&K[1]);
    world_destroy(&a);
    world_destroy(&b);
  }
}

TEST(springs_as_elements_move_as_springs_do_by_every_method) {
  static const char *const integrators[] = {
      "\"symplectic_euler\"",
      "\"verlet\"",
      "\"rk4\"",
      "{\"type\": \"backward_euler\", \"minimizer\": {\"type\": \"newton\", \"linear\": \"ldlt\"}}",
      "{\"type\": \"backward_euler\", \"minimizer\": {\"type\": \"newton\", \"linear\": "
      "{\"type\": \"pcg\", \"preconditioner\": \"multigrid\"}}}",
      "{\"type\": \"backward_euler\", \"minimizer\": {\"type\": \"newton\", \"linear\": "
      "{\"type\": \"pcg\", \"preconditioner\": \"ic0\"}}}",
      "{\"type\": \"backward_euler\", \"minimizer\": {\"type\": \"lbfgs\", \"tolerance\": 1e-8, "
      "\"iterations\": 10000}}",
      "{\"type\": \"backward_euler\", \"minimizer\": {\"type\": \"vertex_block_descent\", "
      "\"tolerance\": 1e-8, \"iterations\": 10000}}",
      "{\"type\": \"implicit_midpoint\", \"minimizer\": \"newton\"}",
      "\"bdf2\"",
      "\"linear_implicit_euler\"",
  };
  for (size_t k = 0; k < sizeof integrators / sizeof integrators[0]; k++) {
    World a = cloth(200, false, integrators[k], 0);
    World b = cloth_of_elements(200, false, integrators[k], 0);
    world_steps(&a, 20);
    world_steps(&b, 20);
    const double *x = hk_state_positions(a.state), *y = hk_state_positions(b.state);
    double most = 0;
    for (int c = 0; c < 126; c++) most = fmax(most, fabs(x[c] - y[c]));
    if (most >= 1e-5) printf("    %s: off by %g m\n", integrators[k], most);
    CHECK(most < 1e-5);
    world_destroy(&a);
    world_destroy(&b);
  }
}

TEST(the_number_of_threads_changes_no_bit) {
  double x[2][126];
  for (int t = 0; t < 2; t++) {
    World w = cloth_of_elements(200, false, "\"backward_euler\"", 1 + 2 * t);
    world_steps(&w, 10);
    memcpy(x[t], hk_state_positions(w.state), sizeof x[t]);
    world_destroy(&w);
  }
  CHECK(memcmp(x[0], x[1], sizeof x[0]) == 0);
}

/* ---- Four vertices ---- */

/* A tetrahedron in free motion whose volume is to become half as large again. */
TEST(volumes_conserve_energy_and_momenta) {
  World w = world_make("{'bodies': [{'mesh': {'vertices': [[0, 0, 0], [1, 0, 0], [0, 1, 0], "
                       "[0, 0, 1]], 'tets': [[0, 1, 2, 3]]}, 'springs': {'k': 5}, "
                       "'mass': 1, 'velocity': [1, 2, 3], 'spin': [0, 1, 2]}]}",
                       "verlet", 1e-4, 0);
  const int32_t corners[] = {0, 1, 2, 3};
  const Volume v = {2000, 0.25};
  HkElementFunctions f = volume_element();
  HkStateInfo start, end;
  MUST(hk_model_add_elements(w.model, &f, NULL, corners, &v, 1, NULL, error));
  hk_sim_state_info(w.sim, w.state, &start);
  CHECK_NEAR(start.other, 0.5 * 2000 * (0.25 - 1.0 / 6) * (0.25 - 1.0 / 6), 1e-12);
  world_steps(&w, 5000);
  hk_sim_state_info(w.sim, w.state, &end);
  CHECK_NEAR(end.total, start.total, 1e-5 * start.total);
  CHECK(fabs(end.other - start.other) > 0.1 * start.other);
  for (int c = 0; c < 3; c++) {
    CHECK_NEAR(end.momentum[c], start.momentum[c], 1e-11);
    CHECK_NEAR(end.angular_momentum[c], start.angular_momentum[c], 1e-10);
  }
  world_destroy(&w);
}

/* Newton's method finds a minimum of the step's energy although the Hessian is indefinite where it
 * starts. */
TEST(implicit_steps_with_volumes_converge) {
  World w = world_make("{'bodies': [{'shape': {'type': 'tet_block', 'nx': 3, 'ny': 3, 'nz': 3}, "
                       "'springs': {'k': 20}, 'mass': 1}], 'pins': [{'select': 'bottom'}], "
                       "'forces': ['gravity']}",
                       "backward_euler", 0.05, 0);
  HkModelInfo info = hk_model_info(w.model);
  int32_t corners[4 * 64];
  Volume records[64];
  uint64_t seed = 5;
  for (int k = 0; k < 64; k++) {
    for (int a = 0; a < 4; a++)
      corners[4 * k + a] = (int32_t)between(&seed, 0, (double)info.vertices);
    records[k] = (Volume){between(&seed, 1, 1e4), between(&seed, -0.1, 0.1)};
  }
  HkElementFunctions f = volume_element();
  MUST(hk_model_add_elements(w.model, &f, NULL, corners, records, 64, NULL, error));
  int projections = 0;
  for (int step = 0; step < 20; step++) {
    HkStatus status = hk_sim_step(w.sim, w.state, NULL);
    HkStepInfo solved = hk_sim_step_info(w.sim);
    projections += solved.projections;
    CHECK(status == HK_OK);
    CHECK(solved.gradient < 1e-9);
  }
  CHECK(projections > 0);
  world_destroy(&w);
}

static int destroyed;
static void count_destroy(void *user) {
  (void)user;
  destroyed++;
}

TEST(what_are_no_elements_is_refused_and_released) {
  World w = cloth(200, false, "\"backward_euler\"", 0);
  HkElementFunctions f = volume_element();
  Volume v = {1, 1};
  int32_t far[] = {0, 1, 2, 42};
  HkError e = {0};
  int count = hk_model_force_count(w.model);
  f.destroy = count_destroy;
  CHECK(hk_model_add_elements(w.model, &f, NULL, far, &v, 1, NULL, &e) == HK_ERROR_INVALID);
  CHECK(strstr(e.text, "vertex 42") != NULL && destroyed == 1);
  far[3] = 3;
  f.vertices = 5;
  CHECK(hk_model_add_elements(w.model, &f, NULL, far, &v, 1, NULL, &e) == HK_ERROR_INVALID);
  f.vertices = 4;
  f.hessian = NULL;
  CHECK(hk_model_add_elements(w.model, &f, NULL, far, &v, 1, NULL, &e) == HK_ERROR_INVALID);
  f.hessian = hessian;
  CHECK(hk_model_add_elements(w.model, &f, NULL, NULL, &v, 1, NULL, &e) == HK_ERROR_INVALID);
  CHECK(destroyed == 4 && hk_model_force_count(w.model) == count);
  MUST(hk_model_add_elements(w.model, &f, NULL, far, &v, 1, NULL, error));
  MUST(hk_model_remove_force(w.model, count, error));
  CHECK(destroyed == 5);
  world_destroy(&w);
}
