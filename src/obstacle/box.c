/* A box: 8 vertices, 12 triangles and 18 edges with outward normals.
 *
 * Corner q of the unit box is at +-1/2, with a plus along x, y and z where bits 0, 1 and 2 of q are
 * set. The box is scaled, rotated about its center and moved. With a radius r its edges and corners
 * are round: the features span the box that is smaller by r on each side, so that the faces stay
 * where they are.
 */
#include "obstacle/features.h"

#include <string.h>

typedef struct Box {
  double center[3], size[3], axis[3], angle, radius;
} Box;

static const HkParam params[] = {
    HK_VECTOR(Box, center, "m", 0, 0, 0, "center"),
    HK_VECTOR(Box, size, "m", 1, 1, 1, "lengths along x, y, z before the rotation, above 0"),
    HK_VECTOR(Box, axis, "", 0, 0, 1, "axis of rotation through the center"),
    HK_NUMBER(Box, angle, "degrees", 0, -HK_MAX, HK_MAX, "angle of rotation about the axis"),
    HK_NUMBER(Box, radius, "m", 0, 0, HK_MAX,
              "radius of round edges and corners within the box; 0: sharp ones"),
};

enum { CORNERS = 8, TRIANGLES = 12 };

static const int32_t triangles[TRIANGLES][3] = {
    {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}, /* -x, +x */
    {0, 1, 5}, {0, 5, 4}, {2, 6, 7}, {2, 7, 3}, /* -y, +y */
    {0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, /* -z, +z */
};

static HkStatus check(const Box *p, HkError *error) {
  for (int c = 0; c < 3; c++) {
    if (!(p->size[c] > 0))
      return hk_fail_key(error, HK_ERROR_INVALID, "size", "%g m: lengths must be above 0",
                         p->size[c]);
    if (!(p->size[c] > 2 * p->radius))
      return hk_fail_key(error, HK_ERROR_INVALID, "radius",
                         "%g m: a box with a side of %g m needs a radius below %g m", p->radius,
                         p->size[c], p->size[c] / 2);
  }
  return HK_OK;
}

static HkStatus build(const Box *p, HkMesh *mesh, HkError *error) {
  double x[3 * CORNERS];
  for (int q = 0; q < CORNERS; q++)
    for (int c = 0; c < 3; c++) x[3 * q + c] = (q >> c & 1) - 0.5;
  HK_TRY(hk_mesh_add_vertices(mesh, x, CORNERS, error));
  for (int t = 0; t < TRIANGLES; t++)
    HK_TRY(hk_mesh_add_cell(mesh, HK_CELL_TRIANGLE, triangles[t], 3, error));
  HkTransform transform = {.angle = p->angle};
  memcpy(transform.axis, p->axis, sizeof p->axis);
  memcpy(transform.translate, p->center, sizeof p->center);
  for (int c = 0; c < 3; c++) transform.scale[c] = p->size[c] - 2 * p->radius;
  return hk_mesh_transform(mesh, &transform, error);
}

static HkStatus create(const HkContext *context, const char *folder, const void *chosen,
                       HkObstacleFeatures *features, void **data, HkError *error) {
  const Box *p = chosen;
  HkMesh *mesh;
  (void)folder;
  (void)data;
  HK_TRY(check(p, error));
  HK_TRY(hk_mesh_create(context, &mesh, error));
  HkStatus status = build(p, mesh, error);
  if (status >= 0) status = hk_obstacle_features_from_mesh(mesh, p->radius, features, error);
  hk_mesh_destroy(&mesh);
  return status;
}

const HkObstacleType hk_obstacle_box = {
    .schema = {.name = "box",
               .summary = "a box, with sharp or round edges",
               .formula = "|R^T (x - center)| <= size / 2 along each axis",
               HK_PARAMS(Box, params)},
    .create = create,
};
