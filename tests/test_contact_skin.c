/* What a step gives does not depend on how far around a path candidates are searched for. */
#include "contact/contacts.h"
#include "contact_scenes.h"
#include "step/sim.h"
#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 8, SHEETS = 6 };

static HkContacts *contacts_of(const HkSim *sim) {
  for (int f = 0; f < sim->model->force_count; f++)
    if (strcmp(sim->model->forces[f].type->schema.name, "contact") == 0)
      return sim->work.states[f].state;
  return NULL;
}

/* A world of a text that is longer than world_parse takes. */
static World world_of(const char *text) {
  HkContext context = hk_context_default();
  HkError error = {0};
  World w = {0};
  context.threads = 1;
  HkStatus status =
      hk_scene_parse(&context, text, strlen(text), "scene", NULL, NULL, 0, &w.scene, &error);
  if (status >= 0) status = hk_model_compile(w.scene, &w.model, &error);
  if (status >= 0) status = hk_sim_create(w.model, NULL, w.model->time.step, &w.sim, &error);
  if (status >= 0) status = hk_state_create(w.model, &w.state, &error);
  if (status < 0) test_fail("scene", 0, "%s", error.text);
  return w;
}

/* Steps of scenes with skins of `part` distances must end where those with other skins end. */
static void compare(const char *name, const char *text) {
  static const double part[] = {0.5, 1, 2};
  World first = world_of(text);
  for (int k = 0; k < 3 && first.sim; k++) {
    World other = world_of(text);
    World *w = k == 0 ? &first : &other;
    HkContacts *c = contacts_of(w->sim);
    if (!c) {
      test_fail(name, 0, "there is no contact");
      world_destroy(&other);
      break;
    }
    c->skin = c->thin_skin = part[k] * c->data->ghat;
    world_steps(w, STEPS);
    size_t bytes = (size_t)first.state->n * 3 * sizeof(double);
    if (k > 0 && (memcmp(first.state->x, other.state->x, bytes) != 0 ||
                  memcmp(first.state->v, other.state->v, bytes) != 0))
      test_fail(name, 0, "a skin of %g distances ends elsewhere", part[k]);
    world_destroy(&other);
  }
  world_destroy(&first);
}

static void compare_scene(const char *name) {
  ContactCase c = {.size = 1,
                   .h = 1.0 / 60,
                   .integrator = "backward_euler",
                   .linear = "'ldlt'",
                   .threads = 1,
                   .seed = 5};
  while (c.scene < contact_scene_count() && strcmp(contact_scene_name(c.scene), name) != 0)
    c.scene++;
  char *text = contact_scene_text(&c);
  if (text)
    compare(name, text);
  else
    test_fail(name, 0, "out of memory");
  free(text);
}

TEST(steps_of_scenes_do_not_depend_on_the_skin) {
  const char *names[] = {"cloth on ball", "drape", "towel",         "folds on box", "two balls",
                         "needles",       "knot",  "net and jelly", "anvil",        "mixer"};
  for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) compare_scene(names[k]);
}

/* Sheets that land on each other: the filter cuts most of the vertices in the first iterations. */
static void compare_pile(double at) {
  char text[4096];
  int length = snprintf(text, sizeof text, "{'bodies': [");
  for (int k = 0; k < SHEETS; k++)
    length += snprintf(text + length, sizeof text - (size_t)length,
                       "%s{'name': 'sheet%d', 'shape': {'type': 'grid', 'nx': 9, 'ny': 9, 'width': "
                       "0.2, 'height': 0.2, 'plane': 'xz', 'cells': 'triangles', 'centered': true},"
                       " 'transform': {'axis': [0, 1, 0], 'angle': %d, 'translate': [%g, %g, 0]}, "
                       "'springs': {'EA': 4, 'shear': true, 'EA_shear': 1.5}, 'mass': "
                       "{'area_density': 0.2}, 'velocity': [0, -1, 0]}",
                       k ? ", " : "", k, 17 * k, at, 0.0535 + 0.0025 * k);
  snprintf(text + length, sizeof text - (size_t)length,
           "], 'obstacles': [{'type': 'cylinder', 'from': [%g, 0, 0], 'to': [%g, 0, 0], "
           "'radius': 0.05}], 'forces': ['gravity', 'contact'], 'time': {'step': 0.01, 'duration': "
           "1}, 'integrator': {'type': 'backward_euler', 'minimizer': {'type': 'newton', "
           "'tolerance': 1e-3, 'linear': {'type': 'pcg', 'preconditioner': 'multigrid'}}}}",
           at - 0.2, at + 0.2);
  for (char *c = text; *c; c++)
    if (*c == '\'') *c = '"';
  compare("pile", text);
}

TEST(a_pile_that_lands_does_not_depend_on_the_skin) {
  compare_pile(0);
}

/* Coordinates in single precision are rounded by a twentieth of the distance there. */
TEST(a_pile_far_from_the_origin_does_not_depend_on_the_skin) {
  compare_pile(1000);
}
