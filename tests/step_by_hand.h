/* An implicit step of springs, gravity and, where there is one, another force, solved by a dense
 * Newton method of the tests' own: an independent answer for what the library's minimizers find.
 *
 *     g(x) = 1/2 (x - y)^T M (x - y) + tau^2 (sum 1/2 k (l - l0)^2 - sum m_i g . x_i)
 */
#ifndef HOOKE_TEST_STEP_BY_HAND_H
#define HOOKE_TEST_STEP_BY_HAND_H

#include "model/model.h"

typedef struct StepByHand {
  const HkModel *model;
  const double *x_n, *y; /* m, 3 n: the start and the prediction */
  double tau, gravity;   /* s; m/s^2 along -y */
  /* Another force with an energy E: g (N) += dE/dx, H (N/m, dense, row by row) += d2E/dx2, and
   * d (N/m, n) += a bound of the stiffness at each vertex; NULL: there is none. */
  void (*add_gradient)(void *user, const double *x, double *g);
  void (*add_hessian)(void *user, const double *x, double *H);
  void (*add_stiffness)(void *user, const double *x, double *d);
  void *user;
} StepByHand;

/* |M^-1 dg/dx|_M at x in kg^(1/2) m, over the vertices without a pin. */
double step_by_hand_residual(const StepByHand *s, const double *x);
/* What the rounding of coordinates does to the residual at most. */
double step_by_hand_rounding(const StepByHand *s, const double *x);
/* |a - b|_M in kg^(1/2) m, over the vertices without a pin. */
double step_by_hand_distance(const StepByHand *s, const double *a, const double *b);
/* Follows Newton's method with the true Hessian from x to the minimum next to it, in x; false if
 * the Hessian is not positive definite on the way or the method does not converge. */
bool step_by_hand_solve(const StepByHand *s, double *x);

#endif
