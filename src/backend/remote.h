/* Simulations that step on a device: the host's side, with HkSim and HkState.
 *
 * Steps are asynchronous. The device holds the state until the caller reads it, which synchronizes
 * (HkStateHolder in model/state.h). The first hk_sim_step after such a read returns a blow-up that
 * the read found; it returns HK_NOT_CONVERGED, which is no error, if steps did not converge. A run
 * synchronizes at every frame and queues the steps of the next frame before it writes.
 */
#ifndef HK_BACKEND_REMOTE_H
#define HK_BACKEND_REMOTE_H

#include "backend/device.h"
#include "step/sim.h"

typedef struct HkRemote HkRemote;

/* device_settings.c: the settings of a simulation for a device; HK_ERROR_UNSUPPORTED names a method
 * that devices do not support. */
HkStatus hk_device_settings(const HkSim *sim, HkDeviceSettings *settings, HkError *error);

/* The stepper of devices. Its create loads the plug-in for the context's device, lays the model out
 * and allocates device memory; HK_ERROR_UNSUPPORTED names a method or force that devices do not
 * support. */
extern const HkStepperType hk_stepper_remote;
/* The device of a simulation; NULL: the CPU makes its steps. */
HkRemote *hk_remote_of(const HkSim *sim);

/* Makes the device hold the state, so that the plug-in may read and change it; returns a pending
 * error. */
HkStatus hk_remote_hold(HkRemote *remote, HkState *state, HkError *error);
/* Marks the state as changed on the device, after hk_remote_hold. */
void hk_remote_changed(HkRemote *remote);
/* Returns the plug-in; *device_sim becomes its simulation, *bytes the size of its reals. */
const HkDevice *hk_remote_device(const HkRemote *remote, HkDeviceSim **device_sim, int *bytes);

#endif
