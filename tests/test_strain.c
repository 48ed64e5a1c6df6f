/* Strain of vertices: its definition, and that pictures, the page and reports color one state
 * alike. */
#include "figure.h"
#include "play.h"
#include "report/recording.h"
#include "world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STRETCH "bodies[0].stretch=[1.2, 0.7, 1]"

/* Bytes of an answer in front of the positions of a frame: docs/protocol.md. */
enum { FRAME_HEAD = 176 };

/* Mean over the springs of a vertex from the public arrays; bending: over those of bending, too. */
static double *strains_by_hand(const World *w, bool bending) {
  HkSpringView s = hk_model_springs(w->model);
  int64_t n = hk_state_vertex_count(w->state);
  const double *x = hk_state_x(w->state);
  double *sum = calloc((size_t)n, sizeof *sum), *count = calloc((size_t)n, sizeof *count);
  for (int64_t q = 0; q < s.count; q++) {
    const double *a = x + 3 * (int64_t)s.i[q], *b = x + 3 * (int64_t)s.j[q];
    double l = sqrt(pow(a[0] - b[0], 2) + pow(a[1] - b[1], 2) + pow(a[2] - b[2], 2));
    if (!(s.l0[q] > 0) || (s.kind[q] == 2 && !bending)) continue;
    for (int end = 0; end < 2; end++) {
      sum[end ? s.j[q] : s.i[q]] += (l - s.l0[q]) / s.l0[q];
      count[end ? s.j[q] : s.i[q]]++;
    }
  }
  for (int64_t i = 0; i < n; i++) sum[i] = count[i] > 0 ? sum[i] / count[i] : 0;
  free(count);
  return sum;
}

static double largest_difference(const double *a, const double *b, int64_t n) {
  double most = 0;
  for (int64_t i = 0; i < n; i++) most = fmax(most, fabs(a[i] - b[i]));
  return most;
}

static double *strains_of(const World *w) {
  double *strain = calloc((size_t)hk_state_vertex_count(w->state), sizeof *strain);
  hk_model_strains(w->model, hk_state_x(w->state), strain);
  return strain;
}

TEST(strain_of_a_vertex_is_the_mean_over_its_springs_but_those_of_bending) {
  World w = world_builtin("curtain", STRETCH, 1);
  if (!w.state) return;
  int64_t n = hk_state_vertex_count(w.state);
  double *strain = strains_of(&w), *expected = strains_by_hand(&w, false);
  double *other = strains_by_hand(&w, true);
  CHECK(largest_difference(strain, expected, n) < 1e-12);
  CHECK(largest_difference(strain, other, n) > 1e-3);
  free(strain);
  free(expected);
  free(other);
  world_destroy(&w);
}

TEST(strain_ignores_springs_without_a_rest_length) {
  World w = world_parse(
      "{'bodies': [{'shape': {'type': 'chain', 'n': 4, 'end': [3, 0, 0]}, 'springs': {'k': 1, "
      "'table': [[0, 1, 5, 0, -1], [1, 2, 5, 0.5, -1]]}}], 'outputs': []}");
  if (!w.state) return;
  double *strain = strains_of(&w);
  CHECK(strain[0] == 0 && strain[1] == 1 && strain[2] == 0.5 && strain[3] == 0);
  free(strain);
  world_destroy(&w);
}

/* ---- Three places that color by it ---- */

static void check_page(const double *strain, int64_t n) {
  static const char *const asked[] = {
      "{\"id\": 1, \"ask\": \"load\", \"builtin\": \"curtain\", \"sets\": [\"" STRETCH "\"]}",
      "{\"id\": 2, \"ask\": \"frame\", \"steps\": 0, \"color\": \"strain\"}"};
  Play *play = play_create(NULL, test_folder());
  size_t size = 0;
  const unsigned char *bytes = NULL;
  for (int k = 0; k < 2; k++) {
    void *buffer = play_buffer(play, strlen(asked[k]));
    memcpy(buffer, asked[k], strlen(asked[k]));
    play_message(play, strlen(asked[k]), false);
    bytes = play_answer(play, &size);
  }
  CHECK(size == FRAME_HEAD + 16 * (size_t)n);
  for (int64_t i = 0; i < n && size == FRAME_HEAD + 16 * (size_t)n; i++) {
    float value;
    memcpy(&value, bytes + FRAME_HEAD + 12 * n + 4 * i, sizeof value);
    CHECK(value == (float)strain[i]);
  }
  play_destroy(&play);
}

static void check_report(const World *w, const double *strain) {
  HkContext c = hk_context_default();
  HkSketch sketch;
  HkRecording r;
  HkStateInfo info = {0};
  HkFrame frame = {.model = w->model, .state = w->state, .info = &info};
  MUST(hk_sketch_create(&c, w->model, 1000000, 100000000, &sketch, error));
  MUST(hk_recording_create(&c, w->model, &sketch, 1, 1, &r, error));
  hk_recording_add(&r, &frame, &(HkTally){0}, 0);
  CHECK(sketch.n == hk_state_vertex_count(w->state));
  for (int64_t q = 0; q < sketch.n; q++) CHECK(r.value[2 * q] == strain[sketch.vertex[q]]);
  hk_recording_destroy(&r);
  hk_sketch_destroy(&c, &sketch);
}

/* A corner's place on the map of colors is (1 + strain) / 2 where the colors end at 1. */
static void check_picture(const World *w, const double *strain) {
  int64_t n = hk_state_vertex_count(w->state), faces;
  const int32_t *face = hk_model_faces(w->model, &faces);
  const double *x = hk_state_x(w->state);
  Frame frame = {.x = calloc(3 * (size_t)n, sizeof(float))};
  Corner *corners = calloc(3 * (size_t)faces, sizeof *corners);
  Figure *figure = NULL;
  for (int64_t q = 0; q < 3 * n; q++) frame.x[q] = (float)x[q];
  MUST(figure_create(w->scene, w->model, COLOR_STRAIN, false, &figure, error));
  figure_pose(figure, &frame);
  figure_scale(figure, 1, 1);
  CHECK(faces > 0 && figure_corners(figure, 0, faces, corners) == 3 * faces);
  for (int64_t q = 0; q < 3 * faces; q++)
    CHECK_NEAR(2 * corners[q].value - 1, strain[face[q]], 1e-4); /* of positions in floats */
  figure_destroy(&figure);
  free(corners);
  free(frame.x);
}

TEST(pictures_the_page_and_reports_color_a_state_alike) {
  World w = world_builtin("curtain", STRETCH, 1);
  if (!w.state) return;
  double *strain = strains_of(&w);
  check_page(strain, hk_state_vertex_count(w.state));
  check_report(&w, strain);
  check_picture(&w, strain);
  free(strain);
  world_destroy(&w);
}
