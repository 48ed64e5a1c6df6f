/* Stiffness matrix and gradient of the potential energy against finite differences. */
#include "model_by_hand.h"
#include "world.h"

/* A sheet with forces of every kind that has a potential, damped, some of it compressed. */
static World make_sheet(const char *dimension, const char *more) {
  char text[1024];
  snprintf(text, sizeof text,
           "{'dimension': %s, 'time': {'step': 0.001}, 'bodies': [{'shape': {'type': 'grid', 'nx': "
           "5, 'ny': 4}, 'stretch': [0.7, 1.2, 1], 'springs': {'k': 40, 'shear': true, 'damping': "
           "0.3, 'table': [[0, 19, 25, 3, 0]]}, 'mass': {'per_vertex': 0.1}}], 'pins': [{'select': "
           "'top_left'}], 'forces': ['gravity', {'type': 'handle', 'select': {'indices': [3, 7]}, "
           "'target': [1, 2, 0], 'k': 17, 'damping': 2}, {'type': 'buoyancy', 'level': 0.6, "
           "'thickness': 0.5}, {'type': 'point_load', 'select': {'indices': [5]}, 'table': "
           "[[0, 1, 0, 0]]}%s], 'outputs': []}",
           dimension, more);
  return world_make(text, "verlet", 1e-3, 1);
}

/* Moves every vertex by at most 0.02 m along the unknowns, so that nothing is special. */
static void shake(World *w, int dimension) {
  uint64_t seed = 7;
  double *x = hk_state_x(w->state);
  for (int64_t q = 0; q < 3 * hk_state_vertex_count(w->state); q++)
    if (q % 3 < dimension) x[q] += 0.02 * test_random(&seed);
}

static double entry(const HkTriplets *K, int64_t row, int64_t column) {
  for (int64_t q = 0; q < K->count; q++)
    if (K->row[q] == row && K->column[q] == column) return K->value[q];
  return 0;
}

/* Largest difference between K and central differences of the forces (N/m). */
static double stiffness_error(World *w, const HkTriplets *K) {
  enum { MOST = 96 };
  const double step = 1e-6;
  double low[MOST], high[MOST], *x = hk_state_x(w->state), worst = 0;
  for (int64_t column = 0; column < K->size; column++) {
    double kept = x[column];
    x[column] = kept + step;
    hk_sim_forces(w->sim, w->state, high);
    x[column] = kept - step;
    hk_sim_forces(w->sim, w->state, low);
    x[column] = kept;
    for (int64_t row = 0; row < K->size; row++) {
      double exact = (high[row] - low[row]) / (2 * step);
      worst = fmax(worst, fabs(entry(K, row, column) - exact));
    }
  }
  return worst;
}

TEST(stiffness_is_the_derivative_of_the_forces) {
  for (int dimension = 2; dimension <= 3; dimension++) {
    World w = make_sheet(dimension == 2 ? "2" : "3", "");
    HkTriplets *K = NULL;
    if (!w.state) return;
    shake(&w, dimension);
    MUST(hk_sim_stiffness(w.sim, w.state, &K, error));
    CHECK(K->size == 60 && K->count == 9 * (20 + 2 * hk_model_info(w.model).springs));
    CHECK_NEAR(stiffness_error(&w, K), 0, 1e-6);
    hk_triplets_destroy(&K);
    CHECK(!K);
    world_destroy(&w);
  }
}

TEST(stiffness_is_symmetric_sorted_and_each_entry_stands_once) {
  /* face_wind has no potential and adds neighbors across faces, whose entries are 0. */
  World w = make_sheet("3", ", {'type': 'face_wind', 'velocity': [0, 0, 3]}");
  HkTriplets *K = NULL;
  if (!w.state) return;
  shake(&w, 3);
  MUST(hk_sim_stiffness(w.sim, w.state, &K, error));
  for (int64_t q = 0; q < K->count; q++) {
    CHECK_NEAR(K->value[q], entry(K, K->column[q], K->row[q]), 1e-12);
    if (q == 0) continue;
    CHECK(K->row[q - 1] < K->row[q] ||
          (K->row[q - 1] == K->row[q] && K->column[q - 1] < K->column[q]));
  }
  hk_triplets_destroy(&K);
  world_destroy(&w);
}

/* A spring of 1 m compressed to 0.8 m along x: -k along it, k (l0 / l - 1) > 0 across it. */
TEST(a_compressed_spring_is_not_projected) {
  World w = world_parse("{'bodies': [{'mesh': {'vertices': [[0, 0, 0], [0.8, 0, 0]]}, 'springs': "
                        "{'table': [[0, 1, 8, 1, 0]]}}], 'pins': [{'select': {'indices': [0]}}], "
                        "'outputs': []}");
  HkTriplets *K = NULL;
  if (!w.state) return;
  MUST(hk_sim_stiffness(w.sim, w.state, &K, error));
  CHECK(K->size == 6 && K->count == 36);
  CHECK_NEAR(entry(K, 0, 0), -8, 1e-14); /* also at the pinned vertex */
  CHECK_NEAR(entry(K, 0, 3), 8, 1e-14);
  CHECK_NEAR(entry(K, 4, 4), 2, 1e-14);
  CHECK_NEAR(entry(K, 4, 1), -2, 1e-14);
  hk_triplets_destroy(&K);
  world_destroy(&w);
}

TEST(energy_gradient_is_the_derivative_of_the_potential_energy) {
  World w = make_sheet("3", ", {'type': 'drag', 'linear': 3}");
  double gradient[60], step = 1e-6, *x;
  if (!w.state) return;
  shake(&w, 3);
  for (int q = 0; q < 60; q++) hk_state_v(w.state)[q] = 1; /* which must not count */
  hk_sim_energy_gradient(w.sim, w.state, gradient);
  x = hk_state_x(w.state);
  for (int q = 0; q < 60; q++) {
    double kept = x[q];
    x[q] = kept + step;
    HkStateInfo high = world_info(&w);
    x[q] = kept - step;
    HkStateInfo low = world_info(&w);
    x[q] = kept;
    double slope = (high.total - high.kinetic - low.total + low.kinetic) / (2 * step);
    CHECK_NEAR(gradient[q], slope, 1e-7);
  }
  world_destroy(&w);
}

TEST(energy_gradient_is_minus_the_forces_at_rest) {
  World w = make_sheet("3", "");
  double gradient[60], f[60];
  if (!w.state) return;
  shake(&w, 3);
  hk_sim_energy_gradient(w.sim, w.state, gradient);
  hk_sim_forces(w.sim, w.state, f);
  for (int q = 0; q < 60; q++) CHECK_NEAR(gradient[q], -f[q], 1e-13);
  world_destroy(&w);
}

TEST(stiffness_follows_live_changes_and_refuses_the_state_of_another_model) {
  World w = make_sheet("3", ""), other = world_parse("{'bodies': [{'shape': 'chain'}]}");
  HkTriplets *K = NULL;
  if (!w.state || !other.state) return;
  MUST(hk_model_scale_stiffness(w.model, 3, error));
  MUST(hk_model_remove_force(w.model, 2, error));
  MUST(hk_sim_stiffness(w.sim, w.state, &K, error));
  CHECK_NEAR(stiffness_error(&w, K), 0, 1e-5);
  hk_triplets_destroy(&K);
  FAILS(hk_sim_stiffness(w.sim, other.state, &K, error), HK_ERROR_INVALID, "another model");
  CHECK(!K);
  hk_triplets_destroy(&K);
  world_destroy(&w);
  world_destroy(&other);
}
