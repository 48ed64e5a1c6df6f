/* Hessian blocks of all forces but the springs, at one iterate:
 *
 *     d2E/dx_i dx_j = -df_i/dx_j        (N/m)
 *
 * Each force is evaluated once for an iterate. Its blocks may couple any two vertices, and the
 * pairs may change from iterate to iterate. They are sorted by row; the blocks of one row keep the
 * order in which the forces gave them, so that a sum over a row has the same bits wherever it is
 * formed. A pair of vertices may occur more than once. Forces of weighted sums give terms
 * (weighted.h) in place of blocks where these are asked for.
 */
#ifndef HK_FORCE_BLOCKS_H
#define HK_FORCE_BLOCKS_H

#include "force/force.h"

typedef struct HkForceBlock {
  int32_t row, column; /* vertices i and j */
  double dfdx[9];      /* N/m, row by row */
} HkForceBlock;

typedef struct HkForceBlocks {
  HkForceBlock *block;
  int64_t count;
  /* Rows that have blocks: row r of them is block[row_start[r]] .. block[row_start[r + 1] - 1]. */
  int64_t *row_start;
  int64_t row_count;
  /* Scratch of the sort, and capacities in elements. */
  HkForceBlock *unsorted;
  int64_t *vertex_start;
  int64_t capacity, row_capacity, unsorted_capacity, vertex_capacity;
  HkWeightedTerms terms;
} HkForceBlocks;

/* Which blocks are evaluated. */
typedef struct HkForceBlocksChoice {
  HkCurvature curvature;
  bool terms;     /* forces may give terms; false: all is in blocks */
  bool unbounded; /* of forces alone whose stiffness has no bound (HkForceType) */
  /* Of each vertex: 1 if it is constrained, and its blocks are left out. Terms stay whole. NULL: no
   * block is left out. */
  const uint8_t *held;
} HkForceBlocksChoice;

/* Replaces the blocks by those at (t, x). */
HkStatus hk_force_blocks_evaluate(HkForceBlocks *blocks, const HkModel *model,
                                  const HkForceWork *work, double t, const double *x,
                                  const HkForceBlocksChoice *choice, HkError *error);
/* Sorts blocks that were appended to block[0 .. count - 1], and lists their rows. */
HkStatus hk_force_blocks_sort(HkForceBlocks *blocks, const HkModel *model, HkError *error);
void hk_force_blocks_destroy(const HkModel *model, HkForceBlocks *blocks);
size_t hk_force_blocks_bytes(const HkForceBlocks *blocks);

#endif
