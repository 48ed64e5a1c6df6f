/* Numbers of the unknowns of a factorized matrix: all vertices but those that are held, or all. */
#ifndef HK_LINEAR_NUMBERING_H
#define HK_LINEAR_NUMBERING_H

#include "linear/linear.h"

typedef struct HkNumbering {
  int64_t *number; /* n: the first unknown of a vertex, -1: none. Rises with the vertices */
  int64_t count;   /* unknowns */
  int64_t version; /* of held, for which it was made */
  bool stays;      /* as of held */
  bool made;
} HkNumbering;

/* True if other vertices are unknowns now than those that were numbered. Where held vertices stay
 * unknowns it does not matter which they are. */
static inline bool hk_numbering_changed(const HkNumbering *a, const HkHeld *held) {
  return !a->made || a->stays != held->stays || (!held->stays && a->version != held->version);
}

/* width: unknowns of a vertex. */
static inline void hk_numbering_make(HkNumbering *a, const HkHeld *held, int64_t n, int width) {
  a->count = 0;
  for (int64_t i = 0; i < n; i++) {
    bool unknown = held->stays || !held->mask[i];
    a->number[i] = unknown ? a->count : -1;
    if (unknown) a->count += width;
  }
  a->version = held->version;
  a->stays = held->stays;
  a->made = true;
}

#endif
