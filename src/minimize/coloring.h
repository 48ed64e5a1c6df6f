/* Vertices in colours such that no two of a colour are neighbours: all of one colour may move at
 * once.
 *
 * The vertex whose neighbours have the most different colours comes next and takes the first colour
 * that none of them has (Brelaz 1979, "New methods to color the vertices of a graph"); of several
 * such vertices the one that came to it last. So colours grow outwards from one place: on a grid
 * with shear and skip-one springs they are the five of (i + 2 j) mod 5, on a plain grid two. It
 * needs one colour more than the most neighbours at worst, and depends on nothing but the graph.
 */
#ifndef HK_MINIMIZE_COLORING_H
#define HK_MINIMIZE_COLORING_H

#include "base/memory.h"

typedef struct HkColoring {
  int64_t colors;
  int64_t *start;  /* colors + 1: those of colour c are vertex[start[c]] .. start[c + 1] - 1 */
  int32_t *vertex; /* n, rising within a colour */
} HkColoring;

/* The neighbours of q are neighbour[start[q]] .. neighbour[start[q + 1] - 1]; q itself may be among
 * them. *bytes (unless NULL) grows by the size. */
HkStatus hk_coloring_create(const HkContext *context, int64_t n, const int64_t *start,
                            const int32_t *neighbour, HkColoring *coloring, size_t *bytes,
                            HkError *error);
void hk_coloring_destroy(const HkContext *context, HkColoring *coloring);

#endif
