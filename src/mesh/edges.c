/* The edges of a cell; see edges.h. */
#include "mesh/edges.h"

static const uint8_t tet_edges[] = {0, 1, 1, 2, 2, 0, 0, 3, 1, 3, 2, 3};
static const uint8_t pyramid_edges[] = {0, 1, 1, 2, 2, 3, 3, 0, 0, 4, 1, 4, 2, 4, 3, 4};
static const uint8_t wedge_edges[] = {0, 1, 1, 2, 2, 0, 3, 4, 4, 5, 5, 3, 0, 3, 1, 4, 2, 5};
static const uint8_t hex_edges[] = {0, 1, 1, 2, 2, 3, 3, 0, 4, 5, 5, 6,
                                    6, 7, 7, 4, 0, 4, 1, 5, 2, 6, 3, 7};

HkEdges hk_cell_edges(HkCell cell) {
  switch (cell.type) {
  case HK_CELL_POINT: break;
  case HK_CELL_LINE: return (HkEdges){NULL, 1};
  case HK_CELL_TRIANGLE:
  case HK_CELL_QUAD:
  case HK_CELL_POLYGON: return (HkEdges){NULL, cell.count};
  case HK_CELL_TET: return (HkEdges){tet_edges, 6};
  case HK_CELL_PYRAMID: return (HkEdges){pyramid_edges, 8};
  case HK_CELL_WEDGE: return (HkEdges){wedge_edges, 9};
  case HK_CELL_HEX: return (HkEdges){hex_edges, 12};
  }
  return (HkEdges){NULL, 0};
}
