/* Motions of pins: position, velocity and acceleration at a time, from the position at the start.
 */
#ifndef HK_MOTION_MOTION_H
#define HK_MOTION_MOTION_H

#include "base/schema.h"

typedef struct HkMotionType {
  HkSchema schema;
  bool rests; /* pins stay where they stood at time 0 */
  /* Reads the files that parameters name into the parameters; folder: where relative names begin,
   * or NULL. NULL: there are none. */
  HkStatus (*load)(const HkContext *context, const char *folder, void *params, HkError *error);
  /* Returns an error if parameters are inconsistent; NULL: nothing to check. */
  HkStatus (*check)(const void *params, HkError *error);
  /* Computes x (m), v (m/s) and, unless it is NULL, a (m/s^2) at time t (s) from x0 (m), the
   * position at time 0. If v jumps at t, v and a are the limits from later times; the infinite
   * acceleration of the jump is not in a. */
  void (*at)(const void *params, double t, const double x0[3], double x[3], double v[3],
             double a[3]);
} HkMotionType;

/* Returns the type of a schema, or NULL. */
const HkMotionType *hk_motion_type(const HkSchema *schema);

#endif
