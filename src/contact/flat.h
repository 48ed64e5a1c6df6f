/* A point over a flat part of an obstacle counts once.
 *
 * Triangles of one plane that share an edge are one surface, but pairs see them one by one: a point
 * over one triangle near its edge is near the edge of the next one, too, with a normal that leans
 * away from it. Its barrier would be a bump of the surface, against which things that slide run. So
 * an edge between two triangles of one plane, a flat edge, is taken off once, half of it from each
 * of the two; a vertex with flat edges all around, a flat one with N triangles, is added once:
 *
 *     B = k ghat^2 [f(g) - 1/2 sum over flat edges f(g_e) + sum over flat vertices f(g_v) / N]
 *
 * Balls of any radius around the point cut each triangle, edge and vertex in a convex set or not at
 * all, and by Euler's formula the surface itself once: the sum over all triangles is the barrier of
 * the distance from the surface, k ghat^2 f. Every sum of terms is smooth as the point moves.
 *
 * Obstacles do not yield, so that B depends on the point alone.
 */
#ifndef HK_CONTACT_FLAT_H
#define HK_CONTACT_FLAT_H

#include "contact/pair.h"

/* What is flat of the triangle of a pair if the point touches a flat edge of it; else nothing: B is
 * k ghat^2 f(g) then. */
HkFlat hk_flat_near(const HkContactPair *pair, HkFlat flat);

/* For pairs with pair->flat.edges (of a change: of one of the two): as the functions of pair.h.
 * *slope (N): dB/dx of the point along the normal of the touch. H: 3x3, d2B/dx2 of the point (N/m);
 * its part along the normal of the touch is *along, not below 0. */
double hk_flat_energy(const HkContactPair *pair, const HkTouch *touch, double *slope);
double hk_flat_energy_change(const HkContactPair *pair, const HkTouch *touch,
                             const HkContactPair *to, const HkTouch *touch_to);
void hk_flat_gradient(const HkContactPair *pair, const HkTouch *touch, double G[12]);
void hk_flat_hessian(const HkContactPair *pair, const HkTouch *touch, double H[9], double *along);
/* The normal (to the point) of the surface that the point touches: of the plane of the triangle
 * where the closest point is inside of it or on a flat edge, else of the touch. */
void hk_flat_normal(const HkContactPair *pair, const HkTouch *touch, double n[3]);

#endif
