/* Writes OFF: vertices, then points, lines and faces as faces of one, two and more corners. */
#include "mesh/writing.h"

HkStatus hk_write_off(const HkMesh *mesh, const char *path, HkError *error) {
  HkWriter w;
  HK_TRY(hk_writer_open(&w, path, error));
  fprintf(w.file, "OFF\n%lld %lld 0\n", (long long)mesh->vertex_count, (long long)mesh->cell_count);
  for (int64_t v = 0; v < mesh->vertex_count; v++) {
    hk_write_point(w.file, mesh, v, 3);
    fputc('\n', w.file);
  }
  for (int64_t c = 0; c < mesh->cell_count; c++) {
    fprintf(w.file, "%d", hk_mesh_cell(mesh, c).count);
    hk_write_corners(w.file, mesh, c, 0);
    fputc('\n', w.file);
  }
  return hk_writer_commit(&w, error);
}
