/* Settings of contact: by body, by obstacle and by pair; exclusions; what is moved apart at the
 * start. */
#include "base/vec.h"
#include "contact/crossing.h"
#include "contact/untangle.h"
#include "hooke/run.h"
#include "model_by_hand.h"
#include "step/sim.h"
#include "world.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define END                                                                                        \
  "'time': {'duration': 1, 'step': 0.01, 'frames_per_second': 100},"                               \
  "'integrator': {'type': 'backward_euler'}}"

/* A horizontal sheet of n x n vertices, 0.4 m wide. */
#define SHEET(name, n, y, more)                                                                    \
  "{'name': '" name "', 'shape': {'type': 'grid', 'nx': " n ", 'ny': " n                           \
  ", 'width': 0.4, 'height': 0.4, 'plane': 'xz', 'centered': true},"                               \
  " 'transform': {'translate': [0, " y ", 0]}, 'springs': {'k': 50, 'shear': true},"               \
  " 'mass': 0.1" more "}"

static const HkContactData *data_of(const HkModel *m) {
  for (int f = 0; f < m->force_count; f++)
    if (strcmp(m->forces[f].type->schema.name, "contact") == 0) return m->forces[f].data;
  return NULL;
}

static HkContacts *contacts_of(const World *w) {
  for (int f = 0; f < w->model->force_count; f++)
    if (strcmp(w->model->forces[f].type->schema.name, "contact") == 0)
      return w->sim->work.states[f].state;
  return NULL;
}

static HkScene *parse(const char *text, const HkContext *context, HkError *error) {
  char quoted[8000];
  HkScene *scene = NULL;
  snprintf(quoted, sizeof quoted, "%s", text);
  for (char *c = quoted; *c; c++)
    if (*c == '\'') *c = '"';
  HkStatus status =
      hk_scene_parse(context, quoted, strlen(quoted), "test", NULL, NULL, 0, &scene, error);
  CHECK(status >= 0);
  return scene;
}

static HkModel *compile(const char *text, HkError *error) {
  HkScene *scene = parse(text, NULL, error);
  HkModel *model = NULL;
  if (scene) hk_model_compile(scene, &model, error);
  hk_scene_destroy(&scene);
  return model;
}

/* ---- Settings ---- */

static const char settings[] = "{'bodies': [" SHEET("plain", "3", "0.1", "") "," SHEET(
    "own", "3", "0.2",
    ", 'contact': {'thickness': 4e-3, 'self': false, 'friction': 0.5, 'friction_kinetic': "
    "0.4}") "," SHEET("ghost", "3", "0.3",
                      ", 'contact': false") "," SHEET("half", "3", "0.4",
                                                      ", 'contact': "
                                                      "{'friction': 0.08, "
                                                      "'self': true}") "],"
                                                                       "'obstacles': [{'type': "
                                                                       "'ball', 'name': 'ball', "
                                                                       "'radius': 0.01, "
                                                                       "'friction': 0.9},"
                                                                       "{'type': 'plane', 'name': "
                                                                       "'floor', 'point': [0, -1, "
                                                                       "0], 'friction_kinetic': 0},"
                                                                       "{'type': 'plane', 'name': "
                                                                       "'none', 'contact': false}],"
                                                                       "'pairs': [{'between': "
                                                                       "['floor', 'own'], "
                                                                       "'friction': 0.25, "
                                                                       "'friction_kinetic': 0.125},"
                                                                       "{'between': ['plain', "
                                                                       "'own'], 'contact': false}, "
                                                                       "{'between': ['plain', "
                                                                       "'ground'], 'friction': "
                                                                       "0.75}, {'between': "
                                                                       "['half', 'half'], "
                                                                       "'friction_kinetic': "
                                                                       "0.0625}],"
                                                                       "'forces': [{'type': "
                                                                       "'contact', 'thickness': "
                                                                       "2e-3, 'ground': true, "
                                                                       "'height': -2, 'friction': "
                                                                       "0.32, 'friction_kinetic': "
                                                                       "0.18}]," END;

static bool friction_is(const HkContactData *d, int a, int b, double rest, double slide) {
  double values[2][2];
  hk_contact_friction(d, a, b, &values[0][0], &values[0][1]);
  hk_contact_friction(d, b, a, &values[1][0], &values[1][1]);
  for (int k = 0; k < 2; k++)
    if (fabs(values[k][0] - rest) > 1e-15 || fabs(values[k][1] - slide) > 1e-15) return false;
  return true;
}

TEST(bodies_have_their_own_values_and_else_those_of_the_force) {
  HkError error = {0};
  HkModel *m = compile(settings, &error);
  CHECK(m != NULL);
  if (!m) printf("    %s\n", error.text);
  if (!m) return;
  const HkFeatures *f = &data_of(m)->features;
  CHECK(f->radius[0] == 1e-3 && f->radius[1] == 2e-3 && f->radius[3] == 1e-3);
  CHECK(f->self[0] && !f->self[1] && !f->self[2] && f->self[3]);
  for (int64_t b = 0; b < f->slot_count / HK_CONTACT_WIDTH; b++) CHECK(f->group[b] != 2);
  hk_model_destroy(&m);
}

TEST(friction_is_that_of_the_pair_or_the_geometric_mean) {
  HkError error = {0};
  HkModel *m = compile(settings, &error);
  CHECK(m != NULL);
  if (!m) return;
  const HkContactData *d = data_of(m);
  enum { PLAIN, OWN, GHOST, HALF, BALL, FLOOR, NONE, GROUND };
  CHECK(d->has_friction);
  CHECK(friction_is(d, PLAIN, PLAIN, 0.32, 0.18)); /* exactly those of the force */
  CHECK(friction_is(d, OWN, OWN, 0.5, 0.4));
  CHECK(friction_is(d, PLAIN, HALF, 0.16, 0.12)); /* sqrt(0.32 0.08), sqrt(0.18 0.08) */
  CHECK(friction_is(d, OWN, BALL, sqrt(0.45), 0.6));
  CHECK(friction_is(d, PLAIN, FLOOR, 0.32, 0)); /* 0 if one has 0 */
  CHECK(friction_is(d, OWN, FLOOR, 0.25, 0.125));
  CHECK(friction_is(d, PLAIN, GROUND, 0.75, 0.75));
  CHECK(friction_is(d, HALF, HALF, 0.08, 0.0625));
  CHECK(friction_is(d, OWN, GROUND, sqrt(0.5 * 0.32), sqrt(0.4 * 0.18)));
  hk_model_destroy(&m);
}

TEST(excluded_pairs_do_not_meet_in_any_order) {
  HkError error = {0};
  HkModel *m = compile(settings, &error);
  CHECK(m != NULL);
  if (!m) return;
  const HkFeatures *f = &data_of(m)->features;
  for (int a = 0; a <= f->group_count; a++)
    for (int b = 0; b <= f->group_count; b++) {
      bool ghost = a == 2 || b == 2 || a == 6 || b == 6;
      bool expected = (a < 4 || b < 4) && !ghost && !(a + b == 1 && a != b);
      if (a == b) expected = a == 0 || a == 3;
      if (a == f->group_count && b == f->group_count) continue;
      CHECK(hk_features_meet(f, a, b) == expected);
    }
  hk_model_destroy(&m);
}

TEST(settings_are_written_and_read_again) {
  char *text = NULL, *again = NULL;
  HkScene *scene = parse(settings, NULL, NULL), *copy = NULL;
  MUST(hk_scene_format(scene, &text, error));
  MUST(hk_scene_parse(NULL, text, strlen(text), "again", NULL, NULL, 0, &copy, error));
  MUST(hk_scene_format(copy, &again, error));
  CHECK(strcmp(text, again) == 0);
  CHECK(copy->pair_count == 4 && strcmp(copy->pairs[1].between[1], "own") == 0);
  CHECK(!copy->pairs[1].contact && isnan(copy->pairs[1].friction));
  CHECK(copy->bodies[1].contact.self == HK_SELF_OFF && copy->bodies[3].contact.self == HK_SELF_ON);
  CHECK(!copy->bodies[2].contact.enabled && copy->bodies[1].contact.thickness == 4e-3);
  CHECK(copy->obstacles[1].friction_kinetic == 0 && !copy->obstacles[2].contact);
  hk_text_destroy(&text);
  hk_text_destroy(&again);
  hk_scene_destroy(&scene);
  hk_scene_destroy(&copy);
}

TEST(pairs_that_are_added_in_c_are_copies) {
  char name[] = "one";
  HkScene *scene = NULL;
  HkPair pair = hk_pair_default();
  int index = -1;
  MUST(hk_scene_create(NULL, &scene, error));
  CHECK(pair.contact && isnan(pair.friction) && isnan(pair.friction_kinetic) && !pair.between[0]);
  pair.between[0] = pair.between[1] = name;
  MUST(hk_scene_add_pair(scene, &pair, &index, error));
  name[0] = 'x';
  CHECK(index == 0 && strcmp(scene->pairs[0].between[1], "one") == 0);
  hk_scene_destroy(&scene);
}

static void expect(const char *more, const char *words) {
  char text[3000];
  snprintf(text, sizeof text,
           "{'bodies': [" SHEET("shirt", "3", "0.1", "") "," SHEET(
               "trousers", "3", "0.2",
               "") "],\n'obstacles': [{'type': 'ball', 'name': 'table', "
                   "'center': [0, -1, 0]}, 'plane'],\n%s,\n'time': {'step': 0.01}, "
                   "'integrator': 'backward_euler'}",
           more);
  HkError error = {0};
  HkScene *scene = NULL;
  HkModel *model = NULL;
  for (char *c = text; *c; c++)
    if (*c == '\'') *c = '"';
  HkStatus status =
      hk_scene_parse(NULL, text, strlen(text), "wardrobe.json", NULL, NULL, 0, &scene, &error);
  if (status >= 0) status = hk_model_compile(scene, &model, &error);
  CHECK(status < 0);
  if (!strstr(error.text, words)) printf("    %s\n", error.text);
  CHECK(strstr(error.text, words) != NULL);
  CHECK(strstr(error.text, "wardrobe.json:3:") != NULL);
  hk_model_destroy(&model);
  hk_scene_destroy(&scene);
}

TEST(wrong_pairs_and_settings_are_refused_where_they_stand) {
  expect("'pairs': [{'between': ['shirt', 'tabel'], 'friction': 1}], 'forces': ['contact']",
         "pairs[0].between: there is no body or obstacle 'tabel'; did you mean 'table'?");
  expect("'pairs': [{'between': ['shirt', 'Quetzalcoatl']}], 'forces': ['contact']",
         "there is no body or obstacle 'Quetzalcoatl'");
  expect("'pairs': [{'between': ['table', 'ground']}], 'forces': ['contact']",
         "'table' and 'ground' never touch each other");
  expect("'pairs': [{'between': ['shirt', 'table']}, {'between': ['table', 'shirt']}]",
         "pairs[1].between: the pair of 'shirt' and 'table' is given twice");
  expect("'pairs': [{'between': ['shirt', 'table'], 'friction': 0.1, 'friction_kinetic': 0.2}]",
         "0.2 is above the friction of the pair, 0.1");
  expect("'pairs': [{'between': ['shirt', 'table'], 'friction_kinetic': 0.5}],"
         "'forces': [{'type': 'contact', 'friction': 0.4}]",
         "between 'shirt' and 'table': 0.5 is above the static friction, 0.4");
  expect("'pairs': [{'between': ['shirt'], 'friction': 1}]", "expected a list of two names");
  expect("'pairs': [{'friction': 1}]", "\"between\" is missing");
  expect("'pairs': [{'between': ['shirt', 'table'], 'fricton': 1}]", "did you mean 'friction'?");
  expect("'pairs': [{'between': ['shirt', 'table'], 'friction': -1}]", "pairs[0].friction");
  expect("'forces': [{'type': 'contact', 'thickness': 0.25}]",
         "'shirt' has a thickness of 0.25 m, but an edge of 0.2 m");
  expect("'forces': [{'type': 'contact', 'friction': 0.1, 'friction_kinetic': 0.2}]",
         "0.2 is above the static friction, 0.1");
}

TEST(a_body_may_be_thicker_than_its_edges_if_it_does_not_touch_itself) {
  HkError error = {0};
  HkModel *m =
      compile("{'bodies': [" SHEET(
                  "a", "5", "0.5",
                  "") "],"
                      "'forces': [{'type': 'contact', 'thickness': 0.3, 'self': false}]," END,
              &error);
  CHECK(m != NULL);
  hk_model_destroy(&m);
  /* a single triangle has nothing to touch */
  m = compile("{'bodies': [{'mesh': {'vertices': [[0, 0, 0], [1, 0, 0], [0, 1, 0]], 'triangles': "
              "[[0, 1, 2]]}}], 'forces': [{'type': 'contact', 'thickness': 2}]," END,
              &error);
  CHECK(m != NULL);
  hk_model_destroy(&m);
}

/* ---- Exclusions in motion ---- */

static double mean_height(const World *w, int body) {
  const HkBodyRange *range = &w->model->bodies[body];
  double sum = 0;
  for (int64_t v = 0; v < range->count; v++) sum += w->state->x[3 * (range->first + v) + 1];
  return sum / (double)range->count;
}

static World fall(const char *more, const char *upper) {
  char text[3000];
  snprintf(
      text, sizeof text,
      "{'bodies': [" SHEET("low", "5", "0.05", "") "," SHEET(
          "high", "4", "0.1",
          "%s") "],"
                "'obstacles': [{'type': 'plane', 'name': 'floor'}, {'type': 'box', 'name': 'box', "
                "'size': [0.2, 0.04, 0.2]}], %s"
                "'forces': ['gravity', {'type': 'contact', 'ground': true, 'height': -0.3}]," END,
      upper, more);
  World w = world_parse(text);
  world_steps(&w, 40);
  return w;
}

TEST(excluded_pairs_pass_through_each_other_and_nothing_else) {
  World w = fall("", "");
  CHECK(mean_height(&w, 0) > 0 && mean_height(&w, 1) > mean_height(&w, 0));
  world_destroy(&w);
  w = fall("'pairs': [{'between': ['high', 'low'], 'contact': false}, {'between': ['high', "
           "'floor'], 'contact': false}, {'between': ['box', 'high'], 'contact': false}], ",
           "");
  CHECK(mean_height(&w, 0) > 0 && fabs(mean_height(&w, 1) + 0.299) < 1e-3);
  world_destroy(&w);
  w = fall("", ", 'contact': false"); /* falls through the ground as well */
  CHECK(mean_height(&w, 0) > 0 && mean_height(&w, 1) < -0.5);
  world_destroy(&w);
}

TEST(excluded_pairs_may_intersect_at_the_start) {
  World w = world_parse("{'bodies': [" SHEET("a", "4", "0.1", "") "," SHEET(
      "b", "5", "0.1", "") "], 'pairs': [{'between': ['a', 'b'], 'contact': false}],"
                           "'forces': ['gravity', 'contact']," END);
  world_steps(&w, 3);
  CHECK(hk_contacts_crossings(contacts_of(&w), w.state->x, NULL, 0) == 0);
  world_destroy(&w);
}

/* ---- Every obstacle and every motion ---- */

static void write_file(const char *folder, const char *name, const char *content) {
  char path[600];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "w");
  CHECK(file != NULL);
  if (!file) return;
  fputs(content, file);
  fclose(file);
}

/* A cloth, held at two corners, above an obstacle whose top is at 0 where it is highest. */
static void land_on(const char *folder, const char *obstacle) {
  char text[3000];
  World w = {0};
  snprintf(text, sizeof text,
           "{'bodies': [" SHEET("cloth", "9", "0.02",
                                "") "], 'obstacles': [%s],"
                                    "'forces': ['gravity', {'type': 'contact'}]," END,
           obstacle);
  for (char *c = text; *c; c++)
    if (*c == '\'') *c = '"';
  MUST(hk_scene_parse(NULL, text, strlen(text), "land", folder, NULL, 0, &w.scene, error));
  MUST(hk_model_compile(w.scene, &w.model, error));
  MUST(hk_sim_create(w.model, NULL, 0.01, &w.sim, error));
  MUST(hk_state_create(w.model, &w.state, error));
  HkContacts *c = contacts_of(&w);
  int64_t touched = 0;
  for (int k = 0; k < 25; k++) {
    world_steps(&w, 1);
    CHECK(hk_contacts_crossings(c, w.state->x, NULL, 0) == 0);
    const HkTouchings *t = hk_contacts_find(c, &w.model->springs, w.state->x);
    touched += t->pair_count + t->wall_count;
  }
  const double *middle = w.state->x + 3 * (4 * 9 + 4);
  if (touched == 0 || !(middle[1] > -0.02))
    test_fail(__FILE__, __LINE__, "%s: %lld contacts, the middle is at %g m", obstacle,
              (long long)touched, middle[1]);
  world_destroy(&w);
}

TEST(cloth_lands_on_every_obstacle) {
  static const char *const obstacles[] = {
      "'plane'",
      "{'type': 'plane', 'two_sided': true}",
      "{'type': 'ball', 'center': [0, -0.1, 0], 'radius': 0.1}",
      "{'type': 'capsule', 'from': [-0.1, -0.05, 0], 'to': [0.1, -0.05, 0], 'radius': 0.05}",
      "{'type': 'box', 'center': [0, -0.05, 0], 'size': [0.2, 0.1, 0.2], 'radius': 0.01}",
      "{'type': 'cylinder', 'from': [0, -0.1, 0], 'to': [0, 0, 0], 'radius': 0.1}",
      "{'type': 'mesh', 'file': 'roof.obj', 'radius': 0.001}",
      "{'type': 'grid', 'file': 'half.txt'}",
      "{'type': 'grid', 'file': 'half.txt', 'two_sided': true}",
  };
  char folder[512];
  snprintf(folder, sizeof folder, "%s", test_folder());
  write_file(folder, "roof.obj",
             "v -0.15 -0.01 -0.15\nv 0.15 -0.01 -0.15\nv 0.15 -0.01 0.15\nv -0.15 -0.01 0.15\n"
             "v 0 0 0\nf 1 5 2\nf 2 5 3\nf 3 5 4\nf 4 5 1\n");
  write_file(folder, "half.txt", "2 2 2  -1 -1 -1  2 2 2  -1 -1 1 1 -1 -1 1 1\n");
  int types = 0;
  for (size_t q = 0; q < sizeof obstacles / sizeof obstacles[0]; q++) {
    land_on(folder, obstacles[q]);
    types += !strstr(obstacles[q], "two_sided");
  }
  CHECK(types == hk_schema_count(HK_OBSTACLE)); /* a new obstacle belongs here */
}

TEST(cloth_is_pushed_by_every_motion_of_an_obstacle) {
  static const char *const motions[] = {
      "'fixed'",
      "{'type': 'keyframes', 'table': [[0, 0, 0, 0], [0.25, 0.02, 0.05, 0]]}",
      "{'type': 'oscillation', 'amplitude': [0, 0.05, 0], 'frequency': 2}",
      "{'type': 'rotation', 'axis': [1, 3, 0], 'center': [0, -0.05, 0], 'speed': 200}",
      "{'type': 'track', 'file': 'track.csv', 'center': [0, -0.05, 0]}",
  };
  int count = (int)(sizeof motions / sizeof motions[0]);
  char folder[512], text[600];
  snprintf(folder, sizeof folder, "%s", test_folder());
  write_file(folder, "track.csv",
             "t,dx,dy,dz,qw,qx,qy,qz\n0,0,0,0,1,0,0,0\n0.25,0,0.04,0,2,0.2,1,0\n");
  CHECK(count == hk_schema_count(HK_MOTION)); /* a new motion belongs here */
  for (int q = 0; q < count; q++) {
    snprintf(text, sizeof text,
             "{'type': 'box', 'center': [0, -0.05, 0], 'size': [0.2, 0.1, 0.15], 'motion': %s}",
             motions[q]);
    land_on(folder, text);
  }
  land_on(folder, "{'type': 'plane', 'motion': {'type': 'track', 'file': 'track.csv'}}");
}

/* From below, a plane with two sides is a ceiling, and one with one side a floor that is too high.
 */
TEST(a_plane_with_two_sides_holds_from_below) {
  static const char text[] = "{'bodies': [" SHEET(
      "a", "4", "-0.05", ", 'velocity': [0, 2, 0]") "],"
                                                    "'obstacles': [{'type': 'plane', 'two_sided': "
                                                    "true}], 'forces': ['contact']," END;
  World w = world_parse(text);
  for (int k = 0; k < 10; k++) {
    world_steps(&w, 1);
    for (int64_t v = 0; v < w.model->n; v++) CHECK(w.state->x[3 * v + 1] < -5e-4);
  }
  CHECK(mean_height(&w, 0) > -0.05 && mean_height(&w, 0) < -5e-4);
  world_destroy(&w);
}

/* ---- Untangling ---- */

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
  w.scene = parse(text, &context, &done.error);
  if (!w.scene) printf("    %s\n", done.error.text);
  MUST(hk_model_compile(w.scene, &w.model, error));
  MUST(hk_sim_create(w.model, NULL, 0.01, &w.sim, error));
  MUST(hk_state_create(w.model, &w.state, error));
  done.crossings = hk_contacts_crossings(contacts_of(&w), w.state->x, NULL, 0);
  HkStatus status = hk_sim_prepare(w.sim, w.state, &done.error);
  for (int64_t v = 0; v < w.model->n; v++)
    done.furthest = fmax(done.furthest, hk_distance(w.state->x + 3 * v, w.model->x0 + 3 * v));
  if (status >= 0) {
    CHECK(hk_contacts_crossings(contacts_of(&w), w.state->x, NULL, 0) == 0);
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
      parse("{'bodies': [" SHEET(
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
