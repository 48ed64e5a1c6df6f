/* The transposed derivative of undamped springs times a vector, by vectors of springs; see
 * kernels/spring_transpose.c. */
#ifndef HK_ADJOINT_SPRING_TRANSPOSE_H
#define HK_ADJOINT_SPRING_TRANSPOSE_H

#include "force/spring_rows.h"

typedef struct HkSpringTransposeArgs {
  const HkSpringRows *rows; /* in double precision */
  const double *x, *l;      /* m; the vector */
  double scale;
  double *to_x;  /* NULL: not needed */
  double *slots; /* of HkSpringNumbers */
} HkSpringTransposeArgs;

typedef struct HkSpringTransposeKernels {
  /* For the groups begin .. end - 1 of the rows. */
  void (*transpose)(const HkSpringTransposeArgs *a, int64_t begin, int64_t end);
} HkSpringTransposeKernels;

#endif
