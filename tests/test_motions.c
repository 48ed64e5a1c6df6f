/* Motions of pins: positions, velocities, accelerations, refusals. */
#include "test.h"

#include "base/vec.h"
#include "motion/motion.h"

#include <stdio.h>
#include <string.h>

static const double x0[3] = {1, 2, -0.5};

static const double path[] = {0.5, 0, 0, 0, 1, 0.3, -2, 1, 3, 0.3, 7, 0.1};

/* Rows with a rotation, of quaternions that do not have the length 1. */
static const double turns[] = {0.5, 0, 0, 0,   2, 0, 0,  0, 1,   0.3, -2, 1,
                               0.7, 0, 0, 0.7, 3, 1, -1, 0, 0.1, 3,   0,  1};

/* A motion that has tables gets the rows above; everything else is default. */
static HkStatus choose(HkMethod *motion, const char *name, HkError *error) {
  HK_TRY(hk_method_choose(motion, HK_MOTION, name, error));
  for (int q = 0; q < motion->schema->param_count; q++) {
    const HkParam *p = &motion->schema->params[q];
    if (p->kind != HK_PARAM_TABLE) continue;
    HK_TRY(hk_method_set_table(motion, p->name, p->columns == 8 ? turns : path, 3, error));
  }
  return HK_OK;
}

static void place(const HkMethod *motion, double t, double x[3], double v[3]) {
  hk_motion_type(motion->schema)->at(motion->params, t, x0, x, v, NULL);
}

static HkStatus check(const HkMethod *motion, HkError *error) {
  const HkMotionType *type = hk_motion_type(motion->schema);
  return type->check ? type->check(motion->params, error) : HK_OK;
}

static void check_slope(const HkMethod *motion, const char *what, double t, const double before[3],
                        const double after[3], double e, const double rate[3]) {
  for (int c = 0; c < 3; c++) {
    double slope = (after[c] - before[c]) / (2 * e);
    if (!(fabs(slope - rate[c]) <= 1e-7 * (1 + fabs(rate[c]))))
      test_fail(__FILE__, __LINE__, "%s: %s[%d] = %.12g at %g s, but the slope is %.12g",
                motion->schema->name, what, c, rate[c], t, slope);
  }
}

/* Velocity and acceleration at t against central differences of position and velocity. */
static void check_velocity(const HkMethod *motion, double t) {
  const double e = 1e-5;
  double x_before[3], x_after[3], v_before[3], v_after[3], x[3], v[3], a[3];
  place(motion, t - e, x_before, v_before);
  place(motion, t + e, x_after, v_after);
  hk_motion_type(motion->schema)->at(motion->params, t, x0, x, v, a);
  check_slope(motion, "v", t, x_before, x_after, e, v);
  check_slope(motion, "a", t, v_before, v_after, e, a);
}

TEST(velocity_and_acceleration_of_every_motion_are_slopes) {
  static const double times[] = {0, 0.1, 0.47, 0.7, 0.99, 1.3, 2.9, 3.3, 17.77};
  for (int m = 0; m < hk_schema_count(HK_MOTION); m++) {
    HkMethod motion = {0};
    MUST(choose(&motion, hk_schema_at(HK_MOTION, m)->name, error));
    MUST(check(&motion, error));
    for (size_t q = 0; q < sizeof times / sizeof times[0]; q++) check_velocity(&motion, times[q]);
    hk_method_clear(&motion);
  }
}

TEST(fixed_pins_stay) {
  HkMethod motion = {0};
  double x[3], v[3];
  MUST(choose(&motion, "fixed", error));
  place(&motion, 3, x, v);
  CHECK(hk_distance(x, x0) == 0 && hk_norm(v) == 0);
  hk_method_clear(&motion);
}

TEST(keyframes_hit_their_rows_exactly) {
  HkMethod motion = {0};
  double x[3], v[3];
  MUST(choose(&motion, "keyframes", error));
  for (int row = 0; row < 3; row++) {
    place(&motion, path[4 * row], x, v);
    for (int c = 0; c < 3; c++) CHECK(x[c] == x0[c] + path[4 * row + 1 + c]);
    /* The velocity is that of the time to come. */
    CHECK_NEAR(v[1], row == 0 ? -4 : row == 1 ? 4.5 : 0, 1e-15);
  }
  hk_method_clear(&motion);
}

TEST(keyframes_are_linear_between_rows_and_held_outside) {
  HkMethod motion = {0};
  double x[3], v[3];
  MUST(choose(&motion, "keyframes", error));
  place(&motion, 2, x, v); /* half way from the second row to the third */
  CHECK_NEAR(x[0], x0[0] + 0.3, 1e-15);
  CHECK_NEAR(x[1], x0[1] + 2.5, 1e-15);
  CHECK_NEAR(x[2], x0[2] + 0.55, 1e-15);
  CHECK_NEAR(v[1], 4.5, 1e-15);
  place(&motion, 0.2, x, v);
  CHECK(hk_distance(x, x0) == 0 && hk_norm(v) == 0);
  place(&motion, 100, x, v);
  CHECK_NEAR(x[1], x0[1] + 7, 0);
  CHECK(hk_norm(v) == 0);
  hk_method_clear(&motion);
}

TEST(one_keyframe_is_a_constant_displacement) {
  HkMethod motion = {0};
  double x[3], v[3];
  MUST(hk_method_choose(&motion, HK_MOTION, "keyframes", error));
  MUST(hk_method_set_table(&motion, "table", (double[]){2, 0, 1, 0}, 1, error));
  MUST(check(&motion, error));
  for (int t = 0; t < 4; t++) {
    place(&motion, t, x, v);
    CHECK(x[0] == x0[0] && x[1] == x0[1] + 1 && x[2] == x0[2] && hk_norm(v) == 0);
  }
  hk_method_clear(&motion);
}

TEST(keyframes_refuse_empty_tables_and_times_that_do_not_rise) {
  HkMethod motion = {0};
  MUST(hk_method_choose(&motion, HK_MOTION, "keyframes", error));
  FAILS(check(&motion, error), HK_ERROR_INVALID, "at least one row");
  const double same[] = {0, 0, 0, 0, 1, 0, 0, 0, 1, 2, 0, 0};
  MUST(hk_method_set_table(&motion, "table", same, 3, error));
  FAILS(check(&motion, error), HK_ERROR_INVALID, "row 2");
  const double back[] = {0, 0, 0, 0, -1, 0, 0, 0};
  MUST(hk_method_set_table(&motion, "table", back, 2, error));
  FAILS(check(&motion, error), HK_ERROR_INVALID, "row 1");
  hk_method_clear(&motion);
}

TEST(oscillation_is_a_sine_with_its_phase) {
  HkMethod motion = {0};
  double x[3], v[3];
  MUST(choose(&motion, "oscillation", error));
  MUST(hk_method_set_vector(&motion, "amplitude", (double[]){0.5, 0, -2}, error));
  MUST(hk_method_set_number(&motion, "frequency", 0.25, error));
  MUST(hk_method_set_number(&motion, "phase", 30, error));
  for (int q = 0; q <= 20; q++) {
    double t = 0.37 * q, p = 2 * M_PI * 0.25 * t + M_PI / 6;
    place(&motion, t, x, v);
    CHECK_NEAR(x[0], x0[0] + 0.5 * sin(p), 1e-14);
    CHECK_NEAR(x[1], x0[1], 0);
    CHECK_NEAR(x[2], x0[2] - 2 * sin(p), 1e-14);
    CHECK_NEAR(v[2], -2 * 2 * M_PI * 0.25 * cos(p), 1e-14);
    check_velocity(&motion, t);
  }
  place(&motion, 4e6, x, v); /* a million whole swings */
  CHECK_NEAR(x[0], x0[0] + 0.25, 1e-15);
  hk_method_clear(&motion);
}

TEST(rotation_keeps_the_distance_to_its_axis) {
  HkMethod motion = {0};
  double x[3], v[3], axis[3] = {2, -1, 2}, center[3] = {0.5, 0.5, 3};
  MUST(choose(&motion, "rotation", error));
  MUST(hk_method_set_vector(&motion, "axis", axis, error));
  MUST(hk_method_set_vector(&motion, "center", center, error));
  MUST(hk_method_set_number(&motion, "speed", -77, error));
  double arm0[3], unit[3], across0[3];
  CHECK(hk_unit(axis, unit));
  hk_sub(x0, center, arm0);
  hk_cross(unit, arm0, across0);
  for (int q = 0; q <= 30; q++) {
    double t = 0.41 * q, arm[3], across[3];
    place(&motion, t, x, v);
    hk_sub(x, center, arm);
    hk_cross(unit, arm, across);
    CHECK_NEAR(hk_norm(across), hk_norm(across0), 1e-14);
    CHECK_NEAR(hk_dot(unit, arm), hk_dot(unit, arm0), 1e-14);
    CHECK_NEAR(hk_norm(v), 77 * M_PI / 180 * hk_norm(across), 1e-13);
    CHECK_NEAR(hk_dot(v, arm), 0, 1e-13);
    check_velocity(&motion, t);
  }
  hk_method_clear(&motion);
}

TEST(rotation_about_y_takes_z_to_x_and_turns_back_with_negative_speed) {
  HkMethod motion = {0};
  double x[3], v[3], z[3] = {0, 0, 1};
  MUST(choose(&motion, "rotation", error));
  const HkMotionType *type = hk_motion_type(motion.schema);
  type->at(motion.params, 1, z, x, v, NULL); /* 90 degrees */
  CHECK(hk_distance(x, (double[]){1, 0, 0}) < 1e-15);
  CHECK(hk_distance(v, (double[]){0, 0, -M_PI / 2}) < 1e-15);
  MUST(hk_method_set_number(&motion, "speed", -90, error));
  type->at(motion.params, 1, z, x, v, NULL);
  CHECK(hk_distance(x, (double[]){-1, 0, 0}) < 1e-15);
  hk_method_clear(&motion);
}

TEST(rotation_stops_after_its_angle) {
  for (int sign = -1; sign <= 1; sign += 2) {
    HkMethod motion = {0};
    double x[3], v[3], z[3] = {0, 0, 1};
    MUST(choose(&motion, "rotation", error));
    MUST(hk_method_set_number(&motion, "speed", sign * 45, error));
    MUST(hk_method_set_number(&motion, "angle", 90, error));
    const HkMotionType *type = hk_motion_type(motion.schema);
    type->at(motion.params, 1.999, z, x, v, NULL);
    CHECK(hk_norm(v) > 0.7);
    for (int t = 2; t < 10; t++) {
      type->at(motion.params, t, z, x, v, NULL);
      CHECK(hk_distance(x, (double[]){sign, 0, 0}) < 1e-15 && hk_norm(v) == 0);
    }
    check_velocity(&motion, 1.3);
    check_velocity(&motion, 2.7);
    hk_method_clear(&motion);
  }
}

TEST(rotation_refuses_an_axis_of_zero) {
  HkMethod motion = {0};
  MUST(choose(&motion, "rotation", error));
  MUST(hk_method_set_vector(&motion, "axis", (double[]){0, 0, 0}, error));
  FAILS(check(&motion, error), HK_ERROR_INVALID, "axis");
  MUST(hk_method_set_vector(&motion, "axis", (double[]){0, 1e-300, 0}, error));
  MUST(check(&motion, error));
  hk_method_clear(&motion);
}

/* ---- Tracks ---- */

TEST(a_track_hits_its_rows) {
  HkMethod motion = {0};
  double x[3], v[3];
  MUST(choose(&motion, "track", error));
  place(&motion, 0.5, x, v);
  CHECK_NEAR(hk_distance(x, x0), 0, 1e-15);
  place(&motion, 1, x, v); /* a quarter turn about z takes (x, y) to (-y, x) */
  CHECK_NEAR(hk_distance(x, (double[]){-x0[1] + 0.3, x0[0] - 2, x0[2] + 1}), 0, 1e-15);
  hk_method_clear(&motion);
}

TEST(a_track_between_two_rows_is_a_rotation_at_a_constant_rate) {
  HkMethod motion = {0}, rotation = {0};
  double x[3], v[3], y[3], w[3];
  const double center[3] = {0.2, -1, 3}, axis[3] = {1, 2, -2}, angle = 100; /* degrees */
  double half = 0.5 * angle * M_PI / 180, s = sin(half) / 3;
  for (int sign = -1; sign <= 1; sign += 2) { /* q and -q are the same rotation */
    double c = cos(half);
    double rows[] = {0,
                     0,
                     0,
                     0,
                     1,
                     0,
                     0,
                     0,
                     2,
                     0,
                     0,
                     0,
                     sign * c,
                     sign * s * axis[0],
                     sign * s * axis[1],
                     sign * s * axis[2]};
    MUST(hk_method_choose(&motion, HK_MOTION, "track", error));
    MUST(hk_method_set_table(&motion, "table", rows, 2, error));
    MUST(hk_method_set_vector(&motion, "center", center, error));
    MUST(hk_method_choose(&rotation, HK_MOTION, "rotation", error));
    MUST(hk_method_set_vector(&rotation, "axis", axis, error));
    MUST(hk_method_set_vector(&rotation, "center", center, error));
    MUST(hk_method_set_number(&rotation, "speed", angle / 2, error));
    for (double t = 0; t < 2; t += 0.23) {
      place(&motion, t, x, v);
      place(&rotation, t, y, w);
      CHECK_NEAR(hk_distance(x, y), 0, 1e-14);
      CHECK_NEAR(hk_distance(v, w), 0, 1e-14);
    }
    hk_method_clear(&motion);
    hk_method_clear(&rotation);
  }
}

/* Loads a file of a track. */
static HkStatus load_track(const char *content, HkMethod *motion, HkError *error) {
  HkContext context = hk_context_default();
  char folder[512], name[600];
  snprintf(folder, sizeof folder, "%s", test_folder());
  snprintf(name, sizeof name, "%s/track.csv", folder);
  FILE *file = fopen(name, "w");
  if (!file) return HK_ERROR_IO;
  fputs(content, file);
  fclose(file);
  HK_TRY(hk_method_choose(motion, HK_MOTION, "track", error));
  HK_TRY(hk_method_set_text(motion, "file", "track.csv", error));
  const HkMotionType *type = hk_motion_type(motion->schema);
  HK_TRY(type->load(&context, folder, motion->params, error));
  return type->check(motion->params, error);
}

TEST(tracks_are_read_with_and_without_rotations) {
  HkMethod motion = {0};
  double x[3], v[3];
  MUST(load_track("t,dx,dy,dz\n0,0,0,0\n# half way\n1,1,2,3\r\n2;0;0;0\n", &motion, error));
  place(&motion, 0.5, x, v);
  CHECK_NEAR(hk_distance(x, (double[]){x0[0] + 0.5, x0[1] + 1, x0[2] + 1.5}), 0, 1e-15);
  CHECK_NEAR(hk_distance(v, (double[]){1, 2, 3}), 0, 1e-15);
  hk_method_clear(&motion);
  MUST(load_track("0 0 0 0 1 0 0 0\n1 0 0 0 0 0 0 5 # half a turn about z", &motion, error));
  place(&motion, 1, x, v);
  CHECK_NEAR(hk_distance(x, (double[]){-x0[0], -x0[1], x0[2]}), 0, 1e-15);
  hk_method_clear(&motion);
}

TEST(bad_tracks_are_refused_with_their_line) {
  static const struct {
    const char *content, *words;
    int line;
  } bad[] = {
      {"t,dx,dy,dz\n0,0,0,0\n0,1,1,1\n", "t = 0 s is not after", 3},
      {"0,0,0,0\n1,1,1\n", "3 numbers", 2},
      {"0,0,0,0\n1,1,1,1,1,0,0,0\n", "8 numbers, but the first row has 4", 2},
      {"0,0,0,0,0,0,0,0\n", "length 0", 1},
      {"0,0,0,0,1,0,0,0,0\n", "more than 8", 1},
      {"0,0,0,0\n1,a,0,0\n", "dx", 2},
      {"t,dx,dy,dz\n", "no row", 2},
      {"0,0,0,inf\n", "dz", 1},
  };
  for (size_t q = 0; q < sizeof bad / sizeof bad[0]; q++) {
    HkMethod motion = {0};
    HkError error = {0};
    HkStatus status = load_track(bad[q].content, &motion, &error);
    if (status >= 0 || !strstr(error.text, bad[q].words) || error.line != bad[q].line)
      test_fail(__FILE__, __LINE__, "'%s' gave '%s' in line %d", bad[q].content, error.text,
                error.line);
    CHECK(strstr(error.text, "track.csv") != NULL);
    hk_method_clear(&motion);
  }
}

TEST(tracks_with_changed_bytes_are_read_or_refused_with_their_line) {
  static const char good[] = "t,dx\n0,0,1,0,1,0,0,0\n1.5,1,2,3,0,0,-1e2,5 # end\n2,0,0,0,1,1,1,1\n";
  static const char bytes[] = "0123456789.,;- e#\n\t+xn";
  uint64_t seed = 5;
  for (int q = 0; q < 400; q++) {
    char text[sizeof good];
    HkMethod motion = {0};
    HkError error = {0};
    double x[3], v[3];
    memcpy(text, good, sizeof good);
    for (int k = 0; k < 3; k++) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      text[(seed >> 33) % (sizeof good - 1)] = bytes[(seed >> 20) % (sizeof bytes - 1)];
    }
    HkStatus status = load_track(text, &motion, &error);
    if (status < 0 && error.line < 1)
      test_fail(__FILE__, __LINE__, "'%s' gave '%s'", text, error.text);
    if (status >= 0) {
      place(&motion, 1.2, x, v);
      CHECK(isfinite(x[0] + x[1] + x[2] + v[0] + v[1] + v[2]));
    }
    hk_method_clear(&motion);
  }
}
