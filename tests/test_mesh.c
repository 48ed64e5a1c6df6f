/* HkMesh by itself. */
#include "test.h"

TEST(chain_has_vertices_lines_and_sets) {
  HkMethod shape = {0};
  HkMesh *mesh = NULL;
  MUST(hk_method_choose(&shape, HK_SHAPE, "chain", error));
  MUST(hk_method_set_number(&shape, "n", 5, error));
  MUST(hk_mesh_shape(NULL, &shape, &mesh, error));
  CHECK(hk_mesh_vertex_count(mesh) == 5);
  CHECK(hk_mesh_cell_count(mesh) == 4);
  CHECK_NEAR(hk_mesh_vertices(mesh)[3], 0.25, 1e-15);
  int64_t count;
  const int32_t *ends = hk_mesh_set(mesh, "ends", &count);
  CHECK(count == 2 && ends[0] == 0 && ends[1] == 4);
  hk_mesh_destroy(&mesh);
  hk_method_clear(&shape);
}

TEST(mesh_rejects_cells_with_missing_vertices) {
  HkMesh *mesh = NULL;
  MUST(hk_mesh_create(NULL, &mesh, error));
  MUST(hk_mesh_add_vertices(mesh, (double[]){0, 0, 0, 1, 0, 0}, 2, error));
  FAILS(hk_mesh_add_cell(mesh, HK_CELL_LINE, (int32_t[]){0, 2}, 2, error), HK_ERROR_INVALID,
        "vertex 2");
  hk_mesh_destroy(&mesh);
}
