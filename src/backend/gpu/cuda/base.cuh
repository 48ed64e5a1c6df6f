/* What all kernels use: errors, memory on the card, launches that overlap.
 *
 * Everything stands in the namespace HK_SPACE, which is compiled once with HK_REAL float and once
 * with double.
 */
#ifndef HK_CUDA_BASE_CUH
#define HK_CUDA_BASE_CUH

#include "backend/device.h"
#include "backend/gpu/media_implicit.h"

#include <cuda_runtime.h>
#include <stdarg.h>
#include <stdio.h>

namespace HK_SPACE {

enum { WIDE = 256 }; /* threads of a block, unless said otherwise */

typedef struct __align__(4 * sizeof(HkReal)) Real4 {
  HkReal x, y, z, w;
} Real4;

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
              "the card failed to %s: %s", what, cudaGetErrorString(code));
}

#define HK_CUDA(call, what)                                                                        \
  do {                                                                                             \
    HkStatus status_ = check(call, what, error);                                                   \
    if (status_ < 0) return status_;                                                               \
  } while (0)

#define HK_GO(call)                                                                                \
  do {                                                                                             \
    HkStatus status_ = (call);                                                                     \
    if (status_ < 0) return status_;                                                               \
  } while (0)

/* ---- Memory ---- */

template <class T> static HkStatus take(T **p, int64_t count, HkError *error) {
  *p = NULL;
  if (count <= 0) return HK_OK;
  cudaError_t code = cudaMalloc(p, (size_t)count * sizeof(T));
  if (code == cudaSuccess) code = cudaMemset(*p, 0, (size_t)count * sizeof(T));
  if (code == cudaSuccess) return HK_OK;
  (void)cudaGetLastError();
  return fail(error, HK_ERROR_MEMORY, "the card has no room for %.3g MB more",
              (double)count * sizeof(T) / 1e6);
}

/* Takes room and copies count entries into it. */
template <class T>
static HkStatus put(T **p, const T *from, int64_t count, HkError *error) {
  HK_GO(take(p, count, error));
  if (count > 0)
    HK_CUDA(cudaMemcpy(*p, from, (size_t)count * sizeof(T), cudaMemcpyHostToDevice), "copy");
  return HK_OK;
}

/* The same of numbers that become HkReals on the way, by pieces. */
static HkStatus put_reals(HkReal **p, const double *from, int64_t count, HkError *error) {
  const int64_t PIECE = 1 << 20;
  HK_GO(take(p, count, error));
  HkReal *piece = (HkReal *)malloc(PIECE * sizeof *piece);
  if (!piece) return fail(error, HK_ERROR_MEMORY, "no memory to copy to the card");
  cudaError_t code = cudaSuccess;
  for (int64_t at = 0; at < count && code == cudaSuccess; at += PIECE) {
    int64_t size = count - at < PIECE ? count - at : PIECE;
    for (int64_t q = 0; q < size; q++) piece[q] = (HkReal)from[at + q];
    code = cudaMemcpy(*p + at, piece, (size_t)size * sizeof *piece, cudaMemcpyHostToDevice);
  }
  free(piece);
  return check(code, "copy", error);
}

/* ---- Launches ---- */

static inline unsigned blocks_for(int64_t count, int width) {
  return (unsigned)((count + width - 1) / width);
}

/* A kernel may begin while the one before it ends; it waits for what that has written by
 * wait_for_last, and lets the next one come by let_next_come. */
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

/* Launches with overlap; all kernels of a queue that are launched so call wait_for_last before
 * they read or write what another one writes. */
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
