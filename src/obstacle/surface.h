/* Surfaces of obstacles for drawing: triangles with a normal at each vertex (HkSurface). */
#ifndef HK_OBSTACLE_SURFACE_H
#define HK_OBSTACLE_SURFACE_H

#include "obstacle/obstacle.h"

/* Collects triangles; after an error its functions do nothing. */
typedef struct HkSurfaceBuilder {
  const HkContext *context;
  HkSurface *surface;
  int64_t capacity[4]; /* of x, normal, triangle, shade */
  HkStatus status;
  HkError *error;
} HkSurfaceBuilder;

/* Adds a vertex at x (m) with the unit normal n; returns its number. */
int32_t hk_surface_add_vertex(HkSurfaceBuilder *b, const double x[3], const double n[3]);
/* Adds a triangle of vertices that were added before. */
void hk_surface_add_triangle(HkSurfaceBuilder *b, int32_t i, int32_t j, int32_t k, uint8_t shade);

/* Draws the features of an obstacle with the radius around them. size: m, of the scene, from which
 * the thickness of edges without a radius follows. */
void hk_surface_add_features(HkSurfaceBuilder *b, const HkObstacleFeatures *features, double size);

/* isosurface.c: draws d(x) = 0 within a box by marching tetrahedra, with so many cells along the
 * axes. */
typedef double HkDistance(const void *user, const double x[3], double n[3]);
void hk_surface_add_isosurface(HkSurfaceBuilder *b, HkDistance *distance, const void *user,
                               const double low[3], const double high[3], const int cells[3]);

/* Draws squares of a plane through point with the unit normal n, around the nearest point to the
 * middle of a box. */
void hk_surface_add_plane(HkSurfaceBuilder *b, const double point[3], const double n[3],
                          const double low[3], const double high[3]);

#endif
