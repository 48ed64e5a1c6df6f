/* What cg, pcg, jacobi and gauss_seidel have in common: when they stop; and the frame of the two
 * that sweep over the vertices. */
#ifndef HK_LINEAR_ITERATIVE_H
#define HK_LINEAR_ITERATIVE_H

#include "linear/linear.h"

/* The first members of the parameter struct of every iterative solver. */
typedef struct HkIterative {
  double tolerance;
  int iterations;
} HkIterative;

/* Checked for the struct of every iterative solver: S begins as HkIterative. */
#define HK_BEGINS_AS_ITERATIVE(S)                                                                  \
  _Static_assert(offsetof(S, tolerance) == offsetof(HkIterative, tolerance) &&                     \
                     offsetof(S, iterations) == offsetof(HkIterative, iterations),                 \
                 #S " begins as HkIterative")

#define HK_ITERATIVE_PARAMS(S)                                                                     \
  HK_NUMBER(S, tolerance, "1", 1e-8, 0, 1,                                                         \
            "done when |b - A x| is this part of |b|; whoever calls may ask for less"),            \
      HK_INTEGER(S, iterations, 10000, 1, 1000000000, "iterations at most")

/* x = 0. Returns the relative residual to reach, or 0 if there is nothing to iterate: b = 0, whose
 * answer x is, or b is not finite and result->residual NaN. *size is |b|. */
double hk_iterative_start(const HkLinear *solver, const double *b, double tolerance, double *x,
                          double *size, HkLinearResult *result);

/* Why an iteration ends that was to reach this residual; for result->reason. */
HkStop hk_iterative_reason(const HkLinear *solver, double tolerance, const HkLinearResult *result);

/* ---- Solvers that sweep: solver->data is an HkSweeps ---- */

typedef struct HkSweeps {
  double *inverse; /* 9 n: of the blocks on the diagonal */
  double *r;       /* 3 n: b - A x when it was last looked at */
} HkSweeps;

/* Always true: many products with one matrix, and rows of it. */
bool hk_sweeps_need_matrix(const void *params);
HkStatus hk_sweeps_create(HkLinear *solver, HkError *error);
void hk_sweeps_destroy(HkLinear *solver);
HkStatus hk_sweeps_prepare(HkLinear *solver, HkError *error);

/* One sweep over x, in place. */
typedef void HkSweepFn(const HkLinear *solver, const double *b, double *x);

/* Sweeps until |b - A x|, which is computed after every so many sweeps and after the last, is small
 * enough. x is 0 and result->indefinite set where A has a diagonal block that is not positive
 * definite, or where x runs away. */
void hk_sweeps_solve(const HkLinear *solver, HkSweepFn *sweep, int every, const double *b,
                     double *x, double tolerance, HkLinearResult *result);

#endif
