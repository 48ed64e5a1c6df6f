/* Solvers of PETSc for models in parts (base/ranks.h), as preconditioners and in conjugate
 * gradients of PETSc. */
#ifndef HK_LINEAR_PART_SOLVER_H
#define HK_LINEAR_PART_SOLVER_H

#include "base/ranks.h"
#include "linear/linear.h"

/* The functions of a preconditioner of PETSc, which works on the assembled matrix. */
HkStatus hk_part_solver_create(HkPrecondition *p, HkRanksSolverKind kind, HkError *error);
void hk_part_solver_destroy(HkPrecondition *p);
HkStatus hk_part_solver_prepare(HkPrecondition *p, HkError *error);
HkStatus hk_part_solver_apply(HkPrecondition *p, const double *r, double *z, HkError *error);

/* Whether a preconditioner is a solver of PETSc. */
bool hk_is_part_solver(const HkPrecondition *p);
/* x = A^-1 b by conjugate gradients of PETSc with the preconditioner, as HkRanksType.solver_solve.
 */
HkStatus hk_part_solver_solve(HkPrecondition *p, const double *b, double *x, double tolerance,
                              int most, int *iterations, bool *indefinite, HkError *error);

/* part_multigrid.c: takes the place of multigrid on ranks. */
extern const HkPreconditionType hk_precondition_part_multigrid;

#endif
