/* Which device makes the steps where the caller leaves the choice (HK_AUTO). */
#ifndef HK_STEP_CHOOSE_DEVICE_H
#define HK_STEP_CHOOSE_DEVICE_H

#include "step/sim.h"

/* Returns whether a GPU makes the steps of so many vertices faster than the CPU does; logs the
 * choice of the CPU if not. */
bool hk_device_pays(const HkContext *context, const HkStepType *type, int64_t vertices);

#endif
