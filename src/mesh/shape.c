/* The registry of procedural shapes. */
#include "mesh/mesh.h"

#define HK_SHAPE_TYPE(name) extern const HkShapeType hk_shape_##name;
#include "mesh/shape.def"
#undef HK_SHAPE_TYPE

static const HkShapeType *const shapes[] = {
#define HK_SHAPE_TYPE(name) &hk_shape_##name,
#include "mesh/shape.def"
#undef HK_SHAPE_TYPE
};

enum { SHAPE_COUNT = sizeof shapes / sizeof shapes[0] };

const HkSchema *hk_shape_schema(int index) {
  return index >= 0 && index < SHAPE_COUNT ? &shapes[index]->schema : NULL;
}

HkStatus hk_mesh_shape(const HkContext *context, const HkMethod *shape, HkMesh **mesh,
                       HkError *error) {
  *mesh = NULL;
  for (int q = 0; q < SHAPE_COUNT; q++) {
    if (&shapes[q]->schema != shape->schema) continue;
    HK_TRY(hk_mesh_create(context, mesh, error));
    HkStatus status = shapes[q]->build(shape->params, *mesh, error);
    if (status < 0) hk_mesh_destroy(mesh);
    return status;
  }
  return hk_fail(error, HK_ERROR_INVALID, "'%s' is not a shape",
                 shape->schema ? shape->schema->name : "nothing");
}
