/* Derivatives of the springs of a step with dampers; see damper_products.c. */
#ifndef HK_ADJOINT_DAMPER_PRODUCTS_H
#define HK_ADJOINT_DAMPER_PRODUCTS_H

#include "adjoint/spring_products.h"
#include "force/dampers.h"

/* Derivatives by the positions from which dampers take lengths; x and x_old may be b's or unused.
 */
typedef struct HkDamperPlaces {
  double *x, *x_old, *b, *ahead; /* 3 n */
} HkDamperPlaces;

/* From derivatives by k' and l0' of the step (one a spring) to those by its springs and places,
 * which are added to. */
void hk_dampers_pull_back(const HkDampers *dampers, const HkDamperStart *start, const double *k,
                          const double *l0, const HkSpringNumbers *springs,
                          const HkDamperPlaces *places);
/* Sets k and l0 to the directions of k' and l0'. */
void hk_dampers_push_forward(const HkDampers *dampers, const HkDamperStart *start,
                             const HkSpringNumbers *springs, const HkDamperPlaces *places,
                             double *k, double *l0);

#endif
