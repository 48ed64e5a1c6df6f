/* Vertices in colours such that no two of a colour interact: all of one colour may move at once.
 *
 * Each vertex in turn takes the first colour that none of its neighbours in the pattern has, which
 * needs one colour more than the most neighbours at worst, and few on meshes: 2 on a plain grid. It
 * depends on nothing but the pattern.
 */
#ifndef HK_MINIMIZE_COLORING_H
#define HK_MINIMIZE_COLORING_H

#include "linear/block_matrix.h"

typedef struct HkColoring {
  int64_t colors;
  int64_t *start;  /* colors + 1: those of colour c are vertex[start[c]] .. start[c + 1] - 1 */
  int32_t *vertex; /* n, rising within a colour */
} HkColoring;

/* *bytes grows by the size. */
HkStatus hk_coloring_create(const HkModel *model, const HkPattern *pattern, HkColoring *coloring,
                            size_t *bytes, HkError *error);
void hk_coloring_destroy(const HkModel *model, HkColoring *coloring);

#endif
