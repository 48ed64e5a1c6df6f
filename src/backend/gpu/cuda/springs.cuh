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

/* What a plain spring needs: eight bytes of fast memory in single precision. */
struct Stiff {
  HkReal k, kl0;
};

/* Palettes in the fast memory of a block; to be followed by a barrier. */
static __device__ __forceinline__ void load_palette(const Springs &s, HkGpuSpring *palette) {
  if (threadIdx.x < HK_GPU_PALETTE) palette[threadIdx.x] = s.palette[threadIdx.x];
}

static __device__ __forceinline__ void load_palette(const Springs &s, Stiff *palette) {
  if (threadIdx.x < HK_GPU_PALETTE)
    palette[threadIdx.x] = Stiff{s.palette[threadIdx.x].k, s.palette[threadIdx.x].kl0};
}

/* The parameters of an entry that stand beside its word, loaded before they are needed. */
template <int PARAMETERS> struct Beside {
  HkReal l0, k;
};
template <> struct Beside<HK_GPU_BY_PALETTE> {};
template <> struct Beside<HK_GPU_BY_LENGTH> {
  HkReal l0;
};

static __device__ __forceinline__ void load_beside(const Springs &, uint32_t,
                                                   Beside<HK_GPU_BY_PALETTE> &) {}
static __device__ __forceinline__ void load_beside(const Springs &s, uint32_t entry,
                                                   Beside<HK_GPU_BY_LENGTH> &b) {
  b.l0 = __ldcs(s.l0 + entry);
}
static __device__ __forceinline__ void load_beside(const Springs &s, uint32_t entry,
                                                   Beside<HK_GPU_UNIQUE> &b) {
  b.l0 = __ldcs(s.l0 + entry);
  b.k = __ldcs(s.stiffness + entry);
}

static __device__ __forceinline__ Stiff stiff_of(const Springs &, const Stiff *palette,
                                                 const Beside<HK_GPU_BY_PALETTE> &,
                                                 uint32_t number) {
  return palette[number];
}
static __device__ __forceinline__ Stiff stiff_of(const Springs &s, const Stiff *,
                                                 const Beside<HK_GPU_BY_LENGTH> &b, uint32_t) {
  if (b.l0 < 0) return Stiff{0, 0}; /* it fills up a row */
  return s.k > 0 ? Stiff{s.k, s.k * b.l0} : Stiff{s.kl0 / b.l0, s.kl0};
}
static __device__ __forceinline__ Stiff stiff_of(const Springs &, const Stiff *,
                                                 const Beside<HK_GPU_UNIQUE> &b, uint32_t) {
  return Stiff{b.k, b.k * b.l0};
}

/* The same with damping and slack. */
template <int PARAMETERS>
static __device__ __forceinline__ HkGpuSpring spring_of(const Springs &s, const HkGpuSpring *palette,
                                                        const Beside<PARAMETERS> &b,
                                                        uint32_t number) {
  if constexpr (PARAMETERS == HK_GPU_BY_PALETTE) {
    return palette[number];
  } else {
    Stiff k = stiff_of(s, (const Stiff *)NULL, b, number);
    return HkGpuSpring{k.k, k.kl0, b.l0 < 0 ? 0 : s.c, s.tension ? b.l0 : (HkReal)-1};
  }
}

} // namespace HK_SPACE

#endif
