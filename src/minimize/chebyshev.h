/* Chebyshev acceleration of a fixed-point iteration x+ = G(x) (Wang 2015 for projective dynamics).
 *
 * With the residual f(x) = G(x) - x and rho, the spectral radius of dG/dx:
 *
 *     x_(k+1) = x_(k-1) + omega_(k+1) (x_k - x_(k-1) + f(x_k))
 *     omega_1 = 1,  omega_2 = 2 / (2 - rho^2),  omega_(k+1) = 4 / (4 - rho^2 omega_k)
 *
 * If G is linear, an error whose eigenvalue is lambda is multiplied after p iterations by
 *
 *     T_p(lambda / rho) / T_p(1 / rho),   T_p(cosh u) = cosh(p u)
 *
 * which is the smallest possible for all |lambda| <= rho at once, and needs no inner products.
 *
 * rho is measured unless it is given. It begins as the reduction of the residual by plain
 * iterations. If rho is too small, an error with a lambda beyond it is left over, the residual
 * falls by a factor R over p iterations that is larger than promised, and
 *
 *     lambda = rho cosh(acosh(R T_p(1 / rho)) / p)
 *
 * is the new rho, with which the recurrence starts over (Hageman and Young 1981, section 5.4).
 */
#ifndef HK_MINIMIZE_CHEBYSHEV_H
#define HK_MINIMIZE_CHEBYSHEV_H

#include "linear/vectors.h"

typedef struct HkChebyshev {
  HkContext context;
  const HkVectors *space;
  double given; /* rho, or 0: measured */
  double rho, omega;
  int count;          /* iterations since the recurrence began */
  double first, last; /* squared residuals when it began and at the last iterate */
  double *before;     /* 3 n: the iterate before */
} HkChebyshev;

/* rho: 0 .. 1, 0: to be measured. *bytes grows by the size. */
HkStatus hk_chebyshev_create(const HkModel *model, const HkVectors *space, double rho,
                             HkChebyshev **chebyshev, size_t *bytes, HkError *error);
void hk_chebyshev_destroy(HkChebyshev **chebyshev);
/* Another problem: forgets rho too. */
void hk_chebyshev_begin(HkChebyshev *chebyshev);
/* The last accelerated iterate was not used, but the plain one: the recurrence starts over there.
 */
void hk_chebyshev_reject(HkChebyshev *chebyshev);
/* Takes in the iterate x with its residual f, whose square in a norm that suits G is given, and
 * writes the accelerated next iterate; false if it is the plain one. */
bool hk_chebyshev_next(HkChebyshev *chebyshev, const double *x, const double *f, double square,
                       double *next);

#endif
