/* Closest points of a point and a triangle, and of two edges.
 *
 * Both are pairs of four vertices with weights w: d = sum w_a x_a is the vector between the closest
 * points, and |d| the distance. */
#ifndef HK_CONTACT_GAP_H
#define HK_CONTACT_GAP_H

/* d = x_0 - (x_1, x_2, x_3) . b with barycentric coordinates b: w = (1, -b_1, -b_2, -b_3). x holds
 * the point and the three corners. Returns |d|. */
double hk_gap_point_triangle(const double x[12], double w[4], double d[3]);

/* d = (1 - s) x_0 + s x_1 - (1 - t) x_2 - t x_3: w = (1 - s, s, t - 1, -t). Of parallel edges that
 * overlap, s is in the middle of the overlap. Returns |d|. */
double hk_gap_edges(const double x[12], double w[4], double d[3]);

#endif
