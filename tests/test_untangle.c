/* Untangling: what is moved apart at the start. */
#include "base/vec.h"
#include "contact/crossing.h"
#include "contact/untangle.h"
#include "hooke/run.h"
#include "model_by_hand.h"
#include "sheets.h"
#include "step/sim.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNTANGLE "'forces': [{'type': 'contact', 'untangle': true, 'thickness': 2e-3%s}],"

static int warnings;
static char warning[1000];
static void count_warnings(void *user, HkLogLevel level, const char *text) {
  (void)user;
  if (level != HK_LOG_WARNING || !strstr(text, "moved apart")) return;
  warnings++;
  snprintf(warning, sizeof warning, "%s", text);
}

/* What untangling has done. */
static struct {
  double furthest;   /* m: the largest displacement; -1: it is refused */
  int64_t crossings; /* before */
  HkError error;
} done;

/* A state that is apart stays as it is, with every bit. */
static void prepare_again(World *w) {
  HkState *copy = NULL;
  MUST(hk_state_create(w->model, &copy, error));
  MUST(hk_state_copy(w->state, copy, error));
  MUST(hk_sim_prepare(w->sim, w->state, error));
  CHECK(memcmp(copy->x, w->state->x, (size_t)w->model->n * 3 * sizeof *copy->x) == 0);
  hk_state_destroy(&copy);
}

/* Moves apart, checks that nothing crosses, and makes a few steps. */
static void untangle(const char *bodies, const char *more) {
  char text[6000];
  HkContext context = hk_context_default();
  World w = {0};
  snprintf(text, sizeof text, "{%s, " UNTANGLE END, bodies, more);
  context.log = count_warnings;
  memset(&done, 0, sizeof done);
  warnings = 0;
  w.scene = sheets_parse(text, &context, &done.error);
  if (!w.scene) printf("    %s\n", done.error.text);
  MUST(hk_model_compile(w.scene, &w.model, error));
  MUST(hk_sim_create(w.model, NULL, 0.01, &w.sim, error));
  MUST(hk_state_create(w.model, &w.state, error));
  done.crossings = hk_contacts_crossings(sheets_contacts(&w), w.state->x, NULL, 0);
  HkStatus status = hk_sim_prepare(w.sim, w.state, &done.error);
  for (int64_t v = 0; v < w.model->n; v++)
    done.furthest = fmax(done.furthest, hk_distance(w.state->x + 3 * v, w.model->x0 + 3 * v));
  if (status >= 0) {
    CHECK(hk_contacts_crossings(sheets_contacts(&w), w.state->x, NULL, 0) == 0);
    prepare_again(&w);
    world_steps(&w, 5);
  } else {
    printf("    %s\n", done.error.text);
    CHECK(done.furthest == 0);
    done.furthest = -1;
  }
  world_destroy(&w);
}

TEST(two_sheets_that_interpenetrate_are_moved_apart) {
  untangle("'bodies': [" SHEET(
               "a", "9", "0",
               "") ", {'name': 'b', 'shape': {'type': "
                   "'grid', 'nx': 8, 'ny': 8, 'width': 0.3, 'height': 0.3, 'plane': 'xz', "
                   "'centered': true}, 'transform': {'axis': [0, 0.2, 1], 'angle': 6, "
                   "'translate': [0.1, 0.004, 0]}, 'mass': 0.1}]",
           "");
  CHECK(done.crossings > 10 && done.furthest > 0 && done.furthest < 0.05);
  CHECK(warnings == 1 && strstr(warning, "the furthest, vertex") != NULL);
  printf("    %lld crossings: %s\n", (long long)done.crossings, warning);
}

TEST(a_sheet_below_the_ground_is_lifted_by_its_depth) {
  untangle("'bodies': [" SHEET("a", "5", "-0.01", "") "]", ", 'ground': true");
  CHECK(fabs(done.furthest - (0.01 + 1e-3 + 0.5e-3)) <
        1e-12); /* its radius and half of the distance */
}

TEST(sheets_that_are_nearer_than_their_thickness_are_moved_apart) {
  untangle("'bodies': [" SHEET("a", "5", "0", "") "," SHEET("b", "4", "5e-4", "") "]", "");
  CHECK(done.crossings == 0 && done.furthest > 5e-4 && done.furthest < 5e-3);
}

/* A strip that is folded over twice: its end has passed through its middle. */
TEST(a_fold_that_has_passed_through_itself_is_pulled_back) {
  char text[4000] = "'bodies': [{'mesh': {'vertices': [";
  enum { LONG = 12, WIDE = 4 };
  for (int i = 0; i <= LONG; i++)
    for (int j = 0; j <= WIDE; j++) {
      double angle = 2 * 3.14159265358979 * i / LONG * 1.1, r = i < LONG ? 0.1 - 0.0009 * i : 0.115;
      size_t used = strlen(text);
      snprintf(text + used, sizeof text - used, "%s[%.6f, %.6f, %.6f]", i + j ? "," : "",
               r * cos(angle), r * sin(angle), 0.03 * j + 0.001 * i);
    }
  snprintf(text + strlen(text), sizeof text - strlen(text), "], 'quads': [");
  for (int i = 0; i < LONG; i++)
    for (int j = 0; j < WIDE; j++) {
      int at = (WIDE + 1) * i + j;
      size_t used = strlen(text);
      snprintf(text + used, sizeof text - used, "%s[%d,%d,%d,%d]", i + j ? "," : "", at, at + 1,
               at + WIDE + 2, at + WIDE + 1);
    }
  snprintf(text + strlen(text), sizeof text - strlen(text), "]}, 'mass': 0.1}]");
  untangle(text, "");
  printf("    %lld crossings: %s\n", (long long)done.crossings, warning);
  CHECK(done.crossings > 3 && done.furthest > 0 && done.furthest < 0.1);
}

TEST(a_cloth_that_a_box_and_a_needle_pierce_is_moved_off) {
  untangle(
      "'bodies': [" SHEET(
          "a", "9", "0", "") "], 'obstacles': [{'type': 'box', "
                             "'center': [0.1, -0.03, 0.11], 'size': [0.12, 0.08, 0.12]}, {'type': "
                             "'capsule', 'from': [-0.12, -0.3, -0.11], 'to': [-0.13, 0.02, -0.12], "
                             "'radius': 1e-3}]",
      "");
  CHECK(done.crossings > 3 && done.furthest > 0.005 && done.furthest < 0.1);
}

TEST(what_cannot_be_moved_apart_is_refused_with_its_places) {
  untangle("'bodies': [" SHEET(
               "a", "5", "0",
               "") ", {'name': 'b', 'shape': {'type': "
                   "'grid', 'nx': 4, 'ny': 4, 'width': 0.3, 'height': 0.3, 'plane': 'xy', "
                   "'centered': true}, 'transform': {'translate': [0.01, 0.02, 0.013]}}], "
                   "'pins': [{'select': 'all'}]",
           "");
  CHECK(done.furthest == -1 && done.crossings > 0);
  CHECK(strstr(done.error.text, "untangle does not find a way apart. contact: ") != NULL);
  CHECK(strstr(done.error.text, "'a' at vertex") != NULL ||
        strstr(done.error.text, "'b' at vertex") != NULL);
}

/* Sheets at random angles and distances: either nothing crosses afterwards (untangle checks it), or
 * the input is refused and stays; most of the shallow ones succeed. */
TEST(sheets_at_random_angles_are_moved_apart_or_refused) {
  uint64_t seed = 11;
  int good = 0, all = 0;
  double furthest = 0;
  for (int k = 0; k < 24; k++) {
    char bodies[1500];
    snprintf(bodies, sizeof bodies,
             "'bodies': [" SHEET(
                 "a", "9", "0",
                 "") ", {'name': 'b', 'shape': {'type': 'grid', 'nx': "
                     "8, 'ny': 8, 'width': 0.3, 'height': 0.3, 'plane': 'xz', 'centered': true}, "
                     "'transform': {'axis': [%g, %g, %g], 'angle': %g, 'translate': [%g, %g, %g]}, "
                     "'mass': "
                     "0.1}]",
             test_random(&seed), test_random(&seed), test_random(&seed) + 1.5,
             12 * test_random(&seed), 0.1 * test_random(&seed), 0.01 * test_random(&seed),
             0.1 * test_random(&seed));
    untangle(bodies, "");
    if (done.crossings == 0) continue;
    all++;
    good += done.furthest >= 0;
    furthest = fmax(furthest, done.furthest);
  }
  printf("    %d of %d succeed, the furthest moves by %.3g m\n", good, all, furthest);
  CHECK(all > 10 && good > 0.7 * all);
}

TEST(an_untangled_run_that_is_resumed_has_the_same_bits) {
  static const char text[] = "{'bodies': [" SHEET("a", "6", "-0.01", "") "," SHEET(
      "b", "5", "-0.0105",
      "") "], 'forces': ['gravity', {'type': 'contact', 'untangle': true, 'ground': true}]," END;
  World whole = world_parse(text), half = world_parse(text), rest = world_parse(text);
  size_t bytes = (size_t)whole.model->n * 3 * sizeof(double);
  world_steps(&whole, 8);
  world_steps(&half, 4);
  MUST(hk_state_copy(half.state, rest.state, error));
  world_steps(&rest, 4);
  CHECK(memcmp(whole.state->x, rest.state->x, bytes) == 0);
  CHECK(memcmp(whole.state->v, rest.state->v, bytes) == 0);
  world_destroy(&whole);
  world_destroy(&half);
  world_destroy(&rest);
}

/* The first frame of a run is the one that was moved apart. */
TEST(a_run_begins_where_untangling_leaves_it) {
  HkRun *run = NULL;
  HkScene *scene =
      sheets_parse("{'bodies': [" SHEET(
                       "a", "5", "-0.01",
                       "") "],"
                           "'forces': [{'type': 'contact', 'untangle': true, 'ground': true}]," END,
                   NULL, NULL);
  MUST(hk_run_create(scene, NULL, &run, error));
  const double *x = hk_state_positions(hk_run_state(run));
  for (int v = 0; v < 25; v++) CHECK_NEAR(x[3 * v + 1], 1e-3, 1e-15);
  hk_run_destroy(&run);
  hk_scene_destroy(&scene);
}
