/* Length, area and volume of cells, and their share for each vertex. */
#ifndef HK_MESH_MEASURE_H
#define HK_MESH_MEASURE_H

#include "mesh/mesh.h"

/* Returns the dimension of a cell: 0 point, 1 line, 2 face, 3 solid. */
int hk_cell_dimension(HkCellType type);

/* Returns the length (m), area (m^2) or volume (m^3) of a cell. */
double hk_cell_measure(const HkMesh *mesh, int64_t cell);

/* share[v] += equal parts of the measures of all cells of a dimension; returns the number of these
 * cells. */
int64_t hk_mesh_lump(const HkMesh *mesh, int dimension, double *share);

#endif
