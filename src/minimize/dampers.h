/* The damping of springs as a potential of the step; see dampers.c. */
#ifndef HK_MINIMIZE_DAMPERS_H
#define HK_MINIMIZE_DAMPERS_H

#include "force/force.h"

typedef struct HkDampers {
  const HkModel *source; /* the caller's */
  HkModel model;         /* the same, with springs that contain their dampers */
  HkForceWork work;      /* the caller's, with rows of that model */
  HkSpringRows *rows;
  double *k, *l0;         /* of model */
  double tau;             /* s, for which k was made */
  int64_t source_version; /* of its stiffness, likewise */
  size_t bytes;
} HkDampers;

/* How the lengths l_b are formed: from those at x and x_old, or along the directions ahead. */
typedef struct HkDamperStart {
  double now, old;         /* l_b = now l(x) + old l(x_old); both 0: along the directions ahead */
  const double *x, *x_old; /* m, 3 n; x is b, and x_old not read, where old is 0 */
  const double *b, *ahead; /* m, 3 n */
} HkDamperStart;

/* work: the caller's, for the forces of the source. */
HkStatus hk_dampers_create(const HkModel *source, const HkForceWork *work, HkDampers **dampers,
                           HkError *error);
void hk_dampers_destroy(HkDampers **dampers);
/* Sets the springs of the model for a step; work as in create. */
void hk_dampers_set(HkDampers *dampers, const HkForceWork *work, double tau,
                    const HkDamperStart *start);

#endif
