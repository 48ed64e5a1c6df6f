/* The record of the contacts of a state: pairs and vertices at walls in the public form, and what
 * obstacles and the ground exert on bodies.
 */
#ifndef HK_CONTACT_RECORD_H
#define HK_CONTACT_RECORD_H

#include "contact/contacts.h"
#include "hooke/hooke.h"

typedef struct HkContactRecord {
  HkContactView view; /* of the arrays below */
  HkContact *contact;
  int64_t capacity;
  double *force;               /* N, 3 n */
  HkContactReaction *obstacle; /* one an obstacle */
} HkContactRecord;

/* Empties a record; the first time, allocates its arrays for a model. */
HkStatus hk_contact_record_begin(const HkModel *model, HkContactRecord *record, HkError *error);
void hk_contact_record_release(const HkModel *model, HkContactRecord *record);
size_t hk_contact_record_bytes(const HkModel *model, const HkContactRecord *record);

/* Appends all that touches at the positions of `a`, outside of a step. The forces on vertices are
 * not added. */
HkStatus hk_contacts_record(const HkForceArgs *a, const HkTouchings *touchings,
                            HkContactRecord *record, HkError *error);

#endif
