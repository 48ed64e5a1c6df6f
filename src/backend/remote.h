/* Simulations that step on a device: the host's side, with HkSim and HkState.
 *
 * Steps are asynchronous. The device holds the state until the caller reads it, which synchronizes
 * (HkStateHolder in model/state.h). The first hk_step after such a read returns a blow-up that the
 * read found; it returns HK_NOT_CONVERGED, which is no error, if steps did not converge. A run
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

/* Loads the plug-in for the context's device, lays the model out and allocates device memory.
 * HK_ERROR_UNSUPPORTED names a method or force that devices do not support. */
HkStatus hk_remote_create(HkSim *sim, HkRemote **remote, HkError *error);
void hk_remote_destroy(HkRemote **remote);
/* Bytes of host memory that it holds. */
size_t hk_remote_bytes(const HkRemote *remote);
/* Queues steps as hk_sim_steps makes them. The status is that of earlier steps which have been
 * fetched since the last call. */
HkStatus hk_remote_steps(HkRemote *remote, HkState *state, int64_t count, const HkClock *clock,
                         HkError *error);
/* Synchronizes: copies the state to the host and checks it for a blow-up. *report becomes the step
 * info of the last hk_remote_steps. Returns HK_NOT_CONVERGED if a step did not converge whose
 * status no earlier call has returned. */
HkStatus hk_remote_settle(HkRemote *remote, HkState *state, HkDeviceReport *report, HkError *error);
/* Synchronizes so that sim->report is the step info of the last step. */
void hk_remote_look(HkRemote *remote);
/* Queues the steps that the caller will ask for next; the state on the host does not change. */
HkStatus hk_remote_run_ahead(HkRemote *remote, HkState *state, int64_t count, const HkClock *clock,
                             HkError *error);
/* Makes the device hold the state, so that the plug-in may read and change it; returns a pending
 * error. */
HkStatus hk_remote_hold(HkRemote *remote, HkState *state, HkError *error);
/* Marks the state as changed on the device, after hk_remote_hold. */
void hk_remote_changed(HkRemote *remote);
/* Returns the plug-in; *device_sim becomes its simulation, *bytes the size of its reals. */
const HkDevice *hk_remote_device(const HkRemote *remote, HkDeviceSim **device_sim, int *bytes);

#endif
