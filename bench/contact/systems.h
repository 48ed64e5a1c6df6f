/* The linear system of one iterate, with contact and without: H p = b by conjugate gradients with
 * multigrid to a relative residual of 1e-2, the same x and b. */
#ifndef HOOKE_BENCH_CONTACT_SYSTEMS_H
#define HOOKE_BENCH_CONTACT_SYSTEMS_H

#include "scenes.h"

/* How one system was solved. */
typedef struct SystemCost {
  double evaluate, prepare, solve; /* s: Hessian, hierarchy, iterations */
  int iterations;
  bool converged;
} SystemCost;

typedef struct SystemPair {
  SystemCost with, without;
} SystemPair;

/* Solves both systems at x. Both worlds have just made a step from the same state, and x is an
 * iterate of the step with contact. */
HkStatus systems_compare(const World *with, const World *without, const double *x, SystemPair *pair,
                         HkError *error);

#endif
