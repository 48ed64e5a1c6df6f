/* Bounds for all candidates between two blocks at once; see groups.c. */
#ifndef HK_CONTACT_GROUPS_H
#define HK_CONTACT_GROUPS_H

#include "base/vec.h"
#include "contact/contacts.h"

/* Lists the groups of the candidates. */
HkStatus hk_groups_list(HkContacts *contacts);
/* Finds the bounds of the displacements since distances were measured, at x. */
void hk_groups_since_measure(HkContacts *contacts, const double *x);
/* Measures all distances at x if the displacements since the last time are so large that too many
 * groups cannot be ruled out there, and finds the bounds as hk_groups_since_measure. */
HkStatus hk_groups_renew(HkContacts *contacts, const double *x);
/* Finds the bounds of a move from x to `to`, of which vertices make a part each (NULL: all of it),
 * and obstacles all that they have left, or none of it. */
void hk_groups_of_move(HkContacts *contacts, const double *x, const double *to, const double *part,
                       bool obstacles);

/* The most that vertices of the two blocks of a group come closer, by the bounds of each block. */
static inline double hk_group_closing(const HkGroup *g, const HkShifts *shifts) {
  const HkBlockShift *a = &shifts->block[g->a], *b = &shifts->block[g->b];
  double d[3];
  for (int q = 0; q < 3; q++) d[q] = (double)a->center[q] - (double)b->center[q];
  return hk_norm(d) + (double)a->radius + (double)b->radius + shifts->error;
}

/* What is left of the least gap of a group, at least (m), after its displacements since distances
 * were measured.
 */
static inline double hk_group_gap(const HkContacts *c, const HkGroup *g) {
  const double ROUNDING = 1 - 1e-9;
  return ROUNDING * (g->slack - hk_group_closing(g, &c->gone));
}

#endif
