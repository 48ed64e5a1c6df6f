/* Small helpers of the tests that read and write mesh files. */
#ifndef HOOKE_MESH_TEXT_H
#define HOOKE_MESH_TEXT_H

#include "test.h"

/* Reads a mesh from a text, with "f" as the name of the file. */
static inline HkStatus parse_text(const char *format, const char *text, HkMesh **mesh,
                                  HkError *error) {
  return hk_mesh_parse(NULL, format, text, strlen(text), "f", mesh, error);
}

/* Writes bytes to folder/name; path is folder/name afterwards. */
static inline void put_file(char path[512], const char *folder, const char *name, const void *bytes,
                            size_t size) {
  snprintf(path, 512, "%s/%s", folder, name);
  FILE *file = fopen(path, "wb");
  if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0) abort();
}

/* A whole file, or NULL; freed with free. */
static inline char *get_file(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  if (!file) return NULL;
  char *bytes = malloc(1 << 20);
  *size = bytes ? fread(bytes, 1, 1 << 20, file) : 0;
  fclose(file);
  return bytes;
}

static inline bool cell_is(const HkMesh *mesh, int64_t index, HkCellType type,
                           const int32_t *vertices, int count) {
  if (index >= hk_mesh_cell_count(mesh)) return false;
  HkCell cell = hk_mesh_cell(mesh, index);
  return cell.type == type && cell.count == count &&
         memcmp(cell.vertices, vertices, (size_t)count * sizeof *vertices) == 0;
}

/* CHECK_CELL(mesh, 0, HK_CELL_LINE, 3, 4); */
#define CHECK_CELL(mesh, index, type, ...)                                                         \
  CHECK(cell_is(mesh, index, type, (int32_t[]){__VA_ARGS__},                                       \
                (int)(sizeof((int32_t[]){__VA_ARGS__}) / sizeof(int32_t))))

/* Bit by bit: -0 is not 0. */
static inline bool same_bits(const void *a, const void *b, size_t bytes) {
  return bytes == 0 || memcmp(a, b, bytes) == 0;
}

#define CHECK_VERTEX(mesh, index, x, y, z)                                                         \
  CHECK(same_bits(hk_mesh_vertices(mesh) + 3 * (index), (double[]){x, y, z}, 24))

/* Same bits of vertices, same cells in the same order. */
static inline bool meshes_are_equal(HkMesh *a, HkMesh *b) {
  int64_t vertices = hk_mesh_vertex_count(a), cells = hk_mesh_cell_count(a);
  if (hk_mesh_vertex_count(b) != vertices || hk_mesh_cell_count(b) != cells) return false;
  if (!same_bits(hk_mesh_vertices(a), hk_mesh_vertices(b), (size_t)vertices * 24)) return false;
  for (int64_t c = 0; c < cells; c++) {
    HkCell cell = hk_mesh_cell(a, c);
    if (!cell_is(b, c, cell.type, cell.vertices, cell.count)) return false;
  }
  return true;
}

#endif
