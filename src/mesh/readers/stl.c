/* STL: a soup of triangles, text or binary. Vertices at exactly the same position become one and
 * are numbered by their first occurrence; normals and attributes are ignored.
 *
 *     solid NAME
 *       facet normal nx ny nz
 *         outer loop
 *           vertex x y z            three times
 *         endloop
 *       endfacet
 *     endsolid NAME
 *
 * Several solids may follow each other. Binary, little endian: a header of 80 bytes, a count n of
 * 4 bytes, n triangles of 50 bytes (normal and three corners as 12 floats, 2 bytes of attributes).
 * A file is binary if it has 84 + 50 n bytes or unprintable bytes among the first, whatever its
 * header says.
 */
#include "mesh/reading.h"
#include "mesh/weld.h"
#include "mesh/writing.h"

#include <math.h>
#include <string.h>
#include <strings.h>

enum { HEADER_BYTES = 84, TRIANGLE_BYTES = 50 };

static uint32_t read_u32(const char *p) {
  const unsigned char *b = (const unsigned char *)p;
  return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static bool word_is(const char *word, size_t length, const char *text) {
  return strlen(text) == length && strncasecmp(word, text, length) == 0;
}

static bool is_text(const HkCursor *c) {
  size_t size = (size_t)(c->end - c->at);
  if (size >= HEADER_BYTES && (size - HEADER_BYTES) % TRIANGLE_BYTES == 0 &&
      (size - HEADER_BYTES) / TRIANGLE_BYTES == read_u32(c->at + 80))
    return false;
  /* The highest byte of a count below 16 million is 0, which no text has. */
  for (size_t q = 0; q < size && q < 512; q++) {
    unsigned char ch = (unsigned char)c->at[q];
    if (ch < '\t' || (ch > '\r' && ch < ' ')) return false;
  }
  return true;
}

/* Appends one triangle with corners of its own. */
static HkStatus add_triangle(HkMesh *mesh, const double x[9], HkError *error) {
  int32_t v = (int32_t)mesh->vertex_count;
  HK_TRY(hk_mesh_add_vertices(mesh, x, 3, error));
  return hk_mesh_add_cell(mesh, HK_CELL_TRIANGLE, (int32_t[]){v, v + 1, v + 2}, 3, error);
}

/* Reads one word of the text; *corners is the number of corners of the open loop, -1 outside of
 * loops. */
static HkStatus read_word(HkCursor *c, HkMesh *mesh, bool *open, int *corners, double x[9],
                          HkError *error) {
  HkCursor place = *c;
  const char *word;
  size_t n;
  hk_next_word(c, &word, &n);
  if (word_is(word, n, "solid") || word_is(word, n, "endsolid")) {
    *open = word_is(word, n, "solid");
    while (hk_next_word(c, &word, &n)) continue; /* the name */
  } else if (word_is(word, n, "facet")) {
    for (int q = 0; q < 4; q++) hk_next_word(c, &word, &n); /* normal nx ny nz, often wrong */
  } else if (word_is(word, n, "outer")) {
    *corners = 0;
    if (!hk_next_word(c, &word, &n) || !word_is(word, n, "loop"))
      return hk_cursor_fail(&place, error, "'outer' must be followed by 'loop'");
  } else if (word_is(word, n, "vertex")) {
    if (*corners < 0) return hk_cursor_fail(&place, error, "a vertex outside of 'outer loop'");
    if (*corners == 3) return hk_cursor_fail(&place, error, "a facet with more than three corners");
    HK_TRY(hk_read_point(c, false, 3, x + 3 * (*corners)++, error));
  } else if (word_is(word, n, "endloop")) {
    if (*corners != 3)
      return hk_cursor_fail(&place, error, "a facet with %d corners instead of three",
                            *corners < 0 ? 0 : *corners);
    *corners = -1;
    return add_triangle(mesh, x, error);
  } else if (!word_is(word, n, "endfacet")) {
    return hk_cursor_fail(&place, error, "'%.*s' is no word of STL", n > 40 ? 40 : (int)n, word);
  }
  return HK_OK;
}

static HkStatus read_text(HkCursor c, HkMesh *mesh, HkError *error) {
  double x[9];
  int corners = -1;
  bool open = false;
  hk_skip_byte_order_mark(&c);
  for (hk_skip_space(&c, 0); !hk_at_end(&c); hk_skip_space(&c, 0))
    HK_TRY(read_word(&c, mesh, &open, &corners, x, error));
  if (open || corners >= 0)
    return hk_cursor_fail(&c, error, "the file ends before 'endsolid': it is cut off");
  return HK_OK;
}

static HkStatus read_binary(HkCursor c, HkMesh *mesh, HkError *error) {
  int64_t size = c.end - c.at;
  if (size < HEADER_BYTES)
    return hk_fail_byte(c.name, size, error,
                        "neither text nor the 84 bytes that a binary STL file begins with");
  int64_t count = read_u32(c.at + 80);
  int64_t capacity = (size - HEADER_BYTES) / TRIANGLE_BYTES;
  if (count > capacity)
    return hk_fail_byte(c.name, 80, error,
                        "%lld triangles are promised, but only %lld follow: the file is cut off or "
                        "not STL",
                        (long long)count, (long long)capacity);
  int64_t rest = size - HEADER_BYTES - TRIANGLE_BYTES * count;
  if (rest)
    hk_log(&mesh->context, HK_LOG_WARNING, "%s: %lld bytes after the last triangle are ignored",
           c.name, (long long)rest);
  HK_TRY(hk_mesh_reserve(mesh, 3 * count, count, 3 * count, error));
  for (int64_t t = 0; t < count; t++) {
    const char *p = c.at + HEADER_BYTES + TRIANGLE_BYTES * t + 12;
    double x[9];
    for (int q = 0; q < 9; q++) {
      uint32_t bits = read_u32(p + 4 * q);
      float value;
      memcpy(&value, &bits, sizeof value);
      if (!isfinite(value))
        return hk_fail_byte(c.name, p + 4 * q - c.at, error,
                            "triangle %lld (counted from 0) has a coordinate that is not finite",
                            (long long)t);
      x[q] = value;
    }
    HK_TRY(add_triangle(mesh, x, error));
  }
  return HK_OK;
}

static HkStatus weld(HkMesh *mesh, HkError *error) {
  int32_t *number;
  HK_TRY(hk_alloc(&mesh->context, &number, mesh->vertex_count, sizeof *number, "welding", error));
  HkStatus status = hk_weld(&mesh->context, mesh->x, mesh->vertex_count, 0, number, error);
  if (status >= 0) hk_mesh_renumber(mesh, number, hk_weld_numbers(number, mesh->vertex_count));
  hk_free(&mesh->context, &number);
  return status;
}

static HkStatus read(HkCursor c, HkMesh *mesh, HkError *error) {
  HK_TRY(is_text(&c) ? read_text(c, mesh, error) : read_binary(c, mesh, error));
  return weld(mesh, error);
}

const HkMeshFormat hk_format_stl = {
    .name = "stl",
    .summary = "STL: triangles, text or binary; written binary in single precision",
    .read = read,
    .write = hk_write_stl,
    .cells = HK_CELLS_FACES,
};
