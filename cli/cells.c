/* Cells of a mesh by their type; see cells.h. */
#include "cells.h"

#include "text.h"

#include <string.h>

const char *cells_name(int type) {
  static const char *const names[CELL_TYPES] = {"points",   "lines",    "triangles",
                                                "quads",    "polygons", "tetrahedra",
                                                "pyramids", "wedges",   "hexahedra"};
  return type >= 0 && type < CELL_TYPES ? names[type] : "cells";
}

void cells_count(const HkMesh *mesh, int64_t counts[CELL_TYPES]) {
  memset(counts, 0, CELL_TYPES * sizeof *counts);
  for (int64_t q = 0; q < hk_mesh_cell_count(mesh); q++) counts[hk_mesh_cell(mesh, q).type]++;
}

void cells_describe(const HkMesh *mesh, char *text, size_t size) {
  int64_t counts[CELL_TYPES];
  size_t used =
      (size_t)snprintf(text, size, "%s vertices", text_count(hk_mesh_vertex_count(mesh)).c);
  cells_count(mesh, counts);
  for (int q = 0; q < CELL_TYPES && used < size; q++)
    if (counts[q] > 0)
      used += (size_t)snprintf(text + used, size - used, ", %s %s", text_count(counts[q]).c,
                               cells_name(q));
}
