/* Picking vertices by a point and by a ray. */
#include "model/state.h"
#include "test.h"

/* A state of these positions alone. */
static HkState state_of(double *x, int64_t n) {
  return (HkState){.context = hk_context_default(), .n = n, .x = x};
}

TEST(nearest_vertex_is_found_with_its_distance) {
  double x[] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 1, 1, 0}, d = -1;
  HkState s = state_of(x, 4);
  CHECK(hk_state_nearest(&s, (double[]){0.9, -0.2, 0}, &d) == 1);
  CHECK_NEAR(d, sqrt(0.01 + 0.04), 1e-15);
  CHECK(hk_state_nearest(&s, (double[]){5, 5, 5}, NULL) == 2); /* the first of two */
  CHECK(hk_state_nearest(&s, (double[]){0, 0, 0}, &d) == 0 && d == 0);
}

TEST(nearest_vertex_is_the_best_of_all) {
  enum { N = 500 };
  double x[3 * N], point[3] = {0.3, 0.4, 0.5}, d;
  uint64_t seed = 5;
  for (int q = 0; q < 3 * N; q++) {
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    x[q] = (double)(seed >> 40) * 0x1p-24;
  }
  HkState s = state_of(x, N);
  int32_t best = hk_state_nearest(&s, point, &d);
  for (int q = 0; q < N; q++) {
    double dx = x[3 * q] - point[0], dy = x[3 * q + 1] - point[1], dz = x[3 * q + 2] - point[2];
    double other = sqrt(dx * dx + dy * dy + dz * dz);
    CHECK(other > d || (q == best && other == d));
  }
}

TEST(nothing_is_picked_where_there_is_nothing) {
  double x[] = {NAN, 0, 0, 0, INFINITY, 0}, at = 7;
  HkState none = state_of(NULL, 0), nowhere = state_of(x, 2);
  const double point[3] = {0, 0, 0}, direction[3] = {0, 0, 1}, bad[3] = {NAN, 0, 0};
  CHECK(hk_state_nearest(&none, point, &at) == -1);
  CHECK(hk_state_nearest(&nowhere, point, &at) == -1);
  CHECK(hk_state_nearest_to_ray(&none, point, direction, 1, &at) == -1);
  CHECK(hk_state_nearest_to_ray(&nowhere, point, direction, 1, &at) == -1);
  x[0] = x[4] = 0; /* now they are somewhere */
  CHECK(hk_state_nearest(&nowhere, bad, &at) == -1);
  CHECK(hk_state_nearest_to_ray(&nowhere, bad, direction, 1, &at) == -1);
  CHECK(at == 7);
}

TEST(vertices_that_are_nowhere_are_not_picked) {
  double x[] = {NAN, NAN, NAN, 0, 0, 3, INFINITY, 0, 0}, at;
  HkState s = state_of(x, 3);
  const double origin[3] = {0, 0, 0}, direction[3] = {0, 0, 1};
  CHECK(hk_state_nearest(&s, origin, &at) == 1 && at == 3);
  CHECK(hk_state_nearest_to_ray(&s, origin, direction, 0.1, &at) == 1 && at == 3);
}

TEST(first_vertex_within_the_radius_is_hit) {
  double x[] = {0, 0, 9, 0.2, 0, 4, 0.05, 0, 6, 0.01, 0, -1}, at = 0;
  HkState s = state_of(x, 4);
  const double origin[3] = {0, 0, 0}, direction[3] = {0, 0, 2.5};
  CHECK(hk_state_nearest_to_ray(&s, origin, direction, 0.1, &at) == 2 && at == 6);
  CHECK(hk_state_nearest_to_ray(&s, origin, direction, 0.3, &at) == 1 && at == 4);
  CHECK(hk_state_nearest_to_ray(&s, origin, direction, 0, NULL) == 0); /* exactly on it */
  CHECK(hk_state_nearest_to_ray(&s, (double[]){0, 0, 7}, direction, 0.3, &at) == 0 && at == 2);
}

TEST(without_a_hit_the_vertex_nearest_to_the_ray_is_picked) {
  double x[] = {3, 0, 1, 2, 0, 50, -2.5, 0, 2}, at = 0;
  HkState s = state_of(x, 3);
  const double origin[3] = {0, 0, 0}, direction[3] = {0, 0, 1e-200};
  CHECK(hk_state_nearest_to_ray(&s, origin, direction, 0.1, &at) == 1 && at == 50);
  CHECK(hk_state_nearest_to_ray(&s, origin, direction, -1, &at) == 1);
  CHECK(hk_state_nearest_to_ray(&s, origin, direction, NAN, &at) == 1);
  CHECK(hk_state_nearest_to_ray(&s, origin, direction, 10, &at) == 0 && at == 1);
}

TEST(vertices_behind_the_origin_are_not_seen) {
  double x[] = {0, 0, -1, 0.5, 0, -3}, at;
  HkState s = state_of(x, 2);
  const double origin[3] = {0, 0, 0}, forward[3] = {0, 0, 1}, back[3] = {0, 0, -1};
  CHECK(hk_state_nearest_to_ray(&s, origin, forward, 1, &at) == -1);
  CHECK(hk_state_nearest_to_ray(&s, origin, back, 1, &at) == 0 && at == 1);
  CHECK(hk_state_nearest_to_ray(&s, (double[]){0, 0, -1}, forward, 1, &at) == 0 && at == 0);
}

TEST(rays_without_a_direction_hit_nothing) {
  double x[] = {0, 0, 1};
  HkState s = state_of(x, 1);
  const double origin[3] = {0, 0, 0}, zero[3] = {0, 0, 0}, odd[3] = {0, NAN, 1};
  const double endless[3] = {0, 0, INFINITY};
  CHECK(hk_state_nearest_to_ray(&s, origin, zero, 1, NULL) == -1);
  CHECK(hk_state_nearest_to_ray(&s, origin, odd, 1, NULL) == -1);
  CHECK(hk_state_nearest_to_ray(&s, origin, endless, 1, NULL) == -1);
}
