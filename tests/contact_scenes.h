/* Scenes that try to make things pass through each other, and an account of what they did.
 *
 * After every step the run counts
 *
 *     crossings   edges that pass through triangles, by the exact test of the library
 *     least gap   of the pairs that the library takes for touching
 *     by hand     the least gap of all points and triangles, and of all edges, that share no
 *                 vertex, by code of its own that looks at every pair
 *     escapes     what is on the wrong side though nothing crosses now: a body below the sheet
 *                 that holds it, a vertex below the ground, two rings that are no longer linked
 */
#ifndef HOOKE_TEST_CONTACT_SCENES_H
#define HOOKE_TEST_CONTACT_SCENES_H

#include "hooke/hooke.h"

typedef struct ContactCase {
  int scene;              /* from 0 to contact_scene_count() - 1 */
  int size;               /* 1: some 100 vertices; lengths of edges go with 1 / size */
  double h;               /* s */
  const char *integrator; /* its name */
  const char *linear;     /* JSON of the linear solver of newton, in single quotes */
  const char *minimizer;  /* JSON of another minimizer, in single quotes; NULL: newton */
  int threads;
  double distance, thickness; /* m, of contact; 0: 2e-3 */
  double friction;            /* coefficient; 0: that of the scene */
  uint64_t seed;              /* of the random displacements at the start; 0: there are none */
  int64_t steps;              /* at most */
  double seconds;             /* of time; a run that takes longer ends within the step */
  bool renews;                /* repeats each step with a new simulation, and compares the bits */
} ContactCase;

typedef struct ContactResult {
  int64_t vertices, steps;
  int64_t iterations, most_iterations; /* of the minimizer: sum, and most of a step */
  int64_t linear_iterations, unconverged, searches;
  int64_t crossings, escapes;
  int64_t differences;             /* steps that a new simulation makes differently */
  double least_gap, least_by_hand; /* m */
  double seconds;                  /* of the steps, without the checks */
  bool late;                       /* the time was over */
  char error[1600];                /* of the library, or what is wrong; empty: nothing */
} ContactResult;

int contact_scene_count(void);
const char *contact_scene_name(int scene);
/* Duration (s) within which the interesting things of a scene happen. */
double contact_scene_duration(int scene);
/* The scene as JSON; the caller frees it. */
char *contact_scene_text(const ContactCase *choice);
/* The largest stable step (s) of the integrator at the start of a case, NAN after an error. */
double contact_stable_step(const ContactCase *choice);
/* Runs a case. What went wrong is in the result. */
void contact_run(const ContactCase *choice, ContactResult *result);
/* Whether a result shows an intersection, an error, or numbers that are not finite. */
bool contact_failed(const ContactResult *result);

#endif
