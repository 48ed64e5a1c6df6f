/* Linear solvers: A x = b with A the Hessian of an implicit step, symmetric, 3 n x 3 n.
 *
 * The rows and columns of held vertices (and of z in two dimensions) hold nothing but a positive
 * diagonal, so that a solver need not know about pins: where b is 0 there, x is. A direct solver
 * drops the rows of held vertices, or keeps them where pins stay unknowns (HkHeld).
 *
 * A solver sees A as an operator: a product, the diagonal blocks, and the assembled matrix where it
 * asked for one.
 */
#ifndef HK_LINEAR_LINEAR_H
#define HK_LINEAR_LINEAR_H

#include "base/cancel.h"
#include "base/device_settings.h"
#include "linear/block_matrix.h"
#include "linear/term_rows.h"
#include "linear/vectors.h"

struct HkPrefactor;
struct HkHeld;

/* The springs of an operator and what stands beside them, for preconditioners that are built from
 * them (multigrid). */
typedef struct HkOperatorSprings {
  void *user;
  const double *x; /* m, 3 n: where the operator was evaluated */
  double tau;      /* s */
  const struct HkHeld *held;
  int64_t version; /* of the springs */
  /* Records of the springs by rows (spring_rows.h) at a place, 4 floats an entry. */
  void (*records)(void *user, const double *x, float *records);
  /* blocks (9 n) = what all forces but the springs add to the diagonal of H, and the sums of the
   * rows of damping, their positive semidefinite part; false, and nothing, if there is no such
   * force. Damping along springs comes out as 0. */
  bool (*lump)(void *user, double *blocks);
  const HkForceBlocks *blocks; /* of these forces: df/dx, to be multiplied by -tau^2 */
  const HkTermRows *term_rows; /* of the terms among them: to be multiplied by tau^2 */
} HkOperatorSprings;

/* A symmetric matrix of 3 n rows. */
typedef struct HkOperator {
  void (*product)(void *user, const double *p, double *out);
  void (*diagonal)(void *user, double *blocks); /* 9 n: the 3x3 blocks on the diagonal */
  void *user;
  const HkBlockMatrix *matrix;      /* the same matrix assembled; NULL where it was not asked for */
  const HkOperatorSprings *springs; /* what it is made of; NULL: something else */
} HkOperator;

/* Which vertices are held by pins. */
typedef struct HkHeld {
  uint8_t *mask;   /* n: 1 where held */
  int64_t version; /* another one whenever the mask has changed */
  bool stays;      /* held vertices stay unknowns, with rows that hold their mass alone */
} HkHeld;

typedef struct HkLinearResult {
  int iterations;  /* 1 for a direct solver */
  double residual; /* |b - A x| / |b|, computed from A, not from a recursion */
  HkStop reason;   /* converged: the residual is below the tolerance, or the solver is direct */
  bool indefinite; /* A has a direction of negative or no curvature; x is then of use to a line
                    * search at most, and 0 after a direct solver */
} HkLinearResult;

typedef struct HkLinear HkLinear;

typedef struct HkLinearType {
  HkSchema schema;
  bool direct; /* factorizes: solves with one matrix are cheap after the first, and exact */
  /* True if it works on the assembled matrix with these parameters. */
  bool (*needs_matrix)(const void *params);
  /* Allocates what solves need and what does not depend on the pattern of A. */
  HkStatus (*create)(HkLinear *solver, HkError *error);
  void (*destroy)(HkLinear *solver);
  /* A has new values: factorizes, or makes the preconditioner. Sets solver->indefinite. */
  HkStatus (*prepare)(HkLinear *solver, HkError *error);
  /* x = A^-1 b to the relative residual tolerance (a direct solver ignores it), started from 0. */
  HkStatus (*solve)(HkLinear *solver, const double *b, double *x, double tolerance,
                    HkLinearResult *result, HkError *error);
  HkToDeviceFn *to_device; /* NULL: devices do not support it */
} HkLinearType;

const HkLinearType *hk_linear_type(const HkSchema *schema);

/* Arguments of a linear solver. All of them outlive the solver. */
typedef struct HkLinearSetup {
  const HkModel *model;
  const HkHeld *held;            /* may change between solves */
  struct HkPrefactor *prefactor; /* M + tau^2 L of the present step, for the preconditioner */
  HkCancel *cancel;              /* checked at each iteration; NULL: never */
} HkLinearSetup;

struct HkLinear {
  const HkLinearType *type;
  HkMethod method; /* own copy of the parameters */
  HkLinearSetup setup;
  HkOperator A; /* set by the caller before prepare */
  HkVectors space;
  bool indefinite;   /* found by prepare: A is not positive definite */
  bool by_decrease;  /* set by the caller: conjugate gradients end by the decrease of 1/2 x.Ax - b.x
                      * alone, whatever the residual is */
  void *data;        /* of the solver */
  size_t bytes;      /* of data; set by create, and by prepare where it grows */
  bool needs_matrix; /* it or its preconditioner works on the assembled matrix */
  bool preconditions; /* the matrix is for the preconditioner alone (HkHessianAt) */
};

/* Makes the chosen solver; a method without schema stands for hk_linear_default. */
HkStatus hk_linear_create(const HkLinearSetup *setup, const HkMethod *method, HkLinear **solver,
                          HkError *error);
void hk_linear_destroy(HkLinear **solver);
/* Of all that it holds now. */
size_t hk_linear_bytes(const HkLinear *solver);
/* Prepares for A's present values and solves; see HkLinearType. HK_ERROR_CANCELLED where
 * setup.cancel says so. */
HkStatus hk_linear_prepare(HkLinear *solver, const HkOperator *A, HkError *error);
HkStatus hk_linear_solve(HkLinear *solver, const double *b, double *x, double tolerance,
                         HkLinearResult *result, HkError *error);

/* result->residual = |b - A x| / |b|; residual (3 n doubles) becomes b - A x. */
void hk_linear_residual(const HkLinear *solver, const double *b, const double *x, double *residual,
                        HkLinearResult *result);

/* ---- Preconditioners: z = P^-1 r with P near A and easy to solve, symmetric positive definite ---
 */

typedef struct HkPrecondition HkPrecondition;

typedef struct HkPreconditionType {
  HkSchema schema;
  const struct HkPreconditionType *on_ranks; /* takes its place where the model is made in parts */
  bool needs_matrix;
  bool uses_prefactor; /* of the problem (prefactor.h) */
  HkDevicePreconditioner on_device;
  /* Memory that it takes at least, in bytes a vertex and a spring, without matrix and prefactor. */
  double vertex_bytes, spring_bytes;
  HkStatus (*create)(HkPrecondition *p, HkError *error);
  void (*destroy)(HkPrecondition *p);
  /* A has new values. */
  HkStatus (*prepare)(HkPrecondition *p, HkError *error);
  /* z = P^-1 r; z is not r. */
  HkStatus (*apply)(HkPrecondition *p, const double *r, double *z, HkError *error);
} HkPreconditionType;

const HkPreconditionType *hk_precondition_type(const HkSchema *schema);

struct HkPrecondition {
  const HkPreconditionType *type;
  HkMethod method;
  HkLinearSetup setup;
  const HkOperator *A;
  HkVectors space;
  void *data;
  size_t bytes; /* of data; set by create, and by prepare where it grows */
};

/* A method without schema stands for "block_jacobi". */
HkStatus hk_precondition_create(const HkLinearSetup *setup, const HkVectors *space,
                                const HkMethod *method, HkPrecondition **p, HkError *error);
void hk_precondition_destroy(HkPrecondition **p);

#endif
