/* Arrays in device memory that other libraries read and write: absolute positions and velocities as
 * HkReals, three a vertex, in the model's vertex order.
 *
 * Other libraries read and write them in streams that are not known here: so a copy synchronizes
 * the whole device before it begins, and its own stream at the end.
 */
#ifndef HK_CUDA_ARRAYS_CUH
#define HK_CUDA_ARRAYS_CUH

#include "simulation.cuh"

namespace HK_SPACE {

struct Origin {
  double at[3];
};

__global__ void copy_positions_out(int n, const int32_t *order, const Real4 *x, const Origin origin,
                                   HkReal *to) {
  int64_t q = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (q < n) hk_gpu_absolute_position(three(x[q]), origin.at, to + 3 * (int64_t)order[q]);
}

__global__ void copy_velocities_out(int n, const int32_t *order, const HkReal *v, HkReal *to) {
  int64_t q = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (q >= n) return;
  HkReal *place = to + 3 * (int64_t)order[q];
  HkGpuVector u = plane_load(v, n, q);
  place[0] = u.x;
  place[1] = u.y;
  place[2] = u.z;
}

/* Constrained vertices, which have inverse mass 0, stay. */
__global__ void copy_positions_in(int n, const int32_t *order, const HkReal *from,
                                  const Origin origin, Real4 *x) {
  int64_t q = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (q >= n || x[q].w == 0) return;
  HkGpuVector p = hk_gpu_relative_position(from + 3 * (int64_t)order[q], origin.at);
  x[q] = Real4{p.x, p.y, p.z, x[q].w};
}

__global__ void copy_velocities_in(int n, const int32_t *order, const HkReal *from, const Real4 *x,
                                   HkReal *v) {
  int64_t q = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (q >= n || x[q].w == 0) return;
  const HkReal *u = from + 3 * (int64_t)order[q];
  plane_store(v, n, q, hk_gpu_vector(u[0], u[1], u[2]));
}

static HkStatus create_array(Simulation *s, void **array, int *number, HkError *error) {
  HkReal *made;
  HK_CUDA(cudaGetDevice(number), "say which one it is");
  HK_CUDA_TRY(allocate(&made, 3 * (int64_t)s->n, error));
  *array = made;
  return HK_OK;
}

static HkStatus copy_to_arrays(Simulation *s, HkReal *x, HkReal *v, HkError *error) {
  Origin origin = {{s->origin[0], s->origin[1], s->origin[2]}};
  unsigned blocks = blocks_for(s->n, BLOCK_THREADS);
  HK_CUDA(cudaDeviceSynchronize(), "make its steps");
  if (x && blocks > 0)
    copy_positions_out<<<blocks, BLOCK_THREADS, 0, s->queue>>>(s->n, s->order, s->x[s->at], origin,
                                                               x);
  if (v && blocks > 0)
    copy_velocities_out<<<blocks, BLOCK_THREADS, 0, s->queue>>>(s->n, s->order, s->v[s->v_at], v);
  HK_CUDA(cudaGetLastError(), "copy to an array");
  HK_CUDA(cudaStreamSynchronize(s->queue), "copy to an array");
  return HK_OK;
}

/* Checks an address: a kernel that reads a host address makes the CUDA context unusable. */
static HkStatus check_address(const HkReal *array, HkError *error) {
  cudaPointerAttributes found;
  if (!array) return HK_OK;
  cudaError_t code = cudaPointerGetAttributes(&found, array);
  (void)cudaGetLastError();
  bool there = code == cudaSuccess &&
               (found.type == cudaMemoryTypeDevice || found.type == cudaMemoryTypeManaged);
  if (there && (uintptr_t)array % sizeof(HkReal) == 0) return HK_OK;
  return fail(error, HK_ERROR_INVALID, "there is no array of %s in device memory at the address %p",
              sizeof(HkReal) == 4 ? "floats" : "doubles", (const void *)array);
}

static HkStatus copy_from_arrays(Simulation *s, const HkReal *x, const HkReal *v, HkError *error) {
  Origin origin = {{s->origin[0], s->origin[1], s->origin[2]}};
  unsigned blocks = blocks_for(s->n, BLOCK_THREADS);
  HK_CUDA_TRY(check_address(x, error));
  HK_CUDA_TRY(check_address(v, error));
  HK_CUDA(cudaDeviceSynchronize(), "make its steps");
  if (x && blocks > 0)
    copy_positions_in<<<blocks, BLOCK_THREADS, 0, s->queue>>>(s->n, s->order, x, origin,
                                                              s->x[s->at]);
  if (v && blocks > 0)
    copy_velocities_in<<<blocks, BLOCK_THREADS, 0, s->queue>>>(s->n, s->order, v, s->x[s->at],
                                                               s->v[s->v_at]);
  HK_CUDA(cudaGetLastError(), "copy from an array");
  HK_CUDA(cudaStreamSynchronize(s->queue), "copy from an array");
  s->has_record = false; /* the snapshot is out of date */
  return HK_OK;
}

} // namespace HK_SPACE

#endif
