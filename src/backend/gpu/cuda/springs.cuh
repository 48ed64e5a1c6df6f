/* Springs in the memory of the card: what kernels read of them; see gpu/layout.h. */
#ifndef HK_CUDA_SPRINGS_CUH
#define HK_CUDA_SPRINGS_CUH

#include "base.cuh"

namespace HK_SPACE {

/* By value into every kernel. */
struct Springs {
  const uint32_t *word;
  const HkReal *l0, *stiffness;
  HkReal k, kl0, c; /* of all of them, unless by palette */
  int tension;
  HkGpuSpring palette[HK_GPU_PALETTE];
  /* Bricks. */
  const int32_t *brick, *halo;
  const int64_t *halo_start;
  int slots;
  /* Rows. */
  const int64_t *row_start;
};

/* The parameters of the spring in an entry of the arrays; number: of the palette. */
template <int PARAMETERS>
static __device__ __forceinline__ HkGpuSpring spring_at(const Springs &s, const HkGpuSpring *palette,
                                                        int64_t entry, uint32_t number) {
  if (PARAMETERS == HK_GPU_BY_PALETTE) return palette[number];
  HkReal l0 = __ldcs(s.l0 + entry);
  HkGpuSpring p = {s.k, s.kl0, s.c, s.tension ? l0 : (HkReal)-1};
  if (PARAMETERS == HK_GPU_UNIQUE) {
    p.k = __ldcs(s.stiffness + entry);
    p.kl0 = p.k * l0;
  } else if (l0 < 0) {
    p.k = p.kl0 = p.c = 0; /* it fills up a row */
  } else if (s.k > 0) {
    p.kl0 = s.k * l0;
  } else {
    p.k = s.kl0 / l0;
  }
  return p;
}

/* The palette into the fast memory of a block; to be followed by a barrier. */
static __device__ __forceinline__ void load_palette(const Springs &s, HkGpuSpring *palette) {
  if (threadIdx.x < HK_GPU_PALETTE) palette[threadIdx.x] = s.palette[threadIdx.x];
}

} // namespace HK_SPACE

#endif
