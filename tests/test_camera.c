/* How `hooke render` (cli/) looks at a motion: from where, and when. */
#include "test.h"

#include "camera.h"
#include "legend.h"
#include "schedule.h"
#include "vector.h"

/* ---- Cameras --------------------------------------------------------------------------------- */

static double uncertain(uint32_t *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return (double)(*seed >> 8) / (1 << 24);
}

static void project(const float matrix[16], const float x[3], double at[3]) {
  double clip[4];
  for (int p = 0; p < 4; p++)
    clip[p] = (double)matrix[p] * x[0] + (double)matrix[4 + p] * x[1] +
              (double)matrix[8 + p] * x[2] + matrix[12 + p];
  for (int p = 0; p < 3; p++) at[p] = clip[p] / clip[3];
}

/* Some points in a box of uncertain sides, far from the origin or not. */
enum { POINTS = 40 };
static void scatter(uint32_t *seed, bool flat, float x[3 * POINTS]) {
  double sides[3], middle[3];
  for (int c = 0; c < 3; c++) {
    sides[c] = 0.3 + 2 * uncertain(seed);
    middle[c] = 10 * uncertain(seed) - 5;
  }
  if (flat) sides[2] = middle[2] = 0;
  for (int q = 0; q < 3 * POINTS; q++)
    x[q] = (float)(middle[q % 3] + sides[q % 3] * (uncertain(seed) - 0.5));
}

/* All points are in the window, and they fill it in one direction, in the middle of the other. */
static void check_fit(const Camera *c, Window w, const float *x) {
  float matrix[16];
  double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY}, at[3];
  camera_matrix(c, matrix);
  for (int q = 0; q < POINTS; q++) {
    project(matrix, x + 3 * q, at);
    CHECK(at[0] > w.left && at[0] < w.right && at[1] > w.bottom && at[1] < w.top);
    CHECK(at[2] > -1 && at[2] < 1);
    for (int k = 0; k < 2; k++) {
      low[k] = fmin(low[k], at[k]);
      high[k] = fmax(high[k], at[k]);
    }
  }
  double across = (high[0] - low[0]) / (w.right - w.left);
  double upright = (high[1] - low[1]) / (w.top - w.bottom);
  CHECK(fmax(across, upright) > 0.8);
  CHECK_NEAR((low[0] + high[0] - w.left - w.right) / 2, 0, 0.12);
  CHECK_NEAR((low[1] + high[1] - w.bottom - w.top) / 2, 0, 0.12);
}

TEST(all_that_is_measured_fits_the_window_and_fills_it) {
  uint32_t seed = 5;
  for (int q = 0; q < 200; q++) {
    float x[3 * POINTS];
    bool flat = q % 4 == 0;
    Window window = legend_window(q % 3 == 0 ? COLOR_STRAIN : COLOR_NONE, 1280, q % 2 ? 720 : 160);
    CameraOptions wish = {.azimuth = flat ? 0 : 360 * uncertain(&seed),
                          .elevation = flat ? 0 : 180 * uncertain(&seed) - 90,
                          .zoom = 1};
    Camera camera = camera_aim(&wish, flat ? 1 : q % 3, flat, 0.5 + 2 * uncertain(&seed));
    Extent extent = extent_empty();
    scatter(&seed, flat, x);
    extent_add(&extent, &camera, window, x, POINTS / 2);
    extent_add(&extent, &camera, window, x + 3 * (POINTS / 2), POINTS - POINTS / 2);
    camera_fit(&camera, &wish, window, &extent);
    check_fit(&camera, window, x);
  }
}

TEST(one_point_is_seen_in_the_middle) {
  float x[3] = {3, -2, 7}, matrix[16];
  double at[3];
  Window window = {-0.9, 0.9, -0.9, 0.9};
  for (int parallel = 0; parallel < 2; parallel++) {
    CameraOptions wish = {.azimuth = 10, .elevation = 5, .zoom = 1};
    Camera camera = camera_aim(&wish, 1, parallel, 1.5);
    Extent extent = extent_empty();
    extent_add(&extent, &camera, window, x, 1);
    camera_fit(&camera, &wish, window, &extent);
    camera_matrix(&camera, matrix);
    project(matrix, x, at);
    CHECK_NEAR(at[0], 0, 1e-5);
    CHECK_NEAR(at[1], 0, 1e-5);
    CHECK(fabs(at[2]) < 1);
  }
}

TEST(points_that_are_not_finite_are_left_out) {
  float x[] = {1, 2, 3, NAN, 0, 0, 0, INFINITY, 0, 2, 1, 0}, matrix[16];
  double at[3];
  Window window = {-0.9, 0.9, -0.9, 0.9};
  CameraOptions wish = {.azimuth = 10, .elevation = 5, .zoom = 1};
  for (int points = 1; points <= 4; points += 3) { /* only bad ones, and some good ones */
    Camera camera = camera_aim(&wish, 1, false, 1.5);
    Extent extent = extent_empty();
    extent_add(&extent, &camera, window, points == 1 ? x + 3 : x, points);
    camera_fit(&camera, &wish, window, &extent);
    camera_matrix(&camera, matrix);
    for (int q = 0; q < 16; q++) CHECK(isfinite(matrix[q]));
    project(matrix, x, at);
    if (points == 4) CHECK(fabs(at[0]) < 0.9 && fabs(at[1]) < 0.9);
  }
}

TEST(zoom_enlarges_the_picture) {
  float x[] = {-1, 0, 0, 1, 0, 0}, matrix[16];
  double once[3] = {0}, twice[3] = {0};
  Window window = {-0.9, 0.9, -0.9, 0.9};
  for (int zoom = 1; zoom <= 2; zoom++) {
    CameraOptions wish = {.zoom = zoom};
    Camera camera = camera_aim(&wish, 1, false, 1);
    Extent extent = extent_empty();
    extent_add(&extent, &camera, window, x, 2);
    camera_fit(&camera, &wish, window, &extent);
    camera_matrix(&camera, matrix);
    project(matrix, x + 3, zoom == 1 ? once : twice);
  }
  CHECK_NEAR(twice[0], 2 * once[0], 1e-5);
}

static void check_axes(int up, double azimuth, double elevation, const double right[3],
                       const double toward[3]) {
  CameraOptions wish = {.azimuth = azimuth, .elevation = elevation, .zoom = 1};
  Camera c = camera_aim(&wish, up, false, 1);
  double cross[3];
  vector_cross(c.right, c.up, cross);
  for (int k = 0; k < 3; k++) {
    CHECK_NEAR(c.right[k], right[k], 1e-12);
    CHECK_NEAR(c.toward[k], toward[k], 1e-12);
    CHECK_NEAR(cross[k], c.toward[k], 1e-12);
  }
}

TEST(angles_turn_the_camera_around_the_up_axis) {
  double x[] = {1, 0, 0}, y[] = {0, 1, 0}, z[] = {0, 0, 1}, minus_y[] = {0, -1, 0},
         minus_z[] = {0, 0, -1};
  check_axes(1, 0, 0, x, z);
  check_axes(1, 90, 0, minus_z, x);
  check_axes(1, 0, 90, x, y);
  check_axes(2, 0, 0, x, minus_y);
  check_axes(2, 90, 0, y, x);
  check_axes(0, 0, 0, y, minus_z);
}

TEST(a_placed_camera_has_its_target_in_the_middle) {
  CameraOptions wish;
  float x[] = {0, 0.5, 0, 1, 1, 1}, matrix[16];
  double at[3];
  Window window = {-1, 1, -1, 1};
  CHECK(camera_read("0,1,3/0,0.5,0", 3, &wish));
  Camera camera = camera_aim(&wish, 1, false, 1.5);
  Extent extent = extent_empty();
  extent_add(&extent, &camera, window, x, 2);
  camera_fit(&camera, &wish, window, &extent);
  camera_matrix(&camera, matrix);
  project(matrix, x, at);
  CHECK_NEAR(camera.eye[2], 3, 0);
  CHECK_NEAR(at[0], 0, 1e-6);
  CHECK_NEAR(at[1], 0, 1e-6);
  /* Straight from above there is no 'right' of the horizon; one is taken. */
  CHECK(camera_read("0,9,0/0,0,0", 3, &wish));
  camera = camera_aim(&wish, 1, false, 1);
  CHECK_NEAR(vector_dot(camera.right, camera.right), 1, 1e-12);
}

TEST(views_are_read_whole_or_not_at_all) {
  static const char *const wrong[] = {
      "",      "30",    "30,",     "a,b",     "1,2,3,4",      "0,91",        "0,0,0", "0,0,-1",
      "nan,0", "0,inf", "1,2,3/1", "1,2/3,4", "1,2,3/4,5,6x", "1,2,3/1,2,3", "1;2"};
  CameraOptions wish;
  for (size_t q = 0; q < sizeof wrong / sizeof wrong[0]; q++)
    CHECK(!camera_read(wrong[q], 3, &wish));
  CHECK(camera_read("-60,35,1.5", 3, &wish));
  CHECK(wish.azimuth == -60 && wish.elevation == 35 && wish.zoom == 1.5 && !wish.placed);
  CHECK(camera_read(NULL, 3, &wish) && wish.elevation > 0);
  CHECK(camera_read(NULL, 2, &wish) && wish.azimuth == 0 && wish.elevation == 0);
}

/* ---- Schedules ------------------------------------------------------------------------------- */

static const ScheduleOptions nothing = {FILM_NONE, -1, -1, -1, -1, -1, 1};

TEST(a_picture_is_of_the_last_frame_by_default) {
  Schedule s;
  ScheduleOptions wish = nothing;
  MUST(schedule_make(&wish, 151, 1 / 30.0, 1, &s, error));
  CHECK(s.first == 150 && s.last == 150 && s.pictures == 1 && schedule_frame(&s, 0) == 150);
  wish.time = 2;
  MUST(schedule_make(&wish, 151, 1 / 30.0, 1, &s, error));
  CHECK(s.first == 60);
  wish.time = -1;
  wish.frame = 40;
  MUST(schedule_make(&wish, 16, 1 / 3.0, 10, &s, error));
  CHECK(s.first == 4);
}

TEST(a_picture_past_the_end_is_refused) {
  Schedule s;
  ScheduleOptions wish = nothing;
  wish.frame = 151;
  FAILS(schedule_make(&wish, 151, 1 / 30.0, 1, &s, error), HK_ERROR_INVALID, "ends with frame 150");
  wish.frame = 7;
  FAILS(schedule_make(&wish, 16, 1 / 3.0, 10, &s, error), HK_ERROR_INVALID, "only each 10th");
  wish.frame = -1;
  wish.time = 5.1;
  FAILS(schedule_make(&wish, 151, 1 / 30.0, 1, &s, error), HK_ERROR_INVALID, "at 5 s");
}

TEST(a_film_has_every_frame_as_it_happens) {
  Schedule s;
  ScheduleOptions wish = nothing;
  wish.kind = FILM_MP4;
  MUST(schedule_make(&wish, 151, 1 / 30.0, 1, &s, error));
  CHECK(s.pictures == 151);
  CHECK_NEAR(s.fps, 30, 1e-9);
  for (int q = 0; q < 151; q++) CHECK(schedule_frame(&s, q) == q);
}

TEST(a_gif_of_a_fast_scene_leaves_frames_out) {
  Schedule s;
  ScheduleOptions wish = nothing;
  wish.kind = FILM_GIF;
  MUST(schedule_make(&wish, 241, 1 / 60.0, 1, &s, error));
  CHECK_NEAR(s.fps, 30, 1e-9);
  CHECK(s.pictures == 121 && schedule_frame(&s, 60) == 120 && schedule_frame(&s, 120) == 240);
  wish.fps = 60;
  FAILS(schedule_make(&wish, 241, 1 / 60.0, 1, &s, error), HK_ERROR_INVALID, "50 pictures");
}

TEST(slow_motion_shows_frames_longer) {
  Schedule s;
  ScheduleOptions wish = nothing;
  wish.kind = FILM_WEBM;
  wish.speed = 0.25;
  wish.from = 1;
  wish.to = 2;
  MUST(schedule_make(&wish, 151, 1 / 30.0, 1, &s, error));
  CHECK(s.first == 30 && s.last == 60 && s.pictures == 121);
  CHECK(schedule_frame(&s, 0) == 30 && schedule_frame(&s, 4) == 31 &&
        schedule_frame(&s, 120) == 60);
  wish.to = 0.5;
  FAILS(schedule_make(&wish, 151, 1 / 30.0, 1, &s, error), HK_ERROR_INVALID, "before it begins");
}
