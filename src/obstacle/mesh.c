/* A mesh from a file: its faces, open or closed, or the boundary of its solids; lines are edges,
 * points vertices. A radius around them makes it thicker. */
#include "base/file.h"
#include "obstacle/features.h"

#include <string.h>

typedef struct MeshObstacle {
  const char *file;
  double scale[3], axis[3], angle, translate[3], radius;
} MeshObstacle;

static const HkParam params[] = {
    HK_TEXT(MeshObstacle, file, "mesh file, relative to the scene file"),
    HK_VECTOR(MeshObstacle, scale, "1", 1, 1, 1, "first: factors along x, y, z"),
    HK_VECTOR(MeshObstacle, axis, "", 0, 0, 1, "then: axis of rotation through the origin"),
    HK_NUMBER(MeshObstacle, angle, "degrees", 0, -HK_MAX, HK_MAX, "and angle about it"),
    HK_VECTOR(MeshObstacle, translate, "m", 0, 0, 0, "last: displacement"),
    HK_NUMBER(MeshObstacle, radius, "m", 0, 0, HK_MAX, "thickness around the mesh, to each side"),
};

static HkStatus make_features(const MeshObstacle *p, HkMesh *mesh, HkObstacleFeatures *features,
                              HkError *error) {
  HkTransform transform = {.angle = p->angle};
  memcpy(transform.scale, p->scale, sizeof p->scale);
  memcpy(transform.axis, p->axis, sizeof p->axis);
  memcpy(transform.translate, p->translate, sizeof p->translate);
  HK_TRY(hk_mesh_transform(mesh, &transform, error));
  return hk_obstacle_features_from_mesh(mesh, p->radius, features, error);
}

static HkStatus create(const HkContext *context, const char *folder, const void *chosen,
                       HkObstacleFeatures *features, void **data, HkError *error) {
  const MeshObstacle *p = chosen;
  char path[4096];
  HkMesh *mesh;
  (void)data;
  if (!p->file)
    return hk_fail_key(error, HK_ERROR_INVALID, "file", "is missing; give the name of a mesh file");
  HK_TRY(hk_join_path(folder, p->file, path, sizeof path, error));
  HK_TRY(hk_mesh_read(context, path, &mesh, error));
  HkStatus status = make_features(p, mesh, features, error);
  hk_mesh_destroy(&mesh);
  return status;
}

const HkObstacleType hk_obstacle_mesh = {
    .schema = {.name = "mesh",
               .summary =
                   "a mesh from a file: open or closed surfaces, the boundary of solids, lines",
               .formula = "distance(x, mesh) <= radius",
               HK_PARAMS(MeshObstacle, params)},
    .create = create,
};
