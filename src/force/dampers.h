/* The damping of springs as a potential of the step; see dampers.c. */
#ifndef HK_FORCE_DAMPERS_H
#define HK_FORCE_DAMPERS_H

#include "force/force.h"

typedef struct HkDampers {
  const HkModel *model;       /* the caller's */
  const HkSpringArrays *base; /* springs without dampers: work.springs of the caller */
  HkSpringArrays springs;     /* springs with their dampers; k and l0 are owned */
  HkSpringRows *rows;         /* of springs */
  HkForceWork work;           /* the caller's, with springs and rows */
  double tau;                 /* s, of the present k */
  int64_t base_version;       /* version of base for the present k */
  size_t bytes;
} HkDampers;

/* How the lengths l_b are formed: from those at x and x_old, or along the directions ahead. */
typedef struct HkDamperStart {
  double now, old;         /* l_b = now l(x) + old l(x_old); both 0: along the directions ahead */
  const double *x, *x_old; /* m, 3 n; x is b, and x_old not read, where old is 0 */
  const double *b, *ahead; /* m, 3 n */
} HkDamperStart;

/* work: the caller's, for the forces of the model. */
HkStatus hk_dampers_create(const HkModel *model, const HkForceWork *work, HkDampers **dampers,
                           HkError *error);
void hk_dampers_destroy(HkDampers **dampers);
/* Sets the springs for a step; work as in create. */
void hk_dampers_set(HkDampers *dampers, const HkForceWork *work, double tau,
                    const HkDamperStart *start);

#endif
