/* Writes MEDIT .mesh in three dimensions, with doubles (version 2) and all references 0. Cells are
 * sorted by type; their order is kept within a type.
 */
#include "mesh/writing.h"

static void write_section(FILE *file, const HkMesh *mesh, HkCellType type, const char *word,
                          int64_t count) {
  if (count == 0) return;
  fprintf(file, "%s\n%lld\n", word, (long long)count);
  for (int64_t c = 0; c < mesh->cell_count; c++) {
    if (mesh->cell_type[c] != type) continue;
    hk_write_corners(file, mesh, c, 1);
    fputs(" 0\n", file);
  }
}

HkStatus hk_write_mesh(const HkMesh *mesh, const char *path, HkError *error) {
  static const struct {
    HkCellType type;
    const char *word;
  } sections[] = {{HK_CELL_LINE, "Edges"},          {HK_CELL_TRIANGLE, "Triangles"},
                  {HK_CELL_QUAD, "Quadrilaterals"}, {HK_CELL_TET, "Tetrahedra"},
                  {HK_CELL_PYRAMID, "Pyramids"},    {HK_CELL_WEDGE, "Prisms"},
                  {HK_CELL_HEX, "Hexahedra"}};
  int64_t counts[HK_CELL_TYPES];
  hk_count_cells(mesh, counts);
  HkWriter w;
  HK_TRY(hk_writer_open(&w, path, error));
  fprintf(w.file, "MeshVersionFormatted 2\nDimension 3\nVertices\n%lld\n",
          (long long)mesh->vertex_count);
  for (int64_t v = 0; v < mesh->vertex_count; v++) {
    hk_write_point(w.file, mesh, v, 3);
    fputs(" 0\n", w.file);
  }
  for (size_t q = 0; q < sizeof sections / sizeof sections[0]; q++)
    write_section(w.file, mesh, sections[q].type, sections[q].word, counts[sections[q].type]);
  fputs("End\n", w.file);
  return hk_writer_commit(&w, error);
}
