/* The boundaries that Triangle and TetGen make meshes from: X.poly.
 *
 *     count dimension attributes markers      vertices, as in X.node:   index x y [z] ...
 *
 * In two dimensions (Triangle) segments follow,
 *
 *     count markers                           index a b ...
 *
 * and in three (TetGen) facets, each of polygons with corners in order:
 *
 *     count markers
 *     polygons [holes [marker]]               for each facet
 *     corners a b c ...                       for each polygon; it may continue in the next line
 *
 * Holes and regions, at the end of the file, matter to mesh generators only, and are not read. #
 * starts a comment; attributes and markers are ignored; indices count from the first vertex, 0 or
 * 1. Segments become lines, polygons faces, those of two corners lines; a polygon of one corner
 * adds nothing. A facet with holes or with more than one polygon of three corners and more is not a
 * face, and is refused.
 */
#include "mesh/tetgen.h"

static HkStatus read_segments(HkCursor *c, const HkTetgenHeader *h, HkMesh *mesh, HkError *error) {
  int64_t count, index;
  HK_TRY(hk_read_count(c, false, 3, "segments", &count, error));
  hk_skip_line(c);
  HK_TRY(hk_mesh_reserve(mesh, mesh->vertex_count, count, 2 * count, error));
  for (int64_t q = 0; q < count; q++) {
    int32_t ends[2];
    hk_skip_space(c, '#');
    HK_TRY(hk_next_int(c, &index, "the index of a segment", error));
    HK_TRY(hk_read_corners(c, false, h->first, h->count, 2, ends, error));
    HK_TRY(hk_mesh_add_cell(mesh, HK_CELL_LINE, ends, 2, error));
    hk_skip_line(c);
  }
  return HK_OK;
}

/* ---- Facets ---------------------------------------------------------------------------------- */

/* Reads one polygon into corners, which is reused. */
static HkStatus read_polygon(HkCursor *c, const HkTetgenHeader *h, const HkContext *context,
                             HkCorners *corners, HkError *error) {
  int64_t count;
  hk_skip_space(c, '#');
  HkCursor place = *c;
  HK_TRY(hk_read_count(c, false, 1, "corners", &count, error));
  if (count == 0) return hk_cursor_fail(&place, error, "a polygon without corners");
  corners->count = 0;
  for (int64_t q = 0; q < count; q++) {
    int32_t vertex;
    HK_TRY(hk_read_corners(c, true, h->first, h->count, 1, &vertex, error));
    HK_TRY(hk_corners_push(context, corners, vertex, error));
  }
  hk_skip_line(c);
  return HK_OK;
}

/* Reads the line before the polygons of a facet: their number, and the number of holes if given.
 */
static HkStatus read_facet_header(HkCursor *c, int64_t *polygons, HkError *error) {
  int64_t holes = 0;
  hk_skip_space(c, '#');
  HkCursor place = *c;
  HK_TRY(hk_read_count(c, false, 2, "polygons", polygons, error));
  bool ends = hk_at_line_end(c) || *c->at == '#';
  if (!ends) HK_TRY(hk_next_int(c, &holes, "the number of holes", error));
  if (holes != 0)
    return hk_cursor_refuse(&place, error,
                            "a facet with holes is not read; split it, or read a mesh that TetGen "
                            "has made of it (.node)");
  hk_skip_line(c);
  return HK_OK;
}

static HkStatus read_facet(HkCursor *c, const HkTetgenHeader *h, HkMesh *mesh, HkCorners *corners,
                           HkError *error) {
  int64_t polygons, faces = 0;
  HK_TRY(read_facet_header(c, &polygons, error));
  for (int64_t q = 0; q < polygons; q++) {
    hk_skip_space(c, '#');
    HkCursor place = *c;
    HK_TRY(read_polygon(c, h, &mesh->context, corners, error));
    faces += corners->count > 2;
    if (faces > 1)
      return hk_cursor_refuse(&place, error,
                              "a facet of several polygons is not read; give each polygon a facet "
                              "of its own, or read a mesh that TetGen has made of it (.node)");
    if (corners->count > 1) HK_TRY(hk_mesh_add_face(mesh, corners, error));
  }
  return HK_OK;
}

static HkStatus read_facets(HkCursor *c, const HkTetgenHeader *h, HkMesh *mesh, HkError *error) {
  int64_t count;
  HkCorners corners = {0};
  HK_TRY(hk_read_count(c, false, 3, "facets", &count, error));
  hk_skip_line(c);
  HkStatus status = HK_OK;
  for (int64_t q = 0; q < count && status >= 0; q++)
    status = read_facet(c, h, mesh, &corners, error);
  hk_free(&mesh->context, &corners.vertices);
  return status;
}

static HkStatus read(HkCursor c, HkMesh *mesh, HkError *error) {
  HkTetgenHeader h;
  hk_skip_byte_order_mark(&c);
  hk_skip_space(&c, '#');
  HkCursor place = c;
  HK_TRY(hk_tetgen_header(&c, &h, error));
  if (h.count == 0)
    return hk_cursor_refuse(&place, error,
                            "the vertices are not in this file but in the .node file beside it; "
                            "read that one");
  HK_TRY(hk_tetgen_vertices(&c, &h, mesh, error));
  hk_skip_space(&c, '#');
  return h.dimension == 2 ? read_segments(&c, &h, mesh, error) : read_facets(&c, &h, mesh, error);
}

const HkMeshFormat hk_format_poly = {
    .name = "poly",
    .summary = "Triangle and TetGen: segments in 2D, facets in 3D; holes and regions are not read",
    .read = read,
};
