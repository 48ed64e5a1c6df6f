/* Energy, force and Hessian of contact, as forces have them (force/force.h). */
#ifndef HK_CONTACT_ENERGY_H
#define HK_CONTACT_ENERGY_H

#include "contact/contacts.h"

double hk_contact_energy(const HkForceArgs *a);
/* The energy at `to` less that at a->x. */
double hk_contact_energy_change(const HkForceArgs *a, const double *to);
void hk_contact_add(const HkForceArgs *a, double *f);
void hk_contact_jacobian(const HkForceArgs *a, HkJacobianSink *sink);

#endif
