/* Common functions of the mesh writers; see writing.h. */
#include "mesh/writing.h"

void hk_count_cells(const HkMesh *mesh, int64_t counts[HK_CELL_TYPES]) {
  for (int t = 0; t < HK_CELL_TYPES; t++) counts[t] = 0;
  for (int64_t c = 0; c < mesh->cell_count; c++) counts[mesh->cell_type[c]]++;
}

void hk_write_point(FILE *file, const HkMesh *mesh, int64_t vertex, int dimension) {
  const double *x = mesh->x + 3 * vertex;
  fprintf(file, "%.17g %.17g", x[0], x[1]);
  if (dimension == 3) fprintf(file, " %.17g", x[2]);
}

void hk_write_corners(FILE *file, const HkMesh *mesh, int64_t cell, int first) {
  for (int64_t q = mesh->cell_start[cell]; q < mesh->cell_start[cell + 1]; q++)
    fprintf(file, " %lld", (long long)mesh->cell_vertex[q] + first);
}
