/* The registry of motions. */
#include "motion/motion.h"

#define HK_MOTION_TYPE(name) extern const HkMotionType hk_motion_##name;
#include "motion/motion.def"
#undef HK_MOTION_TYPE

static const HkMotionType *const motions[] = {
#define HK_MOTION_TYPE(name) &hk_motion_##name,
#include "motion/motion.def"
#undef HK_MOTION_TYPE
};

enum { MOTION_COUNT = sizeof motions / sizeof motions[0] };

const HkSchema *hk_motion_schema(int index) {
  return index >= 0 && index < MOTION_COUNT ? &motions[index]->schema : NULL;
}

const HkMotionType *hk_motion_type(const HkSchema *schema) {
  for (int k = 0; k < MOTION_COUNT; k++)
    if (&motions[k]->schema == schema) return motions[k];
  return NULL;
}
