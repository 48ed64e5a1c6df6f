/* Stable steps of every integrator against brute force.
 *
 * The integrator's own code moves one mass of 1 kg under the force -omega^2 x - d v. A step is
 * linear in (x, v), so two steps from unit vectors give its 2 x 2 matrix, and the spectral radius
 * of that says whether the step is stable.
 */
#include "step/sim.h"
#include "world.h"

#include <complex.h>

typedef struct Oscillator {
  double omega, d;
} Oscillator;

/* A single mass of 1 kg at a handle: x'' = -omega^2 x - d x'. */
static HkModel *oscillator_model(Oscillator o) {
  char text[256];
  HkScene *scene = NULL;
  HkModel *model = NULL;
  snprintf(text, sizeof text,
           "{'bodies': [{'mesh': {'vertices': [[0, 0, 0]]}}], 'forces': [{'type': 'handle', "
           "'select': 'all', 'k': %.17g, 'damping': %.17g}]}",
           o.omega * o.omega, o.d);
  const char *json = test_json(text);
  HkError error = {0};
  if (hk_scene_parse(NULL, json, strlen(json), "test", NULL, NULL, 0, &scene, &error) < 0 ||
      hk_model_compile(scene, &model, &error) < 0)
    test_fail(__FILE__, __LINE__, "%s", error.text);
  hk_scene_destroy(&scene);
  return model;
}

/* A = matrix of one step: (x, v)+ = A (x, v), row by row. */
static void model_matrix(const HkModel *model, const HkMethod *method, double h, double A[4]) {
  HkError error = {0};
  HkSim *sim = NULL;
  HkState *state = NULL;
  for (int q = 0; q < 4; q++) A[q] = NAN;
  if (hk_sim_create(model, method, h, &sim, &error) < 0 ||
      hk_state_create(model, &state, &error) < 0)
    test_fail(__FILE__, __LINE__, "%s", error.text);
  for (int column = 0; column < 2 && state; column++) {
    double *x = hk_state_x(state), *v = hk_state_v(state);
    hk_state_set_time(state, -1); /* as if nothing had been before */
    hk_state_set_time(state, 0);
    x[0] = column == 0;
    v[0] = column == 1;
    if (hk_sim_move(sim, state, &error) < 0) test_fail(__FILE__, __LINE__, "%s", error.text);
    A[column] = x[0];
    A[2 + column] = v[0];
  }
  hk_state_destroy(&state);
  hk_sim_destroy(&sim);
}

/* An integrator with its parameters. */
typedef struct Subject {
  HkMethod method;
  const HkStepType *type;
} Subject;

static Subject subject_named(const char *name) {
  Subject s = {0};
  hk_method_choose(&s.method, HK_STEP, name, NULL);
  s.type = hk_step_type(s.method.schema);
  return s;
}

/* Every integrator of the registry, then beta at 0, 0.2 and 0.4; without a type past the last. */
static Subject subject_at(int index) {
  const HkSchema *schema = hk_schema_at(HK_STEP, index);
  if (schema) return subject_named(schema->name);
  int extra = index - hk_schema_count(HK_STEP);
  if (extra > 2) return (Subject){0};
  Subject s = subject_named("beta");
  hk_method_set_number(&s.method, "beta", 0.2 * extra, NULL);
  return s;
}

static double limit_of(const Subject *s, double omega, double d) {
  return s->type->stable_step(s->method.params, omega, d);
}

static void step_matrix(const Subject *s, Oscillator o, double h, double A[4]) {
  HkModel *model = oscillator_model(o);
  model_matrix(model, &s->method, h, A);
  hk_model_destroy(&model);
}

static double spectral_radius(const double A[4]) {
  double half_trace = 0.5 * (A[0] + A[3]), determinant = A[0] * A[3] - A[1] * A[2];
  double complex root = csqrt(half_trace * half_trace - determinant);
  return fmax(cabs(half_trace + root), cabs(half_trace - root));
}

static double radius_at(const Subject *s, double omega, double d, double h) {
  double A[4];
  step_matrix(s, (Oscillator){omega, d}, h, A);
  return spectral_radius(A);
}

static const double omegas[] = {0.01, 1, 3.7, 1000};
/* d / omega; 2 is critical damping. */
static const double ratios[] = {0, 0.02, 0.3, 0.45, 0.8, 1, 1.0816, 1.5, 1.99, 2, 2.01, 3, 10, 500};

static const int omega_count = sizeof omegas / sizeof omegas[0];
static const int ratio_count = sizeof ratios / sizeof ratios[0];

/* Whether the limit of an integrator is exact for a damped pair, or a bound from below. */
static bool is_exact(const Subject *s) {
  const char *name = s->type->schema.name;
  return strcmp(name, "forward_euler") == 0 || strcmp(name, "symplectic_euler") == 0 ||
         strcmp(name, "beta") == 0;
}

/* Steps up to the limit, and modes along either axis; sanitizers look at memory and need few. */
#if TEST_SANITIZED
enum { PARTS = 20, SIDE = 6 };
#else
enum { PARTS = 200, SIDE = 21 };
#endif

TEST(steps_below_the_reported_limit_are_stable) {
  Subject s;
  for (int index = 0; (s = subject_at(index)).type; hk_method_clear(&s.method), index++) {
    for (int p = 0; p < omega_count * ratio_count; p++) {
      double omega = omegas[p / ratio_count], d = omega * ratios[p % ratio_count];
      double limit = limit_of(&s, omega, d);
      /* Not at one step alone: at every one up to the limit. */
      for (int q = 1; q <= PARTS && limit > 0 && isfinite(limit); q++) {
        double radius = radius_at(&s, omega, d, 0.999 * limit * q / PARTS);
        if (!(radius <= 1 + 1e-9))
          test_fail(__FILE__, __LINE__, "%s, omega %g, d %g: radius %.12g at %g of the limit %g",
                    s.type->schema.name, omega, d, radius, 0.999 * q / PARTS, limit);
      }
    }
  }
}

TEST(steps_above_the_reported_limit_are_unstable_where_it_is_exact) {
  Subject s;
  for (int index = 0; (s = subject_at(index)).type; hk_method_clear(&s.method), index++) {
    for (int p = 0; p < omega_count * ratio_count; p++) {
      double omega = omegas[p / ratio_count], d = omega * ratios[p % ratio_count];
      double limit = limit_of(&s, omega, d);
      if ((d > 0 && !is_exact(&s)) || !isfinite(limit)) continue;
      double h = limit > 0 ? 1.01 * limit : 0.01 / omega;
      double radius = radius_at(&s, omega, d, h);
      if (!(radius > 1 + 1e-6))
        test_fail(__FILE__, __LINE__, "%s, omega %g, d %g: radius %.12g beyond the limit %g",
                  s.type->schema.name, omega, d, radius, limit);
    }
  }
}

/* The pair that is asked about holds the largest omega and the largest d of a system, whose modes
 * have less of either. Forward Euler cannot promise anything for those. */
TEST(limits_hold_for_every_mode_with_less_stiffness_or_damping) {
  Subject s;
  for (int index = 0; (s = subject_at(index)).type; hk_method_clear(&s.method), index++) {
    if (strcmp(s.type->schema.name, "forward_euler") == 0) continue;
    for (int p = 0; p < ratio_count; p++) {
      double d = ratios[p], limit = limit_of(&s, 1, d);
      for (int q = 0; q < SIDE * SIDE && isfinite(limit); q++) {
        double part = (double)(q % SIDE) / (SIDE - 1);
        double d_part = d * (double)(q / SIDE) / (SIDE - 1);
        if (part == 0) continue; /* nothing to swing about: the position drifts */
        double radius = radius_at(&s, part, d_part, 0.999 * limit);
        if (!(radius <= 1 + 1e-9))
          test_fail(__FILE__, __LINE__, "%s: limit %g of (1, %g) is not stable for (%g, %g)",
                    s.type->schema.name, limit, d, part, d_part);
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
    Subject s = subject_named(known[q].name);
    CHECK_NEAR(limit_of(&s, 5, 0), known[q].limit / 5, 1e-10);
    CHECK(isinf(limit_of(&s, 0, 0)));
    hk_method_clear(&s.method);
  }
}

TEST(implicit_integrators_are_stable_at_every_step) {
  Subject s;
  for (int index = 0; (s = subject_at(index)).type; hk_method_clear(&s.method), index++)
    for (int p = 0; p < omega_count * ratio_count; p++) {
      double omega = omegas[p / ratio_count], d = omega * ratios[p % ratio_count];
      if (!isinf(limit_of(&s, omega, d))) break;
      for (double h = 1e-3 / omega; h < 2e4 / omega; h *= 10) {
        double radius = radius_at(&s, omega, d, h);
        if (!(radius <= 1 + 1e-7))
          test_fail(__FILE__, __LINE__, "%s, omega %g, d %g: radius %.12g at h = %g",
                    s.type->schema.name, omega, d, radius, h);
      }
    }
}

/* Pure drag, omega = 0: every method but rk4 has the exact limit 2 / d. */
TEST(pure_drag_has_its_limit) {
  Subject s;
  for (int index = 0; (s = subject_at(index)).type; hk_method_clear(&s.method), index++) {
    double limit = limit_of(&s, 0, 4), A[4];
    if (!isfinite(limit)) continue;
    step_matrix(&s, (Oscillator){0, 4}, 0.999 * limit, A);
    CHECK(fabs(A[3]) <= 1);
    step_matrix(&s, (Oscillator){0, 4}, 1.07 * limit, A);
    CHECK(fabs(A[3]) > 1);
  }
}

/* verlet.c documents the exact limit of a damped pair: the region of its two inequalities. */
TEST(verlet_is_stable_just_where_its_inequalities_hold) {
  Subject s = subject_named("verlet");
  int stable = 0, unstable = 0;
  for (int p = 0; p < 60; p++)
    for (int q = 1; q < 60; q++) {
      double d = 0.0517 * p, h = 0.0713 * q;
      double first = h * d - 2, second = (1 - h * d / 2) * (h * h + 2 * h * d) - 4;
      if (fabs(first) < 1e-3 || fabs(second) < 1e-3) continue;
      bool inside = first < 0 && second < 0;
      CHECK((radius_at(&s, 1, d, h) <= 1 + 1e-9) == inside);
      stable += inside;
      unstable += !inside;
    }
  CHECK(stable > 100 && unstable > 100);
  hk_method_clear(&s.method);
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
  Subject s = subject_named("rk4");
  CHECK_NEAR(least, 2.6155, 3e-3);
  CHECK(limit_of(&s, 1, 0.1) <= least - 1e-3 && limit_of(&s, 1, 0.1) > 2.6);
  hk_method_clear(&s.method);
}

/* B = (I - a Z)^-1 (I + b Z), Z = [0 1; -w -d] h: theta methods of the first-order system. */
static void rational_matrix(double w, double d, double h, double a, double b, double B[4]) {
  double N[4] = {1, b * h, -b * h * w, 1 - b * h * d}, D[4] = {1, -a * h, a * h * w, 1 + a * h * d};
  double determinant = D[0] * D[3] - D[1] * D[2];
  double inverse[4] = {D[3] / determinant, -D[1] / determinant, -D[2] / determinant,
                       D[0] / determinant};
  for (int r = 0; r < 2; r++)
    for (int c = 0; c < 2; c++)
      B[2 * r + c] = inverse[2 * r] * N[c] + inverse[2 * r + 1] * N[2 + c];
}

/* The matrices of the methods by their definitions. */
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
  } else if (strcmp(name, "backward_euler") == 0 || strcmp(name, "linear_implicit_euler") == 0) {
    rational_matrix(w, d, h, 1, 0, A);
  } else if (strcmp(name, "implicit_midpoint") == 0 || strcmp(name, "trapezoidal") == 0) {
    rational_matrix(w, d, h, 0.5, 0.5, A);
  } else if (strcmp(name, "beta") == 0) { /* 1/2 */
    double s = 1 / (1 + h * h * w / 2 + h * d / 2), kick_x = -s * h * w,
           kick_v = s * (1 - h * d / 2);
    memcpy(A, (double[]){1 + h * kick_x, h * kick_v, kick_x, kick_v}, 4 * sizeof *A);
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
  for (int index = 0; index < hk_schema_count(HK_STEP); index++) {
    Subject s = subject_at(index);
    const char *name = s.type->schema.name;
    for (int p = 0; p < ratio_count && strcmp(name, "bdf2") != 0; p++) { /* which needs two steps */
      double A[4], B[4], omega = 1.3, d = omega * ratios[p], h = 0.37;
      step_matrix(&s, (Oscillator){omega, d}, h, A);
      defined_matrix(name, omega, d, h, B);
      for (int q = 0; q < 4; q++) CHECK_NEAR(A[q], B[q], 1e-12 * (1 + fabs(B[q])));
    }
    hk_method_clear(&s.method);
  }
}

/* The error of one step against the exact motion falls with h^(order + 1). */
TEST(one_step_has_the_order_that_is_claimed) {
  const double omega = 1.3, d = 0.4, decay = d / 2, swing = sqrt(omega * omega - decay * decay);
  Subject s;
  for (int index = 0; (s = subject_at(index)).type; hk_method_clear(&s.method), index++) {
    double error[2], A[4];
    for (int q = 0; q < 2; q++) {
      double h = q == 0 ? 0.1 : 0.05, c = cos(swing * h), sine = sin(swing * h) / swing;
      double fade = exp(-decay * h);
      double exact[4] = {fade * (c + decay * sine), fade * sine, -fade * omega * omega * sine,
                         fade * (c - decay * sine)};
      step_matrix(&s, (Oscillator){omega, d}, h, A);
      error[q] = 0;
      for (int e = 0; e < 4; e++) error[q] = fmax(error[q], fabs(A[e] - exact[e]));
    }
    double order = log2(error[0] / error[1]) - 1;
    bool first = strcmp(s.type->schema.name, "bdf2") == 0; /* begins with backward Euler */
    if (!(fabs(order - (first ? 1 : s.type->order)) < 0.25))
      test_fail(__FILE__, __LINE__, "%s: order %.3f, %d is claimed", s.type->schema.name, order,
                s.type->order);
  }
}
