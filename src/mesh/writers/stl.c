/* Writes binary STL: 80 bytes of header, the count, and 50 bytes a triangle, little endian. Faces
 * of more than three corners are cut into the triangles (0, i, i + 1). STL has single precision and
 * neither indices nor vertices without a face: a reader welds and renumbers the vertices.
 */
#include "base/vec.h"
#include "mesh/writing.h"

#include <float.h>
#include <string.h>

static void put_u32(unsigned char *p, uint32_t value) {
  for (int q = 0; q < 4; q++) p[q] = (unsigned char)(value >> (8 * q));
}

static void put_vector(unsigned char *p, const double x[3]) {
  for (int q = 0; q < 3; q++) {
    float value = (float)x[q];
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_u32(p + 4 * q, bits);
  }
}

/* Unit normal, right-handed; 0 for a triangle without area or with a huge one. */
static void normal_of(const double *a, const double *b, const double *c, double normal[3]) {
  double u[3], v[3];
  hk_sub(b, a, u);
  hk_sub(c, a, v);
  hk_cross(u, v, normal);
  double length = hk_norm(normal);
  for (int q = 0; q < 3; q++) normal[q] = length > 0 && isfinite(length) ? normal[q] / length : 0;
}

static void write_triangle(FILE *file, const double *a, const double *b, const double *c) {
  unsigned char bytes[50] = {0};
  double normal[3];
  normal_of(a, b, c, normal);
  put_vector(bytes, normal);
  put_vector(bytes + 12, a);
  put_vector(bytes + 24, b);
  put_vector(bytes + 36, c);
  fwrite(bytes, 1, sizeof bytes, file);
}

static HkStatus check(const HkMesh *mesh, int64_t triangles, const char *path, HkError *error) {
  if (triangles == 0)
    return hk_fail_at(error, HK_ERROR_UNSUPPORTED, path, 0, 0,
                      "STL holds triangles alone and the mesh has no faces; write .obj or .ply");
  if (triangles > UINT32_MAX)
    return hk_fail_at(error, HK_ERROR_UNSUPPORTED, path, 0, 0,
                      "%lld triangles are more than STL can count; write .ply",
                      (long long)triangles);
  for (int64_t q = 0; q < 3 * mesh->vertex_count; q++)
    if (fabs(mesh->x[q]) > FLT_MAX)
      return hk_fail_at(error, HK_ERROR_UNSUPPORTED, path, 0, 0,
                        "vertex %lld is at %g, beyond the single precision of STL; write .obj or "
                        ".ply",
                        (long long)(q / 3), mesh->x[q]);
  return HK_OK;
}

HkStatus hk_write_stl(const HkMesh *mesh, const char *path, HkError *error) {
  int64_t triangles = mesh->corner_count - 2 * mesh->cell_count;
  HK_TRY(check(mesh, triangles, path, error));
  HkWriter w;
  HK_TRY(hk_writer_open(&w, path, error));
  unsigned char header[84] = "binary STL written by Hooke";
  put_u32(header + 80, (uint32_t)triangles);
  fwrite(header, 1, sizeof header, w.file);
  for (int64_t c = 0; c < mesh->cell_count; c++) {
    HkCell cell = hk_mesh_cell(mesh, c);
    for (int q = 1; q + 1 < cell.count; q++)
      write_triangle(w.file, mesh->x + 3 * (int64_t)cell.vertices[0],
                     mesh->x + 3 * (int64_t)cell.vertices[q],
                     mesh->x + 3 * (int64_t)cell.vertices[q + 1]);
  }
  return hk_writer_commit(&w, error);
}
