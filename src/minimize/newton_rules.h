/* Rules of Newton's method that do not depend on where it runs: newton.c and devices
 * (backend/gpu/newton.h) share them.
 */
#ifndef HK_MINIMIZE_NEWTON_RULES_H
#define HK_MINIMIZE_NEWTON_RULES_H

#include <math.h>
#include <stdbool.h>

#ifdef __CUDACC__
#define HK_NEWTON_RULE static inline __host__ __device__
#else
#define HK_NEWTON_RULE static inline
#endif

/* Largest relative gradient of a step that is called converged, whatever its tolerance, and largest
 * |p|_M / |x - x_n|_M of a direction that proves it. */
#define HK_CONVERGED_MAX 0.01

/* Largest estimate of the distance to the minimum (hk_moves_left), in parts of |x - x_n|_M, at the
 * end of a step with a larger tolerance. The distance then is about 0.01 at most for cloth of
 * quads, and several times that where triangles buckle in many places at once (docs/robustness.md).
 */
#define HK_LEFT_MAX 0.005

/* Part of the slope by which a step must lower g at least. */
#define HK_ARMIJO 1e-4

/* Largest tolerance of Newton's method. */
#define HK_NEWTON_TOLERANCE_MAX 1000

/* Returns whether the first guess of a minimization with this tolerance may contain the last change
 * of velocity. With a large one, that change is in part what the steps before have left unsolved:
 * Newton's method then takes up to 1.7 times as many iterations from there. */
HK_NEWTON_RULE bool hk_guess_leads(double tolerance) {
  return tolerance <= HK_CONVERGED_MAX;
}

/* Iterates with m <= tolerance that are not known to be minima before a minimization ends. */
#define HK_STATIONARY_MAX 3

/* Largest relative residual of a direction that proves a minimum, and that of a second-order
 * correction. */
#define HK_PROOF_RESIDUAL 0.1
#define HK_CORRECTION_RESIDUAL 0.1

/* Step lengths of the line search are 1, 0.7, 0.49 ... */
#define HK_NEWTON_SHRINK 0.7
#define HK_NEWTON_TRIALS_MAX 120

/* Where g does not fall by more than its rounding, the gradient decides: after directions that are
 * shorter than HK_FALLS_SHORT |x - x_n|_M, or than HK_FALLS_RESOLVED times what coordinates
 * resolve, it must fall to HK_FALLS_LESS. */
#define HK_FALLS_SHORT 1e-3
#define HK_FALLS_RESOLVED 1e4
#define HK_FALLS_LESS 0.1

/* Forcing term of the system at an iterate with the relative gradient m: its relative residual at
 * most. The first direction of a step is found to a tenth of that: solids then need no second one.
 */
HK_NEWTON_RULE double hk_newton_forcing(double largest, double m, bool first) {
  const double RATE = 0.3, FIRST = 0.1;
  double forcing = RATE * sqrt(m);
  if (!(forcing < largest)) forcing = largest;
  return first ? FIRST * forcing : forcing;
}

/* The part of the negative curvature that is left out of H: 0 for the true Hessian, 1 for its
 * positive definite projection. */
typedef struct HkProjection {
  double now;  /* of the next direction */
  double next; /* after `full` more directions of the projected Hessian */
  int full;
} HkProjection;

/* definite: the Hessian is taken for positive definite at first. */
HK_NEWTON_RULE HkProjection hk_projection_begin(bool definite) {
  HkProjection p = {definite ? 0.0 : 1.0, 0.5, 0};
  return p;
}

/* Chooses the next one after a direction with the projection `used`; definite: its H was positive
 * definite; exact: it solves the system of the true H. */
HK_NEWTON_RULE void hk_projection_adapt(HkProjection *p, double used, bool definite, bool exact) {
  const double MOST = 0.9, LEAST = 0.05; /* tried before 1; below which it is 0 */
  enum { FULL = 4 };
  if (definite) {
    p->now = exact || used < 2 * LEAST ? 0 : 0.5 * used;
    p->next = p->now;
  } else if (used < 1) {
    double half = 0.5 * (1 + used);
    p->next = half < MOST ? half : MOST;
    p->full = FULL;
    p->now = 1;
  } else {
    p->now = p->full > 0 ? 1 : p->next;
    if (p->full > 0) p->full--;
  }
}

/* |x+ - x|_M of the last three iterations, the last one first; INFINITY before the first. */
typedef struct HkMoves {
  double length[3];
} HkMoves;

HK_NEWTON_RULE HkMoves hk_moves_begin(void) {
  HkMoves moves = {{INFINITY, INFINITY, INFINITY}};
  return moves;
}

HK_NEWTON_RULE void hk_moves_add(HkMoves *moves, double length) {
  moves->length[2] = moves->length[1];
  moves->length[1] = moves->length[0];
  moves->length[0] = length;
}

/* Estimates the distance to the minimum after the last move, as the rest of a geometric series,
 *
 *     d0 (q + q^2 + ...) = d0 q / (1 - q),   q = max(d0 / d1, d1 / d2)
 *
 * at most RATE_MAX; 1/2 after the first move. Where Newton's method is fast the rest is a small
 * part of the last move. Where cloth buckles, each iteration makes a few parts in a hundred of the
 * way, and moves that are short by themselves add up. */
HK_NEWTON_RULE double hk_moves_left(const HkMoves *moves) {
  const double RATE_MAX = 0.97;
  const double *d = moves->length;
  double q = d[1] < INFINITY ? d[0] / d[1] : 0.5;
  if (d[2] < INFINITY && d[1] > q * d[2]) q = d[1] / d[2];
  if (!(q < RATE_MAX)) q = RATE_MAX;
  return d[0] * q / (1 - q);
}

#endif
