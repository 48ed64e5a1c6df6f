/* A simulation on a GPU with the interface of a plug-in (backend/device.h): single.cu and double.cu
 * compile it, plugin.cu exports both.
 */
#ifndef HK_CUDA_DEVICE_CUH
#define HK_CUDA_DEVICE_CUH

#include "arrays.cuh"
#include "create.cuh"
#include "linear_steps.cuh"
#include "transfer.cuh"

namespace HK_SPACE {

/* ---- The simulation ---- */

static void destroy(Simulation *s) {
  if (!s) return;
  if (s->queue) cudaStreamSynchronize(s->queue);
  if (s->copies) cudaStreamSynchronize(s->copies);
  destroy_multigrid(s);
  for (int q = 0; q < s->array_count; q++) cudaFree(s->arrays[q]);
  for (int q = 0; q < RING; q++) {
    Tables *t = &s->host[q];
    cudaFreeHost(t->moment);
    cudaFreeHost(t->grips);
    cudaFreeHost(t->middle);
    cudaFreeHost(t->end);
    if (t->read) cudaEventDestroy(t->read);
  }
  drop_graphs(s);
  cudaFreeHost(s->host_x);
  cudaFreeHost(s->host_v);
  cudaFreeHost(s->host_x_old);
  cudaFreeHost(s->host_v_old);
  cudaFreeHost(s->host_kinetic);
  cudaFreeHost(s->host_sizes);
  cudaFreeHost(s->host_scalars);
  free(s->color_start);
  if (s->recorded) cudaEventDestroy(s->recorded);
  if (s->copied) cudaEventDestroy(s->copied);
  if (s->queue) cudaStreamDestroy(s->queue);
  if (s->copies) cudaStreamDestroy(s->copies);
  free(s);
}

static HkStatus fill(Simulation *s, const HkDeviceModel *m, HkError *error) {
  const HkGpuLayout *l = m->layout;
  s->n = (int)l->n;
  s->flat = m->flat;
  s->parts = m->medium_parts;
  s->general = l->damped || l->threads;
  s->bricks = l->brick_count > 0;
  s->parameters = l->parameters;
  s->twice = l->near != NULL;
  s->most_local = l->most_local;
  s->most_rows = (l->most_rows + 31) / 32 * 32;
  s->words = l->slots / 2;
  s->lanes = s->bricks || s->n >= TWO_LANES_BELOW ? 1 : s->n >= MANY_LANES_BELOW ? 2 : 4;
  memcpy(s->origin, m->origin, sizeof s->origin);
  HK_CUDA(cudaStreamCreateWithFlags(&s->queue, cudaStreamNonBlocking), "make a queue");
  HK_CUDA(cudaStreamCreateWithFlags(&s->copies, cudaStreamNonBlocking), "make a queue");
  HK_CUDA(cudaEventCreateWithFlags(&s->recorded, cudaEventDisableTiming), "make an event");
  HK_CUDA(cudaEventCreateWithFlags(&s->copied, cudaEventDisableTiming), "make an event");
  HK_CUDA_TRY(create_springs(s, l, error));
  HK_CUDA_TRY(create_around(s, m, error));
  HK_CUDA_TRY(create_state(s, m, error));
  HK_CUDA_TRY(create_implicit(s, m, error));
  HK_CUDA_TRY(create_multigrid(s, m, error));
  HK_CUDA_TRY(create_tables(s, error));
  const void *kick = s->twice ? (const void *)pick_twice(s) : (const void *)pick_kick(s);
  size_t shared = s->twice ? twice_shared(s->most_local, s->most_rows) : kick_shared(s);
  HK_CUDA(cudaFuncSetAttribute(kick, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared),
          "set up its kernels");
  if (s->settings.step >= HK_DEVICE_NEWTON && s->bricks) {
    const void *kernels[] = {(const void *)pick_newton(s).multiply,
                             (const void *)pick_newton(s).change};
    for (int q = 0; q < 2; q++)
      HK_CUDA(cudaFuncSetAttribute(kernels[q], cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   (int)multiply_shared(s->most_local, s->general)),
              "set up its kernels");
  }
  return HK_OK;
}

static HkStatus create(const HkDeviceModel *m, const HkDeviceSettings *settings, Simulation **made,
                       HkError *error) {
  Simulation *s = (Simulation *)calloc(1, sizeof *s);
  *made = NULL;
  if (!s) return fail(error, HK_ERROR_MEMORY, "out of memory for a simulation");
  s->settings = *settings;
  s->stage = hk_gpu_stage(settings, 0);
  HkStatus status = fill(s, m, error);
  if (status < 0)
    destroy(s);
  else
    *made = s;
  return status;
}

/* h_old: the length of the step before in s; 0: there is none. */
static HkStatus make_implicit(Simulation *s, int step, double h_old, HkError *error) {
  switch (s->settings.step) {
  case HK_DEVICE_LINEAR: return make_linear(s, step, error);
  case HK_DEVICE_JACOBI: return make_jacobi(s, step, error);
  case HK_DEVICE_BLOCK_DESCENT: return make_descent(s, step, error);
  default:
    return s->multigrid ? make_multigrid(s, step, h_old, error) : make_newton(s, step, error);
  }
}

static HkStatus make_steps(Simulation *s, const HkDeviceTimes *times, HkError *error) {
  for (int64_t first = 0; first < times->steps; first += BATCH) {
    int count = times->steps - first < BATCH ? (int)(times->steps - first) : BATCH;
    HK_CUDA_TRY(send_tables(s, times, first, count, error));
    if (is_implicit(s))
      for (int q = 0; q < count; q++)
        HK_CUDA_TRY(make_implicit(s, q, first + q == 0 ? times->h_old : s->settings.h, error));
    else if (count == BATCH)
      HK_CUDA_TRY(queue_graph(s, error));
    else
      queue_batch(s, count);
    HK_CUDA(cudaGetLastError(), "launch a step");
  }
  return HK_OK;
}

/* ---- The functions of HkDevice ---- */

static HkStatus device_create(const HkDeviceModel *m, const HkDeviceSettings *settings,
                              HkDeviceSim **sim, HkError *error) {
  return create(m, settings, (Simulation **)sim, error);
}

static void device_destroy(HkDeviceSim **sim) {
  destroy((Simulation *)*sim);
  *sim = NULL;
}

static HkStatus device_set_h(HkDeviceSim *sim, double h, HkError *error) {
  Simulation *s = (Simulation *)sim;
  HK_CUDA(cudaStreamSynchronize(s->queue), "finish its steps");
  drop_graphs(s);
  drop_multigrid_graphs(s);
  s->settings.h = h;
  s->stage = hk_gpu_stage(&s->settings, 0);
  return HK_OK;
}

static HkStatus device_upload(HkDeviceSim *sim, const HkDeviceState *state, HkError *error) {
  return upload((Simulation *)sim, state, error);
}

static HkStatus device_steps(HkDeviceSim *sim, const HkDeviceTimes *times, HkError *error) {
  return make_steps((Simulation *)sim, times, error);
}

static HkStatus device_wait(HkDeviceSim *sim, HkError *error) {
  HK_CUDA(cudaStreamSynchronize(((Simulation *)sim)->queue), "make its steps");
  return HK_OK;
}

static HkStatus device_record(HkDeviceSim *sim, HkError *error) {
  return record((Simulation *)sim, error);
}

static HkStatus device_fetch(HkDeviceSim *sim, HkDeviceSnapshot *snapshot, HkDeviceStepsInfo *info,
                             HkError *error) {
  return fetch((Simulation *)sim, snapshot, info, error);
}

static HkStatus device_create_array(HkDeviceSim *sim, void **array, int *number, HkError *error) {
  return create_array((Simulation *)sim, array, number, error);
}

static HkStatus device_copy_to_arrays(HkDeviceSim *sim, void *x, void *v, HkError *error) {
  return copy_to_arrays((Simulation *)sim, (HkReal *)x, (HkReal *)v, error);
}

static HkStatus device_copy_from_arrays(HkDeviceSim *sim, const void *x, const void *v,
                                        HkError *error) {
  return copy_from_arrays((Simulation *)sim, (const HkReal *)x, (const HkReal *)v, error);
}

/* The HkDevice that single.cu and double.cu define for plugin.cu. */
#define HK_CUDA_DEVICE                                                                             \
  {                                                                                                \
    HK_DEVICE_VERSION, "cuda", 2, NULL, NULL, HK_SPACE::device_create, HK_SPACE::device_destroy,   \
        HK_SPACE::device_set_h, HK_SPACE::device_upload, HK_SPACE::device_steps,                   \
        HK_SPACE::device_wait, HK_SPACE::device_record, HK_SPACE::device_fetch,                    \
        HK_SPACE::device_create_array, NULL, HK_SPACE::device_copy_to_arrays,                      \
        HK_SPACE::device_copy_from_arrays, NULL                                                    \
  }

} // namespace HK_SPACE

#endif
