/* Motions of pins: position, velocity and acceleration at a time, from the position at the start.
 */
#ifndef HK_MOTION_MOTION_H
#define HK_MOTION_MOTION_H

#include "base/schema.h"

/* Receives the derivatives dx/dp and dv/dp of position and velocity of a motion with respect to a
 * parameter p, which is a number in its parameter struct or in its table. */
typedef struct HkMotionSink HkMotionSink;
struct HkMotionSink {
  void (*number)(HkMotionSink *sink, const double *number, const double dx[3], const double dv[3]);
};

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
  /* The parameters by which the motion can be differentiated, such as "amplitude"; NULL: none. x is
   * linear in x0 in any case. */
  const char *differentiable;
  void (*columns)(const void *params, double t, HkMotionSink *sink);
} HkMotionType;

/* Returns the type of a schema, or NULL. */
const HkMotionType *hk_motion_type(const HkSchema *schema);

#endif
