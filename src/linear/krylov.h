/* Conjugate gradients, the common part of cg and pcg. */
#ifndef HK_LINEAR_KRYLOV_H
#define HK_LINEAR_KRYLOV_H

#include "linear/iterative.h"

/* The first members of the parameter struct. */
typedef struct HkKrylovParams {
  double tolerance;
  int iterations;
  int product; /* HkKrylovProduct */
} HkKrylovParams;
HK_BEGINS_AS_ITERATIVE(HkKrylovParams);

/* Of pcg. */
typedef struct HkPcgParams {
  double tolerance;
  int iterations;
  int product;
  HkMethod preconditioner;
} HkPcgParams;
HK_BEGINS_AS_ITERATIVE(HkPcgParams);
_Static_assert(offsetof(HkPcgParams, product) == offsetof(HkKrylovParams, product),
               "HkPcgParams begins as HkKrylovParams");

typedef enum HkKrylovProduct { HK_PRODUCT_MATRIX_FREE, HK_PRODUCT_ASSEMBLED } HkKrylovProduct;

#define HK_KRYLOV_PARAMS(S)                                                                        \
  HK_ITERATIVE_PARAMS(S),                                                                          \
      HK_CHOICE(S, product, HK_PRODUCT_MATRIX_FREE, "matrix_free|assembled",                       \
                "A p spring by spring, or by the matrix, which costs memory and time (and is "     \
                "used anyway where a preconditioner needs it)")

/* preconditioner: NULL for none; without schema for the default one. */
HkStatus hk_krylov_create(HkLinear *solver, const HkMethod *preconditioner, HkError *error);
void hk_krylov_destroy(HkLinear *solver);
HkStatus hk_krylov_prepare(HkLinear *solver, HkError *error);
HkStatus hk_krylov_solve(HkLinear *solver, const double *b, double *x, double tolerance,
                         HkLinearResult *result, HkError *error);

#endif
