/* The search for candidates (search.c), as path.c and the filter use it. */
#ifndef HK_CONTACT_SEARCH_H
#define HK_CONTACT_SEARCH_H

#include "contact/contacts.h"

/* Makes the candidates those of the move from x to `to`, contacts->from = 0 and until = 1. */
HkStatus hk_search(HkContacts *contacts, const double *x, const double *to);
/* The sum of the squares of a move: m^2. */
double hk_search_length(HkContacts *contacts, const double *x, const double *to);
/* Vertex v may be anywhere between `start` and `end` from now on. */
void hk_search_enclose(HkContacts *contacts, int64_t v, const double start[3], const double end[3]);
/* Adds the candidates that vertices with contacts->late give, fresh_count of them, with the mark 0.
 */
HkStatus hk_search_late(HkContacts *contacts);
/* What a box has around the positions that it stands for (m). */
static inline double hk_search_width(const HkContacts *c, int64_t v) {
  return c->data->radius[v] + 0.5 * c->data->ghat;
}

#endif
