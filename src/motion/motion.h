/* How a pin moves: position, velocity and acceleration at a time, from where it stood at the start.
 */
#ifndef HK_MOTION_MOTION_H
#define HK_MOTION_MOTION_H

#include "base/schema.h"

typedef struct HkMotionType {
  HkSchema schema;
  bool rests; /* pins stay where they stood at time 0 */
  /* Refuses parameters that make no sense together; NULL: nothing to check. */
  HkStatus (*check)(const void *params, HkError *error);
  /* x0 (m) is where the pin stood at time 0; x (m), v (m/s) and, unless it is NULL, a (m/s^2) are
   * those at time t (s). Where the slope of a motion jumps, v and a are those of the time to come:
   * the blow of the jump itself, which is infinite, is left out of a. */
  void (*at)(const void *params, double t, const double x0[3], double x[3], double v[3],
             double a[3]);
} HkMotionType;

/* The type that a schema belongs to, or NULL. */
const HkMotionType *hk_motion_type(const HkSchema *schema);

#endif
