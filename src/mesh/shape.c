/* The registry of procedural shapes. */
#include "mesh/shapes/lattice.h"

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

static void count_corners(HkMeshCounts *counts) {
  counts->corners = 2 * counts->lines + 3 * counts->triangles + 4 * counts->quads +
                    4 * counts->solids; /* all of them tetrahedra */
}

/* The window of all vertices of a lattice. */
static HkWindow whole(const HkMethod *shape, const HkLatticeType *lattice) {
  HkWindow w = {0};
  lattice->size(shape->params, w.n);
  for (int c = 0; c < 3; c++) w.end[c] = w.n[c];
  return w;
}

static HkStatus count_lattice(const HkMethod *shape, const HkLatticeType *lattice,
                              HkMeshCounts *counts, HkError *error) {
  HkWindow w = whole(shape, lattice);
  HK_TRY(hk_lattice_count(w.n, &counts->vertices, error));
  lattice->count(shape->params, &w, counts);
  return HK_OK;
}

HkStatus hk_shape_count(const HkMethod *shape, HkMeshCounts *counts, HkError *error) {
  const HkShapeType *type;
  *counts = (HkMeshCounts){0};
  HK_TRY(find(shape, &type, error));
  HK_TRY(hk_method_check(shape, HK_SHAPE, "shape", error));
  HkStatus status = type->lattice ? count_lattice(shape, type->lattice, counts, error)
                                  : type->count(shape->params, counts, error);
  HK_TRY(hk_fail_under(error, status, "shape"));
  count_corners(counts);
  return HK_OK;
}

/* Makes a mesh with the counts; window NULL: of the whole shape. */
static HkStatus make(const HkMethod *shape, const HkWindow *window, const HkMeshCounts *counts,
                     HkMesh *mesh, HkError *error) {
  const HkShapeType *type;
  HK_TRY(find(shape, &type, error));
  HK_TRY(hk_memory_check(&mesh->context, hk_counts_bytes(counts), "a mesh", NULL, error));
  HK_TRY(hk_mesh_reserve(mesh, counts->vertices, hk_counts_cells(counts), counts->corners, error));
  if (!type->lattice) return hk_fail_under(error, type->build(shape->params, mesh, error), "shape");
  HkWindow all = whole(shape, type->lattice);
  return hk_fail_under(
      error, type->lattice->build(shape->params, window ? window : &all, mesh, error), "shape");
}

HkStatus hk_mesh_shape(const HkContext *context, const HkMethod *shape, HkMesh **mesh,
                       HkError *error) {
  HkMeshCounts counts;
  *mesh = NULL;
  HK_TRY(hk_shape_count(shape, &counts, error));
  HK_TRY(hk_mesh_create(context, mesh, error));
  HkStatus status = make(shape, NULL, &counts, *mesh, error);
  if (status < 0) hk_mesh_destroy(mesh);
  return status;
}

/* ---- Windows ---- */

bool hk_shape_is_lattice(const HkMethod *shape) {
  const HkShapeType *type;
  return find(shape, &type, NULL) >= 0 && type->lattice;
}

HkStatus hk_lattice_size(const HkMethod *shape, int n[3], HkError *error) {
  const HkShapeType *type;
  HK_TRY(find(shape, &type, error));
  HK_TRY(hk_method_check(shape, HK_SHAPE, "shape", error));
  type->lattice->size(shape->params, n);
  return HK_OK;
}

void hk_window_count(const HkMethod *shape, const HkWindow *window, HkMeshCounts *counts) {
  const HkShapeType *type;
  *counts = (HkMeshCounts){.vertices = hk_window_vertices(window)};
  if (find(shape, &type, NULL) < 0) return;
  type->lattice->count(shape->params, window, counts);
  count_corners(counts);
}

HkStatus hk_mesh_window(const HkContext *context, const HkMethod *shape, const HkWindow *window,
                        HkMesh **mesh, HkError *error) {
  HkMeshCounts counts;
  hk_window_count(shape, window, &counts);
  HK_TRY(hk_mesh_create(context, mesh, error));
  HkStatus status = make(shape, window, &counts, *mesh, error);
  if (status < 0) hk_mesh_destroy(mesh);
  return status;
}
