/* Arrays in device memory that callers own: HkDeviceArray. */
#ifndef HK_BACKEND_DEVICE_ARRAY_H
#define HK_BACKEND_DEVICE_ARRAY_H

#include "backend/device.h"
#include "hooke/device.h"

/* Makes an array of `count` vertices with `bytes` a number, without memory on the device: the
 * caller sets data and device. */
HkStatus hk_device_array_create(const HkContext *context, const HkDevice *device, int64_t count,
                                int bytes, HkDeviceArray **array, HkError *error);
/* An error unless kind is an array of a state. */
HkStatus hk_device_array_check(HkArrayKind kind, HkError *error);

#endif
