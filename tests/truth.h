/* Whether the answers of minimizers are true: random systems, one implicit step each, compared with
 * an independent solution (step_by_hand.h).
 *
 * Masses differ by up to 1e5 in a system, stiffness is 1 .. 1e8 N/m, the step 1/240 .. 1/24 s;
 * nets, strands with a heavy tip and blocks, some of them pressed.
 */
#ifndef HOOKE_TEST_TRUTH_H
#define HOOKE_TEST_TRUTH_H

#include "test.h"

/* What the answers of one way to solve were worth. */
typedef struct Truth {
  char name[64];
  int64_t steps;
  int64_t converged, rounding, stationary, unconverged; /* answers */
  int64_t judged;     /* steps called converged with a definite Hessian all the way to a minimum */
  int64_t wrong;      /* answers that are not true */
  double worst_error; /* of those judged: |x - x*|_M / |x* - x_n|_M, in parts of the tolerance */
  double worst_gradient; /* of converged and stationary steps: m in parts of the tolerance */
} Truth;

/* The number of ways to solve a step: every minimizer by backward_euler with its default parameters
 * but for the tolerance, newton with every linear solver, and newton by other integrators. */
int truth_count(void);
/* Solves systems first .. first + count - 1 in the way-th way and adds up what came out. */
HkStatus truth_run(int way, int64_t first, int64_t count, Truth *truth, HkError *error);

#endif
