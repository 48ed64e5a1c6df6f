/* The largest stable step of an explicit integrator; hk_sim_stable_step estimates it from nothing.
 */
#ifndef HK_STEP_STABILITY_H
#define HK_STEP_STABILITY_H

#include "step/sim.h"

/* A start of the power method: the same numbers in -1 .. 1 each time. */
void hk_stability_start(double *mode, int64_t count);
/* The largest stable step (s) near a state by so many iterations from the mode (3 n), which is the
 * start of the next call; an estimate from above. Uses sim->f. */
double hk_stability_follow(HkSim *sim, const HkState *state, double *mode, int iterations);

#endif
