/* Springs in device memory, as kernels read them; see gpu/layout.h. */
#ifndef HK_CUDA_SPRINGS_CUH
#define HK_CUDA_SPRINGS_CUH

#include "base.cuh"

namespace HK_SPACE {

/* The layout of springs, passed to kernels by value. */
struct Springs {
  const uint32_t *word;
  const HkReal *l0, *stiffness;
  HkReal k, kl0, c; /* of all springs, unless HK_GPU_BY_PALETTE */
  int tension;
  HkGpuSpring palette[HK_GPU_PALETTE_SIZE];
  /* Bricks. */
  const int32_t *brick, *halo;
  const int64_t *halo_start;
  int brick_count, slots;
  const int32_t *near; /* of bricks with two halos */
  const int64_t *brick_row;
  int rows;
  /* Rows. */
  const int64_t *row_start;
};

/* Parameters of a plain spring: eight bytes of shared memory in single precision. */
struct Stiff {
  HkReal k, kl0;
};

/* Loads the palette into shared memory; the caller synchronizes the block. */
static __device__ __forceinline__ void load_palette(const Springs &s, HkGpuSpring *palette) {
  if (threadIdx.x < HK_GPU_PALETTE_SIZE) palette[threadIdx.x] = s.palette[threadIdx.x];
}

static __device__ __forceinline__ void load_palette(const Springs &s, Stiff *palette) {
  if (threadIdx.x < HK_GPU_PALETTE_SIZE)
    palette[threadIdx.x] = Stiff{s.palette[threadIdx.x].k, s.palette[threadIdx.x].kl0};
}

/* Parameters of an entry outside of its word, loaded before they are needed. */
template <int PARAMETERS> struct Beside { HkReal l0, k; };
template <> struct Beside<HK_GPU_BY_PALETTE> {};
template <> struct Beside<HK_GPU_BY_LENGTH> { HkReal l0; };

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
  if (b.l0 < 0) return Stiff{0, 0}; /* padding */
  return s.k > 0 ? Stiff{s.k, s.k * b.l0} : Stiff{s.kl0 / b.l0, s.kl0};
}
static __device__ __forceinline__ Stiff stiff_of(const Springs &, const Stiff *,
                                                 const Beside<HK_GPU_UNIQUE> &b, uint32_t) {
  return Stiff{b.k, b.k * b.l0};
}

/* Returns the parameters of a spring with damping and tension-only length. */
template <int PARAMETERS>
static __device__ __forceinline__ HkGpuSpring spring_of(const Springs &s,
                                                        const HkGpuSpring *palette,
                                                        const Beside<PARAMETERS> &b,
                                                        uint32_t number) {
  if constexpr (PARAMETERS == HK_GPU_BY_PALETTE) {
    return palette[number];
  } else {
    Stiff k = stiff_of(s, (const Stiff *)NULL, b, number);
    return HkGpuSpring{k.k, k.kl0, b.l0 < 0 ? 0 : s.c, s.tension ? b.l0 : (HkReal)-1};
  }
}

/* ---- Bricks ---- */

/* The vertices of a brick, which begin at place `first`, and its halo. */
struct Brick {
  int first, own, outside;
  const int32_t *halo;
};

static __device__ __forceinline__ Brick brick_at(const Springs &s, int b) {
  const int first = s.brick[b];
  const int64_t begin = s.halo_start[b];
  return Brick{first, s.brick[b + 1] - first, (int)(s.halo_start[b + 1] - begin), s.halo + begin};
}

/* number_in, local_in and near_in return the palette index, the local index and the position in
 * shared memory of the neighbor in half k of a word; shifts give the byte offset of a Real4. */
static __device__ __forceinline__ uint32_t number_in(uint32_t word, int k) {
  return word >> (k % 2 * 16) & ((1u << HK_GPU_PALETTE_BITS) - 1);
}

static __device__ __forceinline__ int local_in(uint32_t word, int k) {
  return (int)(word >> (k % 2 * 16 + HK_GPU_PALETTE_BITS) & ((1u << HK_GPU_LOCAL_BITS) - 1));
}

static __device__ __forceinline__ const Real4 &near_in(const Real4 *from, uint32_t word, int k) {
  const int SIZE = sizeof(Real4) == 16 ? 4 : 5, BITS = HK_GPU_PALETTE_BITS - SIZE;
  const uint32_t MASK = ((1u << HK_GPU_LOCAL_BITS) - 1) << SIZE;
  return *(const Real4 *)((const char *)from + (word >> (k % 2 * 16 + BITS) & MASK));
}

/* Returns the place of the neighbor in half k of a word of a brick. */
static __device__ __forceinline__ uint32_t place_near(const Brick &brick, uint32_t word, int k) {
  const int local = local_in(word, k);
  return (uint32_t)(local < brick.own ? brick.first + local : brick.halo[local - brick.own]);
}

/* The springs of the vertex at place q, of n: WORDS words, all of them if EXACT. Parameters of the
 * first ones are prefetched into registers. */
template <int PARAMETERS, int WORDS, bool EXACT> struct BrickRow {
  uint32_t word[WORDS];
  Beside<PARAMETERS> beside[2 * WORDS];
  static const int AHEAD = 12;
};

template <int PARAMETERS, int WORDS, bool EXACT>
static __device__ __forceinline__ void load_row(const Springs &s, uint32_t n, uint32_t q,
                                                BrickRow<PARAMETERS, WORDS, EXACT> *row) {
#pragma unroll
  for (int k = 0; k < WORDS; k++)
    if (EXACT || 2 * k < s.slots) row->word[k] = __ldcs(s.word + k * n + q);
#pragma unroll
  for (int k = 0; k < 2 * WORDS && k < row->AHEAD; k++)
    if (EXACT || k < s.slots) load_beside(s, k * n + q, row->beside[k]);
}

/* Calls visit(word, half, parameters) for each slot. */
template <int PARAMETERS, int WORDS, bool EXACT, class F>
static __device__ __forceinline__ void visit_row(const Springs &s, uint32_t n, uint32_t q,
                                                 BrickRow<PARAMETERS, WORDS, EXACT> *row, F visit) {
#pragma unroll
  for (int k = 0; k < 2 * WORDS; k++) {
    if (!EXACT && k >= s.slots) break;
    if (k >= row->AHEAD) load_beside(s, k * n + q, row->beside[k]);
    visit(row->word[k / 2], k, row->beside[k]);
  }
}

/* ---- Rows ---- */

/* The springs of one vertex, or every LANES-th of them. load_row loads the first SLOTS before the
 * previous kernel ends, since springs are constant. */
template <int PARAMETERS, int LANES, int SLOTS> struct Row {
  int64_t begin, end; /* entries of this thread, STRIDE apart */
  uint32_t word[SLOTS];
  Beside<PARAMETERS> beside[SLOTS];
  static const int STRIDE = LANES * HK_GPU_ROW;
};

template <int PARAMETERS, int LANES, int SLOTS>
static __device__ __forceinline__ void load_row(const Springs &s, uint32_t q, int lane,
                                                Row<PARAMETERS, LANES, SLOTS> *row) {
  const uint32_t group = q / HK_GPU_ROW;
  row->begin = s.row_start[group] + q % HK_GPU_ROW + lane * HK_GPU_ROW;
  row->end = s.row_start[group + 1];
#pragma unroll
  for (int k = 0; k < SLOTS; k++) {
    int64_t e = row->begin + k * row->STRIDE;
    row->word[k] = q; /* padding: a spring to itself */
    if (e < row->end) {
      row->word[k] = __ldcs(s.word + e);
      load_beside(s, (uint32_t)e, row->beside[k]);
    }
  }
}

/* Returns the place of the neighbor in a word. */
template <int PARAMETERS> static __device__ __forceinline__ uint32_t place_in(uint32_t word) {
  return PARAMETERS == HK_GPU_BY_PALETTE ? word & ((1u << HK_GPU_PLACE_BITS) - 1) : word;
}

/* Calls visit(place, its Real4 in x, parameters, palette index) for each spring of a row. */
template <int PARAMETERS, int LANES, int SLOTS, class F>
static __device__ __forceinline__ void
visit_row(const Springs &s, const Row<PARAMETERS, LANES, SLOTS> &row, const Real4 *x, F visit) {
  Real4 near[SLOTS];
#pragma unroll
  for (int k = 0; k < SLOTS; k++) near[k] = x[place_in<PARAMETERS>(row.word[k])];
#pragma unroll
  for (int k = 0; k < SLOTS; k++) {
    if (row.begin + k * row.STRIDE >= row.end) break;
    visit(place_in<PARAMETERS>(row.word[k]), near[k], row.beside[k],
          row.word[k] >> HK_GPU_PLACE_BITS);
  }
#pragma unroll 4
  for (int64_t e = row.begin + SLOTS * row.STRIDE; e < row.end; e += row.STRIDE) {
    uint32_t word = __ldcs(s.word + e), j = place_in<PARAMETERS>(word);
    Beside<PARAMETERS> beside;
    load_beside(s, (uint32_t)e, beside);
    visit(j, x[j], beside, word >> HK_GPU_PLACE_BITS);
  }
}

/* ---- Bricks or rows ---- */

/* Calls each(place, its brick) for all vertices, over the blocks of a grid; the brick is empty in
 * rows. */
template <class F>
static __device__ __forceinline__ void for_vertices(const Springs &s, uint32_t n, F each) {
  if (s.brick_count == 0) {
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
      each(i, Brick{0, 0, 0, NULL});
    return;
  }
  for (int b = (int)blockIdx.x; b < s.brick_count; b += (int)gridDim.x) {
    Brick brick = brick_at(s, b);
    for (int t = (int)threadIdx.x; t < brick.own; t += (int)blockDim.x)
      each((uint32_t)(brick.first + t), brick);
  }
}

/* Calls visit(place, its Real4 in x, parameters, palette index) for all springs of the vertex at
 * place i. */
template <int PARAMETERS, class F>
static __device__ __forceinline__ void visit_all(const Springs &s, uint32_t n, const Brick &brick,
                                                 uint32_t i, const Real4 *x, F visit) {
  if (s.brick_count == 0) {
    Row<PARAMETERS, 1, 4> row;
    load_row(s, i, 0, &row);
    visit_row(s, row, x, visit);
    return;
  }
  for (int k = 0; k < s.slots; k++) {
    uint32_t word = s.word[(uint32_t)(k / 2) * n + i];
    uint32_t j = place_near(brick, word, k);
    Beside<PARAMETERS> beside;
    load_beside(s, (uint32_t)k * n + i, beside);
    visit(j, x[j], beside, number_in(word, k));
  }
}

} // namespace HK_SPACE

#endif
