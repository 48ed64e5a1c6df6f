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

/* Largest estimate of g(x) - min g (hk_decreases_left), in parts of |x - x_n|_M^2, at the end of a
 * step with a larger tolerance. Soft modes of the error e, which are found last, have g(x) - min g
 * of 1/2 to 1 |e|_M^2. The estimate is too small where g falls ever more slowly: distances at the
 * end are 0.002 |x - x_n|_M in cloth of quads and 0.005 in discs of triangles (docs/robustness.md).
 */
#define HK_LEFT_MAX 3e-5

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

/* Where a full step along a rough direction (hk_newton_is_rough) lowers g, the step lengths 2, 4
 * ... follow as long as each lowers it further: the projected Hessian is too stiff where cloth
 * buckles. */
#define HK_NEWTON_GROW 2
#define HK_NEWTON_LONGEST 64

/* Where g does not fall by more than its rounding, the gradient decides: after directions that are
 * shorter than HK_FALLS_SHORT |x - x_n|_M, or than HK_FALLS_RESOLVED times what coordinates
 * resolve, it must fall to HK_FALLS_LESS. */
#define HK_FALLS_SHORT 1e-3
#define HK_FALLS_RESOLVED 1e4
#define HK_FALLS_LESS 0.1

/* Returns whether a minimization with this tolerance is made by rough directions, until an iterate
 * meets the tolerance: those of the projected Hessian alone, followed as far as g falls, and from
 * the second one on solved by conjugate gradients that end by the decrease of the quadratic alone.
 * multigrid: that is the preconditioner. With a smaller tolerance, the true Hessian is needed in
 * the end. */
HK_NEWTON_RULE bool hk_newton_is_rough(double tolerance, bool multigrid) {
  return multigrid && tolerance > HK_CONVERGED_MAX;
}

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

/* Decreases of g (kg m^2) by the last three iterations, the last one first; INFINITY where there is
 * none. */
typedef struct HkDecreases {
  double of[3];
  int count;
} HkDecreases;

HK_NEWTON_RULE HkDecreases hk_decreases_begin(void) {
  HkDecreases d = {{INFINITY, INFINITY, INFINITY}, 0};
  return d;
}

/* The decrease of the first iteration is mostly of stiff modes: the second one is 1e-4 to 1 of it
 * in sheets and 1e-6 in solids, which then are done. It counts by STIFF, and the rate from it is at
 * most 1/2. */
HK_NEWTON_RULE void hk_decreases_add(HkDecreases *d, double decrease) {
  const double STIFF = 1.0 / 3000;
  double before = d->of[0];
  if (d->count == 1) before = STIFF * before > 2 * decrease ? STIFF * before : 2 * decrease;
  d->of[2] = d->of[1];
  d->of[1] = before;
  d->of[0] = decrease;
  d->count++;
}

/* Returns the rest of a geometric series after `last`, with the rate from the term before. */
HK_NEWTON_RULE double hk_series_rest(double last, double before) {
  const double RATE_MAX = 0.9;
  double q = before < INFINITY ? last / before : 0.5;
  if (!(q < RATE_MAX)) q = RATE_MAX;
  return last * q / (1 - q);
}

/* Estimates g(x) - min g after the last iteration: what the last two decreases let expect as a
 * geometric series, or what the two before let expect without the last decrease, whichever is
 * more. So one short step does not end a minimization. */
HK_NEWTON_RULE double hk_decreases_left(const HkDecreases *d) {
  double left = d->count > 0 ? hk_series_rest(d->of[0], d->of[1]) : INFINITY;
  if (d->count < 3) return left;
  double before = hk_series_rest(d->of[1], d->of[2]) - d->of[0];
  return before > left ? before : left;
}

/* Returns whether little is left of a minimization; moved = |x - x_n|_M. */
HK_NEWTON_RULE bool hk_decreases_end(const HkDecreases *d, double moved) {
  return hk_decreases_left(d) <= HK_LEFT_MAX * moved * moved;
}

#endif
