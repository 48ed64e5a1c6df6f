/* Writes TetGen's X.node with X.ele for tetrahedra or triangles and X.edge for lines, counted from
 * 0. Triangles whose vertices all have z = 0 are written in two dimensions, as Triangle does. An
 * existing file X.ele or X.edge is replaced, by one without entries if the mesh has none: an old
 * one would be read as part of this mesh. All files are written before the first one is renamed.
 */
#include "mesh/reading.h"
#include "mesh/writing.h"

#include <math.h>

typedef struct Files {
  HkWriter node, ele, edge;
  char ele_path[4096], edge_path[4096];
} Files;

static bool is_flat(const HkMesh *mesh) {
  for (int64_t v = 0; v < mesh->vertex_count; v++)
    if (mesh->x[3 * v + 2] != 0 || signbit(mesh->x[3 * v + 2])) return false;
  return true;
}

static void write_vertices(FILE *file, const HkMesh *mesh, int dimension) {
  fprintf(file, "%lld %d 0 0\n", (long long)mesh->vertex_count, dimension);
  for (int64_t v = 0; v < mesh->vertex_count; v++) {
    fprintf(file, "%lld ", (long long)v);
    hk_write_point(file, mesh, v, dimension);
    fputc('\n', file);
  }
}

static void write_cells(FILE *file, const HkMesh *mesh, HkCellType type) {
  int64_t index = 0;
  for (int64_t c = 0; c < mesh->cell_count; c++) {
    if (mesh->cell_type[c] != type) continue;
    fprintf(file, "%lld", (long long)index++);
    hk_write_corners(file, mesh, c, 0);
    fputc('\n', file);
  }
}

static HkStatus write_files(Files *f, const HkMesh *mesh, const int64_t *counts, const char *path,
                            HkError *error) {
  HkCellType solid = counts[HK_CELL_TET] ? HK_CELL_TET : HK_CELL_TRIANGLE;
  int dimension = !counts[HK_CELL_TET] && is_flat(mesh) ? 2 : 3;
  HK_TRY(hk_writer_open(&f->node, path, error));
  write_vertices(f->node.file, mesh, dimension);
  if (counts[solid] || hk_file_exists(f->ele_path)) {
    HK_TRY(hk_writer_open(&f->ele, f->ele_path, error));
    fprintf(f->ele.file, "%lld %d 0\n", (long long)counts[solid], hk_cell_corners(solid));
    write_cells(f->ele.file, mesh, solid);
  }
  if (counts[HK_CELL_LINE] || hk_file_exists(f->edge_path)) {
    HK_TRY(hk_writer_open(&f->edge, f->edge_path, error));
    fprintf(f->edge.file, "%lld 0\n", (long long)counts[HK_CELL_LINE]);
    write_cells(f->edge.file, mesh, HK_CELL_LINE);
  }
  if (f->ele.file) HK_TRY(hk_writer_commit(&f->ele, error));
  if (f->edge.file) HK_TRY(hk_writer_commit(&f->edge, error));
  return hk_writer_commit(&f->node, error);
}

HkStatus hk_write_node(const HkMesh *mesh, const char *path, HkError *error) {
  int64_t counts[HK_CELL_TYPES];
  hk_count_cells(mesh, counts);
  if (counts[HK_CELL_TET] && counts[HK_CELL_TRIANGLE])
    return hk_fail_at(error, HK_ERROR_UNSUPPORTED, path, 0, 0,
                      "the mesh has triangles and tetrahedra, of which .ele holds one kind; write "
                      ".mesh or .msh");
  Files f = {0};
  HK_TRY(hk_sibling_path(path, "ele", f.ele_path, sizeof f.ele_path, error));
  HK_TRY(hk_sibling_path(path, "edge", f.edge_path, sizeof f.edge_path, error));
  HkStatus status = write_files(&f, mesh, counts, path, error);
  hk_writer_abandon(&f.node);
  hk_writer_abandon(&f.ele);
  hk_writer_abandon(&f.edge);
  return status;
}
