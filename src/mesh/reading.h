/* What the mesh readers share: counts, indices, points and corners, with errors that name the
 * place.
 *
 * A count from a file is believed only as far as the file is long: each entry that it promises
 * takes some bytes at least, so that a header of 10^18 vertices in a file of 100 bytes fails before
 * any memory is asked for.
 *
 * `across` says whether numbers may go on over ends of lines and comments (#), as in free-form
 * formats, or must stand on one line.
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

/* Valid, but not something Hooke reads: HK_ERROR_UNSUPPORTED at the cursor's place. */
HkStatus hk_cursor_refuse(const HkCursor *c, HkError *error, const char *format, ...)
    HK_PRINTF(3, 4);

/* Error in a binary file, at a byte counted from 0. */
HkStatus hk_fail_byte(const char *name, int64_t byte, HkError *error, const char *format, ...)
    HK_PRINTF(4, 5);

/* Fails where count is negative or left bytes cannot hold so many entries of that many bytes each;
 * place is where the count stands. */
HkStatus hk_check_count(const HkCursor *place, int64_t count, int64_t left, int64_t bytes,
                        const char *what, HkError *error);

/* Fails where vertex is not one of first .. first + count - 1. */
HkStatus hk_check_index(const HkCursor *place, int64_t vertex, int64_t first, int64_t count,
                        HkError *error);

/* A whole number. */
HkStatus hk_read_int(HkCursor *c, bool across, int64_t *value, const char *what, HkError *error);
/* A count of entries of so many numbers each, checked against what is left of the file. */
HkStatus hk_read_count(HkCursor *c, bool across, int64_t numbers, const char *what, int64_t *count,
                       HkError *error);
/* A point of dimension coordinates; those that are missing to three become 0. */
HkStatus hk_read_point(HkCursor *c, bool across, int dimension, double x[3], HkError *error);
/* Corners that count from first, into vertices that count from 0; vertex_count are there. */
HkStatus hk_read_corners(HkCursor *c, bool across, int64_t first, int64_t vertex_count, int corners,
                         int32_t *vertices, HkError *error);

/* X.ending for the path X.anything; and whether a file of that path is there. */
HkStatus hk_sibling_path(const char *path, const char *ending, char *sibling, size_t size,
                         HkError *error);
bool hk_file_exists(const char *path);

#endif
