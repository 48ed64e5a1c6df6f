/* Obstacles: things that bodies touch and that have a motion of their own, or none.
 *
 * An obstacle consists of features (points, edges, triangles) with a radius around them: a ball is
 * a point, a capsule an edge, a box twelve triangles. Or it has a signed distance d(x), and touches
 * vertices only: a plane, a distance grid. All stands at its place at time 0; the obstacle then
 * moves as a whole, by a motion as pins have it.
 */
#ifndef HK_OBSTACLE_OBSTACLE_H
#define HK_OBSTACLE_OBSTACLE_H

#include "base/schema.h"
#include "hooke/hooke.h"

struct HkSurfaceBuilder;

/* Features of an obstacle; arrays are released by hk_obstacle_features_clear. */
typedef struct HkObstacleFeatures {
  int32_t vertex_count, edge_count, triangle_count;
  double *x;         /* m, 3 a vertex */
  int32_t *edge;     /* 2 an edge: each edge once, of triangles and others */
  int32_t *triangle; /* 3 a triangle; normals of closed obstacles point outwards */
  double radius;     /* m */
} HkObstacleFeatures;

typedef struct HkObstacleType {
  HkSchema schema;
  /* Checks the parameters and makes the features, which are 0 before, and *data, which is NULL
   * before; folder: where names of files start, or NULL. After an error the caller clears both. */
  HkStatus (*create)(const HkContext *context, const char *folder, const void *params,
                     HkObstacleFeatures *features, void **data, HkError *error);
  void (*destroy)(const HkContext *context, void *data); /* NULL: there is no data */
  /* Returns the bytes of data, which is one block without pointers; NULL: there is no data. */
  size_t (*bytes)(const void *data);
  /* Signed distance (m) of x, below 0 inside; n = its gradient, of length 1; H = its second
   * derivative (1/m), unless it is NULL. NULL: the obstacle has features. */
  double (*distance)(const void *params, const void *data, const double x[3], double n[3],
                     double H[9]);
  bool flat; /* that distance is linear in x */
  /* Adds the surface to a drawing (surface.h); the box (m) is that of the scene. NULL: the features
   * are drawn. */
  void (*draw)(const void *data, const double low[3], const double high[3],
               struct HkSurfaceBuilder *builder);
} HkObstacleType;

/* Returns the type of a schema, or NULL. */
const HkObstacleType *hk_obstacle_type(const HkSchema *schema);
void hk_obstacle_features_clear(const HkContext *context, HkObstacleFeatures *features);
/* Returns the bytes of the arrays. */
size_t hk_obstacle_features_bytes(const HkObstacleFeatures *features);

/* surface.c: releases the arrays of a surface. */
void hk_surface_clear(const HkContext *context, HkSurface *surface);

#endif
