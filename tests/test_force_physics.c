/* Forces against closed forms. */
#include "model_by_hand.h"
#include "test.h"

#include "base/sine.h"
#include "base/vec.h"
#include "force/turbulence.h"

static const double PI = 3.14159265358979323846;

/* A parameter and its value; a list of them ends with {0}. */
typedef struct Number {
  const char *param;
  double value;
} Number;

static HkStatus add_with(HkModel *m, const char *name, const double *velocity,
                         const Number *numbers, HkError *error) {
  HkMethod method = {0};
  HkStatus status = hk_method_choose(&method, HK_FORCE, name, error);
  if (status >= 0 && velocity) status = hk_method_set_vector(&method, "velocity", velocity, error);
  for (; status >= 0 && numbers && numbers->param; numbers++)
    status = hk_method_set_number(&method, numbers->param, numbers->value, error);
  if (status >= 0) return model_add_force(m, &method, error);
  hk_method_clear(&method);
  return status;
}

/* A spring at rest, so that its two masses of 1 kg feel other forces alone. */
static HkModel *two_masses(void) {
  return model_of_spring((double[]){1, 0, 0}, 100, 1);
}

/* ---- gravity, drag, wind ---- */

TEST(gravity_is_m_g_h_along_every_up_axis) {
  for (int up = 0; up < 3; up++) {
    HkModel *m = two_masses();
    m->up = up;
    m->mass[1] = 2.5;
    MUST(add_with(m, "gravity", NULL, NULL, error));
    double x[6], v[6] = {0}, f[6];
    memcpy(x, m->x0, sizeof x);
    double before = model_energy(m, 1, 0, x, v);
    x[3 + up] += 4;
    CHECK_NEAR(model_energy(m, 1, 0, x, v) - before, 2.5 * 9.81 * 4, 1e-12);
    model_force(m, 1, 0, x, v, f);
    for (int q = 0; q < 6; q++) CHECK_NEAR(f[q], q % 3 == up ? -9.81 * m->mass[q / 3] : 0, 1e-14);
    model_by_hand_destroy(&m);
  }
}

TEST(falling_through_linear_drag_nears_the_terminal_velocity) {
  HkModel *m = two_masses();
  MUST(add_with(m, "gravity", NULL, NULL, error));
  MUST(add_with(m, "drag", NULL, (Number[]){{"linear", 0.5}, {"per_mass", 1.5}, {0}}, error));
  double x[6] = {0, 0, 0, 1, 0, 0}, v[6] = {0}, terminal = -9.81 / 2;
  model_move(m, 0, 1e-5, 50000, x, v);
  CHECK_NEAR(v[1], terminal * (1 - exp(-2 * 0.5)), 1e-4);
  model_move(m, 0, 1e-3, 20000, x, v);
  CHECK_NEAR(v[1], terminal, 1e-12);
  CHECK_NEAR(v[4], terminal, 1e-12);
  model_by_hand_destroy(&m);
}

TEST(falling_through_quadratic_drag_nears_the_terminal_velocity) {
  HkModel *m = two_masses();
  m->mass[1] = 4;
  MUST(add_with(m, "gravity", NULL, NULL, error));
  MUST(add_with(m, "drag", NULL, (Number[]){{"quadratic", 0.25}, {0}}, error));
  double x[6] = {0, 0, 0, 1, 0, 0}, v[6] = {0};
  m->springs.k[0] = 0;
  model_move(m, 0, 1e-3, 20000, x, v);
  CHECK_NEAR(v[1], -sqrt(9.81 / 0.25), 1e-9);
  CHECK_NEAR(v[4], -sqrt(4 * 9.81 / 0.25), 1e-9);
  model_by_hand_destroy(&m);
}

TEST(drag_with_nothing_given_is_one_per_second) {
  HkModel *m = two_masses();
  m->mass[1] = 3;
  MUST(add_with(m, "drag", NULL, NULL, error));
  double v[6] = {1, 0, 0, 0, 2, 0}, f[6];
  model_force(m, 1, 0, m->x0, v, f);
  CHECK_NEAR(f[0], -1, 0);
  CHECK_NEAR(f[4], -6, 0);
  model_by_hand_destroy(&m);
}

TEST(wind_carries_masses_to_its_own_velocity) {
  HkModel *m = two_masses();
  double u[3] = {3, -1, 2};
  MUST(add_with(m, "wind", u, (Number[]){{"drag", 0.7}, {0}}, error));
  double x[6] = {0, 0, 0, 1, 0, 0}, v[6] = {0}, f[6];
  model_force(m, 1, 0, x, v, f);
  for (int q = 0; q < 6; q++) CHECK_NEAR(f[q], 0.7 * u[q % 3], 1e-15);
  model_move(m, 0, 1e-2, 10000, x, v);
  for (int q = 0; q < 6; q++) CHECK_NEAR(v[q], u[q % 3], 1e-10);
  model_by_hand_destroy(&m);
}

TEST(wind_per_mass_pushes_the_total_mass_at_every_resolution) {
  double total[2];
  for (int fine = 0; fine < 2; fine++) {
    HkModel *m = model_of_sheet(by_hand(), fine ? 9 : 3, 3);
    double v[81] = {0}, f[81], sum = 0, u[3] = {2, 0, 0};
    MUST(add_with(m, "wind", u, (Number[]){{"per_mass", 0.5}, {0}}, error));
    model_force(m, 1, 0, m->x0, v, f);
    for (int64_t q = 0; q < m->n; q++) sum += f[3 * q];
    total[fine] = sum / m->total_mass;
    model_by_hand_destroy(&m);
  }
  CHECK_NEAR(total[0], 0.5 * 2, 1e-14);
  CHECK_NEAR(total[1], 0.5 * 2, 1e-14);
}

TEST(gusts_stay_within_their_strength_and_average_out) {
  double low = 0, high = 0, sum = 0, u[3];
  int count = 400000;
  for (int q = 0; q < count; q++) {
    double s = hk_gust_signal(0.01 * q, 2);
    low = fmin(low, s);
    high = fmax(high, s);
    sum += s;
  }
  CHECK(low >= -1 && low < -0.99 && high <= 1 && high > 0.99);
  CHECK_NEAR(sum / count, 0, 1e-3);
  CHECK_NEAR(hk_gust_signal(0, 2), 0, 0);
  CHECK_NEAR(hk_gust_signal(0.3, 2), hk_gust_signal(0.6, 4), 1e-15);
  for (int period = 1; period <= 3; period++) CHECK(fabs(hk_gust_signal(2 * period, 2)) > 0.01);
  hk_gust_velocity((double[]){4, 0, -2}, 0.5, 2, 0.3, u);
  CHECK_NEAR(u[0], 4 * (1 + 0.5 * hk_gust_signal(0.3, 2)), 1e-15);
  CHECK_NEAR(u[2], -0.5 * u[0], 1e-15);
}

/* ---- buoyancy ---- */

TEST(a_floating_mass_rests_at_the_depth_of_its_density) {
  HkModel *m = two_masses();
  static const Number numbers[] = {{"fluid_density", 1000}, {"body_density", 700}, {"level", 2},
                                   {"thickness", 0.5},      {"g", 9.81},           {0}};
  MUST(add_with(m, "gravity", NULL, NULL, error));
  MUST(add_with(m, "buoyancy", NULL, numbers, error));
  double height = 2 - 0.5 * (0.7 - 0.5), x[6] = {0, height, 0, 1, height, 0}, v[6] = {0}, f[6];
  model_forces(m, 0, x, v, f);
  for (int q = 0; q < 6; q++) CHECK_NEAR(f[q], 0, 1e-12);
  x[1] += 0.01;
  x[4] -= 0.01;
  model_forces(m, 0, x, v, f);
  CHECK(f[1] < -0.1 && f[4] > 0.1);
  model_by_hand_destroy(&m);
}

TEST(buoyancy_lifts_the_displaced_weight_below_and_nothing_above) {
  HkModel *m = two_masses();
  m->mass[0] = 3;
  static const Number numbers[] = {{"fluid_density", 800}, {"body_density", 400}, {"g", 10}, {0}};
  MUST(add_with(m, "buoyancy", NULL, numbers, error));
  double x[6] = {0, -5, 0, 0, 5, 0}, v[6] = {0}, f[6];
  model_force(m, 1, 0, x, v, f);
  CHECK_NEAR(f[1], 10 * 800 * 3 / 400.0, 1e-12);
  CHECK_NEAR(f[4], 0, 0);
  CHECK_NEAR(model_energy(m, 1, 0, x, v), f[1] * 5, 1e-11);
  model_by_hand_destroy(&m);
}

/* ---- face_wind ---- */

/* A flat square of area A, turned by angle (rad) out of the x axis about y, split into triangles
 * that face one way or, with mixed, both. */
static HkModel *square(double A, double angle, bool mixed) {
  double a = sqrt(A), c = a * cos(angle), s = a * sin(angle);
  double x[12] = {0, 0, 0, c, 0, -s, c, a, -s, 0, a, 0};
  int32_t triangles[6] = {0, 1, 2, 0, 2, 3};
  if (mixed) memcpy(triangles, (int32_t[]){0, 2, 1, 0, 2, 3}, sizeof triangles);
  return model_of_triangles(by_hand(), 4, x, 2, triangles);
}

static void total_wind(HkModel *m, double t, const double *v, double total[3]) {
  double f[12];
  model_force(m, 1, t, m->x0, v, f);
  for (int c = 0; c < 3; c++) total[c] = f[c] + f[3 + c] + f[6 + c] + f[9 + c];
}

static const Number coefficients[] = {{"density", 1.3}, {"drag", 1.1}, {"lift", 0.6}, {0}};

TEST(face_wind_across_a_square_is_half_rho_cd_a_u_squared) {
  for (int mixed = 0; mixed < 2; mixed++) {
    HkModel *m = square(2.5, 0, mixed);
    double v[12] = {0}, total[3], u[3] = {0, 0, -7};
    MUST(add_with(m, "face_wind", u, coefficients, error));
    total_wind(m, 0, v, total);
    CHECK_NEAR(total[2], -0.5 * 1.3 * 1.1 * 2.5 * 49, 1e-12);
    CHECK_NEAR(total[0], 0, 1e-13);
    CHECK_NEAR(total[1], 0, 1e-13);
    model_by_hand_destroy(&m);
  }
}

TEST(face_wind_along_a_square_is_nothing) {
  HkModel *m = square(2.5, 0, false);
  double v[12] = {0}, total[3], u[3] = {7, 2, 0};
  MUST(add_with(m, "face_wind", u, coefficients, error));
  total_wind(m, 0, v, total);
  CHECK_NEAR(hk_norm(total), 0, 0);
  model_by_hand_destroy(&m);
}

TEST(face_wind_drags_by_sine_and_lifts_by_double_sine) {
  for (int degrees = -170; degrees <= 180; degrees += 10)
    for (int mixed = 0; mixed < 2; mixed++) {
      double angle = degrees * PI / 180, v[12] = {0}, total[3], u[3] = {7, 0, 0};
      HkModel *m = square(2, angle, mixed);
      MUST(add_with(m, "face_wind", u, coefficients, error));
      total_wind(m, 0, v, total);
      double pressure = 0.5 * 1.3 * 49 * 2;
      CHECK_NEAR(total[0], pressure * 1.1 * fabs(sin(angle)), 1e-12);
      CHECK_NEAR(total[1], 0, 1e-12);
      CHECK_NEAR(total[2], pressure * 0.6 * sin(2 * angle), 1e-12);
      model_by_hand_destroy(&m);
    }
}

TEST(face_wind_is_continuous_where_the_wind_changes_sides) {
  for (int side = -1; side <= 1; side += 2) {
    HkModel *m = square(2, side * 1e-9, false);
    double v[12] = {0}, total[3], u[3] = {7, 0, 0};
    MUST(add_with(m, "face_wind", u, coefficients, error));
    total_wind(m, 0, v, total);
    CHECK(hk_norm(total) < 1e-6 && hk_norm(total) > 1e-9);
    model_by_hand_destroy(&m);
  }
}

TEST(face_wind_depends_on_the_relative_velocity_alone) {
  HkModel *still = square(2, 0.4, false), *moving = square(2, 0.4, false);
  double u[3] = {7, 1, -2}, faster[3] = {8, 3, 1}, v[12] = {0}, w[12], one[3], other[3];
  for (int q = 0; q < 12; q++) w[q] = faster[q % 3] - u[q % 3];
  MUST(add_with(still, "face_wind", u, coefficients, error));
  MUST(add_with(moving, "face_wind", faster, coefficients, error));
  total_wind(still, 0, v, one);
  total_wind(moving, 0, w, other);
  for (int c = 0; c < 3; c++) CHECK_NEAR(other[c], one[c], 1e-11);
  model_by_hand_destroy(&still);
  model_by_hand_destroy(&moving);
}

TEST(still_air_damps) {
  uint64_t seed = 6;
  double air[3] = {0, 0, 0}, v[27], f[27];
  HkModel *m = model_of_sheet(by_hand(), 3, 3);
  MUST(add_with(m, "face_wind", air, (Number[]){{"turbulence", 1}, {"gust", 1}, {0}}, error));
  for (int round = 0; round < 100; round++) {
    double power = 0;
    for (int q = 0; q < 27; q++) v[q] = test_random(&seed);
    model_force(m, 1, 0, m->x0, v, f);
    for (int q = 0; q < 27; q++) power += f[q] * v[q];
    CHECK(power < 0);
  }
  model_by_hand_destroy(&m);
}

TEST(face_wind_survives_faces_without_area_and_air_at_rest) {
  HkModel *m = square(2, 0, false);
  double v[12] = {0}, f[12], x[12] = {0}, u[3] = {3, 0, 0}, *dfdx, *dfdv;
  MUST(add_with(m, "face_wind", u, NULL, error));
  model_force(m, 1, 0, x, v, f);
  model_jacobian(m, 1, 0, x, v, &dfdx, &dfdv);
  for (int q = 0; q < 12; q++) CHECK_NEAR(f[q], 0, 0);
  for (int q = 0; q < 144; q++) CHECK_NEAR(fabs(dfdx[q]) + fabs(dfdv[q]), 0, 0);
  free(dfdx);
  free(dfdv);
  for (int q = 0; q < 12; q++) v[q] = u[q % 3];
  model_force(m, 1, 0, m->x0, v, f);
  for (int q = 0; q < 12; q++) CHECK_NEAR(f[q], 0, 0);
  model_by_hand_destroy(&m);
}

TEST(face_wind_is_refused_in_the_plane_and_without_faces) {
  ByHand by = by_hand();
  by.dimension = 2;
  HkModel *flat = model_of_sheet(by, 3, 3), *bare = two_masses();
  FAILS(add_with(flat, "face_wind", NULL, NULL, error), HK_ERROR_UNSUPPORTED, "dimension 2");
  FAILS(add_with(bare, "face_wind", NULL, NULL, error), HK_ERROR_UNSUPPORTED, "use 'wind'");
  model_by_hand_destroy(&flat);
  model_by_hand_destroy(&bare);
}

TEST(winds_blow_in_gusts) {
  double u[3], wind[3] = {4, 0, 0}, v[12] = {0}, f[6], total[3];
  HkModel *two = two_masses(), *plate = square(2, PI / 2, false);
  static const Number gusts[] = {{"gust", 0.5}, {"gust_period", 3}, {0}};
  MUST(add_with(two, "wind", wind, gusts, error));
  MUST(add_with(plate, "face_wind", wind, gusts, error));
  for (int step = 0; step < 8; step++) {
    double t = 0.7 * step;
    hk_gust_velocity(wind, 0.5, 3, t, u);
    model_force(two, 1, t, two->x0, v, f);
    for (int c = 0; c < 3; c++) CHECK_NEAR(f[c], u[c], 1e-14);
    total_wind(plate, t, v, total);
    CHECK_NEAR(total[0], 0.5 * 1.225 * 1.2 * 2 * u[0] * u[0], 1e-12);
  }
  model_by_hand_destroy(&two);
  model_by_hand_destroy(&plate);
}

TEST(faces_around_each_vertex_are_listed_once_by_rising_number) {
  HkModel *m = model_of_sheet(by_hand(), 5, 4);
  MUST(hk_model_need_faces(m, error));
  MUST(hk_model_need_faces(m, error));
  CHECK(m->face_start[0] == 0 && m->face_start[m->n] == 3 * m->face_count);
  for (int64_t q = 0; q < m->n; q++)
    for (int64_t at = m->face_start[q]; at < m->face_start[q + 1]; at++) {
      CHECK(m->face[m->face_at[at]] == q);
      CHECK(at == m->face_start[q] || m->face_at[at] > m->face_at[at - 1]);
    }
  model_by_hand_destroy(&m);
}

/* ---- turbulence ---- */

TEST(sine_without_branches_is_the_sine) {
  for (int q = -20000; q <= 20000; q++) {
    double angle = 0.013 * q, large = 149.7 * q;
    CHECK_NEAR(hk_sine(angle), sin(angle), 1e-13);
    CHECK_NEAR(hk_cosine(angle), cos(angle), 1e-13);
    CHECK_NEAR(hk_sine(large), sin(large), 1e-13);
  }
  CHECK(hk_sine(0) == 0 && isnan(hk_sine(NAN)));
}

static const double WIND[3] = {3, 1, -2};

TEST(turbulence_keeps_the_volume_and_its_bound) {
  uint64_t seed = 12;
  HkTurbulence w = hk_turbulence(WIND, 0.4, 1.7, 1, 0.6);
  double most = 0, bound = 0.4 * hk_norm(WIND);
  for (int q = 0; q < 20000; q++) {
    double u[3] = {0}, G[9], x[3];
    for (int c = 0; c < 3; c++) x[c] = 10 * test_random(&seed);
    hk_turbulence_add(&w, x, u, G);
    CHECK_NEAR(G[0] + G[4] + G[8], 0, 1e-13);
    most = fmax(most, hk_norm(u));
  }
  CHECK(most <= bound && most > 0.7 * bound);
}

TEST(turbulence_of_any_wind_has_a_direction) {
  static const double winds[][3] = {{1e155, 0, 0},         {0, 1e200, 0},
                                    {0, -1e300, 1e300},    {3e180, 2e180, 1e180},
                                    {1e300, 1e300, 1e300}, {0, 0, 5e-324}};
  for (size_t q = 0; q < sizeof winds / sizeof winds[0]; q++)
    for (int up = 0; up < 3; up++) {
      HkTurbulence w = hk_turbulence(winds[q], 0.5, 2, up, 0);
      for (int m = 0; m < w.count; m++) {
        CHECK(isfinite(w.wave[m][0] + w.wave[m][1] + w.wave[m][2]));
        CHECK(hk_norm(w.wave[m]) > 1); /* 2 pi / wavelength and more */
        double largest = fmax(fmax(fabs(w.side[m][0]), fabs(w.side[m][1])), fabs(w.side[m][2]));
        CHECK(isfinite(largest) && largest > 0);
      }
      CHECK(w.count > 0 || q == 5); /* its square is 0 */
    }
}

TEST(turbulence_travels_with_the_wind) {
  double dt = 0.8, here[3] = {0}, there[3] = {0}, x[3] = {0.3, -0.7, 1.1}, y[3] = {0.3, -0.7, 1.1};
  hk_axpy(dt, WIND, y);
  HkTurbulence now = hk_turbulence(WIND, 0.4, 1.7, 1, 0.6);
  HkTurbulence later = hk_turbulence(WIND, 0.4, 1.7, 1, 0.6 + dt);
  hk_turbulence_add(&now, x, here, NULL);
  hk_turbulence_add(&later, y, there, NULL);
  CHECK(hk_norm(here) > 0.01);
  for (int c = 0; c < 3; c++) CHECK_NEAR(there[c], here[c], 1e-13);
}

TEST(turbulence_moves_a_flag_that_hangs_along_the_wind) {
  HkModel *m = square(1, 0, false);
  double v[12] = {0}, total[3], u[3] = {5, 0, 0};
  MUST(add_with(m, "face_wind", u, (Number[]){{"turbulence", 0.3}, {0}}, error));
  total_wind(m, 0.07, v, total);
  CHECK(fabs(total[2]) > 0.1);
  model_by_hand_destroy(&m);
}
