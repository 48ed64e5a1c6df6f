/* What intersects, by an exact test: edges of one feature that pass through a triangle of another.
 *
 * Of features that share a vertex nothing is said. Ropes have no triangles; of them only the gap
 * says whether they touch.
 */
#ifndef HK_CONTACT_CROSSING_H
#define HK_CONTACT_CROSSING_H

#include "contact/contacts.h"

/* An edge that passes through a triangle. */
typedef struct HkCrossing {
  int32_t edge[2], triangle[3]; /* vertices */
  int32_t group[2];             /* of the edge and of the triangle */
  int end;                      /* of untangle.c: the end of the edge that moves */
  double depth[2];              /* m, of untangle.c: of the ends below and above the triangle */
} HkCrossing;

/* Counts the crossings at x, and fills in up to `most` of them, in the order of the features.
 * Returns -1 after an error, which contacts->status has. */
int64_t hk_contacts_crossings(HkContacts *contacts, const double *x, HkCrossing *list,
                              int64_t most);

#endif
