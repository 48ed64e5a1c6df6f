/* Backtracking line search by Armijo's rule; see minimize.h.
 *
 * g(x + a p) - g(x) is computed as a difference of terms and not of totals (hk_problem_change), so
 * that the rule still means something when the change is far below the rounding of g itself.
 * A force may shorten the move further (hk_minimizer_try); once a is small enough it does not.
 */
#include "minimize/minimize.h"

double hk_line_search(HkMinimizer *m, const double *x, const double *p, double slope,
                      double *x_new) {
  enum { MAX_HALVINGS = 60 };
  const HkVectors *space = &m->problem->space;
  double a = 1;
  for (int k = 0; k < MAX_HALVINGS && !hk_is_cancelled(m->problem->cancel); k++, a *= 0.5) {
    hk_vectors_add(space, a, p, x, x_new);
    if (hk_minimizer_try(m, x, x_new) <= HK_ARMIJO * a * slope) return a;
  }
  hk_vectors_copy(space, x, x_new);
  return 0;
}
