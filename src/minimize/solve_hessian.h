/* H(x) p = b with the Hessian of an implicit step, by a linear solver of choice. */
#ifndef HK_MINIMIZE_SOLVE_HESSIAN_H
#define HK_MINIMIZE_SOLVE_HESSIAN_H

#include "linear/guess.h"
#include "minimize/problem.h"

enum { HK_HANDOVER_ITERATIONS = 50 };

typedef struct HkSolveHessian HkSolveHessian;

/* linear without schema: the default solver. factorizes: where an iterative solver does not reach
 * its accuracy within HK_HANDOVER_ITERATIONS, a factorization takes its place until the next call
 * of hk_solve_hessian_begin. */
HkStatus hk_solve_hessian_create(HkProblem *problem, const HkMethod *linear, bool factorizes,
                                 HkSolveHessian **solve, HkError *error);
/* Begins with another problem: goes back to the solver that was chosen. Returns whether that one
 * factorizes. */
bool hk_solve_hessian_begin(HkSolveHessian *solve);
/* Returns whether the solver that was chosen has multigrid as its preconditioner. */
bool hk_solve_hessian_has_multigrid(const HkSolveHessian *solve);
void hk_solve_hessian_destroy(HkSolveHessian **solve);
size_t hk_solve_hessian_bytes(const HkSolveHessian *solve);

/* What is known of a direction. */
typedef struct HkDirection {
  bool direct;   /* the linear solver factorizes: another solve with the same H costs little */
  bool definite; /* no negative curvature was met with this projection, or with the true H after a
                  * projection; a factorization proves that there is none, conjugate gradients
                  * prove it in the space that they have seen */
  HkStop reason; /* why the linear solver stopped */
  bool exact;    /* p solves the system of the true H(x) to the requested residual */
} HkDirection;

/* The system H(x) p = b. */
typedef struct HkHessianSystem {
  const double *x, *b;
  const double *d;     /* p at held vertices, which the others feel through H; NULL: 0 */
  const uint8_t *taut; /* of HkHessianAt */
  double accuracy;     /* relative residual of an iterative solver */
  double projection;   /* of HkHessianAt */
  bool by_decrease;    /* of HkLinear */
  HkGuess *guess;      /* from which an iterative solver begins; NULL: from 0 */
} HkHessianSystem;

/* p = H(x)^-1 b. If H is not positive definite with the projection of the system, its full
 * projection replaces it, unless conjugate gradients on the true H have found a direction of
 * descent before. Direct solvers follow a projection by conjugate gradients on the true H with the
 * projected factor as the preconditioner, up to the first direction of negative curvature.
 * Adds its work to `info`. */
HkStatus hk_solve_hessian(HkSolveHessian *solve, const HkHessianSystem *system, double *p,
                          HkDirection *direction, HkStepInfo *info, HkError *error);
/* The same with the H of the last call, and with held vertices at rest. */
HkStatus hk_solve_hessian_again(HkSolveHessian *solve, const double *b, double *p, double accuracy,
                                HkStepInfo *info, HkError *error);

#endif
