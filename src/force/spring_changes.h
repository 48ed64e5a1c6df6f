/* Changes of single springs by forces at the end of a step (HkForceType.end_step): in the state,
 * and in the springs that the simulation uses. */
#ifndef HK_FORCE_SPRING_CHANGES_H
#define HK_FORCE_SPRING_CHANGES_H

#include "force/spring_rows.h"
#include "model/state.h"

typedef struct HkSpringChanges {
  HkStateSprings *state;
  HkSpringArrays *used; /* the same springs as the step had them: driven, and 0 where broken */
  HkSpringRows *rows;   /* of them */
} HkSpringChanges;

/* Lengthens the rest length of spring s by `more` (m). Different springs may be changed by several
 * threads at a time. */
void hk_spring_lengthen(const HkSpringChanges *changes, int64_t s, double more);
/* Breaks spring s: it exerts no force any more. After it, hk_springs_broke. */
void hk_spring_break(const HkSpringChanges *changes, int64_t s);
/* Notifies all that depends on stiffness that it has changed. */
void hk_springs_broke(const HkSpringChanges *changes);

#endif
