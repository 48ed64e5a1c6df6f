/* On which side of a plane a point lies, exactly. */
#ifndef HK_CONTACT_ORIENT_H
#define HK_CONTACT_ORIENT_H

#include <stdbool.h>

/* Returns the sign (-1, 0, 1) of det [a - d, b - d, c - d], six times the volume of a tetrahedron:
 * 1 if a, b, c turn clockwise as seen from d. It is exact for coordinates whose size lies
 * between 1e-70 and 1e70, or is 0. */
int hk_orient(const double a[3], const double b[3], const double c[3], const double d[3]);

/* Whether the closed segment p q and the closed triangle a b c have a point in common, exactly. A
 * triangle without area has none. */
bool hk_segment_meets_triangle(const double p[3], const double q[3], const double a[3],
                               const double b[3], const double c[3]);

#endif
