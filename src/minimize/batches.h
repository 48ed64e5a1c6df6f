/* The order of a sweep over vertices: batches, each of vertices that do not act on each other.
 *
 * The colors of a model (coloring.h) keep apart what springs join. Contact couples other vertices,
 * others in each sweep (the blocks of vertex_block.h). Vertices of one color that are coupled so go
 * into several batches: each takes, in the order of their numbers, the first batch of its color in
 * which there is no vertex that is coupled with it. Where nothing is coupled the batches are the
 * colors.
 */
#ifndef HK_MINIMIZE_BATCHES_H
#define HK_MINIMIZE_BATCHES_H

#include "minimize/coloring.h"
#include "minimize/vertex_block.h"

typedef struct HkBatches {
  int64_t count;
  const int64_t *start;  /* count + 1: those of batch p are vertex[start[p]] .. start[p + 1] - 1 */
  const int32_t *vertex; /* n */
  int64_t *own_start;
  int32_t *own_vertex, *color, *batch; /* n; NULL until they are needed */
  int64_t capacity;
} HkBatches;

/* Sets count, start and vertex for the sweep that blocks has begun. They are those of the coloring,
 * or the batches' own. */
HkStatus hk_batches_find(HkBatches *batches, const HkColoring *coloring,
                         const HkVertexBlock *blocks, HkError *error);
void hk_batches_destroy(const HkContext *context, HkBatches *batches);
size_t hk_batches_bytes(const HkBatches *batches, int64_t n);

#endif
