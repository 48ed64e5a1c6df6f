/* Vertices in colors such that no two of a color are neighbors: all of one color may move at
 * once.
 *
 * The vertex whose neighbors have the most different colors comes next and takes the first color
 * that none of them has (Brelaz 1979, "New methods to color the vertices of a graph"); of several
 * such vertices the one that came to it last. So colors grow outwards from one place: on a grid
 * with shear and skip-one springs they are the five of (i + 2 j) mod 5, on a plain grid two. It
 * needs one color more than the most neighbors at worst, and depends on nothing but the graph.
 */
#ifndef HK_MINIMIZE_COLORING_H
#define HK_MINIMIZE_COLORING_H

#include "base/memory.h"

typedef struct HkColoring {
  int64_t colors;
  int64_t *start;  /* colors + 1: those of color c are vertex[start[c]] .. start[c + 1] - 1 */
  int32_t *vertex; /* n, rising within a color */
} HkColoring;

/* The neighbors of i are neighbor[start[i]] .. neighbor[start[i + 1] - 1]; i itself may be among
 * them. *bytes (unless NULL) grows by the size. */
HkStatus hk_coloring_create(const HkContext *context, int64_t n, const int64_t *start,
                            const int32_t *neighbor, HkColoring *coloring, size_t *bytes,
                            HkError *error);
void hk_coloring_destroy(const HkContext *context, HkColoring *coloring);

#endif
