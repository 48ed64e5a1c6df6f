/* Random scenes as JSON text, drawn from the registries; for property tests.
 *
 * The text is appended to the note of the case (property.h), so that a failing case is shown as the
 * scene. Parameters are within the ranges of their schemas, but a scene may still be invalid: a set
 * that its shape does not have, or a selection of no vertices.
 */
#ifndef HOOKE_TEST_RANDOM_SCENE_H
#define HOOKE_TEST_RANDOM_SCENE_H

#include "property.h"

/* What to leave out of random scenes. */
typedef struct RandomSceneOptions {
  bool live;              /* one body of a shape that always compiles, pins that never release */
  bool fixed_step;        /* no adaptive steps */
  bool conservative;      /* only forces that have a potential, springs without damping */
  const char *integrator; /* NULL: any */
} RandomSceneOptions;

/* Appends a scene. */
void draw_scene(Draw *draw, const RandomSceneOptions *options);
/* Appends a method of a family: one of the registry, or the one of that name. */
void draw_method(Draw *draw, HkFamily family, const char *name);
/* Appends a force; conservative: one that has a potential. live: selections by vertices 0 .. 3. */
void draw_force(Draw *draw, bool conservative, bool live);
/* Appends a motion of pins. */
void draw_motion(Draw *draw);

#endif
