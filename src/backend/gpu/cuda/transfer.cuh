/* Copies of tables and states between host and device.
 *
 * Tables go through a ring of host buffers, so that the host fills one while the device reads
 * others. A stream of its own copies a snapshot of the state while the next steps run.
 */
#ifndef HK_CUDA_TRANSFER_CUH
#define HK_CUDA_TRANSFER_CUH

#include "simulation.cuh"

namespace HK_SPACE {

/* ---- Tables ---- */

static HkStatus send(Simulation *s, void *to, const void *from, size_t bytes, HkError *error) {
  if (bytes > 0)
    HK_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, s->queue), "copy a table");
  return HK_OK;
}

static HkStatus send_tables(Simulation *s, const HkDeviceTimes *times, int64_t first, int count,
                            HkError *error) {
  Tables *t = &s->host[s->turn];
  size_t moments = (size_t)count * HK_GPU_MOMENT_REALS;
  size_t grips = (size_t)s->grip_count * HK_DEVICE_GRIP_REALS, all_grips = grips * count;
  size_t motions = (size_t)s->motion_count * HK_DEVICE_MOTION_REALS, bytes = motions * count * 8;
  s->turn = (s->turn + 1) % s->rings;
  HK_CUDA(cudaEventSynchronize(t->read), "copy a table");
  HkReal *to = (HkReal *)t->moment;
  for (size_t q = 0; q < moments; q++)
    to[q] = (HkReal)times->moment[first * HK_GPU_MOMENT_REALS + q];
  for (size_t q = 0; q < all_grips; q++)
    t->grips[q] = (HkReal)times->grips[(size_t)first * grips + q];
  HK_CUDA_TRY(send(s, s->device.moment, t->moment, moments * sizeof(HkReal), error));
  HK_CUDA_TRY(send(s, s->device.grips, t->grips, all_grips * sizeof(HkReal), error));
  if (s->pins_move) {
    memcpy(t->end, times->end + (size_t)first * motions, bytes);
    HK_CUDA_TRY(send(s, s->device.end, t->end, bytes, error));
  }
  if (s->pins_move && times->middle) {
    memcpy(t->middle, times->middle + (size_t)first * motions, bytes);
    HK_CUDA_TRY(send(s, s->device.middle, t->middle, bytes, error));
  }
  HK_CUDA(cudaEventRecord(t->read, s->queue), "copy a table");
  return HK_OK;
}

/* ---- States ---- */

/* Copies two vectors of the host into a buffer of the device. */
static cudaError_t bring(const Simulation *s, const double *x, const double *v, double *buffer) {
  size_t bytes = (size_t)s->n * 3 * sizeof(double);
  cudaError_t code = copy_to_device(buffer, x, bytes);
  if (code != cudaSuccess) return code;
  return copy_to_device(buffer + 3 * (int64_t)s->n, v, bytes);
}

static cudaError_t load(Simulation *s, const HkDeviceState *from, double *buffer) {
  const unsigned blocks = blocks_for(s->n, BLOCK_THREADS);
  const double *second = buffer + 3 * (int64_t)s->n;
  cudaError_t code = cudaSuccess;
  if (s->pins.count > 0)
    code = copy_to_device((void *)s->pins.held, from->held, (size_t)s->pins.count);
  if (code == cudaSuccess && s->v_old && from->v_old) {
    code = bring(s, from->x_old, from->v_old, buffer);
    if (code != cudaSuccess) return code;
    load_history<<<blocks, BLOCK_THREADS, 0, s->queue>>>(s->n, s->order, s->origin[0], s->origin[1],
                                                         s->origin[2], buffer, second, s->start,
                                                         s->v_old);
    code = cudaStreamSynchronize(s->queue);
  }
  if (code == cudaSuccess) code = bring(s, from->x, from->v, buffer);
  if (code != cudaSuccess) return code;
  load_state<<<blocks, BLOCK_THREADS, 0, s->queue>>>(s->n, s->order, s->mass, s->origin[0],
                                                     s->origin[1], s->origin[2], buffer, second,
                                                     s->x[0], s->v[0]);
  if (s->pins.count > 0)
    hold_pins<<<blocks_for(s->pins.count, BLOCK_THREADS), BLOCK_THREADS, 0, s->queue>>>(
        s->pins, s->mass, s->x[0]);
  return cudaStreamSynchronize(s->queue);
}

static HkStatus upload(Simulation *s, const HkDeviceState *state, HkError *error) {
  double *buffer;
  HK_CUDA(cudaStreamSynchronize(s->queue), "finish its steps");
  HK_CUDA_TRY(allocate(&buffer, 6 * (int64_t)s->n, error));
  s->at = s->v_at = 0;
  s->info = HkDeviceStepsInfo{}; /* earlier steps do not count */
  cudaError_t code = load(s, state, buffer);
  cudaFree(buffer);
  HK_CUDA(code, "load a state");
  return HK_OK;
}

/* Queues a copy of a snapshot to the host. */
static HkStatus queue_copy(Simulation *s, HkReal *to, const HkReal *from, HkError *error) {
  if (from)
    HK_CUDA(cudaMemcpyAsync(to, from, (size_t)s->n * 3 * sizeof(HkReal), cudaMemcpyDeviceToHost,
                            s->copies),
            "copy");
  return HK_OK;
}

static HkStatus record(Simulation *s, HkError *error) {
  HK_CUDA(cudaStreamWaitEvent(s->queue, s->copied, 0), "wait");
  store_state<<<blocks_for(s->n, BLOCK_THREADS), BLOCK_THREADS, 0, s->queue>>>(
      s->n, s->order, s->x[s->at], s->v[s->v_at], s->record_x, s->record_v);
  if (s->v_old)
    store_history<<<blocks_for(s->n, BLOCK_THREADS), BLOCK_THREADS, 0, s->queue>>>(
        s->n, s->order, s->start, s->v_old, s->record_x_old, s->record_v_old);
  kinetic_parts<<<SUM_BLOCKS, SUM_THREADS, 0, s->queue>>>(s->n, s->mass, s->v[s->v_at], s->kinetic);
  HK_CUDA(cudaGetLastError(), "record a state");
  HK_CUDA(cudaEventRecord(s->recorded, s->queue), "record a state");
  HK_CUDA(cudaStreamWaitEvent(s->copies, s->recorded, 0), "wait");
  HK_CUDA_TRY(queue_copy(s, s->host_x, s->record_x, error));
  HK_CUDA_TRY(queue_copy(s, s->host_v, s->record_v, error));
  HK_CUDA_TRY(queue_copy(s, s->host_x_old, s->record_x_old, error));
  HK_CUDA_TRY(queue_copy(s, s->host_v_old, s->record_v_old, error));
  HK_CUDA(cudaMemcpyAsync(s->host_kinetic, s->kinetic, SUM_BLOCKS * sizeof(double),
                          cudaMemcpyDeviceToHost, s->copies),
          "copy");
  HK_CUDA(cudaEventRecord(s->copied, s->copies), "record a state");
  s->has_record = true;
  return HK_OK;
}

static HkStatus fetch(Simulation *s, HkDeviceSnapshot *snapshot, HkDeviceStepsInfo *info,
                      HkError *error) {
  if (!s->has_record) HK_CUDA_TRY(record(s, error));
  HK_CUDA(cudaEventSynchronize(s->copied), "make its steps");
  s->has_record = false;
  *info = s->info;
  s->info = HkDeviceStepsInfo{};
  for (int q = 0; q < SUM_BLOCKS; q++) info->kinetic += s->host_kinetic[q];
  *snapshot = HkDeviceSnapshot{s->host_x, s->host_v, s->host_x_old, s->host_v_old};
  return HK_OK;
}

} // namespace HK_SPACE

#endif
