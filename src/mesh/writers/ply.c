/* Writes PLY as text: vertices as doubles, then faces, then lines as the element edge. The order of
 * cells is kept within faces and within lines.
 */
#include "mesh/writing.h"

static void write_header(FILE *file, const HkMesh *mesh, int64_t faces, int64_t lines) {
  int64_t most = 0;
  for (int64_t c = 0; c < mesh->cell_count; c++) {
    int64_t corners = mesh->cell_start[c + 1] - mesh->cell_start[c];
    if (corners > most) most = corners;
  }
  fprintf(file,
          "ply\nformat ascii 1.0\nelement vertex %lld\n"
          "property double x\nproperty double y\nproperty double z\n",
          (long long)mesh->vertex_count);
  /* Most readers expect the count as uchar, so it is uchar wherever that is large enough. */
  if (faces)
    fprintf(file, "element face %lld\nproperty list %s int vertex_indices\n", (long long)faces,
            most < 256 ? "uchar" : "uint");
  if (lines)
    fprintf(file, "element edge %lld\nproperty int vertex1\nproperty int vertex2\n",
            (long long)lines);
  fputs("end_header\n", file);
}

HkStatus hk_write_ply(const HkMesh *mesh, const char *path, HkError *error) {
  int64_t counts[HK_CELL_TYPES];
  hk_count_cells(mesh, counts);
  HkWriter w;
  HK_TRY(hk_writer_open(&w, path, error));
  write_header(w.file, mesh, mesh->cell_count - counts[HK_CELL_LINE], counts[HK_CELL_LINE]);
  for (int64_t v = 0; v < mesh->vertex_count; v++) {
    hk_write_point(w.file, mesh, v, 3);
    fputc('\n', w.file);
  }
  for (int lines = 0; lines < 2; lines++)
    for (int64_t c = 0; c < mesh->cell_count; c++) {
      if ((mesh->cell_type[c] == HK_CELL_LINE) != lines) continue;
      if (!lines) fprintf(w.file, "%d", hk_mesh_cell(mesh, c).count);
      hk_write_corners(w.file, mesh, c, 0);
      fputc('\n', w.file);
    }
  return hk_writer_commit(&w, error);
}
