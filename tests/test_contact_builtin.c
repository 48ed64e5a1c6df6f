/* The built-in scenes with contact: no intersection at any step, by the exact test, and steps that
 * converge. HOOKE_WHOLE=1 runs them to their end, which takes minutes. */
#include "world.h"

#include "contact/contacts.h"
#include "contact/crossing.h"
#include "step/sim.h"

#include <stdlib.h>

enum { STEPS = 40, SMALL = 400, STEPS_OF_SMALL = 160 }; /* vertices of a small scene */

static HkContacts *contacts_of(const HkSim *sim) {
  for (int f = 0; f < sim->model->force_count; f++)
    if (strcmp(sim->model->forces[f].type->schema.name, "contact") == 0)
      return sim->work.states[f].state;
  return NULL;
}

static void check_scene(const char *name) {
  World w = world_builtin(name, NULL, 1);
  if (!w.sim) return;
  HkError error = {0};
  int64_t steps = w.model->n < SMALL ? STEPS_OF_SMALL : STEPS, unconverged = 0, crossings = 0,
          touched = 0, made = 0;
  double h = hk_sim_h(w.sim);
  if (getenv("HOOKE_WHOLE")) steps = (int64_t)(w.scene->time.duration / h + 0.5);
  for (HkStatus status = HK_OK; made < steps && status >= 0; made++) {
    status = hk_sim_step(w.sim, w.state, &error);
    if (status < 0) test_fail(name, 0, "step %lld: %s", (long long)made, error.text);
    HkContacts *c = contacts_of(w.sim);
    const HkTouchings *t = hk_contacts_find(c, w.sim->work.springs, w.state->x);
    unconverged += status == HK_NOT_CONVERGED;
    crossings += hk_contacts_crossings(c, w.state->x, NULL, 0);
    touched += t && t->pair_count + t->wall_count > 0;
  }
  printf("    %-16s %lld vertices, %lld steps, %lld with contact, %lld not converged\n", name,
         (long long)w.model->n, (long long)made, (long long)touched, (long long)unconverged);
  if (crossings != 0) test_fail(name, 0, "%lld intersections", (long long)crossings);
  CHECK(touched > 0 && 50 * unconverged <= made);
  world_destroy(&w);
}

TEST(built_in_scenes_with_contact_have_no_intersection_at_any_step) {
  const char *name, *text;
  int count = 0;
#if TEST_SANITIZED
  SKIP("takes minutes under a sanitizer");
#endif
  for (int q = 0; (text = hk_scene_builtin(q, &name, NULL)); q++) {
    if (!world_has_contact(text)) continue;
    check_scene(name);
    count++;
  }
  CHECK(count == 8);
}
