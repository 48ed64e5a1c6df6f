/* How a pin moves: position and velocity at a time, from where it stood at the start. */
#ifndef HK_MOTION_MOTION_H
#define HK_MOTION_MOTION_H

#include "base/schema.h"

typedef struct HkMotionType {
  HkSchema schema;
  /* Refuses parameters that make no sense together; NULL: nothing to check. */
  HkStatus (*check)(const void *params, HkError *error);
  /* x0 (m) is where the pin stood at time 0; x (m) and v (m/s) are where it is at time t (s). */
  void (*at)(const void *params, double t, const double x0[3], double x[3], double v[3]);
} HkMotionType;

/* The type that a schema belongs to, or NULL. */
const HkMotionType *hk_motion_type(const HkSchema *schema);

#endif
