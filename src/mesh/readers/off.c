/* OFF, the Object File Format of Geomview, as text:
 *
 *     OFF [vertices faces [edges]]   or the counts on a line of their own
 *     x y z ...                      one line a vertex
 *     n i i ... [color]             one line a face of n corners, counted from 0
 *
 * The first word may say that vertices have more data (COFF colors, NOFF normals, STOFF texture);
 * what follows z is ignored, and so are colors of faces. Faces of two corners are lines, of one
 * points. The number of edges is ignored. # starts a comment.
 */
#include "mesh/reading.h"
#include "mesh/writing.h"

#include <string.h>

/* Returns whether a word is "OFF", with or without letters before it for the data of vertices. */
static bool is_keyword(const char *word, size_t length) {
  if (length < 3 || memcmp(word + length - 3, "OFF", 3) != 0) return false;
  for (size_t q = 0; q < length - 3; q++)
    if (word[q] == 0 || !strchr("STCN4n", word[q])) return false;
  return true;
}

/* Reads the first word; the cursor is before the counts afterwards. */
static HkStatus read_keyword(HkCursor *c, HkError *error) {
  hk_skip_byte_order_mark(c);
  hk_skip_space(c, '#');
  HkCursor place = *c;
  const char *word;
  size_t length;
  if (!hk_next_word(c, &word, &length))
    return hk_cursor_fail(&place, error, "the file is empty: it should begin with OFF");
  if (*word >= '0' && *word <= '9' && !memchr(word, 'F', length)) {
    *c = place; /* the word may be missing */
    return HK_OK;
  }
  if (!is_keyword(word, length))
    return hk_cursor_fail(&place, error, "'%.*s' instead of OFF at the beginning of the file",
                          length > 40 ? 40 : (int)length, word);
  if (memchr(word, '4', length) || memchr(word, 'n', length))
    return hk_cursor_refuse(&place, error,
                            "%.*s has vertices of other than three dimensions; save it as OFF",
                            length > 40 ? 40 : (int)length, word);
  HkCursor after = *c;
  if (hk_next_word(&after, &word, &length) && hk_word_is(word, length, "BINARY"))
    return hk_cursor_refuse(&place, error, "binary OFF is not read; save it as text or as PLY");
  return HK_OK;
}

static HkStatus read_vertices(HkCursor *c, HkMesh *mesh, int64_t count, HkError *error) {
  HK_TRY(hk_mesh_reserve(mesh, count, 0, 0, error));
  for (int64_t v = 0; v < count; v++) {
    double x[3];
    hk_skip_space(c, '#');
    HK_TRY(hk_read_point(c, false, 3, x, error));
    HK_TRY(hk_mesh_add_vertices(mesh, x, 1, error));
    hk_skip_line(c);
  }
  return HK_OK;
}

static HkStatus read_faces(HkCursor *c, HkMesh *mesh, int64_t count, HkCorners *corners,
                           HkError *error) {
  for (int64_t f = 0; f < count; f++) {
    hk_skip_space(c, '#');
    HkCursor place = *c;
    int64_t n;
    HK_TRY(hk_read_count(c, false, 1, "corners of a face", &n, error));
    if (n == 0) return hk_cursor_fail(&place, error, "a face without corners");
    corners->count = 0;
    for (int64_t q = 0; q < n; q++) {
      int32_t vertex;
      HK_TRY(hk_read_corners(c, false, 0, mesh->vertex_count, 1, &vertex, error));
      HK_TRY(hk_corners_push(&mesh->context, corners, vertex, error));
    }
    HK_TRY(hk_mesh_add_face(mesh, corners, error));
    hk_skip_line(c);
  }
  return HK_OK;
}

static HkStatus read(HkCursor c, HkMesh *mesh, HkError *error) {
  HK_TRY(read_keyword(&c, error));
  int64_t vertices, faces;
  HK_TRY(hk_read_count(&c, true, 3, "vertices", &vertices, error));
  HK_TRY(hk_read_count(&c, true, 2, "faces", &faces, error));
  hk_skip_line(&c);
  HK_TRY(read_vertices(&c, mesh, vertices, error));
  HkCorners corners = {0};
  HkStatus status = read_faces(&c, mesh, faces, &corners, error);
  hk_free(&mesh->context, &corners.vertices);
  return status;
}

const HkMeshFormat hk_format_off = {
    .name = "off",
    .summary = "OFF: faces of any number of corners, as text",
    .read = read,
    .write = hk_write_off,
    .cells = HK_CELLS_FLAT,
};
