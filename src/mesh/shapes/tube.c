/* An open cylinder of quads or triangles around an axis, as a sleeve or a hose.
 *
 * Vertex (i, j) has the number i + n_around j, at the angle 2 pi i / n_around and at j / (n_along -
 * 1) length along the axis from the origin on, or centered at it if `centered`. Angles run
 * right-handed about the axis, from y, z, x for the axis x, y, z; normals point outwards. Sets:
 * bottom, top (the two ends, top at the positive end of the axis), boundary (both).
 */
#include "mesh/shapes/lattice.h"

typedef struct Tube {
  double radius, length;
  int n_around, n_along;
  int cells, axis;
  bool centered;
} Tube;

static const HkParam params[] = {
    HK_NUMBER(Tube, radius, "m", 0.25, HK_LENGTH_MIN, HK_LENGTH_MAX, "radius"),
    HK_NUMBER(Tube, length, "m", 1, HK_LENGTH_MIN, HK_LENGTH_MAX, "length along the axis"),
    HK_INTEGER(Tube, n_around, 24, 3, 100000000, "vertices around the axis"),
    HK_INTEGER(Tube, n_along, 16, 2, 100000000, "vertices along the axis"),
    HK_CHOICE(Tube, cells, 0, HK_FACE_CELLS, "quads, or triangles with alternating diagonals"),
    HK_CHOICE(Tube, axis, 1, "x|y|z", "the axis it runs along"),
    HK_BOOLEAN(Tube, centered, 0, "the middle is the origin, not the bottom"),
};

static HkStatus add_ring_vertices(const Tube *p, int j, HkMesh *mesh, HkError *error) {
  double height = hk_lattice_coordinate(j, p->n_along, p->length, p->centered);
  for (int i = 0; i < p->n_around; i++) {
    double angle = 2 * M_PI * i / p->n_around, x[3];
    x[p->axis] = height;
    x[(p->axis + 1) % 3] = p->radius * cos(angle);
    x[(p->axis + 2) % 3] = p->radius * sin(angle);
    HK_TRY(hk_mesh_add_vertices(mesh, x, 1, error));
  }
  return HK_OK;
}

static HkStatus add_ring_faces(const Tube *p, int j, HkMesh *mesh, HkError *error) {
  const int n[3] = {p->n_around, p->n_along, 1};
  for (int i = 0; i < p->n_around; i++) {
    int next = i + 1 < p->n_around ? i + 1 : 0;
    int32_t a = hk_lattice_index(n, i, j, 0), b = hk_lattice_index(n, next, j, 0);
    /* In the unrolled tube (around) x (along) is the outward normal, as in the xy plane. */
    HK_TRY(hk_plane_add_patch(mesh, 0, p->cells,
                              (int32_t[]){a, b, b + p->n_around, a + p->n_around}, (i + j) % 2,
                              error));
  }
  return HK_OK;
}

static HkStatus count(const void *chosen, HkMeshCounts *counts, HkError *error) {
  const Tube *p = chosen;
  HK_TRY(hk_lattice_count((int[]){p->n_around, p->n_along, 1}, &counts->vertices, error));
  hk_patches_count((int64_t)p->n_around * (p->n_along - 1), p->cells, counts);
  return HK_OK;
}

static HkStatus build(const void *chosen, HkMesh *mesh, HkError *error) {
  const Tube *p = chosen;
  for (int j = 0; j < p->n_along; j++) HK_TRY(add_ring_vertices(p, j, mesh, error));
  for (int j = 0; j + 1 < p->n_along; j++) HK_TRY(add_ring_faces(p, j, mesh, error));
  int64_t last = mesh->vertex_count - p->n_around;
  HK_TRY(hk_mesh_add_range_set(mesh, "bottom", 0, p->n_around, error));
  HK_TRY(hk_mesh_add_range_set(mesh, "top", last, p->n_around, error));
  HK_TRY(hk_mesh_add_range_set(mesh, "boundary", 0, p->n_around, error));
  return hk_mesh_add_range_set(mesh, "boundary", last, p->n_around, error);
}

const HkShapeType hk_shape_tube = {
    .schema = {.name = "tube",
               .summary = "an open cylinder of quads or triangles",
               .formula = "x_ij = (radius cos p, radius sin p) across, j / (n_along - 1) length "
                          "along, p = 2 pi i / n_around",
               HK_PARAMS(Tube, params)},
    .count = count,
    .build = build,
};
