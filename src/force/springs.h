/* Springs: derivatives, bounds and measures besides the force itself. */
#ifndef HK_FORCE_SPRINGS_H
#define HK_FORCE_SPRINGS_H

#include "force/force.h"

/* Below this length (m) a spring has no direction. */
#define HK_SPRING_TINY 1e-150

/* H = d2E/dxi2 of spring s = -d2E/dxi dxj (N/m), row by row. projection: part of the negative
 * curvature perpendicular to a compressed spring that is left out; 0 for the true H, 1 for the
 * nearest positive semidefinite one. */
void hk_spring_hessian(const HkSpringArrays *springs, int64_t s, const double *x, double projection,
                       double H[9]);

/* H = k u u^T of spring s, whatever its length. */
void hk_spring_along(const HkSpringArrays *springs, int64_t s, const double *x, double H[9]);
/* Marks the tension-only springs that are slack at x and taut at `to`; returns whether any was
 * newly marked. */
bool hk_springs_tighten(const HkSpringArrays *springs, const double *x, const double *to,
                        uint8_t *taut);
/* f += k (l0 - l) u of the marked springs: the force that they would have without being
 * tension-only. */
void hk_springs_push_taut(const HkSpringArrays *springs, const double *x, const uint8_t *taut,
                          double scale, double *f);

/* f = -k e u for the springs at each vertex, with u as at x and e = l(to) - l(x) - u . (d(to) -
 * d(x)) >= 0: the elongation of springs that rotate on the straight path from x to `to`. */
void hk_springs_turned(const HkModel *model, const HkSpringArrays *springs, const double *x,
                       const double *to, double *f);

/* Adds the sums of k (N/m) and damping (N s/m) of the springs at vertex i. */
void hk_springs_add_bounds(const HkModel *model, const HkSpringArrays *springs, int64_t i,
                           double *k, double *damping);
/* 2 sum k (l0 / l - 1) (N/m) over the springs under pressure at vertex i: a bound of the negative
 * curvature of their energy there. */
double hk_springs_pressure(const HkModel *model, const HkSpringArrays *springs, const double *x,
                           int64_t i);

/* tau (tau k + c) of spring s (kg): the largest entry of its block in a Hessian of a step. */
static inline double hk_spring_bound(const HkSpringArrays *springs, int64_t s, double tau) {
  double damping = springs->damping ? springs->damping[s] : 0;
  return tau * (tau * springs->k[s] + damping);
}

/* ---- spring_element.c ---- */

/* A spring without damping as an element of two vertices (element.h). */
typedef struct HkSpringElement {
  double k, l0; /* N/m, m */
  bool tension_only;
} HkSpringElement;

HkElementFunctions hk_spring_element(void);

/* ---- spring_measures.c ---- */

/* The least and the largest (l - l0) / l0 over springs with l0 > 0; 0 if there are none. sums: of
 * HkForceWork. */
void hk_springs_strains(const HkModel *model, const HkSpringArrays *springs, const double *x,
                        double *sums, double *min, double *max);
/* Returns whether any spring is shorter than its rest length. */
bool hk_springs_any_pressed(const HkSpringArrays *springs, const double *x);
/* Returns the energy (J) of all springs at twice their rest length, or at x if that is larger.
 * sums: of HkForceWork. */
double hk_springs_scale(const HkModel *model, const HkSpringArrays *springs, const double *x,
                        double *sums);
/* The spring at a vertex with the largest force, or -1. */
int64_t hk_springs_worst(const HkModel *model, const HkSpringArrays *springs, const double *x,
                         int64_t vertex);
/* Returns the mean of |d - d0|^2 / |d0|^2 over a sample of springs; d is the difference of the
 * ends, d0 its initial value.
 */
double hk_springs_turn(const HkModel *model, const double *x);

/* The geometric stiffness of compressed springs, which is negative, is left out. */
typedef struct HkSpringsProduct {
  const HkModel *model;
  const HkSpringArrays *springs;
  const double *x, *free; /* free: 1 / sqrt(m), 0 where held; NULL: 1 everywhere */
  const double *p;
  double *out;
  bool damping; /* the product is with D instead of H */
} HkSpringsProduct;

/* out = S A S p, S = diag(free), A the Hessian H of the springs or their damping matrix D. */
void hk_springs_product(const HkSpringsProduct *product);

#endif
