/* The potential of friction at one contact, as a function of the length r (m) of its tangential
 * displacement z.
 *
 *     anchor   D = k r^2 / 2 for r <= c, else L (r - c / 2),        c = L / k       (Huber)
 *     ipc      D = L (r^2 / c - r^3 / (3 c^2)) for r < c, else L (r - c / 3),   c = v_e h
 *
 * L (N) is the limit of the force, the friction coefficient times the normal force; k (N/m) the
 * stiffness of the anchor; v_e (m/s) the speed at which ipc, the smoothed law of Incremental
 * Potential Contact (Li et al. 2020), reaches the limit, h (s) the step. Both are convex with a
 * continuous slope: 0 <= dD/dr <= L, and 0 <= d2D/dr2 <= k.
 */
#ifndef HK_CONTACT_FRICTION_LAW_H
#define HK_CONTACT_FRICTION_LAW_H

#include <stdbool.h>

typedef struct HkFrictionLaw {
  double limit, k, c; /* N, N/m, m; all above 0 */
  bool ipc;
} HkFrictionLaw;

static inline HkFrictionLaw hk_friction_anchor(double limit, double k) {
  return (HkFrictionLaw){.limit = limit, .k = k, .c = limit / k};
}

static inline HkFrictionLaw hk_friction_ipc(double limit, double c) {
  return (HkFrictionLaw){.limit = limit, .k = 2 * limit / c, .c = c, .ipc = true};
}

/* D (J), which is 0 at r = 0. */
static inline double hk_friction_energy(const HkFrictionLaw *l, double r) {
  if (l->ipc) return l->limit * (r < l->c ? r * r / l->c * (1 - r / (3 * l->c)) : r - l->c / 3);
  return r <= l->c ? 0.5 * l->k * r * r : l->limit * (r - 0.5 * l->c);
}

/* (dD/dr) / r (N/m), which stays finite at r = 0. */
static inline double hk_friction_secant(const HkFrictionLaw *l, double r) {
  if (l->ipc) return r < l->c ? l->limit * (2 - r / l->c) / l->c : l->limit / r;
  return r <= l->c ? l->k : l->limit / r;
}

/* d2D/dr2 (N/m) */
static inline double hk_friction_curvature(const HkFrictionLaw *l, double r) {
  if (l->ipc) return r < l->c ? 2 * l->limit * (1 - r / l->c) / l->c : 0;
  return r <= l->c ? l->k : 0;
}

/* D at r + dr less D at r, accurate to rounding where dr is small and given more accurately than
 * the difference of the two lengths. Beyond c the potential is a straight line, so that
 * D = line + (what is left to c)^2 k / 2 for the anchor, and with the third power for ipc. */
static inline double hk_friction_change(const HkFrictionLaw *l, double r, double dr) {
  double to = r + dr, c = l->c, a = c > r ? c - r : 0, b = c > to ? c - to : 0;
  if (l->ipc) {
    if (a > 0 && b > 0)
      return l->limit * dr * ((r + to) / c - (r * r + r * to + to * to) / (3 * c * c));
    return l->limit * (dr + (b * b * b - a * a * a) / (3 * c * c));
  }
  if (r <= c && to <= c) return 0.5 * l->k * (r + to) * dr;
  return l->limit * dr + 0.5 * l->k * (b * b - a * a);
}

#endif
