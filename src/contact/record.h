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
/* impulse_record.c: the same where contact corrects steps. is_end: a->x is the end of the last step
 * of the simulation, whose impulses give the forces; without them there are none. */
HkStatus hk_contacts_record_impulses(const HkForceArgs *a, const HkTouchings *touchings,
                                     bool is_end, HkContactRecord *record, HkError *error);

/* ---- Parts of both ---- */

HkStatus hk_contact_record_append(const HkModel *model, HkContactRecord *record,
                                  const HkContact *contact, HkError *error);
/* The body or the obstacle of a vertex. */
HkContactSide hk_contact_side_of(const HkModel *model, int32_t vertex);
/* The obstacle of a wall, or the ground. */
HkContactSide hk_contact_side_of_wall(const HkContacts *contacts, int32_t wall);
/* Of an obstacle or the ground. */
HkContactReaction *hk_contact_reaction(HkContactRecord *record, HkContactSide side);
/* Adds a force f (N) at x. */
void hk_contact_reaction_add(HkContactReaction *reaction, const double x[3], const double f[3]);
/* Exchanges the sides. */
void hk_contact_turn(HkContact *contact);

#endif
