/* Throws at a target, as the page asks for them. */
#include "page.h"
#include "world.h"

#include <math.h>
#include <string.h>

typedef struct Answer {
  double time, distance, iterations, part;
  double velocity[3], end[3];
  bool done;
} Answer;

static void read_vector(const HkJson *list, int first, double v[3]) {
  for (int c = 0; c < 3; c++) v[c] = hk_json_number(hk_json_at(list, first + c));
}

static Answer read_answer(const HkJson *o) {
  const HkJson *path = hk_json_get(o, "path"), *done = hk_json_get(o, "done");
  Answer a = {.time = number_in(o, "time"),
              .distance = number_in(o, "distance"),
              .iterations = number_in(o, "iterations"),
              .part = number_in(o, "part"),
              .done = hk_json_is(done, HK_JSON_BOOLEAN) && done->boolean};
  read_vector(hk_json_get(o, "velocity"), 0, a.velocity);
  if (hk_json_size(path) > 0) read_vector(path, hk_json_size(path) - 3, a.end);
  return a;
}

/* Asks in slices until the throw is found. */
static Answer throw_at(Page *page, const double target[3], double seconds, double budget) {
  Answer a = {0};
  char text[256];
  snprintf(text, sizeof text,
           "{'ask': 'throw', 'target': [%.17g, %.17g, %.17g], 'time': %.17g, 'budget': %.17g}",
           target[0], target[1], target[2], seconds, budget);
  for (int k = 0; k < 100000 && !a.done; k++) {
    HkJson answer = ask_text(page, text);
    bool is_good = error_in(&answer)[0] == 0;
    if (is_good)
      a = read_answer(&answer);
    else
      test_fail(__FILE__, __LINE__, "%s: %s", text, error_in(&answer));
    if (!is_good) k = 100000;
    hk_json_clear(&answer);
  }
  CHECK(a.done);
  return a;
}

/* The center of mass that a page would see in a frame of a built-in scene. */
static void find_center(const char *name, const Frame *f, double center[3]) {
  World w = world_builtin(name, NULL, 1);
  const double *mass = hk_model_masses(w.model);
  double all = 0;
  memset(center, 0, 3 * sizeof *center);
  for (uint32_t i = 0; i < f->vertices; i++) {
    all += mass[i];
    for (uint32_t c = 0; c < 3; c++) center[c] += mass[i] * (double)f->x[3 * i + c];
  }
  for (int c = 0; c < 3; c++) center[c] /= all;
  world_destroy(&w);
}

static double distance(const double a[3], const double b[3]) {
  return hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]);
}

/* Plays the throw from its start; returns the distance of the ball to the target at its time. */
static double play_to(Page *page, const double target[3], double time) {
  double center[3];
  expect_good(page, "{'ask': 'reset'}");
  Frame f = frame(page, "{'ask': 'frame', 'steps': 0}");
  while (f.number[STEP] > 0 && f.number[TIME] < time - 0.5 * f.number[STEP] && !(f.flags & BLOWN))
    f = frame(page, "{'ask': 'frame', 'steps': 1}");
  CHECK_NEAR(f.number[TIME], time, 1e-9);
  find_center("throw", &f, center);
  return distance(center, target);
}

TEST(a_ball_that_is_thrown_is_at_the_target_when_it_plays) {
  static const double targets[][3] = {{1.6, 1.3, 0}, {-2, 2, 1}, {0, 0.2, -3}, {0.1, 1, 0.1}};
  Page page = open_page();
  expect_good(&page, "{'ask': 'load', 'builtin': 'throw'}");
  for (size_t q = 0; q < sizeof targets / sizeof targets[0]; q++) {
    Answer a = throw_at(&page, targets[q], 0.8, 0.01);
    CHECK(a.distance < 1e-4 && a.iterations >= 1 && a.iterations <= 12);
    CHECK_NEAR(a.time, 0.8, 1e-3);
    CHECK_NEAR(distance(a.end, targets[q]), a.distance, 1e-12);
    CHECK(play_to(&page, targets[q], a.time) < 1e-3);
  }
  close_page(&page);
}

TEST(every_integrator_that_can_be_differentiated_throws) {
  static const double target[3] = {1.2, 1.4, 0.3};
  static const char *const sets[] = {
      "'integrator=verlet', 'time.step=0.001'",
      "'integrator=rk4', 'time.step=0.001'",
      "'integrator=backward_euler', 'time.step=0.02'",
      "'integrator.type=bdf2', 'integrator.passes=1', 'time.step=0.02'",
      "'integrator.type=implicit_midpoint', 'integrator.passes=1', 'time.step=0.02'",
      "'integrator=linear_implicit_euler', 'time.step=0.02'"};
  for (size_t q = 0; q < sizeof sets / sizeof sets[0]; q++) {
    Page page = open_page();
    char text[256];
    snprintf(text, sizeof text, "{'ask': 'load', 'builtin': 'throw', 'sets': [%s]}", sets[q]);
    expect_good(&page, text);
    Answer a = throw_at(&page, target, 0.4, 1);
    if (!(a.distance < 1e-4)) test_fail(__FILE__, __LINE__, "%s: %g m", sets[q], a.distance);
    CHECK(play_to(&page, target, a.time) < 1e-3);
    close_page(&page);
  }
}

/* The velocity does not depend on the slices, and a target that moves on costs a few flights. */
TEST(slices_do_not_change_a_throw_and_a_moved_target_is_reached_soon) {
  static const double target[3] = {1.5, 1.5, -0.5}, near[3] = {1.55, 1.45, -0.5};
  Page whole = open_page(), sliced = open_page();
  expect_good(&whole, "{'ask': 'load', 'builtin': 'throw'}");
  expect_good(&sliced, "{'ask': 'load', 'builtin': 'throw'}");
  Answer a = throw_at(&whole, target, 0.5, 1), b = throw_at(&sliced, target, 0.5, 0);
  CHECK(memcmp(a.velocity, b.velocity, sizeof a.velocity) == 0);
  CHECK(a.distance == b.distance && a.iterations == b.iterations);
  a = throw_at(&whole, near, 0.5, 1);
  CHECK(a.distance < 1e-4 && a.iterations <= 3);
  close_page(&whole);
  close_page(&sliced);
}

TEST(a_throw_follows_changes_of_the_scene_and_pins_and_not_the_hand) {
  static const double target[3] = {1.5, 1.5, 0};
  Page page = open_page();
  expect_good(&page, "{'ask': 'load', 'builtin': 'throw'}");
  Answer first = throw_at(&page, target, 0.5, 1);
  expect_good(&page, "{'ask': 'grab', 'vertex': 1}");
  expect_good(&page, "{'ask': 'drag', 'point': [0, 9, 0]}");
  Answer pulled = throw_at(&page, target, 0.5, 1);
  CHECK(memcmp(first.velocity, pulled.velocity, sizeof first.velocity) == 0);
  expect_good(&page, "{'ask': 'drop'}");
  expect_good(&page, "{'ask': 'set', 'assign': ['forces[0].g=3']}");
  Answer lighter = throw_at(&page, target, 0.5, 1);
  CHECK(lighter.distance < 1e-4 && lighter.velocity[1] < first.velocity[1] - 1);
  CHECK(play_to(&page, target, lighter.time) < 1e-3);
  expect_good(&page, "{'ask': 'pin', 'vertex': 1}");
  Answer tied = throw_at(&page, target, 0.5, 1); /* it cannot get there */
  CHECK(tied.distance > 0.5);
  CHECK(play_to(&page, tied.end, tied.time) < 1e-6);
  close_page(&page);
}

TEST(a_throw_that_ends_leaves_the_velocity_of_the_scene) {
  static const double target[3] = {-1.5, 1.5, 0};
  Page page = open_page();
  expect_good(&page, "{'ask': 'load', 'builtin': 'throw'}");
  double kinetic = frame(&page, "{'ask': 'frame', 'steps': 0}").number[KINETIC];
  throw_at(&page, target, 0.5, 1);
  expect_good(&page, "{'ask': 'reset'}");
  CHECK(fabs(frame(&page, "{'ask': 'frame', 'steps': 0}").number[KINETIC] - kinetic) > 0.1);
  expect_good(&page, "{'ask': 'throw'}");
  expect_good(&page, "{'ask': 'reset'}");
  CHECK(frame(&page, "{'ask': 'frame', 'steps': 0}").number[KINETIC] == kinetic);
  close_page(&page);
}

TEST(the_saved_scene_has_the_velocity_of_the_throw) {
  static const double target[3] = {-1.5, 1.5, 0.25};
  Page page = open_page();
  size_t size;
  expect_good(&page, "{'ask': 'load', 'builtin': 'throw'}");
  Answer a = throw_at(&page, target, 0.5, 1);
  CHECK(ask(&page, "{'ask': 'save', 'what': 'scene'}"));
  const char *text = play_answer(page.play, &size);
  HkJson scene = {0};
  HkError error = {0};
  CHECK(size > 8 && hk_json_parse("saved", text + 8, size - 8, &scene, &error) >= 0);
  double v[3];
  read_vector(hk_json_get(hk_json_at(hk_json_get(&scene, "bodies"), 0), "velocity"), 0, v);
  CHECK(distance(v, a.velocity) < 1e-9);
  hk_json_clear(&scene);
  close_page(&page);
}

TEST(a_plane_scene_throws_in_its_plane) {
  static const double target[3] = {2, 1, 0}, aside[3] = {2, 1, 0.5};
  Page page = open_page();
  expect_good(&page, "{'ask': 'load', 'scene': '{\\'dimension\\': 2, \\'bodies\\': [{\\'shape\\': "
                     "{\\'type\\': \\'chain\\', \\'n\\': 4, \\'end\\': [1, 0, 0]}, "
                     "\\'springs\\': {\\'k\\': 200}}], \\'forces\\': [\\'gravity\\', "
                     "{\\'type\\': \\'drag\\', \\'quadratic\\': 0.1}]}'}");
  CHECK(throw_at(&page, target, 0.5, 1).distance < 1e-3);
  Answer a = throw_at(&page, aside, 0.5, 1);
  CHECK(a.velocity[2] == 0);
  CHECK_NEAR(a.distance, 0.5, 1e-3); /* as near as the plane allows */
  close_page(&page);
}

TEST(a_body_that_may_touch_others_is_thrown) {
  static const double target[3] = {0.3, 1.2, 0.2};
  Page page = open_page();
  expect_good(&page, "{'ask': 'load', 'builtin': 'net_and_ball'}");
  CHECK(throw_at(&page, target, 0.4, 1).distance < 1e-3);
  close_page(&page);
}

TEST(what_cannot_be_thrown_is_refused_with_the_reason) {
  static const struct {
    const char *load, *words;
  } cases[] = {
      {"'builtin': 'net_and_ball', 'sets': ['integrator=implicit_midpoint']", "contact"},
      {"'builtin': 'flag'", "pins hold every body"},
      {"'builtin': 'throw', 'sets': ['time.tolerance=0.001']", "adaptive steps"},
      {"'builtin': 'throw', 'sets': ['integrator=forward_euler', 'time.step=0.0001']", ""},
  };
  for (size_t q = 0; q < sizeof cases / sizeof cases[0]; q++) {
    Page page = open_page();
    char text[256];
    snprintf(text, sizeof text, "{'ask': 'load', %s}", cases[q].load);
    HkJson scene = ask_text(&page, text);
    const HkJson *refusal = hk_json_get(&scene, "throw_refusal");
    CHECK(hk_json_is(refusal, HK_JSON_TEXT) && strstr(refusal->text, cases[q].words));
    if (refusal && refusal->text[0]) {
      HkJson answer = ask_text(&page, "{'ask': 'throw', 'target': [1, 1, 0]}");
      CHECK(strcmp(error_in(&answer), refusal->text) == 0);
      hk_json_clear(&answer);
      frame(&page, "{'ask': 'frame', 'steps': 1}");
    }
    hk_json_clear(&scene);
    close_page(&page);
  }
}

TEST(bad_targets_are_errors_and_far_ones_end) {
  static const double far[3] = {1e9, 0, 0};
  Page page = open_page();
  expect_error(&page, "{'ask': 'throw', 'target': [1, 1, 1]}", "no scene is loaded");
  expect_good(&page, "{'ask': 'load', 'builtin': 'throw'}");
  expect_error(&page, "{'ask': 'throw', 'target': [1, 1]}", "three numbers");
  expect_error(&page, "{'ask': 'throw', 'target': [1, 1, 1e999]}", "");
  expect_error(&page, "{'ask': 'throw', 'target': [1, 1, 1], 'time': 0}", "above 0");
  expect_error(&page, "{'ask': 'throw', 'target': [1, 1, 1], 'time': 1e9}", "at most 60");
  Answer a = throw_at(&page, far, 0.2, 1);
  CHECK(a.distance > 1e8);
  CHECK(isfinite(a.velocity[0]));
  close_page(&page);
}
