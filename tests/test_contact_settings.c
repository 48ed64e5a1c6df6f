/* Settings of contact: by body, by obstacle and by pair; exclusions. */
#include "contact/crossing.h"
#include "model_by_hand.h"
#include "sheets.h"
#include "step/sim.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const HkContactData *data_of(const HkModel *m) {
  for (int f = 0; f < m->force_count; f++)
    if (strcmp(m->forces[f].type->schema.name, "contact") == 0) return m->forces[f].data;
  return NULL;
}

static HkModel *compile(const char *text, HkError *error) {
  HkScene *scene = sheets_parse(text, NULL, error);
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
  HkScene *scene = sheets_parse(settings, NULL, NULL), *copy = NULL;
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
  CHECK(sheets_mean_height(&w, 0) > 0 && sheets_mean_height(&w, 1) > sheets_mean_height(&w, 0));
  world_destroy(&w);
  w = fall("'pairs': [{'between': ['high', 'low'], 'contact': false}, {'between': ['high', "
           "'floor'], 'contact': false}, {'between': ['box', 'high'], 'contact': false}], ",
           "");
  CHECK(sheets_mean_height(&w, 0) > 0 && fabs(sheets_mean_height(&w, 1) + 0.299) < 1e-3);
  world_destroy(&w);
  w = fall("", ", 'contact': false"); /* falls through the ground as well */
  CHECK(sheets_mean_height(&w, 0) > 0 && sheets_mean_height(&w, 1) < -0.5);
  world_destroy(&w);
}

TEST(excluded_pairs_may_intersect_at_the_start) {
  World w = world_parse("{'bodies': [" SHEET("a", "4", "0.1", "") "," SHEET(
      "b", "5", "0.1", "") "], 'pairs': [{'between': ['a', 'b'], 'contact': false}],"
                           "'forces': ['gravity', 'contact']," END);
  world_steps(&w, 3);
  CHECK(hk_contacts_crossings(sheets_contacts(&w), w.state->x, NULL, 0) == 0);
  world_destroy(&w);
}
