/* libhooke_cuda: the plug-in for NVIDIA GPUs; see backend/device.h. */
#define HK_SPACE hk_plugin
#include "base.cuh"
#include "worlds.h"

extern "C" const HkDevice hk_cuda_single, hk_cuda_double;
extern "C" const HkCudaWorlds hk_cuda_worlds_single, hk_cuda_worlds_double;
extern "C" const HkDeviceSheets hk_cuda_sheets_single, hk_cuda_sheets_double;

/* Simulations of both precisions begin with their settings. */
struct HkDeviceSim {
  HkDeviceSettings settings;
};

static const HkDevice *device_of(const HkDeviceSettings *settings) {
  return hk_device_is_double(settings) ? &hk_cuda_double : &hk_cuda_single;
}

static HkStatus device_info(HkDeviceInfo *info, HkError *error) {
  int count = 0;
  cudaDeviceProp properties;
  size_t bytes_free, bytes;
  cudaError_t code = cudaGetDeviceCount(&count);
  if (code == cudaErrorInsufficientDriver || code == cudaErrorNoDevice || count == 0)
    return hk_plugin::fail(error, HK_ERROR_UNSUPPORTED,
                           "this machine has no NVIDIA GPU, or its driver is missing or too old "
                           "(%s); choose the device cpu",
                           cudaGetErrorString(code));
  if (code == cudaSuccess) code = cudaGetDeviceProperties(&properties, 0);
  if (code == cudaSuccess) code = cudaMemGetInfo(&bytes_free, &bytes);
  if (code != cudaSuccess) return hk_plugin::check(code, "answer", error);
  snprintf(info->name, sizeof info->name, "%.100s", properties.name);
  info->bytes = (double)bytes;
  info->bytes_free = (double)bytes_free;
  info->shared_bytes = (double)properties.sharedMemPerBlockOptin;
  return HK_OK;
}

static double list_bytes(const HkGpuLists *lists) {
  return 8.0 * (double)hk_gpu_list_entries(lists);
}

/* Returns the bytes of the levels of multigrid and of the vectors around them. */
static double multigrid_need(const HkGpuHierarchy *h) {
  double bytes = 6.0 * (double)h->level[0].n * sizeof(double);
  for (int k = 0; k < h->count; k++) {
    const HkGpuLevel *l = &h->level[k];
    const HkGpuLists *lists[] = {&l->prolong,   &l->restrict_to, &l->pair_entries,
                                 &l->pair_rows, &l->row_rows,    &l->row_entries};
    double entry = (k == 0 ? 4 : 6) * sizeof(float);
    bytes += (double)hk_gpu_level_entries(l) * (4 + entry) + 8.0 * (double)l->pair_count;
    bytes += (double)l->n * (14 + (k == 0 ? 16 : 20)) * sizeof(float);
    for (int q = 0; q < 6; q++) bytes += list_bytes(lists[q]);
  }
  return bytes;
}

/* Returns the bytes of the arrays that grow with the model; all others are small. */
static double need(const HkDeviceModel *m, const HkDeviceSettings *settings) {
  const HkGpuLayout *l = m->layout;
  double real = hk_device_is_double(settings) ? sizeof(double) : sizeof(float), n = (double)l->n;
  double bytes = n * (2 * 4 + 3 + 1 + 6) * real + n * sizeof *l->order + 4.0 * (double)l->words;
  double slots = l->brick_count > 0 ? 2.0 * (double)l->words : (double)l->words;
  bytes += ((l->l0 != NULL) + (l->stiffness != NULL)) * slots * real;
  if (l->damped || l->threads || l->near) bytes += 3 * n * real;
  if (settings->step == HK_DEVICE_VERLET && settings->uses_velocity) bytes += 3 * n * real;
  if (settings->step == HK_DEVICE_JACOBI) bytes += 2 * 4 * n * real;
  if (settings->step >= HK_DEVICE_BLOCK_DESCENT) {
    bool uses_majorizer =
        m->face_count > 0 || m->medium_parts & (HK_GPU_QUADRATIC_DRAG | HK_GPU_BUOYANCY);
    bytes += (l->damped || l->threads || uses_majorizer ? 8 : 4) * n * real;
    if (uses_majorizer) bytes += (10 * n + 6 * (double)m->face_count) * real;
    if (uses_majorizer && m->hierarchy && settings->passes > 1) bytes += 4 * n * real;
  }
  if (settings->step >= HK_DEVICE_NEWTON)
    bytes += (3 * 4 + 3 * 3 + (m->hierarchy ? 0 : 6)) * n * real;
  if (m->hierarchy) bytes += multigrid_need(m->hierarchy);
  if (hk_device_remembers(settings)) bytes += 2 * 3 * n * real;
  if (settings->step == HK_DEVICE_BDF2)
    bytes += (4 + 3 + (l->damped || l->threads ? 4 : 0)) * n * real;
  if (m->hierarchy && settings->passes > 1) bytes += 4 * n * real; /* with media */
  if (m->face_count > 0 || m->gripped > 0) bytes += 3 * n * real;
  if (m->face_count > 0) bytes += 4 * n + (double)m->face_count * (3 * 4 + 3 * 4 + 3 * real);
  if (l->brick_count > 0) bytes += 4.0 * (double)l->halo_start[l->brick_count];
  return bytes + 48 * n + 1e6; /* 48: doubles of an upload */
}

static HkStatus create(const HkDeviceModel *m, const HkDeviceSettings *settings, HkDeviceSim **sim,
                       HkError *error) {
  return device_of(settings)->create(m, settings, sim, error);
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
  return device_of(&sim->settings)->wait(sim, error);
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

static void destroy_array(void *array) {
  cudaFree(array);
}

static HkStatus copy_to_arrays(HkDeviceSim *sim, void *x, void *v, HkError *error) {
  return device_of(&sim->settings)->copy_to_arrays(sim, x, v, error);
}

static HkStatus copy_from_arrays(HkDeviceSim *sim, const void *x, const void *v, HkError *error) {
  return device_of(&sim->settings)->copy_from_arrays(sim, x, v, error);
}

static __global__ void copy_all(const float4 *from, float4 *to, size_t count) {
  size_t step = (size_t)gridDim.x * blockDim.x;
  for (size_t q = blockIdx.x * (size_t)blockDim.x + threadIdx.x; q < count; q += step)
    to[q] = from[q];
}

/* Returns the best of ten copies. */
static HkStatus measure_copy(double *speed, HkError *error) {
  const size_t COUNT = (size_t)1 << 26; /* 1 GB, far more than its cache */
  float4 *from = NULL, *to = NULL;
  cudaEvent_t begin, end;
  *speed = 0;
  cudaError_t code = cudaMalloc(&from, COUNT * sizeof *from);
  if (code == cudaSuccess) code = cudaMalloc(&to, COUNT * sizeof *to);
  if (code == cudaSuccess) code = cudaMemset(from, 1, COUNT * sizeof *from);
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  for (int q = 0; q < 10 && code == cudaSuccess; q++) {
    float ms = 0;
    cudaEventRecord(begin);
    copy_all<<<132 * 16, 512>>>(from, to, COUNT);
    cudaEventRecord(end);
    code = cudaEventSynchronize(end);
    cudaEventElapsedTime(&ms, begin, end);
    double one = 2e3 * (double)(COUNT * sizeof *from) / (double)ms;
    if (one > *speed) *speed = one;
  }
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  cudaFree(from);
  cudaFree(to);
  return hk_plugin::check(code, "copy", error);
}

/* ---- Worlds of a batch ---- */

/* Worlds of both precisions begin with their settings. */
struct HkDeviceWorlds {
  HkDeviceSettings settings;
};

static bool worlds_are_double(const HkDeviceSettings *settings) {
  return settings->checked || settings->step == HK_DEVICE_NEWTON;
}

static const HkCudaWorlds *worlds_of(const HkDeviceSettings *settings) {
  return worlds_are_double(settings) ? &hk_cuda_worlds_double : &hk_cuda_worlds_single;
}

static double worlds_need(const HkDeviceWorldsModel *m, const HkDeviceSettings *settings) {
  return worlds_of(settings)->need(m, settings);
}

static int64_t worlds_most(const HkDeviceSettings *settings) {
  return worlds_of(settings)->most(settings);
}

static HkStatus worlds_create(const HkDeviceWorldsModel *model, const HkDeviceSettings *settings,
                              HkDeviceWorlds **worlds, HkError *error) {
  return worlds_of(settings)->create(model, settings, worlds, error);
}

static void worlds_destroy(HkDeviceWorlds **worlds) {
  if (*worlds) worlds_of(&(*worlds)->settings)->destroy(worlds);
}

static HkStatus worlds_set(HkDeviceWorlds *worlds, const HkDeviceWorldsParameters *parameters,
                           HkError *error) {
  return worlds_of(&worlds->settings)->set(worlds, parameters, error);
}

static HkStatus worlds_upload(HkDeviceWorlds *worlds, int64_t first, int64_t count, const double *x,
                              const double *v, HkError *error) {
  return worlds_of(&worlds->settings)->upload(worlds, first, count, x, v, error);
}

static HkStatus worlds_fetch(HkDeviceWorlds *worlds, int64_t first, int64_t count, double *x,
                             double *v, HkError *error) {
  return worlds_of(&worlds->settings)->fetch(worlds, first, count, x, v, error);
}

static HkStatus worlds_steps(HkDeviceWorlds *worlds, const HkDeviceWorldsTimes *times,
                             HkDeviceStepsInfo *info, HkError *error) {
  return worlds_of(&worlds->settings)->steps(worlds, times, info, error);
}

static HkStatus worlds_create_array(HkDeviceWorlds *worlds, void **array, int *number,
                                    HkError *error) {
  return worlds_of(&worlds->settings)->create_array(worlds, array, number, error);
}

static HkStatus worlds_copy_to_arrays(HkDeviceWorlds *worlds, void *x, void *v, HkError *error) {
  return worlds_of(&worlds->settings)->copy_to_arrays(worlds, x, v, error);
}

static HkStatus worlds_copy_from_arrays(HkDeviceWorlds *worlds, const void *x, const void *v,
                                        const uint8_t *held, HkError *error) {
  return worlds_of(&worlds->settings)->copy_from_arrays(worlds, x, v, held, error);
}

extern "C" __attribute__((visibility("default"))) const HkDevice hk_device;
const HkDevice hk_device = {HK_DEVICE_VERSION,
                            "cuda",
                            2,
                            device_info,
                            need,
                            create,
                            destroy,
                            set_h,
                            upload,
                            steps,
                            wait,
                            record,
                            fetch,
                            create_array,
                            destroy_array,
                            copy_to_arrays,
                            copy_from_arrays,
                            measure_copy,
                            worlds_need,
                            worlds_most,
                            worlds_create,
                            worlds_destroy,
                            worlds_set,
                            worlds_upload,
                            worlds_fetch,
                            worlds_steps,
                            worlds_create_array,
                            worlds_copy_to_arrays,
                            worlds_copy_from_arrays,
                            &hk_cuda_sheets_single,
                            &hk_cuda_sheets_double};
