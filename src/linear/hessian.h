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

#include "force/force.h"
#include "linear/linear.h"

typedef struct HkHessian {
  const HkModel *model;
  const HkForceWork *work;
  const HkHeld *held;
  const HkBlockMatrix *damping; /* C (N s/m), or NULL */
  double t, tau;                /* s */
  const double *x;              /* where; the caller's, unchanged while the operator is in use */
  double projection;    /* 0 .. 1, part of the negative curvature of springs under pressure that is
                         * left out: 0 the true Hessian, 1 its projection */
  const uint8_t *taut;  /* one a spring: 1 where a slack one counts as taut; NULL: none does */
  HkBlockMatrix matrix; /* its value is NULL until hk_hessian_allocate */
  double *springs; /* coefficients by rows (spring_rows.h); NULL until hk_hessian_need_springs */
  void *memory;    /* of springs */
  bool single;     /* they are floats in the same room: enough for residuals from 1e-4 on, and half
                    * as much to read for each product */
  bool fresh;      /* they are those of x */
} HkHessian;

/* Makes room for the assembled matrix, once. */
HkStatus hk_hessian_allocate(HkHessian *H, const HkPattern *pattern, size_t *bytes, HkError *error);
void hk_hessian_destroy(HkHessian *H);
/* Writes the matrix at H->x. */
void hk_hessian_assemble(HkHessian *H);
/* Makes room for the coefficients of the springs, once, which make products several times faster.
 */
HkStatus hk_hessian_need_springs(HkHessian *H, size_t *bytes, HkError *error);
/* To another x, while an operator is in use. */
void hk_hessian_move(HkHessian *H, const double *x);
/* Those of the rows for preconditioners, into 4 floats an entry; see spring_rows.h. */
void hk_hessian_records(HkHessian *H, float *records);
/* blocks (9 n) = for each row the sum of what all forces but the springs add to H, damping
 * included, its positive semidefinite part; false, and nothing, if there is no such force. Damping
 * along springs comes out as 0. */
bool hk_hessian_lump(HkHessian *H, double *blocks);
/* H as an operator; assembled: of the matrix, which hk_hessian_assemble has written. */
HkOperator hk_hessian_operator(HkHessian *H, bool assembled);
/* out -= tau^2 d2E/dx2 d + tau C d for displacements d of held vertices: what they do to the rows
 * of the others. */
void hk_hessian_lift(HkHessian *H, const double *d, double *out);

/* C = the damping matrix of all forces at (t, x, v), positive semidefinite. */
void hk_damping_assemble(const HkModel *model, const HkForceWork *work, double t, const double *x,
                         const double *v, HkBlockMatrix *C);

#endif
