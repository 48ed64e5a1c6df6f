/* Products with the derivatives of all forces of a model; see products.c. */
#ifndef HK_ADJOINT_PRODUCTS_H
#define HK_ADJOINT_PRODUCTS_H

#include "adjoint/derivatives.h"
#include "adjoint/spring_products.h"

/* Which forces. */
typedef enum HkForcePart {
  HK_FORCES_ALL,
  HK_FORCES_POTENTIAL, /* the part that has an energy */
  HK_FORCES_PUSH       /* the rest, which implicit steps linearize about a prediction */
} HkForcePart;

/* Where forces are differentiated. */
typedef struct HkForcesAt {
  const HkModel *model;
  const HkForceWork *work;
  double t;            /* s */
  const double *x, *v; /* m, m/s; v is not read for HK_FORCES_POTENTIAL */
  double scale;        /* of all results */
  HkForcePart part;
  const uint8_t *rows;     /* n: 1 where to_x and to_v of springs are needed; NULL: everywhere */
  HkSpringNumbers springs; /* derivatives by the springs of `work` */
  HkDerivatives *d;        /* derivatives by masses and by the parameters of all other forces */
} HkForcesAt;

/* to_x += (df/dx)^T l, to_v += (df/dv)^T l, and the derivatives by parameters += (df/dp)^T l. */
void hk_forces_pull_back(const HkForcesAt *at, const double *l, double *to_x, double *to_v);
/* out += df/dx dx + df/dv dv + df/dp dp. */
void hk_forces_push_forward(const HkForcesAt *at, const double *dx, const double *dv, double *out);

/* The matrices of implicit steps: K+, the projected stiffness, or C, the damping. */
typedef enum HkForceMatrix { HK_MATRIX_STIFFNESS, HK_MATRIX_DAMPING } HkForceMatrix;

/* The same as above for the forces K+ w or C w with constant w. */
void hk_matrix_pull_back(const HkForcesAt *at, HkForceMatrix matrix, const double *w,
                         const double *l, double *to_x, double *to_v);
void hk_matrix_push_forward(const HkForcesAt *at, HkForceMatrix matrix, const double *w,
                            const double *dx, const double *dv, double *out);
/* out += scale K+ p. */
void hk_stiffness_product(const HkForcesAt *at, const double *p, double *out);

/* Returns an error if a force of the model cannot be differentiated. */
HkStatus hk_forces_check_differentiable(const HkModel *model, HkError *error);

#endif
