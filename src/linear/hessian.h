/* The Hessian of an implicit step, assembled or as a product:
 *
 *     H(x) = M + tau^2 d2E/dx2 + tau C
 *
 * E is the energy of all forces that have one, C the damping matrix of the step (damping.c). Rows
 * and columns of held vertices, and of z in two dimensions, hold their mass alone.
 *
 * A spring under pressure gives d2E/dx2 negative directions across its length. Projected, it counts
 * as slack there: the nearest positive semidefinite block, so that H is positive definite.
 */
#ifndef HK_LINEAR_HESSIAN_H
#define HK_LINEAR_HESSIAN_H

#include "force/blocks.h"
#include "linear/linear.h"

/* Where and how a Hessian is evaluated. Constant while its operator is in use. */
typedef struct HkHessianAt {
  const double *x;   /* m, 3 n; the caller's, unchanged while the operator is in use */
  double t, tau;     /* s */
  double projection; /* 0 .. 1, part of the negative curvature of springs under pressure that is
                      * left out: 0 the true Hessian, 1 its projection */
  bool single; /* coefficients of the springs are floats: enough for residuals from 1e-4 on, and
                * half as much to read for each product */
  const uint8_t *taut;          /* one a spring: 1 where a slack one counts as taut; NULL: none */
  const HkBlockMatrix *damping; /* C (N s/m); NULL: 0 */
  bool preconditions; /* an assembled matrix is for a preconditioner alone: it is projected,
                       * whatever `projection` is, and products are by the springs */
} HkHessianAt;

typedef struct HkHessian {
  const HkModel *model;
  const HkForceWork *work;
  const HkHeld *held;
  const HkPattern *pattern; /* of the model */
  HkHessianAt at;
  HkForceBlocks blocks; /* of all forces but the springs, at `at` */
  HkTermRows term_rows; /* the weighted terms by rows, where the springs have coefficients */
  HkPattern extended;   /* of the matrix, where forces couple vertices beyond the model's pattern */
  uint64_t extended_base; /* hash of the pattern that it extends */
  bool begins;            /* a step begins: its pattern depends on nothing before it */
  HkBlockMatrix matrix;   /* its value is NULL until the assembled form is asked for */
  double *springs;        /* coefficients by rows (spring_rows.h); NULL until
                           * hk_hessian_need_springs */
  void *memory;           /* of springs */
  HkOperatorSprings view; /* what preconditioners may ask for */
  uint64_t matrix_hash;   /* of the pattern that matrix was allocated for */
  size_t matrix_bytes, bytes;
} HkHessian;

/* Allocates the coefficients of the springs, once, which make products several times faster. */
HkStatus hk_hessian_need_springs(HkHessian *H, HkError *error);
void hk_hessian_destroy(HkHessian *H);
size_t hk_hessian_bytes(const HkHessian *H);

/* Evaluates H, and *A is its operator until the next call: by products with the forces, or by the
 * assembled matrix. */
HkStatus hk_hessian_evaluate(HkHessian *H, const HkHessianAt *at, bool assembled, HkOperator *A,
                             HkError *error);
/* out -= tau^2 d2E/dx2 d + tau C d for displacements d of held vertices: what they do to the rows
 * of the others. */
void hk_hessian_lift(const HkHessian *H, const double *d, double *out);

/* The damping matrix C (N s/m) of all forces, positive semidefinite. */
typedef struct HkDamping {
  HkBlockMatrix C;    /* its value is NULL until it is assembled */
  HkPattern extended; /* of C, where forces couple vertices beyond the model's pattern */
  HkForceBlocks missing;
} HkDamping;

/* C at (t, x, v). pattern: of the model, which outlives C. */
HkStatus hk_damping_assemble(const HkModel *model, const HkForceWork *work,
                             const HkPattern *pattern, double t, const double *x, const double *v,
                             HkDamping *damping, HkError *error);
size_t hk_damping_bytes(const HkDamping *damping);
void hk_damping_destroy(const HkModel *model, HkDamping *damping);

#endif
