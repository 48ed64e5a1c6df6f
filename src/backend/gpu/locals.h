/* Local indices of places in a brick and its halos: see layout.h.
 *
 * The brick's own vertices are consecutive places and have the first indices. A hash table with
 * open addressing has the others, at most half as many as it has slots.
 */
#ifndef HK_BACKEND_GPU_LOCALS_H
#define HK_BACKEND_GPU_LOCALS_H

#include "backend/gpu/layout.h"

#include <string.h>

enum {
  HK_GPU_MAX_LOCALS = 1 << HK_GPU_LOCAL_BITS,
  HK_GPU_LOCALS_BITS = HK_GPU_LOCAL_BITS + 1,
  HK_GPU_LOCALS_SLOTS = 1 << HK_GPU_LOCALS_BITS
};

typedef struct HkGpuLocals {
  int32_t begin, own;                 /* first place of the brick, number of its vertices */
  int32_t place[HK_GPU_LOCALS_SLOTS]; /* plus 1; 0: an empty slot */
  uint16_t local[HK_GPU_LOCALS_SLOTS];
} HkGpuLocals;

static inline void hk_gpu_locals_start(HkGpuLocals *t, const HkGpuLayout *l, int64_t brick) {
  t->begin = l->brick[brick];
  t->own = l->brick[brick + 1] - l->brick[brick];
  memset(t->place, 0, sizeof t->place);
}

static inline bool hk_gpu_locals_is_own(const HkGpuLocals *t, int32_t place) {
  return (uint32_t)(place - t->begin) < (uint32_t)t->own;
}

/* Returns the slot of a place that is not the brick's own, or the empty slot where it belongs. */
static inline uint32_t hk_gpu_locals_slot(const HkGpuLocals *t, int32_t place) {
  uint32_t slot = (uint32_t)place * 2654435769u >> (32 - HK_GPU_LOCALS_BITS); /* 2^32 / 1.618 */
  while (t->place[slot] != 0 && t->place[slot] != place + 1)
    slot = (slot + 1) % HK_GPU_LOCALS_SLOTS;
  return slot;
}

/* Adds a place that is not the brick's own; returns false if it is there already. */
static inline bool hk_gpu_locals_add(HkGpuLocals *t, int32_t place, int64_t local) {
  uint32_t slot = hk_gpu_locals_slot(t, place);
  if (t->place[slot] != 0) return false;
  t->place[slot] = place + 1;
  t->local[slot] = (uint16_t)local;
  return true;
}

/* Returns the local index of a place of the brick or its halos. */
static inline uint32_t hk_gpu_locals_find(const HkGpuLocals *t, int32_t place) {
  if (hk_gpu_locals_is_own(t, place)) return (uint32_t)(place - t->begin);
  return t->local[hk_gpu_locals_slot(t, place)];
}

#endif
