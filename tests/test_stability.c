/* Stable steps of every integrator against brute force.
 *
 * The integrator's own code moves one mass of 1 kg under the force -omega^2 x - d v. A step is
 * linear in (x, v), so two steps from unit vectors give its 2 x 2 matrix, and the spectral radius
 * of that says whether the step is stable.
 */
#include "test.h"

#include "step/sim.h"

#include <complex.h>

typedef struct Oscillator {
  double omega, d;
} Oscillator;

static void add_force(const HkForceArgs *a, double *f) {
  const Oscillator *o = a->params;
  for (int c = 0; c < 3; c++) f[c] -= o->omega * o->omega * a->x[c] + o->d * a->v[c];
}

static const HkForceType oscillator_force = {.schema = {.name = "oscillator"}, .add = add_force};

/* A = matrix of one step: (x, v)+ = A (x, v), row by row. */
static void step_matrix(const HkStepType *type, Oscillator o, double h, double A[4]) {
  enum { MOST_VECTORS = 32 };
  double workspace[MOST_VECTORS][3] = {{0}}, *w[MOST_VECTORS], partial[4], zero[3] = {0};
  if (type->vectors > MOST_VECTORS) abort();
  for (int q = 0; q < MOST_VECTORS; q++) w[q] = workspace[q];
  HkCompiledForce force = {.type = &oscillator_force, .method = {.params = &o}};
  double mass[1] = {1};
  HkModel model = {.context = hk_default_context(),
                   .threads = 1,
                   .dimension = 3,
                   .up = 1,
                   .n = 1,
                   .x0 = zero,
                   .v0 = zero,
                   .mass = mass,
                   .forces = &force,
                   .force_count = 1,
                   .velocity_dependent = o.d != 0};
  HkSim sim = {.model = &model, .type = type, .h = h, .w = w, .work = {.sums = partial}};
  for (int column = 0; column < 2; column++) {
    double x[3] = {column == 0}, v[3] = {column == 1};
    HkState state = {.context = model.context, .n = 1, .x = x, .v = v};
    HkError error = {0};
    if (type->step(&sim, &state, &error) < 0) test_fail(__FILE__, __LINE__, "%s", error.text);
    A[column] = x[0];
    A[2 + column] = v[0];
  }
}

static double spectral_radius(const double A[4]) {
  double half_trace = 0.5 * (A[0] + A[3]), determinant = A[0] * A[3] - A[1] * A[2];
  double complex root = csqrt(half_trace * half_trace - determinant);
  return fmax(cabs(half_trace + root), cabs(half_trace - root));
}

static double radius_at(const HkStepType *type, double omega, double d, double h) {
  double A[4];
  step_matrix(type, (Oscillator){omega, d}, h, A);
  return spectral_radius(A);
}

static const double omegas[] = {0.01, 1, 3.7, 1000};
/* d / omega; 2 is critical damping. */
static const double ratios[] = {0, 0.02, 0.3, 0.45, 0.8, 1, 1.0816, 1.5, 1.99, 2, 2.01, 3, 10, 500};

static const int omega_count = sizeof omegas / sizeof omegas[0];
static const int ratio_count = sizeof ratios / sizeof ratios[0];

/* Whether the limit of an integrator is exact for a damped pair, or a bound from below. */
static bool is_exact(const HkStepType *type) {
  const char *name = type->schema.name;
  return strcmp(name, "forward_euler") == 0 || strcmp(name, "symplectic_euler") == 0;
}

TEST(steps_below_the_reported_limit_are_stable) {
  for (int s = 0; s < hk_schema_count(HK_STEP); s++) {
    const HkStepType *type = hk_step_type(hk_schema_at(HK_STEP, s));
    for (int p = 0; p < omega_count * ratio_count; p++) {
      double omega = omegas[p / ratio_count], d = omega * ratios[p % ratio_count];
      double limit = type->stable_step(NULL, omega, d);
      /* Not at one step alone: at every one up to the limit. */
      for (int q = 1; q <= 200 && limit > 0 && isfinite(limit); q++) {
        double radius = radius_at(type, omega, d, 0.999 * limit * q / 200);
        if (!(radius <= 1 + 1e-9))
          test_fail(__FILE__, __LINE__, "%s, omega %g, d %g: radius %.12g at %g of the limit %g",
                    type->schema.name, omega, d, radius, 0.999 * q / 200, limit);
      }
    }
  }
}

TEST(steps_above_the_reported_limit_are_unstable_where_it_is_exact) {
  for (int s = 0; s < hk_schema_count(HK_STEP); s++) {
    const HkStepType *type = hk_step_type(hk_schema_at(HK_STEP, s));
    for (int p = 0; p < omega_count * ratio_count; p++) {
      double omega = omegas[p / ratio_count], d = omega * ratios[p % ratio_count];
      double limit = type->stable_step(NULL, omega, d);
      if ((d > 0 && !is_exact(type)) || !isfinite(limit)) continue;
      double h = limit > 0 ? 1.01 * limit : 0.01 / omega;
      double radius = radius_at(type, omega, d, h);
      if (!(radius > 1 + 1e-6))
        test_fail(__FILE__, __LINE__, "%s, omega %g, d %g: radius %.12g beyond the limit %g",
                  type->schema.name, omega, d, radius, limit);
    }
  }
}

/* The pair that is asked about holds the largest omega and the largest d of a system, whose modes
 * have less of either. Forward Euler cannot promise anything for those. */
TEST(limits_hold_for_every_mode_with_less_stiffness_or_damping) {
  for (int s = 0; s < hk_schema_count(HK_STEP); s++) {
    const HkStepType *type = hk_step_type(hk_schema_at(HK_STEP, s));
    if (strcmp(type->schema.name, "forward_euler") == 0) continue;
    for (int p = 0; p < ratio_count; p++) {
      double d = ratios[p], limit = type->stable_step(NULL, 1, d);
      for (int q = 0; q < 21 * 21 && isfinite(limit); q++) {
        double part = (q % 21) / 20.0, d_part = d * (q / 21) / 20.0;
        if (part == 0) continue; /* nothing to swing about: the position drifts */
        double radius = radius_at(type, part, d_part, 0.999 * limit);
        if (!(radius <= 1 + 1e-9))
          test_fail(__FILE__, __LINE__, "%s: limit %g of (1, %g) is not stable for (%g, %g)",
                    type->schema.name, limit, d, part, d_part);
      }
    }
  }
}

TEST(known_limits_without_damping) {
  static const struct {
    const char *name;
    double limit; /* times omega */
  } known[] = {{"forward_euler", 0}, {"symplectic_euler", 2}, {"verlet", 2}, {"rk4", 2.8284271247}};
  for (int q = 0; q < 4; q++) {
    const HkStepType *type = hk_step_type(hk_schema_find(HK_STEP, known[q].name));
    CHECK_NEAR(type->stable_step(NULL, 5, 0), known[q].limit / 5, 1e-10);
    CHECK(isinf(type->stable_step(NULL, 0, 0)));
  }
}

/* Pure drag, omega = 0: every method but rk4 has the exact limit 2 / d. */
TEST(pure_drag_has_its_limit) {
  for (int s = 0; s < hk_schema_count(HK_STEP); s++) {
    const HkStepType *type = hk_step_type(hk_schema_at(HK_STEP, s));
    double limit = type->stable_step(NULL, 0, 4), A[4];
    if (!isfinite(limit)) continue;
    step_matrix(type, (Oscillator){0, 4}, 0.999 * limit, A);
    CHECK(fabs(A[3]) <= 1);
    step_matrix(type, (Oscillator){0, 4}, 1.07 * limit, A);
    CHECK(fabs(A[3]) > 1);
  }
}

/* verlet.c documents the exact limit of a damped pair: the region of its two inequalities. */
TEST(verlet_is_stable_just_where_its_inequalities_hold) {
  const HkStepType *type = hk_step_type(hk_schema_find(HK_STEP, "verlet"));
  int stable = 0, unstable = 0;
  for (int p = 0; p < 60; p++)
    for (int q = 1; q < 60; q++) {
      double d = 0.0517 * p, h = 0.0713 * q;
      double first = h * d - 2, second = (1 - h * d / 2) * (h * h + 2 * h * d) - 4;
      if (fabs(first) < 1e-3 || fabs(second) < 1e-3) continue;
      bool inside = first < 0 && second < 0;
      CHECK((radius_at(type, 1, d, h) <= 1 + 1e-9) == inside);
      stable += inside;
      unstable += !inside;
    }
  CHECK(stable > 100 && unstable > 100);
}

/* The least radius of the region where |P(z)| <= 1 over the left half plane, as rk4.c has it. */
TEST(rk4_constant_is_the_least_radius_of_its_region) {
  double least = INFINITY;
  for (int ray = 0; ray <= 2000; ray++) {
    double complex direction = cexp(I * M_PI / 2 * (1 + ray / 2000.0));
    double r = 0;
    for (double size = 0; size <= 1 + 1e-12; r += 1e-3) {
      double complex z = r * direction;
      size = cabs(1 + z * (1 + z / 2 * (1 + z / 3 * (1 + z / 4))));
    }
    least = fmin(least, r);
  }
  const HkStepType *type = hk_step_type(hk_schema_find(HK_STEP, "rk4"));
  CHECK_NEAR(least, 2.6155, 3e-3);
  CHECK(type->stable_step(NULL, 1, 0.1) <= least - 1e-3 && type->stable_step(NULL, 1, 0.1) > 2.6);
}

/* The matrices of the four methods by their definitions. */
static void defined_matrix(const char *name, double omega, double d, double h, double A[4]) {
  double w = omega * omega;
  if (strcmp(name, "forward_euler") == 0) {
    memcpy(A, (double[]){1, h, -h * w, 1 - h * d}, 4 * sizeof *A);
  } else if (strcmp(name, "symplectic_euler") == 0) {
    memcpy(A, (double[]){1 - h * h * w, h * (1 - h * d), -h * w, 1 - h * d}, 4 * sizeof *A);
  } else if (strcmp(name, "verlet") == 0) {
    double c = 1 - h * d / 2; /* the kick acts as with w and d times c, between two half drifts */
    double kick_x = -c * h * w, kick_v = 1 - c * h * d + kick_x * h / 2;
    memcpy(A, (double[]){1 + h / 2 * kick_x, h / 2 + h / 2 * kick_v, kick_x, kick_v},
           4 * sizeof *A);
  } else { /* rk4: 1 + z + z^2/2 + z^3/6 + z^4/24 of the matrix Z, by Horner */
    double Z[4] = {0, h, -h * w, -h * d}, P[4] = {1, 0, 0, 1};
    for (int q = 4; q >= 1; q--) {
      double next[4] = {1 + (Z[0] * P[0] + Z[1] * P[2]) / q, (Z[0] * P[1] + Z[1] * P[3]) / q,
                        (Z[2] * P[0] + Z[3] * P[2]) / q, 1 + (Z[2] * P[1] + Z[3] * P[3]) / q};
      memcpy(P, next, sizeof P);
    }
    memcpy(A, P, sizeof P);
  }
}

TEST(one_step_is_the_matrix_of_the_definition) {
  static const char *const names[] = {"forward_euler", "symplectic_euler", "verlet", "rk4"};
  for (int s = 0; s < 4; s++)
    for (int p = 0; p < ratio_count; p++) {
      const HkStepType *type = hk_step_type(hk_schema_find(HK_STEP, names[s]));
      double A[4], B[4], omega = 1.3, d = omega * ratios[p], h = 0.37;
      step_matrix(type, (Oscillator){omega, d}, h, A);
      defined_matrix(names[s], omega, d, h, B);
      for (int q = 0; q < 4; q++) CHECK_NEAR(A[q], B[q], 1e-13 * (1 + fabs(B[q])));
    }
}

/* The error of one step against the exact motion falls with h^(order + 1). */
TEST(one_step_has_the_order_that_is_claimed) {
  const double omega = 1.3, d = 0.4, decay = d / 2, swing = sqrt(omega * omega - decay * decay);
  for (int s = 0; s < hk_schema_count(HK_STEP); s++) {
    const HkStepType *type = hk_step_type(hk_schema_at(HK_STEP, s));
    double error[2], A[4];
    for (int q = 0; q < 2; q++) {
      double h = q == 0 ? 0.1 : 0.05, c = cos(swing * h), sine = sin(swing * h) / swing;
      double fade = exp(-decay * h);
      double exact[4] = {fade * (c + decay * sine), fade * sine, -fade * omega * omega * sine,
                         fade * (c - decay * sine)};
      step_matrix(type, (Oscillator){omega, d}, h, A);
      error[q] = 0;
      for (int e = 0; e < 4; e++) error[q] = fmax(error[q], fabs(A[e] - exact[e]));
    }
    double order = log2(error[0] / error[1]) - 1;
    if (!(fabs(order - type->order) < 0.25))
      test_fail(__FILE__, __LINE__, "%s: order %.3f, %d is claimed", type->schema.name, order,
                type->order);
  }
}
