/* Blow-up detection: the kinetic energy exceeds a bound or is not finite. */
#ifndef HK_STEP_BLOWUP_H
#define HK_STEP_BLOWUP_H

#include "step/sim.h"

/* Estimates the bound from the model's energies, once. */
void hk_blowup_prepare(HkSim *sim);
/* Records the largest initial speed of a state. */
void hk_blowup_begin(const HkSim *sim, HkState *state);
/* Estimates the bound again after a live change of the model. */
void hk_blowup_renew(HkSim *sim, HkState *state);
/* Returns HK_ERROR_BLOWUP with time, vertex and spring if the kinetic energy exceeds the bound. */
HkStatus hk_blowup_check(HkSim *sim, HkState *state, HkError *error);
/* Returns HK_ERROR_BLOWUP if the relative gradient of a step is NAN: forces are not finite, and the
 * minimizer could not move. */
HkStatus hk_blowup_check_gradient(HkSim *sim, HkState *state, double gradient, HkError *error);
/* Writes advice with the largest stable step of the start and of the present state, which must be
 * closed.
 */
void hk_blowup_advise(HkSim *sim, const HkState *state, char *text, size_t size);
/* HK_ERROR_BLOWUP of a closed state: what has grown, the vertex with most kinetic energy, its
 * spring with the largest force, and an advice. */
HkStatus hk_blowup_fail(const HkSim *sim, const HkState *state, const char *what,
                        const char *advice, HkError *error);

#endif
