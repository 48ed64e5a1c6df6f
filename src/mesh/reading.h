/* Common functions of the mesh readers: counts, indices, points and corners, with errors that have
 * line and column.
 *
 * A count is checked against the length of the file: each entry has a minimum number of bytes, so
 * that a header of 10^18 vertices in a file of 100 bytes is an error before any memory is
 * allocated.
 *
 * `across` is true for free-form formats, where numbers may be separated by ends of lines and
 * comments (#); otherwise they must be on one line.
 */
#ifndef HK_MESH_READING_H
#define HK_MESH_READING_H

#include "mesh/mesh.h"

/* Corners of a cell while it is read; freed with hk_free(context, &corners.vertices). */
typedef struct HkCorners {
  int32_t *vertices;
  int64_t count, capacity;
} HkCorners;

HkStatus hk_corners_push(const HkContext *context, HkCorners *corners, int32_t vertex,
                         HkError *error);

/* Appends a point, line, triangle, quad or polygon, by the number of its corners. */
HkStatus hk_mesh_add_face(HkMesh *mesh, const HkCorners *corners, HkError *error);

/* Skips the three bytes (EF BB BF) that some editors put before UTF-8 text. */
void hk_skip_byte_order_mark(HkCursor *c);

/* Returns HK_ERROR_UNSUPPORTED at the cursor, for valid content that Hooke does not read. */
HkStatus hk_cursor_refuse(const HkCursor *c, HkError *error, const char *format, ...)
    HK_PRINTF(3, 4);

/* Returns an error in a binary file, at a byte counted from 0. */
HkStatus hk_fail_byte(const char *name, int64_t byte, HkError *error, const char *format, ...)
    HK_PRINTF(4, 5);

/* Returns an error at `place` if count is negative, or if `left` bytes cannot contain count entries
 * of `bytes` bytes each. */
HkStatus hk_check_count(const HkCursor *place, int64_t count, int64_t left, int64_t bytes,
                        const char *what, HkError *error);

/* Returns an error if vertex is not in first .. first + count - 1. */
HkStatus hk_check_index(const HkCursor *place, int64_t vertex, int64_t first, int64_t count,
                        HkError *error);

/* Reads a whole number. */
HkStatus hk_read_int(HkCursor *c, bool across, int64_t *value, const char *what, HkError *error);
/* Reads a count of entries of `numbers` numbers each and checks it against the rest of the file. */
HkStatus hk_read_count(HkCursor *c, bool across, int64_t numbers, const char *what, int64_t *count,
                       HkError *error);
/* Reads a point of `dimension` coordinates; the others become 0. */
HkStatus hk_read_point(HkCursor *c, bool across, int dimension, double x[3], HkError *error);
/* Reads corners whose numbers begin at first, and converts them to vertices from 0 to vertex_count
 * - 1. */
HkStatus hk_read_corners(HkCursor *c, bool across, int64_t first, int64_t vertex_count, int corners,
                         int32_t *vertices, HkError *error);

/* hk_sibling_path writes X.ending for the path X.anything; hk_file_exists returns whether a file
 * exists. */
HkStatus hk_sibling_path(const char *path, const char *ending, char *sibling, size_t size,
                         HkError *error);
bool hk_file_exists(const char *path);

#endif
