/* The block of vertices in files of Triangle and TetGen: all of X.node, and the beginning of
 * X.poly. */
#ifndef HK_MESH_TETGEN_H
#define HK_MESH_TETGEN_H

#include "mesh/reading.h"

/* The line before the vertices, and the index of the first vertex, 0 or 1. */
typedef struct HkTetgenHeader {
  int64_t count, dimension, first;
} HkTetgenHeader;

/* Reads the header; the cursor is at the first vertex afterwards. */
HkStatus hk_tetgen_header(HkCursor *c, HkTetgenHeader *h, HkError *error);
/* Reads as many vertices as the header says; the cursor is at the line behind them afterwards. */
HkStatus hk_tetgen_vertices(HkCursor *c, const HkTetgenHeader *h, HkMesh *mesh, HkError *error);

#endif
