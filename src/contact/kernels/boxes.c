/* Moving boxes against the eight boxes of a node; see contact/tree.h. */
#include "contact/tree.h"

#include "base/simd.h"

enum { WIDTH = HK_CONTACT_WIDTH, LANES = HK_SIMD_BYTES > 16 ? 8 : 4 };

typedef float Lanes __attribute__((vector_size(4 * LANES)));
typedef int32_t LanesMask __attribute__((vector_size(4 * LANES)));

/* Bit s: lane s of the mask is 0. */
HK_INLINE unsigned clear_lanes(LanesMask mask) {
#if HK_SIMD_BYTES > 16
  return ~(unsigned)_mm256_movemask_ps((__m256)mask) & 0xff;
#else
  unsigned bits = 0;
  for (int s = 0; s < LANES; s++) bits |= (unsigned)(mask[s] == 0) << s;
  return bits;
#endif
}

HK_INLINE Lanes load(const float *p) {
  Lanes v;
  memcpy(&v, p, sizeof v);
  return v;
}

/* Bit s: no coordinate separates box s from the box [low, high], which has three numbers at the
 * start and three at the end, in the same order at both. */
HK_INLINE unsigned find(const HkTreeNode *node, const float *low, const float *high) {
  unsigned bits = 0;
  for (int first = 0; first < WIDTH; first += LANES) {
    LanesMask apart = {0};
    for (int c = 0; c < 3; c++) {
      LanesMask above = (load(node->low[0][c] + first) > high[c] - (Lanes){0}) &
                        (load(node->low[1][c] + first) > high[3 + c] - (Lanes){0});
      LanesMask below = (load(node->high[0][c] + first) < low[c] - (Lanes){0}) &
                        (load(node->high[1][c] + first) < low[3 + c] - (Lanes){0});
      apart |= above | below;
    }
    bits |= clear_lanes(apart) << first;
  }
  return bits;
}

static unsigned overlaps(const HkTreeNode *node, const HkBox *box) {
  float low[6], high[6];
  for (int k = 0; k < 6; k++) {
    low[k] = box->low[k / 3][k % 3];
    high[k] = -box->minus_high[k / 3][k % 3];
  }
  return find(node, low, high);
}

static uint64_t meet(const HkTreeNode *a, const HkTreeNode *b) {
  uint64_t bits = 0;
  for (int i = 0; i < WIDTH; i++) {
    float low[6], high[6];
    for (int k = 0; k < 6; k++) {
      low[k] = a->low[k / 3][k % 3][i];
      high[k] = a->high[k / 3][k % 3][i];
    }
    bits |= (uint64_t)find(b, low, high) << (WIDTH * i);
  }
  return bits;
}

const HkBoxKernels HK_KERNEL(hk_box_kernels) = {.overlaps = overlaps, .meet = meet};
