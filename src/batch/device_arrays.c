/* Positions and velocities of all worlds in device memory, for programs that compute there; see
 * backend/device_array.c for those of one state. */
#include "backend/device_array.h"
#include "batch/device.h"

static HkStatus hold(HkBatch *b, const HkDevice **device, HkDeviceWorlds **worlds, HkError *error) {
  if (b->device) return hk_batch_device_hold(b->device, device, worlds, error);
  return hk_fail(error, HK_ERROR_UNSUPPORTED,
                 "this batch steps on the CPU and has no arrays on a device; use hk_batch_x and "
                 "hk_batch_v, or compile the model for the device cuda");
}

static HkStatus create(HkBatch *b, const HkDevice *device, HkDeviceWorlds *worlds,
                       HkDeviceArray **array, HkError *error) {
  int64_t count = b->count * b->model->n;
  HK_TRY(hk_device_array_create(&b->context, device, count, sizeof(double), array, error));
  (*array)->data = NULL;
  HkStatus status = device->worlds_create_array(worlds, &(*array)->data, &(*array)->device, error);
  if (status < 0) hk_device_array_destroy(array);
  return status;
}

HkStatus hk_batch_read_device(HkBatch *b, HkArrayKind kind, HkDeviceArray **array, HkError *error) {
  const HkDevice *device;
  HkDeviceWorlds *worlds;
  bool made = !*array;
  HK_TRY(hk_device_array_check(kind, error));
  HK_TRY(hold(b, &device, &worlds, error));
  if (made) HK_TRY(create(b, device, worlds, array, error));
  const HkDeviceArray *a = *array;
  if (a->count != b->count * b->model->n || a->bytes != sizeof(double))
    return hk_fail(error, HK_ERROR_INVALID,
                   "the array holds %lld vertices with %d bytes a number, but the batch has %lld "
                   "with %d",
                   (long long)a->count, a->bytes, (long long)(b->count * b->model->n),
                   (int)sizeof(double));
  HkStatus status = device->worlds_copy_to_arrays(worlds, kind == HK_POSITIONS ? a->data : NULL,
                                                  kind == HK_VELOCITIES ? a->data : NULL, error);
  if (status < 0 && made) hk_device_array_destroy(array);
  return status;
}

HkStatus hk_batch_write_device(HkBatch *b, HkArrayKind kind, const void *data, HkError *error) {
  const HkDevice *device;
  HkDeviceWorlds *worlds;
  HK_TRY(hk_device_array_check(kind, error));
  if (!data) return hk_fail(error, HK_ERROR_INVALID, "there is no address on the device");
  HK_TRY(hold(b, &device, &worlds, error));
  return hk_batch_device_take(b->device, kind == HK_POSITIONS ? data : NULL,
                              kind == HK_VELOCITIES ? data : NULL, error);
}
