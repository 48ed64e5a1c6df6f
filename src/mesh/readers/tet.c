/* The plain format of tetrahedra:
 *
 *     tet NV NT
 *     x y z                NV times
 *     a b c d              NT times, vertices counted from 0
 *
 * Numbers are separated by blanks or ends of lines; # starts a comment.
 */
#include "mesh/reading.h"
#include "mesh/writing.h"

static HkStatus read(HkCursor c, HkMesh *mesh, HkError *error) {
  hk_skip_byte_order_mark(&c);
  hk_skip_space(&c, '#');
  HkCursor place = c;
  const char *word;
  size_t length;
  if (!hk_next_word(&c, &word, &length) || !hk_word_is(word, length, "tet"))
    return hk_cursor_fail(&place, error, "the file does not begin with 'tet NV NT'");
  int64_t vertices, tets;
  HK_TRY(hk_read_count(&c, true, 3, "vertices", &vertices, error));
  HK_TRY(hk_read_count(&c, true, 4, "tetrahedra", &tets, error));
  HK_TRY(hk_mesh_reserve(mesh, vertices, tets, 4 * tets, error));
  for (int64_t v = 0; v < vertices; v++) {
    double x[3];
    HK_TRY(hk_read_point(&c, true, 3, x, error));
    HK_TRY(hk_mesh_add_vertices(mesh, x, 1, error));
  }
  for (int64_t t = 0; t < tets; t++) {
    int32_t corners[4];
    HK_TRY(hk_read_corners(&c, true, 0, vertices, 4, corners, error));
    HK_TRY(hk_mesh_add_cell(mesh, HK_CELL_TET, corners, 4, error));
  }
  hk_skip_space(&c, '#');
  if (!hk_at_end(&c))
    return hk_cursor_fail(&c, error, "more numbers than %lld vertices and %lld tetrahedra",
                          (long long)vertices, (long long)tets);
  return HK_OK;
}

const HkMeshFormat hk_format_tet = {
    .name = "tet",
    .summary = "plain tetrahedra: 'tet NV NT', vertices, tetrahedra by index",
    .read = read,
    .write = hk_write_tet,
    .cells = 1u << HK_CELL_TET,
};
