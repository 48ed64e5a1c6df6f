/* Cells of a mesh by their type. */
#ifndef HOOKE_CLI_CELLS_H
#define HOOKE_CLI_CELLS_H

#include "hooke/hooke.h"

enum { CELL_TYPES = HK_CELL_HEX + 1 };

/* "triangles" for HK_CELL_TRIANGLE ... */
const char *cells_name(int type);
/* Counts the cells of each type. */
void cells_count(const HkMesh *mesh, int64_t counts[CELL_TYPES]);
/* Writes "100 vertices, 20 lines, 162 triangles" into text. */
void cells_describe(const HkMesh *mesh, char *text, size_t size);

#endif
