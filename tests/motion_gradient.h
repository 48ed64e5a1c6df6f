/* Gradients of the motions of small scenes against central differences of the motions themselves,
 * by every number that a motion depends on; and both directions of differentiation against each
 * other.
 */
#ifndef HOOKE_TEST_MOTION_GRADIENT_H
#define HOOKE_TEST_MOTION_GRADIENT_H

#include "world.h"

#include "hooke/adjoint.h"

typedef struct GradientCase {
  const char *name, *text;
  double h;         /* s; 0: 0.01 */
  int settle;       /* steps before the motion begins */
  int steps;        /* of the motion; 0: 10 */
  double length;    /* m, by which positions change in differences; 0: 1 */
  double tolerance; /* of gradients, relative; 0: 1e-6 */
  double accuracy;  /* tolerance of the minimizer; 0: 1e-14 */
  const char *only; /* what changes in differences, as "mass k l0"; NULL: everything */
} GradientCase;

/* The world of a case whose steps are solved to rounding: differences of two motions have no other
 * digits. */
World gradient_world(const GradientCase *c, const char *integrator);
/* Random numbers that stay the same, for coordinate c of what is called `salt`. */
double gradient_weight(int64_t c, uint64_t salt);
/* A loss that is quadratic in positions and velocities in the middle and at the end of the motion
 * of a case, and its gradient, an HkLossFn whose user is GRADIENT_USER(the case). */
double gradient_loss(const GradientCase *c, const HkState *state, int64_t step);
void gradient_add_loss(void *user, int64_t step, const HkState *state, double *dx, double *dv);
#define GRADIENT_USER(scene) (&(const GradientCase *){scene})
/* Checks that each derivative is that of central differences. */
void gradient_check(const GradientCase *c, const char *integrator);
/* Checks that <u, J p> = <J^T u, p> for random u and p, to 1e-12. */
void gradient_check_transpose(const GradientCase *c, const char *integrator);

#endif
