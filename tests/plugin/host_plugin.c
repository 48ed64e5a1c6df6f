/* A libhooke_cuda that needs no GPU: tests load it in the place of the real one. With the variable
 * HOOKE_TEST_NO_GPU it says that there is none, with HOOKE_TEST_SMALL_GPU it has little memory.
 */
#include "backend/device.h"

#include <stdio.h>
#include <stdlib.h>

extern const HkDevice host_single, host_double, host_worlds_single, host_worlds_double, hk_device;
extern const HkDeviceSheets host_sheets_single, host_sheets_double;

struct HkDeviceSim {
  HkDeviceSettings settings;
};

static const HkDevice *device_of(const HkDeviceSettings *settings) {
  return hk_device_is_double(settings) ? &host_double : &host_single;
}

static HkStatus device_info(HkDeviceInfo *info, HkError *error) {
  if (getenv("HOOKE_TEST_NO_GPU")) {
    if (error) {
      *error = (HkError){.status = HK_ERROR_UNSUPPORTED};
      snprintf(error->text, sizeof error->text, "there is no GPU");
    }
    return HK_ERROR_UNSUPPORTED;
  }
  *info = (HkDeviceInfo){.bytes = 1e9, .bytes_free = getenv("HOOKE_TEST_SMALL_GPU") ? 1e3 : 1e9};
  snprintf(info->name, sizeof info->name, "the host");
  return HK_OK;
}

static double need(const HkDeviceModel *model, const HkDeviceSettings *settings) {
  (void)settings;
  return 200.0 * (double)model->layout->n;
}

static HkStatus create(const HkDeviceModel *model, const HkDeviceSettings *settings,
                       HkDeviceSim **sim, HkError *error) {
  return device_of(settings)->create(model, settings, sim, error);
}

static void destroy(HkDeviceSim **sim) {
  if (*sim) device_of(&(*sim)->settings)->destroy(sim);
}

static HkStatus set_h(HkDeviceSim *sim, double h, HkError *error) {
  return device_of(&sim->settings)->set_h(sim, h, error);
}

static HkStatus upload(HkDeviceSim *sim, const HkDeviceState *state, HkError *error) {
  return device_of(&sim->settings)->upload(sim, state, error);
}

static HkStatus steps(HkDeviceSim *sim, const HkDeviceTimes *times, HkError *error) {
  return device_of(&sim->settings)->steps(sim, times, error);
}

static HkStatus wait(HkDeviceSim *sim, HkError *error) {
  (void)sim;
  (void)error;
  return HK_OK;
}

static HkStatus record(HkDeviceSim *sim, HkError *error) {
  return device_of(&sim->settings)->record(sim, error);
}

static HkStatus fetch(HkDeviceSim *sim, HkDeviceSnapshot *snapshot, HkDeviceStepsInfo *info,
                      HkError *error) {
  return device_of(&sim->settings)->fetch(sim, snapshot, info, error);
}

static HkStatus create_array(HkDeviceSim *sim, void **array, int *number, HkError *error) {
  return device_of(&sim->settings)->create_array(sim, array, number, error);
}

static HkStatus copy_to_arrays(HkDeviceSim *sim, void *x, void *v, HkError *error) {
  return device_of(&sim->settings)->copy_to_arrays(sim, x, v, error);
}

static HkStatus copy_from_arrays(HkDeviceSim *sim, const void *x, const void *v, HkError *error) {
  return device_of(&sim->settings)->copy_from_arrays(sim, x, v, error);
}

/* ---- Worlds ---- */

struct HkDeviceWorlds {
  HkDeviceSettings settings;
};

static const HkDevice *worlds_of(const HkDeviceSettings *settings) {
  bool is_double = settings->checked || settings->step == HK_DEVICE_NEWTON;
  return is_double ? &host_worlds_double : &host_worlds_single;
}

static double worlds_need(const HkDeviceWorldsModel *model, const HkDeviceSettings *settings) {
  (void)settings;
  return 100.0 * (double)(model->count * model->n);
}

/* As many as an H200 has shared memory for, in double precision. */
static int64_t worlds_most(const HkDeviceSettings *settings) {
  return settings->step == HK_DEVICE_NEWTON ? 2710 : 3100;
}

static HkStatus worlds_create(const HkDeviceWorldsModel *model, const HkDeviceSettings *settings,
                              HkDeviceWorlds **worlds, HkError *error) {
  return worlds_of(settings)->worlds_create(model, settings, worlds, error);
}

static void worlds_destroy(HkDeviceWorlds **worlds) {
  if (*worlds) worlds_of(&(*worlds)->settings)->worlds_destroy(worlds);
}

static HkStatus worlds_set(HkDeviceWorlds *worlds, const HkDeviceWorldsParameters *parameters,
                           HkError *error) {
  return worlds_of(&worlds->settings)->worlds_set(worlds, parameters, error);
}

static HkStatus worlds_upload(HkDeviceWorlds *worlds, int64_t first, int64_t count, const double *x,
                              const double *v, HkError *error) {
  return worlds_of(&worlds->settings)->worlds_upload(worlds, first, count, x, v, error);
}

static HkStatus worlds_fetch(HkDeviceWorlds *worlds, int64_t first, int64_t count, double *x,
                             double *v, HkError *error) {
  return worlds_of(&worlds->settings)->worlds_fetch(worlds, first, count, x, v, error);
}

static HkStatus worlds_steps(HkDeviceWorlds *worlds, const HkDeviceWorldsTimes *times,
                             HkDeviceStepsInfo *info, HkError *error) {
  return worlds_of(&worlds->settings)->worlds_steps(worlds, times, info, error);
}

static HkStatus worlds_create_array(HkDeviceWorlds *worlds, void **array, int *number,
                                    HkError *error) {
  return worlds_of(&worlds->settings)->worlds_create_array(worlds, array, number, error);
}

static HkStatus worlds_copy_to_arrays(HkDeviceWorlds *worlds, void *x, void *v, HkError *error) {
  return worlds_of(&worlds->settings)->worlds_copy_to_arrays(worlds, x, v, error);
}

static HkStatus worlds_copy_from_arrays(HkDeviceWorlds *worlds, const void *x, const void *v,
                                        const uint8_t *held, HkError *error) {
  return worlds_of(&worlds->settings)->worlds_copy_from_arrays(worlds, x, v, held, error);
}

const HkDevice hk_device = {.version = HK_DEVICE_VERSION,
                            .name = "cuda",
                            .kind = 1,
                            .info = device_info,
                            .need = need,
                            .create = create,
                            .destroy = destroy,
                            .set_h = set_h,
                            .upload = upload,
                            .steps = steps,
                            .wait = wait,
                            .record = record,
                            .fetch = fetch,
                            .create_array = create_array,
                            .destroy_array = free,
                            .copy_to_arrays = copy_to_arrays,
                            .copy_from_arrays = copy_from_arrays,
                            .worlds_need = worlds_need,
                            .worlds_most = worlds_most,
                            .worlds_create = worlds_create,
                            .worlds_destroy = worlds_destroy,
                            .worlds_set = worlds_set,
                            .worlds_upload = worlds_upload,
                            .worlds_fetch = worlds_fetch,
                            .worlds_steps = worlds_steps,
                            .worlds_create_array = worlds_create_array,
                            .worlds_copy_to_arrays = worlds_copy_to_arrays,
                            .worlds_copy_from_arrays = worlds_copy_from_arrays,
                            .sheets_single = &host_sheets_single,
                            .sheets_double = &host_sheets_double};
