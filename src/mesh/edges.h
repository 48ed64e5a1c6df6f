/* The edges of a cell. */
#ifndef HK_MESH_EDGES_H
#define HK_MESH_EDGES_H

#include "mesh/mesh.h"

typedef struct HkEdges {
  const uint8_t *corners; /* 2 an edge; NULL: from each corner to the next, all around */
  int count;
} HkEdges;

HkEdges hk_cell_edges(HkCell cell);

/* *a and *b become the vertices of an edge. */
static inline void hk_edge_ends(HkCell cell, HkEdges edges, int edge, int32_t *a, int32_t *b) {
  int next = edge + 1 < cell.count ? edge + 1 : 0;
  *a = cell.vertices[edges.corners ? edges.corners[2 * edge] : edge];
  *b = cell.vertices[edges.corners ? edges.corners[2 * edge + 1] : next];
}

#endif
