/* Positions and velocities in device memory, for programs that compute there: HkDeviceArray.
 *
 * The plug-in, which stays loaded until the program ends, allocates the memory, and the array owns
 * it. So the array outlives the simulation, and stays valid when a changed model gets a new layout.
 */
#include "backend/device_array.h"

#include "backend/remote.h"

typedef struct Array {
  HkDeviceArray shown; /* first member: the public struct */
  HkContext context;
  const HkDevice *device;
} Array;

/* Makes the device hold the state, or returns why it cannot. */
static HkStatus hold(HkSim *sim, HkState *state, HkError *error) {
  if (!hk_remote_of(sim))
    return hk_fail(error, HK_ERROR_UNSUPPORTED,
                   "this simulation steps on the CPU and has no arrays on a device; use the "
                   "state's own, or compile the model for the device cuda");
  HK_TRY(hk_state_check(state, sim->model, error));
  return hk_remote_hold(hk_remote_of(sim), state, error);
}

HkStatus hk_device_array_check(HkArrayKind kind, HkError *error) {
  if (kind == HK_POSITIONS || kind == HK_VELOCITIES) return HK_OK;
  return hk_fail(error, HK_ERROR_INVALID, "a state has no array %d", (int)kind);
}

HkStatus hk_device_array_create(const HkContext *c, const HkDevice *device, int64_t count,
                                int bytes, HkDeviceArray **array, HkError *error) {
  Array *a = NULL;
  HK_TRY(hk_alloc(c, &a, 1, sizeof *a, "an array on a device", error));
  a->context = *c;
  a->device = device;
  a->shown.count = count;
  a->shown.bytes = bytes;
  a->shown.memory = (HkMemoryKind)device->kind;
  *array = &a->shown;
  return HK_OK;
}

static HkStatus create(const HkSim *sim, HkDeviceArray **array, HkError *error) {
  HkDeviceSim *device_sim;
  int bytes;
  const HkDevice *device = hk_remote_device(hk_remote_of(sim), &device_sim, &bytes);
  HK_TRY(hk_device_array_create(&sim->model->context, device, sim->model->n, bytes, array, error));
  HkStatus status = device->create_array(device_sim, &(*array)->data, &(*array)->device, error);
  if (status < 0) hk_device_array_destroy(array);
  return status;
}

HkStatus hk_sim_read_device(HkSim *sim, HkState *state, HkArrayKind kind, HkDeviceArray **array,
                            HkError *error) {
  HkDeviceSim *device_sim;
  int bytes;
  bool made = !*array;
  HK_TRY(hk_device_array_check(kind, error));
  HK_TRY(hold(sim, state, error));
  if (made) HK_TRY(create(sim, array, error));
  const HkDevice *device = hk_remote_device(hk_remote_of(sim), &device_sim, &bytes);
  const HkDeviceArray *a = *array;
  if (a->count != state->n || a->bytes != bytes)
    return hk_fail(error, HK_ERROR_INVALID,
                   "the array holds %lld vertices with %d bytes a number, but the state has %lld "
                   "with %d",
                   (long long)a->count, a->bytes, (long long)state->n, bytes);
  HkStatus status = device->copy_to_arrays(device_sim, kind == HK_POSITIONS ? a->data : NULL,
                                           kind == HK_VELOCITIES ? a->data : NULL, error);
  if (status < 0 && made) hk_device_array_destroy(array);
  return status;
}

HkStatus hk_sim_write_device(HkSim *sim, HkState *state, HkArrayKind kind, const void *data,
                             HkError *error) {
  HkDeviceSim *device_sim;
  int bytes;
  HK_TRY(hk_device_array_check(kind, error));
  if (!data) return hk_fail(error, HK_ERROR_INVALID, "there is no address on the device");
  HK_TRY(hold(sim, state, error));
  const HkDevice *device = hk_remote_device(hk_remote_of(sim), &device_sim, &bytes);
  HK_TRY(device->copy_from_arrays(device_sim, kind == HK_POSITIONS ? data : NULL,
                                  kind == HK_VELOCITIES ? data : NULL, error));
  hk_remote_changed(hk_remote_of(sim));
  return HK_OK;
}

void hk_device_array_destroy(HkDeviceArray **array) {
  Array *a = (Array *)*array;
  if (!a) return;
  HkContext c = a->context;
  if (a->shown.data) a->device->destroy_array(a->shown.data);
  hk_free(&c, &a);
  *array = NULL;
}
