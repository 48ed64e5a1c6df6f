/* Writes Gmsh .msh 2.2 as text: nodes and elements counted from 1, in the order of the mesh,
 * without tags.
 */
#include "mesh/writing.h"

HkStatus hk_write_msh(const HkMesh *mesh, const char *path, HkError *error) {
  /* Gmsh's number of each cell type; polygons have none. */
  static const int types[HK_CELL_TYPES] = {15, 1, 2, 3, 0, 4, 7, 6, 5};
  HkWriter w;
  HK_TRY(hk_writer_open(&w, path, error));
  fprintf(w.file, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n%lld\n",
          (long long)mesh->vertex_count);
  for (int64_t v = 0; v < mesh->vertex_count; v++) {
    fprintf(w.file, "%lld ", (long long)v + 1);
    hk_write_point(w.file, mesh, v, 3);
    fputc('\n', w.file);
  }
  fprintf(w.file, "$EndNodes\n$Elements\n%lld\n", (long long)mesh->cell_count);
  for (int64_t c = 0; c < mesh->cell_count; c++) {
    fprintf(w.file, "%lld %d 0", (long long)c + 1, types[mesh->cell_type[c]]);
    hk_write_corners(w.file, mesh, c, 1);
    fputc('\n', w.file);
  }
  fputs("$EndElements\n", w.file);
  return hk_writer_commit(&w, error);
}
