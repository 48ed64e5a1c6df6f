/* Errors, device memory and overlapping launches, for all kernels.
 *
 * The namespace HK_SPACE is compiled once with HK_REAL float and once with double.
 */
#ifndef HK_CUDA_BASE_CUH
#define HK_CUDA_BASE_CUH

#include "backend/device.h"
#include "backend/gpu/media_implicit.h"

#include <cuda_runtime.h>
#include <stdarg.h>
#include <stdio.h>

namespace HK_SPACE {

enum { BLOCK_THREADS = 256 }; /* threads of a block of most kernels */

typedef struct __align__(4 * sizeof(HkReal)) Real4 {
  HkReal x, y, z, w;
}
Real4;

static __device__ __forceinline__ HkGpuVector three(const Real4 &a) {
  return hk_gpu_vector(a.x, a.y, a.z);
}

/* ---- Errors ---- */

static HkStatus fail(HkError *error, HkStatus status, const char *format, ...) {
  if (!error) return status;
  va_list list;
  *error = HkError{};
  error->status = status;
  va_start(list, format);
  vsnprintf(error->text, sizeof error->text, format, list);
  va_end(list);
  return status;
}

static HkStatus check(cudaError_t code, const char *what, HkError *error) {
  if (code == cudaSuccess) return HK_OK;
  return fail(error, code == cudaErrorMemoryAllocation ? HK_ERROR_MEMORY : HK_ERROR_INVALID,
              "the GPU failed to %s: %s", what, cudaGetErrorString(code));
}

#define HK_CUDA(call, what)                                                                        \
  do {                                                                                             \
    HkStatus status_ = check(call, what, error);                                                   \
    if (status_ < 0) return status_;                                                               \
  } while (0)

#define HK_CUDA_TRY(call)                                                                          \
  do {                                                                                             \
    HkStatus status_ = (call);                                                                     \
    if (status_ < 0) return status_;                                                               \
  } while (0)

/* ---- Memory ----
 *
 * cudaMemset, and cudaMemcpy from pageable memory, may return before they are complete, and the
 * streams of simulations do not wait for them: finish_copies does.
 */

static cudaError_t finish_copies() {
  return cudaStreamSynchronize(cudaStreamLegacy);
}

/* Copies bytes from the host, and waits until they have arrived. */
static cudaError_t copy_to_device(void *to, const void *from, size_t bytes) {
  cudaError_t code = cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice);
  return code == cudaSuccess ? finish_copies() : code;
}

template <class T> static HkStatus allocate(T **p, int64_t count, HkError *error) {
  *p = NULL;
  if (count <= 0) return HK_OK;
  cudaError_t code = cudaMalloc(p, (size_t)count * sizeof(T));
  if (code == cudaSuccess) code = cudaMemset(*p, 0, (size_t)count * sizeof(T));
  if (code == cudaSuccess) code = finish_copies();
  if (code == cudaSuccess) return HK_OK;
  (void)cudaGetLastError();
  return fail(error, HK_ERROR_MEMORY, "out of GPU memory: %.3g MB could not be allocated",
              (double)count * sizeof(T) / 1e6);
}

/* Allocates device memory and copies count entries into it. */
template <class T>
static HkStatus allocate_copy(T **p, const T *from, int64_t count, HkError *error) {
  HK_CUDA_TRY(allocate(p, count, error));
  if (count > 0)
    HK_CUDA(copy_to_device(*p, from, (size_t)count * sizeof(T)), "copy");
  return HK_OK;
}

/* Allocates device memory and copies count doubles into it as HkReals, piece by piece. */
static HkStatus allocate_reals(HkReal **p, const double *from, int64_t count, HkError *error) {
  const int64_t PIECE = 1 << 20;
  HK_CUDA_TRY(allocate(p, count, error));
  HkReal *piece = (HkReal *)malloc(PIECE * sizeof *piece);
  if (!piece) return fail(error, HK_ERROR_MEMORY, "out of memory for a copy to the GPU");
  cudaError_t code = cudaSuccess;
  for (int64_t at = 0; at < count && code == cudaSuccess; at += PIECE) {
    int64_t size = count - at < PIECE ? count - at : PIECE;
    for (int64_t q = 0; q < size; q++) piece[q] = (HkReal)from[at + q];
    code = copy_to_device(*p + at, piece, (size_t)size * sizeof *piece);
  }
  free(piece);
  return check(code, "copy", error);
}

/* ---- Launches ---- */

static inline unsigned blocks_for(int64_t count, int width) {
  return (unsigned)((count + width - 1) / width);
}

/* Programmatic dependent launch: a kernel may begin while the one before it ends. wait_for_last
 * waits for the writes of the previous kernel, let_next_come permits the next one to begin. */
static __device__ __forceinline__ void wait_for_last() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

static __device__ __forceinline__ void let_next_come() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/* Launches a kernel with overlap. All kernels that are launched so call wait_for_last before they
 * read or write what another kernel writes. */
template <class... P, class... A>
static void launch(void (*kernel)(P...), unsigned blocks, int threads, size_t shared,
                   cudaStream_t stream, A... arguments) {
  if (blocks == 0) return;
  cudaLaunchAttribute overlap = {};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3((unsigned)threads);
  config.dynamicSmemBytes = shared;
  config.stream = stream;
  config.attrs = &overlap;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, kernel, P(arguments)...);
}

} // namespace HK_SPACE

#endif
