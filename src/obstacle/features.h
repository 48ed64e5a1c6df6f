/* Features of an obstacle from a mesh. */
#ifndef HK_OBSTACLE_FEATURES_H
#define HK_OBSTACLE_FEATURES_H

#include "mesh/mesh.h"
#include "obstacle/obstacle.h"

/* Makes features from the vertices, lines and faces of a mesh, or from the boundary of its solids.
 * Vertices at exactly the same position become one, and vertices of no cell are left out, as are
 * triangles without an area, but not their edges. */
HkStatus hk_obstacle_features_from_mesh(const HkMesh *mesh, double radius,
                                        HkObstacleFeatures *features, HkError *error);

/* Makes features of vertex_count vertices and of edges between them, without triangles. */
HkStatus hk_obstacle_features_from_points(const HkContext *context, const double *x,
                                          int32_t vertex_count, const int32_t *edge,
                                          int32_t edge_count, double radius,
                                          HkObstacleFeatures *features, HkError *error);

/* Returns an error unless radius (m) is above 0. */
HkStatus hk_obstacle_check_radius(double radius, HkError *error);

/* Returns an error if two ends of an obstacle are the same point; *axis becomes the unit vector
 * from the first to the second. */
HkStatus hk_obstacle_check_ends(const double from[3], const double to[3], double axis[3],
                                HkError *error);

#endif
