/* The loss of `hooke fit`: how far a motion is from the target, and the gradient of that. */
#ifndef HOOKE_CLI_FIT_MOTION_H
#define HOOKE_CLI_FIT_MOTION_H

#include "fit_numbers.h"
#include "fit_target.h"

/* The loss of the first `frames` frames of the target is
 *
 *     L = 1/2 sum |mean of x over the vertices of a sighting - its place|^2 / sightings
 *
 * so that sqrt(2 L) is the root of the mean square distance (m). */
typedef struct FitMotion {
  const FitTarget *target;
  FitNumbers *numbers;
  HkModel *model;
  HkSim *sim;
  HkDerivatives *by;
  double h;           /* s: divides the interval of the target */
  int64_t substeps;   /* steps in an interval */
  int64_t frames;     /* of the target that count */
  double *residual;   /* three a sighting, m */
  double *square;     /* m^2, mean square distance of each frame */
  HkAdjointInfo info; /* of the last gradient */
  size_t memory;      /* bytes of a tape */
  HkCancelFn *cancel;
} FitMotion;

/* Prepares to simulate the scene of the numbers with a step that divides the interval. */
HkStatus fit_motion_create(FitMotion *motion, FitNumbers *numbers, const FitTarget *target,
                           HkError *error);
void fit_motion_destroy(FitMotion *motion);
/* The loss at q (fit_numbers.h) and its gradient: an HkLossAtFn whose user is the FitMotion. The
 * loss of a motion that blows up is infinite. */
HkStatus fit_motion_loss(void *motion, const double *q, double *loss, double *gradient,
                         HkError *error);

#endif
