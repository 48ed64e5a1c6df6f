/* Features of an obstacle from a mesh; see features.h. */
#include "obstacle/features.h"

#include "base/vec.h"
#include "mesh/measure.h"
#include "mesh/pairs.h"
#include "mesh/triangles.h"

#include <string.h>

void hk_obstacle_features_clear(const HkContext *context, HkObstacleFeatures *features) {
  hk_free(context, &features->x);
  hk_free(context, &features->edge);
  hk_free(context, &features->triangle);
  *features = (HkObstacleFeatures){0};
}

size_t hk_obstacle_features_bytes(const HkObstacleFeatures *f) {
  return (size_t)f->vertex_count * 3 * sizeof *f->x + (size_t)f->edge_count * 2 * sizeof *f->edge +
         (size_t)f->triangle_count * 3 * sizeof *f->triangle;
}

HkStatus hk_obstacle_check_radius(double radius, HkError *error) {
  if (radius > 0) return HK_OK;
  return hk_fail_key(error, HK_ERROR_INVALID, "radius", "%g m: a radius must be above 0", radius);
}

HkStatus hk_obstacle_check_ends(const double from[3], const double to[3], double axis[3],
                                HkError *error) {
  double d[3];
  hk_sub(to, from, d);
  if (hk_unit(d, axis)) return HK_OK;
  return hk_fail_key(error, HK_ERROR_INVALID, "to",
                     "both ends are at (%g, %g, %g) m; give two points, or a ball", to[0], to[1],
                     to[2]);
}

static HkStatus allocate(const HkContext *context, int64_t vertices, int64_t edges,
                         int64_t triangles, HkObstacleFeatures *f, HkError *error) {
  if (edges > INT32_MAX || triangles > INT32_MAX)
    return hk_fail(error, HK_ERROR_UNSUPPORTED,
                   "%lld edges are more than an obstacle may have (%d)", (long long)edges,
                   INT32_MAX);
  HK_TRY(hk_alloc(context, &f->x, vertices, 3 * sizeof *f->x, "an obstacle", error));
  HK_TRY(hk_alloc(context, &f->edge, edges, 2 * sizeof *f->edge, "an obstacle", error));
  HK_TRY(hk_alloc(context, &f->triangle, triangles, 3 * sizeof *f->triangle, "an obstacle", error));
  f->vertex_count = (int32_t)vertices;
  f->edge_count = (int32_t)edges;
  f->triangle_count = (int32_t)triangles;
  return HK_OK;
}

HkStatus hk_obstacle_features_from_points(const HkContext *context, const double *x,
                                          int32_t vertex_count, const int32_t *edge,
                                          int32_t edge_count, double radius, HkObstacleFeatures *f,
                                          HkError *error) {
  HK_TRY(allocate(context, vertex_count, edge_count, 0, f, error));
  memcpy(f->x, x, (size_t)vertex_count * 3 * sizeof *x);
  if (edge_count) memcpy(f->edge, edge, (size_t)edge_count * 2 * sizeof *edge);
  f->radius = radius;
  return HK_OK;
}

/* Adds the points, lines and triangles of a mesh to its surface, which has the same vertices. */
static HkStatus add_cells(const HkMesh *mesh, const HkTriangles *t, HkMesh *surface,
                          HkError *error) {
  for (int64_t c = 0; c < mesh->cell_count; c++) {
    HkCell cell = hk_mesh_cell(mesh, c);
    if (hk_cell_dimension(cell.type) < 2)
      HK_TRY(hk_mesh_add_cell(surface, cell.type, cell.vertices, cell.count, error));
  }
  for (int64_t k = 0; k < t->count; k++)
    HK_TRY(hk_mesh_add_cell(surface, HK_CELL_TRIANGLE, t->corner + 3 * k, 3, error));
  return HK_OK;
}

static HkStatus make_surface(const HkMesh *mesh, HkMesh *surface, HkError *error) {
  HkTriangles triangles = {0};
  HkStatus status = hk_mesh_triangles(mesh, &triangles, error);
  if (status >= 0) status = hk_mesh_add_vertices(surface, mesh->x, mesh->vertex_count, error);
  if (status >= 0) status = add_cells(mesh, &triangles, surface, error);
  hk_free(&mesh->context, &triangles.corner);
  if (status < 0) return status;
  return hk_mesh_repair(surface, &(HkRepair){.weld = 0, .unused = true}, NULL, error);
}

static bool has_area(const double *x, const int32_t *corner) {
  double a[3], b[3], normal[3];
  hk_sub(x + 3 * (int64_t)corner[1], x + 3 * (int64_t)corner[0], a);
  hk_sub(x + 3 * (int64_t)corner[2], x + 3 * (int64_t)corner[0], b);
  hk_cross(a, b, normal);
  return hk_dot(normal, normal) > 0;
}

/* Fills the arrays, which have enough memory, and counts the triangles with an area. */
static void fill(const HkMesh *surface, const HkPairs *edges, HkObstacleFeatures *f) {
  memcpy(f->x, surface->x, (size_t)f->vertex_count * 3 * sizeof *f->x);
  for (int64_t e = 0; e < edges->count; e++) {
    f->edge[2 * e] = edges->i[e];
    f->edge[2 * e + 1] = edges->j[e];
  }
  f->triangle_count = 0;
  for (int64_t c = 0; c < surface->cell_count; c++) {
    HkCell cell = hk_mesh_cell(surface, c);
    if (cell.type != HK_CELL_TRIANGLE || !has_area(surface->x, cell.vertices)) continue;
    memcpy(f->triangle + 3 * (int64_t)f->triangle_count++, cell.vertices, 3 * sizeof *f->triangle);
  }
}

static int64_t count_triangles(const HkContext *context, const HkMesh *surface) {
  int64_t count = 0, flat = 0;
  for (int64_t c = 0; c < surface->cell_count; c++) {
    HkCell cell = hk_mesh_cell(surface, c);
    if (cell.type != HK_CELL_TRIANGLE) continue;
    if (has_area(surface->x, cell.vertices))
      count++;
    else
      flat++;
  }
  if (flat)
    hk_log(context, HK_LOG_WARNING,
           "%lld of %lld triangles of an obstacle have no area and are left out", (long long)flat,
           (long long)(count + flat));
  return count;
}

static HkStatus from_surface(const HkContext *context, const HkMesh *surface, HkObstacleFeatures *f,
                             HkError *error) {
  HkPairs edges;
  if (surface->vertex_count == 0)
    return hk_fail(error, HK_ERROR_INVALID,
                   "the mesh has no points, lines, faces or solids that a body could touch");
  HK_TRY(hk_pairs_create(surface, &(HkPairsWanted){.edges = true}, &edges, error));
  HkStatus status = allocate(context, surface->vertex_count, edges.count,
                             count_triangles(context, surface), f, error);
  if (status >= 0) fill(surface, &edges, f);
  hk_pairs_destroy(&surface->context, &edges);
  return status;
}

HkStatus hk_obstacle_features_from_mesh(const HkMesh *mesh, double radius, HkObstacleFeatures *f,
                                        HkError *error) {
  HkContext quiet = mesh->context; /* what the repair would log is no defect of the file */
  HkMesh *surface;
  quiet.log = NULL;
  HK_TRY(hk_mesh_create(&quiet, &surface, error));
  HkStatus status = make_surface(mesh, surface, error);
  if (status >= 0) status = from_surface(&mesh->context, surface, f, error);
  hk_mesh_destroy(&surface);
  f->radius = radius;
  return status;
}
