/* What a packed factor is made of; see packed.h. */
#ifndef HK_LINEAR_PACKED_TYPE_H
#define HK_LINEAR_PACKED_TYPE_H

#include "linear/packed.h"
#include "linear/packed_kernels.h"
#include "linear/packed_tree.h"

/* A part of the tree, which sees rows by numbers of its own: first its columns, then the columns of
 * the top that it reaches into, then one that stands for no row at all and is 0. */
typedef struct HkPackedPart {
  int64_t supernode, supernode_end; /* in the list of supernodes */
  int64_t panel, panel_end;
  int64_t at;              /* where the lists of its columns, and of those of the top, begin */
  int64_t columns, shared; /* how many there are of them */
  int64_t x;               /* where its records begin */
  int64_t tiles;           /* of its tallest panel */
  int64_t scratch;         /* where its scratch begins */
} HkPackedPart;

struct HkPacked {
  HkContext context;
  const HkPackedKernels *kernels;
  int64_t n;
  int parts; /* without the top, which is part[parts] */
  HkPackedPart part[HK_PARTS_MAX + 1];
  int32_t *supernode; /* by parts */
  HkPackedPanel *panel;
  int32_t *row; /* of the panels */
  int32_t *at;  /* of each part, where its columns stand in r; then the top's own numbers of those
                 * that it shares */
  float *value, *x, *scratch;
  void *value_block, *x_block, *scratch_block; /* as allocated */
  int64_t supernodes, panels, rows, ats, values, records, scratch_floats;
  double scale; /* of right-hand sides: that of A, so that floats are near 1 */
};

/* Visits the panels of a supernode: the columns from `column` on, at most HK_PANEL_COLUMNS_MAX. */
static inline int32_t hk_packed_width(int64_t columns, int64_t column) {
  return (int32_t)(columns - column < HK_PANEL_COLUMNS_MAX ? columns - column
                                                           : HK_PANEL_COLUMNS_MAX);
}

#endif
