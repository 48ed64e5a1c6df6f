/* Arrays on the card that others read and write: positions and velocities as HkReals, three a
 * vertex, in the order of the model, positions not relative to the origin.
 *
 * Whoever reads or writes them has queues that are not known here: so all that runs on the card is
 * waited for before an array is touched, and the copy itself after that.
 */
#ifndef HK_CUDA_ARRAYS_CUH
#define HK_CUDA_ARRAYS_CUH

#include "simulation.cuh"

namespace HK_SPACE {

struct Origin {
  double at[3];
};

__global__ void give_places(int n, const int32_t *order, const Real4 *x, const Origin origin,
                            HkReal *to) {
  int64_t q = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (q < n) hk_gpu_give_place(three(x[q]), origin.at, to + 3 * (int64_t)order[q]);
}

__global__ void give_velocities(int n, const int32_t *order, const HkReal *v, HkReal *to) {
  int64_t q = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (q >= n) return;
  HkReal *place = to + 3 * (int64_t)order[q];
  HkGpuVector u = plane_load(v, n, q);
  place[0] = u.x;
  place[1] = u.y;
  place[2] = u.z;
}

/* Held pins, which have no inverse mass, stay. */
__global__ void take_places(int n, const int32_t *order, const HkReal *from, const Origin origin,
                            Real4 *x) {
  int64_t q = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (q >= n || x[q].w == 0) return;
  HkGpuVector p = hk_gpu_take_place(from + 3 * (int64_t)order[q], origin.at);
  x[q] = Real4{p.x, p.y, p.z, x[q].w};
}

__global__ void take_velocities(int n, const int32_t *order, const HkReal *from, const Real4 *x,
                                HkReal *v) {
  int64_t q = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (q >= n || x[q].w == 0) return;
  const HkReal *u = from + 3 * (int64_t)order[q];
  plane_store(v, n, q, hk_gpu_vector(u[0], u[1], u[2]));
}

static HkStatus create_array(Simulation *s, void **array, int *number, HkError *error) {
  HkReal *made;
  HK_CUDA(cudaGetDevice(number), "say which one it is");
  HK_GO(take(&made, 3 * (int64_t)s->n, error));
  *array = made;
  return HK_OK;
}

static HkStatus give_arrays(Simulation *s, HkReal *x, HkReal *v, HkError *error) {
  Origin origin = {{s->origin[0], s->origin[1], s->origin[2]}};
  unsigned blocks = blocks_for(s->n, WIDE);
  HK_CUDA(cudaDeviceSynchronize(), "make its steps");
  if (x && blocks > 0)
    give_places<<<blocks, WIDE, 0, s->queue>>>(s->n, s->order, s->x[s->at], origin, x);
  if (v && blocks > 0)
    give_velocities<<<blocks, WIDE, 0, s->queue>>>(s->n, s->order, s->v[s->v_at], v);
  HK_CUDA(cudaGetLastError(), "give an array");
  HK_CUDA(cudaStreamSynchronize(s->queue), "give an array");
  return HK_OK;
}

/* A kernel that reads an address of the host ends all that the program does on the card. */
static HkStatus check_address(const HkReal *array, HkError *error) {
  cudaPointerAttributes found;
  if (!array) return HK_OK;
  cudaError_t code = cudaPointerGetAttributes(&found, array);
  (void)cudaGetLastError();
  bool there = code == cudaSuccess &&
               (found.type == cudaMemoryTypeDevice || found.type == cudaMemoryTypeManaged);
  if (there && (uintptr_t)array % sizeof(HkReal) == 0) return HK_OK;
  return fail(error, HK_ERROR_INVALID, "there is no array of %s at the address %p of the card",
              sizeof(HkReal) == 4 ? "floats" : "doubles", (const void *)array);
}

static HkStatus take_arrays(Simulation *s, const HkReal *x, const HkReal *v, HkError *error) {
  Origin origin = {{s->origin[0], s->origin[1], s->origin[2]}};
  unsigned blocks = blocks_for(s->n, WIDE);
  HK_GO(check_address(x, error));
  HK_GO(check_address(v, error));
  HK_CUDA(cudaDeviceSynchronize(), "make its steps");
  if (x && blocks > 0)
    take_places<<<blocks, WIDE, 0, s->queue>>>(s->n, s->order, x, origin, s->x[s->at]);
  if (v && blocks > 0)
    take_velocities<<<blocks, WIDE, 0, s->queue>>>(s->n, s->order, v, s->x[s->at], s->v[s->v_at]);
  HK_CUDA(cudaGetLastError(), "take an array");
  HK_CUDA(cudaStreamSynchronize(s->queue), "take an array");
  s->has_record = false; /* of what was before */
  return HK_OK;
}

} // namespace HK_SPACE

#endif
