/* Derivatives of the steps that contact has a part in: those of integrators with a barrier.
 *
 * Of the forces in a step the Jacobian by the end is exact (energy.h). This is all else: how they,
 * and what the state remembers of friction, depend on the start of the step, on what the state
 * remembered, and on parameters. The numbers of an anchor are s (three, m), lambda (N) and k (N/m).
 */
#ifndef HK_CONTACT_DERIVATIVE_H
#define HK_CONTACT_DERIVATIVE_H

#include "force/force.h"

enum { HK_ANCHOR_NUMBERS = 5 };

/* HkForceType.step_product */
HkStatus hk_contact_step_product(const HkForceArgs *a, const HkStepProduct *product,
                                 HkError *error);
/* HkForceType.resume_step */
void hk_contact_resume_step(const HkForceArgs *a);
/* HkForceType.memory_numbers */
int64_t hk_contact_memory_numbers(const HkForceMemory *memory);

#endif
