/* Common functions of the mesh writers. Numbers have 17 digits, so that reading them gives the same
 * bits. hk_mesh_write returns an error for cells that a format cannot store before it calls a
 * writer.
 */
#ifndef HK_MESH_WRITING_H
#define HK_MESH_WRITING_H

#include "base/file.h"
#include "mesh/mesh.h"

/* Sets of cell types, as bits 1 << HkCellType. */
#define HK_CELLS_FACES (1u << HK_CELL_TRIANGLE | 1u << HK_CELL_QUAD | 1u << HK_CELL_POLYGON)
#define HK_CELLS_FLAT (1u << HK_CELL_POINT | 1u << HK_CELL_LINE | HK_CELLS_FACES)
/* All but polygons. */
#define HK_CELLS_FIXED                                                                             \
  (1u << HK_CELL_POINT | 1u << HK_CELL_LINE | 1u << HK_CELL_TRIANGLE | 1u << HK_CELL_QUAD |        \
   1u << HK_CELL_TET | 1u << HK_CELL_PYRAMID | 1u << HK_CELL_WEDGE | 1u << HK_CELL_HEX)

/* Number of cells of each type. */
enum { HK_CELL_TYPES = HK_CELL_HEX + 1 };
void hk_count_cells(const HkMesh *mesh, int64_t counts[HK_CELL_TYPES]);

/* Writes "x y z" of a vertex, or "x y", without the end of the line. */
void hk_write_point(FILE *file, const HkMesh *mesh, int64_t vertex, int dimension);
/* Writes " a b c" of a cell, counted from first, without the end of the line. */
void hk_write_corners(FILE *file, const HkMesh *mesh, int64_t cell, int first);

/* writers/NAME.c for each line of format.def. */
#define HK_FORMAT(name) HkMeshWriteFn hk_write_##name;
#include "mesh/format.def"
#undef HK_FORMAT

#endif
