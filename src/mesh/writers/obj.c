/* Writes Wavefront OBJ: v, then p, l and f in the order of the cells, counted from 1. */
#include "mesh/writing.h"

HkStatus hk_write_obj(const HkMesh *mesh, const char *path, HkError *error) {
  HkWriter w;
  HK_TRY(hk_writer_open(&w, path, error));
  for (int64_t v = 0; v < mesh->vertex_count; v++) {
    fputs("v ", w.file);
    hk_write_point(w.file, mesh, v, 3);
    fputc('\n', w.file);
  }
  for (int64_t c = 0; c < mesh->cell_count; c++) {
    uint8_t type = mesh->cell_type[c];
    fputc(type == HK_CELL_POINT ? 'p' : type == HK_CELL_LINE ? 'l' : 'f', w.file);
    hk_write_corners(w.file, mesh, c, 1);
    fputc('\n', w.file);
  }
  return hk_writer_commit(&w, error);
}
