/* MEDIT .mesh as text, the free-form format of INRIA's meshing tools:
 *
 *     MeshVersionFormatted 1
 *     Dimension 3                   or 2; then z = 0
 *     Vertices N                    N times: x y [z] reference
 *     Edges N                       N times: a b reference, counted from 1
 *     Triangles, Quadrilaterals, Tetrahedra, Pyramids, Prisms, Hexahedra: corners, then reference
 *     End
 *
 * Numbers are separated by blanks or ends of lines, # starts a comment, references are ignored.
 * Other sections (Corners, Ridges, RequiredVertices, Normals, Tangents ...) are skipped up to the
 * next word; they must have at least as many numbers as their count. Sections of curved cells
 * (TrianglesP2 ...) are refused, since leaving them out would leave cells out.
 */
#include "mesh/reading.h"
#include "mesh/writing.h"

#include <string.h>

typedef struct Section {
  const char *word;
  HkCellType type;
} Section;

static const Section sections[] = {
    {"Edges", HK_CELL_LINE},     {"Triangles", HK_CELL_TRIANGLE}, {"Quadrilaterals", HK_CELL_QUAD},
    {"Tetrahedra", HK_CELL_TET}, {"Pyramids", HK_CELL_PYRAMID},   {"Prisms", HK_CELL_WEDGE},
    {"Hexahedra", HK_CELL_HEX},
};

enum { SECTION_COUNT = sizeof sections / sizeof sections[0] };

static HkStatus read_reference(HkCursor *c, HkError *error) {
  int64_t reference;
  return hk_read_int(c, true, &reference, "the reference behind a vertex or cell", error);
}

static HkStatus read_vertices(HkCursor *c, HkMesh *mesh, int dimension, HkError *error) {
  if (mesh->vertex_count) return hk_cursor_fail(c, error, "a second section Vertices");
  int64_t count;
  HK_TRY(hk_read_count(c, true, dimension + 1, "vertices", &count, error));
  HK_TRY(hk_mesh_reserve(mesh, count, 0, 0, error));
  for (int64_t v = 0; v < count; v++) {
    double x[3];
    HK_TRY(hk_read_point(c, true, dimension, x, error));
    HK_TRY(read_reference(c, error));
    HK_TRY(hk_mesh_add_vertices(mesh, x, 1, error));
  }
  return HK_OK;
}

static HkStatus read_cells(HkCursor *c, HkMesh *mesh, HkCellType type, HkError *error) {
  int corners = hk_cell_corners(type);
  int64_t count;
  HK_TRY(hk_read_count(c, true, corners + 1, "cells", &count, error));
  HK_TRY(hk_mesh_reserve(mesh, mesh->vertex_count, mesh->cell_count + count,
                         mesh->corner_count + count * corners, error));
  for (int64_t q = 0; q < count; q++) {
    int32_t vertices[8];
    HK_TRY(hk_read_corners(c, true, 1, mesh->vertex_count, corners, vertices, error));
    HK_TRY(read_reference(c, error));
    HK_TRY(hk_mesh_add_cell(mesh, type, vertices, corners, error));
  }
  return HK_OK;
}

static bool is_letter(char ch) {
  return (ch >= 'A' && ch <= 'Z') || (ch >= 'a' && ch <= 'z');
}

/* Returns whether a section begins with a count; a few others have a text, or numbers without a
 * count. */
static bool has_count(const char *word, size_t length) {
  static const char *const starts[] = {"Corners", "Ridges", "Required", "Normal", "Tangent"};
  for (size_t q = 0; q < sizeof starts / sizeof starts[0]; q++) {
    size_t n = strlen(starts[q]);
    if (length >= n && memcmp(word, starts[q], n) == 0) return true;
  }
  return false;
}

/* Skips to the next word that begins with a letter, which is the next section. */
static HkStatus skip_section(HkCursor *c, const HkCursor *place, HkError *error) {
  int64_t count = 0, numbers = 0;
  if (has_count(place->at, (size_t)(c->at - place->at)))
    HK_TRY(hk_read_count(c, true, 1, "entries", &count, error));
  for (hk_skip_space(c, '#'); !hk_at_end(c) && !is_letter(*c->at); hk_skip_space(c, '#')) {
    const char *word;
    size_t length;
    hk_next_word(c, &word, &length);
    numbers++;
  }
  if (numbers < count)
    return hk_cursor_fail(place, error, "%lld entries are promised, but only %lld numbers follow",
                          (long long)count, (long long)numbers);
  return HK_OK;
}

/* Returns whether a word is that of a section of curved cells, such as "TrianglesP2". */
static bool is_curved(const char *word, size_t length) {
  for (int q = 0; q < SECTION_COUNT; q++) {
    size_t n = strlen(sections[q].word);
    if (length == n + 2 && memcmp(word, sections[q].word, n) == 0) return true;
  }
  return false;
}

static HkStatus read_dimension(HkCursor *c, int *dimension, HkError *error) {
  int64_t value;
  hk_skip_space(c, '#');
  HkCursor place = *c;
  HK_TRY(hk_next_int(c, &value, "the dimension", error));
  if (value != 2 && value != 3)
    return hk_cursor_fail(&place, error, "the dimension is %lld; it can be 2 or 3",
                          (long long)value);
  *dimension = (int)value;
  return HK_OK;
}

/* Reads one section, whose word is between `place` and c. */
static HkStatus read_section(HkCursor *c, const HkCursor *place, HkMesh *mesh, int *dimension,
                             HkError *error) {
  const char *word = place->at;
  size_t length = (size_t)(c->at - place->at);
  if (hk_word_is(word, length, "Dimension")) return read_dimension(c, dimension, error);
  if (hk_word_is(word, length, "Vertices")) {
    if (*dimension == 0) return hk_cursor_fail(place, error, "Vertices before the Dimension");
    return read_vertices(c, mesh, *dimension, error);
  }
  for (int q = 0; q < SECTION_COUNT; q++)
    if (hk_word_is(word, length, sections[q].word))
      return read_cells(c, mesh, sections[q].type, error);
  if (is_curved(word, length))
    return hk_cursor_refuse(place, error,
                            "%.*s: curved cells are not read; save the mesh with straight ones",
                            (int)length, word);
  if (!is_letter(*word))
    return hk_cursor_fail(place, error, "'%.*s' where the word of a section should stand",
                          length > 40 ? 40 : (int)length, word);
  return skip_section(c, place, error);
}

static HkStatus read(HkCursor c, HkMesh *mesh, HkError *error) {
  hk_skip_byte_order_mark(&c);
  hk_skip_space(&c, '#');
  HkCursor place = c;
  const char *word;
  size_t length;
  int64_t version;
  if (!hk_next_word(&c, &word, &length) || !hk_word_is(word, length, "MeshVersionFormatted"))
    return hk_cursor_fail(&place, error, "the file does not begin with MeshVersionFormatted");
  HK_TRY(hk_read_int(&c, true, &version, "the version", error));
  int dimension = 0;
  for (hk_skip_space(&c, '#'); !hk_at_end(&c); hk_skip_space(&c, '#')) {
    place = c;
    hk_next_word(&c, &word, &length);
    if (hk_word_is(word, length, "End")) break;
    HK_TRY(read_section(&c, &place, mesh, &dimension, error));
  }
  return HK_OK;
}

const HkMeshFormat hk_format_mesh = {
    .name = "mesh",
    .summary = "MEDIT .mesh, 2D and 3D, as text",
    .read = read,
    .write = hk_write_mesh,
    .cells = HK_CELLS_FIXED & ~(1u << HK_CELL_POINT),
};
