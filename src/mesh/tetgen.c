/* The block of vertices of Triangle and TetGen; see tetgen.h.
 *
 *     count dimension attributes markers
 *     index x y [z] ...                       one vertex a line, indices one after the other
 */
#include "mesh/tetgen.h"

HkStatus hk_tetgen_header(HkCursor *c, HkTetgenHeader *h, HkError *error) {
  hk_skip_byte_order_mark(c);
  hk_skip_space(c, '#');
  HK_TRY(hk_read_count(c, false, 3, "vertices", &h->count, error));
  hk_skip_blanks(c);
  HkCursor place = *c;
  HK_TRY(hk_next_int(c, &h->dimension, "the dimension", error));
  if (h->dimension != 2 && h->dimension != 3)
    return hk_cursor_fail(&place, error, "the dimension is %lld; it can be 2 or 3",
                          (long long)h->dimension);
  hk_skip_line(c);
  hk_skip_space(c, '#');
  h->first = 0;
  if (h->count == 0) return HK_OK;
  HkCursor line = *c;
  HK_TRY(hk_next_int(&line, &h->first, "the index of a vertex", error));
  if (h->first != 0 && h->first != 1)
    return hk_cursor_fail(c, error, "the first vertex has index %lld; it must be 0 or 1",
                          (long long)h->first);
  return HK_OK;
}

HkStatus hk_tetgen_vertices(HkCursor *c, const HkTetgenHeader *h, HkMesh *mesh, HkError *error) {
  HK_TRY(hk_mesh_reserve(mesh, h->count, 0, 0, error));
  for (int64_t v = 0; v < h->count; v++) {
    hk_skip_space(c, '#');
    HkCursor place = *c;
    int64_t index;
    double x[3];
    HK_TRY(hk_next_int(c, &index, "the index of a vertex", error));
    if (index != h->first + v)
      return hk_cursor_fail(&place, error,
                            "vertex %lld where %lld is expected: they are numbered "
                            "one after the other",
                            (long long)index, (long long)(h->first + v));
    HK_TRY(hk_read_point(c, false, (int)h->dimension, x, error));
    HK_TRY(hk_mesh_add_vertices(mesh, x, 1, error));
    hk_skip_line(c);
  }
  return HK_OK;
}
