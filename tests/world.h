/* A scene made into a model, a simulation and a state in one call, for tests. */
#ifndef HOOKE_TEST_WORLD_H
#define HOOKE_TEST_WORLD_H

#include "test.h"

typedef struct World {
  HkScene *scene;
  HkModel *model;
  HkSim *sim;
  HkState *state;
} World;

/* From a scene's text in single quotes, with the scene's integrator and step; all NULL and a failed
 * check if it cannot be. */
World world_parse(const char *text);
/* The same with another integrator and step (s); integrator NULL: the scene's. threads 0: all. */
World world_make(const char *text, const char *integrator, double h, int threads);
/* A built-in scene, with one value set from outside unless that is NULL. */
World world_builtin(const char *name, const char *set, int threads);
void world_destroy(World *w);
/* Whether the text of a scene has the force contact, which explicit integrators and devices may
 * refuse and whose lists grow in steps. */
bool world_has_contact(const char *text);

/* Steps; stops at the first error and reports it as a failed check. */
void world_steps(World *w, int64_t count);
HkStateInfo world_info(World *w);

#endif
