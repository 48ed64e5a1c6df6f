/* Wavefront OBJ, the statements that masses and springs are made of:
 *
 *     v x y z [w | r g b ...]       a vertex (m); what follows z is ignored
 *     p i ...                       points
 *     l i i ...                     a polyline, one line cell for each piece
 *     f i i ...                     a face; with two corners an edge, that is, a line cell
 *
 * A corner i is written i, i/t, i//n or i/t/n; texture t and normal n are ignored. Vertices count
 * from 1 over the whole file, -1 is the last one above the line. # starts a comment, a backslash at
 * the end of a line continues the statement on the next. All other statements (vt, vn, g, o, s,
 * usemtl ...) are ignored.
 *
 * The file is read twice, first for the vertices and then for the cells, since a cell may use a
 * vertex that comes later.
 */
#include "mesh/reading.h"
#include "mesh/writing.h"

#include <string.h>

/* Returns whether the cursor is at a backslash that ends a line. */
static bool at_continuation(const HkCursor *c) {
  if (*c->at != '\\') return false;
  HkCursor after = *c;
  after.at++;
  return hk_at_line_end(&after);
}

/* Returns whether the statement has no further word; skips continued ends of lines. */
static bool at_statement_end(HkCursor *c) {
  while (!hk_at_line_end(c)) {
    if (*c->at == '#') return true;
    if (!at_continuation(c)) return false;
    hk_skip_line(c);
  }
  return true;
}

/* *word becomes the next word of the statement, a cursor with its own end and place. */
static bool next_word(HkCursor *c, HkCursor *word) {
  if (at_statement_end(c)) return false;
  *word = *c;
  const char *start;
  size_t length;
  hk_next_word(c, &start, &length);
  /* A continuation may follow the word without a blank: "f 1 2 3\". */
  if (length > 1 && start[length - 1] == '\\' && hk_at_line_end(c)) c->at = start + --length;
  word->end = start + length;
  return true;
}

static bool is_space(char ch) {
  return ch == '\n' || ch == '\r' || ch == ' ' || ch == '\t';
}

static void skip_statement(HkCursor *c) {
  bool continued;
  do {
    hk_skip_blanks(c);
    const char *start = c->at;
    bool comment = start < c->end && *start == '#';
    hk_skip_line(c);
    const char *last = c->at;
    while (last > start && is_space(last[-1])) last--;
    continued = !comment && last > start && last[-1] == '\\';
  } while (continued && !hk_at_end(c));
}

/* Moves into the next statement; returns its letter if it is v, p, l or f, else 0. */
static char next_statement(HkCursor *c) {
  HkCursor word;
  if (!next_word(c, &word) || word.end - word.at != 1) return 0;
  char letter = *word.at;
  return letter == 'v' || letter == 'f' || letter == 'l' || letter == 'p' ? letter : 0;
}

static HkStatus read_vertices(HkCursor c, HkMesh *mesh, int64_t *cells, HkError *error) {
  static const char *const names[] = {"coordinate x", "coordinate y", "coordinate z"};
  *cells = 0;
  for (; !hk_at_end(&c); skip_statement(&c)) {
    char statement = next_statement(&c);
    *cells += statement != 0 && statement != 'v';
    if (statement != 'v') continue;
    double x[3];
    for (int q = 0; q < 3; q++) {
      HkCursor word = c;
      if (!next_word(&c, &word)) {
        word = c;
        word.end = word.at; /* empty, so that the number is missing here */
      }
      HK_TRY(hk_next_double(&word, &x[q], names[q], error));
    }
    HK_TRY(hk_mesh_add_vertices(mesh, x, 1, error));
  }
  return HK_OK;
}

/* Reads one corner; `above` is the number of vertices before the line: -1 is the last of them. */
static HkStatus read_corner(HkCursor word, int64_t above, int64_t count, int32_t *vertex,
                            HkError *error) {
  const char *slash = memchr(word.at, '/', (size_t)(word.end - word.at));
  if (slash) {
    for (const char *p = slash; p < word.end; p++)
      if (!((*p >= '0' && *p <= '9') || *p == '/' || *p == '-'))
        return hk_cursor_fail(&word, error, "a corner: '%.*s' is not v, v/vt, v//vn or v/vt/vn",
                              word.end - word.at > 40 ? 40 : (int)(word.end - word.at), word.at);
    word.end = slash;
  }
  HkCursor place = word;
  int64_t n;
  HK_TRY(hk_next_int(&word, &n, "a corner", error));
  if (n < 0 && -n > above)
    return hk_cursor_fail(&place, error, "vertex %lld is not there: %lld vertices come before",
                          (long long)n, (long long)above);
  if (n < 0) n += above + 1;
  HK_TRY(hk_check_index(&place, n, 1, count, error));
  *vertex = (int32_t)(n - 1);
  return HK_OK;
}

/* Appends the cell or cells of one statement, whose corners have been read. */
static HkStatus add_cells(HkMesh *mesh, const HkCursor *place, char statement,
                          const HkCorners *corners, HkError *error) {
  if (corners->count < (statement == 'p' ? 1 : 2))
    return hk_cursor_fail(place, error, "'%c' with %lld corners: it needs %s at least", statement,
                          (long long)corners->count, statement == 'p' ? "one" : "two");
  if (statement == 'f') return hk_mesh_add_face(mesh, corners, error);
  int size = statement == 'p' ? 1 : 2;
  HkCellType type = statement == 'p' ? HK_CELL_POINT : HK_CELL_LINE;
  for (int64_t q = 0; q + size <= corners->count; q++)
    HK_TRY(hk_mesh_add_cell(mesh, type, corners->vertices + q, size, error));
  return HK_OK;
}

static HkStatus read_cells(HkCursor c, HkMesh *mesh, HkCorners *corners, HkError *error) {
  int64_t above = 0;
  for (; !hk_at_end(&c); skip_statement(&c)) {
    hk_skip_blanks(&c);
    HkCursor place = c, word;
    char statement = next_statement(&c);
    above += statement == 'v';
    if (statement == 0 || statement == 'v') continue;
    corners->count = 0;
    while (next_word(&c, &word)) {
      int32_t vertex = 0;
      HK_TRY(read_corner(word, above, mesh->vertex_count, &vertex, error));
      HK_TRY(hk_corners_push(&mesh->context, corners, vertex, error));
    }
    HK_TRY(add_cells(mesh, &place, statement, corners, error));
  }
  return HK_OK;
}

static HkStatus read(HkCursor c, HkMesh *mesh, HkError *error) {
  int64_t cells;
  hk_skip_byte_order_mark(&c);
  HK_TRY(read_vertices(c, mesh, &cells, error));
  HK_TRY(hk_mesh_reserve(mesh, mesh->vertex_count, cells, 3 * cells, error));
  HkCorners corners = {0};
  HkStatus status = read_cells(c, mesh, &corners, error);
  hk_free(&mesh->context, &corners.vertices);
  return status;
}

const HkMeshFormat hk_format_obj = {
    .name = "obj",
    .summary = "Wavefront OBJ: points, lines, faces",
    .read = read,
    .write = hk_write_obj,
    .cells = HK_CELLS_FLAT,
};
