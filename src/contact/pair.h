/* A pair of features that come close: a point and a triangle, or two edges.
 *
 *     g = d - xi,   d = |sum w_a x_a| the distance (gap.h), xi (m) the sum of their radii
 *     B = k ghat^2 mu f(g / ghat)           with the barrier f of barrier.h
 *
 * mu = 1 for points and triangles. The closest points of two edges jump as the edges turn through
 * parallel; mu, which is 0 there, makes B smooth:
 *
 *     mu = r (2 - r) for r < 1, else 1,   r = |u x v|^2 / c0,   c0 = 1e-3 |U|^2 |V|^2
 *
 * with the edges u and v, and U and V their state of rest. Points against triangles beside the
 * edges see what is parallel.
 */
#ifndef HK_CONTACT_PAIR_H
#define HK_CONTACT_PAIR_H

#include <stdbool.h>
#include <stdint.h>

enum { HK_CONTACT_POINT_TRIANGLE = 1, HK_CONTACT_EDGES = 2 };

/* What of a triangle of an obstacle lies in a flat part of it (flat.h). */
typedef struct HkFlat {
  uint8_t edges;  /* bit c: its edge from corner c to c + 1 is flat */
  uint8_t fan[3]; /* of each corner: the number of triangles around it if it is flat, else 0 */
} HkFlat;

typedef struct HkContactPair {
  int split;    /* of the four vertices, those of the first feature: HK_CONTACT_* */
  double x[12]; /* m */
  double xi, ghat;
  double k;    /* N/m */
  double c0;   /* m^4; 0: mu = 1 */
  HkFlat flat; /* of a point near a flat edge of an obstacle's triangle; else all 0 */
} HkContactPair;

/* The closest points of a pair. */
typedef struct HkTouch {
  double w[4], n[3]; /* weights, and the unit vector from the second feature to the first */
  double g;          /* m */
} HkTouch;

HkTouch hk_pair_touch(const HkContactPair *pair);
/* c0 of two edges with the positions X at rest, 0 of a point and a triangle. */
double hk_pair_mollifier(int split, const double X[12]);
/* B (J) at a touch with g > 0, dB/dg (N), and whether mu is below 1 or edges are flat: dB/dx is
 * more than w n dB/dg then. */
double hk_pair_energy(const HkContactPair *pair, const HkTouch *touch, double *slope, bool *turns);
/* B at another touch less B at this one, accurate where the two are close. */
double hk_pair_energy_change(const HkContactPair *pair, const HkTouch *touch,
                             const HkContactPair *to, const HkTouch *touch_to);
/* g at another touch less g at this one, accurate where the two are close. */
double hk_pair_gap_change(const HkContactPair *pair, const HkTouch *touch, const HkContactPair *to,
                          const HkTouch *touch_to);
/* dB/dx (N): w n dB/dg, and what comes from mu or from flat edges. */
void hk_pair_gradient(const HkContactPair *pair, const HkTouch *touch, double G[12]);
/* d2B/dx2 as a weighted term (force/weighted.h) with the weights of the touch: K along n, and,
 * unless `across` is NULL, what the true one adds. To that come hk_pair_turning in the true one and
 * hk_pair_projected_rest in the projected one. */
void hk_pair_term(const HkContactPair *pair, const HkTouch *touch, double K[6], double *across,
                  double q[2][12]);
/* d2g/dx2 (1/m, row by row). */
void hk_pair_gap_hessian(const HkContactPair *pair, const HkTouch *touch, double H[144]);
/* The derivative (N/m) of the normal force -dB/dg by x; of flat edges, that of its part along n. */
void hk_pair_force_gradient(const HkContactPair *pair, const HkTouch *touch, const double n[3],
                            double by_x[12]);
/* What d2B/dx2 (N/m, row by row) has besides, because of mu or of flat edges, for which it has the
 * point alone; false, and nothing, where mu is 1 and no edge is flat. */
bool hk_pair_turning(const HkContactPair *pair, const HkTouch *touch, double H[144]);
/* What the projected Hessian has besides K, positive semidefinite: what holds edges that turn and
 * things that roll on each other; false, and nothing, where that is small. */
bool hk_pair_projected_rest(const HkContactPair *pair, const HkTouch *touch, double H[144]);

/* The part t of a move p of the four vertices, 0 <= t <= 1, on which the gap stays above a tenth of
 * `left` (m), and at whose end it is above `left`: all of it (1), or nearly the longest that is
 * possible: additive continuous collision detection (Li et al. 2021), which goes on for longer
 * where a plane divides the two. `left` is below the gap at the start. */
double hk_pair_reach(const HkContactPair *pair, const HkTouch *touch, const double p[12],
                     double left);

#endif
