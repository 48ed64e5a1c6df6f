/* Simulations whose steps a device makes: the side of HkSim and HkState.
 *
 * Steps are queued on the device and made while the caller goes on; the state that was stepped is
 * held there until someone looks at it (HkStateHolder in model/state.h). So a blow-up is told by
 * the next call of hk_step that comes after the state was looked at. A run settles every frame, and
 * then has the steps of the next one made while it writes. Steps that did not converge are told in
 * the same way, by HK_NOT_CONVERGED, which is no error: the steps that were asked for are made.
 */
#ifndef HK_BACKEND_REMOTE_H
#define HK_BACKEND_REMOTE_H

#include "backend/device.h"
#include "step/sim.h"

typedef struct HkRemote HkRemote;

/* device_settings.c: how a device makes the steps of a simulation; what it does not do is refused
 * by name. */
HkStatus hk_device_settings(const HkSim *sim, HkDeviceSettings *settings, HkError *error);

/* Lays the model out and takes memory of the device that the context asks for; what it does not do
 * is refused by name. */
HkStatus hk_remote_create(HkSim *sim, HkRemote **remote, HkError *error);
void hk_remote_destroy(HkRemote **remote);
/* Memory of this machine that it holds. */
size_t hk_remote_bytes(const HkRemote *remote);
/* As hk_sim_steps; what it tells is how steps before these went, as far as it is known. */
HkStatus hk_remote_steps(HkRemote *remote, HkState *state, int64_t count, const HkClock *clock,
                         HkError *error);
/* Waits, brings the state here and checks it; *report: how the steps of the last hk_remote_steps
 * went. HK_NOT_CONVERGED if any of them, or of those before that no one was told of, did not. */
HkStatus hk_remote_settle(HkRemote *remote, HkState *state, HkDeviceReport *report, HkError *error);
/* Has sim->report say how the last step went, even if no one has looked at the state since. */
void hk_remote_look(HkRemote *remote);
/* Queues steps that will be asked for next; the state here stays as it is. */
HkStatus hk_remote_run_ahead(HkRemote *remote, HkState *state, int64_t count, const HkClock *clock,
                             HkError *error);
/* Has the state on the device, where the plug-in may read and change it; an error that waited to be
 * told is told. */
HkStatus hk_remote_hold(HkRemote *remote, HkState *state, HkError *error);
/* After that, when it was changed there. */
void hk_remote_changed(HkRemote *remote);
/* The plug-in, its simulation, and the bytes of a number there. */
const HkDevice *hk_remote_device(const HkRemote *remote, HkDeviceSim **card, int *bytes);

#endif
