/* Bounds for all candidates between two blocks at once; see groups.c. */
#ifndef HK_CONTACT_GROUPS_H
#define HK_CONTACT_GROUPS_H

#include "base/vec.h"
#include "contact/contacts.h"

/* Lists the groups of the candidates. */
HkStatus hk_groups_list(HkContacts *contacts);
/* Finds the bounds of the displacements since the search, at x. */
void hk_groups_since_search(HkContacts *contacts, const double *x);
/* Finds the bounds of a move from x to `to`, of which vertices make a part each (NULL: all of it),
 * and obstacles all that they have left, or none of it. */
void hk_groups_of_move(HkContacts *contacts, const double *x, const double *to, const double *part,
                       bool obstacles);

/* The most that vertices of the two blocks of a group come closer, by the bounds of each block. */
static inline double hk_group_closing(const HkGroup *g, const HkBlockMove *move) {
  const HkBlockMove *a = &move[g->a], *b = &move[g->b];
  return hk_distance(a->center, b->center) + a->radius + b->radius;
}

/* What is left of the least gap of a group, at least (m), after its displacements since the search.
 */
static inline double hk_group_gap(const HkContacts *c, const HkGroup *g) {
  const double ROUNDING = 1 - 1e-9;
  return ROUNDING * (g->slack - hk_group_closing(g, c->block_gone));
}

#endif
