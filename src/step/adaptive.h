/* Steps that are halved until their error is small enough. */
#ifndef HK_STEP_ADAPTIVE_H
#define HK_STEP_ADAPTIVE_H

#include "step/sim.h"

HkStatus hk_adaptive_create(HkSim *sim, HkError *error);
void hk_adaptive_destroy(HkSim *sim);
/* Moves the state by sim->h in as many parts as time.tolerance asks for. */
HkStatus hk_adaptive_step(HkSim *sim, HkState *state, HkError *error);

#endif
