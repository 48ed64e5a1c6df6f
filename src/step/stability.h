/* The largest stable step of an explicit integrator; hk_sim_stable_step estimates it without an
 * earlier mode.
 */
#ifndef HK_STEP_STABILITY_H
#define HK_STEP_STABILITY_H

#include "step/sim.h"

/* Fills the start vector of a power iteration with the same pseudo-random numbers in -1 .. 1 each
 * time. */
void hk_stability_start(const HkModel *model, double *mode);
/* Returns an upper bound of the largest stable step (s) near a state, by power iterations from the
 * mode (3 n), which is updated. Overwrites sim->f. */
double hk_stability_follow(HkSim *sim, const HkState *state, double *mode, int iterations);

#endif
