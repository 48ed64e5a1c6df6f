/* One spring: two masses and a line between them.
 *
 * x_0 = 0, x_1 = length direction / |direction|. Sets: start, end, ends.
 */
#include "base/vec.h"
#include "mesh/shapes/lattice.h"

typedef struct Spring {
  double length;
  double direction[3];
} Spring;

static const HkParam params[] = {
    HK_NUMBER(Spring, length, "m", 1, HK_LENGTH_MIN, HK_LENGTH_MAX,
              "distance between the two vertices"),
    HK_VECTOR(Spring, direction, "", 1, 0, 0,
              "from the first vertex, at the origin, to the second; of any length but 0"),
};

static HkStatus count(const void *chosen, HkMeshCounts *counts, HkError *error) {
  (void)chosen;
  (void)error;
  counts->vertices = 2;
  counts->lines = 1;
  return HK_OK;
}

static HkStatus build(const void *chosen, HkMesh *mesh, HkError *error) {
  const Spring *p = chosen;
  double x[6] = {0};
  if (!hk_unit(p->direction, x + 3))
    return hk_fail_key(error, HK_ERROR_INVALID, "direction",
                       "0 0 0 points nowhere, give a direction");
  for (int c = 0; c < 3; c++) x[3 + c] *= p->length;
  HK_TRY(hk_mesh_add_vertices(mesh, x, 2, error));
  HK_TRY(hk_mesh_add_cell(mesh, HK_CELL_LINE, (int32_t[]){0, 1}, 2, error));
  HK_TRY(hk_mesh_add_range_set(mesh, "start", 0, 1, error));
  HK_TRY(hk_mesh_add_range_set(mesh, "end", 1, 1, error));
  return hk_mesh_add_range_set(mesh, "ends", 0, 2, error);
}

const HkShapeType hk_shape_spring = {
    .schema = {.name = "spring",
               .summary = "two masses and the line between them",
               .formula = "x_0 = 0, x_1 = length direction / |direction|",
               HK_PARAMS(Spring, params)},
    .count = count,
    .build = build,
};
