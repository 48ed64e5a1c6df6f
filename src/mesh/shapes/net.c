/* A flat net of threads with a hexagonal rim: a triangular lattice, lines only, around the origin.
 *
 * With corners c_s = side (cos(s pi / 3), sin(s pi / 3)), s = 0 .. 5, the k-th vertex of sector s
 * on ring r of n is at ((r - k) c_s + k c_(s+1)) / n, so that every line has the length side / n
 * and threads run straight through. 1 + 3 n (n + 1) vertices, 3 n (3 n + 1) lines. Sets: corners
 * (6), boundary (the 6 n vertices of the rim), center.
 */
#include "mesh/shapes/lattice.h"

typedef struct Net {
  int n;
  double side;
  int plane;
} Net;

static const HkParam params[] = {
    HK_INTEGER(Net, n, 10, 1, 15000, "lines along each side of the rim"),
    HK_NUMBER(Net, side, "m", 0.5, HK_LENGTH_MIN, HK_LENGTH_MAX,
              "length of a side, which is also the distance of a corner from the center"),
    HK_CHOICE(Net, plane, 1, HK_PLANES, "the plane it lies in, first axis first"),
};

static HkStatus add_ring_vertices(const Net *p, int ring, HkMesh *mesh, HkError *error) {
  const double half = 0.5, high = 0.86602540378443864676; /* cos and sin of 60 degrees */
  const double corner[7][2] = {{1, 0},         {half, high},  {-half, high}, {-1, 0},
                               {-half, -high}, {half, -high}, {1, 0}};
  for (int sector = 0; sector < 6; sector++)
    for (int k = 0; k < ring; k++) {
      double from = p->side * (ring - k) / p->n, to = p->side * k / p->n, x[3];
      const double *a = corner[sector], *b = corner[sector + 1];
      hk_plane_point(p->plane, from * a[0] + to * b[0], from * a[1] + to * b[1], x);
      HK_TRY(hk_mesh_add_vertices(mesh, x, 1, error));
    }
  return HK_OK;
}

static HkStatus add_line(HkMesh *mesh, int32_t a, int32_t b, HkError *error) {
  return hk_mesh_add_cell(mesh, HK_CELL_LINE, (int32_t[]){a, b}, 2, error);
}

/* Adds the lines of one sector along a ring and to the next smaller ring. */
static HkStatus add_sector(int ring, int sector, HkMesh *mesh, HkError *error) {
  for (int k = 0; k < ring; k++) {
    int32_t inner = hk_ring_index(ring - 1, sector, k);
    int32_t outer = hk_ring_index(ring, sector, k), next = hk_ring_index(ring, sector, k + 1);
    HK_TRY(add_line(mesh, inner, outer, error));
    HK_TRY(add_line(mesh, outer, next, error));
    if (k + 1 < ring) HK_TRY(add_line(mesh, inner, next, error));
  }
  return HK_OK;
}

static HkStatus count(const void *chosen, HkMeshCounts *counts, HkError *error) {
  const Net *p = chosen;
  (void)error;
  counts->vertices = hk_rings_count(p->n);
  counts->section = counts->vertices / (2 * (int64_t)p->n + 1);
  counts->lines = 3 * (int64_t)p->n * (3 * (int64_t)p->n + 1);
  return HK_OK;
}

static HkStatus build(const void *chosen, HkMesh *mesh, HkError *error) {
  const Net *p = chosen;
  HK_TRY(hk_mesh_add_vertices(mesh, (double[]){0, 0, 0}, 1, error));
  for (int ring = 1; ring <= p->n; ring++) HK_TRY(add_ring_vertices(p, ring, mesh, error));
  for (int ring = 1; ring <= p->n; ring++)
    for (int sector = 0; sector < 6; sector++) HK_TRY(add_sector(ring, sector, mesh, error));
  for (int sector = 0; sector < 6; sector++)
    HK_TRY(hk_mesh_add_range_set(mesh, "corners", hk_ring_index(p->n, sector, 0), 1, error));
  HK_TRY(
      hk_mesh_add_range_set(mesh, "boundary", hk_rings_count(p->n - 1), 6 * (int64_t)p->n, error));
  return hk_mesh_add_range_set(mesh, "center", 0, 1, error);
}

const HkShapeType hk_shape_net = {
    .schema = {.name = "net",
               .summary = "threads in a triangular lattice with a hexagonal rim",
               .formula = "every line has the length side / n",
               HK_PARAMS(Net, params)},
    .count = count,
    .build = build,
};
