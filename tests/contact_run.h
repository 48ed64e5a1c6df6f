/* Runs of scenes that try to make things pass through each other (contact_scenes.h).
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
#ifndef HOOKE_TEST_CONTACT_RUN_H
#define HOOKE_TEST_CONTACT_RUN_H

#include "contact_scenes.h"

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

/* The largest stable step (s) of the integrator at the start of a case, NAN after an error. */
double contact_stable_step(const ContactCase *choice);
/* Runs a case. What went wrong is in the result. */
void contact_run(const ContactCase *choice, ContactResult *result);
/* Whether a result shows an intersection, an error, or numbers that are not finite. */
bool contact_failed(const ContactResult *result);

#endif
