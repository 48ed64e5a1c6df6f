/* TetGen and Triangle: X.node, and beside it X.ele and X.edge where they exist.
 *
 *     X.node    count dimension attributes markers      index x y [z] ...
 *     X.ele     count corners attributes                index a b c [d] ...
 *     X.edge    count markers                           index a b ...
 *
 * One entry a line; # starts a comment; attributes and markers are ignored. Indices count from the
 * first one in X.node, 0 or 1. Dimension 2 (Triangle) means z = 0. Elements of three corners are
 * triangles, of four tetrahedra; those of six and ten are curved and refused. If the file is in
 * memory, only the vertices are read.
 */
#include "base/file.h"
#include "mesh/tetgen.h"
#include "mesh/writing.h"

#include <string.h>

static HkStatus read(HkCursor c, HkMesh *mesh, HkError *error) {
  HkTetgenHeader h;
  HK_TRY(hk_tetgen_header(&c, &h, error));
  return hk_tetgen_vertices(&c, &h, mesh, error);
}

/* Reads lines with an index, which is ignored, and the corners of a cell. */
static HkStatus read_cells(HkCursor *c, HkMesh *mesh, const HkTetgenHeader *h, int64_t count,
                           HkCellType type, HkError *error) {
  int corners = hk_cell_corners(type);
  HK_TRY(hk_mesh_reserve(mesh, mesh->vertex_count, mesh->cell_count + count,
                         mesh->corner_count + count * corners, error));
  for (int64_t q = 0; q < count; q++) {
    int64_t index;
    int32_t vertices[4];
    hk_skip_space(c, '#');
    HK_TRY(hk_next_int(c, &index, "the index of a cell", error));
    HK_TRY(hk_read_corners(c, false, h->first, h->count, corners, vertices, error));
    HK_TRY(hk_mesh_add_cell(mesh, type, vertices, corners, error));
    hk_skip_line(c);
  }
  return HK_OK;
}

static HkStatus read_ele(HkCursor c, const HkTetgenHeader *h, HkMesh *mesh, HkError *error) {
  int64_t count, corners;
  hk_skip_byte_order_mark(&c);
  hk_skip_space(&c, '#');
  HK_TRY(hk_read_count(&c, false, 4, "elements", &count, error));
  hk_skip_blanks(&c);
  HkCursor place = c;
  HK_TRY(hk_next_int(&c, &corners, "the number of corners", error));
  if (corners == 6 || corners == 10)
    return hk_cursor_refuse(&place, error,
                            "%d-node %s are not read; make the mesh without -o2 for straight ones",
                            (int)corners, corners == 6 ? "triangles" : "tetrahedra");
  if (corners != 3 && !(corners == 4 && h->dimension == 3))
    return hk_cursor_fail(&place, error,
                          "elements of %lld corners in %lld dimensions: Hooke reads triangles (3) "
                          "and in 3D tetrahedra (4)",
                          (long long)corners, (long long)h->dimension);
  hk_skip_line(&c);
  HkCellType type = corners == 3 ? HK_CELL_TRIANGLE : HK_CELL_TET;
  return read_cells(&c, mesh, h, count, type, error);
}

static HkStatus read_edge(HkCursor c, const HkTetgenHeader *h, HkMesh *mesh, HkError *error) {
  int64_t count;
  hk_skip_byte_order_mark(&c);
  hk_skip_space(&c, '#');
  HK_TRY(hk_read_count(&c, false, 3, "edges", &count, error));
  hk_skip_line(&c);
  return read_cells(&c, mesh, h, count, HK_CELL_LINE, error);
}

/* Reads X.ending beside X.node, if it exists. */
static HkStatus read_sibling(const char *path, const char *ending, const HkTetgenHeader *h,
                             HkMesh *mesh, HkError *error) {
  char name[4096];
  HK_TRY(hk_sibling_path(path, ending, name, sizeof name, error));
  if (!hk_file_exists(name)) return HK_OK;
  char *bytes;
  size_t size;
  HK_TRY(hk_file_read(&mesh->context, name, &bytes, &size, error));
  HkCursor c = hk_cursor(name, bytes, size);
  HkStatus status =
      strcmp(ending, "ele") == 0 ? read_ele(c, h, mesh, error) : read_edge(c, h, mesh, error);
  hk_free(&mesh->context, &bytes);
  return status;
}

static HkStatus read_siblings(HkCursor c, HkMesh *mesh, HkError *error) {
  HkTetgenHeader h;
  const char *path = c.name;
  HK_TRY(hk_tetgen_header(&c, &h, error));
  HK_TRY(read_sibling(path, "ele", &h, mesh, error));
  return read_sibling(path, "edge", &h, mesh, error);
}

const HkMeshFormat hk_format_node = {
    .name = "node",
    .summary = "TetGen and Triangle: X.node with X.ele and X.edge beside it",
    .read = read,
    .read_siblings = read_siblings,
    .write = hk_write_node,
    .cells = 1u << HK_CELL_LINE | 1u << HK_CELL_TRIANGLE | 1u << HK_CELL_TET,
};
