/* Limits of the lengths of springs: their parameters and bounds; strain_limit.c is the force of a
 * barrier, strain_projection.c corrects steps that were made without it. */
#ifndef HK_FORCE_STRAIN_LIMIT_H
#define HK_FORCE_STRAIN_LIMIT_H

#include "force/chosen_springs.h"

typedef struct HkStrainLimitParams {
  HkSelect select;
  int springs;
  double min, max; /* l / l0; NAN: no limit */
  double stiffness;
} HkStrainLimitParams;

/* Least and largest length (m) of a spring; 0 and INFINITY where there is no limit. Springs without
 * a length have none, nor do those that exert no force, as broken ones. */
typedef struct HkStrainBounds {
  double least, most;
} HkStrainBounds;

static inline HkStrainBounds hk_strain_bounds(const HkStrainLimitParams *p,
                                              const HkSpringArrays *springs, int64_t s) {
  double l0 = springs->l0[s];
  HkStrainBounds b = {0, INFINITY};
  if (!(l0 > 0) || springs->k[s] == 0) return b;
  bool slack = springs->tension && springs->tension[s];
  if (!isnan(p->min) && !slack) b.least = p->min * l0;
  if (!isnan(p->max)) b.most = p->max * l0;
  return b;
}

/* Moves the ends of springs that are beyond a limit back to it, at the end of a step:
 * HkForceType.correct. */
HkStatus hk_strain_project(const HkForceArgs *a, HkStepEnd *end, HkError *error);

#endif
