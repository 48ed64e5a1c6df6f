/* Batches whose worlds are moved by a device, one thread block a world (backend/gpu/world.h). */
#ifndef HK_BATCH_DEVICE_H
#define HK_BATCH_DEVICE_H

#include "backend/device.h"
#include "batch/batch.h"

typedef struct HkBatchDevice HkBatchDevice;

/* Chooses the integrator with all that is nested in it for worlds on a device; step NULL: that of
 * the model. The caller clears it. */
HkStatus hk_batch_device_method(const HkModel *model, const HkMethod *step, HkMethod *method,
                                HkError *error);
/* Prepares the device of a batch whose worlds exist; HK_ERROR_UNSUPPORTED names what worlds on a
 * device do not support. */
HkStatus hk_batch_device_create(HkBatch *batch, HkDeviceKind kind, HkBatchDevice **device,
                                HkError *error);
/* After the states of the worlds are destroyed. */
void hk_batch_device_destroy(HkBatchDevice **device);
size_t hk_batch_device_bytes(const HkBatchDevice *device);
/* Moves worlds until each has made its goal, has an error, or `stops` returns true. */
HkStatus hk_batch_device_steps(HkBatchDevice *device, bool (*stops)(void *batch), HkError *error);
/* Has the device hold all states, so that arrays may be copied from and to it; *plugin and *worlds
 * become the plug-in with its worlds. */
HkStatus hk_batch_device_hold(HkBatchDevice *device, const HkDevice **plugin,
                              HkDeviceWorlds **worlds, HkError *error);
/* Takes positions or velocities from addresses on the device, after hk_batch_device_hold. */
HkStatus hk_batch_device_take(HkBatchDevice *device, const void *x, const void *v, HkError *error);

#endif
