/* Pieces of scenes for tests of contact; see sheets.h. */
#include "sheets.h"

#include "step/sim.h"

#include <string.h>

HkContacts *sheets_contacts(const World *w) {
  for (int f = 0; f < w->model->force_count; f++)
    if (strcmp(w->model->forces[f].type->schema.name, "contact") == 0)
      return w->sim->work.states[f].state;
  return NULL;
}

double sheets_mean_height(const World *w, int body) {
  const HkBodyRange *range = &w->model->bodies[body];
  double sum = 0;
  for (int64_t v = 0; v < range->count; v++) sum += w->state->x[3 * (range->first + v) + 1];
  return sum / (double)range->count;
}

HkScene *sheets_parse(const char *text, const HkContext *context, HkError *error) {
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
