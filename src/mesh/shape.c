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

static HkStatus find(const HkMethod *shape, const HkShapeType **type, HkError *error) {
  *type = NULL;
  for (int q = 0; q < SHAPE_COUNT; q++)
    if (&shapes[q]->schema == shape->schema) *type = shapes[q];
  if (*type) return HK_OK;
  return hk_fail(error, HK_ERROR_INVALID, "'%s' is not a shape",
                 shape->schema ? shape->schema->name : "nothing");
}

HkStatus hk_shape_count(const HkMethod *shape, HkMeshCounts *counts, HkError *error) {
  const HkShapeType *type;
  *counts = (HkMeshCounts){0};
  HK_TRY(find(shape, &type, error));
  HK_TRY(hk_method_check(shape, HK_SHAPE, "shape", error));
  HK_TRY(hk_fail_under(error, type->count(shape->params, counts, error), "shape"));
  counts->corners = 2 * counts->lines + 3 * counts->triangles + 4 * counts->quads +
                    4 * counts->solids; /* all of them tetrahedra */
  return HK_OK;
}

static HkStatus make(const HkMethod *shape, const HkMeshCounts *counts, HkMesh *mesh,
                     HkError *error) {
  const HkShapeType *type;
  HK_TRY(find(shape, &type, error));
  HK_TRY(hk_mesh_reserve(mesh, counts->vertices, hk_counts_cells(counts), counts->corners, error));
  return hk_fail_under(error, type->build(shape->params, mesh, error), "shape");
}

HkStatus hk_mesh_shape(const HkContext *context, const HkMethod *shape, HkMesh **mesh,
                       HkError *error) {
  HkMeshCounts counts;
  *mesh = NULL;
  HK_TRY(hk_shape_count(shape, &counts, error));
  HK_TRY(hk_mesh_create(context, mesh, error));
  HkStatus status =
      hk_memory_check(&(*mesh)->context, hk_counts_bytes(&counts), "a mesh", NULL, error);
  if (status >= 0) status = make(shape, &counts, *mesh, error);
  if (status < 0) hk_mesh_destroy(mesh);
  return status;
}
