/* Springs beyond what every force is asked for: very short ones, slack ones, what they conserve. */
#include "model_by_hand.h"
#include "test.h"

#include "base/vec.h"
#include "force/springs.h"

static const double K = 250, L0 = 0.8, C = 1.5;
static const double U[3] = {0.6, 0.64, -0.48}; /* of length 1 */
static const double V[6] = {0.3, -0.2, 0.9, -0.5, 0.7, 0.1};

/* One spring of length l along U with damping, tension-only or not. */
static HkModel *spring(double l, double l0, bool tension) {
  HkModel *m = model_of_spring((double[]){l * U[0], l * U[1], l * U[2]}, K, l0);
  m->springs.damping = calloc(1, sizeof *m->springs.damping);
  m->springs.tension = calloc(1, sizeof *m->springs.tension);
  if (!m->springs.damping || !m->springs.tension) abort();
  m->springs.damping[0] = C;
  m->springs.tension[0] = tension;
  return m;
}

/* Largest difference between a 6 x 6 Jacobian and central differences with a step in y. */
static double difference(const HkModel *m, double *y, const double *x, const double *v,
                         const double *J, double step) {
  double worst = 0;
  for (int c = 0; c < 6; c++) {
    double low[6], high[6], kept = y[c];
    y[c] = kept + step;
    model_force(m, 0, 0, x, v, high);
    y[c] = kept - step;
    model_force(m, 0, 0, x, v, low);
    y[c] = kept;
    for (int r = 0; r < 6; r++)
      worst = fmax(worst, fabs((high[r] - low[r]) / (2 * step) - J[6 * r + c]));
  }
  return worst;
}

static bool all_finite(const double *a, int count) {
  for (int q = 0; q < count; q++)
    if (!isfinite(a[q])) return false;
  return true;
}

static void check_differences(double l, double l0, bool tension) {
  HkModel *m = spring(l, l0, tension);
  double x[6], v[6], *dfdx, *dfdv;
  memcpy(x, m->x0, sizeof x);
  memcpy(v, V, sizeof v);
  model_jacobian(m, 0, 0, x, v, &dfdx, &dfdv);
  CHECK_NEAR(difference(m, x, x, v, dfdx, 1e-4 * l), 0, 1e-6 * test_largest(dfdx, 36));
  CHECK_NEAR(difference(m, v, x, v, dfdv, 1e-2), 0, 1e-6 * test_largest(dfdv, 36));
  free(dfdx);
  free(dfdv);
  model_by_hand_destroy(&m);
}

TEST(spring_jacobians_are_exact_from_short_to_long) {
  static const double lengths[] = {1e-6, 1e-3, 0.1, 0.9, 1.1, 10, 1000};
  for (int q = 0; q < 7; q++) check_differences(lengths[q] * L0, L0, false);
}

TEST(spring_jacobians_are_exact_without_rest_length) {
  static const double lengths[] = {1e-6, 1e-3, 1, 1000};
  for (int q = 0; q < 4; q++) check_differences(lengths[q], 0, false);
}

TEST(tension_only_jacobians_are_exact_slack_and_taut) {
  check_differences(0.9 * L0, L0, true);
  check_differences(1.1 * L0, L0, true);
}

TEST(spring_force_and_energy_follow_hooke) {
  HkModel *m = spring(1.3, L0, false);
  double f[6], rest[6] = {0};
  model_force(m, 0, 0, m->x0, rest, f);
  for (int c = 0; c < 3; c++) {
    CHECK_NEAR(f[c], K * 0.5 * U[c], 1e-12 * K);
    CHECK_NEAR(f[3 + c], -K * 0.5 * U[c], 1e-12 * K);
  }
  CHECK_NEAR(model_energy(m, 0, 0, m->x0, rest), 0.5 * K * 0.25, 1e-12 * K);
  model_by_hand_destroy(&m);
}

TEST(spring_hessian_stiffens_along_and_slackens_across) {
  HkModel *m = spring(0.4, L0, false);
  double H[9], y[3] = {0}, across[3] = {0.8, -0.48, 0.36}, z[3] = {0};
  hk_spring_hessian(&m->springs, 0, m->x0, 0, H);
  hk_mat_add_product(H, U, y);
  hk_mat_add_product(H, across, z);
  for (int c = 0; c < 3; c++) {
    CHECK_NEAR(y[c], K * U[c], 1e-12 * K);
    CHECK_NEAR(z[c], K * (1 - L0 / 0.4) * across[c], 1e-12 * K);
  }
  model_by_hand_destroy(&m);
}

static void check_closed(double l0) {
  HkModel *m = spring(0, l0, false);
  double f[6], *dfdx, *dfdv;
  model_force(m, 0, 0, m->x0, V, f);
  CHECK_NEAR(test_largest(f, 6), 0, 0);
  CHECK_NEAR(model_energy(m, 0, 0, m->x0, V), 0.5 * K * l0 * l0, 1e-12 * K);
  model_jacobian(m, 0, 0, m->x0, V, &dfdx, &dfdv);
  for (int r = 0; r < 6; r++)
    for (int c = 0; c < 6; c++)
      CHECK_NEAR(dfdx[6 * r + c], r == c ? -K : r % 3 == c % 3 ? K : 0, 0);
  CHECK_NEAR(test_largest(dfdv, 36), 0, 0);
  free(dfdx);
  free(dfdv);
  model_by_hand_destroy(&m);
}

TEST(a_spring_whose_ends_meet_has_no_force_and_the_hessian_k) {
  check_closed(0);
  check_closed(L0);
}

TEST(a_spring_stays_finite_however_short) {
  static const double lengths[] = {1e-12,  1e-100, 1.1e-150, 0.9e-150,
                                   1e-160, 1e-200, 1e-308,   5e-324};
  for (int q = 0; q < 8; q++)
    for (int tension = 0; tension < 2; tension++) {
      HkModel *m = spring(lengths[q], L0, tension);
      double f[6], *dfdx, *dfdv;
      model_force(m, 0, 0, m->x0, V, f);
      model_jacobian(m, 0, 0, m->x0, V, &dfdx, &dfdv);
      CHECK(all_finite(f, 6) && all_finite(dfdx, 36) && all_finite(dfdv, 36));
      CHECK(test_largest(f, 6) <= K * L0 + C * 4);
      CHECK(isfinite(model_energy(m, 0, 0, m->x0, V)));
      free(dfdx);
      free(dfdv);
      model_by_hand_destroy(&m);
    }
}

TEST(a_slack_thread_gives_nothing) {
  static const double lengths[] = {0, 0.5, 0.999};
  for (int q = 0; q < 3; q++) {
    HkModel *m = spring(lengths[q] * L0, L0, true);
    double f[6], *dfdx, *dfdv;
    model_force(m, 0, 0, m->x0, V, f);
    model_jacobian(m, 0, 0, m->x0, V, &dfdx, &dfdv);
    CHECK_NEAR(test_largest(f, 6) + test_largest(dfdx, 36) + test_largest(dfdv, 36), 0, 0);
    CHECK_NEAR(model_energy(m, 0, 0, m->x0, V), 0, 0);
    free(dfdx);
    free(dfdv);
    model_by_hand_destroy(&m);
  }
}

TEST(a_taut_thread_is_a_spring) {
  HkModel *thread = spring(1.2 * L0, L0, true), *plain = spring(1.2 * L0, L0, false);
  double f[6], g[6];
  model_force(thread, 0, 0, thread->x0, V, f);
  model_force(plain, 0, 0, plain->x0, V, g);
  CHECK(memcmp(f, g, sizeof f) == 0);
  CHECK(test_largest(f, 6) > 0);
  CHECK(model_energy(thread, 0, 0, thread->x0, V) == model_energy(plain, 0, 0, plain->x0, V));
  model_by_hand_destroy(&thread);
  model_by_hand_destroy(&plain);
}

/* ---- What springs conserve ---- */

enum { NX = 5, NY = 4, SIZE = 3 * NX * NY };

static HkModel *damped_sheet(bool tension) {
  ByHand by = by_hand();
  by.damping = true;
  by.tension = tension;
  return model_of_sheet(by, NX, NY);
}

TEST(springs_conserve_momentum_and_angular_momentum) {
  for (int tension = 0; tension < 2; tension++) {
    HkModel *m = damped_sheet(tension);
    uint64_t seed = 3;
    double v[SIZE], f[SIZE], force[3] = {0}, torque[3] = {0};
    for (int q = 0; q < SIZE; q++) v[q] = test_random(&seed);
    model_force(m, 0, 0, m->x0, v, f);
    for (int64_t q = 0; q < m->n; q++) {
      double part[3];
      hk_cross(m->x0 + 3 * q, f + 3 * q, part);
      hk_axpy(1, part, torque);
      hk_axpy(1, f + 3 * q, force);
    }
    CHECK(test_largest(f, SIZE) > 1);
    CHECK_NEAR(test_largest(force, 3), 0, 1e-13 * SIZE * test_largest(f, SIZE));
    CHECK_NEAR(test_largest(torque, 3), 0, 1e-12 * SIZE * test_largest(f, SIZE));
    model_by_hand_destroy(&m);
  }
}

TEST(spring_damping_takes_energy) {
  HkModel *m = damped_sheet(false);
  uint64_t seed = 8;
  double v[SIZE], f[SIZE], still[SIZE], rest[SIZE] = {0}, power = 0;
  for (int q = 0; q < SIZE; q++) v[q] = test_random(&seed);
  model_force(m, 0, 0, m->x0, v, f);
  model_force(m, 0, 0, m->x0, rest, still);
  for (int q = 0; q < SIZE; q++) power += (f[q] - still[q]) * v[q];
  CHECK(power < -1e-3);
  model_by_hand_destroy(&m);
}

TEST(spring_damping_leaves_rigid_motion_alone) {
  HkModel *m = damped_sheet(false);
  double v[SIZE], f[SIZE], still[SIZE], rest[SIZE] = {0}, spin[3] = {1, -2, 0.5};
  for (int64_t q = 0; q < m->n; q++) {
    hk_cross(spin, m->x0 + 3 * q, v + 3 * q);
    hk_axpy(3, U, v + 3 * q);
  }
  model_force(m, 0, 0, m->x0, v, f);
  model_force(m, 0, 0, m->x0, rest, still);
  for (int q = 0; q < SIZE; q++) CHECK_NEAR(f[q], still[q], 1e-12 * test_largest(f, SIZE));
  model_by_hand_destroy(&m);
}

TEST(springs_in_a_plane_pull_within_it) {
  ByHand by = by_hand();
  by.dimension = 2;
  by.damping = true;
  HkModel *m = model_of_sheet(by, NX, NY);
  double v[SIZE], f[SIZE];
  uint64_t seed = 2;
  for (int q = 0; q < SIZE; q++) v[q] = q % 3 == 2 ? 0 : test_random(&seed);
  model_force(m, 0, 0, m->x0, v, f);
  CHECK(test_largest(f, SIZE) > 1);
  for (int q = 2; q < SIZE; q += 3) CHECK_NEAR(f[q], 0, 0);
  model_by_hand_destroy(&m);
}
