/* Distances of everything from everything, without trees, candidates or the library's geometry. */
#ifndef HOOKE_TEST_ALL_PAIRS_H
#define HOOKE_TEST_ALL_PAIRS_H

#include "model/model.h"

/* Points, edges and triangles of a model and its obstacles, whose vertices follow the model's. */
typedef struct AllPairs {
  const HkModel *model;
  int64_t vertex_count, edge_count, triangle_count;
  int32_t *edge, *triangle; /* 2 and 3 vertices each */
  double *radius;           /* m, of each vertex */
  int32_t *owner;           /* of each vertex: -1 a body, else the obstacle */
  bool *inside;             /* of each vertex: it lies within a solid */
  double *x;                /* m, scratch buffer of all positions */
} AllPairs;

void all_pairs_create(AllPairs *pairs, const HkModel *model, double thickness);
void all_pairs_destroy(AllPairs *pairs);
/* Least distance (m) less the radii, over all points and triangles and all pairs of edges that
 * share no vertex, of which at least one belongs to a body; in two dimensions over all pairs of
 * edges of boundaries. Obstacles are where they are at time t (s). */
double all_pairs_least_gap(const AllPairs *pairs, const double *x, double t);

/* Puts the positions of bodies and, at time t (s), of obstacles into pairs->x. */
void all_pairs_place(const AllPairs *pairs, const double *x, double t);
/* Whether features of the vertices a and b may touch: not both belong to obstacles. */
bool all_pairs_meet(const AllPairs *pairs, int32_t a, int32_t b);
/* Distance (m) of a point from a triangle, and of two segments. */
double all_pairs_point_triangle(const double p[3], const double a[3], const double b[3],
                                const double c[3]);
double all_pairs_segments(const double a[3], const double b[3], const double c[3],
                          const double d[3]);

/* How often two closed polygons wind around each other: Gauss' integral, as a sum of the solid
 * angles of pairs of edges. */
double linking_number(const double *a, int64_t count_a, const double *b, int64_t count_b);

#endif
