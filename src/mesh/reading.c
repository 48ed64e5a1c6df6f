/* Common functions of the mesh readers; see reading.h. */
#include "mesh/reading.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

HkStatus hk_corners_push(const HkContext *context, HkCorners *corners, int32_t vertex,
                         HkError *error) {
  HK_TRY(hk_grow(context, &corners->vertices, &corners->capacity, corners->count + 1,
                 sizeof *corners->vertices, "the corners of a cell", error));
  corners->vertices[corners->count++] = vertex;
  return HK_OK;
}

HkStatus hk_mesh_add_face(HkMesh *mesh, const HkCorners *corners, HkError *error) {
  if (corners->count > INT_MAX)
    return hk_fail(error, HK_ERROR_UNSUPPORTED, "a face of %lld corners is more than Hooke takes",
                   (long long)corners->count);
  int count = (int)corners->count;
  HkCellType type = count == 1 ? HK_CELL_POINT : count == 2 ? HK_CELL_LINE : hk_face_type(count);
  return hk_mesh_add_cell(mesh, type, corners->vertices, count, error);
}

void hk_skip_byte_order_mark(HkCursor *c) {
  if (c->end - c->at < 3 || memcmp(c->at, "\xEF\xBB\xBF", 3) != 0) return;
  c->at += 3;
  c->line_start = c->at;
}

HkStatus hk_cursor_refuse(const HkCursor *c, HkError *error, const char *format, ...) {
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return hk_fail_at(error, HK_ERROR_UNSUPPORTED, c->name, c->line, hk_cursor_column(c), "%s", text);
}

HkStatus hk_fail_byte(const char *name, int64_t byte, HkError *error, const char *format, ...) {
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return hk_fail_at(error, HK_ERROR_FORMAT, name, 0, 0, "byte %lld: %s", (long long)byte, text);
}

HkStatus hk_check_count(const HkCursor *place, int64_t count, int64_t left, int64_t bytes,
                        const char *what, HkError *error) {
  if (count < 0)
    return hk_cursor_fail(place, error, "%lld %s: a count cannot be negative", (long long)count,
                          what);
  /* One byte more, since the last line may have no end. */
  if (count > (left + 1) / bytes)
    return hk_cursor_fail(place, error,
                          "%lld %s are promised, but only %lld bytes follow: the file is cut off "
                          "or the count is wrong",
                          (long long)count, what, (long long)left);
  return HK_OK;
}

HkStatus hk_check_index(const HkCursor *place, int64_t vertex, int64_t first, int64_t count,
                        HkError *error) {
  if (vertex >= first && vertex - first < count) return HK_OK;
  if (count == 0)
    return hk_cursor_fail(place, error, "vertex %lld is not there: no vertices come before",
                          (long long)vertex);
  return hk_cursor_fail(place, error,
                        "vertex %lld is not there: the vertices are numbered %lld to %lld",
                        (long long)vertex, (long long)first, (long long)(first + count - 1));
}

HkStatus hk_read_int(HkCursor *c, bool across, int64_t *value, const char *what, HkError *error) {
  if (across) hk_skip_space(c, '#');
  return hk_next_int(c, value, what, error);
}

HkStatus hk_read_count(HkCursor *c, bool across, int64_t numbers, const char *what, int64_t *count,
                       HkError *error) {
  if (across) hk_skip_space(c, '#');
  hk_skip_blanks(c);
  HkCursor place = *c;
  char name[80];
  snprintf(name, sizeof name, "the number of %s", what);
  HK_TRY(hk_next_int(c, count, name, error));
  /* A number has at least a digit and a separator. */
  return hk_check_count(&place, *count, c->end - c->at, 2 * numbers, what, error);
}

HkStatus hk_read_point(HkCursor *c, bool across, int dimension, double x[3], HkError *error) {
  static const char *const names[] = {"coordinate x", "coordinate y", "coordinate z"};
  for (int q = 0; q < 3; q++) {
    x[q] = 0;
    if (q >= dimension) continue;
    if (across) hk_skip_space(c, '#');
    HK_TRY(hk_next_double(c, &x[q], names[q], error));
  }
  return HK_OK;
}

HkStatus hk_read_corners(HkCursor *c, bool across, int64_t first, int64_t vertex_count, int corners,
                         int32_t *vertices, HkError *error) {
  for (int q = 0; q < corners; q++) {
    if (across) hk_skip_space(c, '#');
    hk_skip_blanks(c);
    HkCursor place = *c;
    int64_t vertex;
    HK_TRY(hk_next_int(c, &vertex, "a corner", error));
    HK_TRY(hk_check_index(&place, vertex, first, vertex_count, error));
    vertices[q] = (int32_t)(vertex - first);
  }
  return HK_OK;
}

HkStatus hk_sibling_path(const char *path, const char *ending, char *sibling, size_t size,
                         HkError *error) {
  const char *dot = strrchr(path, '.');
  int stem = dot ? (int)(dot - path) : (int)strlen(path);
  int length = snprintf(sibling, size, "%.*s.%s", stem, path, ending);
  if (length < 0 || (size_t)length >= size)
    return hk_fail_at(error, HK_ERROR_IO, path, 0, 0, "the path is too long");
  return HK_OK;
}

bool hk_file_exists(const char *path) {
  return access(path, F_OK) == 0;
}
