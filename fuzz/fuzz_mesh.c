/* libFuzzer target of one mesh reader, HK_FUZZ_FORMAT: whatever the bytes are, the reader returns a
 * sound mesh or an error with a text, and a mesh survives being looked at and repaired.
 */
#include "mesh/mesh.h"

#include <math.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* A broken promise is a finding. */
static void demand(bool condition) {
  if (!condition) abort();
}

static void walk(HkMesh *mesh) {
  int64_t vertices = hk_mesh_vertex_count(mesh);
  const double *x = hk_mesh_vertices(mesh);
  for (int64_t q = 0; q < 3 * vertices; q++) demand(isfinite(x[q]));
  for (int64_t c = 0; c < hk_mesh_cell_count(mesh); c++) {
    HkCell cell = hk_mesh_cell(mesh, c);
    int corners = hk_cell_corners(cell.type);
    demand(corners > 0 ? cell.count == corners : cell.count >= 5);
    for (int q = 0; q < cell.count; q++)
      demand(cell.vertices[q] >= 0 && cell.vertices[q] < vertices);
  }
  for (int s = 0; s < hk_mesh_set_count(mesh); s++) {
    int64_t count;
    const int32_t *set = hk_mesh_set(mesh, hk_mesh_set_name(mesh, s), &count);
    for (int64_t q = 0; q < count; q++) demand(set[q] >= 0 && set[q] < vertices);
  }
  for (int64_t f = 0; f < mesh->file_vertex_count; f++)
    demand(mesh->vertex_map[f] >= -1 && mesh->vertex_map[f] < vertices);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  HkMesh *mesh = NULL;
  HkError error = {0};
  HkStatus status = hk_mesh_parse(NULL, HK_FUZZ_FORMAT, bytes, size, "fuzz", &mesh, &error);
  if (status < 0) {
    demand(mesh == NULL && error.status == status && error.text[0] != 0);
    return 0;
  }
  walk(mesh);
  HkRepair repair = {.weld = 1e-3, .unused = true};
  demand(hk_mesh_repair(mesh, &repair, NULL, &error) >= 0);
  walk(mesh);
  hk_mesh_destroy(&mesh);
  return 0;
}
