/* Writes plain tetrahedra: 'tet NV NT', vertices, tetrahedra by index from 0. */
#include "mesh/writing.h"

HkStatus hk_write_tet(const HkMesh *mesh, const char *path, HkError *error) {
  if (mesh->cell_count == 0)
    return hk_fail_at(error, HK_ERROR_UNSUPPORTED, path, 0, 0,
                      "the mesh has no tetrahedra, which .tet is for; write .obj or .ply");
  HkWriter w;
  HK_TRY(hk_writer_open(&w, path, error));
  fprintf(w.file, "tet %lld %lld\n", (long long)mesh->vertex_count, (long long)mesh->cell_count);
  for (int64_t v = 0; v < mesh->vertex_count; v++) {
    hk_write_point(w.file, mesh, v, 3);
    fputc('\n', w.file);
  }
  for (int64_t c = 0; c < mesh->cell_count; c++) {
    hk_write_corners(w.file, mesh, c, 0);
    fputc('\n', w.file);
  }
  return hk_writer_commit(&w, error);
}
