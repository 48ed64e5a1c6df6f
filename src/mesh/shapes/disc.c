/* A flat disc of triangles around the origin, as a trampoline or a round cloth.
 *
 * Vertex 0 is the center; ring r = 1 .. rings has 6 r vertices on a circle of radius
 * r / rings radius, equally spaced from the first axis towards the second. Between two rings each
 * of six sectors has r triangles that stand on the outer ring and r - 1 that stand on the inner
 * one: 1 + 3 rings (rings + 1) vertices, 6 rings^2 triangles. Normals point along the positive
 * third axis. Sets: boundary, center.
 */
#include "mesh/shapes/lattice.h"

typedef struct Disc {
  double radius;
  int rings, plane;
} Disc;

static const HkParam params[] = {
    HK_NUMBER(Disc, radius, "m", 0.5, HK_LENGTH_MIN, HK_LENGTH_MAX, "radius"),
    HK_INTEGER(Disc, rings, 10, 1, 15000, "rings of vertices around the center, 6 r on the r-th"),
    HK_CHOICE(Disc, plane, 0, HK_PLANES, "the plane it lies in, first axis first"),
};

static HkStatus add_ring_vertices(const Disc *p, int ring, HkMesh *mesh, HkError *error) {
  double radius = p->radius * ring / p->rings;
  int count = 6 * ring;
  for (int q = 0; q < count; q++) {
    double angle = 2 * M_PI * q / count, x[3];
    hk_plane_point(p->plane, radius * cos(angle), radius * sin(angle), x);
    HK_TRY(hk_mesh_add_vertices(mesh, x, 1, error));
  }
  return HK_OK;
}

/* Adds the triangles of one sector between a ring and the next smaller one. */
static HkStatus add_sector(const Disc *p, int ring, int sector, HkMesh *mesh, HkError *error) {
  for (int k = 0; k < ring; k++) {
    int32_t inner = hk_ring_index(ring - 1, sector, k);
    int32_t outer = hk_ring_index(ring, sector, k), next = hk_ring_index(ring, sector, k + 1);
    HK_TRY(hk_plane_add_face(mesh, p->plane, (int32_t[]){inner, outer, next}, 3, error));
    if (k + 1 == ring) break;
    int32_t inner_next = hk_ring_index(ring - 1, sector, k + 1);
    HK_TRY(hk_plane_add_face(mesh, p->plane, (int32_t[]){inner, next, inner_next}, 3, error));
  }
  return HK_OK;
}

static HkStatus count(const void *chosen, HkMeshCounts *counts, HkError *error) {
  const Disc *p = chosen;
  (void)error;
  counts->vertices = hk_rings_count(p->rings);
  counts->section = counts->vertices / (2 * p->rings + 1);
  counts->triangles = 6 * (int64_t)p->rings * p->rings;
  return HK_OK;
}

static HkStatus build(const void *chosen, HkMesh *mesh, HkError *error) {
  const Disc *p = chosen;
  HK_TRY(hk_mesh_add_vertices(mesh, (double[]){0, 0, 0}, 1, error));
  for (int ring = 1; ring <= p->rings; ring++) HK_TRY(add_ring_vertices(p, ring, mesh, error));
  for (int ring = 1; ring <= p->rings; ring++)
    for (int sector = 0; sector < 6; sector++) HK_TRY(add_sector(p, ring, sector, mesh, error));
  HK_TRY(hk_mesh_add_range_set(mesh, "boundary", hk_rings_count(p->rings - 1),
                               6 * (int64_t)p->rings, error));
  return hk_mesh_add_range_set(mesh, "center", 0, 1, error);
}

const HkShapeType hk_shape_disc = {
    .schema = {.name = "disc",
               .summary = "a flat disc of triangles in concentric rings",
               .formula = "ring r: 6 r vertices at radius r / rings radius",
               HK_PARAMS(Disc, params)},
    .count = count,
    .build = build,
};
