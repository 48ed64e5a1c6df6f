/* Products with the derivatives of springs; see spring_products.c. */
#ifndef HK_ADJOINT_SPRING_PRODUCTS_H
#define HK_ADJOINT_SPRING_PRODUCTS_H

#include "force/spring_rows.h"
#include "model/model.h"

/* Derivatives by the numbers of springs, one a spring; damping NULL: no spring has any. */
typedef struct HkSpringNumbers {
  double *k, *l0, *damping;
  /* Backward, what undamped springs add to k and l0 over many steps, beside the rows: for each slot
   * HK_ROW_GROUP derivatives by k, then as many by l0. */
  double *slots;
} HkSpringNumbers;

/* Where springs are differentiated. */
typedef struct HkSpringsAt {
  const HkModel *model;
  const HkSpringArrays *springs;
  const HkSpringRows *rows_of; /* the same by rows, in double precision */
  const double *x, *v;         /* m, m/s; v NULL: without damping */
  double scale;                /* of all results */
  const uint8_t *rows;         /* n: 1 where to_x and to_v are needed; NULL: everywhere */
} HkSpringsAt;

/* to_x += (df/dx)^T l, to_v += (df/dv)^T l, numbers += (df/dp)^T l; to_v may be NULL. */
void hk_springs_pull_back(const HkSpringsAt *at, const double *l, double *to_x, double *to_v,
                          const HkSpringNumbers *numbers);
/* Adds what is in the slots to k and l0, but for broken springs (NULL: there are none), and sets
 * the slots to 0. */
void hk_springs_settle(const HkModel *model, const HkSpringRows *rows, const uint8_t *broken,
                       const HkSpringNumbers *numbers);
/* out += df/dx dx + df/dv dv + df/dp dp; dv may be NULL. */
void hk_springs_push_forward(const HkSpringsAt *at, const double *dx, const double *dv,
                             const HkSpringNumbers *numbers, double *out);

/* The same for the forces K w and C w of constant w: K = -df/dx of springs under pressure counted
 * as slack across their length, C the damping matrix; C w where `damping` is true. */
void hk_springs_pull_back_matrix(const HkSpringsAt *at, bool damping, const double *w,
                                 const double *l, double *to_x, const HkSpringNumbers *numbers);
void hk_springs_push_forward_matrix(const HkSpringsAt *at, bool damping, const double *w,
                                    const double *dx, const HkSpringNumbers *numbers, double *out);

#endif
