/* A cylinder: a closed triangle mesh with flat caps and outward normals.
 *
 * n segments around the axis: vertices 2 s and 2 s + 1 are those of segment s on the first and the
 * second circle, 2 n and 2 n + 1 the centers of the caps; 4 n triangles. All vertices of the
 * circles are at the radius r from the axis, and the middle of a segment is nearer to it by r (1 -
 * cos(pi / n)), 0.12 % of r with 64 segments.
 */
#include "base/vec.h"
#include "obstacle/features.h"

typedef struct Cylinder {
  double from[3], to[3], radius;
  int segments;
} Cylinder;

static const HkParam params[] = {
    HK_VECTOR(Cylinder, from, "m", 0, 0, 0, "center of one cap"),
    HK_VECTOR(Cylinder, to, "m", 0, 1, 0, "center of the other cap"),
    HK_NUMBER(Cylinder, radius, "m", 0.5, 0, HK_MAX, "radius, above 0"),
    HK_INTEGER(Cylinder, segments, 64, 3, 100000, "flat faces around the axis"),
};

/* u and w become unit vectors such that u, w and the unit vector axis are a right-handed frame. */
static void make_frame(const double axis[3], double u[3], double w[3]) {
  int least = 0;
  for (int c = 1; c < 3; c++)
    if (fabs(axis[c]) < fabs(axis[least])) least = c;
  double e[3] = {0, 0, 0}, across[3];
  e[least] = 1;
  hk_cross(e, axis, across);
  hk_unit(across, u);
  hk_cross(axis, u, w);
}

static HkStatus add_vertices(const Cylinder *p, const double axis[3], HkMesh *mesh,
                             HkError *error) {
  double u[3], w[3];
  make_frame(axis, u, w);
  for (int s = 0; s < p->segments; s++) {
    double angle = 2 * M_PI * s / p->segments, x[6];
    for (int c = 0; c < 3; c++) {
      double arm = p->radius * (cos(angle) * u[c] + sin(angle) * w[c]);
      x[c] = p->from[c] + arm;
      x[3 + c] = p->to[c] + arm;
    }
    HK_TRY(hk_mesh_add_vertices(mesh, x, 2, error));
  }
  HK_TRY(hk_mesh_add_vertices(mesh, p->from, 1, error));
  return hk_mesh_add_vertices(mesh, p->to, 1, error);
}

static HkStatus add_triangles(const Cylinder *p, HkMesh *mesh, HkError *error) {
  int32_t n = p->segments;
  for (int32_t s = 0; s < n; s++) {
    int32_t a = 2 * s, b = 2 * ((s + 1) % n);
    const int32_t corners[4][3] = {
        {a, b, b + 1}, {a, b + 1, a + 1}, {b, a, 2 * n}, {a + 1, b + 1, 2 * n + 1}};
    for (int t = 0; t < 4; t++)
      HK_TRY(hk_mesh_add_cell(mesh, HK_CELL_TRIANGLE, corners[t], 3, error));
  }
  return HK_OK;
}

static HkStatus create(const HkContext *context, const char *folder, const void *chosen,
                       HkObstacleFeatures *features, void **data, HkError *error) {
  const Cylinder *p = chosen;
  HkMesh *mesh;
  double axis[3];
  (void)folder;
  (void)data;
  HK_TRY(hk_obstacle_check_radius(p->radius, error));
  HK_TRY(hk_obstacle_check_ends(p->from, p->to, axis, error));
  HK_TRY(hk_mesh_create(context, &mesh, error));
  HkStatus status = add_vertices(p, axis, mesh, error);
  if (status >= 0) status = add_triangles(p, mesh, error);
  if (status >= 0) status = hk_obstacle_features_from_mesh(mesh, 0, features, error);
  hk_mesh_destroy(&mesh);
  return status;
}

const HkObstacleType hk_obstacle_cylinder = {
    .schema = {.name = "cylinder",
               .summary = "a cylinder with flat caps, as a prism of many segments",
               .formula = "distance(x, line from .. to) <= radius, between the caps",
               HK_PARAMS(Cylinder, params)},
    .create = create,
};
