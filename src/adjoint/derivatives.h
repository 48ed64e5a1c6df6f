/* One number for each number of a model: the gradient of a loss with respect to it, or a direction
 * in which it changes. */
#ifndef HK_ADJOINT_DERIVATIVES_H
#define HK_ADJOINT_DERIVATIVES_H

#include "force/force.h"
#include "hooke/adjoint.h"

/* Derivatives by what a force has in the memory of a state. */
typedef struct HkMemoryNumbers {
  double *values;
  int64_t count, capacity; /* count 0: all are 0 */
} HkMemoryNumbers;

struct HkDerivatives {
  const HkModel *model; /* the caller's */
  HkDerivativeArrays arrays;
  double *x_old, *v_old; /* 3 n, of the step before, for two-step methods */
  /* Copies of the methods of the model with derivatives in place of numbers; NAN: not
   * differentiable. */
  HkMethod *forces, *motions;
  double **force_arrays; /* one a force: 3 n for an array of the caller, else NULL */
  HkMemoryNumbers *memory, *memory_next; /* one a force: of the state of d->x; scratch */
  int force_count, motion_count;
};

/* Returns the place in `derivative` that belongs to a number of `method`, a method of the model. */
double *hk_derivative_of(const HkMethod *method, const HkMethod *derivative, const double *number);

/* Returns an error if they belong to another model, or to what its forces and motions were before a
 * live change. */
HkStatus hk_derivatives_check(const HkDerivatives *derivatives, const HkModel *model,
                              HkError *error);
/* Sets those by positions and velocities of the step before, and by the memory of forces, to 0. */
void hk_derivatives_zero_history(HkDerivatives *d);
/* Sets all but the arrays of positions and velocities to 0. */
void hk_derivatives_zero_parameters(HkDerivatives *d);

#endif
