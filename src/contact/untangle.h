/* Moves apart what intersects in a state, or is nearer than its thickness. */
#ifndef HK_CONTACT_UNTANGLE_H
#define HK_CONTACT_UNTANGLE_H

#include "contact/contacts.h"

/* Changes the positions of a state in which something intersects, and logs how far; leaves all
 * other states as they are. An error that lists what intersects if it does not succeed. The
 * obstacles are at their places of the time of the state. */
HkStatus hk_contacts_untangle(HkContacts *contacts, const HkSpringArrays *springs, HkState *state,
                              HkError *error);

#endif
