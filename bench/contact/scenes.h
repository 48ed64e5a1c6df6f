/* Scenes of the row `contact`: cloth with EA 4 N, shear 1.5 N, bending 0.1 N and 0.2 kg/m^2;
 * thickness 1 mm, distance 1 mm, h = 0.01 s, drag 0.5 1/s.
 *
 *     sphere   a sheet of 1 m falls over a ball of 0.15 m
 *     stack    five sheets of 0.5 m fall 1 mm onto each other and the ground, each turned by 17
 *              degrees against the one below
 *     twist    a sheet of 1 m whose ends turn against each other, without gravity
 *     drape    a sheet of 1 m hangs from a disc of 0.15 m in its middle and touches itself
 *     rest     the stack where it stays: the sheets begin close to their places
 *     large    N sheets of 0.5 m fall onto a cylinder
 */
#ifndef HOOKE_BENCH_CONTACT_SCENES_H
#define HOOKE_BENCH_CONTACT_SCENES_H

#include "hooke/hooke.h"

#define CONTACT_STEP 0.01

typedef enum SceneName {
  SCENE_SPHERE,
  SCENE_STACK,
  SCENE_TWIST,
  SCENE_DRAPE,
  SCENE_REST,
  SCENE_LARGE,
  SCENE_COUNT
} SceneName;

typedef struct SceneChoice {
  SceneName scene;
  int side;         /* vertices along each side of a sheet */
  int sheets;       /* of the scene large */
  bool contact;     /* false: nothing touches, and there are no obstacles */
  double tolerance; /* of newton */
  int threads;
} SceneChoice;

/* What a scene needs besides its text. */
typedef struct SceneFacts {
  const char *name;
  int sheets;
  int steps; /* of the coarsest sheet before the measured ones */
} SceneFacts;

/* A model with a simulation and a state. */
typedef struct World {
  HkScene *scene;
  HkModel *model;
  HkSim *sim;
  HkState *state;
} World;

SceneFacts scene_facts(SceneName scene);
/* The scene as JSON, valid until the next call. */
const char *scene_text(const SceneChoice *choice);
HkStatus world_make(World *world, const SceneChoice *choice, HkError *error);
void world_destroy(World *world);
/* Copies time, positions, velocities and history between states of models with the same vertices.
 */
void world_copy(const HkState *from, HkState *to);
/* Sets the state of sheets with 2 side - 1 vertices along each side to the same surfaces as those
 * of sheets with `side`. Their triangles lie in those of the coarse sheets, so that what does not
 * intersect there does not intersect here. */
void world_refine(const HkState *coarse, int side, int sheets, HkState *fine);
/* Turns the sheet of the scene twist to a helicoid, as its ends stand at a time (s). */
void world_twist(World *world, double time);

#endif
