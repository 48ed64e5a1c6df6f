/* The energy that a force has taken from springs since the start of the motion: the memory of
 * forces that change springs at the end of a step. */
#ifndef HK_FORCE_LOST_ENERGY_H
#define HK_FORCE_LOST_ENERGY_H

#include "force/force.h"

/* HkForceType.create_state, destroy_state, state_bytes, load and lost of such forces. */
HkStatus hk_lost_energy_create(const HkModel *model, const void *params, const void *data,
                               void **state, HkError *error);
void hk_lost_energy_destroy(const HkModel *model, void *state);
size_t hk_lost_energy_bytes(const void *state);
HkStatus hk_lost_energy_load(const HkForceArgs *a, HkError *error);
double hk_lost_energy(const HkForceArgs *a);
/* In end_step: adds what this step has taken (J). */
HkStatus hk_lost_energy_add(const HkForceArgs *a, double energy, HkError *error);

#endif
